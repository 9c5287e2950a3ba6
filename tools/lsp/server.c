/* server.c: the messages of the Language Server Protocol. See lsp.h.
 *
 * Diagnostics are made when nothing more has arrived, so a burst of edits is checked once. A
 * request is answered at once. */
#include "tools/lsp/lsp.h"

#include "tools/base/cmd.h"

/* Codes of errors in the protocol. */
enum {
    ERROR_PARSE = -32700,
    ERROR_REQUEST = -32600,
    ERROR_METHOD = -32601,
    ERROR_PARAMS = -32602,
    ERROR_FAILED = -32803,
    ERROR_NOT_INITIALIZED = -32002,
    ERROR_INTERNAL = -32603
};

static void send(struct lsp *s, mwl__buf *out) {
    if (out->failed || !rpc_send(&s->rpc, out->data, out->len)) s->lost = true;
    mwl__buf_free(out);
}

static mwl__buf begin_answer(struct lsp *s, mwl_value id) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
    rpc_put_value(&out, s->heap, id);
    return out;
}

static void answer_error(struct lsp *s, mwl_value id, int code, const char *why) {
    mwl__buf out = begin_answer(s, id);
    mwl__buf_printf(&out, ",\"error\":{\"code\":%d,\"message\":", code);
    rpc_put_string(&out, why);
    mwl__buf_puts(&out, "}}");
    send(s, &out);
}

/* ---- the life of a session ------------------------------------------------------------------- */

static void choose_units(struct lsp *s, mwl_value capabilities) {
    mwl_value list = rpc_get(rpc_get(capabilities, "general"), "positionEncodings");
    s->units = UNITS_UTF16;
    for (size_t i = 0; i < mwl_count(list); i++) {
        const char *name = mwl_as_text(mwl_array_at(list, i), NULL);
        if (name && strcmp(name, "utf-8") == 0) s->units = UNITS_UTF8;
    }
}

static void initialize(struct lsp *s, mwl_value params, mwl__buf *out) {
    mwl_value caps = rpc_get(params, "capabilities");
    mwl_value item =
        rpc_get(rpc_get(rpc_get(rpc_get(caps, "textDocument"), "completion"), "completionItem"),
                "snippetSupport");
    s->snippets = mwl_value_kind(item) == MWL_KIND_BOOL && mwl_as_bool(item);
    choose_units(s, caps);
    s->initialized = true;
    mwl__buf_printf(
        out,
        "{\"capabilities\":{\"positionEncoding\":\"%s\","
        "\"textDocumentSync\":{\"openClose\":true,\"change\":2},"
        "\"completionProvider\":{\"triggerCharacters\":[\"\\\"\",\".\",\":\",\"{\",\",\"]},"
        "\"hoverProvider\":true,\"definitionProvider\":true,\"referencesProvider\":true,"
        "\"documentHighlightProvider\":true,\"documentSymbolProvider\":true,"
        "\"documentFormattingProvider\":true,\"renameProvider\":{\"prepareProvider\":true},"
        "\"codeActionProvider\":{\"codeActionKinds\":[\"quickfix\",\"source.fixAll.mwl\"]}},"
        "\"serverInfo\":{\"name\":\"mwlvm\",\"version\":\"%s\"}}",
        s->units == UNITS_UTF8 ? "utf-8" : "utf-16", MWL_VERSION);
}

/* ---- requests -------------------------------------------------------------------------------- */

typedef void answer_fn(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);

static const struct {
    const char *method;
    answer_fn *fn;
} methods[] = {
    {"textDocument/completion", lsp_complete},
    {"textDocument/hover", lsp_hover},
    {"textDocument/definition", lsp_definition},
    {"textDocument/references", lsp_references},
    {"textDocument/documentHighlight", lsp_highlight},
    {"textDocument/documentSymbol", lsp_symbols},
    {"textDocument/prepareRename", lsp_prepare_rename},
    {"textDocument/codeAction", lsp_actions},
    {"textDocument/formatting", lsp_format},
};

static struct open_document *document_of(struct lsp *s, mwl_value params) {
    return open_find(s, rpc_get_text(rpc_get(params, "textDocument"), "uri", NULL));
}

/* Returns NULL and the result, or why there is none. */
static const char *call_method(struct lsp *s, const char *method, mwl_value params, mwl__buf *out,
                               int *code) {
    struct open_document *d = document_of(s, params);
    bool rename = strcmp(method, "textDocument/rename") == 0;
    answer_fn *fn = NULL;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].method, method) == 0) fn = methods[i].fn;
    if (!fn && !rename) {
        *code = ERROR_METHOD;
        return "there is no such method";
    }
    *code = ERROR_PARAMS;
    if (!d) return "the document is not open";
    *code = ERROR_FAILED;
    if (rename) return lsp_rename(s, d, params, out);
    fn(s, d, params, out);
    return NULL;
}

