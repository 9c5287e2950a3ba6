/* breaks.h: where a run is to be stopped: by a Step, a phase, a provider, the code of a failure, a
 * condition, or a line of the definition. */
#ifndef MWL_TOOLS_DEBUG_BREAKS_H
#define MWL_TOOLS_DEBUG_BREAKS_H

#include "tools/debug/inspect.h"

enum break_kind { BREAK_STEP, BREAK_PHASE, BREAK_PROVIDER, BREAK_CODE, BREAK_WHEN, BREAK_LINE };

struct breakpoint {
    int id;
    enum break_kind kind;
    char *text;               /* a name, a URI, a pattern, an expression; malloc'd */
    char *condition;          /* a CEL expression that must hold too, or NULL */
    uint32_t line, last_line; /* BREAK_LINE: where its Step begins */
    bool held; /* BREAK_WHEN: it held at the last event; BREAK_CODE: such a failure is rising */
};

/* The debugger may change the list while the machine runs: a lock keeps the two apart. */
struct breaks {
    pthread_mutex_t lock;
    struct breakpoint *items;
    size_t n_items, cap;
    int last_id;
};

void breaks_init(struct breaks *b);
void breaks_free(struct breaks *b);
/* Adds one; the texts are copied. Returns its id, or 0 if memory runs out. */
int breaks_add(struct breaks *b, enum break_kind kind, const char *text, const char *condition);
int breaks_add_line(struct breaks *b, uint32_t line, uint32_t last_line, const char *condition);
bool breaks_remove(struct breaks *b, int id);
void breaks_remove_kinds(struct breaks *b, unsigned kinds); /* bits by break_kind */
/* A run begins: nothing was met yet. */
void breaks_reset(struct breaks *b);
/* Returns the id of the first one that an event meets, or 0. On the machine's thread. */
int breaks_met(struct breaks *b, struct machine *m, const mwl_trace_event *e);
/* Returns the one with this id, lent until the list changes; NULL: none. */
const struct breakpoint *breaks_find(struct breaks *b, int id);
/* Adds what a person writes: "pay", "phase onFailure", "provider http if vars.x > 1.0". Cuts the
 * text. Returns its id; 0: out of memory, or no kind of breakpoint. */
int breaks_add_text(struct breaks *b, char *text, const char *condition);
/* Appends a description: "2: Step 'pay' if vars.x > 1.0". */
void breaks_write(const struct breakpoint *b, mwl__buf *out);

#endif
