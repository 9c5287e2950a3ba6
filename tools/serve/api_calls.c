/* api_calls.c: calls for workers in other languages: take one with a lease, renew, settle. On the
 * desk's thread.
 *
 * A call is a wait of the store with its provider's URI; its answer is a message. So a call that
 * was taken, and its answer, outlive this process. */
#include "tools/serve/serve.h"

#include "tools/base/member.h"
#include "tools/durable/store.h"
#include "tools/serve/endpoints.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
enum { LEASE_S = 60, LEASE_MOST_S = 24 * 3600 };

/* False after a problem. */
static bool read_lease(struct ask *a, int64_t *ns) {
    double s = LEASE_S;
    if (!ask_seconds(a, "lease", &s)) return false;
    if (!(s > 0)) {
        ask_problem(a, 400, "`lease` is a number of seconds above 0");
        return false;
    }
    if (s > LEASE_MOST_S) s = LEASE_MOST_S;
    *ns = (int64_t)(s * 1e9);
    return true;
}

static void see_call(void *ctx, const char *run, const mwl_store_wait *wait, uint32_t attempt) {
    FILE *to = ((struct ask *)ctx)->out;
    rewind(to);
    putc('{', to);
    put_text(to, "key", wait->name, true);
    put_text(to, "run", run, false);
    put_count(to, "number", wait->number);
    put_count(to, "attempt", attempt);
    put_text(to, "provider", wait->provider, false);
    put_time(to, "since", wait->since_wall_ns);
    put_json(to, "call", wait->question);
    fputs("}\n", to);
}

void api_call_take(struct ask *a, struct desk_tools *t) {
    const char *provider = http_parameter(a->request, "provider");
    if (!provider || !*provider || strlen(provider) > sizeof a->on - 10) {
        ask_problem(a, 400, "`provider` is missing: the URI of the provider");
        return;
    }
    int64_t lease_ns;
    if (!read_lease(a, &lease_ns)) return;
    const mwl_store_call ask = {
        .provider = provider, .now_wall_ns = store_now(), .lease_ns = lease_ns};
    mwl_status status = t->store->ops->take_call(t->store, &ask, see_call, a);
    snprintf(a->on, sizeof a->on, "call %s", provider);
    if (status == MWL_E_NOT_FOUND && !a->last)
        a->again = true;
    else if (status == MWL_E_NOT_FOUND)
        a->request->status = 204;
    else if (status != MWL_OK)
        ask_refused(a, t, status);
}

/* ---- a call by its key ----------------------------------------------------------------------- */

struct call {
    char *run; /* malloc */
    uint64_t number;
    int64_t seq;
    bool open;
};

static bool see_seq(void *ctx, const mwl_store_row *row) {
    ((struct call *)ctx)->seq = row->seq;
    return false;
}

static bool see_wait(void *ctx, const char *run, const mwl_store_wait *wait) {
    struct call *c = ctx;
    (void)run;
    c->open |= wait->number == c->number && wait->provider && *wait->provider;
    return !c->open;
}

/* False after a problem: there is no such call, or it is settled. Free c->run in any case. */
static bool find(struct ask *a, struct desk_tools *t, struct call *c) {
    const char *key = a->words[0], *dot = strrchr(key, '.');
    c->run = dot ? strndup(key, (size_t)(dot - key)) : NULL;
    c->number = dot ? strtoull(dot + 1, NULL, 10) : 0;
    const mwl_store_query query = {.id = c->run};
    mwl_status status = MWL_OK;
    if (c->run) status = t->store->ops->list(t->store, &query, see_seq, c);
    if (status == MWL_OK && c->seq) status = t->store->ops->waits(t->store, c->seq, see_wait, c);
    if (status != MWL_OK)
        ask_refused(a, t, status);
    else if (!c->seq)
        ask_problem(a, 404, "there is no call '%s'", key);
    else if (!c->open)
        ask_problem(a, 409, "the call '%s' does not wait any more", key);
    return status == MWL_OK && c->open;
}

/* {"value": ...} or {"failure": {"code": "...", "message": "..."}} */
static bool is_result(struct ask *a, mwl_value body) {
    mwl_value failure = mwl_get(body, "failure");
    bool value = !mwl_is_absent(mwl_get(body, "value"));
    if (mwl_value_kind(body) == MWL_KIND_OBJECT && value != !mwl_is_absent(failure) &&
        (value || text_member(failure, "code")))
        return true;
    ask_problem(a, 422,
                "a result is {\"value\": ...} or {\"failure\": {\"code\": \"...\", "
                "\"message\": \"...\"}}");
    return false;
}

/* A failure without a type is an error. malloc; NULL: out of memory. */
static char *result_text(struct desk_tools *t, mwl_value body, size_t *len) {
    mwl_heap *heap = t->heap;
    mwl_value failure = mwl_get(body, "failure"), all = mwl_value_keep(body);
    if (!mwl_is_absent(failure) && !text_member(failure, "type")) {
        failure = member_set(heap, mwl_value_keep(failure), "type", mwl_string(heap, "error", 5));
        all = member_set(heap, all, "failure", failure);
    }
    char *text = NULL, *copy = NULL;
    if (mwl_json_write(heap, all, MWL_JSON_COMPACT, &text, len) == MWL_OK) {
        copy = strdup(text);
        mwl_text_free(heap, text, *len);
    }
    mwl_value_drop(heap, all);
    return copy;
}

void api_call_settle(struct ask *a, struct desk_tools *t) {
    struct call c = {NULL, 0, 0, false};
    mwl_value body = mwl_absent();
    size_t len = 0;
    if (!ask_body(a, t, &body)) return;
    if (is_result(a, body) && find(a, t, &c)) {
        char *text = result_text(t, body, &len);
        const mwl_store_message m = {.run = c.run,
                                     .kind = MWL_STORE_ANSWER,
                                     .name = a->words[0],
                                     .key = a->words[0],
                                     .body = {text, len},
                                     .now_wall_ns = store_now()};
        mwl_status status = text ? t->store->ops->post(t->store, &m) : MWL_E_NOMEM;
        a->changed = status == MWL_OK;
        a->request->status = 204;
        if (status != MWL_OK) ask_refused(a, t, status);
        free(text);
    }
    free(c.run);
    mwl_value_drop(t->heap, body);
}

void api_call_renew(struct ask *a, struct desk_tools *t) {
    struct call c = {NULL, 0, 0, false};
    uint64_t attempt = 0;
    int64_t lease_ns;
    if (!http_parameter(a->request, "attempt")) {
        ask_problem(a, 400, "`attempt` is missing: the one of the call that was taken");
        return;
    }
    if (!ask_count(a, "attempt", 1, &attempt) || !read_lease(a, &lease_ns)) return;
    if (find(a, t, &c)) {
        const mwl_store_call ask = {.run = c.run,
                                    .number = c.number,
                                    .attempt = attempt < UINT32_MAX ? (uint32_t)attempt : 0,
                                    .now_wall_ns = store_now(),
                                    .lease_ns = lease_ns};
        mwl_status status = t->store->ops->take_call(t->store, &ask, see_call, a);
        a->request->status = 204;
        if (status == MWL_E_NOT_FOUND)
            ask_problem(a, 409, "%s", mwl_store_why(t->store));
        else if (status != MWL_OK)
            ask_refused(a, t, status);
    }
    free(c.run);
}
