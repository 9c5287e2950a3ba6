# 32 bit x86.
set(MWL_CROSS i386)
set(MWL_CROSS_TRIPLE i686-linux-gnu)
set(MWL_CROSS_LIBRARIES i386-linux-gnu) # Debian's folder below /usr/lib
set(MWL_CROSS_QEMU qemu-i386)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
