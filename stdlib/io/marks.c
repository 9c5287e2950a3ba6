/* marks.c: whose the secrets of a set are, and what one has marked as JSON text.
 *
 * A text or a path stays as long as a run has it that marked it, or the host. A run has each of its
 * marks once: they are in a list, and found by a table of their places in it. */
#include "stdlib/io/io.h"
#include "stdlib/io/secret.h"

#include <stdint.h>

enum { LEAST = 256 }; /* bytes that a mark counts for at least */

typedef struct owner {
    mwl__keyed_row row;
    mwl__secret_mark **list; /* in the order in which they were marked */
    uint32_t *places;        /* in the list, from 1 on; 0: free. By the address of the mark */
    size_t n, cap;           /* there are twice as many places as the list has room */
    size_t bytes;
} owner;

static owner *find(const mwl_io_secrets *s, const char *run) {
    return run ? mwl__keyed_find(&s->runs, run, strlen(run)) : NULL;
}

/* ---- the marks of a run ---------------------------------------------------------------------- */

static uint32_t *place(const owner *o, const mwl__secret_mark *m) {
    const size_t mask = 2 * o->cap - 1;
    size_t at = (size_t)(((uintptr_t)m >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
    while (o->places[at] && o->list[o->places[at] - 1] != m) at = (at + 1) & mask;
    return &o->places[at];
}

static bool grow(mwl_io_secrets *s, owner *o) {
    enum { FIRST = 4 };
    size_t cap = o->cap ? 2 * o->cap : FIRST;
    if (o->n < o->cap) return true;
    mwl__secret_mark **list = realloc(o->list, cap * sizeof(mwl__secret_mark *));
    if (!list) return false;
    o->list = list;
    uint32_t *places = calloc(2 * cap, sizeof *places);
    if (!places) return false;
    free(o->places);
    atomic_fetch_add(&s->bytes, (cap - o->cap) * (sizeof *list + 2 * sizeof *places));
    o->places = places;
    o->cap = cap;
    for (size_t i = 0; i < o->n; i++) *place(o, list[i]) = (uint32_t)i + 1;
    return true;
}

static size_t counted(size_t len) { return len < LEAST ? LEAST : len; }

mwl_status mwl__secrets_own(mwl_io_secrets *s, const char *run, mwl__secret_mark *m) {
    if (!run) {
        m->owners += !m->of_host;
        m->of_host = true;
        return MWL_OK;
    }
    owner *o = mwl__keyed_get(&s->runs, run, strlen(run), sizeof *o);
    if (!o || !grow(s, o)) return MWL_E_NOMEM;
    uint32_t *at = place(o, m);
    if (*at) return MWL_OK;
    o->list[o->n++] = m;
    *at = (uint32_t)o->n;
    o->bytes += counted(m->len);
    m->owners++;
    return MWL_OK;
}

bool mwl__secrets_room(const mwl_io_secrets *s, const char *run, size_t len, size_t most) {
    if (!most || !run) return true;
    mwl__secrets_lock(s);
    const owner *o = find(s, run);
    size_t has = o ? o->bytes : 0;
    mwl__secrets_unlock(s);
    return counted(len) <= most && has <= most - counted(len);
}

static void give_up(mwl_io_secrets *s, mwl__secret_mark *m) {
    if (--m->owners) return;
    if (m->path)
        mwl__secrets_free_path(s, (mwl__secret_path *)m);
    else
        mwl__secrets_free_text(s, (mwl__secret_text *)m);
}

static void drop_lists(void *record) {
    owner *o = record;
    free(o->list);
    free(o->places);
}

void mwl_io_secrets_end(mwl_io_secrets *s, const char *run) {
    mwl__secrets_lock(s);
    owner *o = find(s, run);
    if (o) {
        for (size_t i = 0; i < o->n; i++) give_up(s, o->list[i]);
        atomic_fetch_sub(&s->bytes, o->cap * (sizeof *o->list + 2 * sizeof *o->places));
        drop_lists(o);
        mwl__keyed_remove(&s->runs, o);
    }
    mwl__secrets_unlock(s);
}

void mwl__secrets_free_runs(mwl_io_secrets *s) { mwl__keyed_empty(&s->runs, drop_lists); }

/* ---- as JSON text ---------------------------------------------------------------------------- */

static mwl_value push(mwl_heap *heap, mwl_value list, const mwl__secret_mark *m) {
    return mwl_array_push(heap, list, mwl__io_text(heap, m->text, m->len));
}

/* Those of the run, or of all (NULL). */
static mwl_value gather(const mwl_io_secrets *s, mwl_heap *heap, const char *run) {
    const owner *o = find(s, run);
    mwl_value texts = mwl_array(heap, 8), paths = mwl_array(heap, 8);
    for (size_t i = 0; o && i < o->n; i++)
        if (o->list[i]->path)
            paths = push(heap, paths, o->list[i]);
        else
            texts = push(heap, texts, o->list[i]);
    for (const mwl__secret_text *t = run ? NULL : s->texts; t; t = t->next)
        texts = push(heap, texts, &t->mark);
    for (const mwl__secret_path *p = run ? NULL : s->paths; p; p = p->next)
        paths = push(heap, paths, &p->mark);
    return mwl__io_set(heap, mwl__io_set(heap, mwl_object(heap, 2), "texts", texts), "paths",
                       paths);
}

static bool has_some(const mwl_io_secrets *s, const char *run) {
    if (!mwl_io_secrets_any(s)) return false;
    mwl__secrets_lock(s);
    bool some = !run || find(s, run);
    mwl__secrets_unlock(s);
    return some;
}

mwl_status mwl_io_secrets_write(const mwl_io_secrets *s, const char *run, mwl_json_sink *sink,
                                void *ctx) {
    mwl_heap *heap;
    if (!has_some(s, run)) return MWL_OK;
    if (mwl_heap_new(NULL, &heap) != MWL_OK) return MWL_E_NOMEM;
    mwl__secrets_lock(s);
    mwl_value all = gather(s, heap, run);
    mwl__secrets_unlock(s);
    mwl_status status = mwl_is_absent(all)
                            ? MWL_E_NOMEM
                            : mwl_json_write_to(heap, all, MWL_JSON_COMPACT, sink, ctx);
    mwl_value_drop(heap, all);
    mwl_heap_free(heap);
    return status;
}

mwl_status mwl_io_secrets_read(mwl_io_secrets *s, const char *run, const char *json, size_t len) {
    mwl_heap *heap;
    mwl_value all = mwl_absent();
    mwl_status status = mwl_heap_new(NULL, &heap);
    if (status < 0) return status;
    status = mwl_json_parse(heap, json, len, &all, NULL);
    mwl_value texts = mwl_get(all, "texts"), paths = mwl_get(all, "paths");
    bool good = mwl_value_kind(texts) == MWL_KIND_ARRAY && mwl_value_kind(paths) == MWL_KIND_ARRAY;
    if (status == MWL_OK && !good) status = MWL_E_SYNTAX;
    for (size_t i = 0; status == MWL_OK && i < mwl_count(texts); i++) {
        const char *text = mwl_as_text(mwl_array_at(texts, i), &len);
        status = text ? mwl_io_secrets_add(s, run, text, len) : MWL_E_SYNTAX;
    }
    for (size_t i = 0; status == MWL_OK && i < mwl_count(paths); i++) {
        const char *text = mwl_as_text(mwl_array_at(paths, i), &len);
        status = text ? mwl_io_secrets_path(s, run, text, len) : MWL_E_SYNTAX;
    }
    mwl_value_drop(heap, all);
    mwl_heap_free(heap);
    return status;
}
