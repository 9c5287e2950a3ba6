/* mw_redact.c: redact: marks parts of values as secret: their paths, so that no value is shown with
 * them, and the texts that the entry sees there, so that no other text is shown with those. The
 * state of the entry is its paths. */
#include "stdlib/io/mw.h"

#define PREFIX "Provider.Middleware.Redact"

/* A text has about ten forms, each is a few allocations and its length. */
static bool mark_text(mwl_phase *phase, mwl_io *io, const char *text, size_t len) {
    return mwl_phase_charge(phase, 64 + len) == MWL_OK &&
           mwl_io_secret(io, mwl_phase_run(phase), text, len) == MWL_OK;
}

/* Marks all texts and numbers of a value, each step for fuel: parts may be shared. Values are not
 * deeper than the parser allows. */
static bool mark(mwl_phase *phase, mwl_io *io, mwl_value v) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_kind kind = mwl_value_kind(v);
    mwl_value item;
    bool ok = mwl_phase_charge(phase, 1) == MWL_OK;
    size_t len = 0;
    if (kind == MWL_KIND_STRING) {
        const char *text = mwl_as_text(v, &len);
        return ok && mark_text(phase, io, text, len);
    }
    if (kind == MWL_KIND_NUMBER) {
        char *text = NULL;
        ok = mwl_json_write(heap, v, MWL_JSON_COMPACT, &text, &len) == MWL_OK &&
             mark_text(phase, io, text, len);
        mwl_text_free(heap, text, len);
        return ok;
    }
    for (size_t i = 0; kind == MWL_KIND_ARRAY && i < mwl_count(v) && ok; i++)
        ok = mark(phase, io, mwl_array_at(v, i));
    for (size_t i = 0; kind == MWL_KIND_OBJECT && ok && mwl_object_at(v, i, NULL, &item); i++)
        ok = mark(phase, io, item);
    return ok;
}

/* Element `name` of an array. */
static mwl_value element(mwl_value array, const char *name, size_t n) {
    size_t i = 0;
    if (n == 0 || n > 9) return mwl_absent();
    for (size_t k = 0; k < n; k++) {
        if (name[k] < '0' || name[k] > '9') return mwl_absent();
        i = i * 10 + (size_t)(name[k] - '0');
    }
    return mwl_array_at(array, i);
}

static bool mark_path(mwl_phase *phase, mwl_io *io, mwl_value v, const char *path, size_t len) {
    if (mwl_is_absent(v)) return true;
    if (mwl_phase_charge(phase, 1) != MWL_OK) return false;
    const char *dot = memchr(path, '.', len);
    size_t n = dot ? (size_t)(dot - path) : len, left = dot ? len - n - 1 : 0;
    const char *rest = dot ? dot + 1 : path + len;
    bool array = mwl_value_kind(v) == MWL_KIND_ARRAY, ok = true;
    mwl_value item;
    if (len == 0) return mark(phase, io, v);
    if (!array && mwl_value_kind(v) != MWL_KIND_OBJECT) return true;
    if (n != 1 || *path != '*') {
        item = array ? element(v, path, n) : mwl_object_get(v, path, n);
        return mark_path(phase, io, item, rest, left);
    }
    for (size_t i = 0; array && i < mwl_count(v) && ok; i++)
        ok = mark_path(phase, io, mwl_array_at(v, i), rest, left);
    for (size_t i = 0; !array && ok && mwl_object_at(v, i, NULL, &item); i++)
        ok = mark_path(phase, io, item, rest, left);
    return ok;
}

static bool mark_paths(mwl_phase *phase, mwl_io *io, mwl_value paths, mwl_value v) {
    bool ok = true;
    for (size_t i = 0; i < mwl_count(paths) && ok; i++) {
        size_t len = 0;
        const char *path = mwl_as_text(mwl_array_at(paths, i), &len);
        ok = mark_path(phase, io, v, path, len);
    }
    return ok;
}

/* Nothing is shown at these paths from now on. phase: NULL before a run. */
static bool add_paths(mwl_phase *phase, mwl_io *io, mwl_value paths) {
    enum { LOOK = 512 }; /* for the paths that are there */
    bool ok = true;
    for (size_t i = 0; i < mwl_count(paths) && ok; i++) {
        size_t len = 0;
        const char *path = mwl_as_text(mwl_array_at(paths, i), &len);
        ok = (!phase || mwl_phase_charge(phase, LOOK + len) == MWL_OK) &&
             mwl__io_secret_path(io, phase ? mwl_phase_run(phase) : NULL, path, len) == MWL_OK;
    }
    return ok;
}

/* Constant paths are known before the run begins: so its first event does not show them. */
static mwl_value redact_prepare(mwl_heap *heap, mwl_value args, void *user) {
    (void)heap;
    return mwl_bool(add_paths(NULL, user, mwl_get(args, "paths")));
}

static void redact_entry(mwl_phase *phase, void *user) {
    mwl_value paths = mwl_get(mwl_phase_arguments(phase), "paths");
    if (mwl_phase_set_state(phase, mwl_value_keep(paths)) != MWL_OK) return;
    if (!add_paths(phase, user, paths) || !mark_paths(phase, user, paths, mwl_phase_input(phase)))
        mwl__mw_refuse(phase, PREFIX ".OutOfMemory", true, -1, "out of memory");
}

static void redact_result(mwl_phase *phase, mwl_io *io, mwl_value v) {
    mwl_value paths = mwl_phase_state(phase);
    if (mwl_value_kind(paths) != MWL_KIND_ARRAY || mark_paths(phase, io, paths, v)) return;
    mwl_phase_fail(phase, NULL, PREFIX ".OutOfMemory", "out of memory", mwl_absent());
}

static void redact_success(mwl_phase *phase, void *user) {
    redact_result(phase, user, mwl_phase_result_value(phase));
}

static void redact_failure(mwl_phase *phase, void *user) {
    redact_result(phase, user, mwl_get(mwl_phase_result_value(phase), "details"));
}

const mwl_middleware mwl__io_mw_redact = {MWL__IO_MW(redact, "redact"), .entry = redact_entry,
                                          .success = redact_success, .failure = redact_failure,
                                          .prepare = redact_prepare};
const mwl__io_life mwl__io_mw_redact_life = {NULL};
