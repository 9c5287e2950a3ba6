/* random_host.h: a host that does everything it may do at every moment it may: starts, cancels,
 * aborts and frees runs, settles, wakes and resumes calls, takes, posts and releases tokens,
 * forgets programs; between pumps and inside every callback. Between pumps it also saves, unloads
 * and releases runs, loads them into this VM or a second one, and answers calls by their numbers.
 *
 * Owns: the host, its providers and the Flows that it runs. Refuses to know: where its choices come
 * from: a seed (tests/api/test_random_host.c) or a fuzzer's bytes (tests/fuzz/fuzz_host.c).
 *
 * What must hold afterwards: every run that was left alone has ended, a Result is an object that
 * has a JSON form, every blocking function has returned, and no memory is left. The sanitizers see
 * the rest. */
#ifndef RANDOM_HOST_H
#define RANDOM_HOST_H

#include "mwl_asm.h"
#include "mwl_std.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- choices --------------------------------------------------------------------------------- */

/* Bytes to choose by; after the last one every choice is 0, which is always the quietest. Without
 * bytes: a generator. */
typedef struct rh_source {
    const uint8_t *bytes;
    size_t left;
    uint64_t seed;
} rh_source;

static uint32_t rh_random(uint64_t *seed) {
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

/* From 0 to below n, which is at most 256. */
static uint32_t rh_choose(rh_source *s, uint32_t n) {
    if (!s->bytes) return rh_random(&s->seed) % n;
    if (!s->left) return 0;
    s->left--;
    return *s->bytes++ % n;
}

/* ---- the host -------------------------------------------------------------------------------- */

enum { RH_RUNS = 6, RH_TOKENS = 8, RH_PROGRAMS = 6, RH_NEST = 3 };

/* A call that was not settled yet. */
typedef struct rh_call {
    mwl_call *call;
    uint64_t number;
    bool blocking, settled;
    struct rh_call *next;
} rh_call;

/* Another thread, which posts and releases tokens. */
typedef struct rh_thread {
    void (*post)(mwl_token *take, uint32_t how);
    void (*wait)(void); /* until it has posted all */
} rh_thread;

typedef struct rh {
    rh_source source;
    mwl_vm *vm;    /* where runs are started */
    mwl_vm *other; /* where they may be moved to; or NULL */
    mwl_run *runs[RH_RUNS];
    mwl_vm *home[RH_RUNS];   /* the VM of each */
    uint32_t which[RH_RUNS]; /* its program */
    mwl_token *tokens[RH_TOKENS];
    uint64_t token_of[RH_TOKENS]; /* the number of its call */
    rh_call *calls;
    uint64_t next_call;
    int on_stack; /* blocking functions that have not returned */
    int depth;    /* of deeds inside callbacks of deeds */
    int listens;  /* listeners that have not returned */
    int deeds;    /* that may still be done */
    bool ending;  /* only what ends things is done */
    bool closing; /* the VM is being freed, with all its runs */
    bool scarce;  /* memory may run out */
    int64_t now_ns;
    size_t bytes;                   /* in use */
    long fail_in;                   /* the allocation that fails, from 1; 0: none */
    const struct rh_thread *thread; /* NULL: there is none */
    /* how much was done, for those who read */
    uint64_t started, called, ended, loaded, answered;
} rh;

static rh *rh_host;         /* for the CEL function, which gets no pointer */
static uint64_t rh_failing; /* what to say when something is wrong */

static void rh_must(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "random host, seed %llu: %s\n", (unsigned long long)rh_failing, what);
    abort();
}

static uint32_t rh_pick(rh *h, uint32_t n) { return rh_choose(&h->source, n); }

static void *rh_alloc(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    rh *h = ctx;
    if (!new_size) {
        h->bytes -= old_size;
        free(ptr);
        return NULL;
    }
    if (h->fail_in && --h->fail_in == 0) return NULL;
    void *p = realloc(ptr, new_size);
    if (p) h->bytes += new_size - (ptr ? old_size : 0);
    return p;
}

static void rh_read_clock(void *ctx, mwl_instant *out) {
    rh *h = ctx;
    out->mono_ns = h->now_ns;
    out->wall_ns = INT64_C(1767225600000000000) + h->now_ns;
}

/* ---- values that hosts give ------------------------------------------------------------------ */

static mwl_value rh_value(rh *h, mwl_heap *heap) {
    switch (rh_pick(h, 9)) {
    case 1: return mwl_number(3);
    case 2: return mwl_int(7);
    case 3: return mwl_string(heap, "text", 4);
    case 4: return mwl_array_push(heap, mwl_array(heap, 1), mwl_bool(true));
    case 5: return mwl_bytes(heap, "x", 1);
    case 6: return mwl_string(heap, "\xE9", 1);
    case 7: return mwl_object_put(heap, mwl_object(heap, 1), mwl_int(1), mwl_null());
    case 8: return mwl_absent();
    default: return mwl_null();
    }
}

