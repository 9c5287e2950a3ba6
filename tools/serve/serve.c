/* serve.c: see serve.h: from a request to its endpoint, and back. */
#include "tools/serve/serve.h"

#include "tools/base/cmd.h"
#include "tools/durable/store.h"
#include "tools/serve/endpoints.h"
#include "tools/base/json_out.h"
#include "tools/serve/keep.h"
#include "tools/serve/schedule.h"
#include "vm/base/suggest.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_NS = 1000000000 }; /* what waits for a call looks again: a lease may be over */
enum { PROBE_NS = 1000000000 };

static const struct endpoint endpoints[] = {
#define AT(desk, method, path, query, scope, most, name)                                           \
    {method, path, query, AUTH_##scope, most, name, NULL, desk},
#define W(...) AT(SERVE_FIRST, __VA_ARGS__)
#define A(...) AT(SERVE_ANSWERS, __VA_ARGS__)
#define R(...) AT(SERVE_READERS, __VA_ARGS__)
#define N(method, path, query, scope, most, name)                                                  \
    {method, path, query, AUTH_##scope, most, NULL, name, SERVE_FIRST},
    ENDPOINTS(W, A, R, N)
#undef AT
#undef W
#undef A
#undef R
#undef N
};
enum { N_ENDPOINTS = sizeof endpoints / sizeof *endpoints };

static const size_t threads[SERVE_DESKS] = {1, 1, 3};

/* ---- JSON ------------------------------------------------------------------------------------ */

void put_name(FILE *to, const char *name, bool first) {
    fprintf(to, "%s\"%s\":", first ? "" : ",", name);
}
void put_text(FILE *to, const char *name, const char *text, bool first) {
    put_name(to, name, first);
    json_out_text(to, text);
}
void put_json(FILE *to, const char *name, mwl_store_text json) {
    if (!json.at) return;
    put_name(to, name, false);
    fwrite(json.at, 1, json.len, to);
}
void put_time(FILE *to, const char *name, int64_t wall_ns) {
    char text[STORE_TIME];
    if (!*store_time(wall_ns, text)) return;
    text[10] = 'T';
    fprintf(to, ",\"%s\":\"%s.%03dZ\"", name, text, (int)(wall_ns / 1000000 % 1000));
}
void put_count(FILE *to, const char *name, uint64_t n) {
    fprintf(to, ",\"%s\":%llu", name, (unsigned long long)n);
}
const char *text_member(mwl_value object, const char *name) {
    return mwl_as_text(mwl_get(object, name), NULL);
}
void put_hex(const uint8_t id[16], char out[33]) {
    for (size_t i = 0; i < 16; i++) snprintf(out + 2 * i, 3, "%02x", id[i]);
}

/* ---- answers --------------------------------------------------------------------------------- */

void ask_problem(struct ask *a, unsigned status, const char *format, ...) {
    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    a->request->status = status;
    a->request->type = "application/problem+json";
    rewind(a->out); /* what was written is replaced */
    fprintf(a->out, "{\"status\":%u", status);
    put_text(a->out, "title", text, false);
    fputs("}\n", a->out);
}

void ask_refused(struct ask *a, const struct desk_tools *t, mwl_status status) {
    const char *why = mwl_store_why(t->store);
    switch (status) {
    case MWL_E_NOT_FOUND: ask_problem(a, 404, "%s", why); break;
    case MWL_E_DUPLICATE:
    case MWL_E_STATE: ask_problem(a, 409, "%s", why); break;
    case MWL_E_REFUSED: ask_problem(a, 422, "%s", why); break;
    case MWL_E_IO:
    case MWL_E_NOMEM:
        snprintf(a->refused, sizeof a->refused, "%s", *why ? why : mwl_status_text(status));
        ask_problem(a, 503, "%s", *why ? why : mwl_status_text(status));
        a->request->header[0] = "Retry-After";
        a->request->header[1] = "1";
        break;
    default: ask_problem(a, 500, "%s", *why ? why : mwl_status_text(status));
    }
}

bool ask_seconds(struct ask *a, const char *name, double *out) {
    const char *word = http_parameter(a->request, name);
    char *end = NULL;
    if (!word) return true;
    double s = strtod(word, &end);
    if (end == word || strspn(word, "0123456789.") != (size_t)(end - word) ||
        (*end && strcmp(end, "s") != 0)) {
        ask_problem(a, 400, "`%s` is a number of seconds, not '%.100s'", name, word);
        return false;
    }
    *out = s;
    return true;
}

bool ask_waits(struct ask *a) {
    double s = 0;
    if (!ask_seconds(a, "wait", &s)) return false;
    if (s > SERVE_WAIT_S) s = SERVE_WAIT_S;
    a->until_ns = (int64_t)uv_hrtime() + (int64_t)(s * 1e9);
    a->last = s == 0;
    return true;
}

bool ask_count(struct ask *a, const char *name, uint64_t least, uint64_t *out) {
    const char *word = http_parameter(a->request, name);
    size_t len = word ? strlen(word) : 0;
    if (!word) return true;
    uint64_t n = strtoull(word, NULL, 10);
    if (len == 0 || len > 18 || strspn(word, "0123456789") != len || n < least) {
        ask_problem(a, 400, "`%s` is a number from %llu on, not '%.100s'", name,
                    (unsigned long long)least, word);
        return false;
    }
    *out = n;
    return true;
}

/* Answers 400 if the name is not one of these, because a misspelt one would be ignored. */
static bool is_one_of(struct ask *a, const char *what, const char *name, size_t len,
                      const char *const *names, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (strlen(names[k]) == len && memcmp(names[k], name, len) == 0) return true;
    const char *near = mwl__suggest_among(name, len, names, n);
    ask_problem(a, 400, "%s does not have `%.100s`%s%s%s", what, name,
                near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
    return false;
}

bool ask_parameters(struct ask *a) {
    const struct http_request *r = a->request;
    const char *names[8], *only[8];
    char text[100], *rest = NULL;
    size_t n = 0;
    if (!a->endpoint->query) return true;
    snprintf(text, sizeof text, "%s", a->endpoint->query);
    for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        if (equals) *equals++ = '\0';
        names[n] = word;
        only[n++] = equals;
    }
    for (size_t i = 0; i < r->n_parameters; i++) {
        const char *name = r->parameters[i].name, *value = r->parameters[i].value;
        if (!is_one_of(a, "the query of this request", name, strlen(name), names, n)) return false;
        for (size_t k = 0; k < n; k++) {
            if (strcmp(names[k], name) != 0 || !only[k] || !*value || strcmp(only[k], value) == 0)
                continue;
            ask_problem(a, 400, "`%s` is `%s`, not '%.100s'", name, only[k], value);
            return false;
        }
    }
    return true;
}

bool ask_members(struct ask *a, const char *what, mwl_value object, const char *const *names,
                 size_t n) {
    mwl_value key, value;
    if (mwl_value_kind(object) != MWL_KIND_OBJECT) {
        ask_problem(a, 400, "%s is an object", what);
        return false;
    }
    for (size_t i = 0; mwl_object_at(object, i, &key, &value); i++) {
        size_t len;
        const char *name = mwl_as_text(key, &len);
        if (!is_one_of(a, what, name, len, names, n)) return false;
    }
    return true;
}

bool ask_text_member(struct ask *a, mwl_value object, const char *name, size_t most) {
    mwl_value member = mwl_get(object, name);
    size_t len = 0;
    if (mwl_is_absent(member)) return true;
    const char *text = mwl_as_text(member, &len);
    if (text && len > 0 && len <= most && strlen(text) == len) return true;
    ask_problem(a, 400, "`%s` is a text of 1 to %zu bytes without U+0000", name, most);
    return false;
}

bool ask_names_wait(struct ask *a, const char *run, const char *name) {
    const char *dot = strrchr(name, '.');
    size_t len = strlen(run);
    if (!dot || (size_t)(dot - name) != len || strncmp(name, run, len) != 0 ||
        strtoull(dot + 1, NULL, 10) == 0)
        return true;
    ask_problem(a, 403, "'%s' is a call for a worker: it is settled by /v1/calls, not by an answer",
                name);
    return false;
}

bool ask_body(struct ask *a, struct desk_tools *t, mwl_value *out) {
    mwl_error error = {MWL_OK, "", 0};
    mwl_status status = mwl_json_parse(t->heap, a->request->body, a->request->len, out, &error);
    if (status == MWL_OK) return true;
    *out = mwl_absent();
    if (a->request->len == 0)
        ask_problem(a, 400, "the request has no body");
    else
        ask_problem(a, 400, "the body is not JSON: %s, at byte %zu",
                    error.message ? error.message : mwl_status_text(status), error.offset);
    return false;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void unlist(struct ask *a) {
    if (!a->listed) return;
    a->listed = false;
    if (a->prev)
        a->prev->next = a->next;
    else
        a->serve->waiting = a->next;
    if (a->next) a->next->prev = a->prev;
}

static void list(struct ask *a) {
    struct serve *s = a->serve;
    a->listed = true;
    a->look_ns = (int64_t)uv_hrtime() + LOOK_NS;
    a->prev = NULL;
    a->next = s->waiting;
    if (a->next) a->next->prev = a;
    s->waiting = a;
}

static void give(struct ask *a) {
    unlist(a);
    a->again = false;
    desk_give(a->serve->desk[a->endpoint->desk], &a->job);
}

void serve_event(struct serve *s, const char *run, const char *kind, const char *text) {
    static const char *const ends[] = {"done", "failed", "aborted", "stuck"};
    char name[sizeof s->waiting->on] = "";
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(kind, ends[i]) == 0) snprintf(name, sizeof name, "run %s", run);
    if (strcmp(kind, "call") == 0) snprintf(name, sizeof name, "call %s", text);
    if (!*name) return;
    for (struct ask *a = s->waiting, *next; a; a = next) {
        next = a->next;
        if (strcmp(a->on, name) == 0) give(a);
    }
}

static void look(struct serve *s) {
    int64_t now = (int64_t)uv_hrtime();
    for (struct ask *a = s->waiting, *next; a; a = next) {
        next = a->next;
        if (now >= a->until_ns) a->last = true;
        if (a->last || now >= a->look_ns) give(a);
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool fits_path(const struct endpoint *e, const struct http_request *r, const char **words) {
    const char *at = e->path;
    size_t n = 0;
    for (size_t i = 0; i < r->n_segments; i++) {
        size_t len = strcspn(at, "/");
        if (len == 0) return false;
        if (len == 1 && *at == '?')
            words[n++] = r->segments[i];
        else if (strlen(r->segments[i]) != len || strncmp(at, r->segments[i], len) != 0)
            return false;
        at += len + (at[len] == '/');
    }
    return *at == '\0';
}

static const struct endpoint *find(const struct http_request *r, const char **words, bool *path) {
    *path = false;
    if (r->n_segments == SIZE_MAX) return NULL;
    for (size_t i = 0; i < N_ENDPOINTS; i++) {
        if (!fits_path(&endpoints[i], r, words)) continue;
        *path = true;
        bool head = strcmp(r->method, "HEAD") == 0 && strcmp(endpoints[i].method, "GET") == 0 &&
                    endpoints[i].scope != AUTH_WORK; /* that would take a call without a worker */
        if (head || strcmp(r->method, endpoints[i].method) == 0) return &endpoints[i];
    }
    return NULL;
}

static bool may(struct ask *a) {
    struct http_request *r = a->request;
    enum auth_scope scope = a->endpoint->scope;
    if (scope == AUTH_LINK) return link_is_signed(a);
    if (scope == AUTH_NONE || r->trusted) return true;
    unsigned has = auth_scopes(a->serve->auth, r->authorization);
    if (has & scope) return true;
    if (has) {
        ask_problem(a, 403, "this token does not have the scope '%s'", auth_scope_name(scope));
    } else {
        ask_problem(a, 401, "a token is needed: Authorization: Bearer TOKEN");
        r->header[0] = "WWW-Authenticate";
        r->header[1] = "Bearer";
    }
    return false;
}

/* The body is complete. One that is too large is replaced: what was written is only its beginning.
 */
static void close_out(struct ask *a) {
    static const char too_large[] =
        "{\"status\":500,\"title\":\"the answer would have more than 32 MiB\"}\n";
    struct http_request *r = a->request;
    if (!a->out) return;
    (void)fclose(a->out);
    a->out = NULL;
    r->out = a->answer.data;
    r->out_len = a->answer.len;
    if (!a->answer.over) return;
    free(r->out);
    r->out = NULL;
    r->out_static = too_large;
    r->out_len = sizeof too_large - 1;
    r->status = 500;
    r->type = "application/problem+json";
    r->refused = true; /* the connection is closed */
    a->serve->too_large++;
}

static bool on_begin(void *ctx, struct http_request *r, size_t *most) {
    struct ask *a = calloc(1, sizeof *a);
    bool path = false;
    r->user = a;
    r->status = 503;
    if (!a || !(a->out = answer_open(&a->answer))) return false;
    a->serve = ctx;
    a->request = r;
    a->serve->requests++;
    a->endpoint = find(r, a->words, &path);
    if (r->not_text || (r->key && strlen(r->key) > SERVE_KEY)) {
        a->endpoint = NULL;
        ask_problem(a, 400,
                    r->not_text ? "the path, the query and the headers must be UTF-8"
                                : "an Idempotency-Key has at most %d bytes",
                    SERVE_KEY);
    } else if (!a->endpoint && path)
        ask_problem(a, 405, "%s is not possible here", r->method);
    else if (!a->endpoint)
        ask_problem(a, 404, "there is nothing of this name; tools/SERVE.md lists the endpoints");
    if (a->endpoint && may(a) && ask_parameters(a)) {
        *most = a->endpoint->most;
        r->status = 200;
        r->type = "application/json";
        return true;
    }
    close_out(a);
    return false;
}

/* ---- a store that refuses -------------------------------------------------------------------- */

/* The writer notices a full disk when a run changes; a server without such a run has only its
 * requests to notice it by. From the first one that is refused on, something small is written each
 * second, until that is possible again. */
struct probe {
    struct desk_job job;
    struct serve *serve;
    mwl_status status;
    char why[300];
    int64_t next_ns;
    bool asked;
};

static void note_refusal(struct serve *s, const char *why) {
    if (!*why == !*s->refused) return;
    snprintf(s->refused, sizeof s->refused, "%s", why);
    if (*why)
        cmd_note("%s; requests are answered with 503, trying again", why);
    else
        cmd_note("the store accepts requests again");
}

static void write_probe(struct desk_job *job, struct desk_tools *t) {
    struct probe *p = (struct probe *)job;
    static const char key[] = "probe/ready";
    p->status = t->store->ops->set_value(t->store, key, NULL, "1");
    if (p->status == MWL_OK || p->status == MWL_E_STATE)
        p->status = t->store->ops->set_value(t->store, key, "1", NULL);
    snprintf(p->why, sizeof p->why, "%s", p->status == MWL_OK ? "" : mwl_store_why(t->store));
}

static void on_probed(struct desk_job *job) {
    struct probe *p = (struct probe *)job;
    p->asked = false;
    if (!job->skipped && p->status == MWL_OK) note_refusal(p->serve, "");
    if (!job->skipped) return;
    p->serve->probe = NULL;
    free(p);
}

static void probe_turn(struct serve *s) {
    int64_t now = (int64_t)uv_hrtime();
    if (!*s->refused || s->closing) return;
    if (!s->probe) {
        s->probe = calloc(1, sizeof *s->probe);
        if (!s->probe) return;
        s->probe->serve = s;
        s->probe->job.work = write_probe;
        s->probe->job.done = on_probed;
        s->probe->next_ns = now + PROBE_NS;
    }
    if (s->probe->asked || now < s->probe->next_ns) return;
    s->probe->asked = true;
    s->probe->next_ns = now + PROBE_NS;
    desk_give(s->desk[SERVE_FIRST], &s->probe->job);
}

static void on_done(struct desk_job *job) {
    struct ask *a = (struct ask *)job;
    struct http_request *r = a->request;
    if (*a->refused) note_refusal(a->serve, a->refused);
    if (a->changed) drive_poll_soon(a->serve->view.drive);
    if (job->skipped || (a->again && a->serve->closing)) {
        a->again = false;
        ask_problem(a, 503, "the server stops");
    }
    if (a->again) {
        list(a);
        return;
    }
    close_out(a);
    if (a->streams && !job->skipped) {
        streams_add(a);
        return;
    }
    http_answer(r);
}

static void on_work(struct desk_job *job, struct desk_tools *t) {
    struct ask *a = (struct ask *)job;
    a->endpoint->work(a, t);
}

static void count(struct serve *s, struct serve_numbers *n) {
    char why[300];
    n->driver = mwl_durable_count(s->view.driver);
    n->runs = mwl_durable_runs(s->view.driver);
    n->queued = mwl_durable_waiting(s->view.driver);
    n->held = mwl_durable_held(s->view.driver);
    n->connections = http_connections(s->http);
    n->streams = streams_count(s);
    for (const struct ask *a = s->waiting; a; a = a->next) n->waiting++;
    for (int i = 0; i < SERVE_DESKS; i++) n->desk += desk_waiting(s->desk[i]);
    n->requests = s->requests;
    n->too_large = s->too_large;
    n->refused = mwl_durable_writer_trouble(s->view.writer, why, sizeof why);
    drive_times(s->view.drive, &n->commit_last_ns, &n->commit_all_ns);
    n->poll_ns = drive_poll_age_ns(s->view.drive);
    n->late_ns = s->late_since ? (int64_t)uv_hrtime() - s->late_since : 0;
}

static void on_complete(void *ctx, struct http_request *r) {
    struct ask *a = r->user;
    struct serve *s = ctx;
    a->job.work = on_work;
    a->job.done = on_done;
    if (a->endpoint->work == api_metrics) count(s, &a->numbers);
    if (s->closing) {
        ask_problem(a, 503, "the server stops");
    } else if (ask_waits(a)) {
        if (a->endpoint->work) {
            give(a);
            return;
        }
        a->endpoint->now(a);
    }
    close_out(a);
    http_answer(r);
}

static void on_over(void *ctx, struct http_request *r) {
    struct ask *a = r->user;
    (void)ctx;
    if (!a) return;
    streams_remove(a);
    unlist(a);
    close_out(a);
    free(a);
    r->user = NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

int serve_open(struct serve *s) {
    const struct serve_options *o = s->options;
    const struct http_handler handler = {s, on_begin, on_complete, on_over};
    const struct http_options how = {o->listen, o->unix_path, o->connections, o->idle_s};
    page_policy(s->policy);
    s->pictures = pictures_new();
    int status = s->pictures ? CMD_OK : cmd_no_memory();
    for (int i = 0; i < SERVE_DESKS && status == CMD_OK; i++)
        status = desk_open(&s->desk[i], s->view.loop, &o->run, threads[i]);
    if (status == CMD_OK) status = streams_open(s);
    if (status == CMD_OK && o->schedule) status = schedule_open(s);
    if (status == CMD_OK) status = keep_open(s);
    if (status == CMD_OK && !http_open(&s->http, s->view.loop, &how, &handler)) status = CMD_USAGE;
    return status;
}

const char *serve_url(const struct serve *s) {
    static const char *const any[] = {"http://0.0.0.0:", "http://[::]:"};
    const char *url = s->options->url ? s->options->url : http_url(s->http);
    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        if (strncmp(url, any[i], strlen(any[i])) == 0) return "";
    return url;
}

/* Since when runs are due that the driver could not claim: the last poll left some, or the store
 * refuses. */
static void look_for_late(struct serve *s) {
    char why[300];
    bool late = mwl_durable_next_wall_ns(s->view.driver) <= store_now() ||
                mwl_durable_writer_trouble(s->view.writer, why, sizeof why) > 0;
    if (!late)
        s->late_since = 0;
    else if (!s->late_since)
        s->late_since = (int64_t)uv_hrtime();
}

void serve_turn(struct serve *s) {
    look_for_late(s);
    streams_turn(s);
    schedule_turn(s);
    keep_turn(s);
    probe_turn(s);
    look(s);
}

void serve_close(struct serve *s) {
    s->closing = true;
    while (s->waiting) { /* answered with 503 by the desk that closes */
        struct ask *a = s->waiting;
        a->last = true;
        give(a);
    }
    for (int i = 0; i < SERVE_DESKS; i++) desk_close(s->desk[i]);
    free(s->probe);
    http_close(s->http);
    streams_close(s);
    schedule_close(s);
    keep_close(s);
    pictures_free(s->pictures);
    s->pictures = NULL;
}
