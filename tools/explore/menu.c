/* menu.c: see menu.h. */
#include "tools/explore/menu.h"

#include "tools/base/member.h"
#include "vm/program/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS_MAX = 64 }; /* successes of one menu */

struct menus {
    const struct testable *testable;
    mwl_heap *heap;
    mwl_value answers;
    bool tells_retryable; /* something in the definition reads `retryable` */
    struct menu **list;
    size_t n, cap;
};

void menu_add(mwl_heap *heap, struct menu *menu, bool failure, mwl_value take) {
    for (size_t i = 0; i < menu->n_items; i++)
        if (menu->items[i].failure == failure && mwl_value_equal(menu->items[i].value, take)) {
            mwl_value_drop(heap, take);
            return;
        }
    if (menu->n_items == menu->cap) {
        size_t cap = menu->cap ? 2 * menu->cap : 8;
        struct menu_item *grown = realloc(menu->items, cap * sizeof *grown);
        if (grown) {
            menu->items = grown;
            menu->cap = cap;
        }
    }
    if (mwl_is_absent(take) || menu->n_items == menu->cap || menu->n_items >= ITEMS_MAX)
        mwl_value_drop(heap, take);
    else
        menu->items[menu->n_items++] = (struct menu_item){failure, take};
}

/* ---- failures -------------------------------------------------------------------------------- */

static void add_failure(struct menus *m, struct menu *menu, const char *code) {
    static const char *const types[] = {"error"};
    for (int retryable = 0; retryable < (m->tells_retryable ? 2 : 1); retryable++) {
        mwl_value f = mwl_failure(m->heap, types[0], code, NULL, mwl_absent(), mwl_absent());
        if (m->tells_retryable) f = member_set(m->heap, f, "retryable", mwl_bool(retryable == 0));
        menu_add(m->heap, menu, true, f);
    }
}

/* "Provider.Call.Pay.*" has codes that are not known yet; one of them stands for all. */
static void add_open(struct menus *m, struct menu *menu, const char *prefix, const char *own) {
    char code[300];
    size_t n = strlen(prefix);
    if (strcmp(prefix, "*") == 0)
        snprintf(code, sizeof code, "Provider.Call.%s.Unforeseen", own);
    else
        snprintf(code, sizeof code, "%.*sUnforeseen", (int)(n - 1), prefix);
    add_failure(m, menu, code);
}

static void add_catalog(struct menus *m, struct menu *menu, mwl_value document) {
    mwl_value catalog = mwl_get(document, "failureCatalog"), closed = mwl_get(catalog, "closed"),
              open = mwl_get(catalog, "open");
    const char *own = mwl_as_text(mwl_get(document, "codePrefix"), NULL);
    for (size_t i = 0; i < mwl_count(closed); i++)
        add_failure(m, menu, mwl_as_text(mwl_array_at(closed, i), NULL));
    for (size_t i = 0; i < mwl_count(open); i++)
        add_open(m, menu, mwl_as_text(mwl_array_at(open, i), NULL), own ? own : "X");
}

/* ---- successes ------------------------------------------------------------------------------- */

static size_t successes(const struct menu *menu) {
    size_t n = 0;
    for (size_t i = 0; i < menu->n_items; i++) n += !menu->items[i].failure;
    return n;
}

/* An answer, a list of them, or one with a sequence. */
static void add_answers(struct menus *m, struct menu *menu, mwl_value spec) {
    mwl_value value = mwl_get(spec, "value"), failure = mwl_get(spec, "failure"),
              sequence = mwl_get(spec, "sequence");
    if (mwl_value_kind(spec) == MWL_KIND_ARRAY) {
        for (size_t i = 0; i < mwl_count(spec); i++) add_answers(m, menu, mwl_array_at(spec, i));
        return;
    }
    if (!mwl_is_absent(sequence)) add_answers(m, menu, sequence);
    if (!mwl_is_absent(value)) menu_add(m->heap, menu, false, mwl_value_keep(value));
    if (mwl_is_absent(failure)) return;
    mwl_value f = mwl_value_keep(failure);
    if (mwl_is_absent(mwl_get(failure, "type")))
        f = member_set(m->heap, f, "type", mwl_string(m->heap, "error", 5));
    menu_add(m->heap, menu, true, f);
}

