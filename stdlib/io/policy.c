/* policy.c: what providers may touch: flags, policy files, questions about names and hosts.
 *
 * Refuses to know: how a file is opened inside an allowed folder (confine.c), addresses of the
 * network (call_http.c). */
#include "stdlib/io/policy.h"

#include "stdlib/io/io_impl.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

const char *mwl_io_right_name(mwl_io_right right) {
    static const char *const names[] = {
#define MWL_X(id, name, what) name,
        MWL_IO_RIGHTS(MWL_X)
#undef MWL_X
    };
    return names[right];
}

mwl_status mwl_io_policy_new(mwl_io_policy **out) {
    *out = calloc(1, sizeof **out);
    return *out ? MWL_OK : MWL_E_NOMEM;
}

void mwl_io_policy_free(mwl_io_policy *policy) {
    if (!policy) return;
    for (int r = 0; r < MWL_IO_N_RIGHTS; r++) {
        for (size_t i = 0; i < policy->of[r].n; i++) free(policy->of[r].entries[i]);
        free(policy->of[r].entries);
    }
    free(policy);
}

void mwl_io_policy_allow_all(mwl_io_policy *policy) {
    for (int r = 0; r < MWL_IO_N_RIGHTS; r++) policy->of[r].everything = true;
    policy->all = true;
}

