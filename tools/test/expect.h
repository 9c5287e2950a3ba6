/* expect.h: the `expect` of a case, compared with what a run did; and written from it.
 *
 * Owns: what each member means. tools/TESTING.md teaches them. */
#ifndef MWL_TOOLS_TEST_EXPECT_H
#define MWL_TOOLS_TEST_EXPECT_H

#include "tools/test/match.h"
#include "tools/test/seen.h"

struct outcome {
    struct seen *seen;
    mwl_value input, result; /* lent; result absent: the run has none */
    const char *ended;       /* why it has none, or NULL */
};

/* Returns whether everything is as expected; the differences go to m->out. */
bool expect_check(struct matcher *m, mwl_value expect, const struct outcome *o);

/* Returns `expect` with what was seen in the place of every member that is plain data; given. An
 * absent `expect` gets the Result. */
mwl_value expect_update(mwl_heap *heap, mwl_value expect, const struct outcome *o);

#endif
