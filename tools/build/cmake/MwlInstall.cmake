# cmake --install: public headers, both libraries, the command, a pkg-config file and a CMake
# package.
include(CMakePackageConfigHelpers)

list(TRANSFORM MWL_KINDS PREPEND mwlvm_ OUTPUT_VARIABLE libraries)
install(TARGETS ${libraries} EXPORT mwlvm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(MWL_COMMAND)
  install(TARGETS mwlvm RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(MWL_SHARE)
  install(FILES ${MWL_SHARE}/bash/mwlvm DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${MWL_SHARE}/zsh/_mwlvm DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${MWL_SHARE}/fish/mwlvm.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(FILES ${MWL_SHARE}/man/mwlvm.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${MWL_SHARE}/schemas/flow.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/mwlvm/schemas) # for editors
endif()
install(FILES tools/provider.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/mwlvm/schemas)
install(FILES ${MWL_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE CHANGELOG.md THIRD-PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The pages lie beside each other there, so links between them change. The guide is that of the examples.
foreach(page tools/LANGUAGE.md tools/TESTING.md tools/EDITOR.md tools/SERVE.md vm/DECISIONS.md stdlib/durable/README.md)
  get_filename_component(name ${page} NAME)
  string(REPLACE README DURABLE name ${name})
  file(READ ${page} text)
  string(REPLACE "](../vm/DECISIONS.md)" "](DECISIONS.md)" text "${text}")
  string(REPLACE "](../stdlib/durable/README.md)" "](DURABLE.md)" text "${text}")
  string(REPLACE "](../../tools/" "](" text "${text}")
  string(REGEX REPLACE "\\[([a-z_]+\\.h)\\]\\([a-z_]+\\.h\\)" "`\\1`" text "${text}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/share/doc/${name} CONTENT "@text@" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  install(FILES ${PROJECT_BINARY_DIR}/share/doc/${name} DESTINATION ${CMAKE_INSTALL_DOCDIR})
endforeach()
install(DIRECTORY tools/examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples PATTERN __pycache__ EXCLUDE)

# How an outside program that links the static library gets the rest. The pkg-config file lists the
# libraries themselves: Requires.private would ask for a static world.
set(MWL_PC_PRIVATE ${PCRE2_LDFLAGS})
if(MWL_IDN)
  foreach(library ${CMAKE_DL_LIBS})
    list(APPEND MWL_PC_PRIVATE -l${library})
  endforeach()
endif()
set(MWL_CONFIG_MODULES "")
if(MWL_PCRE2)
  set(MWL_CONFIG_MODULES " PCRE2=libpcre2-8")
endif()
string(REPLACE ";" " " MWL_PC_PRIVATE "${MWL_PC_PRIVATE}")

# From where the file lies, so that `cmake --install --prefix` and a folder that was moved are right too.
set(MWL_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH MWL_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" MWL_PC_PREFIX "\${pcfiledir}/${MWL_PC_PREFIX}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/mwlvm.pc.in ${PROJECT_BINARY_DIR}/mwlvm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mwlvm.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(MWL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/mwlvm)
install(EXPORT mwlvm NAMESPACE mwlvm:: FILE mwlvm-targets.cmake DESTINATION ${MWL_CMAKE_DIR})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/mwlvm-config.cmake.in
  ${PROJECT_BINARY_DIR}/mwlvm-config.cmake INSTALL_DESTINATION ${MWL_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mwlvm-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mwlvm-config.cmake ${PROJECT_BINARY_DIR}/mwlvm-config-version.cmake
        DESTINATION ${MWL_CMAKE_DIR})

# The providers of stdlib/io: an archive beside libmwlvm, which uses its public functions alone.
if(MWL_HAVE_IO)
  install(TARGETS mwlvm_io ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES stdlib/io/mwl_io.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/mwlvm-io.pc.in ${PROJECT_BINARY_DIR}/mwlvm-io.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/mwlvm-io.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Durable runs: the same.
if(MWL_HAVE_DURABLE)
  install(TARGETS mwlvm_durable ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES stdlib/durable/mwl_store.h stdlib/durable/mwl_durable.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/mwlvm-durable.pc.in ${PROJECT_BINARY_DIR}/mwlvm-durable.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/mwlvm-durable.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
