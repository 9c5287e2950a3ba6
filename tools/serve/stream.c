/* stream.c: events as server-sent events, from the store: so a listener never sees what a crash
 * takes back, and `Last-Event-ID` goes on without a gap.
 *
 * A stream that is behind reads its own events; one that has caught up gets what the tail reads, so
 * that a thousand listeners cost one query. The tail is read only while someone listens or waits.
 */
#include "tools/serve/serve.h"

#include "tools/base/cmd.h"
#include "tools/durable/store.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 500, POLL_NS = 200000000 };
#define BEAT_NS INT64_C(15000000000) /* a comment, so that a lost client is noticed */

struct piece { /* one event, as it is sent */
    uint64_t n;
    char *run, *kind, *body; /* one allocation */
    char *text;
    size_t len;
};

struct stream {
    struct desk_job job;
    struct ask *ask; /* NULL: the client has gone */
    struct streams *all;
    int64_t seq;
    uint64_t last;
    uint64_t with;   /* what the tail had read when this one was read; 0: nothing */
    bool busy, live; /* live: it gets what the tail reads */
    struct piece pieces[PIECE];
    size_t n;
    mwl_status status;
    struct stream *next, *prev;
};

struct streams {
    struct serve *serve;
    struct stream *list, tail; /* the tail is a stream of everything, without a client */
    size_t n;
    bool known;    /* tail.last is the end of what there was when the tail began */
    uint64_t read; /* by the tail; of the desk's thread */
    uint64_t commits;
    int64_t next_ns, beat_ns;
};

/* ---- on the desk's thread -------------------------------------------------------------------- */

static bool see_one(void *ctx, uint64_t n, const char *run, const mwl_store_event *e) {
    (void)run, (void)e;
    *(uint64_t *)ctx = n;
    return false;
}

/* By halves: a store finds the first event behind a number without counting. */
mwl_status streams_last(mwl_store *s, uint64_t *out) {
    uint64_t low = 0, high = UINT64_C(1) << 62; /* low: there is one, or 0; high: there is none */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2, found = 0;
        mwl_status status = s->ops->events(s, 0, middle - 1, see_one, &found);
        if (status != MWL_OK) return status;
        if (found)
            low = found;
        else
            high = middle;
    }
    *out = low;
    return MWL_OK;
}

static void put_event(FILE *to, uint64_t n, const char *run, const mwl_store_event *e) {
    const char *flow;
    char *text = store_event_text(e, &flow);
    fprintf(to, "id: %llu\nevent: %s\ndata: {\"n\":%llu", (unsigned long long)n, e->kind,
            (unsigned long long)n);
    put_text(to, "run", run, false);
    put_time(to, "at", e->at_wall_ns);
    put_text(to, "kind", e->kind, false);
    if (text) put_text(to, "text", text, false);
    if (flow) put_text(to, "flow", flow, false);
    fputs("}\n\n", to);
    free(text);
}

static bool see_event(void *ctx, uint64_t n, const char *run, const mwl_store_event *e) {
    struct stream *s = ctx;
    struct piece *p = &s->pieces[s->n];
    FILE *to = open_memstream(&p->text, &p->len);
    size_t run_len = strlen(run) + 1, kind_len = strlen(e->kind) + 1;
    p->run = malloc(run_len + kind_len + e->text.len + 1);
    if (to) put_event(to, n, run, e);
    if (!to || fclose(to) != 0 || !p->run) { /* out of memory: it is read again */
        free(p->text);
        free(p->run);
        memset(p, 0, sizeof *p);
        s->status = MWL_E_NOMEM;
        return false;
    }
    p->n = n;
    memcpy(p->run, run, run_len);
    p->kind = memcpy(p->run + run_len, e->kind, kind_len);
    p->body = p->kind + kind_len;
    if (e->text.len) memcpy(p->body, e->text.at, e->text.len);
    p->body[e->text.len] = '\0';
    return ++s->n < PIECE;
}

static void on_work(struct desk_job *job, struct desk_tools *t) {
    struct stream *s = (struct stream *)job;
    s->n = 0;
    s->status = MWL_OK;
    s->with = s->all->read;
    mwl_status got = s == &s->all->tail && !s->all->known
                         ? streams_last(t->store, &s->last)
                         : t->store->ops->events(t->store, s->seq, s->last, see_event, s);
    if (got != MWL_OK) s->status = got; /* else see_event's: the store does not know it */
    if (s == &s->all->tail && s->status == MWL_OK)
        s->all->read = s->n ? s->pieces[s->n - 1].n : s->last;
}

/* ---- on the loop's thread -------------------------------------------------------------------- */

