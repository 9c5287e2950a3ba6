/* mwl_config.h: every compile-time limit and knob, each with its reason.
 *
 * What a host can set per VM or run is in mwl.h; its defaults come from here. */
#ifndef MWL_CONFIG_H
#define MWL_CONFIG_H

/* Containers nested inside each other. Walks over values keep an explicit stack of this many small
 * records, so the cause is C stack: 512 levels fit the smallest native stack we hand out. */
#ifndef MWL_DEPTH_LIMIT
#define MWL_DEPTH_LIMIT 512
#endif

/* Nodes of a value when written out. Sharing can make a value of 2^64 nodes from 64 objects; any
 * walk over more than this many is refused before it begins. */
#ifndef MWL_WEIGHT_LIMIT
#define MWL_WEIGHT_LIMIT (1ull << 31)
#endif

/* Bytes of one string: lengths are 32 bits wide in the value's header. */
#ifndef MWL_STRING_LIMIT
#define MWL_STRING_LIMIT 0xfffffff0ull
#endif

/* Elements of one array or members of one object: counts are 32 bits wide in the value. */
#ifndef MWL_COUNT_LIMIT
#define MWL_COUNT_LIMIT 0x7fffffffull
#endif

/* Members from which an object keeps a hash index; below it a scan over 32-bit hashes is faster. */
#ifndef MWL_INDEX_FROM
#define MWL_INDEX_FROM 9
#endif

/* Registers of one program: a window of 16 bytes each is allocated per VM, whoever made the image.
 */
#ifndef MWL_REGS_LIMIT
#define MWL_REGS_LIMIT 4096
#endif

/* Bytes of a program's compiled regular expressions. Twenty bytes of pattern can ask for a
 * megabyte, so without a limit a small image could ask for any amount when it is loaded. */
#ifndef MWL_PATTERNS_LIMIT
#define MWL_PATTERNS_LIMIT (64u << 20)
#endif

/* Whether the machine looks, after every run, at what must hold then (invariant.c). */
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

/* Failures linked by `previous`. Every link nests one container deeper, so this stays well below
 * MWL_DEPTH_LIMIT; the maximum is what a host may set it to. */
#ifndef MWL_CHAIN_LIMIT
#define MWL_CHAIN_LIMIT 64
#endif
#define MWL_CHAIN_LIMIT_MAX 128

/* Instructions of one work slice: the longest time between two looks at the clock, about 20 us. */
#ifndef MWL_SLICE
#define MWL_SLICE 4096
#endif

/* A run's work in all. Unlimited: a workflow may live for years; a host that runs strangers'
 * programs sets its own. */
#ifndef MWL_RUN_FUEL
#define MWL_RUN_FUEL 0xffffffffffffffffull
#endif

/* A run's memory: enough for a million-element fan-out, small enough that one run cannot take the
 * host. */
#ifndef MWL_RUN_MEMORY
#define MWL_RUN_MEMORY (1ull << 30)
#endif

/* What a run may still allocate after it reached its memory limit, so that cleanup can speak. */
#ifndef MWL_RUN_RESERVE
#define MWL_RUN_RESERVE (1u << 20)
#endif

/* Nanoseconds for the cleanup of a cancelled run. None: a cleanup may wait for a slow peer on
 * purpose, and only the host knows how long it can be held up. */
#ifndef MWL_CLEANUP_NS
#define MWL_CLEANUP_NS 0
#endif

/* Flows called inside each other. The definition's reference graph has no cycle, so only its own
 * nesting reaches this; frames are small. */
#ifndef MWL_FRAME_DEPTH
#define MWL_FRAME_DEPTH 256
#endif

/* Entries established in one frame: both levels and cleanup stacks inside them. */
#ifndef MWL_ENTRY_DEPTH
#define MWL_ENTRY_DEPTH 1024
#endif

/* Dispatches of one Gather: a slot each is held until the fan-out is complete. */
#ifndef MWL_FAN_OUT
#define MWL_FAN_OUT 4000000
#endif

#endif
