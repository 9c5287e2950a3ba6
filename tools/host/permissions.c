/* permissions.c: see permissions.h. */
#include "tools/host/permissions.h"

#include "tools/host/bind.h"
#include "tools/base/cmd.h"
#include "tools/base/file_in.h"
#include "tools/base/path.h"
#include "tools/base/term.h"
#include "vm/program/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(MWL_HAVE_IO)
#include "mwl_io.h"

/* ---- options --------------------------------------------------------------------------------- */

static int need_policy(struct permissions *p) {
    if (p->policy || mwl_io_policy_new(&p->policy) == MWL_OK) return CMD_OK;
    return cmd_no_memory();
}

static int allow(struct permissions *p, mwl_io_right right, const char *list) {
    mwl_error error = {MWL_OK, NULL, 0};
    int status = need_policy(p);
    if (status != CMD_OK) return status;
    if (mwl_io_policy_allow(p->policy, right, *list ? list : NULL, &error) == MWL_OK) return CMD_OK;
    return cmd_usage("--allow-%s=%s: %s", mwl_io_right_name(right), list, error.message);
}

#define MWL_X(id, name, what)                                                                      \
    static int take_##id(void *base, const char *list) { return allow(base, MWL_IO_##id, list); }
MWL_IO_RIGHTS(MWL_X)
#undef MWL_X

static int take_all(void *base, const char *word) {
    struct permissions *p = base;
    if (*word) return cmd_usage("--allow-all takes no value");
    int status = need_policy(p);
    if (status == CMD_OK) mwl_io_policy_allow_all(p->policy);
    return status;
}

static int take_policy(void *base, const char *path) {
    struct permissions *p = base;
    struct limits limits = limits_default();
    struct file_text text;
    char folder[4096];
    mwl_error error = {MWL_OK, NULL, 0};
    int status = need_policy(p);
    if (status == CMD_OK) status = file_in(&limits, path, &text);
    if (status != CMD_OK) return status;
    int len = (int)(path_last(path) - path);
    snprintf(folder, sizeof folder, "%.*s", len ? len : 1, len ? path : ".");
    mwl_status read = mwl_io_policy_read(p->policy, text.data, text.size, folder, &error);
    file_in_free(&limits, &text);
    if (read == MWL_OK) return CMD_OK;
    cmd_fail("%s: %s", path, error.message ? error.message : mwl_status_text(read));
    return CMD_USAGE;
}

const struct option permission_options[] = {
    {"What providers may touch", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--allow-http", OPTION_FORM, 0, "=HOST[:PORT],...",
     "let http reach these hosts; without a list, public ones", take_HTTP},
    {"--allow-exec", OPTION_FORM, 0, "=PROGRAM,...", "let exec start these programs", take_EXEC},
    {"--allow-read", OPTION_FORM, 0, "=PATH,...", "let files be read there and below", take_READ},
    {"--allow-write", OPTION_FORM, 0, "=PATH,...", "let files be written there and below",
     take_WRITE},
    {"--allow-env", OPTION_FORM, 0, "=NAME,...", "let these variables be read", take_ENV},
    {"--allow-sqlite", OPTION_FORM, 0, "=FILE,...", "let these databases be used", take_SQLITE},
    {"--allow-all", OPTION_FORM, 0, "", "allow everything, also addresses of private networks",
     take_all},
    {"--policy", OPTION_CALL, 0, "FILE", "allow what a policy file allows", take_policy},
};
const size_t n_permission_options = sizeof permission_options / sizeof *permission_options;

void permissions_free(struct permissions *p) {
    mwl_io_policy_free(p->policy);
    p->policy = NULL;
}

/* ---- what a definition asks for -------------------------------------------------------------- */

struct wants {
    const mwl_io_policy *policy; /* only what it does not allow; NULL: everything */
    const struct binds *binds;   /* or NULL */
    char **flags;                /* each once */
    size_t n;
    bool failed;
};

/* The length of "host:port" without a port that is usual: the flag is shorter, and allows it too.
 */
static int without_port(const char *what, int len) {
    static const char *const usual[] = {":443", ":80"};
    for (size_t i = 0; i < 2; i++) {
        int n = (int)strlen(usual[i]);
        if (len > n && strcmp(what + len - n, usual[i]) == 0) return len - n;
    }
    return len;
}

static void add_flag(void *ctx, mwl_io_right right, const char *what) {
    struct wants *w = ctx;
    char flag[4400];
    if (w->policy &&
        (what ? mwl_io_policy_allows(w->policy, right, what) : mwl_io_policy_any(w->policy, right)))
        return;
    int len = what ? (int)strlen(what) : 0;
    if (right == MWL_IO_HTTP) len = without_port(what, len);
    snprintf(flag, sizeof flag, "--allow-%s%s%.*s", mwl_io_right_name(right), what ? "=" : "", len,
             what ? what : "");
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->flags[i], flag) == 0) return;
    char **grown = realloc(w->flags, (w->n + 1) * sizeof *grown);
    if (grown) w->flags = grown;
    char *kept = grown ? strdup(flag) : NULL;
    if (kept)
        w->flags[w->n++] = kept;
    else
        w->failed = true;
}

