/* diff.c: see diff.h.
 *
 * Finds the shortest list of removed and added lines by Myers' greedy algorithm: for 0, 1, 2, ...
 * changes, how far each diagonal can be followed. This is kept for each number of changes, so that
 * the path can be walked back. Time and memory grow with the number of changes, which is small
 * here. */
#include "tools/base/diff.h"

#include "tools/base/term.h"
#include "vm/base/mem.h"

#include <string.h>

enum {
    CONTEXT = 3,       /* lines around a change */
    CHANGES_MAX = 4000 /* with more changes than this the middle is one change */
};

typedef struct lines {
    const char **at; /* where each begins; one more for the end */
    size_t n;
} lines;

typedef struct differ {
    mwl_alloc alloc;
    lines a, b;
    bool *removed, *added; /* by line of a and of b */
} differ;

static bool split(const mwl_alloc *alloc, const char *text, size_t len, lines *out) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) n += text[i] == '\n';
    if (len && text[len - 1] != '\n') n++;
    out->n = n;
    out->at = mwl__mem_zero(alloc, n + 1, sizeof *out->at);
    if (!out->at) return false;
    const char *p = text, *end = text + len;
    for (size_t i = 0; i < n; i++) {
        const char *feed = memchr(p, '\n', (size_t)(end - p));
        out->at[i] = p;
        p = feed ? feed + 1 : end;
    }
    out->at[n] = end;
    return true;
}

static size_t line_len(const lines *l, size_t i) { return (size_t)(l->at[i + 1] - l->at[i]); }

static bool same(const differ *d, size_t i, size_t j) {
    size_t n = line_len(&d->a, i);
    return n == line_len(&d->b, j) && memcmp(d->a.at[i], d->b.at[j], n) == 0;
}

/* ---- the script ------------------------------------------------------------------------------ */

/* Between the lines that both texts begin and end with. */
typedef struct middle {
    size_t first;   /* of both */
    ptrdiff_t n, m; /* lines of a and of b */
} middle;

/* How far the way along diagonal k goes with c changes; `row` is that of c - 1. Rows hold the
 * diagonals -c .. c. */
static ptrdiff_t reach(const differ *d, const middle *w, const ptrdiff_t *row, ptrdiff_t c,
                       ptrdiff_t k) {
    ptrdiff_t x = 0;
    if (c > 0) {
        const ptrdiff_t *before = row + (c - 1); /* its diagonal 0 */
        bool down = k == -c || (k != c && before[k - 1] < before[k + 1]);
        x = down ? before[k + 1] : before[k - 1] + 1;
    }
    while (x < w->n && x - k < w->m && same(d, w->first + (size_t)x, w->first + (size_t)(x - k)))
        x++;
    return x;
}

/* Marks the changes along the way back from the end with c changes. */
static void walk_back(differ *d, const middle *w, ptrdiff_t *const *rows, ptrdiff_t c) {
    ptrdiff_t x = w->n, y = w->m;
    for (; c > 0; c--) {
        ptrdiff_t k = x - y;
        const ptrdiff_t *before = rows[c - 1] + (c - 1);
        bool down = k == -c || (k != c && before[k - 1] < before[k + 1]);
        ptrdiff_t from = down ? k + 1 : k - 1;
        x = before[from];
        y = x - from;
        if (down)
            d->added[w->first + (size_t)y] = true;
        else
            d->removed[w->first + (size_t)x] = true;
    }
}

static void mark_all(differ *d, const middle *w) {
    for (ptrdiff_t i = 0; i < w->n; i++) d->removed[w->first + (size_t)i] = true;
    for (ptrdiff_t i = 0; i < w->m; i++) d->added[w->first + (size_t)i] = true;
}

