/* postgres_ask.c: what everybody asks a store on PostgreSQL for: programs, runs, lists, retention.
 * Lists are read in pages, so that neither side holds all of a large store. */
#include "stdlib/durable/postgres_impl.h"

#include <string.h>

enum { PAGE = 500, PAGE_OF_SNAPSHOTS = 50 };
#define TOUCH_NS INT64_C(3600000000000)

/* ---- programs -------------------------------------------------------------------------------- */

/* One that is used again is young again: prune removes old ones that no run names, and the run that
 * this is for is not there yet. */
mwl_status mwl__pg_put_program(mwl_store *base, const uint8_t *id, const char *name,
                               const void *image, size_t size, int64_t now_wall_ns) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    for (int tries = 0; tries < 2; tries++) {
        PGresult *r = NULL;
        mwl_status status =
            mwl__pg_run(s, &r, MWL__PG_PROGRAM_SAME, "bb", id, (size_t)16, image, size);
        if (status != MWL_OK) return status;
        bool there = mwl__pg_rows(s, r) > 0;
        bool same = there && mwl__pg_int(s, r, 0, 0);
        bool old = there && mwl__pg_int(s, r, 0, 1) < now_wall_ns - TOUCH_NS;
        mwl__pg_clear(s, r);
        if (there && !same)
            return mwl__pg_refuse(s, MWL_E_DUPLICATE, "another program has the same id");
        if (there && !old) return MWL_OK;
        if (there)
            return mwl__pg_run(s, NULL, MWL__PG_PROGRAM_TOUCH, "bi", id, (size_t)16, now_wall_ns);
        status = mwl__pg_run(s, NULL, MWL__PG_PROGRAM_PUT, "bbti", id, (size_t)16, image, size,
                             name, now_wall_ns);
        if (status != MWL_OK) return status;
    }
    return MWL_OK;
}

mwl_status mwl__pg_get_program(mwl_store *base, const uint8_t *id,
                               void (*see)(void *ctx, const char *name, const void *image,
                                           size_t size),
                               void *ctx) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    PGresult *r = NULL;
    size_t size;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_PROGRAM_GET, "b", id, (size_t)16);
    if (status != MWL_OK) return status;
    if (mwl__pg_rows(s, r) == 0) {
        status = mwl__pg_refuse(s, MWL_E_NOT_FOUND, "the store does not have the program");
    } else {
        const void *image = mwl__pg_blob(s, r, 0, 1, &size);
        see(ctx, mwl__pg_word(s, r, 0, 0), image, size);
    }
    mwl__pg_clear(s, r);
    return status;
}

/* ---- runs ------------------------------------------------------------------------------------ */

struct starts {
    mwl__pg_array id, program, name, start, now;
};

static void make_starts(struct starts *a, const mwl_store_start *starts, size_t n) {
    memset(a, 0, sizeof *a);
    a->id.type = a->name.type = a->start.type = MWL__PG_TEXT;
    a->program.type = MWL__PG_BYTEA;
    a->now.type = MWL__PG_INT8;
    for (size_t i = 0; i < n; i++) {
        mwl__pg_array_bytes(&a->id, starts[i].id, strlen(starts[i].id));
        mwl__pg_array_bytes(&a->program, starts[i].program, 16);
        mwl__pg_array_bytes(&a->name, starts[i].name, strlen(starts[i].name));
        mwl__pg_array_bytes(&a->start, starts[i].start.at, starts[i].start.len);
        mwl__pg_array_int(&a->now, starts[i].now_wall_ns);
    }
}

/* A start that is there already has to be the same. */
static mwl_status put_starts(mwl__pg_store *s, const struct starts *a, size_t n, size_t *which) {
    PGresult *r = NULL;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_RUNS_PUT, "aaaaa", &a->id, &a->program, &a->name,
                                    &a->start, &a->now);
    if (status != MWL_OK) return status;
    bool all = (size_t)mwl__pg_rows(s, r) == n;
    mwl__pg_clear(s, r);
    if (all) return MWL_OK;
    r = NULL;
    status = mwl__pg_run(s, &r, MWL__PG_RUNS_OTHER, "aaa", &a->id, &a->program, &a->start);
    if (status != MWL_OK) return status;
    if (mwl__pg_rows(s, r) > 0) {
        *which = (size_t)mwl__pg_int(s, r, 0, 0) - 1;
        status = MWL_E_DUPLICATE;
    }
    mwl__pg_clear(s, r);
    return status;
}

