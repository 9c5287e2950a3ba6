# How much each folder is optimised in optimised builds. FAST, what a run spends its time in: as the build type says (-O3
# in Release). EVEN, values and expressions: -O2. The rest, the assembler and what is done once or for people: -Os. A few
# files differ from their folder. bench/SIZES.md has what the library weighs; the tests library, library_release and
# library_lto hold it to its bound.
set(MWL_FAST vm/base vm/machine)
set(MWL_EVEN vm/value vm/cel)
set(MWL_FAST_FILES vm/value/heap.c vm/value/list.c vm/value/map.c vm/value/value.c vm/value/words.c vm/cel/build.c
    vm/cel/compare.c stdlib/mw_retry.c stdlib/mw_timeout.c)
set(MWL_EVEN_FILES vm/machine/phase.c vm/machine/vm.c vm/machine/gather.c vm/machine/execution.c vm/machine/run.c
    vm/machine/run_list.c
    vm/regex/regex.c # the search
    vm/snapshot/writer.c vm/snapshot/cbor.c vm/snapshot/resume.c vm/snapshot/header.c) # once for each effect of a durable run
set(MWL_SMALL_FILES vm/base/suggest.c
    vm/machine/account.c vm/machine/arguments.c vm/machine/blocking.c vm/machine/context.c vm/machine/declared.c
    vm/machine/durable.c vm/machine/host_value.c vm/machine/deferred.c vm/machine/invariant.c
    vm/machine/link.c vm/machine/providers.c vm/machine/purse.c vm/machine/raise.c vm/machine/rest.c vm/machine/token.c
    vm/machine/trace.c vm/machine/where.c
    vm/value/json.c vm/value/shape.c vm/value/temporal.c vm/value/temporal_dur.c vm/value/value_lib.c vm/value/zone.c
    vm/value/zone_file.c
    vm/cel/cel_message.c vm/cel/cel_time.c vm/cel/linked.c)
# A compiler puts copies of functions into their callers, with link-time optimisation also into those of other files. The
# functions of these files have many callers that are not in a hurry: no run is quicker by such copies.
set(MWL_ONE_COPY_FILES vm/base/num_parse.c vm/base/hash.c vm/base/columns.c vm/machine/gather.c vm/machine/unwind.c
    vm/machine/execution.c vm/machine/account.c vm/machine/run.c vm/machine/run_list.c vm/value/json_write.c
    vm/value/exclusive.c
    vm/cel/boundary.c vm/cel/cel_convert.c vm/cel/cel_mwl.c vm/cel/failure.c vm/cel/functions.c vm/schema/schema_value.c
    stdlib/cel_strings.c)
set(MWL_ONE_COPY assembler/cel)

set(MWL_SMALL_OPTIONS $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
set(MWL_EVEN_OPTIONS $<$<CONFIG:Release>:-O2>)
set(MWL_FAST_OPTIONS)
set(MWL_ONE_COPY_OPTIONS)
# Jumps and loops that begin at multiples of 16, loops over several values at once and copies of functions for one argument
# take 25 KiB with link-time optimisation, and make nothing quicker. Clang does not have all of these options.
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
  list(APPEND MWL_EVEN_OPTIONS -fno-align-loops -fno-align-jumps)
  list(APPEND MWL_FAST_OPTIONS -fno-align-loops -fno-align-jumps -fno-tree-vectorize -fno-ipa-cp-clone)
  set(MWL_ONE_COPY_OPTIONS -fno-inline-functions)
endif()
foreach(source ${MWL_SOURCES})
  file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${source})
  get_filename_component(folder ${file} DIRECTORY)
  set(level SMALL)
  foreach(one EVEN FAST)
    if(folder IN_LIST MWL_${one})
      set(level ${one})
    endif()
  endforeach()
  foreach(one SMALL EVEN FAST)
    if(file IN_LIST MWL_${one}_FILES)
      set(level ${one})
    endif()
  endforeach()
  set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${MWL_${level}_OPTIONS})
  if(file IN_LIST MWL_ONE_COPY_FILES OR folder IN_LIST MWL_ONE_COPY)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS ${MWL_ONE_COPY_OPTIONS})
  endif()
endforeach()

# Tables of texts are thousands of relocations, which take next to nothing when they are packed. Used where the
# system's own loader understands it (glibc 2.36 and later): a program linked that way is run.
include(CheckCSourceRuns)
set(CMAKE_REQUIRED_FLAGS -fPIE)
set(CMAKE_REQUIRED_LINK_OPTIONS -pie LINKER:-z,pack-relative-relocs LINKER:--fatal-warnings)
if(NOT CMAKE_CROSSCOMPILING)
  check_c_source_runs("static const char *const t[] = {\"a\", \"b\"};
                       int main(int n, char **v) { (void)v; return t[n - 1][0] != 'a'; }" MWL_PACKED_RELOCATIONS)
endif()
unset(CMAKE_REQUIRED_FLAGS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(MWL_PACKED_RELOCATIONS AND MWL_SHARED)
  target_link_options(mwlvm_shared PRIVATE LINKER:-z,pack-relative-relocs)
endif()

# Code and constants lie in one piece of the file: pages of their own would be 8 KiB of nothing.
include(CheckLinkerFlag)
check_linker_flag(C LINKER:-z,noseparate-code MWL_NOSEPARATE_CODE)
if(MWL_NOSEPARATE_CODE AND MWL_SHARED)
  target_link_options(mwlvm_shared PRIVATE LINKER:-z,noseparate-code)
endif()
