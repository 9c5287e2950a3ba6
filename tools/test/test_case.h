/* test_case.h: cases of `mwlvm test`: finding them, and running one.
 *
 * A case is a file {"definition", "input", "arguments", "answers", "control", "providers",
 * "expect"}, or a scenario in the layout of the conformance suite (case.json, definition.json,
 * scenarios/NAME/). Nothing here prints: what a case has to say is a text. Functions that run cases
 * may be called by several threads at a time. */
#ifndef MWL_TOOLS_TEST_CASE_H
#define MWL_TOOLS_TEST_CASE_H

#include "tools/test/coverage.h"

struct test_case {
    char *name; /* for people; malloc'd, as are the next two */
    char *file; /* the case's file; of a scenario, expected-result.json */
    char *dir;  /* of a scenario: its case's folder; else NULL */
};

struct test_list {
    struct test_case *cases;
    size_t count, cap;
    size_t n_other; /* JSON files in folders that are not cases */
};

/* Adds the cases of a file or a folder, in the order of names. Returns CMD_OK, or an exit status
 * after a message. */
int test_find(struct test_list *list, const char *path);
void test_list_free(struct test_list *list);

/* Definitions that cases share: each is assembled once, on the thread that first needs it. */
struct test_programs;
struct test_program; /* programs.h */
/* `documents` are those of --provider. NULL: out of memory. */
struct test_programs *test_programs_new(const char *const *documents, size_t n_documents,
                                        bool coverage);
void test_programs_free(struct test_programs *p);
/* The i-th, or NULL; after the threads have ended. */
const struct test_program *test_programs_at(const struct test_programs *p, size_t i);

struct test_outcome {
    enum { TEST_PASSED, TEST_FAILED } status;
    mwl__buf text;    /* what is wrong, lines with two spaces before them */
    mwl__buf story;   /* with `story`: the calls and the Result, a line each */
    mwl__buf updated; /* with `update`: the file's text as it should be; empty: no change */
    int64_t took_ns;  /* of the wall clock */
};

struct test_run {
    struct test_programs *programs;
    uint64_t seed;
    bool update, story;
};
void test_run_case(const struct test_run *how, const struct test_case *c, struct test_outcome *out);
void test_outcome_free(struct test_outcome *o);

/* Runs the case of a file and prints its story and what differs. Returns an exit status. */
int test_replay(const char *file);

#endif