static mwl_value rh_failure(rh *h, mwl_heap *heap) {
    switch (rh_pick(h, 6)) {
    case 1: return mwl_failure(heap, "success", "Rh.Failed", NULL, mwl_absent(), mwl_absent());
    case 2: return mwl_failure(heap, NULL, "Not.Declared", "\xE9", mwl_absent(), mwl_absent());
    case 3: return mwl_object(heap, 0);
    case 4: return rh_value(h, heap);
    default:
        return mwl_failure(heap, NULL, "Provider.Call.Rh.Failed", "m", rh_value(h, heap),
                           mwl_absent());
    }
}

static const char *const rh_texts[] = {"null", "[1,{\"a\":2}]", "\"x\"", "{", "\xE9", "1e999", ""};
enum { RH_TEXTS = sizeof rh_texts / sizeof *rh_texts };

static mwl_status rh_post(mwl_token *token, uint32_t how) {
    const char *text = rh_texts[how % RH_TEXTS];
    if (how & 64)
        return mwl_token_fail(token, NULL, "Provider.Call.Rh.Failed", "posted", text, strlen(text));
    return mwl_token_succeed(token, text, strlen(text));
}

/* ---- deeds ----------------------------------------------------------------------------------- */

static void rh_unlist(rh *h, const rh_call *c) {
    rh_call **at = &h->calls;
    while (*at && *at != c) at = &(*at)->next;
    if (*at) *at = c->next;
}

static void rh_forget(rh *h, rh_call *c) {
    rh_unlist(h, c);
    if (!c->blocking) free(c);
}

static rh_call *rh_find(rh *h, uint64_t number) {
    rh_call *c = h->calls;
    while (c && c->number != number) c = c->next;
    return c;
}

/* Settles a call; c is freed, if it is not that of a blocking function. */
static void rh_settle(rh *h, rh_call *c) {
    mwl_call *call = c->call;
    mwl_heap *heap = mwl_call_heap(call);
    c->settled = true;
    if (!c->blocking) rh_forget(h, c);
    if (rh_pick(h, 4) == 1)
        mwl_call_set_metadata(
            call, mwl_object_set(heap, mwl_object(heap, 1), "by", 2, rh_value(h, heap)));
    mwl_status st;
    switch (rh_pick(h, 5)) {
    case 1: st = mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call))); break;
    case 2:
        st = mwl_call_fail(call, NULL, "Provider.Call.Rh.Failed", "failed", rh_value(h, heap));
        break;
    case 3: st = mwl_call_settle(call, rh_failure(h, heap)); break;
    default: st = mwl_call_succeed(call, rh_value(h, heap)); break;
    }
    rh_must(st == MWL_OK, "a call was not settled");
}

static rh_call *rh_some_call(rh *h) {
    uint32_t n = 0;
    for (rh_call *c = h->calls; c; c = c->next) n++;
    if (!n) return NULL;
    rh_call *c = h->calls;
    for (uint32_t i = rh_pick(h, n < 256 ? n : 256); i; i--) c = c->next;
    return c;
}

static mwl_program *rh_programs[RH_PROGRAMS];

/* Callbacks may have started others in the meantime. */
static void rh_keep(rh *h, mwl_run *run, mwl_vm *home, uint32_t which) {
    uint32_t at = 0;
    while (at < RH_RUNS && h->runs[at]) at++;
    if (at == RH_RUNS) {
        mwl_run_free(run);
        return;
    }
    h->runs[at] = run;
    h->home[at] = home;
    h->which[at] = which;
}

static void rh_start(rh *h) {
    uint32_t at = 0;
    while (at < RH_RUNS && h->runs[at]) at++;
    if (at == RH_RUNS) return;
    mwl_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.fuel = rh_pick(h, 8) == 1 ? 50 : 20000;
    limits.cleanup_ns = rh_pick(h, 4) == 1 ? 2000000 : 0;
    mwl_start start = {.limits = &limits, .input = rh_pick(h, 2) ? mwl_int(1) : mwl_absent()};
    mwl_run *run = NULL;
    mwl_error error = {MWL_OK, "", 0};
    uint32_t which = rh_pick(h, RH_PROGRAMS);
    mwl_status st = mwl_run_start(h->vm, rh_programs[which], &start, &run, &error);
    if (st < 0) {
        rh_must(st == MWL_E_NOMEM && h->scarce, error.message);
        return;
    }
    h->started++;
    if (!h->closing) rh_keep(h, run, h->vm, which);
}

static void rh_free(rh *h, uint32_t at) {
    mwl_run *run = h->runs[at];
    h->runs[at] = NULL; /* first: callbacks come from inside */
    mwl_run_free(run);
}