static bool find_changes(differ *d, const middle *w) {
    ptrdiff_t most = w->n + w->m < CHANGES_MAX ? w->n + w->m : CHANGES_MAX, c = 0;
    ptrdiff_t **rows = mwl__mem_zero(&d->alloc, (size_t)most + 1, sizeof *rows);
    bool made = rows != NULL, there = false;
    for (; made && !there && c <= most; c++) {
        rows[c] = mwl__mem_zero(&d->alloc, (size_t)(2 * c + 1), sizeof **rows);
        made = rows[c] != NULL;
        for (ptrdiff_t k = -c; made && !there && k <= c; k += 2) {
            ptrdiff_t x = reach(d, w, c ? rows[c - 1] : NULL, c, k);
            rows[c][c + k] = x;
            there = x >= w->n && x - k >= w->m;
        }
    }
    if (there)
        walk_back(d, w, rows, c - 1);
    else if (made)
        mark_all(d, w);
    for (ptrdiff_t i = 0; rows && i <= most && rows[i]; i++)
        mwl__mem_free(&d->alloc, rows[i], (size_t)(2 * i + 1) * sizeof **rows);
    mwl__mem_free(&d->alloc, rows, ((size_t)most + 1) * sizeof *rows);
    return made;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void put_line(const struct diff_output *out, char sign, const char *text, size_t len) {
    const char *style = sign == '-' ? "\033[31m" : sign == '+' ? "\033[32m" : NULL;
    bool feed = len && text[len - 1] == '\n';
    if (feed) len--;
    if (out->colour && style) fputs(style, out->to);
    fputc(sign, out->to);
    if (out->terminal)
        term_text(out->to, text, len);
    else
        fwrite(text, 1, len, out->to);
    if (out->colour && style) fputs("\033[0m", out->to);
    fputc('\n', out->to);
    if (!feed) fputs("\\ No newline at end of file\n", out->to);
}

/* Lines [i, to_i) of a and [j, to_j) of b. */
static void put_hunk(const differ *d, size_t i, size_t to_i, size_t j, size_t to_j,
                     const struct diff_output *out) {
    size_t n = to_i - i, m = to_j - j;
    fprintf(out->to, "@@ -%zu,%zu +%zu,%zu @@\n", n ? i + 1 : i, n, m ? j + 1 : j, m);
    while (i < to_i || j < to_j) {
        if (i < to_i && d->removed[i]) {
            put_line(out, '-', d->a.at[i], line_len(&d->a, i));
            i++;
        } else if (j < to_j && d->added[j]) {
            put_line(out, '+', d->b.at[j], line_len(&d->b, j));
            j++;
        } else {
            put_line(out, ' ', d->a.at[i], line_len(&d->a, i));
            i++;
            j++;
        }
    }
}

/* A hunk is a run of changes with fewer than two contexts of equal lines between them. */
static void put_hunks(const differ *d, const struct diff_output *out) {
    size_t i = 0, j = 0;
    while (i < d->a.n || j < d->b.n) {
        if (!(i < d->a.n && d->removed[i]) && !(j < d->b.n && d->added[j])) {
            i++;
            j++;
            continue;
        }
        size_t lead = i < CONTEXT ? i : CONTEXT, from_i = i - lead, from_j = j - lead, equal = 0;
        while ((i < d->a.n || j < d->b.n) && equal <= (size_t)2 * CONTEXT) {
            bool removed = i < d->a.n && d->removed[i], added = j < d->b.n && d->added[j];
            equal = removed || added ? 0 : equal + 1;
            i += removed || !added;
            j += added || !removed;
        }
        size_t trail = equal > CONTEXT ? equal - CONTEXT : 0;
        i -= trail;
        j -= trail;
        put_hunk(d, from_i, i, from_j, j, out);
    }
}

static bool compare(differ *d, const char *path, const struct diff_output *out) {
    size_t first = 0, last = 0, least = d->a.n < d->b.n ? d->a.n : d->b.n;
    while (first < least && same(d, first, first)) first++;
    while (last < least - first && same(d, d->a.n - 1 - last, d->b.n - 1 - last)) last++;
    middle w = {first, (ptrdiff_t)(d->a.n - first - last), (ptrdiff_t)(d->b.n - first - last)};
    if (w.n == 0 && w.m == 0) return true;
    if (!find_changes(d, &w)) return false;
    term_printf(out->to, "--- %s", path);
    fputc('\n', out->to);
    term_printf(out->to, "+++ %s", path);
    fputc('\n', out->to);
    put_hunks(d, out);
    return true;
}

bool diff_unified(const char *path, const char *before, size_t before_len, const char *after,
                  size_t after_len, const mwl_alloc *alloc, const struct diff_output *out) {
    differ d;
    memset(&d, 0, sizeof d);
    d.alloc = *alloc;
    bool made = split(alloc, before, before_len, &d.a) && split(alloc, after, after_len, &d.b) &&
                (d.removed = mwl__mem_zero(alloc, d.a.n + 1, sizeof *d.removed)) &&
                (d.added = mwl__mem_zero(alloc, d.b.n + 1, sizeof *d.added)) &&
                compare(&d, path, out);
    mwl__mem_free(alloc, d.removed, d.a.n + 1);
    mwl__mem_free(alloc, d.added, d.b.n + 1);
    mwl__mem_free(alloc, d.a.at, (d.a.n + 1) * sizeof *d.a.at);
    mwl__mem_free(alloc, d.b.at, (d.b.n + 1) * sizeof *d.b.at);
    return made;
}
