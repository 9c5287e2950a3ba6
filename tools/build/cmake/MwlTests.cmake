# Unit tests and small hosts (one executable per tests/unit/test_*.c and tests/api/test_*.c), example hosts, and the installation test.

# They measure the real clock, or wait for other processes, so a busy machine can make them fail. `tools/dev test` runs
# them after the others.
set(MWL_CLOCK_TESTS command debug_commands debug_dap durable_commands durable_fleet durable_kills each editor_page hostile input_memory
  io_cache io_examples io_exec io_file io_full io_http io_middleware io_prompt io_run io_sqlite io_thousand lsp_speed npm_dap
  npm_lsp report serve_page start terminal test_flood test_fuel_cost test_host test_late test_timely)

# Test data of other projects, where it is.
foreach(part conformance pages)
  set(MWL_SUITE_${part} "")
  if(MWL_SUITES AND EXISTS ${MWL_SUITES}/mwl/${part})
    set(MWL_SUITE_${part} ${MWL_SUITES}/mwl/${part})
  endif()
endforeach()
set(MWL_SUITE_mwl "")
if(MWL_SUITES AND EXISTS ${MWL_SUITES}/mwl)
  set(MWL_SUITE_mwl ${MWL_SUITES}/mwl)
endif()

# mwl_test_setup(TEST): what every ctest entry has.
function(mwl_test_setup test)
  if(test IN_LIST MWL_CLOCK_TESTS)
    set_tests_properties(${test} PROPERTIES LABELS clock)
  endif()
  set(seconds 300)
  if(MWL_CROSS) # an emulator may take ten times as long
    set(seconds 1800)
  endif()
  set_tests_properties(${test} PROPERTIES TIMEOUT ${seconds} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    ENVIRONMENT "ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0;UBSAN_OPTIONS=print_stacktrace=1")
  if(MWL_SANITIZE) # what a process has in memory is a sanitizer's then
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT MWL_SANITIZED=1)
  endif()
  if(MWL_SUITES)
    set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "MWL_SUITES=${MWL_SUITES}")
  endif()
endfunction()

# sheredom's header compares an enumerator (int) with its enum (unsigned) where the user wrote it.
# An interface of its own, because the option must stand behind those of mwl_flags.
add_library(mwl_test_flags INTERFACE)
target_link_libraries(mwl_test_flags INTERFACE mwl_flags)
target_compile_options(mwl_test_flags INTERFACE -Wno-sign-compare)
target_include_directories(mwl_test_flags SYSTEM INTERFACE ${MWL_UTEST_INCLUDE})
if(MWL_CROSS) # what is tested is optimised; the tests themselves need not be
  target_compile_options(mwl_test_flags INTERFACE -O0)
endif()

# What a test needs besides the library.
set(MWL_TEST_OF_test_cel_deduce tools/lsp/cel_deduce.c tools/lsp/cel_type.c)
set(MWL_TEST_OF_test_cron tools/serve/cron.c)
set(MWL_TEST_OF_test_events tools/show/events.c tools/show/events_open.c)
set(MWL_TEST_OF_test_function_words tools/words/function_words.c)
set(MWL_TEST_OF_test_scripted tools/host/answers.c tools/host/answers_read.c tools/host/expr.c tools/host/names.c)

file(GLOB MWL_TEST_SOURCES CONFIGURE_DEPENDS tests/unit/test_*.c tests/api/test_*.c)
if(EMSCRIPTEN) # there are no threads, no stacks and no signals; tools/build/cross.sh says so too
  list(FILTER MWL_TEST_SOURCES EXCLUDE REGEX "/test_(small_stack|coro|stack_overflow|fork)\\.c$")
endif()
if(WIN32) # processes that fork, memory that is mapped: tools/build/cross.sh says which, and why
  list(FILTER MWL_TEST_SOURCES EXCLUDE REGEX "/test_(coro|small_stack|stack_overflow|fork)\\.c$")
endif()
foreach(source ${MWL_TEST_SOURCES})
  get_filename_component(test ${source} NAME_WE)
  add_executable(${test} ${source} ${MWL_TEST_OF_${test}})
  target_compile_definitions(${test} PRIVATE MWL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${test} PRIVATE mwl_flags mwl_test_flags mwlvm_static Threads::Threads)
  add_test(NAME ${test} COMMAND ${test})
  mwl_test_setup(${test})
