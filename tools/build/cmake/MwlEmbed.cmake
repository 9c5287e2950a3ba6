# cmake -DOUT=FILE -DDOCUMENTS=a.json;b.json -P MwlEmbed.cmake: C source with the text of each document, as
# `const char mwl__io_doc_NAME[]`, where NAME is the name of the file. -DINCLUDE=HEADER: where these are declared.
if(NOT INCLUDE)
  set(INCLUDE stdlib/io/io.h)
endif()
set(text "/* Made by MwlEmbed.cmake from the documents in stdlib/io. */\n#include \"${INCLUDE}\"\n")
foreach(document ${DOCUMENTS})
  get_filename_component(name ${document} NAME_WE)
  file(READ ${document} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND text "const char mwl__io_doc_${name}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