static mwl_value answers_of(const struct menus *m, const char *uri, const char *flow,
                            const char *step) {
    char whole[512];
    mwl_value found = mwl_absent();
    snprintf(whole, sizeof whole, "%s/%s", flow, step);
    if (*flow && *step) found = mwl_get(m->answers, whole);
    if (mwl_is_absent(found) && *step) found = mwl_get(m->answers, step);
    if (mwl_is_absent(found)) found = mwl_get(m->answers, uri);
    return mwl_is_absent(found) ? mwl_get(m->answers, "*") : found;
}

static void add_successes(struct menus *m, struct menu *menu, mwl_value document) {
    mwl_value output = mwl_get(mwl_get(mwl_get(document, "parameters"), "$defs"), "output"),
              examples = mwl_get(output, "examples");
    menu->source = "the answers";
    if (successes(menu)) return;
    menu->source = "examples of its document";
    for (size_t i = 0; i < mwl_count(examples); i++)
        menu_add(m->heap, menu, false, mwl_value_keep(mwl_array_at(examples, i)));
    if (successes(menu)) return;
    menu->source = "the schema of its document";
    if (!mwl_is_absent(output)) menu_from_schema(m->heap, output, menu);
    if (successes(menu)) return;
    menu->source = "what the definition reads";
    menu_from_reads(m->heap, m->testable->program, menu);
    if (successes(menu)) return;
    menu->source = "null, because nothing is read of it";
    menu_add(m->heap, menu, false, mwl_null());
}

/* Successes first: the script that is found first should be the plain one. */
static void sort(struct menu *menu) {
    size_t n = 0;
    for (size_t i = 0; i < menu->n_items; i++) {
        if (menu->items[i].failure) continue;
        struct menu_item item = menu->items[i];
        memmove(&menu->items[n + 1], &menu->items[n], (i - n) * sizeof item);
        menu->items[n++] = item;
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

struct menus *menus_new(const struct testable *t, mwl_heap *heap, mwl_value answers) {
    struct menus *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    mwl_value inner = mwl_get(answers, "answers");
    m->testable = t;
    m->heap = heap;
    m->answers = mwl_is_absent(inner) ? answers : inner;
    m->tells_retryable = mwl__view_tells_retryable(t->program);
    return m;
}

void menus_free(struct menus *m) {
    if (!m) return;
    for (size_t i = 0; i < m->n; i++) {
        for (size_t k = 0; k < m->list[i]->n_items; k++)
            mwl_value_drop(m->heap, m->list[i]->items[k].value);
        free(m->list[i]->items);
        free(m->list[i]);
    }
    free(m->list);
    free(m);
}

const struct menu *menus_at(const struct menus *m, size_t i) {
    return i < m->n ? m->list[i] : NULL;
}

static void fill(struct menus *m, struct menu *menu, const char *uri, const char *flow,
                 const char *step) {
    const struct testable_document *d = testable_document(m->testable, uri);
    mwl_value document = mwl_absent();
    if (d) (void)mwl_json_parse(m->heap, d->text, d->len, &document, NULL);
    add_answers(m, menu, answers_of(m, uri, flow, step));
    add_successes(m, menu, document);
    add_catalog(m, menu, document);
    sort(menu);
    mwl_value_drop(m->heap, document);
}

const struct menu *menus_get(struct menus *m, const struct menu *key, const char *uri,
                             const char *flow_name, const char *step_name) {
    for (size_t i = 0; i < m->n; i++)
        if (m->list[i]->import == key->import && m->list[i]->step == key->step &&
            m->list[i]->cleanup == key->cleanup)
            return m->list[i];
    if (m->n == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 16;
        struct menu **grown = realloc(m->list, cap * sizeof *grown);
        if (!grown) return NULL;
        m->list = grown;
        m->cap = cap;
    }
    struct menu *menu = calloc(1, sizeof *menu);
    if (!menu) return NULL;
    menu->import = key->import;
    menu->step = key->step;
    menu->cleanup = key->cleanup;
    fill(m, menu, uri, flow_name, step_name);
    return m->list[m->n++] = menu;
}
