/* hide.c: values as they may be shown: without what lies at the paths of a set of secrets.
 *
 * A path is looked for at every depth, because a value is shown inside others: in the variables, in
 * a failure, in the arguments of a call. The walk keeps, for each level, where it is in each path
 * that has begun further up. */
#include "stdlib/io/secret.h"
#include "stdlib/io/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- paths ----------------------------------------------------------------------------------- */

void mwl__secrets_free_path(mwl_io_secrets *s, mwl__secret_path *p) {
    *p->at = p->next;
    if (p->next) p->next->at = p->at;
    s->n_paths--;
    atomic_fetch_sub(&s->n, 1);
    free(p);
}

void mwl__secrets_free_paths(mwl_io_secrets *s) {
    while (s->paths) mwl__secrets_free_path(s, s->paths);
}

static bool is_name(const char *text, size_t len) {
    if (len == 0 || (len == 1 && *text == '*')) return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] < '0' || text[i] > '9') return true;
    return false;
}

/* Where the first name of a path begins: at any depth there is nothing before it. */
static size_t first_name(const char *path, size_t len) {
    size_t at = 0;
    while (at < len) {
        const char *dot = memchr(path + at, '.', len - at);
        size_t n = dot ? (size_t)(dot - (path + at)) : len - at;
        if (is_name(path + at, n)) return at;
        at += n + 1;
    }
    return len;
}

static mwl__secret_path *new_path(mwl_io_secrets *s, const char *text, size_t len) {
    size_t n = 1;
    for (size_t i = 0; i < len; i++) n += text[i] == '.';
    mwl__secret_path *p = malloc(sizeof *p + n * sizeof *p->parts + len);
    if (!p) return NULL;
    char *copy = memcpy(&p->parts[n], text, len);
    *p = (mwl__secret_path){{copy, len, 0, true, false}, s->paths, &s->paths};
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const char *dot = memchr(copy + at, '.', len - at);
        size_t part = dot ? (size_t)(dot - (copy + at)) : len - at;
        p->parts[i] = (mwl__secret_part){copy + at, part, i + 1 == n};
        at += part + 1;
    }
    if (p->next) p->next->at = &p->next;
    s->paths = p;
    s->n_paths++;
    atomic_fetch_add(&s->n, 1);
    atomic_fetch_add(&s->count, 1);
    return p;
}

enum { MOST_PATHS = 4096 }; /* each value that is shown is looked at for each of them */

mwl_status mwl_io_secrets_path(mwl_io_secrets *s, const char *run, const char *path, size_t len) {
    size_t from = first_name(path, len);
    if (from >= len) return MWL_OK;
    path += from;
    len -= from;
    mwl_status status = MWL_E_TOO_BIG;
    mwl__secrets_lock(s);
    mwl__secret_path *p = s->paths;
    while (p && (p->mark.len != len || memcmp(p->mark.text, path, len) != 0)) p = p->next;
    if (p || s->n_paths < MOST_PATHS) {
        if (!p) p = new_path(s, path, len);
        status = p ? mwl__secrets_own(s, run, &p->mark) : MWL_E_NOMEM;
        if (p && !p->mark.owners) mwl__secrets_free_path(s, p);
    }
    mwl__secrets_unlock(s);
    return status;
}

/* ---- the walk -------------------------------------------------------------------------------- */

typedef struct walk {
    mwl_heap *heap;
    const mwl__secret_path *paths;
    const mwl__secret_part **at; /* the parts that a member of each level may have next */
    size_t n, cap;
    bool failed;
} walk;

static void push(walk *w, const mwl__secret_part *part) {
    if (w->n == w->cap) {
        size_t cap = w->cap ? w->cap * 2 : 32;
        const mwl__secret_part **grown = realloc(w->at, cap * sizeof *grown);
        if (!grown) {
            w->failed = true;
            return;
        }
        w->at = grown;
        w->cap = cap;
    }
    w->at[w->n++] = part;
}