static void rh_look(rh *h, uint32_t at) {
    mwl_run *run = h->runs[at];
    if (!run) return;
    mwl_run_state state = mwl_run_get_state(run);
    (void)mwl_run_id(run);
    (void)mwl_run_why(run);
    mwl_value result = mwl_run_result(run);
    if (state != MWL_RUN_DONE || h->scarce) return;
    mwl_heap *heap = mwl_vm_heap(h->home[at]);
    mwl_place place;
    (void)mwl_run_failed_at(run, result, &place);
    rh_must(mwl_value_kind(mwl_get(result, "type")) == MWL_KIND_STRING, "a Result without a type");
    char *text = NULL;
    size_t len = 0;
    mwl_status st = mwl_json_write(heap, result, MWL_JSON_COMPACT, &text, &len);
    mwl_text_free(heap, text, len);
    rh_must(st == MWL_OK || st == MWL_E_TOO_BIG, "a Result without a JSON form");
}

static void rh_take_token(rh *h) {
    rh_call *c = rh_some_call(h);
    uint32_t at = rh_pick(h, RH_TOKENS);
    if (!c || c->settled || h->tokens[at]) return;
    h->token_of[at] = c->number;
    mwl_status st = mwl_call_token(c->call, &h->tokens[at]);
    rh_must(st == MWL_OK || st == MWL_E_NOMEM, "no token");
}

/* An answer is on its way: the next pump settles the call, so its pointer is not used any more. */
static void rh_answered(rh *h, uint64_t number) {
    rh_call *c = rh_find(h, number);
    if (!c || c->blocking) return;
    mwl_call_set_user(c->call, NULL);
    rh_forget(h, c);
}

/* Posts or releases one, here or on another thread. */
static void rh_use_token(rh *h) {
    uint32_t at = rh_pick(h, RH_TOKENS), how = rh_pick(h, 128);
    mwl_token *token = h->tokens[at];
    if (!token) return;
    (void)mwl_token_wanted(token);
    switch (rh_pick(h, 3)) {
    case 1:
        h->tokens[at] = NULL;
        mwl_token_release(token);
        break;
    case 2:
        if (!h->thread) break;
        h->tokens[at] = NULL;
        rh_answered(h, h->token_of[at]);
        h->thread->post(token, how);
        break;
    default:
        if (rh_post(token, how) == MWL_OK) rh_answered(h, h->token_of[at]);
        break;
    }
}

static void rh_touch_call(rh *h) {
    rh_call *c = rh_some_call(h);
    if (!c) return;
    mwl_heap *heap = mwl_call_heap(c->call);
    switch (rh_pick(h, 4)) {
    case 1: mwl_call_wake_after(c->call, (int64_t)rh_pick(h, 5) * 1000000 - 1000000); break;
    case 2: mwl_call_set_state(c->call, rh_value(h, heap)); break;
    case 3:
        if (c->blocking) (void)mwl_call_resume(c->call, rh_value(h, heap));
        break;
    default:
        if (!c->blocking) rh_settle(h, c);
        break;
    }
}

/* Ends or starts a run. */
static void rh_touch_run(rh *h) {
    uint32_t at = rh_pick(h, RH_RUNS);
    switch (rh_pick(h, 5)) {
    case 1: mwl_run_cancel(h->runs[at], rh_pick(h, 2) ? "reason \xE9" : NULL); break;
    case 2: mwl_run_abort(h->runs[at]); break;
    case 3: rh_free(h, at); break;
    case 4: rh_look(h, at); break;
    default: rh_start(h); break;
    }
}

static void rh_deed(rh *h) {
    switch (rh_pick(h, 9)) {
    case 1:
    case 2: rh_touch_run(h); break;
    case 3:
    case 4: rh_touch_call(h); break;
    case 5: rh_take_token(h); break;
    case 6: rh_use_token(h); break;
    case 7: (void)mwl_vm_forget(h->vm, rh_programs[rh_pick(h, RH_PROGRAMS)]); break;
    case 8:
        if (h->scarce) h->fail_in = 1 + (long)rh_pick(h, 40);
        break;
    default: break;
    }
}

/* In a callback. */
static void rh_meddle(rh *h, void (*deed)(rh *h)) {
    if (h->ending || h->depth == RH_NEST) return;
    if (h->listens) deed = rh_touch_run;
    h->depth++;
    for (uint32_t n = rh_pick(h, 4); n && h->deeds > 0; n--) {
        h->deeds--;
        deed(h);
    }
    h->depth--;
}

/* ---- call providers -------------------------------------------------------------------------- */

static rh_call *rh_note(rh *h, mwl_call *call) {
    rh_call *c = calloc(1, sizeof *c);
    rh_must(c != NULL, "out of memory");
    c->call = call;
    c->number = ++h->next_call;
    c->next = h->calls;
    h->calls = c;
    h->called++;
    mwl_call_set_user(call, c);
    return c;
}

