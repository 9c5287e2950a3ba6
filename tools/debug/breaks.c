/* breaks.c: see breaks.h. */
#include "tools/debug/breaks.h"

#include <stdlib.h>

void breaks_init(struct breaks *b) {
    memset(b, 0, sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
}

void breaks_free(struct breaks *b) {
    const mwl_alloc alloc = mwl_alloc_default();
    while (b->n_items) breaks_remove(b, b->items[b->n_items - 1].id);
    mwl__mem_free(&alloc, b->items, b->cap * sizeof *b->items);
    pthread_mutex_destroy(&b->lock);
    memset(b, 0, sizeof *b);
}

/* Takes over the texts. */
static int add(struct breaks *b, struct breakpoint p) {
    const mwl_alloc alloc = mwl_alloc_default();
    pthread_mutex_lock(&b->lock);
    bool room = mwl__mem_grow(&alloc, (void **)&b->items, &b->cap, b->n_items + 1, sizeof p) == 0;
    if (room && p.text) {
        p.id = ++b->last_id;
        b->items[b->n_items++] = p;
    }
    pthread_mutex_unlock(&b->lock);
    if (p.id) return p.id;
    free(p.text);
    free(p.condition);
    return 0;
}

static struct breakpoint make(enum break_kind kind, const char *text, const char *condition) {
    struct breakpoint p = {.kind = kind, .text = strdup(text)};
    if (condition && *condition && !(p.condition = strdup(condition))) {
        free(p.text);
        p.text = NULL;
    }
    return p;
}

int breaks_add(struct breaks *b, enum break_kind kind, const char *text, const char *condition) {
    return add(b, make(kind, text, condition));
}

int breaks_add_line(struct breaks *b, uint32_t line, uint32_t last_line, const char *condition) {
    struct breakpoint p = make(BREAK_LINE, "", condition);
    p.line = line;
    p.last_line = last_line;
    return add(b, p);
}

int breaks_add_text(struct breaks *b, char *text, const char *condition) {
    static const char *const kinds[] = {"step", "phase", "provider", "code", "when"};
    enum break_kind kind = BREAK_STEP;
    size_t len = strcspn(text, " \t");
    char *rest = text + len + strspn(text + len, " \t");
    for (int i = 0; i < 5 && *rest; i++)
        if (strlen(kinds[i]) == len && memcmp(text, kinds[i], len) == 0) {
            kind = (enum break_kind)i;
            text = rest;
            break;
        }
    char *where = kind == BREAK_WHEN ? NULL : strstr(text, " if ");
    if (where && !condition) {
        condition = where + 4;
        *where = '\0';
    }
    return *text ? breaks_add(b, kind, text, condition) : 0;
}

bool breaks_remove(struct breaks *b, int id) {
    bool found = false;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->n_items && !found; i++) {
        if (b->items[i].id != id) continue;
        found = true;
        free(b->items[i].text);
        free(b->items[i].condition);
        memmove(b->items + i, b->items + i + 1, (b->n_items - i - 1) * sizeof *b->items);
        b->n_items--;
    }
    pthread_mutex_unlock(&b->lock);
    return found;
}

const struct breakpoint *breaks_find(struct breaks *b, int id) {
    for (size_t i = 0; i < b->n_items; i++)
        if (b->items[i].id == id) return &b->items[i];
    return NULL;
}

void breaks_remove_kinds(struct breaks *b, unsigned kinds) {
    for (size_t i = b->n_items; i-- > 0;)
        if (kinds & 1u << b->items[i].kind) breaks_remove(b, b->items[i].id);
}

void breaks_reset(struct breaks *b) {
    for (size_t i = 0; i < b->n_items; i++) b->items[i].held = false;
}

/* ---- meeting --------------------------------------------------------------------------------- */

/* Is it the whole URI, or its name: "retry" of "mwl:provider.middleware/mwl/retry/v1"? */
static bool names_provider(const char *text, const char *uri) {
    if (strcmp(text, uri) == 0) return true;
    const char *slash = strchr(uri, '/');
    const char *name = slash ? strchr(slash + 1, '/') : NULL;
    size_t len = name ? strcspn(name + 1, "/") : 0;
    return len && strlen(text) == len && memcmp(text, name + 1, len) == 0;
}

/* An exact code, whole segments and `.*`, or `*`. */
static bool matches_code(const char *pattern, const char *code) {
    size_t n = strlen(pattern);
    if (strcmp(pattern, "*") == 0 || strcmp(pattern, code) == 0) return true;
    return n > 2 && strcmp(pattern + n - 2, ".*") == 0 && strncmp(pattern, code, n - 1) == 0;
}

/* A failure rises through many events: the first of them is met. It is another one if something has
 * begun since. */
static bool meets_code(struct breakpoint *b, const mwl_trace_event *e) {
    const char *code = mwl_as_text(mwl_get(e->value, "code"), NULL);
    bool failure = e->failed || e->kind == MWL_TRACE_CAUGHT;
    if (e->kind == MWL_TRACE_STEP_ENTERED || e->kind == MWL_TRACE_CALL_DISPATCHED ||
        e->kind == MWL_TRACE_ATTEMPT || e->kind == MWL_TRACE_FRAME_ENTERED)
        b->held = false;
    if (b->held || !failure || !code || !matches_code(b->text, code)) return false;
    b->held = true;
    return true;
}

static bool holds(struct machine *m, const char *condition) {
    char why[200];
    struct mwl__frame *f = inspect_frame(m);
    if (!f) return false;
    mwl_value v = inspect_eval(f, condition, why, sizeof why);
    bool yes = mwl_value_kind(v) == MWL_KIND_BOOL && mwl_as_bool(v);
    mwl_value_drop(mwl_vm_heap(m->vm), v);
    return yes;
}

static bool meets(struct breakpoint *b, struct machine *m, const mwl_trace_event *e) {
    bool before = b->held;
    switch (b->kind) {
    case BREAK_STEP: return e->kind == MWL_TRACE_STEP_ENTERED && strcmp(e->step, b->text) == 0;
    case BREAK_LINE:
        return e->kind == MWL_TRACE_STEP_ENTERED && e->line >= b->line && e->line <= b->last_line;
    case BREAK_PHASE: return e->kind == MWL_TRACE_PHASE && strcmp(e->phase, b->text) == 0;
    case BREAK_PROVIDER:
        return (e->kind == MWL_TRACE_CALL_DISPATCHED ||
                (e->kind == MWL_TRACE_PHASE && strcmp(e->phase, "onEntry") == 0)) &&
               names_provider(b->text, e->provider);
    case BREAK_CODE: return meets_code(b, e);
    case BREAK_WHEN: /* when it becomes true */
        b->held = holds(m, b->text);
        return b->held && !before;
    }
    return false;
}

int breaks_met(struct breaks *b, struct machine *m, const mwl_trace_event *e) {
    int found = 0;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->n_items; i++) {
        struct breakpoint *p = &b->items[i];
        if (meets(p, m, e) && (!p->condition || holds(m, p->condition)) && !found) found = p->id;
    }
    pthread_mutex_unlock(&b->lock);
    return found;
}

void breaks_write(const struct breakpoint *b, mwl__buf *out) {
    static const char *const kinds[] = {"Step", "phase", "provider", "code", "when", "line"};
    mwl__buf_printf(out, "%d: %s ", b->id, kinds[b->kind]);
    if (b->kind == BREAK_LINE)
        mwl__buf_printf(out, "%u", b->line);
    else
        mwl__buf_printf(out, "%s", b->text);
    if (b->condition) mwl__buf_printf(out, " if %s", b->condition);
}
