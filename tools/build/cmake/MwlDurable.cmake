# libmwlvm-durable: the store and the driver of stdlib/durable. The header of SQLite is needed to build it; the library
# itself is loaded when a store is first opened. Without the header the library is left out, and the command has no
# durable runs. Leaves: the target mwlvm_durable (or none), MWL_HAVE_DURABLE.

set(MWL_HAVE_DURABLE OFF)
if(MWL_DURABLE)
  pkg_check_modules(SQLITE QUIET IMPORTED_TARGET sqlite3)
  if(SQLITE_FOUND)
    set(MWL_HAVE_DURABLE ON)
  else()
    message(STATUS "libmwlvm-durable: left out; it needs the Debian package libsqlite3-dev")
  endif()
endif()
if(NOT MWL_HAVE_DURABLE)
  return()
endif()

file(GLOB MWL_DURABLE_SOURCES CONFIGURE_DEPENDS stdlib/durable/*.c)
add_library(mwlvm_durable STATIC ${MWL_DURABLE_SOURCES})
set_target_properties(mwlvm_durable PROPERTIES OUTPUT_NAME mwlvm-durable EXPORT_NAME durable
                      POSITION_INDEPENDENT_CODE ON)
target_link_libraries(mwlvm_durable PRIVATE mwl_flags PUBLIC ${CMAKE_DL_LIBS} Threads::Threads)
target_include_directories(mwlvm_durable SYSTEM PRIVATE ${SQLITE_INCLUDE_DIRS})
target_include_directories(mwlvm_durable PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/stdlib/durable>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_definitions(mwlvm_durable PRIVATE _GNU_SOURCE INTERFACE MWL_HAVE_DURABLE)