/* What a callback does with its call after its deeds, which may have settled it. */
static void rh_go_on(rh *h, uint64_t number) {
    rh_call *c = rh_find(h, number);
    if (!c) return;
    switch (h->ending ? 0 : rh_pick(h, 4)) {
    case 1: mwl_call_wake_after(c->call, (int64_t)rh_pick(h, 8) * 500000); break;
    case 2: break;
    case 3: rh_take_token(h); break;
    default: rh_settle(h, c); break;
    }
}

static void rh_call_start(mwl_call *call, void *user) {
    rh *h = user;
    uint64_t number = rh_note(h, call)->number;
    rh_meddle(h, rh_deed);
    rh_go_on(h, number);
}

static void rh_call_again(mwl_call *call, void *user) { /* woken, or asked to stop */
    rh *h = user;
    const rh_call *c = mwl_call_user(call);
    uint64_t number = c ? c->number : 0; /* NULL: an answer is on its way */
    rh_meddle(h, rh_deed);
    rh_go_on(h, number);
}

static void rh_block(mwl_call *call, void *user) {
    rh *h = user;
    rh_call *c = rh_note(h, call);
    c->blocking = true;
    h->on_stack++;
    mwl_heap *heap = mwl_call_heap(call);
    for (uint32_t n = rh_pick(h, 4); n; n--) {
        rh_meddle(h, rh_deed);
        mwl_value answer = mwl_absent();
        switch (h->ending ? 0 : rh_pick(h, 5)) {
        case 1: (void)mwl_sleep(call, (int64_t)rh_pick(h, 8) * 500000); break;
        case 2: (void)mwl_await(call, &answer); break;
        case 3: rh_take_token(h); break;
        case 4:
            if (!c->settled) rh_settle(h, c);
            break;
        default: break;
        }
        mwl_value_drop(heap, answer);
    }
    if (!c->settled && rh_pick(h, 4) != 1) rh_settle(h, c);
    rh_meddle(h, rh_deed);
    h->on_stack--;
    rh_forget(h, c);
    free(c);
}

#define RH_CALL(name) "mwl:provider.call/rh/" name "/v1"
#define RH_MW(name) "mwl:provider.middleware/rh/" name "/v1"
#define RH_HEAD(uri, codes)                                                                        \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" uri                    \
    "\",\"codePrefix\":\"Rh\",\"description\":\"A test.\",\"failureCatalog\":{\"closed\":["        \
    "\"" codes "\"],\"open\":[]},"
#define RH_CALL_DOC(name)                                                                          \
    RH_HEAD(RH_CALL(name), "Provider.Call.Rh.Failed")                                              \
    "\"parameters\":{\"type\":\"object\"},\"metadata\":{\"type\":\"object\",\"properties\":{"      \
    "\"by\":{\"type\":\"string\"}}}}"

static const mwl_call_provider rh_calls[] = {
    {.uri = RH_CALL("kept"),
     .document = RH_CALL_DOC("kept"),
     .start = rh_call_start,
     .wake = rh_call_again,
     .cancel = rh_call_again},
    {.uri = RH_CALL("given-up"),
     .document = RH_CALL_DOC("given-up"),
     .start = rh_call_start,
     .wake = rh_call_again},
    {.uri = RH_CALL("blocking"), .document = RH_CALL_DOC("blocking"), .blocking = rh_block},
};
enum { RH_CALLS = sizeof rh_calls / sizeof *rh_calls };

/* ---- middleware ------------------------------------------------------------------------------ */

static mwl_value rh_own_failure(rh *h, mwl_heap *heap) {
    if (rh_pick(h, 3) == 1) return rh_failure(h, heap);
    return mwl_failure(heap, NULL, "Provider.Middleware.Rh.Failed", NULL, rh_value(h, heap),
                       mwl_absent());
}

/* In every phase: deeds, and what every middleware may do. True: it has failed. */
static bool rh_phase(rh *h, mwl_phase *p) {
    mwl_heap *heap = mwl_phase_heap(p);
    rh_meddle(h, rh_deed);
    if (rh_pick(h, 4) == 1) (void)mwl_phase_set_state(p, rh_value(h, heap));
    if (rh_pick(h, 4) == 1) (void)mwl_phase_contribute(p, "by", rh_value(h, heap));
    if (h->ending || rh_pick(h, 8) != 1) return false;
    (void)mwl_phase_fail(p, NULL, "Provider.Middleware.Rh.Failed", "m", rh_value(h, heap));
    return true;
}

