# The two single headers, each in this order: a folder given, a system header, a download of the
# pinned version, our own fallback. Leaves: mwl_coro_header (definitions and include path for
# vm/native/coro.c) and MWL_UTEST_INCLUDE.
include(CheckIncludeFile)
include(MwlDownload)

set(MWL_DEPS_DIR ${CMAKE_BINARY_DIR}/deps CACHE PATH "Where downloads are kept")

# mwl_header(NAME GIVEN_DIR URL SHA256 RESULT): the folder of NAME, or empty.
function(mwl_header name given url sha256 result)
  set(dir "")
  if(given)
    if(NOT EXISTS ${given}/${name})
      message(FATAL_ERROR "no ${name} in the folder given, ${given}")
    endif()
    set(dir ${given})
    message(STATUS "${name}: given, ${given}")
  endif()
  if(NOT dir)
    find_path(system_dir ${name} NO_CACHE)
    if(system_dir)
      set(dir ${system_dir})
      message(STATUS "${name}: system header in ${system_dir}")
    endif()
  endif()
  if(NOT dir)
    mwl_download(${url} ${sha256} ${MWL_DEPS_DIR}/include/${name} got)
    if(got)
      set(dir ${MWL_DEPS_DIR}/include)
      message(STATUS "${name}: downloaded, pinned by hash")
    endif()
  endif()
  set(${result} "${dir}" PARENT_SCOPE)
endfunction()

mwl_header(minicoro.h "${MWL_MINICORO_DIR}"
  https://raw.githubusercontent.com/edubart/minicoro/02dad0f8b7cbb12fe6e216ae7a76db15ca55cd7b/minicoro.h
  c4205e8db0a95456dfde9f73f071609c6d2cad2ebfd1d74ed0a9254f121caa2f MWL_MINICORO_INCLUDE)
add_library(mwl_coro_header INTERFACE)
if(MWL_MINICORO_INCLUDE)
  target_include_directories(mwl_coro_header SYSTEM INTERFACE ${MWL_MINICORO_INCLUDE})
  target_compile_definitions(mwl_coro_header INTERFACE MWL_HAVE_MINICORO)
else()
  message(STATUS "minicoro.h: none; native stacks use the POSIX ucontext back end")
endif()
check_include_file(valgrind/valgrind.h MWL_HAVE_VALGRIND_H)
if(MWL_HAVE_VALGRIND_H)
  target_compile_definitions(mwl_coro_header INTERFACE MWL_HAVE_VALGRIND_H)
endif()

if(MWL_BUILD_TESTS)
  mwl_header(utest.h "${MWL_UTEST_DIR}"
    https://raw.githubusercontent.com/sheredom/utest.h/25c4a9d78df0fb12e6c5364bc811f7f675e9dcb3/utest.h
    2ba79605c75c077f863c172851817036cd6c67db07ed6825ec58312c2579d5c0 MWL_UTEST_INCLUDE)
  if(NOT MWL_UTEST_INCLUDE)
    set(MWL_UTEST_INCLUDE ${PROJECT_SOURCE_DIR}/tests/utest)
    message(STATUS "utest.h: none; the tests use the small one in tests/utest")
  endif()
endif()
