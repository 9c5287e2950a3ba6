/* api_links.c: links for people without a token: a link answers one wait, once, until its time is
 * over. It is signed with a secret of the store, so every server of the store accepts it. On the
 * desk's thread. */
#include "tools/serve/serve.h"

#include "tools/base/redact.h"
#include "tools/durable/fits.h"
#include "tools/durable/store.h"
#include "tools/serve/endpoints.h"
#include "tools/serve/sha256.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define SECRET "serve/secret"
enum { YEAR_S = 366 * 24 * 3600 };

/* ---- the secret ------------------------------------------------------------------------------ */

static bool see_secret(void *ctx, const char *key, const char *value) {
    if (strcmp(key, SECRET) == 0) snprintf(ctx, AUTH_TOKEN, "%s", value);
    return true;
}

/* Made when it is first needed. Two servers may do that at once: the first one counts. */
mwl_status link_secret(mwl_store *store, char out[AUTH_TOKEN]) {
    char made[AUTH_TOKEN];
    *out = '\0';
    mwl_status status = store->ops->values(store, SECRET, see_secret, out);
    if (status != MWL_OK || *out) return status;
    if (!auth_random(made)) return MWL_E_IO;
    status = store->ops->set_value(store, SECRET, NULL, made);
    if (status != MWL_OK && status != MWL_E_STATE) return status;
    return store->ops->values(store, SECRET, see_secret, out);
}

/* ---- a wait ---------------------------------------------------------------------------------- */

struct wanted {
    uint64_t number;
    int64_t seq;
    char *name, *question; /* malloc */
    bool over;
};

static bool see_seq(void *ctx, const mwl_store_row *row) {
    if (store_row_hidden(row)) ((struct wanted *)ctx)->seq = row->seq;
    return false;
}

static bool see_wait(void *ctx, const char *run, const mwl_store_wait *wait) {
    struct wanted *w = ctx;
    (void)run;
    if (wait->number != w->number || (wait->provider && *wait->provider)) return true;
    w->name = strdup(wait->name);
    w->question = strndup(wait->question.at ? wait->question.at : "{}", wait->question.len);
    return false;
}

static void forget(struct wanted *w) {
    free(w->name);
    free(w->question);
}

/* False after a problem. forget() in any case. */
static bool find(struct ask *a, struct desk_tools *t, const char *run, const char *number,
                 struct wanted *w) {
    const mwl_store_query query = {.id = run, .snapshots = true};
    w->number = strtoull(number, NULL, 10);
    mwl_status status = desk_list(t, &query, see_seq, w);
    if (status == MWL_OK && w->seq) status = t->store->ops->waits(t->store, w->seq, see_wait, w);
    size_t len = w->question ? strlen(w->question) : 0;
    char *hidden = w->question ? redact_json_text(w->question, len, &len) : NULL;
    if (hidden) {
        free(w->question);
        w->question = hidden;
    }
    if (status != MWL_OK)
        ask_refused(a, t, status);
    else if (!w->seq)
        ask_problem(a, 404, "there is no run '%s'", run);
    else if (!w->name || !w->question)
        ask_problem(a, 410, "this question is not open any more");
    return status == MWL_OK && w->name && w->question;
}

/* A number as a link has it: digits, and no zero before them. False: it is written otherwise. */
static bool read_number(const char *word, uint64_t *out) {
    size_t len = strlen(word);
    *out = strtoull(word, NULL, 10);
    return len > 0 && len <= 18 && strspn(word, "0123456789") == len && *word != '0';
}

/* ---- making ---------------------------------------------------------------------------------- */

static void put_escaped(FILE *to, const char *text) {
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     strchr("-._~", c);
        fprintf(to, plain ? "%c" : "%%%02X", c);
    }
}

void api_link(struct ask *a, struct desk_tools *t) {
    struct wanted w = {0, 0, NULL, NULL, false};
    const char *run = a->words[0];
    char mac[AUTH_MAC];
    double s = SERVE_LINK_S;
    if (!ask_seconds(a, "valid", &s)) return;
    if (!(s >= 1 && s <= YEAR_S)) {
        ask_problem(a, 400, "`valid` is a number of seconds, up to a year");
    } else if (strlen(run) > STORE_ID) {
        ask_problem(a, 400, "the id of the run is too long for a link");
    } else if (find(a, t, run, a->words[1], &w)) {
        uint64_t until = (uint64_t)(store_now() / SECOND) + (uint64_t)s;
        auth_sign(a->serve->secret, run, w.number, until, mac);
        fprintf(a->out, "{\"link\":\"%s/a/", serve_url(a->serve));
        put_escaped(a->out, run);
        fprintf(a->out, "/%llu/%llu/%s\"", (unsigned long long)w.number, (unsigned long long)until,
                mac);
        put_time(a->out, "until", (int64_t)until * SECOND);
        fputs("}\n", a->out);
    }
    forget(&w);
}

/* ---- using ----------------------------------------------------------------------------------- */

bool link_is_signed(struct ask *a) {
    char mac[AUTH_MAC];
    const char *run = a->words[0];
    uint64_t number, until;
    bool whole = strlen(run) <= STORE_ID && read_number(a->words[1], &number) &&
                 read_number(a->words[2], &until) && strlen(a->words[3]) == AUTH_MAC - 1;
    if (whole) auth_sign(a->serve->secret, run, number, until, mac);
    if (!whole || !sha256_same(mac, a->words[3], AUTH_MAC - 1))
        ask_problem(a, 403, "this link is not valid");
    else if ((int64_t)until < store_now() / SECOND)
        ask_problem(a, 410, "the time of this link is over");
    else
        return true;
    return false;
}

/* A browser gets the page, which then asks for JSON. */
void api_link_show(struct ask *a, struct desk_tools *t) {
    struct wanted w = {0, 0, NULL, NULL, false};
    const char *accept = a->request->accept;
    if (!accept || !strstr(accept, "application/json")) {
        api_page(a);
        return;
    }
    if (link_is_signed(a) && find(a, t, a->words[0], a->words[1], &w)) {
        putc('{', a->out);
        put_text(a->out, "run", a->words[0], true);
        put_text(a->out, "name", w.name, false);
        put_json(a->out, "question", (mwl_store_text){w.question, strlen(w.question)});
        fputs("}\n", a->out);
    }
    forget(&w);
}

void api_link_answer(struct ask *a, struct desk_tools *t) {
    struct wanted w = {0, 0, NULL, NULL, false};
    mwl_value body = mwl_absent();
    char why[400] = "", key[40];
    bool good = true;
    if (!ask_body(a, t, &body)) return; /* that the link is signed was asked before the body came */
    if (find(a, t, a->words[0], a->words[1], &w) && ask_names_wait(a, a->words[0], w.name)) {
        snprintf(key, sizeof key, "link %llu", (unsigned long long)w.number);
        const mwl_store_message m = {.run = a->words[0],
                                     .kind = MWL_STORE_ANSWER,
                                     .name = w.name,
                                     .key = key,
                                     .body = {a->request->body, a->request->len},
                                     .now_wall_ns = store_now()};
        mwl_status status =
            fits_wait(t->store, t->heap, m.run, m.name, body, &good, why, sizeof why);
        a->request->status = 204;
        if (status == MWL_OK && good) status = t->store->ops->post(t->store, &m);
        a->changed = status == MWL_OK && good;
        if (status != MWL_OK)
            ask_refused(a, t, status);
        else if (!good)
            ask_problem(a, 422, "%s", why);
    }
    forget(&w);
    mwl_value_drop(t->heap, body);
}
