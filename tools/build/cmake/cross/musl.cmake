# x86-64 with musl's C library, linked statically. What it builds runs here, so this is no cross build for cmake.
set(MWL_CROSS musl)
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_CXX_COMPILER "") # musl-gcc has no C++
include(${CMAKE_CURRENT_LIST_DIR}/root.cmake)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
