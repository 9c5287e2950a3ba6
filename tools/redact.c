/* redact.c: see redact.h. */
#include "redact.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

#if defined(MWL_HAVE_IO)
#include "mwl_io.h"

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
    mwl_status status = mwl_io_redactor_new(secrets, sink, ctx, &r);
    if (status < 0) return status;
    status = mwl_json_write_to(heap, v, style, redact_piece, r);
    if (status == MWL_OK) status = mwl_io_redactor_flush(r);
    mwl_io_redactor_free(r);
    return status;
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

char *redact_text(const char *text, size_t len, size_t *new_len) {
    static const char hidden[] = "[out of memory]"; /* rather than a secret */
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
    *new_len = sizeof hidden - 1;
    return strdup(hidden);
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
#endif
