# Windows x64 by mingw-w64; programs run in wine.
set(MWL_CROSS windows)
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
set(CMAKE_CXX_COMPILER "") # the example host in C++ is left out
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
include(${CMAKE_CURRENT_LIST_DIR}/root.cmake)
set(CMAKE_C_FLAGS_INIT "-DPCRE2_STATIC") # their headers ask for a DLL otherwise
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static) # mingw's own libraries are in the DLL
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/lib/wine/wine64)
