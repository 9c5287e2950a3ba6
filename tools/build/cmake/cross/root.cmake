# What the toolchain files of `tools/dev cross` share: the libraries of a target are in build/cross/TARGET/root, below
# usr/, and pkg-config and cmake look there alone. MWL_CROSS is the target.
get_filename_component(MWL_CROSS_ROOT ${CMAKE_CURRENT_LIST_DIR}/../../../../build/cross/${MWL_CROSS}/root ABSOLUTE)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${MWL_CROSS_ROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${MWL_CROSS_ROOT}/usr/lib/pkgconfig:${MWL_CROSS_ROOT}/usr/lib/${MWL_CROSS_LIBRARIES}/pkgconfig)
list(APPEND CMAKE_FIND_ROOT_PATH ${MWL_CROSS_ROOT} ${MWL_CROSS_ROOT}/usr)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
