/* answers_read.h: the records of scripted answers, and reading them; for answers.c alone. */
#ifndef MWL_TOOLS_ANSWERS_READ_H
#define MWL_TOOLS_ANSWERS_READ_H

#include "tools/host/expr.h"

/* What a part of the call must be. */
struct answer_match {
    enum { MATCH_ANY, MATCH_SUBSET, MATCH_EXACT, MATCH_CEL } kind;
    mwl_value value; /* lent by the specification */
    struct expr condition;
};

struct answer {
    enum { ANSWER_INPUT, ANSWER_VALUE, ANSWER_FAILURE, ANSWER_COMPUTED, ANSWER_NEVER } kind;
    mwl_value value, metadata; /* lent by the specification; metadata may be absent */
    struct expr compute;
    int64_t delay_ns;
    uint64_t times; /* UINT64_MAX: any number */
};

/* One rule: what calls it fits, and its answers one after the other. */
struct answer_rule {
    struct answer_match with, input;
    struct expr when;
    struct answer *answers;
    size_t n_answers;
    uint32_t counter; /* of a run's counts */
};

struct answer_group {
    const char *name; /* lent by the specification */
    bool of_uri;      /* else of a Step, or of everything */
    struct answer_rule *rules;
    size_t n_rules;
    uint32_t counter; /* of calls */
};

enum { ANSWER_WITH, ANSWER_INPUT_VALUE, ANSWER_STEP, ANSWER_FLOW, ANSWER_NUMBER, ANSWER_NAMES };
extern const char *const answer_names[ANSWER_NAMES];

struct answer_reader {
    struct expr_env *env;
    uint32_t n_counters;
    char *why;
    size_t size;
};

/* Reads the ANSWERS of one name into `out`, which must be zero but for its name. Returns false with
 * a reason; `out` is to be freed in any case. */
bool answers_read(struct answer_reader *r, mwl_value spec, struct answer_group *out);
void answers_group_free(struct answer_group *g);

/* Whether the part fits; `why` gets the reason if not. */
bool answers_part_fits(struct expr_env *env, const struct answer_match *m, const char *name,
                       mwl_value actual, char *why, size_t size);

#endif
