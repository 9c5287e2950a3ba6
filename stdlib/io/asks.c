/* asks.c: what the uses of providers in a definition ask for, before it runs.
 *
 * A value that an expression computes is not known. Everything is only read from JSON: nothing is
 * loaded, and no name is looked up. */
#include "stdlib/io/io.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

typedef struct asking {
    void (*ask)(void *ctx, mwl_io_right right, const char *what);
    void *ctx;
} asking;

/* The text, or NULL if it is not a constant one. */
static const char *constant(mwl_value v) {
    const char *text = mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, NULL) : NULL;
    return text && !strstr(text, "{{") ? text : NULL;
}

static bool is_computed(mwl_value v) { return !mwl_is_absent(v) && !constant(v); }

/* A member of the arguments. If an expression computes all of them, it is that expression. */
static mwl_value member(mwl_value with, const char *name) {
    return mwl_value_kind(with) == MWL_KIND_STRING ? with : mwl_get(with, name);
}

/* "host:port" of a URL. */
static void ask_url(const asking *a, mwl_value v) {
    char host[300];
    const char *url = constant(v);
    const char *from = url ? strstr(url, "://") : NULL;
    if (!from) {
        a->ask(a->ctx, MWL_IO_HTTP, NULL);
        return;
    }
    from += 3;
    size_t n = strcspn(from, "/?#");
    const char *at = NULL;
    for (size_t i = 0; i < n; i++)
        if (from[i] == '@') at = from + i;
    if (at) n -= (size_t)(at + 1 - from), from = at + 1;
    if (n > sizeof host - 8) n = sizeof host - 8;
    for (size_t i = 0; i < n; i++) host[i] = (char)tolower((unsigned char)from[i]);
    host[n] = '\0';
    const char *port = strrchr(host, ':'), *bracket = strrchr(host, ']');
    if (!port || (bracket && port < bracket))
        snprintf(host + n, sizeof host - n, strncasecmp(url, "https:", 6) == 0 ? ":443" : ":80");
    a->ask(a->ctx, MWL_IO_HTTP, host);
}

static void ask_value(const asking *a, mwl_io_right right, mwl_value v) {
    if (!mwl_is_absent(v)) a->ask(a->ctx, right, constant(v));
}

/* A text, a list of texts, or an object whose values are texts. */
static void ask_each(const asking *a, mwl_io_right right, mwl_value v) {
    mwl_value item;
    if (mwl_value_kind(v) == MWL_KIND_ARRAY)
        for (size_t i = 0; i < mwl_count(v); i++) ask_value(a, right, mwl_array_at(v, i));
    else if (mwl_value_kind(v) == MWL_KIND_OBJECT)
        for (size_t i = 0; mwl_object_at(v, i, NULL, &item); i++) ask_value(a, right, item);
    else
        ask_value(a, right, v);
}

static void ask_http(const asking *a, mwl_value with) {
    mwl_value tls = mwl_get(with, "tls");
    static const char *const files[] = {"ca", "cert", "key"};
    ask_url(a, mwl_get(with, "url"));
    for (size_t i = 0; i < 3; i++) {
        mwl_value file = mwl_get(tls, files[i]);
        const char *text = constant(file);
        if (text && strncmp(text, "-----BEGIN ", 11) != 0) ask_value(a, MWL_IO_READ, file);
    }
}

static void ask_exec(const asking *a, mwl_value with) {
    mwl_value argv = mwl_get(with, "argv"), first = argv;
    if (mwl_value_kind(argv) == MWL_KIND_ARRAY) first = mwl_array_at(argv, 0);
    a->ask(a->ctx, MWL_IO_EXEC, constant(first));
    ask_value(a, MWL_IO_READ, mwl_get(with, "cwd"));
    ask_each(a, MWL_IO_ENV, mwl_get(with, "inherit"));
}

static void ask_file(const asking *a, mwl_value with) {
    mwl_value action = member(with, "action"), path = member(with, "path");
    const char *name = mwl_is_absent(action) ? "read" : constant(action);
    bool writes = name && (strcmp(name, "write") == 0 || strcmp(name, "append") == 0 ||
                           strcmp(name, "remove") == 0);
    if (!writes || is_computed(action)) a->ask(a->ctx, MWL_IO_READ, constant(path));
    if (writes || is_computed(action)) a->ask(a->ctx, MWL_IO_WRITE, constant(path));
}

static void ask_sqlite(const asking *a, mwl_value with) {
    a->ask(a->ctx, MWL_IO_SQLITE, constant(mwl_get(with, "file")));
}

static void ask_env(const asking *a, mwl_value with) {
    ask_each(a, MWL_IO_ENV, member(with, "names"));
}

static void ask_run(const asking *a, mwl_value with) {
    a->ask(a->ctx, MWL_IO_READ, constant(mwl_get(with, "path")));
}

static void ask_cache(const asking *a, mwl_value with) {
    ask_value(a, MWL_IO_SQLITE, mwl_get(with, "file"));
}

static const struct {
    const char *uri;
    void (*ask)(const asking *a, mwl_value with);
} askers[] = {
    {MWL__IO_CALL_URI("http"), ask_http}, {MWL__IO_CALL_URI("exec"), ask_exec},
    {MWL__IO_CALL_URI("file"), ask_file}, {MWL__IO_CALL_URI("sqlite"), ask_sqlite},
    {MWL__IO_CALL_URI("env"), ask_env},   {MWL__IO_CALL_URI("run"), ask_run},
    {MWL__IO_MW_URI("cache"), ask_cache},
};

void mwl_io_asks(mwl_value member, void (*ask)(void *ctx, mwl_io_right right, const char *what),
                 void *ctx) {
    const asking a = {ask, ctx};
    const char *uri = constant(mwl_get(member, "provider"));
    mwl_value with = mwl_get(member, "with");
    if (mwl_is_absent(with)) with = mwl_get(mwl_get(member, "onEntry"), "with");
    for (size_t i = 0; uri && i < sizeof askers / sizeof *askers; i++)
        if (strcmp(uri, askers[i].uri) == 0) askers[i].ask(&a, with);
}