static bool fits(const mwl__secret_part *p, const char *name, size_t len) {
    return (p->len == 1 && *p->text == '*') || (p->len == len && memcmp(p->text, name, len) == 0);
}

/* Takes the step to a member: whether it is to be hidden; otherwise the next parts are pushed. */
static bool step(walk *w, size_t from, size_t to, const char *name, size_t len) {
    for (size_t i = from; i < to; i++) {
        const mwl__secret_part *p = w->at[i];
        if (!fits(p, name, len)) continue;
        if (p->last) return true;
        push(w, p + 1);
    }
    for (const mwl__secret_path *p = w->paths; p; p = p->next) {
        if (!fits(p->parts, name, len)) continue;
        if (p->parts->last) return true;
        push(w, p->parts + 1);
    }
    return false;
}

static mwl_value shown(walk *w, mwl_value v, size_t from, size_t to, bool *changed);

/* A member or element, given. */
static mwl_value child(walk *w, mwl_value v, const char *name, size_t len, size_t from, size_t to,
                       bool *changed) {
    size_t base = w->n;
    mwl_value out;
    *changed = step(w, from, to, name, len);
    if (*changed)
        out = mwl_string(w->heap, "[secret]", 8);
    else
        out = shown(w, v, base, w->n, changed);
    w->n = base;
    return out;
}

static mwl_value shown_object(walk *w, mwl_value v, size_t from, size_t to, bool *changed) {
    mwl_value out = mwl_value_keep(v), key, item;
    for (size_t i = 0; mwl_object_at(v, i, &key, &item); i++) {
        size_t len = 0;
        bool other;
        const char *name = mwl_as_text(key, &len);
        mwl_value new = child(w, item, name ? name : "", len, from, to, &other);
        if (other)
            out = mwl_object_put(w->heap, out, mwl_value_keep(key), new);
        else
            mwl_value_drop(w->heap, new);
        *changed = *changed || other;
    }
    return out;
}

/* The first n elements. */
static mwl_value beginning(mwl_heap *heap, mwl_value v, size_t n) {
    mwl_value out = mwl_array(heap, mwl_count(v));
    for (size_t i = 0; i < n; i++)
        out = mwl_array_push(heap, out, mwl_value_keep(mwl_array_at(v, i)));
    return out;
}

static mwl_value shown_array(walk *w, mwl_value v, size_t from, size_t to, bool *changed) {
    mwl_value out = mwl_value_keep(v);
    for (size_t i = 0; i < mwl_count(v); i++) {
        char number[24];
        bool other;
        int len = snprintf(number, sizeof number, "%zu", i);
        mwl_value new = child(w, mwl_array_at(v, i), number, (size_t)len, from, to, &other);
        if (other && !*changed) {
            mwl_value_drop(w->heap, out);
            out = beginning(w->heap, v, i);
            *changed = true;
        }
        if (*changed)
            out = mwl_array_push(w->heap, out, new);
        else
            mwl_value_drop(w->heap, new);
    }
    return out;
}

/* Values are not deeper than the machine allows. *changed is false before. */
static mwl_value shown(walk *w, mwl_value v, size_t from, size_t to, bool *changed) {
    mwl_kind kind = mwl_value_kind(v);
    if (kind == MWL_KIND_OBJECT) return shown_object(w, v, from, to, changed);
    if (kind == MWL_KIND_ARRAY) return shown_array(w, v, from, to, changed);
    return mwl_value_keep(v);
}

mwl_value mwl_io_shown(const mwl_io_secrets *s, mwl_heap *heap, mwl_value v) {
    bool changed = false;
    mwl__secrets_lock(s);
    walk w = {.heap = heap, .paths = s->paths};
    mwl_value out = w.paths ? shown(&w, v, 0, 0, &changed) : mwl_value_keep(v);
    mwl__secrets_unlock(s);
    free(w.at);
    if (!w.failed) return out;
    mwl_value_drop(heap, out);
    return mwl_absent();
}
