# yyjson.c and yyjson.h, which read JSON text. They are compiled into the library, as a part of vm/value/json_nodes.c and
# with names that no other file sees: so a host may have a yyjson of its own, and an installed library needs none. The
# first of these that is there: a given folder (MWL_YYJSON_DIR), what an earlier configuration got, a download of the
# pinned version, Debian's source package of it (tools/build/yyjson.sh). Both files must have the pinned hash, except in a
# given folder. Leaves: mwl_yyjson (the include path).
include(MwlDownload)

set(MWL_YYJSON_VERSION 0.10.0)
set(MWL_YYJSON_HASH_c 98489c068ab65298320710e5be4c1090af1b5676e41301a3525b2e732641aace)
set(MWL_YYJSON_HASH_h adce02aef5dfd868f7c0b632bd23bc0e79fa710b70d93bfe334c2bd15b21a41d)

function(mwl_yyjson_there folder result)
  set(${result} TRUE PARENT_SCOPE)
  foreach(part c h)
    set(have "")
    if(EXISTS ${folder}/yyjson.${part})
      file(SHA256 ${folder}/yyjson.${part} have)
    endif()
    if(NOT have STREQUAL MWL_YYJSON_HASH_${part})
      set(${result} FALSE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

set(folder ${MWL_DEPS_DIR}/yyjson)
if(MWL_YYJSON_DIR)
  set(folder ${MWL_YYJSON_DIR})
  foreach(part c h)
    if(NOT EXISTS ${folder}/yyjson.${part})
      message(FATAL_ERROR "no yyjson.${part} in the folder given, ${folder}")
    endif()
  endforeach()
  message(STATUS "yyjson: given, ${folder}")
else()
  set(how "there from an earlier configuration")
  set(there FALSE)
  set(why "MWL_DOWNLOAD is off")
  foreach(kept ${PROJECT_SOURCE_DIR}/build/deps/yyjson ${folder}) # `tools/dev` has it in the first
    if(NOT there)
      mwl_yyjson_there(${kept} there)
      set(folder ${kept})
    endif()
  endforeach()
  if(NOT there)
    set(how "downloaded")
    foreach(part c h)
      mwl_download(https://raw.githubusercontent.com/ibireme/yyjson/${MWL_YYJSON_VERSION}/src/yyjson.${part}
        ${MWL_YYJSON_HASH_${part}} ${folder}/yyjson.${part} got)
    endforeach()
    mwl_yyjson_there(${folder} there)
  endif()
  if(NOT there AND MWL_DOWNLOAD AND CMAKE_HOST_UNIX)
    set(how "from Debian's source package")
    file(MAKE_DIRECTORY ${folder})
    execute_process(COMMAND sh ${PROJECT_SOURCE_DIR}/tools/build/yyjson.sh ${folder} ERROR_VARIABLE why)
    mwl_yyjson_there(${folder} there)
  endif()
  if(NOT there)
    string(STRIP "${why}" why)
    message(FATAL_ERROR "yyjson ${MWL_YYJSON_VERSION} cannot be had (${why}): put its yyjson.c and yyjson.h into a folder, "
      "and name it with -DMWL_YYJSON_DIR=")
  endif()
  message(STATUS "yyjson: ${MWL_YYJSON_VERSION}, ${how}, pinned by hash")
endif()

file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/yyjson/yyjson.h CONTENT
"#define yyjson_api static
#define YYJSON_DISABLE_NON_STANDARD 1
#include \"${folder}/yyjson.h\"
#include \"${folder}/yyjson.c\"
" @ONLY)
add_library(mwl_yyjson INTERFACE)
target_include_directories(mwl_yyjson SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/generated/yyjson)