static void rh_control_entry(mwl_phase *p, void *user) {
    rh *h = user;
    if (rh_phase(h, p)) return;
    switch (rh_pick(h, 5)) {
    case 1: (void)mwl_phase_substitute(p, true, rh_value(h, mwl_phase_heap(p))); break;
    case 2: (void)mwl_phase_substitute(p, false, rh_own_failure(h, mwl_phase_heap(p))); break;
    case 3: (void)mwl_phase_arm_for(p, (int64_t)rh_pick(h, 8) * 500000 - 500000); break;
    default: break;
    }
}
static void rh_control_ascent(mwl_phase *p, void *user) {
    rh *h = user;
    bool ok = mwl_phase_succeeded(p);
    mwl_heap *heap = mwl_phase_heap(p);
    if (rh_phase(h, p)) return;
    switch (h->ending ? 0 : rh_pick(h, 4)) {
    case 1:
        (void)mwl_phase_substitute(p, ok, ok ? rh_value(h, heap) : rh_own_failure(h, heap));
        break;
    case 2:
        if (mwl_phase_runs(p) < 4)
            (void)mwl_phase_reenter(p, rh_pick(h, 4), (int64_t)rh_pick(h, 4) * 500000);
        break;
    default: break;
    }
}
static void rh_elapsed(mwl_phase *p, void *user) {
    rh *h = user;
    rh_meddle(h, rh_deed);
    if (rh_pick(h, 3)) (void)mwl_phase_interrupt(p, rh_own_failure(h, mwl_phase_heap(p)));
}
static void rh_transform(mwl_phase *p, void *user) {
    rh *h = user;
    if (rh_phase(h, p) || !rh_pick(h, 2)) return;
    (void)mwl_phase_transform(p, rh_value(h, mwl_phase_heap(p)));
}
static void rh_transform_failure(mwl_phase *p, void *user) {
    rh *h = user;
    if (rh_phase(h, p) || !rh_pick(h, 2)) return;
    (void)mwl_phase_transform(p, rh_own_failure(h, mwl_phase_heap(p)));
}
static void rh_side_effect(mwl_phase *p, void *user) {
    rh *h = user;
    if (!rh_phase(h, p) && rh_pick(h, 2)) (void)mwl_phase_dispatch(p);
}
static mwl_value rh_prepare(mwl_heap *heap, mwl_value arguments, void *user) {
    (void)arguments;
    rh_meddle(user, rh_deed);
    return mwl_string(heap, "prepared", 8);
}

#define RH_PHASE(name, kind)                                                                       \
    "\"" name "\":{\"action\":{\"kind\":\"" kind "\",\"description\":\"d\"}}"
#define RH_STRUCT(name)                                                                            \
    "\"" name "\":{\"action\":{\"kind\":\"side-effect\",\"description\":\"d\"},\"parameters\":{"   \
    "\"type\":\"object\",\"properties\":{\"call\":{\"type\":\"object\"}}},\"structural\":["        \
    "\"call\"]}"
#define RH_MW_DOC(name, phases)                                                                    \
    RH_HEAD(RH_MW(name), "Provider.Middleware.Rh.Failed")                                          \
    "\"attachment\":[\"step\",\"flow\"],\"metadata\":{\"type\":\"object\",\"properties\":{\"by\":" \
    "{},\"until\":{\"type\":\"string\"}}},\"phases\":{" phases "}}"
#define RH_KIND(kind)                                                                              \
    RH_PHASE("onEntry", kind) "," RH_PHASE("onSuccess", kind) "," RH_PHASE("onFailure", kind)

static const mwl_middleware rh_middleware[] = {
    {.uri = RH_MW("control"),
     .document = RH_MW_DOC("control", RH_KIND("control")),
     .flags = MWL_MW_RESTORES,
     .deadline = "until",
     .entry = rh_control_entry,
     .success = rh_control_ascent,
     .failure = rh_control_ascent,
     .elapsed = rh_elapsed,
     .prepare = rh_prepare},
    {.uri = RH_MW("transform"),
     .document = RH_MW_DOC("transform", RH_KIND("transform")),
     .entry = rh_transform,
     .success = rh_transform,
     .failure = rh_transform_failure},
    {.uri = RH_MW("effect"),
     .document = RH_MW_DOC("effect", RH_STRUCT("onEntry") "," RH_STRUCT("onSuccess") "," RH_STRUCT(
                                         "onFailure") "," RH_STRUCT("onAlways")),
     .entry = rh_side_effect,
     .success = rh_side_effect,
     .failure = rh_side_effect,
     .always = rh_side_effect},
};
enum { RH_MIDDLEWARE = sizeof rh_middleware / sizeof *rh_middleware };

/* ---- functions, listener --------------------------------------------------------------------- */

static mwl_value rh_function(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)args;
    (void)n_args;
    rh_meddle(rh_host, rh_deed);
    if (rh_pick(rh_host, 8) == 1) return mwl_fn_fail(fn, "failed");
    return mwl_number((double)rh_pick(rh_host, 3));
}
static const mwl_function_def rh_functions[] = {
    {"rh.meddle", rh_function, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "rh.meddle() -> double"}};

/* A listener may end and start runs here, which is more than mwl.h allows it, and no more: also
 * not in the callbacks that come inside, as those of a program that is linked. */
static void rh_listen(void *ctx, const mwl_trace_event *event) {
    (void)event;
    rh *h = ctx;
    h->listens++;
    if (rh_pick(h, 8) == 1) rh_meddle(h, rh_touch_run);
    h->listens--;
}

