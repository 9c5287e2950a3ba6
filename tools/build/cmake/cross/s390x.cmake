# 64 bit, big-endian.
set(MWL_CROSS s390x)
set(MWL_CROSS_TRIPLE s390x-linux-gnu)
set(MWL_CROSS_LIBRARIES s390x-linux-gnu) # Debian's folder below /usr/lib
set(MWL_CROSS_QEMU qemu-s390x)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
