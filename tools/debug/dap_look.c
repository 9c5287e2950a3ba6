/* dap_look.c: threads, frames, scopes, variables, expressions. See dap.h. */
#include "tools/debug/dap.h"

#include "tools/base/path.h"
#include "tools/base/redact.h"
#include "vm/machine/state.h"

#include <stdlib.h>

enum { SHOWN = 1000, THREADS_MOST = 256 };

static mwl_heap *heap_of(const struct dap *d) { return mwl_vm_heap(d->walk.machine.vm); }

void dap_forget(struct dap *d) {
    for (size_t i = 0; i < d->n_values; i++) mwl_value_drop(heap_of(d), d->values[i].value);
    d->n_values = d->n_frames = 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The id of a thread: the same name has the same id during the whole walk. 0: out of memory. */
static uint32_t thread_id(struct dap *d, const char *name) {
    const mwl_alloc alloc = mwl_alloc_default();
    for (size_t i = 0; i < d->n_threads; i++)
        if (strcmp(d->threads[i], name) == 0) return (uint32_t)i + 1;
    char *copy = strdup(name);
    if (!copy || mwl__mem_grow(&alloc, (void **)&d->threads, &d->cap_threads, d->n_threads + 1,
                               sizeof *d->threads) < 0) {
        free(copy);
        return 0;
    }
    d->threads[d->n_threads++] = copy;
    return (uint32_t)d->n_threads;
}

/* Does the thread run this frame? A dispatch's own frames end with that of its slot. */
static bool runs(const struct inspect_thread *t, const mwl__frame *frame) {
    for (const mwl__frame *f = t->innermost; f; f = f->slot ? NULL : f->parent)
        if (f == frame) return true;
    return false;
}

uint32_t dap_thread_here(struct dap *d) {
    struct inspect_thread list[THREADS_MOST];
    size_t n = inspect_threads(&d->walk.machine, list, THREADS_MOST);
    const mwl__frame *here = inspect_frame(&d->walk.machine);
    uint32_t first = thread_id(d, "main"); /* so that it has the number 1 */
    for (size_t i = 0; i < n && i < THREADS_MOST; i++)
        if (runs(&list[i], here)) return thread_id(d, list[i].name);
    return first;
}

const char *dap_threads(struct dap *d, mwl_value arguments, mwl__buf *out) {
    struct inspect_thread list[THREADS_MOST];
    size_t n = d->begun && !d->running ? inspect_threads(&d->walk.machine, list, THREADS_MOST) : 0;
    (void)arguments;
    mwl__buf_puts(out, "{\"threads\":[");
    for (size_t i = 0; i < n && i < THREADS_MOST; i++) {
        mwl__buf_printf(out, "%s{\"id\":%u", i ? "," : "", thread_id(d, list[i].name));
        rpc_put_member(out, "name", list[i].name);
        mwl__buf_puts(out, "}");
    }
    if (!n) mwl__buf_printf(out, "{\"id\":%u,\"name\":\"main\"}", thread_id(d, "main"));
    mwl__buf_puts(out, "]}");
    return NULL;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static uint32_t frame_id(struct dap *d, mwl__frame *f) {
    const mwl_alloc alloc = mwl_alloc_default();
    if (mwl__mem_grow(&alloc, (void **)&d->frames, &d->cap_frames, d->n_frames + 1,
                      sizeof *d->frames) < 0)
        return 0;
    d->frames[d->n_frames++] = f;
    return (uint32_t)d->n_frames;
}

/* The frame on the top of a thread's stack, or NULL. */
static mwl__frame *top_of(struct dap *d, uint32_t thread) {
    struct inspect_thread list[THREADS_MOST];
    size_t n = inspect_threads(&d->walk.machine, list, THREADS_MOST);
    if (thread == dap_thread_here(d)) return inspect_frame(&d->walk.machine);
    for (size_t i = 0; i < n && i < THREADS_MOST; i++)
        if (thread_id(d, list[i].name) == thread) return list[i].innermost;
    return NULL;
}

static void put_frame(struct dap *d, mwl__frame *f, const mwl_trace_event *e, mwl__buf *out) {
    mwl__span span = {0, 0};
    mwl__place at = {1, 1};
    mwl__buf name = mwl__buf_make(mwl_alloc_default());
    inspect_name(f, &name);
    if (inspect_place(&d->setup, f, e, &span)) at = mwl__source_place(&d->setup.source, span.begin);
    mwl__buf_printf(out, "{\"id\":%u,\"name\":", frame_id(d, f));
    rpc_put_text(out, name.data ? name.data : "", name.len);
    mwl__buf_puts(out, ",\"source\":{");
    rpc_put_member(out, "name", path_last(d->path));
    rpc_put_member(out, "path", d->path);
    mwl__buf_printf(out, "},\"line\":%u,\"column\":%u}", at.line - d->lines_from_0,
                    at.column - d->columns_from_0);
    mwl__buf_free(&name);
}

const char *dap_stack(struct dap *d, mwl_value arguments, mwl__buf *out) {
    uint32_t from = rpc_get_number(arguments, "startFrame", 0),
             levels = rpc_get_number(arguments, "levels", 0), n = 0, shown = 0;
    mwl__frame *top = top_of(d, rpc_get_number(arguments, "threadId", 1));
    mwl__buf_puts(out, "{\"stackFrames\":[");
    for (mwl__frame *f = top; f; f = f->parent, n++) {
        if (n < from || (levels && n >= from + levels)) continue;
        if (shown++) mwl__buf_puts(out, ",");
        put_frame(d, f, f == inspect_frame(&d->walk.machine) ? walk_event(&d->walk) : NULL, out);
    }
    mwl__buf_printf(out, "],\"totalFrames\":%u}", n);
    return NULL;
}

static mwl__frame *frame_of(const struct dap *d, mwl_value arguments) {
    uint32_t id = rpc_get_number(arguments, "frameId", 0);
    if (id) return id <= d->n_frames ? d->frames[id - 1] : NULL;
    return inspect_frame(&d->walk.machine);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A number by which the editor can ask for the members of a value; 0: it has none. */
static uint32_t reference(struct dap *d, mwl_value v) {
    const mwl_alloc alloc = mwl_alloc_default();
    bool whole = mwl_value_kind(v) == MWL_KIND_OBJECT || mwl_value_kind(v) == MWL_KIND_ARRAY;
    if (!whole || !mwl_count(v) ||
        mwl__mem_grow(&alloc, (void **)&d->values, &d->cap_values, d->n_values + 1,
                      sizeof *d->values) < 0)
        return 0;
    d->values[d->n_values++].value = mwl_value_keep(v);
    return (uint32_t)d->n_values;
}

/* Appends the members that every value has in an answer. `name`: "value" or "result". */
static void put_value(struct dap *d, const char *name, mwl_value v, mwl__buf *out) {
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    inspect_write(heap_of(d), v, MWL_JSON_COMPACT, &text);
    size_t len = text.len;
    if (len > SHOWN) {
        for (len = SHOWN; len && (text.data[len] & 0xC0) == 0x80;) len--;
        text.len = len;
        mwl__buf_puts(&text, " ...");
    }
    mwl__buf_printf(out, "\"%s\":", name);
    rpc_put_text(out, text.data ? text.data : "", text.len);
    mwl__buf_free(&text);
    rpc_put_member(out, "type", mwl_value_type(v));
    uint32_t ref = reference(d, v);
    mwl__buf_printf(out, ",\"variablesReference\":%u", ref);
    if (ref)
        mwl__buf_printf(out, ",\"%s\":%zu",
                        mwl_value_kind(v) == MWL_KIND_ARRAY ? "indexedVariables" : "namedVariables",
                        mwl_count(v));
}

/* Members at secret paths are left out, before their members can be asked for. */
static mwl_value without_secrets(const struct dap *d, mwl_value take) {
    if (mwl_is_absent(take)) return take;
    mwl_value shown = redact_value(heap_of(d), take);
    mwl_value_drop(heap_of(d), take);
    return shown;
}

const char *dap_scopes(struct dap *d, mwl_value arguments, mwl__buf *out) {
    mwl__frame *f = frame_of(d, arguments);
    bool first = true;
    if (!f) return "there is no such frame";
    mwl__buf_puts(out, "{\"scopes\":[");
    for (size_t i = 0; inspect_roots[i]; i++) {
        mwl_value v = without_secrets(d, inspect_root(f, inspect_roots[i]));
        uint32_t ref = reference(d, v);
        mwl_value_drop(heap_of(d), v);
        if (!ref) continue;
        mwl__buf_puts(out, first ? "{" : ",{");
        first = false;
        rpc_put_member(out, "name", inspect_roots[i]);
        if (i == 0) mwl__buf_puts(out, ",\"presentationHint\":\"locals\"");
        mwl__buf_printf(out, ",\"variablesReference\":%u,\"expensive\":false}", ref);
    }
    mwl__buf_puts(out, "]}");
    return NULL;
}

static void put_variable(struct dap *d, const char *name, size_t len, mwl_value v, bool *first,
                         mwl__buf *out) {
    mwl__buf_puts(out, *first ? "{\"name\":" : ",{\"name\":");
    *first = false;
    rpc_put_text(out, name, len);
    mwl__buf_puts(out, ",");
    put_value(d, "value", v, out);
    mwl__buf_puts(out, "}");
}

const char *dap_variables(struct dap *d, mwl_value arguments, mwl__buf *out) {
    uint32_t ref = rpc_get_number(arguments, "variablesReference", 0),
             from = rpc_get_number(arguments, "start", 0),
             most = rpc_get_number(arguments, "count", 0);
    if (!ref || ref > d->n_values) return "there is no such value any more";
    mwl_value v = mwl_value_keep(d->values[ref - 1].value), key, value;
    bool first = true, array = mwl_value_kind(v) == MWL_KIND_ARRAY;
    size_t end = mwl_count(v);
    if (most && (size_t)from + most < end) end = (size_t)from + most;
    mwl__buf_puts(out, "{\"variables\":[");
    for (size_t i = from; i < end; i++) {
        char number[24];
        size_t len = 0;
        if (array) {
            snprintf(number, sizeof number, "%zu", i);
            put_variable(d, number, strlen(number), mwl_array_at(v, i), &first, out);
        } else if (mwl_object_at(v, i, &key, &value)) {
            const char *name = mwl_as_text(key, &len);
            put_variable(d, name ? name : "?", name ? len : 1, value, &first, out);
        }
    }
    mwl__buf_puts(out, "]}");
    mwl_value_drop(heap_of(d), v);
    return NULL;
}

const char *dap_evaluate(struct dap *d, mwl_value arguments, mwl__buf *out) {
    static char why[400];
    mwl__frame *f = frame_of(d, arguments);
    const char *text = rpc_get_text(arguments, "expression", NULL);
    if (!f || !text) return "there is no frame to evaluate it in";
    *why = '\0';
    mwl_value v = mwl_absent();
    for (size_t i = 0; inspect_roots[i]; i++)
        if (strcmp(inspect_roots[i], text) == 0) v = inspect_root(f, text);
    if (mwl_is_absent(v)) v = inspect_eval(f, text, why, sizeof why);
    if (mwl_is_absent(v)) return why;
    v = without_secrets(d, v);
    mwl__buf_puts(out, "{");
    put_value(d, "result", v, out);
    mwl__buf_puts(out, "}");
    mwl_value_drop(heap_of(d), v);
    return NULL;
}

const char *dap_exception(struct dap *d, mwl_value arguments, mwl__buf *out) {
    const mwl_trace_event *e = walk_event(&d->walk);
    (void)arguments;
    if (!e || !(e->failed || e->kind == MWL_TRACE_CAUGHT)) return "there is no failure here";
    const char *code = rpc_get_text(e->value, "code", NULL),
               *message = rpc_get_text(e->value, "message", NULL);
    mwl__buf_puts(out, "{");
    rpc_put_member(out, "exceptionId", code ? code : "");
    size_t len = 0;
    char *shown = message ? redact_text(message, strlen(message), &len) : NULL;
    if (message) rpc_put_member(out, "description", shown ? shown : message);
    free(shown);
    mwl__buf_puts(out, ",\"breakMode\":\"always\"}");
    return NULL;
}
