/* answers.h: scripted answers: what providers say when nothing real is behind them.
 *
 * `mwlvm test`, `mwlvm run --bind URI=FILE.json` and `mwlvm explore` share the format, which
 * tools/TESTING.md teaches. In short:
 *
 *     {"mwl:provider.call/acme/pay/v1": ANSWERS, "Step name": ANSWERS, "*": ANSWERS}
 *
 * ANSWERS is one answer, for every call; or a list, in which each answer is for one call (`times`:
 * for more), and the first that fits a call and is not used up is taken. An answer is an object:
 *
 *     with, input   the call must contain this: members of objects may be more; {"$exact": V}:
 *                   equal; {"$cel": "..."}: the condition is true, about `this`
 *     when          a CEL condition about `with`, `input`, `step`, `flow` and `number`
 *     value, failure, compute (a CEL expression), never (true): what it says; none: the input
 *     delay, metadata
 *     sequence      a list of such, one for each call, instead of one
 *     times         a number, or "any"
 *
 * A call that a Step's answers name is answered by those, else by those of its URI, else by "*"; a
 * call that none names goes to the provider itself if the VM has one. A call that has answers and
 * fits none fails with Mwlvm.UnexpectedCall, and the host is told.
 *
 * The answers of each run are counted for that run alone. */
#ifndef MWL_TOOLS_ANSWERS_H
#define MWL_TOOLS_ANSWERS_H

#include "mwl_provider.h"

struct answers;

#define ANSWERS_UNEXPECTED "Mwlvm.UnexpectedCall"

/* A call that nothing answers. Lent for the callback. */
struct answers_call {
    const mwl_run *run;
    const char *uri, *flow, *step;
    mwl_value with, input;
    uint64_t number; /* of the calls with these answers in this run, from 1 */
    const char *why; /* why no answer fits, for a person */
};

/* Makes the answers of one VM. `spec` is lent: the object above, an object with a member `answers`
 * (a case of `mwlvm test`), or, with a `uri`, the ANSWERS of that URI alone; its values must belong
 * to the VM's heap. `uri` NULL: the object is for every URI that it names. Returns MWL_OK and
 * *out, given; or a status and the reason in `why`. */
mwl_status answers_new(mwl_vm *vm, mwl_value spec, const char *uri, struct answers **out, char *why,
                       size_t size);
/* Frees it, after the VM's runs and before the VM. NULL is ignored. */
void answers_free(struct answers *a);

/* Puts the answers before a call provider of the VM, so that its calls are answered here. A VM that
 * does not have it gets it, with `document` or, if that is NULL, one that allows everything. Before
 * the first run. Returns MWL_OK, or a status of mwl_vm_provide() and *error. */
mwl_status answers_bind(struct answers *a, const char *uri, const char *document, mwl_error *error);
/* The same for every call provider that the program imports. */
mwl_status answers_bind_program(struct answers *a, const mwl_program *program, mwl_error *error);

/* Returns a document for a URI that has none: any arguments, any metadata, any failure. malloc'd;
 * NULL if the URI is not one of a call provider, or out of memory. */
char *answers_document(const char *uri);

/* Returns the URI that the answers name at position i, lent; NULL behind the last. */
const char *answers_uri(const struct answers *a, size_t i);

/* `unexpected` is called for every call that nothing answers, before it fails. */
void answers_listen(struct answers *a,
                    void (*unexpected)(void *ctx, const struct answers_call *call), void *ctx);

/* The run is over: forgets what it used. */
void answers_forget(struct answers *a, const mwl_run *run);

/* Answers that the run did not use, for a message: the first one's place as "URI: answer 2 (used 0
 * of 1)". Answers with `times: "any"` are never too few. Returns false if there is none. */
bool answers_unused(struct answers *a, const mwl_run *run, char *text, size_t size);

/* Whether `actual` contains `expected`: equal scalars, arrays of the same length whose elements
 * contain each other, objects that have at least the expected members. */
bool answers_contains(mwl_value expected, mwl_value actual);

#endif
