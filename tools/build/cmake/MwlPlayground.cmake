# What the playground and the npm package call: tools/playground. Here it is the command mwl-play, for tests;
# tools/playground/CMakeLists.txt makes a WebAssembly module of the same sources.
# Leaves: the target mwl-play, without the file that has its main function.

set(MWL_PLAY_ROOT ${CMAKE_CURRENT_LIST_DIR}/../../..)
get_filename_component(MWL_PLAY_ROOT ${MWL_PLAY_ROOT} ABSOLUTE)
file(GLOB MWL_PLAY_DOCUMENTS CONFIGURE_DEPENDS ${MWL_PLAY_ROOT}/stdlib/io/call_*.json)
set(MWL_PLAY_EMBEDDED ${CMAKE_CURRENT_BINARY_DIR}/generated/play_documents.c)
add_custom_command(OUTPUT ${MWL_PLAY_EMBEDDED}
  COMMAND ${CMAKE_COMMAND} -DOUT=${MWL_PLAY_EMBEDDED} "-DDOCUMENTS=${MWL_PLAY_DOCUMENTS}"
          -DINCLUDE=tools/playground/documents.h -P ${CMAKE_CURRENT_LIST_DIR}/MwlEmbed.cmake
  DEPENDS ${MWL_PLAY_DOCUMENTS} ${CMAKE_CURRENT_LIST_DIR}/MwlEmbed.cmake VERBATIM)

file(GLOB MWL_PLAY_SOURCES CONFIGURE_DEPENDS ${MWL_PLAY_ROOT}/tools/playground/*.c ${MWL_PLAY_ROOT}/tools/graph/*.c)
list(FILTER MWL_PLAY_SOURCES EXCLUDE REGEX "/(cmd_graph|native|wasm|dot|mermaid|nested)\\.c$")
foreach(file base/path base/redact base/snippet_offset host/answers host/answers_read host/definition_model host/expr
        report/data report/record session/seed session/turn show/events test/control test/coverage)
  list(APPEND MWL_PLAY_SOURCES ${MWL_PLAY_ROOT}/tools/${file}.c)
endforeach()
add_executable(mwl-play ${MWL_PLAY_SOURCES} ${MWL_PLAY_EMBEDDED})