static void request(struct lsp *s, mwl_value id, const char *method, mwl_value params) {
    mwl__buf out = begin_answer(s, id), result = mwl__buf_make(mwl_alloc_default());
    const char *why = NULL;
    int code = ERROR_INTERNAL;
    if (strcmp(method, "initialize") == 0) {
        initialize(s, params, &result);
    } else if (!s->initialized) {
        code = ERROR_NOT_INITIALIZED;
        why = "the first request is `initialize`";
    } else if (s->shut_down) {
        code = ERROR_REQUEST;
        why = "the server was shut down";
    } else if (strcmp(method, "shutdown") == 0) {
        s->shut_down = true;
        mwl__buf_puts(&result, "null");
    } else {
        why = call_method(s, method, params, &result, &code);
    }
    if (!why && result.failed) why = "out of memory";
    if (why) {
        mwl__buf_printf(&out, ",\"error\":{\"code\":%d,\"message\":", code);
        rpc_put_string(&out, why);
        mwl__buf_puts(&out, "}}");
    } else {
        mwl__buf_puts(&out, ",\"result\":");
        mwl__buf_put(&out, result.data, result.len);
        mwl__buf_puts(&out, "}");
    }
    mwl__buf_free(&result);
    send(s, &out);
}

/* ---- notifications --------------------------------------------------------------------------- */

/* Shows a message in the editor. */
static void complain(struct lsp *s, const char *what, mwl_status status) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"window/showMessage\",\"params\":{"
                        "\"type\":1");
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    mwl__buf_printf(&text, "mwlvm: %s: %s", what, mwl_status_text(status));
    rpc_put_member(&out, "message", mwl__buf_cstr(&text));
    mwl__buf_free(&text);
    mwl__buf_puts(&out, "}}");
    send(s, &out);
}

/* An empty list takes the diagnostics of a closed document away. */
static void clear_diagnostics(struct lsp *s, const char *uri) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\","
                        "\"params\":{");
    rpc_put_member(&out, "uri", uri);
    mwl__buf_puts(&out, ",\"diagnostics\":[]}}");
    send(s, &out);
}

static void notification(struct lsp *s, const char *method, mwl_value params) {
    struct open_document *d = document_of(s, params);
    mwl_status status = MWL_OK;
    if (strcmp(method, "exit") == 0) {
        s->exits = true;
    } else if (!s->initialized) {
        return;
    } else if (strcmp(method, "textDocument/didOpen") == 0) {
        status = open_add(s, rpc_get(params, "textDocument"));
    } else if (strcmp(method, "textDocument/didChange") == 0 && d) {
        status = open_change(s, d, params);
    } else if (strcmp(method, "textDocument/didClose") == 0 && d) {
        clear_diagnostics(s, d->doc.uri);
        open_close(s, d);
    }
    if (status != MWL_OK) complain(s, method, status);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void receive(struct lsp *s, const char *body, size_t len) {
    mwl_value message = mwl_absent();
    mwl_status status = mwl_json_parse(s->heap, body, len, &message, NULL);
    const char *method = rpc_get_text(message, "method", NULL);
    mwl_value id = rpc_get(message, "id");
    if (status != MWL_OK)
        answer_error(s, mwl_absent(), ERROR_PARSE, mwl_status_text(status));
    else if (!method && mwl_is_absent(id))
        answer_error(s, id, ERROR_REQUEST, "a message has a method");
    else if (method && mwl_is_absent(id))
        notification(s, method, rpc_get(message, "params"));
    else if (method)
        request(s, id, method, rpc_get(message, "params"));
    mwl_value_drop(s->heap, message); /* an answer of the editor has no method: nothing to do */
}

static void publish_all(struct lsp *s) {
    for (struct open_document *d = s->documents; d; d = d->next)
        if (d->unpublished) lsp_publish(s, d);
}

int lsp_serve(struct lsp *s) {
    const char *body;
    size_t len;
    while (!s->exits && !s->lost) {
        if (rpc_idle(&s->rpc)) publish_all(s);
        switch (rpc_read(&s->rpc, &body, &len)) {
        case RPC_MESSAGE: receive(s, body, len); break;
        case RPC_END: return s->shut_down ? CMD_OK : CMD_FAILED;
        case RPC_BROKEN: return cmd_fail("the editor's messages are broken: %s", s->rpc.why);
        }
    }
    return s->shut_down && !s->lost ? CMD_OK : CMD_FAILED;
}
