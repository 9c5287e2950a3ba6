/* limit.h: how much work and memory a command may use: --fuel and --memory.
 *
 * The command is for people who run what others wrote, so both have a default. */
#ifndef MWL_TOOLS_LIMIT_H
#define MWL_TOOLS_LIMIT_H

#include "mwl.h"
#include "tools/base/options.h"

/* The defaults. Fuel ends a Flow that never waits after about a minute; tools/COMMAND.md says how
 * that was measured. */
#define LIMITS_FUEL UINT64_C(5000000000)
#define LIMITS_FUEL_WORD "5G"
#define LIMITS_MEMORY ((size_t)1 << 30)
#define LIMITS_MEMORY_WORD "1G"

struct limits {
    uint64_t fuel;                       /* UINT64_MAX: unlimited */
    size_t memory;                       /* bytes; SIZE_MAX: unlimited */
    const char *fuel_word, *memory_word; /* as given; NULL: the default */
    size_t used;                         /* by limits_alloc */
    bool refused;                        /* limits_alloc refused a block because of the limit */
};

struct limits limits_default(void);

/* The table of --fuel and --memory; its base is a struct limits. */
#define LIMITS_OPTIONS 3
extern const struct option limits_options[LIMITS_OPTIONS];

/* Returns an allocator that uses the C library and gives at most as much as --memory allows. The
 * limits must outlive it. */
mwl_alloc limits_alloc(struct limits *l);

/* Prints "--memory 10M was used up" for the limit that a status means (MWL_E_FUEL, else memory). If
 * it is a default, the message says how to raise it. `where` follows "used up"; "" for nothing. */
void limits_report(const struct limits *l, mwl_status why, const char *where);

#endif