/* Every object of the definition; depth is limited by the parser. */
static void walk(struct wants *w, mwl_value v) {
    mwl_value item;
    if (mwl_value_kind(v) == MWL_KIND_OBJECT) {
        const char *uri = mwl_as_text(mwl_get(v, "provider"), NULL);
        if (uri && !(w->binds && binds_has(w->binds, uri))) mwl_io_asks(v, add_flag, w);
        for (size_t i = 0; mwl_object_at(v, i, NULL, &item); i++) walk(w, item);
    } else if (mwl_value_kind(v) == MWL_KIND_ARRAY) {
        for (size_t i = 0; i < mwl_count(v); i++) walk(w, mwl_array_at(v, i));
    }
}

static int look(struct wants *w, const char *text, size_t len) {
    mwl_heap *heap;
    mwl_value tree = mwl_absent();
    if (mwl_heap_new(NULL, &heap) != MWL_OK) return cmd_no_memory();
    mwl_status status = mwl_json_parse(heap, text, len, &tree, NULL);
    if (status == MWL_OK) walk(w, tree);
    mwl_value_drop(heap, tree);
    mwl_heap_free(heap);
    return status == MWL_E_NOMEM || w->failed ? cmd_no_memory() : CMD_OK;
}

/* A program without its definition: the rights of what it imports. */
static void look_at_imports(struct wants *w, const mwl_program *program) {
    for (uint32_t i = 0; i < mwl__view_n_imports(program); i++) {
        const char *uri = mwl__view_uri(program, i);
        const mwl_io_provider *p;
        for (size_t k = 0; (p = mwl_io_provider_at(k)); k++) {
            if (strcmp(uri, p->uri) != 0 || (w->binds && binds_has(w->binds, uri))) continue;
            /* a middleware may do without */
            bool any = !p->rights || !mwl__view_is_called(program, i);
            for (int r = 0; r < MWL_IO_N_RIGHTS && !any; r++)
                any = p->rights & 1u << r && w->policy &&
                      mwl_io_policy_any(w->policy, (mwl_io_right)r);
            for (int r = 0; r < MWL_IO_N_RIGHTS && !any; r++)
                if (p->rights & 1u << r) add_flag(w, (mwl_io_right)r, NULL);
        }
    }
}

static void free_wants(struct wants *w) {
    for (size_t i = 0; i < w->n; i++) free(w->flags[i]);
    free(w->flags);
}

int permissions_check(const struct permissions *p, const char *path, const mwl_program *program,
                      const struct binds *binds) {
    mwl_io_policy *nothing = NULL;
    if (!p->policy && mwl_io_policy_new(&nothing) != MWL_OK) return cmd_no_memory();
    struct wants w = {.policy = p->policy ? p->policy : nothing, .binds = binds};
    int status = CMD_OK;
    if (program->source)
        status = look(&w, program->source, program->source_size);
    else
        look_at_imports(&w, program);
    if (status == CMD_OK && w.n) {
        cmd_fail("%s asks for what is not allowed; nothing was started. These would allow it:",
                 file_in_name(path));
        for (size_t i = 0; i < w.n; i++)
            term_printf(stderr, "  %s", w.flags[i]), fputc('\n', stderr);
        status = CMD_USAGE;
    }
    free_wants(&w);
    mwl_io_policy_free(nothing);
    return status;
}

int permissions_list(const char *path, const char *text, size_t len) {
    struct wants w = {.policy = NULL};
    int status = look(&w, text, len);
    if (status == CMD_OK) {
        term_printf(stdout, w.n ? "%s asks for:" : "%s asks for nothing", file_in_name(path));
        putchar('\n');
    }
    for (size_t i = 0; status == CMD_OK && i < w.n; i++) {
        fputs("  ", stdout);
        term_text(stdout, w.flags[i], strlen(w.flags[i]));
        puts(strchr(w.flags[i], '=') ? "" : "  (known only when it runs)");
    }
    free_wants(&w);
    return status;
}
#else
const struct option permission_options[] = {{NULL, OPTION_FLAG, 0, NULL, NULL, NULL}};
const size_t n_permission_options = 0;
void permissions_free(struct permissions *p) { (void)p; }
int permissions_check(const struct permissions *p, const char *path, const mwl_program *program,
                      const struct binds *binds) {
    (void)p, (void)path, (void)program, (void)binds;
    return CMD_OK;
}
int permissions_list(const char *path, const char *text, size_t len) {
    (void)path, (void)text, (void)len;
    return cmd_fail("this build has no providers that need a permission");
}
#endif