/* ---- Flows ----------------------------------------------------------------------------------- */

/* Definitions are written with ' for ". */
#define RH_FLOW(more, steps)                                                                       \
    "{'$schema':'https://mwl.dev/v0.1/flow/schema.json'," more "'entrypoint':'a','steps':{" steps  \
    ",'z':{'action':'Return'}}}"
#define RH_STD(name) "{'provider':'mwl:provider.middleware/mwl/" name "/v1'"
#define RH_ANY "'match':{'codes':['*']}"
#define RH_FINALLY(call) RH_STD("finally") ",'onAlways':{'with':{'call':" call "}}}"
#define RH_TIMEOUT(time) RH_STD("timeout") ",'onEntry':{'with':{'duration':'PT" time "S'}}}"
#define RH_EFFECT(phase, call)                                                                     \
    "{'provider':'" RH_MW("effect") "','" phase "':{'with':{'call':" call "}}}"

#define KEPT "{'provider':'" RH_CALL("kept") "'}"
#define GIVEN_UP "{'provider':'" RH_CALL("given-up") "'}"
#define BLOCKING "{'provider':'" RH_CALL("blocking") "'}"
#define SUBFLOW "{'flow':'f'}"
#define CAUGHT ",'catch':[{" RH_ANY ",'assign':{'e':'{{ failure.code }}'},'next':'z'}],'next':'z'}"
#define RETRIED                                                                                    \
    RH_STD("retry")                                                                                \
    ",'onEntry':{'with':{'policies':[{" RH_ANY ",'attempts':3,'delay':'PT0.001S'}]}}}"
#define LOOPED RH_STD("loop") ",'onSuccess':{'when':'{{ middleware.metadata.iteration < 3.0 }}'}}"
#define CONTROLLED "{'provider':'" RH_MW("control") "'}"
#define TRANSFORMED "{'provider':'" RH_MW("transform") "'}"
#define WITH_SUBFLOW                                                                               \
    "'flows':{'f':{'entrypoint':'s','steps':{"                                                     \
    "'s':{'action':'Sleep','for':'PT0.001S','next':'k'},"                                          \
    "'k':{'action':'Call','middleware':[" RH_FINALLY(BLOCKING) "],'call':" KEPT ",'next':'r'},"    \
                                                               "'r':{'action':'Return'}}}},"

static const char *const rh_definitions[RH_PROGRAMS] = {
    RH_FLOW("", "'a':{'action':'Return','value':'{{ [1,2,3].map(x, x + rh.meddle()) }}'}"),

    RH_FLOW("", "'a':{'action':'Call','call':" BLOCKING ",'middleware':["
            /* outermost first */
            RH_FINALLY(KEPT) "," RH_TIMEOUT("0.003") "," RETRIED "," CONTROLLED "]" CAUGHT),

    RH_FLOW("'middleware':[" RH_TIMEOUT("0.006") "," TRANSFORMED "],",
            "'a':{'action':'Gather','over':[1,2,3,4],'concurrency':2,"
            "'call':{'provider':'" RH_CALL(
                "kept") "','input':'{{ rh.meddle() }}',"
                        "'onSuccess':{'assign':{'n':'{{ rh.meddle() }}'}}},"
                        "'completion':{'successes':2,'wait':false},'next':'b'},"
                        "'b':{'action':'Gather','calls':[" BLOCKING "," GIVEN_UP "," KEPT
                        "]" CAUGHT),

    RH_FLOW("'middleware':[" RH_TIMEOUT("0.02") "," LOOPED
                                                "," RH_FINALLY(SUBFLOW) "]," WITH_SUBFLOW,
            "'a':{'action':'Call','call':" SUBFLOW ",'middleware':[" CONTROLLED "]" CAUGHT),

    RH_FLOW(
        WITH_SUBFLOW,
        "'a':{'action':'Call','call':{'provider':'" RH_CALL(
            "kept") "',"
                    "'onFailure':{'assign':{'f':'{{ rh.meddle() }}'}}},'middleware':[" RH_EFFECT(
                        "onAlways",
                        GIVEN_UP) "," RH_EFFECT("onFailure",
                                                SUBFLOW) "," RH_EFFECT("onEntry",
                                                                       BLOCKING) "," TRANSFORMED
                                                                                 "," CONTROLLED "],"
                                                                                 "'output':'{{ [rh.meddle(), step.result.value] }}','next':'z'}"),

    RH_FLOW("'middleware':[" RH_FINALLY(BLOCKING) "," RETRIED
                                                  "," RH_TIMEOUT("0.004") "]," WITH_SUBFLOW,
            "'a':{'action':'Gather','over':'{{ lists.range(3) }}','call':" SUBFLOW CAUGHT),
};

