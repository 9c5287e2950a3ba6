/* exec_start.c: what starting a program needs: its path, arguments, environment, folder and input.
 *
 * The input is written to a file in memory, which the program gets as its standard input. So the
 * loop does not have to feed a program that reads slowly or not at all. */
#include "stdlib/io/exec.h"
#include "stdlib/io/codec.h"
#include "stdlib/io/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "Provider.Call.Exec"

static void no_memory(mwl_call *call) {
    mwl__io_fail(call, PREFIX ".StartFailed", true, mwl_absent(), "out of memory");
}

/* ---- lists of texts -------------------------------------------------------------------------- */

/* Texts that end in NUL, one after the other. */
static bool add_text(mwl__bytes *b, mwl_value v, char end) {
    size_t len = 0;
    const char *text = mwl_as_text(v, &len);
    return mwl__bytes_add(b, text, len) && mwl__bytes_add(b, &end, 1);
}

/* One block: n pointers and a NULL, and the texts after them. The run pays for it as long as the
 * program, which has a copy, runs. */
static char **pointers(mwl__bytes *texts, size_t n) {
    const size_t size = (n + 1) * sizeof(char *) + texts->len;
    char **list = mwl_purse_take(texts->payer->purse, size) ? malloc(size) : NULL;
    if (!list) return NULL;
    char *at = (char *)(list + n + 1);
    if (texts->len) memcpy(at, texts->data, texts->len);
    for (size_t i = 0; i < n; i++) {
        list[i] = at;
        at += strlen(at) + 1;
    }
    list[n] = NULL;
    return list;
}

static bool make_argv(mwl__exec_plan *plan, mwl_call *call, mwl_value argv) {
    mwl__bytes texts = {.payer = &plan->payer};
    bool ok = true, nul = false;
    for (size_t i = 0; i < mwl_count(argv); i++) {
        ok = ok && add_text(&texts, mwl_array_at(argv, i), '\0');
        nul = nul || mwl__io_has_nul(mwl_array_at(argv, i));
    }
    if (ok && !nul) plan->argv = pointers(&texts, mwl_count(argv));
    mwl__bytes_free(&texts);
    if (nul)
        mwl__io_fail(call, PREFIX ".StartFailed", false, mwl_absent(),
                     "an argument contains a NUL character");
    else if (!plan->argv)
        no_memory(call);
    return plan->argv;
}

/* ---- the environment ------------------------------------------------------------------------- */

static bool add_variable(mwl__bytes *texts, const char *name, const char *value, size_t *n) {
    ++*n;
    return mwl__bytes_add(texts, name, strlen(name)) && mwl__bytes_add(texts, "=", 1) &&
           mwl__bytes_add(texts, value, strlen(value) + 1);
}

/* Adds NAME=VALUE of the host, if it is set. */
static bool add_inherited(mwl__bytes *texts, const char *name, size_t *n) {
    const char *value = getenv(name);
    return !value || add_variable(texts, name, value, n);
}

/* Whether every program may be started, so that nothing is gained by making one run other code. */
static bool may_start_all(mwl_io *io) { return mwl__io_may(io, MWL_IO_EXEC, "*"); }

/* NULL, or why a variable cannot be set. */
static const char *bad_variable(mwl_value key, mwl_value value) {
    const char *name = mwl_as_text(key, NULL);
    if (!*name || strchr(name, '=') || mwl__io_has_nul(key)) return "a name in env is not valid";
    return mwl__io_has_nul(value) ? "a value in env contains a NUL character" : NULL;
}

static bool refuse_names(mwl_io *io, mwl_call *call, mwl_value env, mwl_value inherit) {
    mwl_value key, value;
    for (size_t i = 0; mwl_object_at(env, i, &key, &value); i++) {
        const char *why = bad_variable(key, value);
        if (why) {
            mwl__io_fail(call, PREFIX ".StartFailed", false, mwl_absent(), "%s", why);
            return true;
        }
        if (strncmp(mwl_as_text(key, NULL), "LD_", 3) == 0 && !may_start_all(io)) {
            mwl__io_refuse(call, PREFIX, MWL_IO_EXEC, NULL);
            return true;
        }
    }
    for (size_t i = 0; i < mwl_count(inherit); i++) {
        const char *name = mwl_as_text(mwl_array_at(inherit, i), NULL);
        if (mwl__io_may(io, MWL_IO_ENV, name)) continue;
        mwl__io_refuse(call, PREFIX, MWL_IO_ENV, name);
        return true;
    }
    return false;
}

/* Adds the variables by which a program recognises a call that is made again after a crash. */
static bool add_key(mwl__bytes *texts, mwl_call *call, size_t *n) {
    char attempt[20];
    mwl_value key = mwl_call_key(call);
    const char *text = mwl_is_absent(key) ? NULL : mwl_as_text(key, NULL);
    snprintf(attempt, sizeof attempt, "%u", (unsigned)mwl_call_attempt(call));
    bool ok = text && strlen(text) && add_variable(texts, "MWLVM_CALL_KEY", text, n) &&
              add_variable(texts, "MWLVM_CALL_ATTEMPT", attempt, n);
    if (text) mwl_value_drop(mwl_call_heap(call), key);
    return ok;
}

