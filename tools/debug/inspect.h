/* inspect.h: what a run that stands still looks like: its frames, the roots that expressions read,
 * the values of expressions, the place in the definition.
 *
 * Owns: the way from the machine's records to texts. Nothing here changes the run; what is made is
 * dropped before the run goes on. */
#ifndef MWL_TOOLS_DEBUG_INSPECT_H
#define MWL_TOOLS_DEBUG_INSPECT_H

#include "tools/debug/machine.h"

struct mwl__frame;

/* The roots, in the order in which they are shown; the last one is NULL. */
extern const char *const inspect_roots[];

/* The frame of the event in which the machine stands; NULL at RUN_STARTED and RUN_DONE. */
struct mwl__frame *inspect_frame(const struct machine *m);
/* Returns a root as the frame has it now; absent if it does not exist there. Given. */
mwl_value inspect_root(struct mwl__frame *f, const char *name);
/* Evaluates an expression in the frame; a root alone is one too. Returns a value, given, of the
 * VM's heap; absent after a fault, with the reason in `why`. */
mwl_value inspect_eval(struct mwl__frame *f, const char *text, char *why, size_t size);
/* Appends a value: as JSON if it has that form, otherwise as CEL writes it. Secrets are replaced
 * (redact.h). */
void inspect_write(mwl_heap *heap, mwl_value v, mwl_json_style style, mwl__buf *out);
/* Appends the Result of a run that is done. The value of a success is written unchanged. */
void inspect_write_result(mwl_heap *heap, const mwl_run *run, mwl__buf *out);

/* The place of what an event is about; e NULL: of the Step that the frame is in, or of its Flow.
 * Returns false if it is not known. */
bool inspect_place(const struct debug_setup *s, const struct mwl__frame *f,
                   const mwl_trace_event *e, mwl__span *span);
/* Appends the line of the definition with a caret under that place. */
void inspect_show_place(struct debug_setup *s, const struct mwl__frame *f, const mwl_trace_event *e,
                        bool colour, mwl__buf *out);
/* "Step 'pay' of Flow 'order'" */
void inspect_name(const struct mwl__frame *f, mwl__buf *out);
/* Appends what an event says, for a person: "Step 'pay' begins". */
void inspect_event(const mwl_trace_event *e, mwl__buf *out);

/* One line of execution: the run's own, or a dispatch of a Gather. */
struct inspect_thread {
    struct mwl__frame *innermost; /* the frame that does something; its callers are its parents */
    char name[120];               /* "main", "fetch #2", "fetch #2, part #0" */
};
/* Lists them, at most `most`. Returns how many there are. */
size_t inspect_threads(const struct machine *m, struct inspect_thread *list, size_t most);

#endif
