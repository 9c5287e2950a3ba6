/* subject.c: see subject.h. */
#include "tools/playground/subject.h"

#include "tools/playground/documents.h"
#include "tools/playground/reply.h"
#include "vm/program/program.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts that are JSON --------------------------------------------------------------------- */

void subject_problem(struct subject *s, const char *in, const char *message, const char *text,
                     size_t len, size_t offset) {
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < offset && i < len; i++) {
        if (text[i] == '\n')
            line++, column = 1;
        else if (((unsigned char)text[i] & 0xC0u) != 0x80u)
            column++;
    }
    if (s->problems.len) mwl__buf_putc(&s->problems, ',');
    mwl__buf_putc(&s->problems, '{');
    reply_member(&s->problems, "in", in);
    reply_member(&s->problems, "message", message);
    mwl__buf_printf(&s->problems, ",\"line\":%u,\"column\":%u}", line, column);
}

static bool is_blank(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (!memchr(" \t\r\n", text[i], 4)) return false;
    return true;
}

mwl_status subject_json(struct subject *s, mwl_value request, const char *name, mwl_heap *heap,
                        mwl_value *out) {
    size_t len = 0;
    mwl_error error = {MWL_OK, NULL, 0};
    const char *text = mwl_as_text(mwl_get(request, name), &len);
    *out = mwl_absent();
    if (!text || is_blank(text, len)) return MWL_OK;
    mwl_status status = mwl_json_parse(heap, text, len, out, &error);
    if (status != MWL_OK)
        subject_problem(s, name, error.message ? error.message : mwl_status_text(status), text, len,
                        error.offset);
    return status;
}

/* ---- the case -------------------------------------------------------------------------------- */

static bool is_case(mwl_value spec) { return !mwl_is_absent(mwl_get(spec, "answers")); }

mwl_value subject_member(const struct subject *s, const char *name) {
    if (is_case(s->spec)) return mwl_get(s->spec, name);
    return strcmp(name, "answers") == 0 ? s->spec : mwl_absent();
}

/* The documents in the case, each as a text. */
static mwl_status read_documents(struct subject *s, mwl_value request) {
    mwl_value list = subject_member(s, "providers");
    size_t n = mwl_count(list), len = 0;
    const char *text = mwl_as_text(mwl_get(request, "case"), &len);
    s->providers = calloc(n + 1, sizeof *s->providers);
    if (!s->providers) return MWL_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        mwl_value v = mwl_array_at(list, i);
        mwl_asm_provider *p = &s->providers[s->n_providers];
        char *json = NULL;
        if (mwl_value_kind(v) != MWL_KIND_OBJECT) {
            subject_problem(s, "case", "`providers`: here a document itself is wanted", text, len,
                            0);
            return MWL_E_REJECTED;
        }
        mwl_status status = mwl_json_write(s->heap, v, MWL_JSON_PRETTY, &json, &p->len);
        if (status != MWL_OK) return status;
        p->text = json;
        p->file = "provider document";
        s->n_providers++;
    }
    return MWL_OK;
}

const char *subject_document(const struct subject *s, const char *uri) {
    for (size_t i = 0; i < s->n_providers; i++) {
        const char *its =
            mwl_as_text(mwl_get(mwl_array_at(subject_member(s, "providers"), i), "uri"), NULL);
        if (its && strcmp(its, uri) == 0) return s->providers[i].text;
    }
    for (const mwl_asm_document *d = s->library; d && d->uri; d++)
        if (strcmp(d->uri, uri) == 0) return d->text;
    return NULL;
}

/* ---- checking -------------------------------------------------------------------------------- */

static mwl_status make_library(struct subject *s) {
    size_t n = play_n_documents, made = s->model.n_made;
    s->library = calloc(n + made + 1, sizeof *s->library);
    if (!s->library) return MWL_E_NOMEM;
    memcpy(s->library, play_documents, n * sizeof *s->library);
    for (size_t i = 0; i < made; i++) s->library[n + i] = s->model.made[i];
    return MWL_OK;
}

static mwl_status check(struct subject *s) {
    const struct definition_text t = {.name = s->name,
                                      .text = s->text,
                                      .len = s->len,
                                      .providers = s->providers,
                                      .n_providers = s->n_providers,
                                      .library = play_documents};
    definition_model_init(&s->model, mwl_alloc_default());
    s->read = true;
    mwl_status status = definition_model_check(&s->model, &t);
    mwl__diags_render(&s->model.sink, MWL_DIAG_JSON, false, &s->diagnostics);
    if (status == MWL_OK) status = make_library(s);
    s->drawable = status == MWL_OK;
    return s->diagnostics.failed ? MWL_E_NOMEM : status;
}

struct subject *subject_new(void) {
    struct subject *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->diagnostics = s->problems = mwl__buf_make(mwl_alloc_default());
    s->spec = mwl_absent();
    return s;
}

mwl_status subject_read(struct subject *s, mwl_value request, const mwl_program *program) {
    s->name = mwl_as_text(mwl_get(request, "name"), NULL);
    if (!s->name) s->name = "definition";
    s->text = mwl_as_text(mwl_get(request, "definition"), &s->len);
    if (program) s->text = program->source, s->len = program->source_size;
    if (!s->text) s->text = "";
    mwl_status status = mwl_heap_new(NULL, &s->heap);
    if (status != MWL_OK) return status;
    mwl_status spec = subject_json(s, request, "case", s->heap, &s->spec);
    if (spec == MWL_OK) spec = read_documents(s, request);
    status = program && !program->source ? MWL_OK : check(s);
    if (program) {
        s->diagnostics.len = 0;
        status = status == MWL_E_REJECTED ? MWL_OK : status;
    }
    return status == MWL_OK ? spec : status;
}

void subject_free(struct subject *s) {
    if (!s) return;
    if (s->read) definition_model_free(&s->model);
    for (size_t i = 0; i < s->n_providers; i++)
        mwl_text_free(s->heap, (char *)(uintptr_t)s->providers[i].text, s->providers[i].len);
    free(s->providers);
    free(s->library);
    if (s->heap) mwl_value_drop(s->heap, s->spec);
    mwl_heap_free(s->heap);
    mwl__buf_free(&s->diagnostics);
    mwl__buf_free(&s->problems);
    free(s);
}

void subject_reply(const struct subject *s, mwl_status status, mwl__buf *out) {
    reply_name(out, "ok");
    mwl__buf_puts(out, status == MWL_OK ? "true" : "false");
    reply_name(out, "diagnostics");
    if (s->diagnostics.len)
        mwl__buf_put(out, s->diagnostics.data, s->diagnostics.len);
    else
        mwl__buf_puts(out, "[]");
    reply_name(out, "problems");
    mwl__buf_putc(out, '[');
    mwl__buf_put(out, s->problems.data, s->problems.len);
    mwl__buf_putc(out, ']');
}

mwl_status subject_assemble(struct subject *s, unsigned flags, mwl_asm_result *out) {
    const mwl_asm_options options = {.file = s->name,
                                     .providers = s->providers,
                                     .n_providers = s->n_providers,
                                     .library = s->library,
                                     .flags = flags,
                                     .format = MWL_ASM_JSON};
    mwl_status status = mwl_assemble(s->text, s->len, &options, out);
    if (status < 0 && out->diagnostics) {
        s->diagnostics.len = 0;
        mwl__buf_put(&s->diagnostics, out->diagnostics, out->diagnostics_len);
    }
    return status;
}
