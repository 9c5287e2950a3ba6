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

/* Registers of one program: a window of 16 bytes each is allocated per VM, whoever made the image. */
#ifndef MWL_REGS_LIMIT
#define MWL_REGS_LIMIT 4096
#endif

/* Bytes of a program's compiled regular expressions. Twenty bytes of pattern can ask for a megabyte, so
 * without a limit a small image could ask for any amount when it is loaded. */
#ifndef MWL_PATTERNS_LIMIT
#define MWL_PATTERNS_LIMIT (64u << 20)
#endif

#endif
