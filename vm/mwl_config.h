/* mwl_config.h: limits and settings that are fixed when the library is compiled, each with its
 * reason. Define one of the macros to change it.
 *
 * mwl.h has what a host can set for each VM or run; the defaults of these are here. Limits that
 * only one file of the library knows are in the header beside that file. */
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

/* Bytes of the compiled regular expressions of a program. Twenty bytes of pattern can need a
 * megabyte, so without a limit loading a small image could need any amount of memory. */
#ifndef MWL_PATTERNS_LIMIT
#define MWL_PATTERNS_LIMIT (64u << 20)
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

#endif
