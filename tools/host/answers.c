/* answers.c: see answers.h. Stands for call providers and says what was scripted.
 *
 * Owns: which answer a call gets, and how often each was used by a run. Refuses to know: the form
 * of the answers (answers_read.c). */
#include "tools/host/answers.h"

#include "tools/base/member.h"
#include "assembler/provider/provide.h"
#include "tools/host/answers_read.h"
#include "vm/base/hash.h"
#include "vm/machine/blocking.h"
#include "vm/machine/declared.h"
#include "vm/machine/execution.h"
#include "vm/machine/state.h"
#include "vm/machine/providers.h"
#include "vm/program/view.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The answers before one provider. */
struct binding {
    struct answers *answers;
    mwl_call_provider call; /* of the provider itself, for calls that no answers name */
    void *user;
    bool implemented;
    mwl__provider original; /* the VM's record with these two; made when the first call needs it */
    struct binding *next;
};

/* How often a run used each rule, and called each group. */
struct counts {
    const mwl_run *run;
    struct counts *next;
    uint64_t n[];
};

struct answers {
    mwl_vm *vm;
    mwl_heap *heap;
    mwl_value spec;
    struct expr_env env;
    struct answer_group *groups;
    size_t n_groups;
    uint32_t n_counters;
    struct counts **buckets;
    size_t n_buckets, n_runs;
    struct binding *bindings;
    void (*unexpected)(void *ctx, const struct answers_call *call);
    void *ctx;
};

/* ---- making ---------------------------------------------------------------------------------- */

/* A single answer, and not an object of them by name. */
static bool is_answer(mwl_value spec) {
    static const char *const names[] = {"value", "failure",  "compute", "never", "delay",
                                        "times", "sequence", "with",    "input", "when"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!mwl_is_absent(mwl_get(spec, names[i]))) return true;
    return mwl_count(spec) == 0;
}

static bool is_uri(const char *name) { return strncmp(name, "mwl:", 4) == 0; }

static bool has_uri(mwl_value spec) {
    mwl_value key;
    for (size_t i = 0; mwl_object_at(spec, i, &key, NULL); i++)
        if (is_uri(mwl_as_text(key, NULL))) return true;
    return false;
}

static bool read_groups(struct answers *a, mwl_value spec, const char *uri, char *why,
                        size_t size) {
    struct answer_reader r = {&a->env, 0, why, size};
    bool one =
        uri && (mwl_value_kind(spec) == MWL_KIND_ARRAY || (is_answer(spec) && !has_uri(spec)));
    size_t n = one ? 1 : mwl_count(spec);
    *why = '\0';
    if (!one && mwl_value_kind(spec) != MWL_KIND_OBJECT) {
        snprintf(why, size, "answers: an object is wanted, with the answers by URI or by Step");
        return false;
    }
    a->groups = calloc(n ? n : 1, sizeof *a->groups);
    if (!a->groups) return false;
    for (size_t i = 0; i < n; i++) {
        mwl_value key, value = spec;
        struct answer_group *g = &a->groups[a->n_groups++];
        g->name = uri;
        if (!one && mwl_object_at(spec, i, &key, &value)) g->name = mwl_as_text(key, NULL);
        g->of_uri = is_uri(g->name);
        if (!answers_read(&r, value, g)) return false;
    }
    a->n_counters = r.n_counters;
    return true;
}

mwl_status answers_new(mwl_vm *vm, mwl_value spec, const char *uri, struct answers **out, char *why,
                       size_t size) {
    struct answers *a = calloc(1, sizeof *a);
    *out = NULL;
    snprintf(why, size, "%s", mwl_status_text(MWL_E_NOMEM));
    if (!a) return MWL_E_NOMEM;
    a->vm = vm;
    a->heap = mwl_vm_heap(vm);
    expr_env_init(&a->env, a->heap);
    mwl_value inner = mwl_get(spec, "answers");
    a->spec = mwl_value_keep(mwl_is_absent(inner) ? spec : inner);
    a->n_buckets = 16;
    a->buckets = calloc(a->n_buckets, sizeof *a->buckets);
    if (!a->buckets || !read_groups(a, a->spec, uri, why, size)) {
        answers_free(a);
        return MWL_E_REJECTED;
    }
    *out = a;
    return MWL_OK;
}

