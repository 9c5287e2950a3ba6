/* store.c: see store.h. */
#include "tools/durable/store.h"

#include "tools/base/cmd.h"
#include "tools/base/interrupt.h"
#include "tools/base/json_out.h"
#include "tools/base/redact.h"
#include "tools/base/term.h"
#include "tools/session/loop.h"
#include "tools/session/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAIT_NS = 200000000 }; /* between two tries to reach a database */

int store_exit(mwl_status status) {
    switch (status) {
    case MWL_E_REFUSED:
    case MWL_E_NOMEM: return CMD_LIMIT;
    case MWL_E_SNAPSHOT:
    case MWL_E_VERSION: return CMD_REJECTED;
    case MWL_E_DUPLICATE:
    case MWL_E_STATE: return CMD_FAILED;
    default: return CMD_USAGE;
    }
}

int store_fail(const mwl_store *s, mwl_status status) {
    cmd_fail("%s", s ? mwl_store_why(s) : mwl_status_text(status));
    return store_exit(status);
}

bool store_is_shared(const char *path) {
    return strncmp(path, "postgresql://", 13) == 0 || strncmp(path, "postgres://", 11) == 0;
}

const char *store_shown(const char *path) { return store_is_shared(path) ? "the store" : path; }

static int opened(mwl_status status, mwl_store **out) {
    if (status == MWL_OK) store_clock_set(*out);
    if (status == MWL_OK) return CMD_OK;
    int answer = store_fail(*out, status);
    mwl_store_close(*out);
    *out = NULL;
    return answer;
}

int store_open(const char *path, bool create, mwl_store **out) {
    return opened(store_is_shared(path) ? mwl_store_postgres(path, create, 0, out)
                                        : mwl_store_sqlite(path, create, out),
                  out);
}

/* A name or a right that is wrong does not become right by waiting. */
static bool may_come(mwl_status status, const mwl_store *s) {
    const char *why = s ? mwl_store_why(s) : "";
    return status == MWL_E_IO && !strstr(why, "does not exist") && !strstr(why, "authentication") &&
           !strstr(why, "invalid");
}

int store_open_shared(const char *url, int64_t lease_ns, mwl_store **out) {
    bool said = false;
    mwl_status status = mwl_store_postgres(url, true, lease_ns, out);
    while (may_come(status, *out) && interrupt_requests() == 0) {
        if (!said) cmd_note("%s; waiting for the database", mwl_store_why(*out));
        said = true;
        mwl_store_close(*out);
        *out = NULL;
        nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
        status = mwl_store_postgres(url, true, lease_ns, out);
    }
    if (status == MWL_OK && said) cmd_note("the database is there");
    return opened(status, out);
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* What to add to the monotonic clock; 0: the stores have no clock of their own. */
static _Atomic int64_t clock_base_ns;

void store_clock_set(const mwl_store *s) {
    int64_t base_ns = mwl_store_clock(s);
    if (base_ns) clock_base_ns = base_ns;
}

static void read_clock(void *ctx, mwl_instant *out) {
    const mwl_clock clock = session_clock();
    (void)ctx;
    clock.read(clock.ctx, out);
    int64_t base_ns = clock_base_ns;
    if (base_ns) out->wall_ns = out->mono_ns + base_ns;
}

mwl_clock store_clock(void) {
    mwl_clock clock = {read_clock, NULL};
    return clock;
}

int64_t store_now(void) {
    mwl_instant now;
    read_clock(NULL, &now);
    return now.wall_ns;
}

int64_t store_clock_offset(void) {
    mwl_instant here, there;
    const mwl_clock clock = session_clock();
    read_clock(NULL, &there);
    clock.read(clock.ctx, &here);
    return there.wall_ns - here.wall_ns + here.mono_ns - there.mono_ns;
}

int store_keep_read(const char *done, const char *failed, mwl_durable_keep *out) {
    int status = option_duration("--keep", done ? done : "P7D", 0, &out->done_ns);
    if (status != CMD_OK) return status;
    return option_duration("--keep-failed", failed ? failed : "P30D", 0, &out->failed_ns);
}

struct listing {
    bool (*see)(void *ctx, const mwl_store_row *row);
    void *ctx;
    const char *shown;
};

static bool see_hidden(void *ctx, const mwl_store_row *row) {
    const struct listing *l = ctx;
    mwl_store_row open = *row;
    mwl_store_bytes parts;
    mwl_status status = mwl_store_bytes_read(row->bytes, row->size, &parts);
    if (status == MWL_OK) status = redact_load(l->shown, parts.secrets.at, parts.secrets.len);
    open.bytes = parts.snapshot;
    open.size = parts.size;
    if (status != MWL_OK) {
        open.bytes = NULL;
        open.start = (mwl_store_text){NULL, 0};
        if (row->state < MWL_STORE_ABORTED) open.result = open.start; /* no reason: a Result */
    }
    return l->see(l->ctx, &open);
}

bool store_row_hidden(const mwl_store_row *row) { return row->start.at != NULL; }

mwl_status store_list(mwl_store *s, const char *shown, const mwl_store_query *query,
                      bool (*see)(void *ctx, const mwl_store_row *row), void *ctx) {
    struct listing l = {see, ctx, shown};
    return s->ops->list(s, query, see_hidden, &l);
}

/* They come in the order of their runs. */
void store_runs_add(struct store_runs *r, const char *run) {
    if (r->n && strcmp(r->ids[r->n - 1], run) == 0) return;
    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 16;
        char **grown = realloc(r->ids, cap * sizeof(char *));
        r->failed |= !grown;
        if (!grown) return;
        r->ids = grown;
        r->cap = cap;
    }
    r->ids[r->n] = strdup(run);
    if (r->ids[r->n])
        r->n++;
    else
        r->failed = true;
}

