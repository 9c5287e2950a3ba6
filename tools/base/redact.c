/* redact.c: see redact.h. */
#include "tools/base/redact.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(MWL_HAVE_IO)
#include "mwl_io.h"

#include <uv.h>

static mwl_io_secrets *secrets; /* until the process ends */

/* Called before threads are started: by the first VM, or with its threads' lock. */
static uv_once_t once = UV_ONCE_INIT;

static void make(void) { (void)mwl_io_secrets_new(&secrets); }

mwl_io_secrets *redact_secrets(void) {
    uv_once(&once, make);
    return secrets;
}

static bool any(void) { return secrets && mwl_io_secrets_any(secrets); }

static mwl_status redact_piece(void *ctx, const char *text, size_t len) {
    return mwl_io_redactor_write(ctx, text, len);
}

mwl_status redact_json(mwl_heap *heap, mwl_value v, mwl_json_style style, mwl_json_sink *sink,
                       void *ctx) {
    if (!any()) return mwl_json_write_to(heap, v, style, sink, ctx);
    mwl_io_redactor *r;
    mwl_value shown = mwl_io_shown(secrets, heap, v);
    if (mwl_is_absent(shown) && !mwl_is_absent(v)) return MWL_E_NOMEM;
    mwl_status status = mwl_io_redactor_new(secrets, sink, ctx, &r);
    if (status == MWL_OK) {
        status = mwl_json_write_to(heap, shown, style, redact_piece, r);
        if (status == MWL_OK) status = mwl_io_redactor_flush(r);
        mwl_io_redactor_free(r);
    }
    mwl_value_drop(heap, shown);
    return status;
}

mwl_value redact_value(mwl_heap *heap, mwl_value v) {
    return any() ? mwl_io_shown(secrets, heap, v) : mwl_value_keep(v);
}

size_t redact_count(void) { return secrets ? mwl_io_secrets_count(secrets) : 0; }

static mwl_status put_piece(void *ctx, const char *text, size_t len) {
    return fwrite(text, 1, len, ctx) == len ? MWL_OK : MWL_E_CANCELLED;
}

static bool copy(FILE *from, FILE *to) {
    char piece[16384];
    rewind(from);
    for (size_t n; (n = fread(piece, 1, sizeof piece, from)) > 0;)
        if (fwrite(piece, 1, n, to) != n) return false;
    return !ferror(from) && fflush(to) == 0;
}

static bool copy_redacted(FILE *from, FILE *to) {
    char piece[16384];
    mwl_io_redactor *r;
    mwl_status status = mwl_io_redactor_new(secrets, put_piece, to, &r);
    if (status < 0) return false;
    rewind(from);
    for (size_t n; status == MWL_OK && (n = fread(piece, 1, sizeof piece, from)) > 0;)
        status = mwl_io_redactor_write(r, piece, n);
    if (status == MWL_OK) status = mwl_io_redactor_flush(r);
    mwl_io_redactor_free(r);
    return status == MWL_OK && !ferror(from) && fflush(to) == 0;
}

bool redact_file(FILE *file) {
    FILE *beside = any() ? tmpfile() : NULL;
    if (!any()) return true;
    bool good = beside && copy_redacted(file, beside);
    rewind(file);
    good = ftruncate(fileno(file), 0) == 0 && good;
    if (good && !copy(beside, file)) {
        good = false;
        (void)!ftruncate(fileno(file), 0);
    }
    if (beside) fclose(beside);
    return good;
}

mwl_status redact_save(const char *run, mwl_json_sink *sink, void *ctx) {
    return any() ? mwl_io_secrets_write(secrets, run, sink, ctx) : MWL_OK;
}

mwl_status redact_load(const char *run, const char *text, size_t len) {
    if (len == 0) return MWL_OK;
    return redact_secrets() ? mwl_io_secrets_read(secrets, run, text, len) : MWL_E_NOMEM;
}

void redact_end(const char *run) {
    if (any()) mwl_io_secrets_end(secrets, run);
}

struct copy {
    char *text;
    size_t len;
};

static mwl_status add_piece(void *ctx, const char *text, size_t len) {
    struct copy *c = ctx;
    char *grown = realloc(c->text, c->len + len);
    if (!grown) return MWL_E_NOMEM;
    c->text = grown;
    memcpy(c->text + c->len, text, len);
    c->len += len;
    return MWL_OK;
}

/* Rather than a secret. */
static char *instead(const char *hidden, size_t *new_len) {
    char *word = strdup(hidden);
    if (!word) abort(); /* NULL would say that there is nothing to hide */
    *new_len = strlen(hidden);
    return word;
}

char *redact_json_text(const char *json, size_t len, size_t *new_len) {
    struct copy copy = {NULL, 0};
    mwl_heap *heap = NULL;
    mwl_value v = mwl_absent();
    if (!any()) return NULL;
    mwl_status status = mwl_heap_new(NULL, &heap);
    if (status == MWL_OK) status = mwl_json_parse(heap, json, len, &v, NULL);
    if (status == MWL_OK) status = redact_json(heap, v, MWL_JSON_COMPACT, add_piece, &copy);
    if (status == MWL_OK) status = add_piece(&copy, "", 1);
    mwl_value_drop(heap, v);
    mwl_heap_free(heap);
    if (status == MWL_OK) {
        *new_len = copy.len - 1;
        return copy.text;
    }
    free(copy.text);
    return instead("\"[hidden]\"", new_len);
}

char *redact_text(const char *text, size_t len, size_t *new_len) {
    struct copy copy = {NULL, 0};
    mwl_io_redactor *r = NULL;
    if (!any()) return NULL;
    mwl_status status = mwl_io_redactor_new(secrets, add_piece, &copy, &r);
    if (status == MWL_OK) status = mwl_io_redactor_write(r, text, len);
    if (status == MWL_OK) status = mwl_io_redactor_flush(r);
    if (status == MWL_OK) status = add_piece(&copy, "", 1);
    mwl_io_redactor_free(r);
    if (status == MWL_OK) {
        *new_len = copy.len - 1;
        return copy.text;
    }
    free(copy.text);
    return instead("[out of memory]", new_len);
}
#else
struct mwl_io_secrets *redact_secrets(void) {
    return NULL;
}
mwl_status redact_json(mwl_heap *heap, mwl_value v, mwl_json_style style, mwl_json_sink *sink,
                       void *ctx) {
    return mwl_json_write_to(heap, v, style, sink, ctx);
}
char *redact_text(const char *text, size_t len, size_t *new_len) {
    (void)text, (void)len, (void)new_len;
    return NULL;
}
mwl_value redact_value(mwl_heap *heap, mwl_value v) {
    (void)heap;
    return mwl_value_keep(v);
}
size_t redact_count(void) { return 0; }
bool redact_file(FILE *file) {
    (void)file;
    return true;
}
char *redact_json_text(const char *json, size_t len, size_t *new_len) {
    (void)json, (void)len, (void)new_len;
    return NULL;
}
mwl_status redact_save(const char *run, mwl_json_sink *sink, void *ctx) {
    (void)run, (void)sink, (void)ctx;
    return MWL_OK;
}
mwl_status redact_load(const char *run, const char *text, size_t len) {
    (void)run, (void)text;
    return len ? MWL_E_UNSUPPORTED : MWL_OK;
}
void redact_end(const char *run) { (void)run; }
#endif