static mwl_program *rh_assemble(const char *definition) {
    mwl_asm_provider documents[RH_CALLS + RH_MIDDLEWARE];
    const mwl_function_def *functions[] = {rh_functions, NULL};
    memset(documents, 0, sizeof documents);
    for (size_t i = 0; i < RH_CALLS + RH_MIDDLEWARE; i++) {
        documents[i].text =
            i < RH_CALLS ? rh_calls[i].document : rh_middleware[i - RH_CALLS].document;
        documents[i].len = strlen(documents[i].text);
    }
    mwl_asm_options options;
    memset(&options, 0, sizeof options);
    options.providers = documents;
    options.n_providers = RH_CALLS + RH_MIDDLEWARE;
    options.functions = functions;
    char *text = malloc(strlen(definition) + 1);
    rh_must(text != NULL, "out of memory");
    strcpy(text, definition);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    mwl_asm_result out;
    mwl_program *program = NULL;
    if (mwl_assemble(text, strlen(text), &options, &out) < 0) rh_must(false, out.diagnostics);
    rh_must(mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &program, NULL) == MWL_OK,
            "not loaded");
    mwl_asm_free(&out);
    free(text);
    return program;
}

/* ---- a round --------------------------------------------------------------------------------- */

static mwl_vm *rh_open(rh *h) {
    mwl_vm *vm = NULL;
    mwl_config c = mwl_config_default();
    c.alloc = (mwl_alloc){rh_alloc, h};
    c.virtual_time = rh_pick(h, 4) != 1;
    c.clock = (mwl_clock){rh_read_clock, h};
    c.limits.memory_bytes = rh_pick(h, 8) == 1 ? 20000 : 4u << 20;
    c.slice = rh_pick(h, 2) ? 7 : 4096;
    c.stack_bytes = 512u << 10; /* the sanitizers need more than a provider does */
    c.hold = rh_pick(h, 4) == 1;
    rh_must(mwl_vm_new(&c, &vm) == MWL_OK && mwl_std_add(vm, MWL_STD_ALL, NULL) == MWL_OK &&
                mwl_vm_provide(vm, rh_calls, RH_CALLS, h, NULL) == MWL_OK &&
                mwl_vm_provide_middleware(vm, rh_middleware, RH_MIDDLEWARE, h, NULL) == MWL_OK &&
                mwl_vm_functions(vm, rh_functions, 1) == MWL_OK,
            "no VM");
    return vm;
}

static void rh_pump(rh *h, int64_t budget_ns) {
    int64_t due = mwl_vm_pump(h->vm, budget_ns);
    if (h->other) {
        int64_t its = mwl_vm_pump(h->other, budget_ns);
        due = its < due ? its : due;
    }
    rh_must(h->depth == 0, "a callback did not return");
    if (due != MWL_NEVER && due > h->now_ns) h->now_ns = due;
}

/* ---- runs as bytes, between pumps ------------------------------------------------------------ */

static bool rh_save(rh *h, uint32_t at, void **bytes, size_t *size, uint64_t *version) {
    *bytes = NULL;
    if (!h->runs[at]) return false;
    mwl_status st = mwl_run_save(h->runs[at], bytes, size, version);
    rh_must(st == MWL_OK || st == MWL_E_STATE || st == MWL_E_NOT_JSON ||
                (st == MWL_E_NOMEM && h->scarce),
            "a run is not saved");
    return st == MWL_OK;
}

/* Saves a run, and perhaps unloads it, and loads it here or in the other VM. */
static void rh_move(rh *h) {
    uint32_t at = rh_pick(h, RH_RUNS), which = h->which[at];
    mwl_vm *from = h->home[at], *to = h->other && rh_pick(h, 2) ? h->other : h->vm;
    void *bytes;
    size_t size;
    uint64_t version;
    if (!rh_save(h, at, &bytes, &size, &version)) return;
    if (rh_pick(h, 2)) {
        mwl_status st = mwl_run_unload(h->runs[at]);
        rh_must(st == MWL_OK || st == MWL_E_STATE, "a run is not unloaded");
        if (st == MWL_OK) h->runs[at] = NULL;
    }
    const mwl_load how = {.program = rh_programs[which], .flags = rh_pick(h, 16)};
    mwl_error error = {MWL_OK, "", 0};
    mwl_run *run = NULL;
    mwl_status st = mwl_run_load(to, bytes, size, &how, &run, &error);
    rh_must(st == MWL_OK || st == MWL_E_TOO_BIG || (st == MWL_E_NOMEM && h->scarce), error.message);
    if (st == MWL_OK) {
        h->loaded++;
        rh_keep(h, run, to, which);
    }
    mwl_bytes_free(from, bytes, size);
}

/* Its calls that are held may start. */
static void rh_release(rh *h, uint32_t at) {
    void *bytes;
    size_t size;
    uint64_t version;
    if (!rh_save(h, at, &bytes, &size, &version)) return;
    mwl_bytes_free(h->home[at], bytes, size);
    mwl_run_release(h->runs[at], version);
    (void)mwl_vm_changed(h->home[at]);
}

