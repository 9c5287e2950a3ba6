/* mwl_config.h: every limit and setting that is fixed when the library is compiled, each with its
 * reason. Define one of the macros to change it.
 *
 * mwl.h has what a host can set for each VM or run; the defaults of these are here. */
#ifndef MWL_CONFIG_H
#define MWL_CONFIG_H

/* How deep containers may be nested. Walks over values keep a stack of this many small records on
 * the C stack. 512 levels fit on the smallest stack that the library makes for a provider. */
#ifndef MWL_DEPTH_LIMIT
#define MWL_DEPTH_LIMIT 512
#endif

/* Nodes of a value when it is written out. Containers share parts, so 64 objects can make a value
 * of 2^64 nodes. A walk over more nodes than this is refused before it begins. */
#ifndef MWL_WEIGHT_LIMIT
#define MWL_WEIGHT_LIMIT (1ull << 31)
#endif

/* Bytes of one string. Lengths have 32 bits in the header of a string. */
#ifndef MWL_STRING_LIMIT
#define MWL_STRING_LIMIT 0xfffffff0ull
#endif

/* Elements of one array or members of one object. Counts have 32 bits in the value. */
#ifndef MWL_COUNT_LIMIT
#define MWL_COUNT_LIMIT 0x7fffffffull
#endif

/* An object with at least this many members keeps a hash index. With fewer members a scan over
 * 32-bit hashes is faster. */
#ifndef MWL_INDEX_FROM
#define MWL_INDEX_FROM 9
#endif

/* Registers of one program. Each VM allocates 16 bytes for each of them, also for an image from an
 * unknown source. */
#ifndef MWL_REGS_LIMIT
#define MWL_REGS_LIMIT 4096
#endif

/* Bytes that loading a program holds at a time, with the program itself. A program needs 2 or 3
 * times the size of its image, or 5 to 7 times that of its packed form; one that was made to need
 * much, a thousand times. */
#ifndef MWL_LOAD_MEMORY
#define MWL_LOAD_MEMORY (1ull << 30)
#endif

/* Bytes of the compiled regular expressions of a program. Twenty bytes of pattern can need a
 * megabyte, so without a limit loading a small image could need any amount of memory. */
#ifndef MWL_PATTERNS_LIMIT
#define MWL_PATTERNS_LIMIT (64u << 20)
#endif

/* The work of compiling them, and of compiling the patterns of a program's schemas: ranges and
 * instructions, about 6 ns each. A pattern of two kilobytes can need 4,000,000 ranges, so without a
 * limit loading a small image could take any time. */
#ifndef MWL_PATTERNS_WORK
#define MWL_PATTERNS_WORK 100000000u
#endif

/* 1: the machine checks its invariants after every run and at every instruction (invariant.c,
 * nest.h). On in stress and address-sanitizer builds. */
#ifndef MWL_CHECKED
#if defined(MWL_STRESS) || defined(__SANITIZE_ADDRESS__)
#define MWL_CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MWL_CHECKED 1
#endif
#endif
#endif
#ifndef MWL_CHECKED
#define MWL_CHECKED 0
#endif

/* 1: each object of a heap is a separate allocation, so that a tool sees its bounds. 0: small ones
 * share chunks. */
#ifndef MWL_PLAIN_HEAP
#define MWL_PLAIN_HEAP MWL_CHECKED
#endif

/* Failures linked by `previous`. Every link nests one container deeper, so this is well below
 * MWL_DEPTH_LIMIT. A host may set it to at most MWL_CHAIN_LIMIT_MAX. */
#ifndef MWL_CHAIN_LIMIT
#define MWL_CHAIN_LIMIT 64
#endif
#define MWL_CHAIN_LIMIT_MAX 128

/* Work of one slice, counted as fuel: the longest time between two readings of the clock, about
 * 20 us. */
#ifndef MWL_SLICE
#define MWL_SLICE 4096
#endif

/* Fuel of a run. No limit, because a workflow may live for years. A host that runs programs of
 * strangers sets its own. */
#ifndef MWL_RUN_FUEL
#define MWL_RUN_FUEL 0xffffffffffffffffull
#endif

/* Memory of a run: enough for a fan-out of a million elements, and small enough that one run cannot
 * use up the host. */
#ifndef MWL_RUN_MEMORY
#define MWL_RUN_MEMORY (1ull << 30)
#endif

/* What a run may still allocate for its cleanup after it has reached its memory limit. */
#ifndef MWL_RUN_RESERVE
#define MWL_RUN_RESERVE (1u << 20)
#endif

/* The fuel that a run gets for its onAlways phases after it reached a limit: enough for many small
 * phases, about a millisecond of work. */
#ifndef MWL_RUN_RESERVE_FUEL
#define MWL_RUN_RESERVE_FUEL 200000
#endif

/* Nanoseconds for the cleanup of a cancelled run. 0 is no limit: a cleanup may wait for a slow peer
 * on purpose, and only the host knows how long it can wait. */
#ifndef MWL_CLEANUP_NS
#define MWL_CLEANUP_NS 0
#endif