static void read_more(struct stream *s) {
    if (s->busy || s->all->serve->closing) return;
    s->busy = true;
    desk_give(s->all->serve->desk[SERVE_FIRST], &s->job);
}

static void drop_pieces(struct stream *s) {
    for (size_t i = 0; i < s->n; i++) {
        free(s->pieces[i].run);
        free(s->pieces[i].text);
    }
    s->n = 0;
}

static void on_done(struct desk_job *job) {
    struct stream *s = (struct stream *)job;
    bool full = s->n == PIECE;
    s->busy = false;
    if (s->ask && !job->skipped) {
        for (size_t i = 0; i < s->n; i++) {
            s->last = s->pieces[i].n;
            if (!http_stream_put(s->ask->request, s->pieces[i].text, s->pieces[i].len)) break;
        }
        /* jobs end in their order: the tail has shown nothing beyond `with` yet */
        s->live = s->status == MWL_OK && !full && s->all->known && s->with;
        if (s->live && s->with > s->last) s->last = s->with;
    }
    drop_pieces(s);
    if (!s->ask) {
        free(s);
        return;
    }
    if (full) read_more(s);
}

static bool wants(const struct stream *s, const struct piece *p) {
    return s->live && p->n > s->last && (!s->seq || strcmp(s->ask->words[0], p->run) == 0);
}

static void on_tail(struct desk_job *job) {
    struct stream *tail = (struct stream *)job;
    struct streams *all = tail->all;
    bool full = tail->n == PIECE, began = !all->known && tail->status == MWL_OK && !job->skipped;
    tail->busy = false;
    all->known |= began;
    for (size_t i = 0; i < tail->n; i++) {
        const struct piece *p = &tail->pieces[i];
        tail->last = p->n;
        serve_event(all->serve, p->run, p->kind, p->body);
        for (struct stream *s = all->list; s; s = s->next)
            if (wants(s, p)) http_stream_put(s->ask->request, p->text, p->len);
    }
    for (struct stream *s = all->list; s; s = s->next) {
        if (s->live && tail->last > s->last) s->last = tail->last;
        if (!s->live && !s->busy) read_more(s);
    }
    drop_pieces(tail);
    if (began) /* what came between their question and the first reading of the tail */
        for (struct ask *a = all->serve->waiting; a; a = a->next) a->look_ns = 0;
    if (full) read_more(tail);
}

void streams_add(struct ask *a) {
    struct streams *all = a->serve->streams;
    struct stream *s = calloc(1, sizeof *s);
    free(a->request->out);
    a->request->out = NULL;
    a->request->out_len = 0;
    a->request->type = "text/event-stream";
    http_stream_begin(a->request);
    if (!s) {
        http_stream_end(a->request);
        return;
    }
    a->stream = s;
    s->job.work = on_work;
    s->job.done = on_done;
    s->ask = a;
    s->all = all;
    s->seq = a->seq;
    s->last = a->after;
    s->next = all->list;
    if (s->next) s->next->prev = s;
    all->list = s;
    all->n++;
    (void)http_stream_put(a->request, ": events\n\n", 10);
    all->next_ns = 0;
    read_more(s);
}

void streams_remove(struct ask *a) {
    struct stream *s = a->stream;
    if (!s) return;
    a->stream = NULL;
    s->ask = NULL;
    if (s->prev)
        s->prev->next = s->next;
    else
        s->all->list = s->next;
    if (s->next) s->next->prev = s->prev;
    s->all->n--;
    if (!s->busy) free(s);
}

size_t streams_count(const struct serve *s) { return s->streams->n; }

void streams_turn(struct serve *serve) {
    struct streams *all = serve->streams;
    int64_t now = (int64_t)uv_hrtime();
    uint64_t commits = mwl_durable_count(serve->view.driver).commits;
    if (!all->list && !serve->waiting) {
        if (!all->tail.busy) all->known = false;
        return;
    }
    if (!all->tail.busy && (commits != all->commits || now >= all->next_ns)) {
        all->commits = commits;
        all->next_ns = now + POLL_NS;
        read_more(&all->tail);
    }
    if (now < all->beat_ns) return;
    all->beat_ns = now + BEAT_NS;
    for (struct stream *s = all->list; s; s = s->next)
        (void)http_stream_put(s->ask->request, ":\n\n", 3);
}

int streams_open(struct serve *serve) {
    struct streams *all = calloc(1, sizeof *all);
    serve->streams = all;
    if (!all) return cmd_no_memory();
    all->serve = serve;
    all->tail.all = all;
    all->tail.job.work = on_work;
    all->tail.job.done = on_tail;
    return CMD_OK;
}

void streams_close(struct serve *serve) {
    free(serve->streams);
    serve->streams = NULL;
}
