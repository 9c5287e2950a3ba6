/* search.h: the search of `mwlvm explore` through everything that providers can do to a run.
 *
 * A state is a run that stands still: every frame waits. A choice is what happens next: one awaited
 * call is answered, now or just before the next bound; or time passes to the next timer; or the run
 * is cancelled from outside. The search makes every choice in every state once, depth first. States
 * are told apart by their fingerprint (vm/explore/fingerprint.h), so that equal ones are visited
 * once. Each state on the way is a frozen copy of the run (vm/explore/clone.h).
 *
 * Owns: states, edges, the budget. Refuses to know: what is a mistake (observer.h, findings.h), and
 * how it is shown. */
#ifndef MWL_TOOLS_EXPLORE_SEARCH_H
#define MWL_TOOLS_EXPLORE_SEARCH_H

#include "tools/explore/menu.h"
#include "vm/base/table.h"
#include "vm/explore/fingerprint.h"

enum choice_kind { CHOICE_ANSWER, CHOICE_TIME, CHOICE_CANCEL };

struct choice {
    uint8_t kind;
    bool late;        /* an answer just before the next timer */
    uint16_t pending; /* which awaited call, in the order of mwl__run_executions */
    uint16_t item;    /* of its menu */
    uint32_t menu;    /* index */
};

struct edge {
    uint32_t from, to;
    struct choice choice;
    int64_t took_ns;  /* virtual time */
    uint32_t n_calls; /* that it started */
};

enum state_kind {
    STATE_OPEN,     /* not expanded, because the budget was used up */
    STATE_EXPANDED, /* every choice was made */
    STATE_ENDED,    /* a Result; `outcome` */
    STATE_STUCK     /* waits for something that is none of the choices */
};

struct state {
    mwl__fingerprint print;
    mwl_run *frozen; /* until it is expanded */
    mwl_instant now;
    uint32_t first_edge, n_edges;
    uint32_t outcome;   /* of an ended one: index */
    uint32_t n_pending; /* awaited calls */
    uint8_t kind;
    bool bounded;   /* a timer is armed: something ends the wait */
    bool endless;   /* it waits for an instant beyond the clock, and for nothing else */
    bool cancelled; /* from outside */
};

/* How runs end: a type and a code, and for a failure that nothing caught, the Step. */
struct outcome {
    char *type, *code;   /* code "": a success */
    uint32_t flow, step; /* of a failure that no catch clause handled; step MWL_NONE: raised on
                            purpose, or of no Step */
    uint32_t state;
    uint64_t n_edges; /* that end so */
};

struct budget {
    uint64_t states;
    int64_t wall_ns, virtual_ns; /* of the whole search; of one run */
};

struct observer; /* what looks at events; observer.h */

struct search {
    const struct testable *testable;
    mwl_program *program;
    mwl_vm *vm;
    mwl_heap *heap;
    mwl__readable readable;
    struct menus *menus;
    bool cancels;  /* cancellation from outside is one of the choices */
    bool no_merge; /* equal states are visited again: only to check the search itself */
    struct budget budget;

    struct state *states;
    size_t n_states, cap_states;
    struct edge *edges;
    size_t n_edges, cap_edges;
    struct outcome *outcomes;
    size_t n_outcomes;
    mwl__table table; /* of states */
    uint32_t *stack;  /* states to expand */
    size_t n_stack, cap_stack;

    struct observer *observer;
    mwl_instant began; /* virtual */
    uint32_t n_calls;  /* started since the transition began */
    uint64_t n_transitions;
    const char *stopped; /* why the search ended early, or NULL */
    uint64_t n_too_long; /* states that were left out because their virtual time is used up */
    mwl_status status;
};

/* Starts a run with this input and explores it. Returns MWL_OK, also if the budget was used up
 * (s->stopped); or a status and `why`. The caller has filled in what is above `states`. */
/* The signal that ended the search, or 0. */
int search_interrupted(void);
mwl_status search_run(struct search *s, const mwl_start *start, char *why, size_t size);
void search_free(struct search *s);

/* Makes one choice of a state in `run`, which is frozen in that state; it is thawed, and parked or
 * over afterwards. Returns false if memory ran out. */
bool search_step(struct search *s, mwl_run *run, const mwl_instant *now,
                 const struct choice *choice);

/* Gives the run the work of one transition, and the seed with which every wait is computed. */
void search_lend(mwl_run *run);

/* The provider that stands for every call provider of the program. */
mwl_status search_bind(struct search *s, mwl_error *error);

/* The awaited calls of a run, at most `most`. Returns how many there are. */
size_t search_pending(mwl_run *run, mwl_call **list, size_t most);

#endif