bool mwl_io_policy_any(const mwl_io_policy *policy, mwl_io_right right) {
    return policy && (policy->of[right].everything || policy->of[right].n);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Removes "." and ".." by their text; out holds an absolute path that grows. */
static bool append_path(char *out, size_t cap, size_t *n, const char *path) {
    while (*path) {
        size_t len = strcspn(path, "/");
        if (len == 2 && path[0] == '.' && path[1] == '.') {
            while (*n && out[--*n] != '/') continue;
        } else if (len && !(len == 1 && path[0] == '.')) {
            if (*n + len + 2 > cap) return false;
            out[(*n)++] = '/';
            memcpy(out + *n, path, len);
            *n += len;
        }
        path += len + (path[len] == '/');
    }
    return true;
}

bool mwl__path_absolute(const char *folder, const char *path, char *out, size_t cap) {
    char here[PATH_MAX];
    size_t n = 0;
    if (path[0] != '/') {
        if (!folder || folder[0] != '/') {
            if (!getcwd(here, sizeof here) || !append_path(out, cap, &n, here)) return false;
        }
        if (folder && !append_path(out, cap, &n, folder)) return false;
    }
    if (!append_path(out, cap, &n, path)) return false;
    if (n == 0) out[n++] = '/';
    out[n] = '\0';
    return true;
}

/* "host", "host:port", "[::1]", "[::1]:443"; what is wrong with it, or NULL. */
static const char *bad_host(const char *entry) {
    const char *end = entry[0] == '[' ? strchr(entry, ']') : strchr(entry, ':');
    if (entry[0] == '[' && !end) return "an IPv6 address ends with ']'";
    if (entry[0] == '[') end++;
    if (!end) end = entry + strlen(entry);
    if (end == entry) return "the host is missing";
    if (strchr(entry, '/')) return "a host is wanted, not a URL";
    const char *star = memchr(entry, '*', (size_t)(end - entry));
    if (star && (star != entry || entry[1] != '.' || strchr(entry + 1, '*')))
        return "a '*' stands only at the beginning: *.example.org";
    if (*end == '\0') return NULL;
    char *after;
    long port = *end == ':' ? strtol(end + 1, &after, 10) : 0;
    return port < 1 || port > 65535 || *after ? "a port is a number from 1 to 65535" : NULL;
}

/* The port of "host:port", 0 without one; *len is the length of the host, without brackets at
 * *host. */
static unsigned split_entry(const char *entry, const char **host, size_t *len) {
    const char *end = entry[0] == '[' ? strchr(entry, ']') : strchr(entry, ':');
    *host = entry + (entry[0] == '[');
    *len = end ? (size_t)(end - *host) : strlen(*host);
    if (end && *end == ']') end++;
    return end && *end == ':' ? (unsigned)strtoul(end + 1, NULL, 10) : 0;
}

/* Writes the one form that a host has, as libcurl writes it: lower case, no dot at its end, IPv4
 * addresses as four numbers ("127.1", "0x7f.1" and "2130706433" are addresses), IPv6 addresses as
 * short as they can be. Returns false if it is too long or not an address in its brackets. */
static bool usual_host(const char *host, size_t len, bool v6, char *out, size_t cap) {
    char text[256];
    unsigned char address[16];
    struct in_addr v4;
    if (len == 0 || len >= sizeof text || cap < sizeof text) return false;
    if (len > 1 && !v6 && host[len - 1] == '.') len--;
    for (size_t i = 0; i < len; i++) text[i] = (char)tolower((unsigned char)host[i]);
    text[len] = '\0';
    if (v6) {
        text[strcspn(text, "%")] = '\0'; /* the zone */
        return inet_pton(AF_INET6, text, address) == 1 &&
               inet_ntop(AF_INET6, address, out, (socklen_t)cap);
    }
    if (inet_aton(text, &v4)) return inet_ntop(AF_INET, &v4, out, (socklen_t)cap);
    memcpy(out, text, len + 1);
    return true;
}

/* The same of "host:port". */
static bool usual_form(const char *entry, char *out, size_t cap) {
    const char *host;
    char text[256];
    size_t len;
    unsigned port = split_entry(entry, &host, &len);
    bool v6 = entry[0] == '[';
    if (!usual_host(host, len, v6, text, sizeof text)) return false;
    int n = snprintf(out, cap, v6 ? "[%s]" : "%s", text);
    if (port) snprintf(out + n, cap - (size_t)n, ":%u", port);
    return true;
}

static const char *add_entry(mwl_io_policy *policy, mwl_io_right right, const char *folder,
                             const char *text, size_t len, mwl_status *status) {
    char entry[PATH_MAX], word[PATH_MAX];
    *status = MWL_E_SYNTAX;
    if (len == 0) return "an entry is empty";
    if (len >= sizeof word) return "an entry is too long";
    memcpy(word, text, len);
    word[len] = '\0';
    if (memchr(text, 0, len)) return "an entry has a NUL";
    const char *wrong = NULL;
    bool path = right == MWL_IO_READ || right == MWL_IO_WRITE || right == MWL_IO_SQLITE ||
                (right == MWL_IO_EXEC && strchr(word, '/'));
    snprintf(entry, sizeof entry, "%s", word);
    if (right == MWL_IO_HTTP) {
        wrong = bad_host(word);
        if (!wrong && !usual_form(word, entry, sizeof entry)) wrong = "an address is not valid";
    } else if (path && !mwl__path_absolute(folder, word, entry, sizeof entry)) {
        wrong = "a path is too long";
    }
    if (wrong) return wrong;
    mwl__grants *g = &policy->of[right];
    char *kept = strdup(entry);
    char **grown = kept ? realloc(g->entries, (g->n + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(kept);
        *status = MWL_E_NOMEM;
        return "out of memory";
    }
    g->entries = grown;
    g->entries[g->n++] = kept;
    *status = MWL_OK;
    return NULL;
}

/* What is wrong, and where: in a text that lives until the next one of this thread. */
static _Thread_local char explained[300];

static const char *about(const char *entry, size_t len, const char *wrong) {
    snprintf(explained, sizeof explained, "'%.*s': %s", len < 100 ? (int)len : 100, entry, wrong);
    return explained;
}

static const char *about_right(mwl_io_right right, const char *wrong) {
    char text[sizeof explained];
    snprintf(text, sizeof text, "%s", wrong);
    snprintf(explained, sizeof explained, "%s: %.280s", mwl_io_right_name(right), text);
    return explained;
}

mwl_status mwl_io_policy_allow(mwl_io_policy *policy, mwl_io_right right, const char *list,
                               mwl_error *error) {
    if (!list) {
        policy->of[right].everything = true;
        return MWL_OK;
    }
    for (const char *p = list;;) {
        size_t len = strcspn(p, ",");
        mwl_status status;
        const char *wrong = add_entry(policy, right, NULL, p, len, &status);
        if (wrong) {
            if (error) *error = (mwl_error){status, about(p, len, wrong), (size_t)(p - list)};
            return status;
        }
        p += len;
        if (!*p++) return MWL_OK;
    }
}

/* ---- policy files ---------------------------------------------------------------------------- */

static const char *read_right(mwl_io_policy *policy, mwl_io_right right, mwl_value v,
                              const char *folder, mwl_status *status) {
    *status = MWL_OK;
    if (mwl_value_kind(v) == MWL_KIND_BOOL) {
        if (mwl_as_bool(v)) policy->of[right].everything = true;
        return NULL;
    }
    *status = MWL_E_SYNTAX;
    if (mwl_value_kind(v) != MWL_KIND_ARRAY) return "a right is true, false or a list of texts";
    for (size_t i = 0; i < mwl_count(v); i++) {
        mwl_value item = mwl_array_at(v, i);
        size_t len;
        const char *text = mwl_as_text(item, &len);
        if (!text) return "a right is true, false or a list of texts";
        const char *wrong = add_entry(policy, right, folder, text, len, status);
        if (wrong) return about(text, len, wrong);
    }
    *status = MWL_OK;
    return NULL;
}

static bool text_is(mwl_value v, const char *word) {
    const char *text = mwl_as_text(v, NULL);
    return text && strcmp(text, word) == 0;
}

static const char *read_tree(mwl_io_policy *policy, mwl_value tree, const char *folder,
                             mwl_status *status) {
    *status = MWL_E_SYNTAX;
    mwl_value allow = mwl_get(tree, "allow"), key, value;
    if (mwl_value_kind(tree) != MWL_KIND_OBJECT) return "a policy is an object";
    for (size_t i = 0; mwl_object_at(tree, i, &key, NULL); i++)
        if (!text_is(key, "allow") && !text_is(key, "description"))
            return "a policy has only the members 'allow' and 'description'";
    if (text_is(allow, "all")) {
        mwl_io_policy_allow_all(policy);
        *status = MWL_OK;
        return NULL;
    }
    if (mwl_value_kind(allow) != MWL_KIND_OBJECT) return "'allow' is an object or \"all\"";
    for (size_t i = 0; mwl_object_at(allow, i, &key, &value); i++) {
        int right = 0;
        while (right < MWL_IO_N_RIGHTS && !text_is(key, mwl_io_right_name((mwl_io_right)right)))
            right++;
        if (right == MWL_IO_N_RIGHTS)
            return "the rights are http, exec, read, write, env and sqlite";
        const char *wrong = read_right(policy, (mwl_io_right)right, value, folder, status);
        if (wrong) return about_right((mwl_io_right)right, wrong);
        *status = MWL_E_SYNTAX;
    }
    *status = MWL_OK;
    return NULL;
}

mwl_status mwl_io_policy_read(mwl_io_policy *policy, const char *json, size_t len,
                              const char *folder, mwl_error *error) {
    mwl_heap *heap;
    mwl_value tree = mwl_absent();
    mwl_status status = mwl_heap_new(NULL, &heap);
    if (status < 0) return status;
    mwl_error syntax = {MWL_OK, NULL, 0};
    const char *wrong = NULL;
    status = mwl_json_parse(heap, json, len, &tree, &syntax);
    if (status == MWL_OK) {
        wrong = read_tree(policy, tree, folder, &status);
    } else if (syntax.message) {
        snprintf(explained, sizeof explained, "not JSON at byte %zu: %s", syntax.offset,
                 syntax.message);
        wrong = explained;
    }
    if (wrong && error) *error = (mwl_error){status, wrong, syntax.offset};
    mwl_value_drop(heap, tree);
    mwl_heap_free(heap);
    return status;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Whether a path lies in an entry, by their texts. */
static bool path_inside(const char *entry, const char *path) {
    size_t n = strlen(entry);
    return n == 1 || (strncmp(entry, path, n) == 0 && (path[n] == '\0' || path[n] == '/'));
}

static bool entry_allows(mwl_io_right right, const char *entry, const char *what) {
    size_t len = strlen(entry);
    if (right == MWL_IO_READ || right == MWL_IO_WRITE || right == MWL_IO_SQLITE)
        return path_inside(entry, what);
    if (right == MWL_IO_ENV && len && entry[len - 1] == '*')
        return strncmp(entry, what, len - 1) == 0;
    return strcmp(entry, what) == 0;
}

/* As mwl__io_may_http; host has n bytes. */
static bool allows_host(const mwl_io_policy *policy, const char *host, size_t n, unsigned port,
                        bool *named) {
    const mwl__grants *g = &policy->of[MWL_IO_HTTP];
    *named = policy->all;
    bool allowed = g->everything;
    for (size_t i = 0; i < g->n && !*named; i++) {
        const char *name;
        size_t len;
        unsigned only = split_entry(g->entries[i], &name, &len);
        if (only && only != port) continue;
        if (name[0] == '*') {
            name++, len--; /* ".example.org" */
            if (n > len && memcmp(host + n - len, name, len) == 0) allowed = true;
        } else if (n == len && memcmp(host, name, len) == 0) {
            allowed = *named = true;
        }
    }
    return allowed || *named;
}

bool mwl_io_policy_allows(const mwl_io_policy *policy, mwl_io_right right, const char *what) {
    const mwl__grants *g = &policy->of[right];
    char path[PATH_MAX];
    bool named;
    if (g->everything) return true;
    if (right == MWL_IO_HTTP) {
        const char *host;
        size_t len;
        if (!usual_form(what, path, sizeof path)) return false;
        unsigned port = split_entry(path, &host, &len);
        return allows_host(policy, host, len, port, &named);
    }
    bool is_path = right == MWL_IO_READ || right == MWL_IO_WRITE || right == MWL_IO_SQLITE;
    if (is_path || (right == MWL_IO_EXEC && strchr(what, '/'))) {
        if (!mwl__path_absolute(NULL, what, path, sizeof path)) return false;
        what = path;
    }
    for (size_t i = 0; i < g->n; i++)
        if (entry_allows(right, g->entries[i], what)) return true;
    return false;
}

bool mwl__io_may(const mwl_io *io, mwl_io_right right, const char *what) {
    return mwl_io_policy_allows(io->options.policy, right, what);
}

bool mwl__io_may_http(const mwl_io *io, const char *host, unsigned port, bool *named) {
    return allows_host(io->options.policy, host, strlen(host), port, named);
}