mwl_status mwl__pg_start_all(mwl_store *base, const mwl_store_start *starts, size_t n,
                             size_t *which) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    struct starts a;
    *which = 0;
    mwl_status status = n > 1 ? mwl__pg_run(s, NULL, MWL__PG_BEGIN, "") : MWL_OK;
    if (status != MWL_OK || n == 0) return status;
    make_starts(&a, starts, n);
    status = put_starts(s, &a, n, which);
    if (n > 1) status = mwl__pg_finish(s, status);
    mwl__pg_array *all[] = {&a.id, &a.program, &a.name, &a.start, &a.now};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mwl__pg_array_free(all[i]);
    if (status != MWL_E_DUPLICATE) return status;
    return mwl__pg_refuse(s, status, "there is a run '%s' already", starts[*which].id);
}

mwl_status mwl__pg_start(mwl_store *base, const mwl_store_start *start) {
    size_t which;
    return mwl__pg_start_all(base, start, 1, &which);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void read_row(const mwl__pg_store *s, const PGresult *r, int i, mwl_store_row *row) {
    size_t size;
    const void *program = mwl__pg_blob(s, r, i, 3, &size);
    memset(row, 0, sizeof *row);
    if (program && size == sizeof row->program) memcpy(row->program, program, size);
    row->seq = mwl__pg_int(s, r, i, 0);
    row->id = mwl__pg_word(s, r, i, 1);
    row->name = mwl__pg_word(s, r, i, 2);
    row->state = (mwl_store_state)mwl__pg_int(s, r, i, 4);
    row->due_wall_ns = row->state == MWL_STORE_STORED ? mwl__pg_int(s, r, i, 5) : MWL_NEVER;
    row->created_wall_ns = mwl__pg_int(s, r, i, 6);
    row->updated_wall_ns = mwl__pg_int(s, r, i, 7);
    row->ended_wall_ns = mwl__pg_int(s, r, i, 8);
    row->version = (uint64_t)mwl__pg_int(s, r, i, 9);
    row->recoveries = (uint32_t)mwl__pg_int(s, r, i, 10);
    row->start = mwl__pg_text_at(s, r, i, 11);
    row->result = mwl__pg_text_at(s, r, i, 12);
    row->n_waits = (size_t)mwl__pg_int(s, r, i, 13);
    row->n_messages = (size_t)mwl__pg_int(s, r, i, 14);
    row->bytes = mwl__pg_blob(s, r, i, 15, &row->size);
}

static mwl_status list_page(mwl__pg_store *s, const mwl_store_query *q, int64_t after, size_t page,
                            PGresult **r) {
    const int64_t snapshots = q->snapshots, states = q->states, n = (int64_t)page;
    if (q->id)
        return mwl__pg_run(s, r, MWL__PG_LIST_ONE, "iititi", snapshots, states, q->name, after,
                           q->id, n);
    return mwl__pg_run(s, r, q->newest ? MWL__PG_LIST_NEWEST : MWL__PG_LIST, "iitii", snapshots,
                       states, q->name, after, n);
}

mwl_status mwl__pg_list(mwl_store *base, const mwl_store_query *query,
                        bool (*see)(void *ctx, const mwl_store_row *row), void *ctx) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    const size_t most = query->snapshots ? PAGE_OF_SNAPSHOTS : PAGE;
    size_t left = query->limit ? query->limit : SIZE_MAX;
    int64_t after = query->after;
    bool more = true;
    while (more && left) {
        PGresult *r = NULL;
        size_t page = left < most ? left : most;
        mwl_status status = list_page(s, query, after, page, &r);
        if (status != MWL_OK) return status;
        int n = mwl__pg_rows(s, r);
        more = (size_t)n == page && !query->id;
        left -= (size_t)n;
        for (int i = 0; i < n; i++) {
            mwl_store_row row;
            read_row(s, r, i, &row);
            after = row.seq;
            if (see(ctx, &row)) continue;
            more = false;
            break;
        }
        mwl__pg_clear(s, r);
    }
    return MWL_OK;
}