/* Flows called inside each other. A definition cannot call itself in a cycle, so only its own
 * nesting reaches this. Frames are small. */
#ifndef MWL_FRAME_DEPTH
#define MWL_FRAME_DEPTH 256
#endif

/* Entries established in one frame, at both levels and in the cleanup stacks inside them. */
#ifndef MWL_ENTRY_DEPTH
#define MWL_ENTRY_DEPTH 1024
#endif

/* Dispatches of one Gather. Each has a slot until the fan-out is complete. */
#ifndef MWL_FAN_OUT
#define MWL_FAN_OUT 4000000
#endif

/* How deep brackets, calls and operators of an expression may be nested. The language demands 12 to
 * 32 of each. The limit exists because walks recurse once per level on the C stack. */
#ifndef MWL_CEL_DEPTH
#define MWL_CEL_DEPTH 250
#endif

/* Instructions of one compiled regular expression of CEL. Limits its memory (8 bytes each) and the
 * most work per symbol of the subject. */
#ifndef MWL_REGEX_MAX_INST
#define MWL_REGEX_MAX_INST 100000u
#endif

/* Ranges of character classes that compiling one of them may add and sort. Limits the time, because
 * three bytes such as \pL mean six hundred ranges. */
#ifndef MWL_REGEX_MAX_WORK
#define MWL_REGEX_MAX_WORK 4000000u
#endif

/* How deep their groups may be nested. Limits the parser's own stack. */
#ifndef MWL_REGEX_MAX_NEST
#define MWL_REGEX_MAX_NEST 1000u
#endif

/* How many copies of their innermost operand counted repetitions may make. This is RE2's limit. */
#ifndef MWL_REGEX_MAX_REPEAT
#define MWL_REGEX_MAX_REPEAT 1000u
#endif

/* Bytes of the matcher's states that are kept for one of them. Beyond that they are dropped and
 * built again. */
#ifndef MWL_REGEX_CACHE_BYTES
#define MWL_REGEX_CACHE_BYTES (256u << 10)
#endif

/* For how many of them a VM keeps states. A power of two. */
#ifndef MWL_REGEX_CACHE_SLOTS
#define MWL_REGEX_CACHE_SLOTS 64u
#endif

/* The most work of one search of a JSON Schema pattern by backtracking; then the search ends. Each
 * item of the pattern that is tried counts 1, and every 16 bytes that an item reads count 1. One
 * unit takes about 30 ns. */
#ifndef MWL_PATTERN_WORK_LIMIT
#define MWL_PATTERN_WORK_LIMIT 20000000u
#endif

/* How deep the groups of such a pattern may be nested. PCRE2 compiles them by recursion, with about
 * 500 bytes of C stack each. */
#ifndef MWL_PATTERN_NEST
#define MWL_PATTERN_NEST 100u
#endif

/* Memory of one search by backtracking, in KiB: what a subject may cost beside its own size. */
#ifndef MWL_PATTERN_HEAP_KIB
#define MWL_PATTERN_HEAP_KIB 16384u
#endif

/* Bytes of a definition, and of each provider document. People write definitions; a larger one is
 * data in the wrong place. */
#ifndef MWL_ASM_BYTES
#define MWL_ASM_BYTES (64u << 20)
#endif

/* The work of one assembly: about a unit for each byte that is read, each node that is checked and
 * each instruction that is made; patterns, schemas and constants cost what they take. A unit takes
 * about 10 ns. */
#ifndef MWL_ASM_WORK
#define MWL_ASM_WORK 4000000000ull
#endif

/* Bytes that one assembly holds at a time. A definition needs 20 to 40 times its size. */
#ifndef MWL_ASM_MEMORY
#define MWL_ASM_MEMORY (1ull << 30)
#endif

/* How many schemas may be open at one time while a value is checked. Each needs a C frame of about
 * 200 bytes; a level of data needs one or two. */
#ifndef MWL_SCHEMA_DEPTH
#define MWL_SCHEMA_DEPTH 1024
#endif

/* Bytes of the compiled patterns of one schema. Twenty bytes of text can need a megabyte, so
 * without a limit loading a small image could need any amount of memory. */
#ifndef MWL_SCHEMA_PATTERNS_LIMIT
#define MWL_SCHEMA_PATTERNS_LIMIT (16u << 20)
#endif

/* What can be left out, to need fewer libraries (1: it is there). The build's options with the same
 * names set them. */

/* Stacks for blocking call providers (vm/native). Without them mwl_vm_provide() refuses such a
 * provider with MWL_E_UNSUPPORTED. */
#ifndef MWL_STACKS
#define MWL_STACKS 1
#endif

/* PCRE2, for the patterns of JSON Schemas with look-around or back-references. Without it a schema
 * with such a pattern is refused with MWL_E_UNSUPPORTED; all others run in our own matcher. */
#ifndef MWL_PCRE2
#define MWL_PCRE2 1
#endif

/* libidn2, for the rules of the formats idn-hostname and idn-email. Without it the lengths, hyphens
 * and Punycode of labels are checked, and no code points. */
#ifndef MWL_IDN
#define MWL_IDN 1
#endif

#endif