void answers_free(struct answers *a) {
    if (!a) return;
    for (size_t i = 0; i < a->n_groups; i++) answers_group_free(&a->groups[i]);
    free(a->groups);
    for (size_t i = 0; a->buckets && i < a->n_buckets; i++)
        for (struct counts *c = a->buckets[i], *next; c; c = next) {
            next = c->next;
            free(c);
        }
    free(a->buckets);
    for (struct binding *b = a->bindings, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    expr_env_free(&a->env);
    mwl_value_drop(a->heap, a->spec);
    free(a);
}

void answers_listen(struct answers *a,
                    void (*unexpected)(void *ctx, const struct answers_call *call), void *ctx) {
    a->unexpected = unexpected;
    a->ctx = ctx;
}

const char *answers_uri(const struct answers *a, size_t i) {
    for (size_t k = 0; k < a->n_groups; k++)
        if (a->groups[k].of_uri && i-- == 0) return a->groups[k].name;
    return NULL;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static struct counts **bucket_of(const struct answers *a, const mwl_run *run) {
    return &a->buckets[mwl__hash_address(run) & (a->n_buckets - 1)];
}

static void grow(struct answers *a) {
    struct counts **old = a->buckets;
    size_t n = a->n_buckets;
    struct counts **grown = calloc(n * 2, sizeof *grown);
    if (!grown) return; /* longer chains are correct too */
    a->buckets = grown;
    a->n_buckets = n * 2;
    for (size_t i = 0; i < n; i++)
        for (struct counts *c = old[i], *next; c; c = next) {
            struct counts **bucket = bucket_of(a, c->run);
            next = c->next;
            c->next = *bucket;
            *bucket = c;
        }
    free(old);
}

static struct counts *counts_of(struct answers *a, const mwl_run *run) {
    for (struct counts *c = *bucket_of(a, run); c; c = c->next)
        if (c->run == run) return c;
    struct counts *c = calloc(1, sizeof *c + a->n_counters * sizeof *c->n);
    if (!c) return NULL;
    if (++a->n_runs > a->n_buckets) grow(a);
    struct counts **bucket = bucket_of(a, run);
    c->run = run;
    c->next = *bucket;
    return *bucket = c;
}

void answers_forget(struct answers *a, const mwl_run *run) {
    for (struct counts **at = bucket_of(a, run); *at; at = &(*at)->next) {
        struct counts *c = *at;
        if (c->run != run) continue;
        *at = c->next;
        free(c);
        a->n_runs--;
        return;
    }
}

bool answers_unused(struct answers *a, const mwl_run *run, char *text, size_t size) {
    struct counts *c = counts_of(a, run);
    for (size_t i = 0; c && i < a->n_groups; i++)
        for (size_t k = 0; k < a->groups[i].n_rules; k++) {
            const struct answer_rule *rule = &a->groups[i].rules[k];
            uint64_t wanted = 0, used = c->n[rule->counter];
            for (size_t n = 0; n < rule->n_answers && rule->answers[n].times != UINT64_MAX; n++)
                wanted += rule->answers[n].times;
            if (used >= wanted) continue;
            snprintf(text, size, "%s: answer %zu (used %llu of %llu)", a->groups[i].name, k + 1,
                     (unsigned long long)used, (unsigned long long)wanted);
            return true;
        }
    return false;
}

/* ---- a call ---------------------------------------------------------------------------------- */

static const struct answer_group *group_named(const struct answers *a, const char *name) {
    for (size_t i = 0; i < a->n_groups; i++)
        if (strcmp(a->groups[i].name, name) == 0) return &a->groups[i];
    return NULL;
}

/* "Flow/Step" is more exact than "Step". */
static const struct answer_group *group_of(const struct answers *a, const mwl_place *at,
                                           const char *uri) {
    char whole[512];
    const struct answer_group *g = NULL;
    if (*at->step && *at->flow &&
        (size_t)snprintf(whole, sizeof whole, "%s/%s", at->flow, at->step) < sizeof whole)
        g = group_named(a, whole);
    if (!g && *at->step) g = group_named(a, at->step);
    if (!g) g = group_named(a, uri);
    return g ? g : group_named(a, "*");
}

/* The answer that the rule has for its next call, or NULL: it is used up. */
static const struct answer *next_answer(const struct answer_rule *rule, uint64_t used) {
    for (size_t i = 0; i < rule->n_answers; i++) {
        if (used < rule->answers[i].times) return &rule->answers[i];
        used -= rule->answers[i].times;
    }
    return NULL;
}

struct asked {
    struct answers *a;
    mwl_call *call;
    mwl_value values[ANSWER_NAMES];
    char why[400];
};

static void note(struct asked *q, size_t i, const char *why) {
    size_t len = strlen(q->why);
    snprintf(q->why + len, sizeof q->why - len, "%sanswer %zu: %s", len ? "; " : "", i + 1, why);
}

static const struct answer *choose(struct asked *q, const struct answer_group *g,
                                   struct counts *counts) {
    struct expr_env *env = &q->a->env;
    for (size_t i = 0; i < g->n_rules; i++) {
        const struct answer_rule *rule = &g->rules[i];
        const struct answer *answer = next_answer(rule, counts->n[rule->counter]);
        char why[300] = "";
        if (!answer) {
            note(q, i, "used up");
        } else if (!answers_part_fits(env, &rule->with, "with", q->values[ANSWER_WITH], why,
                                      sizeof why) ||
                   !answers_part_fits(env, &rule->input, "input", q->values[ANSWER_INPUT_VALUE],
                                      why, sizeof why)) {
            note(q, i, why);
        } else if (rule->when.set &&
                   !expr_holds(env, &rule->when, q->values, ANSWER_NAMES, why, sizeof why)) {
            note(q, i, *why ? why : "`when` is false");
        } else {
            counts->n[rule->counter]++;
            return answer;
        }
    }
    return NULL;
}

static mwl_value failure_of(mwl_heap *h, mwl_value failure) {
    if (!mwl_is_absent(mwl_get(failure, "type"))) return mwl_value_keep(failure);
    mwl_value key, value, out = mwl_object(h, mwl_count(failure) + 1);
    out = member_set(h, out, "type", mwl_string(h, "error", 5));
    for (size_t i = 0; mwl_object_at(failure, i, &key, &value); i++)
        out = mwl_object_put(h, out, mwl_value_keep(key), mwl_value_keep(value));
    return out;
}

/* Settles. The state of a call whose answer is computed has the value. */
static void say(mwl_call *call, const struct answer *answer) {
    switch (answer->kind) {
    case ANSWER_INPUT: mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call))); return;
    case ANSWER_VALUE: mwl_call_succeed(call, mwl_value_keep(answer->value)); return;
    case ANSWER_COMPUTED: mwl_call_succeed(call, mwl_value_keep(mwl_call_state(call))); return;
    case ANSWER_FAILURE:
        mwl_call_settle(call, failure_of(mwl_call_heap(call), answer->value));
        return;
    case ANSWER_NEVER: return;
    }
}

