/* names.h: names of Steps and providers that a person writes outside a definition: in the answers
 * and expectations of a case, in invariants, in options.
 *
 * Owns: which name means which Step, and what is said of a name that means nothing. "Step" means
 * every Step of that name, "Flow/Step" the one of that Flow. A name of a provider is its URI. */
#ifndef MWL_TOOLS_NAMES_H
#define MWL_TOOLS_NAMES_H

#include "vm/program/program.h"

/* Whether `name` means this Step. `flow` is "" for the root and for Flows without a name. */
bool names_step(const char *name, const char *flow, const char *step);
/* The same for a Step that is known as "Flow/Step", or "Step" in a Flow without a name. */
bool names_whole(const char *name, const char *whole);

enum names_kind { NAMES_STEP = 1, NAMES_URI = 2 };

/* Whether the program has something of these kinds with this name. If not, `why` says so, with the
 * name that was probably meant: "there is no Step 'chrage'; did you mean 'charge'?". */
bool names_check(const mwl_program *p, unsigned kinds, const char *name, char *why, size_t size);

#endif