bool store_runs_has(struct store_runs *r, const char *run) {
    size_t i = r->at;
    while (i < r->n && strcmp(r->ids[i], run) != 0) i++;
    if (i < r->n) r->at = i;
    return i < r->n;
}

static bool see_whether(void *ctx, const mwl_store_row *row) {
    *(bool *)ctx = store_row_hidden(row);
    return false;
}

mwl_status store_runs_hide(mwl_store *s, const char *shown, struct store_runs *r) {
    mwl_status status = r->failed ? MWL_E_NOMEM : MWL_OK;
    for (size_t i = 0; i < r->n && status == MWL_OK; i++) {
        const mwl_store_query query = {.id = r->ids[i], .snapshots = true};
        bool hidden = false;
        status = store_list(s, shown, &query, see_whether, &hidden);
        if (!hidden) *r->ids[i] = '\0';
    }
    return status;
}

void store_runs_free(struct store_runs *r) {
    for (size_t i = 0; i < r->n; i++) free(r->ids[i]);
    free(r->ids);
}

static bool see_seq(void *ctx, const mwl_store_row *row) {
    *(int64_t *)ctx = row->seq;
    return false;
}

int64_t store_find(mwl_store *s, const char *run, int *status) {
    const mwl_store_query query = {.id = run};
    int64_t seq = 0;
    mwl_status got = s->ops->list(s, &query, see_seq, &seq);
    *status = CMD_OK;
    if (got != MWL_OK)
        *status = store_fail(s, got);
    else if (!seq)
        *status = cmd_fail("there is no run '%s'", run);
    return seq;
}

const char *store_time(int64_t wall_ns, char out[STORE_TIME]) {
    time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm tm;
    *out = '\0';
    if (wall_ns && wall_ns != MWL_NEVER && gmtime_r(&seconds, &tm))
        strftime(out, STORE_TIME, "%Y-%m-%d %H:%M:%S", &tm);
    return out;
}

char *store_event_text(const mwl_store_event *e, const char **flow) {
    char *text = e->text.at ? malloc(e->text.len + 1) : NULL;
    *flow = NULL;
    if (!text) return NULL;
    memcpy(text, e->text.at, e->text.len);
    text[e->text.len] = '\0';
    char *end = strcmp(e->kind, "step") == 0 ? strrchr(text, '\n') : NULL;
    if (end) {
        *end = '\0';
        *flow = end + 1;
    }
    return text;
}

void store_put_text(const char *name, const char *text, bool first) {
    size_t len = 0;
    char *hidden = redact_text(text, strlen(text), &len);
    printf("%s\"%s\":", first ? "" : ",", name);
    json_out_text(stdout, hidden ? hidden : text);
    free(hidden);
}

void store_put_json(const char *name, mwl_store_text json) {
    if (!json.at) return;
    char *hidden = redact_json_text(json.at, json.len, &json.len);
    printf(",\"%s\":", name);
    fwrite(hidden ? hidden : json.at, 1, json.len, stdout);
    free(hidden);
}

void store_put_time(const char *name, int64_t wall_ns) {
    char text[STORE_TIME];
    if (!*store_time(wall_ns, text)) return;
    text[10] = 'T';
    printf(",\"%s\":\"%s.%03dZ\"", name, text, (int)(wall_ns / 1000000 % 1000));
}

const struct option store_options[STORE_OPTIONS] = {
    STORE_OPTION(offsetof(struct store_line, path), "the store of the runs: " STORE_WHERE),
    {"--json", OPTION_FLAG, offsetof(struct store_line, json), "", "a JSON object on each line",
     NULL},
};

int store_operand(void *ctx, const char *word) {
    struct store_line *l = ctx;
    if (l->n_words == l->most) return cmd_usage("one word too many: '%s'", word);
    l->words[l->n_words++] = word;
    return CMD_OK;
}

int store_line_check(const struct store_line *l, size_t least, const char *const *names) {
    if (!l->path) return cmd_usage("--store FILE|URL says where the runs are");
    if (l->n_words < least) return cmd_usage("%s is missing", names[l->n_words]);
    return CMD_OK;
}
