# 64 bit ARM.
set(MWL_CROSS aarch64)
set(MWL_CROSS_TRIPLE aarch64-linux-gnu)
set(MWL_CROSS_LIBRARIES aarch64-linux-gnu) # Debian's folder below /usr/lib
set(MWL_CROSS_QEMU qemu-aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