static void unexpected(struct asked *q, const mwl_place *at, uint64_t number) {
    char message[800];
    const struct answers_call call = {.run = mwl_call_run(q->call),
                                      .uri = q->call->provider->uri,
                                      .flow = at->flow,
                                      .step = at->step,
                                      .with = mwl_call_arguments(q->call),
                                      .input = mwl_call_input(q->call),
                                      .number = number,
                                      .why = q->why};
    if (q->a->unexpected) q->a->unexpected(q->a->ctx, &call);
    snprintf(message, sizeof message, "call %llu of %.200s is not expected: %s",
             (unsigned long long)number, call.uri, q->why);
    /* not by mwl_call_fail: the code is in no catalog */
    mwl__execution_fail(q->call, mwl_failure(q->a->heap, NULL, ANSWERS_UNEXPECTED, message,
                                             mwl_absent(), mwl_absent()));
}

/* A provider that says what its document does not allow is not worth testing against. */
static bool is_declared(struct asked *q, const struct answer *answer) {
    if (answer->kind != ANSWER_FAILURE) return true;
    size_t len;
    const char *code = mwl_as_text(mwl_get(answer->value, "code"), &len);
    if (mwl__declared_has(q->call->provider->declared, code, len)) return true;
    snprintf(q->why, sizeof q->why, "the failure catalog of its document does not have '%.200s'",
             code);
    return false;
}

