# How much each source is optimised in optimised builds, for a library that is small and fast where it counts:
#   hot    the machine, its values, and what assembling spends most of its time in: as the build type says (-O3)
#   cold   done once or for people (loading, reports, listings, schema and pattern compilers), what waits for other
#          code anyway, and the parts of the assembler that its profile hardly shows: -Os
#   rest   the assembler's busy parts, what the machine calls now and then: -O2
# Measured on x86-64 with gcc 12, stripped shared library, Release: all -O3 827 KiB, all -O2 707 KiB, all -Os 559 KiB.
# All -O2 costs the machine up to 11 % more instructions than -O3; -Os costs the assembler 30 %.
set(MWL_HOT vm/exec vm/step vm/call vm/execution vm/words vm/build vm/entry vm/phase vm/frame vm/arith
    vm/heap vm/list vm/map vm/value vm/timer vm/num_parse
    vm/suggest assembler/read_node assembler/cel_lex assembler/source)
set(MWL_COLD
    vm/image vm/program vm/pack vm/op vm/position vm/status vm/invariant
    vm/schema_report vm/schema_load vm/regex_parse vm/regex_class vm/regex_compile vm/pattern_syntax vm/pattern
    vm/zone vm/zone_file vm/cel_message vm/cel_time vm/copy
    vm/blocking vm/coro vm/stack_watch vm/token vm/temporal vm/temporal_dur
    stdlib/documents stdlib/std stdlib/std_register stdlib/cel_network stdlib/cel_format stdlib/cel_encoders
    stdlib/cel_strings stdlib/cel_sets stdlib/cel_math stdlib/cel_optional
    assembler/asm assembler/catalog assembler/cel_check assembler/cel_fold
    assembler/cel_literal assembler/cel_loop assembler/cel_lower assembler/cel_macro assembler/cel_parse
    assembler/cel_reach assembler/cel_resolve assembler/cel_value
    assembler/check assembler/check_text assembler/check_vars assembler/form assembler/scope
    assembler/cel_words assembler/check_args assembler/check_call assembler/check_code assembler/check_expr
    assembler/check_step assembler/lower_step assembler/check_graph assembler/check_mw assembler/check_path assembler/check_schema assembler/emit_const
    assembler/lower_call assembler/lower_entry assembler/lower_scope assembler/lower_value assembler/model
    assembler/provide)
foreach(source ${MWL_SOURCES})
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
  string(REGEX REPLACE "\\.c$" "" name ${name})
  string(REGEX REPLACE "^(vm|assembler)/[a-z]+/" "\\1/" name ${name})
  if(name IN_LIST MWL_COLD OR name MATCHES "^vm/(verify|format)|^assembler/(schema|diag|disasm)")
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
  elseif(NOT name IN_LIST MWL_HOT)
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O2> $<$<CONFIG:Release>:-fno-align-loops>
                 $<$<CONFIG:Release>:-fno-align-jumps>)
  endif()
endforeach()

# Tables of texts are thousands of relocations: 54 KiB of the shared library, 1 KiB when packed. Used where the
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
if(MWL_PACKED_RELOCATIONS)
  target_link_options(mwlvm_shared PRIVATE LINKER:-z,pack-relative-relocs)
endif()
