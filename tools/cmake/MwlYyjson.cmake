# yyjson, in this order: a place given by MWL_YYJSON_DIR, an installed one, the packages of the next
# Debian release unpacked under MWL_DEPS_DIR, a download of the pinned sources.
#
# Leaves: MWL_YYJSON_INCLUDE, MWL_YYJSON_LINK (to link, may be empty), MWL_YYJSON_OBJECTS (sources
# compiled into libmwlvm, may be empty), MWL_YYJSON_PRIVATE (a library file that is installed
# beside libmwlvm because the system has none; may be empty), MWL_YYJSON_SYSTEM.

set(MWL_DEPS_DIR ${CMAKE_BINARY_DIR}/deps CACHE PATH "Where private dependencies are unpacked")
set(MWL_YYJSON_PIN 0.10.0)
set(MWL_YYJSON_PIN_C 98489c068ab65298320710e5be4c1090af1b5676e41301a3525b2e732641aace)
set(MWL_YYJSON_PIN_H adce02aef5dfd868f7c0b632bd23bc0e79fa710b70d93bfe334c2bd15b21a41d)

set(MWL_YYJSON_INCLUDE "")
set(MWL_YYJSON_LINK "")
set(MWL_YYJSON_OBJECTS "")
set(MWL_YYJSON_PRIVATE "")
set(MWL_YYJSON_SYSTEM FALSE)

# A prefix with include/ and lib/. Debian's multiarch folder is searched too.
function(mwl_yyjson_in prefix)
  find_path(header yyjson.h PATHS ${prefix}/include NO_DEFAULT_PATH NO_CACHE)
  find_library(library NAMES yyjson NO_DEFAULT_PATH NO_CACHE
               PATHS ${prefix}/lib/${CMAKE_LIBRARY_ARCHITECTURE} ${prefix}/lib ${prefix}/lib64)
  if(header AND library)
    file(REAL_PATH ${library} library)
    set(MWL_YYJSON_INCLUDE ${header} PARENT_SCOPE)
    # An imported target, so that what is exported names it instead of a path in this build.
    add_library(mwlvm::yyjson UNKNOWN IMPORTED GLOBAL)
    set_target_properties(mwlvm::yyjson PROPERTIES IMPORTED_LOCATION ${library})
    set(MWL_YYJSON_LINK mwlvm::yyjson PARENT_SCOPE)
    set(MWL_YYJSON_PRIVATE ${library} PARENT_SCOPE)
  endif()
endfunction()

# A folder with yyjson.c and yyjson.h: compiled into libmwlvm, its symbols hidden.
macro(mwl_yyjson_sources folder)
  add_library(mwl_yyjson OBJECT ${folder}/yyjson.c)
  set_target_properties(mwl_yyjson PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(mwl_yyjson PRIVATE "yyjson_api=__attribute__((visibility(\"hidden\")))")
  target_compile_options(mwl_yyjson PRIVATE -w)
  set(MWL_YYJSON_INCLUDE ${folder})
  set(MWL_YYJSON_OBJECTS $<TARGET_OBJECTS:mwl_yyjson>)
endmacro()

if(MWL_YYJSON_DIR)
  if(EXISTS ${MWL_YYJSON_DIR}/yyjson.c)
    mwl_yyjson_sources(${MWL_YYJSON_DIR})
  else()
    mwl_yyjson_in(${MWL_YYJSON_DIR})
  endif()
  if(NOT MWL_YYJSON_INCLUDE)
    message(FATAL_ERROR "MWL_YYJSON_DIR: neither yyjson.c nor include/yyjson.h with its library in ${MWL_YYJSON_DIR}")
  endif()
  message(STATUS "yyjson: given, ${MWL_YYJSON_DIR}")
endif()

if(NOT MWL_YYJSON_INCLUDE)
  pkg_check_modules(YYJSON QUIET IMPORTED_TARGET yyjson)
  if(YYJSON_FOUND)
    set(MWL_YYJSON_SYSTEM TRUE)
    set(MWL_YYJSON_INCLUDE ${YYJSON_INCLUDE_DIRS})
    set(MWL_YYJSON_LINK PkgConfig::YYJSON)
    message(STATUS "yyjson: installed, ${YYJSON_VERSION}")
  endif()
endif()

if(NOT MWL_YYJSON_SYSTEM AND NOT MWL_YYJSON_INCLUDE)
  mwl_yyjson_in(${MWL_DEPS_DIR}/usr)
  if(NOT MWL_YYJSON_INCLUDE)
    message(STATUS "yyjson: not installed; asking apt for the next Debian release's package")
    execute_process(COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/yyjson-from-next-release.sh ${MWL_DEPS_DIR}
                    TIMEOUT 120)
    mwl_yyjson_in(${MWL_DEPS_DIR}/usr)
  endif()
  if(MWL_YYJSON_INCLUDE)
    message(STATUS "yyjson: private copy in ${MWL_DEPS_DIR}, to be installed beside libmwlvm")
  endif()
endif()

if(NOT MWL_YYJSON_SYSTEM AND NOT MWL_YYJSON_INCLUDE)
  set(base https://raw.githubusercontent.com/ibireme/yyjson/${MWL_YYJSON_PIN}/src)
  include(MwlDownload)
  mwl_download(${base}/yyjson.c ${MWL_YYJSON_PIN_C} ${MWL_DEPS_DIR}/yyjson/yyjson.c got_c)
  mwl_download(${base}/yyjson.h ${MWL_YYJSON_PIN_H} ${MWL_DEPS_DIR}/yyjson/yyjson.h got_h)
  if(got_c AND got_h)
    mwl_yyjson_sources(${MWL_DEPS_DIR}/yyjson)
    message(STATUS "yyjson: downloaded ${MWL_YYJSON_PIN}, compiled into libmwlvm")
  else()
    message(FATAL_ERROR "yyjson is missing: install libyyjson-dev, or give its place with -DMWL_YYJSON_DIR=")
  endif()
endif()
