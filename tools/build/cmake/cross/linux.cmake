# Debian's cross compiler for MWL_CROSS_TRIPLE, and its C library; programs run in qemu's user emulation, MWL_CROSS_QEMU.
# The other libraries are Debian's packages for that architecture, unpacked (root.cmake).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${MWL_CROSS})
set(CMAKE_C_COMPILER ${MWL_CROSS_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER "") # the example host in C++ is left out
set(CMAKE_FIND_ROOT_PATH /usr/${MWL_CROSS_TRIPLE})
set(CMAKE_LIBRARY_ARCHITECTURE ${MWL_CROSS_LIBRARIES})
include(${CMAKE_CURRENT_LIST_DIR}/root.cmake)
set(CMAKE_CROSSCOMPILING_EMULATOR "${MWL_CROSS_QEMU};-L;/usr/${MWL_CROSS_TRIPLE};-E;LD_LIBRARY_PATH=${MWL_CROSS_ROOT}/usr/lib/${MWL_CROSS_LIBRARIES}")