endforeach()

if(WIN32) # they read a folder
  foreach(test test_check test_rated)
    target_sources(${test} PRIVATE tools/windows/file_names.c tools/windows/streams.c)
    target_include_directories(${test} BEFORE PRIVATE tools/windows/include)
    target_compile_options(${test} PRIVATE -include ${PROJECT_SOURCE_DIR}/tools/windows/posix.h)
    target_compile_definitions(${test} PRIVATE WIN32_LEAN_AND_MEAN)
  endforeach()
endif()

# ---- stdlib/io: tests/io/test_*.c against the library, tests/io/*.py against the command and real parts

if(MWL_HAVE_IO)
  file(GLOB MWL_IO_TESTS CONFIGURE_DEPENDS tests/io/test_*.c)
  foreach(source ${MWL_IO_TESTS})
    get_filename_component(test ${source} NAME_WE)
    add_executable(${test} ${source})
    target_link_libraries(${test} PRIVATE mwl_flags mwl_test_flags mwlvm_io mwlvm_static)
    target_compile_definitions(${test} PRIVATE _GNU_SOURCE MWL_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    add_test(NAME ${test} COMMAND ${test})
    mwl_test_setup(${test})
  endforeach()
  find_package(Python3 QUIET COMPONENTS Interpreter)
  file(GLOB MWL_IO_SCRIPTS CONFIGURE_DEPENDS tests/io/*.py)
  list(FILTER MWL_IO_SCRIPTS EXCLUDE REGEX "/(flow|serve_[a-z0-9_]*)\\.py$") # parts of others
  foreach(script ${MWL_IO_SCRIPTS})
    if(Python3_FOUND)
      get_filename_component(test ${script} NAME_WE)
      add_test(NAME io_${test} COMMAND ${Python3_EXECUTABLE} ${script} $<TARGET_FILE:mwlvm>)
      mwl_test_setup(io_${test})
      set_property(TEST io_${test} APPEND PROPERTY ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
    endif()
  endforeach()
endif()

# ---- stdlib/durable: tests/durable/test_*.c against the library, tests/durable/*.py against the command

if(MWL_HAVE_DURABLE)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  file(GLOB MWL_DURABLE_TESTS CONFIGURE_DEPENDS tests/durable/test_*.c)
  add_library(mwl_store_memory STATIC tests/durable/store_memory.c)
  target_link_libraries(mwl_store_memory PRIVATE mwl_flags PUBLIC mwlvm_durable)
  foreach(source ${MWL_DURABLE_TESTS})
    get_filename_component(test ${source} NAME_WE)
    add_executable(${test} ${source})
    target_include_directories(${test} SYSTEM PRIVATE ${SQLITE_INCLUDE_DIRS})
    target_compile_definitions(${test} PRIVATE _GNU_SOURCE)
    target_link_libraries(${test} PRIVATE mwl_flags mwl_test_flags mwl_store_memory mwlvm_durable mwlvm_static)
    add_test(NAME ${test} COMMAND ${test})
    mwl_test_setup(${test})
  endforeach()
  foreach(script commands edited kills)
    if(Python3_FOUND)
      add_test(NAME durable_${script} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/durable/${script}.py
               $<TARGET_FILE:mwlvm>)
      mwl_test_setup(durable_${script})
      set_property(TEST durable_${script} APPEND PROPERTY ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
    endif()
  endforeach()
  if(MWL_HAVE_SERVE AND Python3_FOUND) # the server: tests/serve
    file(GLOB MWL_SERVE_SCRIPTS CONFIGURE_DEPENDS tests/serve/*.py)
    list(FILTER MWL_SERVE_SCRIPTS EXCLUDE REGEX "/server\\.py$")
    foreach(script ${MWL_SERVE_SCRIPTS})
      get_filename_component(test ${script} NAME_WE)
      add_test(NAME serve_${test} COMMAND ${Python3_EXECUTABLE} ${script} $<TARGET_FILE:mwlvm>)
      mwl_test_setup(serve_${test})
      set_tests_properties(serve_${test} PROPERTIES SKIP_RETURN_CODE 77)
      set_property(TEST serve_${test} APPEND PROPERTY ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
    endforeach()
  endif()
  if(Python3_FOUND)
    add_test(NAME durable_fleet COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/durable/fleet.py $<TARGET_FILE:mwlvm>
             $<TARGET_FILE:test_store>)
    mwl_test_setup(durable_fleet)
    set_tests_properties(durable_fleet PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
    set_property(TEST durable_fleet APPEND PROPERTY ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
  endif()
  # Durable runs on a file system that ends at every operation: tests/crash
  add_executable(mwl-crash tests/crash/crash.c tests/crash/shim.c)
  target_compile_definitions(mwl-crash PRIVATE _GNU_SOURCE)
  target_link_libraries(mwl-crash PRIVATE mwl_flags mwlvm_durable mwlvm_static PkgConfig::SQLITE)
  if(Python3_FOUND)
    add_test(NAME crash COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/crash/crash.py $<TARGET_FILE:mwl-crash>)
    mwl_test_setup(crash)
    set_tests_properties(crash PROPERTIES TIMEOUT 1200)
    set_property(TEST crash APPEND PROPERTY ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
    # The protocol as a model: tests/spin
    add_test(NAME spin COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/spin/run.py)
    mwl_test_setup(spin)
    set_tests_properties(spin PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1200)
  endif()
  # A fleet in one process, under virtual time: tests/sim
  file(GLOB MWL_SIM_SOURCES CONFIGURE_DEPENDS tests/sim/*.c)
  add_executable(mwl-sim ${MWL_SIM_SOURCES})
  target_link_libraries(mwl-sim PRIVATE mwl_flags mwl_store_memory mwlvm_durable mwlvm_static)
  add_test(NAME sim COMMAND mwl-sim)
  mwl_test_setup(sim)
endif()

# The examples in the comments of the public headers, extracted without changes. test_header_examples runs them.
set(MWL_EXAMPLES_OF ${PROJECT_SOURCE_DIR}/vm/mwl.h ${PROJECT_SOURCE_DIR}/vm/mwl_provider.h
    ${PROJECT_SOURCE_DIR}/assembler/mwl_asm.h)
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/generated/header_examples.h
  COMMAND sh ${PROJECT_SOURCE_DIR}/tests/api/header_examples.sh
          ${CMAKE_CURRENT_BINARY_DIR}/generated/header_examples.h ${MWL_EXAMPLES_OF}
  DEPENDS ${MWL_EXAMPLES_OF} ${PROJECT_SOURCE_DIR}/tests/api/header_examples.sh VERBATIM)
target_sources(test_header_examples PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated/header_examples.h)
target_include_directories(test_header_examples PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/generated)

# Our own utest.h, also when another one serves the tests. It prints failures on purpose.
add_executable(utest_selfcheck tests/utest/selfcheck.c)
target_link_libraries(utest_selfcheck PRIVATE mwl_flags Threads::Threads)
add_test(NAME utest_selfcheck COMMAND utest_selfcheck)
mwl_test_setup(utest_selfcheck)

# ---- example hosts: each is run, with what it needs to be quick

set(MWL_EXAMPLE_worker_pool 20000 2)
set(MWL_EXAMPLE_game_loop 300 600)
set(MWL_EXAMPLE_saved_game ${CMAKE_CURRENT_BINARY_DIR}/saved_game.save)
set(MWL_EXAMPLE_rollback 2)
set(MWL_EXAMPLE_tool_config ${PROJECT_SOURCE_DIR}/tools/examples/tool_config.json
    ${PROJECT_SOURCE_DIR}/LICENSE no-such-file)
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  set(MWL_EXAMPLES_CXX tools/examples/*.cpp)
endif()
file(GLOB MWL_EXAMPLE_SOURCES CONFIGURE_DEPENDS tools/examples/*.c ${MWL_EXAMPLES_CXX})
foreach(source ${MWL_EXAMPLE_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  target_link_libraries(example_${name} PRIVATE mwl_flags mwlvm_static Threads::Threads)
  add_test(NAME example_${name} COMMAND example_${name} ${MWL_EXAMPLE_${name}})
  mwl_test_setup(example_${name})
endforeach()

if(WIN32) # the smallest host with the DLL
  add_executable(example_hello_dll tools/examples/hello_host.c)
  target_link_libraries(example_hello_dll PRIVATE mwl_flags mwlvm_shared)
  add_test(NAME example_hello_dll COMMAND example_hello_dll)
  mwl_test_setup(example_hello_dll)
  set_tests_properties(example_hello_dll PROPERTIES PASS_REGULAR_EXPRESSION "Hello, world!")
endif()

if(NOT MWL_COMMAND OR MWL_CROSS) # the rest runs the command from scripts, or looks at the tree
  return()
endif()

find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND NOT MWL_SANITIZE) # the interpreter does not bring the sanitizers' runtime
  add_test(NAME example_python COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/examples/mwl.py)
  mwl_test_setup(example_python)
  add_test(NAME python_layout COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/install/python_layout.py
           ${CMAKE_C_COMPILER})
  mwl_test_setup(python_layout)
  set_property(TEST example_python python_layout APPEND PROPERTY ENVIRONMENT
               "MWLVM_LIBRARY=$<TARGET_FILE:mwlvm_shared>" "PYTHONDONTWRITEBYTECODE=1")
endif()

if(MWL_MINICORO_INCLUDE) # the host's own minicoro beside ours
  add_executable(host_minicoro tests/install/minicoro.c)
  target_include_directories(host_minicoro SYSTEM PRIVATE ${MWL_MINICORO_INCLUDE})
  target_link_libraries(host_minicoro PRIVATE mwlvm_static)
  add_test(NAME host_minicoro COMMAND host_minicoro)
  mwl_test_setup(host_minicoro)
endif()

add_test(NAME headers_used COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/headers.sh)
mwl_test_setup(headers_used)

# The reference page is what the opcode table says.
add_test(NAME opcodes_page COMMAND mwl-opdoc --check ${PROJECT_SOURCE_DIR}/vm/OPCODES.md)
mwl_test_setup(opcodes_page)

add_test(NAME command COMMAND sh ${PROJECT_SOURCE_DIR}/tests/command/command.sh $<TARGET_FILE:mwlvm>
         $<TARGET_FILE:mwl-suite>)
mwl_test_setup(command)

add_test(NAME command_save COMMAND sh ${PROJECT_SOURCE_DIR}/tests/command/command_save.sh $<TARGET_FILE:mwlvm>)
mwl_test_setup(command_save)

# The benchmarks' answers, and how counts are compared; nothing is measured. m_start starts the command.
add_test(NAME bench COMMAND sh ${PROJECT_SOURCE_DIR}/tests/command/bench.sh $<TARGET_FILE:mwl-bench>)
mwl_test_setup(bench)
add_dependencies(mwl-bench mwlvm)
if(Python3_FOUND)
  add_test(NAME bench_frames COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/frames/run.py
           ${CMAKE_BINARY_DIR} --check)
  mwl_test_setup(bench_frames)
endif()

# Every run of the cases, and of some generated programs, is moved through bytes whenever it is at rest.
foreach(cases cases regression)
  add_test(NAME resave_${cases} COMMAND mwl-suite --resave mwl ${PROJECT_SOURCE_DIR}/tests/${cases})
  mwl_test_setup(resave_${cases})
endforeach()
if(MWL_SUITE_conformance)
  add_test(NAME resave_conformance COMMAND mwl-suite --resave mwl
           ${MWL_SUITE_conformance})
  mwl_test_setup(resave_conformance)
endif()
# The cases with programs of the other byte order.
add_test(NAME swap_cases COMMAND mwl-suite --swap mwl ${PROJECT_SOURCE_DIR}/tests/cases)
mwl_test_setup(swap_cases)
if(Python3_FOUND)
  add_test(NAME resave_model COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/model/compare.py --count 150
           --batch "$<TARGET_FILE:mwl-batch> --resave" --keep ${CMAKE_CURRENT_BINARY_DIR}/disagreements)
  mwl_test_setup(resave_model)
endif()

# Checks of the tree itself: the table of the specification's requirements names tests that exist, the
# texts of the mutations are there, folders use only what is below them, files include only what they use, tools/dev and the presets agree, and the
# layout is clang-format's.
if(Python3_FOUND)
  set(MWL_CHECK_requirements check_requirements.py)
  set(MWL_CHECK_mutations mutations.py)
  set(MWL_CHECK_layers layers.py ${CMAKE_BINARY_DIR})
  set(MWL_CHECK_pages pages.py)
  set(MWL_CHECK_includes includes.py)
  set(MWL_CHECK_words words.py)
  set(MWL_CHECK_readme_speed ../../bench/readme.py)
  set(MWL_CHECK_find_rules find_rules.py)
  set(MWL_CHECK_unicode unicode.py)
  set(MWL_CHECK_dev dev.py)
  set(MWL_CHECK_program_format program_format.py $<TARGET_FILE:mwlvm>)
  foreach(check requirements mutations layers pages includes words readme_speed find_rules unicode dev program_format)
    list(TRANSFORM MWL_CHECK_${check} PREPEND ${PROJECT_SOURCE_DIR}/tests/tree/ AT 0)
    add_test(NAME ${check} COMMAND ${Python3_EXECUTABLE} ${MWL_CHECK_${check}})
    mwl_test_setup(${check})
  endforeach()
endif()
# The command with a listener to its runs, on a terminal, and with many inputs.
if(Python3_FOUND)
  foreach(check help trace_file each terminal examples)
    add_test(NAME ${check} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/${check}.py $<TARGET_FILE:mwlvm>)
    mwl_test_setup(${check})
  endforeach()
endif()
if(Python3_FOUND AND NOT MWL_SANITIZE AND NOT MWL_CROSS AND CMAKE_SYSTEM_NAME STREQUAL Linux)
  add_library(fail_memory MODULE tests/command/fail_memory.c) # for LD_PRELOAD, with functions of glibc
  add_test(NAME no_memory COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/no_memory.py $<TARGET_FILE:mwlvm>
           $<TARGET_FILE:fail_memory>)
  mwl_test_setup(no_memory)
endif()
if(Python3_FOUND AND NOT MWL_SANITIZE) # a sanitizer has memory of its own
  add_test(NAME memory_limit COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/memory_limit.py $<TARGET_FILE:mwlvm>)
  mwl_test_setup(memory_limit)
  if(TARGET mwlvm_io)
    add_test(NAME provider_limits COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/provider_limits.py $<TARGET_FILE:mwlvm>)
    mwl_test_setup(provider_limits)
  endif()
  if(NOT MWL_STRESS) # where every object is an allocation of its own
    add_test(NAME input_memory COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/input_memory.py $<TARGET_FILE:mwlvm>)
    mwl_test_setup(input_memory)
    if(NOT CMAKE_BUILD_TYPE STREQUAL Debug)
      add_test(NAME start COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/bench/start.py $<TARGET_FILE:mwlvm> --check)
      mwl_test_setup(start)
    endif()
  endif()
  add_test(NAME hostile COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/hostile.py $<TARGET_FILE:mwlvm>)
  mwl_test_setup(hostile)
endif()
if(Python3_FOUND) # `mwlvm test`
  add_test(NAME test_cases COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/explore/test_cases.py
           $<TARGET_FILE:mwlvm> tests/cases tests/regression ${MWL_SUITE_conformance})
  mwl_test_setup(test_cases)
  if(MWL_SUITE_pages)
    add_test(NAME spec_pages COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/spec_pages.py
             $<TARGET_FILE:mwlvm> ${MWL_SUITE_pages})
    mwl_test_setup(spec_pages)
  endif()
  add_test(NAME explore_mistakes COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/explore/mistakes.py
           $<TARGET_FILE:mwlvm>)
  mwl_test_setup(explore_mistakes)
  add_test(NAME bounds COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/explore/bounds.py
           $<TARGET_FILE:mwlvm> $<TARGET_FILE:mwl-batch>)
  mwl_test_setup(bounds)
  add_test(NAME case_names COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/explore/case_names.py
           $<TARGET_FILE:mwlvm>)
  mwl_test_setup(case_names)
  add_test(NAME testing_pages COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/explore/pages.py
           $<TARGET_FILE:mwlvm> tools/TESTING.md README.md)
  mwl_test_setup(testing_pages)
  if(MWL_SANITIZE)
    set_property(TEST test_cases APPEND PROPERTY ENVIRONMENT MWL_SLOW=1)
  endif()
endif()
if(Python3_FOUND) # authoring
  add_test(NAME fmt COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/fmt.py $<TARGET_FILE:mwlvm>
           tests tools stdlib ${MWL_SUITE_mwl})
  mwl_test_setup(fmt)
  add_test(NAME schema COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/schema.py $<TARGET_FILE:mwlvm>
           tests tools ${MWL_SUITE_mwl})
  mwl_test_setup(schema)
  set_tests_properties(schema PROPERTIES SKIP_RETURN_CODE 77)
  add_test(NAME completion COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/completion.py $<TARGET_FILE:mwlvm>)
  mwl_test_setup(completion)
  add_test(NAME conformance_claim COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/tree/conformance_claim.py
           $<TARGET_FILE:mwlvm>)
  mwl_test_setup(conformance_claim)
  if(MWL_HAVE_IO) # the patterns and the tour call http and prompt
    add_test(NAME language COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/language.py $<TARGET_FILE:mwlvm>
             ${PROJECT_SOURCE_DIR}/tools/LANGUAGE.md)
    mwl_test_setup(language)
    add_test(NAME new COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/new.py $<TARGET_FILE:mwlvm>)
    mwl_test_setup(new)
  endif()
endif()
if(Python3_FOUND)
  add_test(NAME graph COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/graph.py $<TARGET_FILE:mwlvm>)
  mwl_test_setup(graph)
  set(MWL_GRAPH_SECONDS 4)
  if(MWL_SANITIZE)
    set(MWL_GRAPH_SECONDS 60)
  endif()
  set_property(TEST graph APPEND PROPERTY ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1"
               "MWL_GRAPH_SECONDS=${MWL_GRAPH_SECONDS}")
endif()
if(Python3_FOUND)
  add_test(NAME report COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/report.py $<TARGET_FILE:mwlvm>)
  mwl_test_setup(report)
  set_property(TEST report APPEND PROPERTY ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endif()
# The playground and the npm package: natively, and where emscripten has built them, in node and in a browser.
if(Python3_FOUND)
  add_test(NAME playground_requests COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/playground/requests.py
           $<TARGET_FILE:mwl-play>)
  mwl_test_setup(playground_requests)
  add_test(NAME npm_contents COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/playground/contents.py
           ${PROJECT_SOURCE_DIR}/tools/playground/make)
  mwl_test_setup(npm_contents)
  foreach(part npm page)
    add_test(NAME playground_${part} COMMAND sh ${PROJECT_SOURCE_DIR}/tests/playground/run.sh ${part} ${CMAKE_BINARY_DIR})
    mwl_test_setup(playground_${part})
    set_tests_properties(playground_${part} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1200 RESOURCE_LOCK playground)
    set_property(TEST playground_${part} APPEND PROPERTY ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()
# `mwlvm lsp`: requests, recorded logs, random edits, speed; and a client of npm where node is there.
if(Python3_FOUND)
  set(MWL_LSP_features)
  set(MWL_LSP_edits)
  set(MWL_LSP_speed)
  file(GLOB MWL_LSP_replay CONFIGURE_DEPENDS tests/lsp/logs/*.log)
  foreach(check features edits speed replay)
    add_test(NAME lsp_${check} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/lsp/${check}.py
             $<TARGET_FILE:mwlvm> ${MWL_LSP_${check}})
    mwl_test_setup(lsp_${check})
  endforeach()
  if(MWL_SANITIZE)
    set_property(TEST lsp_speed APPEND PROPERTY ENVIRONMENT MWL_LSP_MS=1000)
  endif()
endif()
# `mwlvm debug` and `mwlvm dap`: commands, requests, recorded logs; every conformance case, and some of ours, forwards and with `back` after each stop.
if(Python3_FOUND)
  set(MWL_DEBUG_commands commands.py)
  set(MWL_DEBUG_cases cases.py tests/cases tests/regression)
  set(MWL_DEBUG_dap dap.py)
  file(GLOB MWL_DEBUG_logs CONFIGURE_DEPENDS tests/debug/logs/*.log)
  list(PREPEND MWL_DEBUG_logs ../lsp/replay.py)
  set(MWL_DEBUG_CHECKS commands cases dap logs)
  if(MWL_SUITE_conformance)
    set(MWL_DEBUG_conformance cases.py --all ${MWL_SUITE_conformance})
    list(APPEND MWL_DEBUG_CHECKS conformance)
  endif()
  foreach(check ${MWL_DEBUG_CHECKS})
    list(POP_FRONT MWL_DEBUG_${check} script)
    add_test(NAME debug_${check} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/debug/${script}
             $<TARGET_FILE:mwlvm> ${MWL_DEBUG_${check}})
    mwl_test_setup(debug_${check})
  endforeach()
endif()
if(Python3_FOUND)
  add_test(NAME editor_page COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/command/editor_page.py $<TARGET_FILE:mwlvm>)
  mwl_test_setup(editor_page)
endif()
foreach(client lsp dap)
  add_test(NAME npm_${client} COMMAND sh ${PROJECT_SOURCE_DIR}/tests/npm/run.sh ${client}.cjs $<TARGET_FILE:mwlvm>
           ${CMAKE_BINARY_DIR}/npm)
  mwl_test_setup(npm_${client})
  set_tests_properties(npm_${client} PROPERTIES SKIP_RETURN_CODE 77 RESOURCE_LOCK npm)
endforeach()
find_program(MWL_CLANG_FORMAT NAMES clang-format)
if(MWL_CLANG_FORMAT)
  add_test(NAME format COMMAND sh ${PROJECT_SOURCE_DIR}/tests/tree/format.sh ${MWL_CLANG_FORMAT})
  mwl_test_setup(format)
endif()

# A sanitized library asks its user to link the runtime too; an outside program does not know that.
if(NOT MWL_SANITIZE)
  add_test(NAME install COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/run.sh
           ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR} ${CMAKE_C_COMPILER})
  mwl_test_setup(install)
  # What is installed and what the Debian packages contain; then the library as one file, and the suites with it.
  if(Python3_FOUND)
    add_test(NAME packaged COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/install/packaged.py
             ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR})
    mwl_test_setup(packaged)
    set(MWL_ONE ${CMAKE_CURRENT_BINARY_DIR}/generated/one)
    file(GLOB_RECURSE MWL_ONE_OF CONFIGURE_DEPENDS vm/*.[ch] assembler/*.[ch] stdlib/*.[ch])
    set(MWL_ONE_MINICORO)
    if(MWL_MINICORO_INCLUDE)
      set(MWL_ONE_MINICORO ${MWL_MINICORO_INCLUDE}/minicoro.h)
    endif()
    add_custom_command(OUTPUT ${MWL_ONE}/mwl.c
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/build/amalgamate ${MWL_ONE} ${MWL_ONE_MINICORO}
      DEPENDS ${MWL_ONE_OF} ${PROJECT_SOURCE_DIR}/tools/build/amalgamate VERBATIM)
    # A long compilation, which only its tests need: they begin with it.
    add_library(mwl_one OBJECT EXCLUDE_FROM_ALL ${MWL_ONE}/mwl.c)
    # As a user compiles it: with the parts of this build, but not with its flags. amalgamate.sh explains the third one.
    target_link_libraries(mwl_one PRIVATE mwl_dependencies)
    target_compile_definitions(mwl_one PRIVATE $<TARGET_PROPERTY:mwl_flags,INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_options(mwl_one PRIVATE -Wall -Wextra -Wno-misleading-indentation -O2 -g0
                           $<$<BOOL:${MWL_WERROR}>:-Werror>)
    add_executable(mwl-suite-one EXCLUDE_FROM_ALL ${MWL_SUITE_SOURCES} tools/session/seed.c tools/test/control.c tools/test/match_result.c
                   tools/lsp/cel_deduce.c tools/lsp/cel_type.c $<TARGET_OBJECTS:mwl_one>)
    target_link_libraries(mwl-suite-one PRIVATE mwl_flags mwl_dependencies)
    add_test(NAME amalgamate COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/amalgamate.sh ${MWL_ONE}
             $<TARGET_FILE:mwl-suite-one> ${MWL_ONE_MINICORO})
    mwl_test_setup(amalgamate)
    set(MWL_ONE_TESTS amalgamate)
    set(MWL_ONE_TARGETS mwl-suite-one)
    if(MWL_MINICORO_INCLUDE) # as host_minicoro, with the one file
      list(APPEND MWL_ONE_TESTS host_minicoro_one)
      list(APPEND MWL_ONE_TARGETS host_minicoro_one)
      add_executable(host_minicoro_one EXCLUDE_FROM_ALL tests/install/minicoro.c $<TARGET_OBJECTS:mwl_one>)
      target_include_directories(host_minicoro_one SYSTEM PRIVATE ${MWL_MINICORO_INCLUDE})
      target_include_directories(host_minicoro_one PRIVATE ${MWL_ONE})
      target_link_libraries(host_minicoro_one PRIVATE mwl_dependencies)
      add_test(NAME host_minicoro_one COMMAND host_minicoro_one)
      mwl_test_setup(host_minicoro_one)
    endif()
    add_test(NAME one_compiles COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target ${MWL_ONE_TARGETS})
    mwl_test_setup(one_compiles)
    set_tests_properties(one_compiles PROPERTIES FIXTURES_SETUP one COST 1000)
    set_tests_properties(${MWL_ONE_TESTS} PROPERTIES FIXTURES_REQUIRED one)
  endif()
  # The library with parts left out, and inside another project. One after the other, so that what one compiles the
  # next finds in ccache.
  foreach(part smallest stacks pcre2 idn command assembler)
    add_test(NAME options_${part} COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/options.sh ${CMAKE_COMMAND}
             ${CMAKE_C_COMPILER} $<TARGET_FILE:mwlvm> ${CMAKE_CURRENT_BINARY_DIR}/options ${part})
    mwl_test_setup(options_${part})
    set_tests_properties(options_${part} PROPERTIES RESOURCE_LOCK options TIMEOUT 900)
  endforeach()
  add_test(NAME subproject COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/subproject.sh ${CMAKE_COMMAND}
           ${CMAKE_C_COMPILER} ${CMAKE_CURRENT_BINARY_DIR}/options/subproject)
  mwl_test_setup(subproject)
  set_tests_properties(subproject PROPERTIES RESOURCE_LOCK options TIMEOUT 900)
  # Hosts that were compiled with the headers of other versions, with this library.
  add_test(NAME abi COMMAND sh ${PROJECT_SOURCE_DIR}/tests/api/abi/run.sh ${CMAKE_C_COMPILER} $<TARGET_FILE:mwlvm_shared>
           ${MWL_HEADERS})
  mwl_test_setup(abi)
  add_test(NAME library COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/library.sh $<TARGET_FILE:mwlvm_shared>
           $<TARGET_FILE:example_hello_host> "${CMAKE_BUILD_TYPE}" "${MWL_STRESS}" ${CMAKE_C_COMPILER_ID})
  mwl_test_setup(library)
  set(MWL_LIBRARY_KINDS release lto)
  if(MWL_STRESS) # they are the same as beside the everyday build
    set(MWL_LIBRARY_KINDS)
  endif()
  foreach(kind ${MWL_LIBRARY_KINDS})
    add_test(NAME library_${kind} COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/library_as.sh ${CMAKE_COMMAND}
             ${CMAKE_C_COMPILER} ${CMAKE_C_COMPILER_ID} ${CMAKE_CURRENT_BINARY_DIR}/options ${kind})
    mwl_test_setup(library_${kind})
    set_tests_properties(library_${kind} PROPERTIES RESOURCE_LOCK options TIMEOUT 900)
  endforeach()
  add_test(NAME readme COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/readme.sh ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR})
  mwl_test_setup(readme)
  add_test(NAME guide COMMAND sh ${PROJECT_SOURCE_DIR}/tests/install/guide.sh ${CMAKE_COMMAND} ${CMAKE_BINARY_DIR})
  mwl_test_setup(guide)
endif()
