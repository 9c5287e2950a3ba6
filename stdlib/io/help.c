/* help.c: what many providers need: arguments, failures, the log, loading a library. */
#include "stdlib/io/io_impl.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- arguments ------------------------------------------------------------------------------- */

const char *mwl__io_arg_text(mwl_value args, const char *name, const char *otherwise) {
    mwl_value v = mwl_get(args, name);
    return mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, NULL) : otherwise;
}

double mwl__io_arg_number(mwl_value args, const char *name, double otherwise) {
    mwl_value v = mwl_get(args, name);
    return mwl_value_kind(v) == MWL_KIND_NUMBER ? mwl_as_number(v) : otherwise;
}

bool mwl__io_arg_bool(mwl_value args, const char *name, bool otherwise) {
    mwl_value v = mwl_get(args, name);
    return mwl_value_kind(v) == MWL_KIND_BOOL ? mwl_as_bool(v) : otherwise;
}

int64_t mwl__io_arg_duration(mwl_value args, const char *name, int64_t otherwise) {
    int64_t ns;
    size_t len;
    const char *text = mwl_as_text(mwl_get(args, name), &len);
    return text && mwl_duration_parse(text, len, &ns) == MWL_OK ? ns : otherwise;
}

/* ---- values ---------------------------------------------------------------------------------- */

mwl_value mwl__io_set(mwl_heap *heap, mwl_value take_object, const char *name, mwl_value take) {
    return mwl_object_set(heap, take_object, name, strlen(name), take);
}

/* Length of the valid UTF-8 sequence at p, or 0. */
static size_t sequence(const unsigned char *p, const unsigned char *end) {
    static const unsigned char first[] = {0xc2, 0xe0, 0xf0, 0xf5};
    if (*p < 0x80) return 1;
    size_t n = *p < first[0] ? 0 : *p < first[1] ? 2 : *p < first[2] ? 3 : *p < first[3] ? 4 : 0;
    if (n == 0 || (size_t)(end - p) < n) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    unsigned second = p[1];
    bool bad = (*p == 0xe0 && second < 0xa0) || (*p == 0xed && second > 0x9f) ||
               (*p == 0xf0 && second < 0x90) || (*p == 0xf4 && second > 0x8f);
    return bad ? 0 : n;
}

mwl_value mwl__io_text(mwl_heap *heap, const char *text, size_t len) {
    mwl_value v = mwl_string(heap, text, len);
    if (!mwl_is_absent(v) || mwl_heap_why(heap) != MWL_E_UTF8) return v;
    char *good = mwl_heap_resize(heap, NULL, 0, len * 3); /* U+FFFD has three bytes */
    if (!good) return mwl_absent();
    const unsigned char *p = (const unsigned char *)text, *end = p + len;
    size_t n = 0;
    while (p < end) {
        size_t step = sequence(p, end);
        memcpy(good + n, step ? (const char *)p : "\xef\xbf\xbd", step ? step : 3);
        n += step ? step : 3;
        p += step ? step : 1;
    }
    v = mwl_string(heap, good, n);
    mwl_heap_resize(heap, good, len * 3, 0);
    return v;
}

/* ---- failures -------------------------------------------------------------------------------- */

void mwl__io_fail(mwl_call *call, const char *code, bool retryable, mwl_value take_details,
                  const char *format, ...) {
    char small[512], *message = small;
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int need = vsnprintf(small, sizeof small, format, ap);
    if (need >= (int)sizeof small) { /* a message that is cut could end inside a secret */
        message = malloc((size_t)need + 1);
        if (message) vsnprintf(message, (size_t)need + 1, format, again);
    }
    va_end(again);
    va_end(ap);
    mwl_heap *heap = mwl_call_heap(call);
    mwl_value failure = mwl_failure(heap, NULL, code, message ? message : "out of memory",
                                    take_details, mwl_absent());
    mwl_call_settle(call, mwl__io_set(heap, failure, "retryable", mwl_bool(retryable)));
    if (message != small) free(message);
}

void mwl__io_exceed(mwl_call *call) {
    mwl_run_exceed(mwl_call_run(call));
    mwl_call_succeed(call, mwl_absent());
}

void mwl__io_refuse(mwl_call *call, const char *prefix, mwl_io_right right, const char *what) {
    char code[96], flag[PATH_MAX + 64];
    mwl_heap *heap = mwl_call_heap(call);
    snprintf(code, sizeof code, "%s.NotPermitted", prefix);
    snprintf(flag, sizeof flag, "--allow-%s%s%s", mwl_io_right_name(right), what ? "=" : "",
             what ? what : "");
    mwl_value details =
        mwl__io_set(heap, mwl_object(heap, 1), "flag", mwl__io_text(heap, flag, strlen(flag)));
    mwl__io_fail(call, code, false, details, "not allowed; %s would allow it", flag);
}

/* ---- the log --------------------------------------------------------------------------------- */

static const char *const level_names[] = {"debug", "info", "warn", "error"};