static bool prepare(struct asked *q, const struct answer *answer) {
    if (!is_declared(q, answer)) return false;
    if (!mwl_is_absent(answer->metadata))
        mwl_call_set_metadata(q->call, mwl_value_keep(answer->metadata));
    if (answer->kind != ANSWER_COMPUTED) return true;
    mwl_instant now;
    mwl_vm_now(q->a->vm, &now);
    q->a->env.now.sec = now.wall_ns / 1000000000;
    q->a->env.now.ns = (uint32_t)(now.wall_ns % 1000000000);
    mwl_value v =
        expr_eval(&q->a->env, &answer->compute, q->values, ANSWER_NAMES, q->why, sizeof q->why);
    mwl_value copy = mwl_is_absent(v) ? v : mwl_value_copy(q->a->heap, v);
    mwl_value_drop(q->a->heap, v);
    if (mwl_is_absent(copy)) return false;
    mwl_call_set_state(q->call, copy);
    return true;
}

static void answer_call(struct asked *q, const struct answer_group *g, const mwl_place *at) {
    struct counts *counts = counts_of(q->a, mwl_call_run(q->call));
    mwl_heap *h = q->a->heap;
    if (!counts) {
        mwl_call_succeed(q->call, mwl_absent()); /* out of memory: the run ends */
        return;
    }
    uint64_t number = ++counts->n[g->counter];
    q->values[ANSWER_WITH] = mwl_call_arguments(q->call);
    q->values[ANSWER_INPUT_VALUE] = mwl_call_input(q->call);
    q->values[ANSWER_STEP] = mwl_string(h, at->step, strlen(at->step));
    q->values[ANSWER_FLOW] = mwl_string(h, at->flow, strlen(at->flow));
    q->values[ANSWER_NUMBER] = mwl_int((int64_t)number);
    const struct answer *answer = choose(q, g, counts);
    bool ready = answer && prepare(q, answer);
    mwl_value_drop(h, q->values[ANSWER_STEP]);
    mwl_value_drop(h, q->values[ANSWER_FLOW]);
    if (!ready) {
        unexpected(q, at, number);
        return;
    }
    mwl_call_set_user(q->call, (void *)(uintptr_t)answer);
    if (answer->kind == ANSWER_NEVER) return;
    if (answer->delay_ns > 0)
        mwl_call_wake_after(q->call, answer->delay_ns);
    else
        say(q->call, answer);
}

/* No answers name the call: the provider itself gets it, as if there were none. */
static void pass_on(struct binding *b, mwl_call *call) {
    if (!b->original.uri) {
        b->original = *call->provider;
        b->original.call = b->call;
        b->original.user = b->user;
    }
    call->provider = &b->original;
    if (!b->call.blocking)
        b->call.start(call, b->user);
    else if (mwl__blocking_start(call) < 0)
        mwl_call_fail(call, NULL, "Mwlvm.NoStack", "there is no stack for the provider",
                      mwl_absent());
}

