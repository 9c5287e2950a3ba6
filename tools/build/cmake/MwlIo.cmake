# libmwlvm-io: the providers of stdlib/io. The headers of libcurl, SQLite and OpenSSL are needed to build it; the
# libraries themselves are loaded when a provider first needs them, so that the command starts as quickly as without.
# Without the headers the library is left out, and the command has the providers of the language alone.
# Leaves: the target mwlvm_io (or none), MWL_HAVE_IO.

set(MWL_HAVE_IO OFF)
if(MWL_IO)
  set(MWL_IO_MISSING "")
  foreach(row "CURL libcurl libcurl4-openssl-dev" "SQLITE sqlite3 libsqlite3-dev" "CRYPTO libcrypto libssl-dev")
    string(REPLACE " " ";" row ${row})
    list(GET row 0 prefix)
    list(GET row 1 module)
    list(GET row 2 package)
    pkg_check_modules(${prefix} QUIET IMPORTED_TARGET ${module})
    if(NOT ${prefix}_FOUND)
      list(APPEND MWL_IO_MISSING ${package})
    endif()
  endforeach()
  if(MWL_IO_MISSING)
    string(REPLACE ";" " " MWL_IO_MISSING "${MWL_IO_MISSING}")
    message(STATUS "libmwlvm-io: left out; it needs the Debian packages ${MWL_IO_MISSING}")
  else()
    set(MWL_HAVE_IO ON)
  endif()
endif()
if(NOT MWL_HAVE_IO)
  return()
endif()

file(GLOB MWL_IO_SOURCES CONFIGURE_DEPENDS stdlib/io/*.c)
file(GLOB MWL_IO_DOCUMENTS CONFIGURE_DEPENDS stdlib/io/*.json)

# Each document becomes a C string; see stdlib/io/io.h.
set(MWL_IO_EMBEDDED ${CMAKE_CURRENT_BINARY_DIR}/generated/io_documents.c)
add_custom_command(OUTPUT ${MWL_IO_EMBEDDED}
  COMMAND ${CMAKE_COMMAND} -DOUT=${MWL_IO_EMBEDDED} "-DDOCUMENTS=${MWL_IO_DOCUMENTS}"
          -P ${CMAKE_CURRENT_LIST_DIR}/MwlEmbed.cmake
  DEPENDS ${MWL_IO_DOCUMENTS} ${CMAKE_CURRENT_LIST_DIR}/MwlEmbed.cmake VERBATIM)

add_library(mwlvm_io STATIC ${MWL_IO_SOURCES} ${MWL_IO_EMBEDDED})
set_target_properties(mwlvm_io PROPERTIES OUTPUT_NAME mwlvm-io EXPORT_NAME io POSITION_INDEPENDENT_CODE ON)
target_link_libraries(mwlvm_io PRIVATE mwl_flags PUBLIC PkgConfig::LIBUV ${CMAKE_DL_LIBS} m)
foreach(prefix CURL SQLITE CRYPTO)
  target_include_directories(mwlvm_io SYSTEM PRIVATE ${${prefix}_INCLUDE_DIRS})
endforeach()
target_include_directories(mwlvm_io PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/stdlib/io>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_definitions(mwlvm_io PRIVATE _GNU_SOURCE INTERFACE MWL_HAVE_IO)
