/* call_env.c: env: named variables of the environment, which are secret unless the call says
 * otherwise. */
#include "stdlib/io/io.h"

#include <stdlib.h>

#define PREFIX "Provider.Call.Env"

typedef struct reading {
    mwl_io *io;
    mwl_call *call;
    mwl_value otherwise;
    bool secret;
} reading;

/* Settles the call if the variable is not allowed. */
static bool allowed(const reading *r, mwl_value name) {
    const char *text = mwl_as_text(name, NULL);
    if (mwl__io_may(r->io, MWL_IO_ENV, text)) return true;
    mwl__io_refuse(r->call, PREFIX, MWL_IO_ENV, text);
    return false;
}

/* The text of a variable; absent if the call has been settled with a failure. */
static mwl_value variable(const reading *r, mwl_value name) {
    mwl_heap *heap = mwl_call_heap(r->call);
    const char *text = getenv(mwl_as_text(name, NULL));
    if (!text && !mwl_is_absent(r->otherwise)) return mwl_value_keep(r->otherwise);
    if (!text) {
        mwl_value details = mwl__io_set(heap, mwl_object(heap, 1), "name", mwl_value_keep(name));
        mwl__io_fail(r->call, PREFIX ".NotSet", false, details, "the variable %s is not set",
                     mwl_as_text(name, NULL));
        return mwl_absent();
    }
    mwl_value v = mwl_absent();
    if (!r->secret || mwl_io_secret(r->io, mwl_call_run(r->call), text, strlen(text)) == MWL_OK)
        v = mwl__io_text(heap, text, strlen(text));
    if (mwl_is_absent(v))
        mwl__io_fail(r->call, PREFIX ".OutOfMemory", true, mwl_absent(), "out of memory");
    return v;
}

/* Pair i of an array of names or of an object with names. */
static bool pair_at(mwl_value names, size_t i, mwl_value *key, mwl_value *name) {
    if (mwl_value_kind(names) == MWL_KIND_OBJECT) return mwl_object_at(names, i, key, name);
    *key = *name = mwl_array_at(names, i);
    return !mwl_is_absent(*name);
}

static void read_several(const reading *r, mwl_value names) {
    mwl_heap *heap = mwl_call_heap(r->call);
    mwl_value key, name;
    for (size_t i = 0; pair_at(names, i, &key, &name); i++)
        if (!allowed(r, name)) return;
    mwl_value all = mwl_object(heap, mwl_count(names));
    for (size_t i = 0; pair_at(names, i, &key, &name); i++) {
        mwl_value v = variable(r, name);
        if (mwl_is_absent(v)) {
            mwl_value_drop(heap, all);
            return;
        }
        all = mwl_object_put(heap, all, mwl_value_keep(key), v);
    }
    mwl_call_succeed(r->call, all);
}

static void env_start(mwl_call *call, void *user) {
    mwl_value args = mwl_call_arguments(call), names = mwl_get(args, "names");
    const reading r = {user, call, mwl_get(args, "default"),
                       mwl__io_arg_bool(args, "secret", true)};
    if (mwl_value_kind(names) != MWL_KIND_STRING) {
        read_several(&r, names);
    } else if (allowed(&r, names)) {
        mwl_value v = variable(&r, names);
        if (!mwl_is_absent(v)) mwl_call_succeed(call, v);
    }
}

const mwl_call_provider mwl__io_call_env = {MWL__IO_CALL(env, "env"), .start = env_start};
const mwl__io_life mwl__io_call_env_life = {NULL};
