/* match.h: whether what was seen is what was expected, and where it is not.
 *
 * Plain JSON means itself: compared exactly or as a part, as the place says. At every depth an
 * object with one of these members alone means something else:
 *     {"$exact": V}   equal       {"$subset": V}   contains V       {"$cel": "..."}   the condition
 *     is true, about `this` */
#ifndef MWL_TOOLS_TEST_MATCH_H
#define MWL_TOOLS_TEST_MATCH_H

#include "tools/host/expr.h"

enum match_mode { MATCHES_EXACTLY, MATCHES_SUBSET };

struct matcher {
    mwl_heap *heap;
    struct expr_env *env;
    mwl__buf *out;    /* differences are appended here, a line each: "  value.id: ..." */
    unsigned n_shown; /* differences so far */
};

/* Compares, and writes the differences under the name `path`. */
bool match_value(struct matcher *m, enum match_mode mode, mwl_value expected, mwl_value actual,
                 const char *path);

/* Compares Results by the rules of the conformance suite. The types must be equal. For a success,
 * the values must be deeply equal. For a failure, every expected member must exist and be deeply
 * equal; an expected null also matches a missing member. `previous` and the Results inside
 * details.failures are compared by the same rules. If they differ, `why` says where. */
bool match_result(mwl_heap *heap, mwl_value expected, mwl_value actual, char *why, size_t size);

/* Appends "  path: expected X, got Y". */
void match_differ(struct matcher *m, const char *path, mwl_value expected, mwl_value actual);
/* Appends a value as compact JSON, cut after about `most` bytes. */
void match_put(struct matcher *m, mwl_value v, size_t most);

/* A condition over named values. Writes a line if it is not true. */
bool match_condition(struct matcher *m, const char *path, mwl_value text, const char *const *names,
                     const mwl_value *values, size_t n);

#endif
