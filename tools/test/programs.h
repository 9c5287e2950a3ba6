/* programs.h: a definition that cases share, and how a case gets it. */
#ifndef MWL_TOOLS_TEST_PROGRAMS_H
#define MWL_TOOLS_TEST_PROGRAMS_H

#include "tools/test/test_case.h"
#include "tools/host/testable.h"

#include <pthread.h>

struct test_program {
    struct testable testable;
    mwl_status status;
    mwl__buf problems;         /* if it was rejected */
    struct coverage *coverage; /* or NULL: not asked for */
    uint64_t *hits;            /* of all cases that have ended */
    char *key;
    bool loaded;
    pthread_mutex_t lock;
};

/* Returns the definition with these further documents, lent until the programs are freed; NULL if
 * memory runs out. */
struct test_program *test_programs_get(struct test_programs *p, const char *path,
                                       const char *const *files, size_t n_files);
/* Adds the hits of a case. */
void test_program_took(struct test_program *t, const uint64_t *hits);

#endif