mwl_status mwl__pg_waits(mwl_store *base, int64_t seq,
                         bool (*see)(void *ctx, const char *run, const mwl_store_wait *wait),
                         void *ctx) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    int64_t run = 0, number = -1;
    bool more = true;
    while (more) {
        PGresult *r = NULL;
        mwl_status status =
            mwl__pg_run(s, &r, MWL__PG_WAITS, "iiii", seq, run, number, (int64_t)PAGE);
        if (status != MWL_OK) return status;
        int n = mwl__pg_rows(s, r);
        more = n == PAGE;
        for (int i = 0; i < n; i++) {
            const mwl_store_wait wait = {.number = (uint64_t)mwl__pg_int(s, r, i, 1),
                                         .name = mwl__pg_word(s, r, i, 2),
                                         .since_wall_ns = mwl__pg_int(s, r, i, 3),
                                         .question = mwl__pg_text_at(s, r, i, 4),
                                         .provider = mwl__pg_word(s, r, i, 6)};
            number = (int64_t)wait.number;
            run = mwl__pg_int(s, r, i, 5);
            if (see(ctx, mwl__pg_word(s, r, i, 0), &wait)) continue;
            more = false;
            break;
        }
        mwl__pg_clear(s, r);
    }
    return MWL_OK;
}

/* Numbers are given when an event is written, and seen when its transaction is committed: for a
 * short time a number may be missing that comes later. The list ends before such a gap if it is
 * young, so that who goes on behind the last number misses nothing. Of one run they are in order:
 * its row is locked meanwhile. */
mwl_status mwl__pg_events(mwl_store *base, int64_t seq, uint64_t after,
                          bool (*see)(void *ctx, uint64_t n, const char *run,
                                      const mwl_store_event *event),
                          void *ctx) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    bool more = true;
    while (more) {
        PGresult *r = NULL;
        mwl_status status =
            seq ? mwl__pg_run(s, &r, MWL__PG_EVENTS_OF, "iii", (int64_t)after, (int64_t)PAGE, seq)
                : mwl__pg_run(s, &r, MWL__PG_EVENTS, "ii", (int64_t)after, (int64_t)PAGE);
        if (status != MWL_OK) return status;
        int n = mwl__pg_rows(s, r);
        more = n == PAGE;
        for (int i = 0; i < n; i++) {
            const mwl_store_event event = {.at_wall_ns = mwl__pg_int(s, r, i, 2),
                                           .kind = mwl__pg_word(s, r, i, 3),
                                           .text = mwl__pg_text_at(s, r, i, 4)};
            uint64_t number = (uint64_t)mwl__pg_int(s, r, i, 0);
            bool gap = number != after + 1 && mwl__pg_int(s, r, i, 5);
            after = number;
            if (!gap && see(ctx, number, mwl__pg_word(s, r, i, 1), &event)) continue;
            more = false;
            break;
        }
        mwl__pg_clear(s, r);
    }
    return MWL_OK;
}

/* ---- retention and backup -------------------------------------------------------------------- */

mwl_status mwl__pg_prune(mwl_store *base, const mwl_store_keep *keep, size_t *removed) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    PGresult *r = NULL;
    *removed = 0;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_PRUNE, "iii", keep->done_before_wall_ns,
                                    keep->failed_before_wall_ns, (int64_t)keep->most);
    if (status != MWL_OK) return status;
    *removed = (size_t)mwl__pg_rows(s, r);
    mwl__pg_clear(s, r);
    if (*removed == keep->most) return MWL_OK;
    return mwl__pg_run(s, NULL, MWL__PG_PROGRAM_DROP, "i",
                       keep->done_before_wall_ns - 2 * TOUCH_NS);
}

mwl_status mwl__pg_backup(mwl_store *base, const char *path) {
    (void)path;
    return mwl__pg_refuse((mwl__pg_store *)base, MWL_E_UNSUPPORTED,
                          "a store on PostgreSQL is copied with pg_dump, schema mwlvm");
}