typedef struct line {
    char *text;
    size_t len, cap;
} line;

static mwl_status line_add(void *ctx, const char *text, size_t len) {
    line *l = ctx;
    if (l->len + len > l->cap) {
        size_t cap = (l->len + len) * 2;
        char *grown = realloc(l->text, cap);
        if (!grown) return MWL_E_NOMEM;
        l->text = grown;
        l->cap = cap;
    }
    memcpy(l->text + l->len, text, len);
    l->len += len;
    return MWL_OK;
}

/* The text of the record with secrets replaced. */
static mwl_status write_redacted(const mwl_io *io, mwl_heap *heap, mwl_value record, line *out) {
    mwl_io_redactor *r;
    mwl_status status = mwl_io_redactor_new(io->secrets, line_add, out, &r);
    if (status < 0) return status;
    char *text;
    size_t len;
    status = mwl_json_write(heap, record, MWL_JSON_COMPACT, &text, &len);
    if (status == MWL_OK) {
        status = mwl_io_redactor_write(r, text, len);
        if (status == MWL_OK) status = mwl_io_redactor_flush(r);
        mwl_text_free(heap, text, len);
    }
    mwl_io_redactor_free(r);
    return status;
}

static mwl_value record_of(mwl_io *io, mwl_heap *heap, mwl_io_level level, const char *message,
                           size_t len, mwl_value fields, mwl_run *run) {
    mwl_instant now;
    mwl_vm_now(io->vm, &now);
    mwl_value record =
        mwl__io_set(heap, mwl_object(heap, 4), "time", mwl_timestamp_text(heap, now.wall_ns));
    const char *name = level_names[level];
    record = mwl__io_set(heap, record, "level", mwl_string(heap, name, strlen(name)));
    record = mwl__io_set(heap, record, "message", mwl__io_text(heap, message, len));
    const char *id = run ? mwl_run_id(run) : "";
    if (*id) record = mwl__io_set(heap, record, "execution", mwl_string(heap, id, strlen(id)));
    mwl_value key, value;
    for (size_t i = 0; !mwl_is_absent(fields) && mwl_object_at(fields, i, &key, &value); i++)
        if (mwl_is_absent(mwl_object_find(record, key))) /* ours stay */
            record = mwl_object_put(heap, record, mwl_value_keep(key), mwl_value_keep(value));
    return record;
}

/* A record that would be longer loses its fields: parts that are shared may be gigabytes as text.
 */
static mwl_value shortened(const mwl_io *io, mwl_heap *heap, mwl_value take_record) {
    enum { MOST = 1 << 20, MESSAGE = 64 << 10 };
    static const char *const names[] = {"time", "level", "message", "execution"};
    uint64_t size;
    if (mwl_json_write_within(heap, take_record, MWL_JSON_COMPACT, MOST, NULL, NULL, &size) ==
        MWL_OK)
        return take_record;
    mwl_value out = mwl_object(heap, 5);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mwl_value v = mwl_get(take_record, names[i]);
        size_t len = 0;
        if (mwl_is_absent(v)) continue;
        const char *text = mwl_as_text(v, &len);
        out = mwl__io_set(heap, out, names[i],
                          mwl__io_text(heap, text, mwl__io_cut(io, text, len, MESSAGE)));
    }
    mwl_value_drop(heap, take_record);
    return mwl__io_set(heap, out, "cut", mwl_bool(true));
}

size_t mwl__io_log(mwl_io *io, mwl_io_level level, const char *message, size_t len,
                   mwl_value fields, mwl_run *run) {
    mwl_heap *heap = mwl_vm_heap(io->vm);
    mwl_value record = shortened(io, heap, record_of(io, heap, level, message, len, fields, run));
    line out = {NULL, 0, 0};
    mwl_value shown = mwl_io_shown(io->secrets, heap, record);
    if (!mwl_is_absent(shown) && write_redacted(io, heap, shown, &out) == MWL_OK) {
        if (io->options.log)
            io->options.log(io->options.log_ctx, level, out.text, out.len);
        else
            fprintf(stderr, "%.*s\n", (int)out.len, out.text);
    }
    free(out.text);
    mwl_value_drop(heap, shown);
    mwl_value_drop(heap, record);
    return out.len;
}

/* ---- libraries ------------------------------------------------------------------------------- */

const char *mwl__io_load(const char *const *names, const char *const *functions, size_t n,
                         void **table) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char message[200];
    const char *why = NULL;
    pthread_mutex_lock(&lock);
    void *library = NULL;
    for (size_t i = 0; names[i] && !library; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(message, sizeof message, "%s cannot be loaded", names[0]);
        why = message;
    }
    for (size_t i = 0; i < n && !why; i++) {
        table[i] = dlsym(library, functions[i]);
        if (table[i]) continue;
        snprintf(message, sizeof message, "%s has no function %s", names[0], functions[i]);
        why = message;
    }
    pthread_mutex_unlock(&lock);
    return why;
}