static bool make_env(mwl__exec_plan *plan, mwl_io *io, mwl_call *call, mwl_value args) {
    mwl_value env = mwl_get(args, "env"), inherit = mwl_get(args, "inherit"), key, value;
    mwl__bytes texts = {.payer = &plan->payer};
    size_t n = 0;
    if (refuse_names(io, call, env, inherit)) return false;
    bool ok = !mwl_is_absent(mwl_get(env, "PATH")) || add_inherited(&texts, "PATH", &n);
    ok = ok && add_key(&texts, call, &n);
    for (size_t i = 0; i < mwl_count(inherit); i++) {
        mwl_value name = mwl_array_at(inherit, i);
        const char *text = mwl_as_text(name, NULL);
        bool again = strcmp(text, "PATH") == 0 || !mwl_is_absent(mwl_object_find(env, name));
        ok = ok && (again || add_inherited(&texts, text, &n));
    }
    for (size_t i = 0; mwl_object_at(env, i, &key, &value); i++, n++)
        ok = ok && add_text(&texts, key, '=') && add_text(&texts, value, '\0');
    if (ok) plan->env = pointers(&texts, n);
    mwl__bytes_free(&texts);
    if (!plan->env) no_memory(call);
    return plan->env;
}

/* ---- the program ----------------------------------------------------------------------------- */

static bool is_program(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* Looks a name up in PATH of the host, as a shell does. */
static bool look_up(const char *name, char out[PATH_MAX]) {
    const char *folders = getenv("PATH");
    if (!folders) folders = "/usr/local/bin:/usr/bin:/bin";
    for (const char *from = folders;; from++) {
        size_t n = strcspn(from, ":");
        int len = n ? snprintf(out, PATH_MAX, "%.*s/%s", (int)n, from, name) : 0;
        if (len > 0 && len < PATH_MAX && out[0] == '/' && is_program(out)) return true;
        from += n;
        if (!*from) return false;
    }
}

static bool find_program(mwl__exec_plan *plan, mwl_io *io, mwl_call *call) {
    const char *name = plan->argv[0];
    if (!mwl__io_may(io, MWL_IO_EXEC, name)) {
        mwl__io_refuse(call, PREFIX, MWL_IO_EXEC, name);
        return false;
    }
    if (!strchr(name, '/')) {
        if (*name && look_up(name, plan->path)) return true;
    } else if (mwl__path_absolute(NULL, name, plan->path, sizeof plan->path)) {
        /* the path that the policy has looked at: "link/../x" is "x" for both */
        if (access(plan->path, F_OK) == 0) return true;
    }
    mwl__io_fail(call, PREFIX ".NotFound", false, mwl_absent(), "%s: no such program", name);
    return false;
}

/* ---- folder and input ------------------------------------------------------------------------ */

/* The folder is entered by its descriptor, so that it is the one that was checked. */
static bool open_folder(mwl__exec_plan *plan, mwl_io *io, mwl_call *call, mwl_value cwd) {
    const char *path = mwl_as_text(cwd, NULL);
    if (!path) return true;
    if (mwl__io_has_nul(cwd)) {
        mwl__io_fail(call, PREFIX ".StartFailed", false, mwl_absent(),
                     "cwd contains a NUL character");
        return false;
    }
    plan->cwd_fd = mwl__io_file_open(io, MWL_IO_READ, path, O_RDONLY | O_DIRECTORY, 0);
    if (plan->cwd_fd >= 0) {
        snprintf(plan->cwd_text, sizeof plan->cwd_text, "/proc/self/fd/%d", plan->cwd_fd);
        plan->cwd = plan->cwd_text;
        return true;
    }
    if (plan->cwd_fd == -EPERM || plan->cwd_fd == -EXDEV)
        mwl__io_refuse(call, PREFIX, MWL_IO_READ, path);
    else
        mwl__io_fail(call, PREFIX ".StartFailed", false, mwl_absent(), "cwd %s: %s", path,
                     strerror(-plan->cwd_fd));
    return false;
}

static bool write_all(int fd, const char *data, size_t len) {
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        data += n;
        len -= (size_t)n;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

/* The parameter stdin, or the input of the call as JSON. */
static bool make_input(mwl__exec_plan *plan, mwl_call *call, mwl_value given) {
    mwl__bytes text = {.payer = &plan->payer};
    mwl_heap *heap = mwl_call_heap(call);
    mwl_value v = mwl_is_absent(given) ? mwl_call_input(call) : given;
    if (mwl_value_kind(v) == MWL_KIND_NULL) return true;
    bool ok = mwl_is_absent(given)
                  ? mwl_json_write_to(heap, v, MWL_JSON_COMPACT, mwl__bytes_sink, &text) == MWL_OK
                  : mwl__encode_plain(heap, v, &text) == MWL_OK;
    if (ok) plan->stdin_fd = memfd_create("mwlvm-stdin", MFD_CLOEXEC);
    ok = ok && plan->stdin_fd >= 0 && mwl_purse_take(plan->payer.purse, text.len) &&
         write_all(plan->stdin_fd, text.data, text.len);
    mwl__bytes_free(&text);
    if (!ok) no_memory(call);
    return ok;
}

/* ---- the plan -------------------------------------------------------------------------------- */

bool mwl__exec_plan_make(mwl__exec_plan *plan, mwl_io *io, mwl_call *call) {
    mwl_value args = mwl_call_arguments(call);
    plan->argv = plan->env = NULL;
    plan->cwd = NULL;
    plan->cwd_fd = plan->stdin_fd = -1;
    if (!mwl__payer_open(&plan->payer, call)) {
        no_memory(call);
        return false;
    }
    bool ok = make_argv(plan, call, mwl_get(args, "argv")) && find_program(plan, io, call) &&
              make_env(plan, io, call, args) && open_folder(plan, io, call, mwl_get(args, "cwd")) &&
              make_input(plan, call, mwl_get(args, "stdin"));
    if (!ok) mwl__exec_plan_free(plan);
    return ok;
}

void mwl__exec_plan_free(mwl__exec_plan *plan) {
    free(plan->argv);
    free(plan->env);
    if (plan->cwd_fd >= 0) close(plan->cwd_fd);
    if (plan->stdin_fd >= 0) close(plan->stdin_fd);
    mwl__payer_close(&plan->payer);
}