/* Answers a call by its number, as a store would. The call is freed inside, and then callbacks of
 * others may come, which must not find it: it is not in the list meanwhile. */
static void rh_answer(rh *h) {
    rh_call *c = rh_some_call(h);
    mwl_run *run = c && !c->settled ? mwl_call_run(c->call) : NULL;
    if (!run) return;
    mwl_call *call = c->call;
    bool blocking = c->blocking;
    mwl_heap *heap = mwl_call_heap(call);
    bool ok = rh_pick(h, 3) != 1;
    mwl_value value = ok ? rh_value(h, heap) : rh_failure(h, heap);
    if (!blocking) rh_unlist(h, c);
    mwl_status st = mwl_run_answer(run, mwl_call_number(call), ok, value);
    rh_must(st == MWL_OK || st == MWL_E_STATE || st == MWL_E_USAGE || h->scarce, "no answer");
    if (st == MWL_OK) {
        h->answered++;
        if (!blocking) free(c);
    } else if (!blocking) {
        c->next = h->calls;
        h->calls = c;
    }
}

static void rh_store(rh *h) {
    switch (rh_pick(h, 3)) {
    case 1: rh_release(h, rh_pick(h, RH_RUNS)); break;
    case 2: rh_answer(h); break;
    default: rh_move(h); break;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Settles what is left and pumps: every run must end. */
static void rh_end_runs(rh *h) {
    h->ending = true;
    h->fail_in = 0;
    if (h->thread) h->thread->wait();
    bool busy = true;
    for (int i = 0; i < 1000 && busy; i++) {
        busy = false;
        for (rh_call *c = h->calls; c; c = h->calls) {
            while (c && c->blocking) c = c->next;
            if (!c) break;
            rh_settle(h, c);
        }
        for (rh_call *c = h->calls; c; c = c->next) /* blocked ones: end their wait */
            if (c->blocking && mwl_call_resume(c->call, mwl_null()) == MWL_OK) break;
        for (uint32_t r = 0; r < RH_RUNS; r++) rh_release(h, r);
        rh_pump(h, 100000000);
        for (uint32_t r = 0; r < RH_RUNS; r++)
            busy |= h->runs[r] && mwl_run_get_state(h->runs[r]) < MWL_RUN_DONE;
    }
    rh_must(!busy, "a run does not end");
    for (uint32_t r = 0; r < RH_RUNS; r++) {
        rh_look(h, r);
        h->ended += h->runs[r] != NULL;
        rh_free(h, r);
    }
}

static void rh_close(rh *h) {
    /* else what hears of the end goes on meddling; with the calls of one VM only */
    h->ending |= h->other || rh_pick(h, 2);
    h->fail_in = 0;
    h->closing = true;
    memset(h->runs, 0, sizeof h->runs); /* they are freed with the VM */
    mwl_vm_free(h->other);
    mwl_vm_free(h->vm);
    rh_must(h->on_stack == 0, "a blocking function has not returned");
    while (h->calls) rh_forget(h, h->calls);
    for (uint32_t i = 0; i < RH_TOKENS; i++) mwl_token_release(h->tokens[i]);
    rh_must(h->bytes == 0, "memory is left");
}

/* One VM, with choices from here. Adds to the counts of `total`, which may be NULL. */
static void rh_round(rh_source source, const rh_thread *thread, rh *total) {
    rh h;
    memset(&h, 0, sizeof h);
    h.source = source;
    h.thread = thread;
    h.deeds = 300;
    rh_host = &h;
    rh_failing = source.seed;
    for (int i = 0; i < RH_PROGRAMS; i++)
        if (!rh_programs[i]) rh_programs[i] = rh_assemble(rh_definitions[i]);
    h.scarce = rh_pick(&h, 8) == 1;
    h.vm = rh_open(&h);
    if (rh_pick(&h, 2)) h.other = rh_open(&h);
    if (rh_pick(&h, 3) == 1) mwl_vm_trace(h.vm, rh_listen, &h);
    rh_start(&h);
    for (uint32_t n = 4 + rh_pick(&h, 30); n && h.deeds > 0; n--) {
        h.deeds--;
        switch (rh_pick(&h, 5)) {
        case 4: rh_store(&h); break;
        case 1: rh_deed(&h); break;
        case 2: rh_touch_run(&h); break;
        case 3: rh_pump(&h, rh_pick(&h, 2) ? MWL_NO_BUDGET : 1000000); break;
        default: rh_pump(&h, 0); break;
        }
    }
    if (rh_pick(&h, 4) != 1) rh_end_runs(&h);
    rh_close(&h);
    if (!total) return;
    total->started += h.started;
    total->called += h.called;
    total->ended += h.ended;
    total->loaded += h.loaded;
    total->answered += h.answered;
}

static inline void rh_done(void) {
    for (int i = 0; i < RH_PROGRAMS; i++) mwl_program_release(rh_programs[i]);
    memset(rh_programs, 0, sizeof rh_programs);
}

#endif
