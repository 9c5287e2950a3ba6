# How much each folder is optimised in optimised builds. As the build type says (-O3 in Release): what a run spends
# its time in. -O2: what the assembler spends its time in, and what the machine calls now and then. -Os: the rest,
# which is done once or for people. A few files differ from their folder. bench/SIZES.md has what the library weighs; it
# would be a fifth larger with -O3 everywhere, and a fifth smaller with -Os everywhere, at up to 30 % more instructions in
# the assembler.
set(MWL_FAST vm/base vm/machine)
set(MWL_EVEN vm/value vm/cel vm/schema stdlib assembler/cel assembler/source assembler/emit assembler/lower)
set(MWL_EVEN_FILES vm/regex/regex.c # the search
    vm/snapshot/writer.c vm/snapshot/cbor.c vm/snapshot/resume.c vm/snapshot/header.c) # once for each effect of a durable run
set(MWL_FAST_FILES vm/value/heap.c vm/value/list.c vm/value/map.c vm/value/value.c vm/value/words.c vm/cel/build.c assembler/cel/cel.c)
set(MWL_SMALL_FILES vm/base/suggest.c vm/machine/durable.c vm/machine/rest.c vm/machine/context.c vm/machine/clone.c
    vm/machine/fingerprint.c vm/machine/providers.c vm/machine/where.c
    vm/machine/token.c vm/machine/grave.c vm/machine/blocking.c vm/machine/link.c vm/cel/linked.c vm/machine/trace.c vm/machine/declared.c
    vm/machine/arguments.c vm/machine/given.c vm/machine/invariant.c vm/machine/raise.c stdlib/cel_format.c
    stdlib/cel_network.c stdlib/documents.c stdlib/std.c vm/value/zone.c vm/value/zone_file.c vm/value/value_lib.c vm/value/shape.c
    vm/schema/format_idn.c vm/schema/schema_report.c assembler/source/diag.c assembler/source/diag_render.c assembler/source/diag_export.c
    assembler/source/diag_fix.c assembler/source/form.c vm/value/temporal.c)
set(MWL_UNALIGNED)
if(CMAKE_C_COMPILER_ID STREQUAL GNU) # clang warns that it has no such option
  set(MWL_UNALIGNED $<$<CONFIG:Release>:-fno-align-loops> $<$<CONFIG:Release>:-fno-align-jumps>)
endif()
foreach(source ${MWL_SOURCES})
  file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${source})
  get_filename_component(folder ${file} DIRECTORY)
  if(file IN_LIST MWL_SMALL_FILES)
    set(folder small)
  endif()
  if(folder IN_LIST MWL_FAST OR file IN_LIST MWL_FAST_FILES)
    continue()
  elseif(folder IN_LIST MWL_EVEN OR file IN_LIST MWL_EVEN_FILES)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O2> ${MWL_UNALIGNED})
  else()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
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
