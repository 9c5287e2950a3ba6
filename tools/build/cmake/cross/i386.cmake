# 32 bit x86. Most x86-64 machines run its programs themselves, by its own loader; the others in qemu.
set(MWL_CROSS i386)
set(MWL_CROSS_TRIPLE i686-linux-gnu)
set(MWL_CROSS_LIBRARIES i386-linux-gnu) # Debian's folder below /usr/lib
set(MWL_CROSS_QEMU qemu-i386)
include(${CMAKE_CURRENT_LIST_DIR}/linux.cmake)
set(MWL_CROSS_LOADER /usr/${MWL_CROSS_TRIPLE}/lib/ld-linux.so.2)
execute_process(COMMAND ${MWL_CROSS_LOADER} --version RESULT_VARIABLE MWL_CROSS_NO_LOADER OUTPUT_QUIET ERROR_QUIET)
if(MWL_CROSS_NO_LOADER EQUAL 0)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${MWL_CROSS_LOADER};--library-path;/usr/${MWL_CROSS_TRIPLE}/lib:${MWL_CROSS_ROOT}/usr/lib/${MWL_CROSS_LIBRARIES}")
endif()