static void bound_start(mwl_call *call, void *user) {
    struct binding *b = user;
    mwl_place at = {"", "", 0, 0};
    mwl_call_place(call, &at);
    struct asked q = {.a = b->answers, .call = call};
    const struct answer_group *g = group_of(b->answers, &at, call->provider->uri);
    if (g) {
        answer_call(&q, g, &at);
    } else if (b->implemented) {
        pass_on(b, call);
    } else {
        snprintf(q.why, sizeof q.why, "there are no answers for this URI or this Step");
        unexpected(&q, &at, 1);
    }
}

static void bound_wake(mwl_call *call, void *user) {
    (void)user;
    say(call, mwl_call_user(call));
}

static void bound_cancel(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_null()); /* the Result of a cancelled call is not used */
}

/* ---- binding --------------------------------------------------------------------------------- */

char *answers_document(const char *uri) {
    static const char kind[] = "mwl:provider.call/";
    if (strncmp(uri, kind, sizeof kind - 1) != 0) return NULL;
    const char *name = strchr(uri + sizeof kind - 1, '/');
    char prefix[64] = "X";
    size_t n = 0;
    for (name = name ? name + 1 : ""; *name && *name != '/' && n + 1 < sizeof prefix; name++)
        if (isalnum((unsigned char)*name))
            prefix[n] = n ? *name : (char)toupper((unsigned char)*name), prefix[++n] = '\0';
    if (!isalpha((unsigned char)prefix[0])) strcpy(prefix, "X");
    static const char form[] =
        "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"%s\","
        "\"codePrefix\":\"%s\",\"description\":\"Scripted answers.\","
        "\"parameters\":{\"type\":\"object\",\"additionalProperties\":true},"
        "\"metadata\":{\"type\":\"object\",\"additionalProperties\":true},"
        "\"failureCatalog\":{\"closed\":[],\"open\":[\"*\"]}}";
    size_t size = sizeof form + strlen(uri) + sizeof prefix;
    char *text = malloc(size);
    if (text) snprintf(text, size, form, uri, prefix);
    return text;
}

static mwl_status provide(struct binding *b, const char *uri, const char *document,
                          mwl_error *error) {
    char *made = document ? NULL : answers_document(uri);
    const mwl_call_provider p = {.uri = uri,
                                 .document = document ? document : made,
                                 .start = bound_start,
                                 .wake = bound_wake,
                                 .cancel = bound_cancel};
    mwl_status status = mwl__provide_stand_in(b->answers->vm, &p, b, error);
    free(made);
    return status;
}

mwl_status answers_bind(struct answers *a, const char *uri, const char *document,
                        mwl_error *error) {
    mwl__provider *p = mwl__providers_find(a->vm, uri, strlen(uri));
    struct binding *b = calloc(1, sizeof *b);
    if (!b) return MWL_E_NOMEM;
    b->answers = a;
    b->next = a->bindings;
    a->bindings = b;
    if (!p) return provide(b, uri, document, error);
    if (mwl_vm_runs(a->vm, NULL) || p->is_middleware) return MWL_E_STATE;
    b->call = p->call;
    b->user = p->user;
    b->implemented = true;
    p->call.start = bound_start;
    p->call.wake = bound_wake;
    p->call.cancel = bound_cancel;
    p->call.blocking = NULL;
    p->now = p->call.now = NULL;
    p->user = b;
    return MWL_OK;
}

mwl_status answers_bind_program(struct answers *a, const mwl_program *program, mwl_error *error) {
    mwl_status status = MWL_OK;
    for (uint32_t i = 0; i < mwl__view_n_imports(program) && status == MWL_OK; i++)
        if (mwl__view_is_called(program, i))
            status = answers_bind(a, mwl__view_uri(program, i), NULL, error);
    return status;
}
