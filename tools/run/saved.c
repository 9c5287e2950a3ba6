/* saved.c: see saved.h. The file is: MWLR and a version (8 bytes), the lengths of the image and of
 * the secrets (8 bytes each, little-endian), the image, the secrets as JSON (or nothing), the run's
 * bytes. It has the data of the run, and so only its owner may read it. */
#include "tools/run/saved.h"

#include "tools/base/cmd.h"
#include "tools/base/file_out.h"
#include "tools/base/redact.h"
#include "vm/base/suggest.h"
#include "vm/explore/look.h"
#include "vm/program/view.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>

static const char magic[8] = "MWLR\0\0\0\2";
enum { HEAD = 24 };

static mwl_status add_piece(void *ctx, const char *text, size_t len) {
    mwl__buf *b = ctx;
    mwl__buf_put(b, text, len);
    return b->failed ? MWL_E_NOMEM : MWL_OK;
}

static void put_length(mwl__buf *out, uint64_t n) {
    for (int i = 0; i < 8; i++) mwl__buf_putc(out, (char)(n >> (8 * i)));
}

static uint64_t get_length(const unsigned char *at) {
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) n |= (uint64_t)at[i] << (8 * i);
    return n;
}

int saved_write(const char *path, const mwl_program *program, mwl_run *run) {
    void *bytes = NULL;
    size_t size = 0;
    mwl_vm *vm = mwl_run_vm(run);
    mwl_status st = mwl_run_save(run, &bytes, &size, NULL);
    if (st < 0) return cmd_fail("the run cannot be saved: %s", mwl_status_text(st));
    mwl__buf out = mwl__buf_make(mwl_alloc_default()), secrets = mwl__buf_make(out.alloc);
    if (redact_save(NULL, add_piece, &secrets) < 0) out.failed = true;
    mwl__buf_put(&out, magic, sizeof magic);
    put_length(&out, program->size);
    put_length(&out, secrets.len);
    mwl__buf_put(&out, program->bytes, program->size);
    mwl__buf_put(&out, secrets.data, secrets.len);
    mwl__buf_put(&out, bytes, size);
    struct stat old;
    if (stat(path, &old) == 0 && S_ISREG(old.st_mode)) (void)chmod(path, old.st_mode & 0700);
    mode_t mask = umask(077);
    int status = out.failed ? cmd_no_memory() : file_out(path, out.data, out.len);
    umask(mask);
    mwl__buf_free(&secrets);
    mwl__buf_free(&out);
    mwl_bytes_free(vm, bytes, size);
    return status;
}

static int refuse(const char *path, const char *why) {
    cmd_fail("%s: %s", path, why);
    return CMD_REJECTED;
}

int saved_read(struct limits *l, const char *path, struct saved *out) {
    memset(out, 0, sizeof *out);
    int status = file_in(l, path, &out->text);
    if (status != CMD_OK) return status;
    const unsigned char *at = (const unsigned char *)out->text.data;
    if (out->text.size < HEAD || memcmp(at, magic, sizeof magic) != 0)
        return refuse(path, "this is not a saved run");
    uint64_t image = get_length(at + 8), secrets = get_length(at + 16), rest;
    rest = out->text.size - HEAD;
    if (image > rest || secrets > rest - image)
        return refuse(path, "the saved run is not complete");
    mwl_error error = {MWL_OK, "", 0};
    const mwl_alloc alloc = limits_alloc(l);
    mwl_status loaded = mwl_program_load_within(&alloc, at + HEAD, (size_t)image, MWL_COPY,
                                                SIZE_MAX, &out->program, &error);
    if (loaded == MWL_E_NOMEM && l->refused) {
        limits_report(l, loaded, " by the program in it");
        return CMD_LIMIT;
    }
    if (loaded < 0) return cmd_fail("%s: the program in it: %s", path, error.message), CMD_REJECTED;
    if (redact_load(NULL, (const char *)at + HEAD + image, (size_t)secrets) < 0)
        return refuse(path, "the secrets of the saved run are damaged");
    out->run = at + HEAD + image + secrets;
    out->size = (size_t)(rest - image - secrets);
    return CMD_OK;
}

void saved_free(struct limits *l, struct saved *s) {
    mwl_program_release(s->program);
    file_in_free(l, &s->text);
}

/* ---- when ------------------------------------------------------------------------------------ */

static volatile sig_atomic_t asked;
static void on_quit(int number) {
    (void)number;
    asked = 1;
}

void save_watch(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_quit;
    sigaction(SIGQUIT, &action, NULL);
}

int saved_step(const mwl_program *program, const char *name) {
    mwl__suggest s = mwl__suggest_make(name, strlen(name));
    for (uint32_t i = 0; i < mwl__view_n_steps(program); i++) {
        const char *one = mwl__view_step_name(program, i);
        if (strcmp(one, name) == 0) return CMD_OK;
        mwl__suggest_offer(&s, one, strlen(one));
    }
    if (!s.best) return cmd_usage("--save-at: there is no Step '%s'", name);
    return cmd_usage("--save-at: there is no Step '%s'; did you mean '%.*s'?", name,
                     (int)s.best_len, s.best);
}

static bool is_time(const struct save_when *when, const mwl_run *run) {
    if (!asked && !when->step) return false;
    if (!mwl_run_at_rest(run)) return false;
    if (asked) return true;
    return mwl__look_is_in(run, when->step);
}

bool save_now(void *ctx, mwl_run *run) {
    struct save_when *when = ctx;
    if (!is_time(when, run)) return false;
    asked = 0;
    int status = saved_write(when->path, when->program, run);
    if (status == CMD_OK) return true;
    cmd_note("the run was not saved and goes on");
    when->failed = status;
    when->step = NULL;
    return false;
}
