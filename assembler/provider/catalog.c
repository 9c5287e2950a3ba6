/* catalog.c: makes contracts from provider documents. See catalog.h.
 *
 * The provider meta-schema is small. Tables and a few rules check it here, so that an error is
 * reported at the member where it is. */
#include "stdlib/documents.h"
#include "assembler/provider/catalog.h"

#include "assembler/schema/check_schema.h"
#include "mwl_asm.h"
#include "assembler/source/form.h"
#include "vm/base/ascii.h"

typedef struct document {
    struct document *next; /* of those that were refused */
    mwl__source
        source; /* of one of the language's own texts; otherwise the source of the caller is used */
    mwl__tree tree;
    mwl__contract contract;
} document;

typedef struct entry {
    mwl__provider_name name;
    const char *text;   /* read when it is found; NULL for the documents of the caller */
    mwl__diags *sink;   /* for its errors; NULL for the language's own */
    document *document; /* NULL before it was read */
    bool stands_in;     /* any namespace is allowed */
} entry;

struct mwl__catalog {
    mwl_alloc alloc;
    mwl__diags sink; /* for the language's own documents, in which nothing is wrong */
    entry *list;
    size_t n, cap;
    document *refused; /* kept for their URIs */
};

/* ---- URIs ------------------------------------------------------------------------------------ */

static bool is_segment_char(char c) { return mwl__is_alnum(c) || c == '-' || c == '_' || c == '.'; }

/* spec: providers, provider URIs: the syntax of a provider's uri. */
static mwl__uri_fault malformed(mwl__uri *out, size_t begin, size_t end, const char *why) {
    out->begin = (uint32_t)begin;
    out->end = (uint32_t)end;
    out->text = why;
    return MWL__URI_MALFORMED;
}

mwl__uri_fault mwl__uri_parse(const char *text, size_t len, mwl__uri *out) {
    memset(out, 0, sizeof *out);
    const char *colon = len ? memchr(text, ':', len) : NULL;
    const char *slash = len ? memchr(text, '/', len) : NULL;
    if (!colon || (slash && slash < colon))
        return malformed(out, 0, len, "the scheme is missing: mwl:");
    size_t at = (size_t)(colon - text) + 1;
    if (at != 4 || memcmp(text, "mwl", 3) != 0) {
        out->end = (uint32_t)(at - 1);
        return MWL__URI_SCHEME;
    }
    unsigned n = 0;
    size_t type_begin = at, type_end = at;
    for (;; n++) {
        size_t begin = at;
        while (at < len && is_segment_char(text[at])) at++;
        if (at < len && text[at] != '/') {
            size_t end = at + 1;
            while (end < len && ((unsigned char)text[end] & 0xc0) == 0x80) end++;
            return malformed(out, at, end, "a segment has letters, digits, '-', '_' and '.'");
        }
        if (at == begin) return malformed(out, begin, at < len ? at + 1 : at, "a segment is empty");
        if ((at - begin == 1 || (at - begin == 2 && text[begin + 1] == '.')) && text[begin] == '.')
            return malformed(out, begin, at, "a segment is neither '.' nor '..'");
        if (n == 0) type_begin = begin, type_end = at;
        if (n == 1) out->ns = text + begin, out->ns_len = at - begin;
        if (at == len) break;
        at++;
    }
    if (n < 2)
        return malformed(out, 0, len,
                         "it has a type, a namespace and a name: mwl:type/namespace/name");
    size_t type_len = type_end - type_begin;
    if (type_len == 13 && memcmp(text + type_begin, "provider.call", 13) == 0) return MWL__URI_OK;
    out->is_middleware =
        type_len == 19 && memcmp(text + type_begin, "provider.middleware", 19) == 0;
    if (out->is_middleware) return MWL__URI_OK;
    out->begin = (uint32_t)type_begin;
    out->end = (uint32_t)type_end;
    return MWL__URI_TYPE;
}

/* ---- the form of a document ------------------------------------------------------------------ */

#define BAD_DOCUMENT MWL_DIAG_INVALID_PROVIDER_DOCUMENT
#define REQ MWL__FORM_REQUIRED
#define LIT MWL__FORM_LITERAL

static const mwl__form_field call_fields[] = {
    {"$schema", MWL__FORM_STRING, REQ | LIT},    {"uri", MWL__FORM_STRING, REQ | LIT},
    {"codePrefix", MWL__FORM_STRING, REQ | LIT}, {"description", MWL__FORM_STRING, REQ | LIT},
    {"parameters", MWL__FORM_OBJECT, REQ},       {"metadata", MWL__FORM_OBJECT, 0},
    {"failureCatalog", MWL__FORM_OBJECT, REQ},
};
static const mwl__form_field middleware_fields[] = {
    {"$schema", MWL__FORM_STRING, REQ | LIT},    {"uri", MWL__FORM_STRING, REQ | LIT},
    {"codePrefix", MWL__FORM_STRING, REQ | LIT}, {"description", MWL__FORM_STRING, REQ | LIT},
    {"attachment", MWL__FORM_ARRAY, REQ},        {"phases", MWL__FORM_OBJECT, REQ},
    {"metadata", MWL__FORM_OBJECT, 0},           {"failureCatalog", MWL__FORM_OBJECT, REQ},
};
static const mwl__form_field phase_fields[] = {{"action", MWL__FORM_OBJECT, REQ},
                                               {"parameters", MWL__FORM_OBJECT, 0},
                                               {"structural", MWL__FORM_ARRAY, 0}};
static const mwl__form_field action_fields[] = {{"kind", MWL__FORM_STRING, REQ | LIT},
                                                {"description", MWL__FORM_STRING, REQ | LIT},
                                                {"acceptance", MWL__FORM_STRING, LIT}};
static const mwl__form_field failure_fields[] = {{"closed", MWL__FORM_ARRAY, REQ},
                                                 {"open", MWL__FORM_ARRAY, REQ}};
static const mwl__form_field phases_fields[] = {{"onEntry", MWL__FORM_OBJECT, 0},
                                                {"onSuccess", MWL__FORM_OBJECT, 0},
                                                {"onFailure", MWL__FORM_OBJECT, 0},
                                                {"onAlways", MWL__FORM_OBJECT, 0}};

static const mwl__form call_form =
    MWL__FORM("the document of a call provider", call_fields, BAD_DOCUMENT);
static const mwl__form middleware_form =
    MWL__FORM("the document of a middleware", middleware_fields, BAD_DOCUMENT);
static const mwl__form phase_form = MWL__FORM("a phase", phase_fields, BAD_DOCUMENT);
static const mwl__form action_form = MWL__FORM("an action", action_fields, BAD_DOCUMENT);
static const mwl__form failure_form = MWL__FORM("a failure catalog", failure_fields, BAD_DOCUMENT);
static const mwl__form phases_form = MWL__FORM("'phases'", phases_fields, BAD_DOCUMENT);

typedef struct judge {
    mwl__tree *tree;
    mwl__contract *out;
    bool wrong;
} judge;

/* [A-Z][A-Za-z0-9]* */
static void judge_prefix(judge *j, const mwl__node *n) {
    const char *s = n->as.text;
    bool good = n->count > 0 && mwl__is_upper(s[0]);
    for (uint32_t i = 1; good && i < n->count; i++) good = mwl__is_alnum(s[i]);
    if (good) {
        j->out->code_prefix = s;
        j->out->code_prefix_len = n->count;
        return;
    }
    j->wrong = true;
    mwl__node_report(j->tree, n, BAD_DOCUMENT,
                     "'codePrefix' is a capital letter and then letters and digits");
}

/* Provider.(Call|Middleware).Segment(.Segment)+; an open one ends with `.*` in place of the last.
 */
static bool is_code(const char *s, size_t len, bool open) {
    size_t at;
    if (len > 14 && memcmp(s, "Provider.Call.", 14) == 0)
        at = 14;
    else if (len > 20 && memcmp(s, "Provider.Middleware.", 20) == 0)
        at = 20;
    else
        return false;
    for (unsigned n = 0;; n++) {
        size_t begin = at;
        if (open && n > 0 && at + 1 == len && s[at] == '*') return true;
        while (at < len && mwl__is_alnum(s[at])) at++;
        if (at == begin) return false;
        if (at == len) return !open && n > 0;
        if (s[at++] != '.') return false;
    }
}

/* spec: providers, the failure catalog: Provider.<Kind>.<codePrefix>.<Code>; a catalog declares its
 * provider's slice of the codes. */
static void judge_owner(judge *j, const mwl__node *c) {
    const mwl__contract *k = j->out;
    if (!k->code_prefix) return; /* its own mistake was reported */
    mwl__buf own = mwl__buf_make(j->tree->sink->arena.alloc);
    mwl__buf_puts(&own, k->is_middleware ? "Provider.Middleware." : "Provider.Call.");
    mwl__buf_put(&own, k->code_prefix, k->code_prefix_len);
    mwl__buf_putc(&own, '.');
    if (!own.failed && (c->count <= own.len || memcmp(c->as.text, own.data, own.len) != 0)) {
        j->wrong = true;
        mwl__diag *d =
            mwl__node_report(j->tree, c, BAD_DOCUMENT, "a code of this provider begins with '%.*s'",
                             (int)own.len, own.data);
        const char *rest = c->as.text; /* behind Provider, the kind and the prefix */
        for (unsigned dots = 0; dots < 3; rest++) dots += *rest == '.';
        mwl__buf_put(&own, rest, (size_t)(c->as.text + c->count - rest));
        mwl__diag_help(d, "did you mean '%.*s'?", (int)own.len, own.data);
        if (!own.failed) mwl__diag_fix_string(d, mwl__node_span(c), own.data, own.len);
    }
    if (own.failed) j->tree->sink->status = MWL_E_NOMEM;
    mwl__buf_free(&own);
}

static void judge_codes(judge *j, const mwl__node *list, bool open) {
    for (const mwl__node *c = list ? mwl__node_first(list) : NULL; c; c = c->next) {
        if (open && mwl__node_is(c, "*")) continue;
        if (c->kind == MWL_NODE_STRING && is_code(c->as.text, c->count, open)) {
            judge_owner(j, c);
            continue;
        }
        j->wrong = true;
        mwl__node_report(j->tree, c, BAD_DOCUMENT,
                         open
                             ? "an open entry ends with '.*': Provider.Call.Name.*, or is '*' alone"
                             : "a closed entry is a whole code: Provider.Call.Name.Code");
    }
}

static void judge_failures(judge *j, const mwl__node *n) {
    uint32_t bad;
    if (!mwl__form_check(j->tree, n, &failure_form, &bad)) j->wrong = true;
    j->out->closed = bad & 1u ? NULL : mwl__node_get(n, "closed");
    j->out->open = bad & 2u ? NULL : mwl__node_get(n, "open");
    judge_codes(j, j->out->closed, false);
    judge_codes(j, j->out->open, true);
}

static mwl__schema *judge_schema(judge *j, const mwl__node *n) {
    mwl__schema *schema = mwl__check_schema(j->tree, n);
    if (!schema) j->wrong = true;
    return schema;
}

static void judge_attachment(judge *j, const mwl__node *n) {
    if (n->count == 0) {
        j->wrong = true;
        mwl__node_report(j->tree, n, BAD_DOCUMENT, "'attachment' names 'step', 'flow' or both");
    }
    for (const mwl__node *a = mwl__node_first(n); a; a = a->next) {
        bool *where = mwl__node_is(a, "step")   ? &j->out->at_step
                      : mwl__node_is(a, "flow") ? &j->out->at_flow
                                                : NULL;
        if (where && !*where) {
            *where = true;
            continue;
        }
        j->wrong = true;
        mwl__node_report(j->tree, a, BAD_DOCUMENT,
                         where ? "this level is named twice" : "a level is 'step' or 'flow'");
    }
}

static void judge_phase(judge *j, const mwl__node *n, int phase) {
    uint32_t bad;
    if (!mwl__form_check(j->tree, n, &phase_form, &bad)) j->wrong = true;
    if (!(bad & 1u)) {
        const mwl__node *action = mwl__node_get(n, "action"), *kind = mwl__node_get(action, "kind");
        if (!mwl__form_check(j->tree, action, &action_form, &bad)) j->wrong = true;
        j->out->acts[phase] = true;
        if (!(bad & 1u) && !mwl__node_is(kind, "side-effect") && !mwl__node_is(kind, "control") &&
            !mwl__node_is(kind, "transform")) {
            j->wrong = true;
            mwl__node_report(j->tree, kind, BAD_DOCUMENT,
                             "the kind of an action is 'side-effect', 'control' or 'transform'");
        }
    }
    const mwl__node *parameters = mwl__node_get(n, "parameters"),
                    *names = mwl__node_get(n, "structural");
    if (parameters && parameters->kind == MWL_NODE_OBJECT) {
        j->out->compiled[phase] = judge_schema(j, parameters);
        j->out->parameters[phase] = parameters;
    }
    if (!names || names->kind != MWL_NODE_ARRAY) return;
    j->out->structural[phase] = names;
    for (const mwl__node *s = mwl__node_first(names); s; s = s->next)
        if (s->kind != MWL_NODE_STRING) {
            j->wrong = true;
            mwl__node_report(j->tree, s, BAD_DOCUMENT,
                             "an entry of 'structural' is a parameter's name");
        }
}

static void judge_phases(judge *j, const mwl__node *n) {
    if (!mwl__form_check(j->tree, n, &phases_form, NULL)) j->wrong = true;
    if (n->count == 0) {
        j->wrong = true;
        mwl__node_report(j->tree, n, BAD_DOCUMENT, "'phases' has at least one phase");
    }
    for (int i = 0; i < 4; i++) {
        const mwl__node *phase = mwl__node_get(n, phases_fields[i].name);
        if (phase && phase->kind == MWL_NODE_OBJECT) judge_phase(j, phase, i);
    }
}

static void judge_metadata(judge *j, const mwl__node *n) {
    static const char *const reserved[] = {"enteredAt", "exitedAt"};
    if (!n) return;
    j->out->metadata = n;
    j->out->compiled_metadata = judge_schema(j, n);
    for (int i = 0; i < 2 && j->out->is_middleware; i++) {
        const mwl__node *m = mwl__node_get(mwl__node_get(n, "properties"), reserved[i]);
        if (!m) continue;
        j->wrong = true;
        mwl__node_report_key(j->tree, m, MWL_DIAG_RESERVED_METADATA,
                             "a middleware cannot contribute '%s'", reserved[i]);
    }
}

bool mwl__uri_check(mwl__tree *tree, const mwl__node *n, mwl__uri *uri) {
    mwl__diag *d;
    switch (mwl__uri_parse(n->as.text, n->count, uri)) {
    case MWL__URI_OK: return true;
    case MWL__URI_SCHEME:
        d = mwl__node_report_text(tree, n, uri->begin, uri->end, MWL_DIAG_UNKNOWN_URI_SCHEME,
                                  "a provider's URI has the scheme 'mwl'");
        if (uri->end == 3) mwl__diag_help(d, "write it in lower case");
        if (uri->end >= 4 && memcmp(n->as.text, "http", 4) == 0)
            mwl__diag_help(d, "to fetch it: \"provider\": \"mwl:provider.call/mwlvm/http/v1\", "
                              "\"with\": { \"url\": ... }");
        return false;
    case MWL__URI_TYPE:
        d = mwl__node_report_text(tree, n, uri->begin, uri->end, MWL_DIAG_UNKNOWN_PROVIDER_TYPE,
                                  "there is no provider type '%.*s'", (int)(uri->end - uri->begin),
                                  n->as.text + uri->begin);
        mwl__diag_note(d, "the types are 'provider.call' and 'provider.middleware'");
        return false;
    default:
        d = mwl__node_report_text(tree, n, uri->begin, uri->end, MWL_DIAG_MALFORMED_PROVIDER_URI,
                                  "this is not a provider URI");
        mwl__diag_note(d, "%s", uri->text);
        return false;
    }
}

/* Returns whether the first members of the document show its kind. Errors were reported. */
static bool judge_head(judge *j, const mwl__node *root, mwl__uri *uri) {
    const mwl__node *n = mwl__node_get(root, "$schema");
    if (n && !mwl__node_is(n, "https://mwl.dev/v0.1/provider/schema.json")) {
        j->wrong = true;
        mwl__diag *d = mwl__node_report(j->tree, n, MWL_DIAG_UNKNOWN_SCHEMA,
                                        "the '$schema' of a provider document is another");
        mwl__diag_help(d, "write \"https://mwl.dev/v0.1/provider/schema.json\"");
    }
    n = mwl__node_get(root, "uri");
    if (!n) {
        mwl__node_report(j->tree, root, BAD_DOCUMENT, "a provider document needs 'uri'");
        return false;
    }
    if (n->kind != MWL_NODE_STRING) {
        mwl__node_report(j->tree, n, BAD_DOCUMENT, "'uri' is a string");
        return false;
    }
    return mwl__uri_check(j->tree, n, uri);
}

/* Fills the contract. Returns false after it has reported an error. */
static bool judge_document(mwl__tree *tree, mwl__contract *out, mwl__uri *uri) {
    judge j = {tree, out, false};
    const mwl__node *root = tree->root;
    uint32_t bad;
    if (root->kind != MWL_NODE_OBJECT) {
        mwl__node_report(tree, root, MWL_DIAG_ROOT_NOT_OBJECT,
                         "a provider document is an object, not %s", mwl__node_kind_name(root));
        return false;
    }
    if (!judge_head(&j, root, uri)) return false;
    out->document = root;
    out->tree = tree;
    out->is_middleware = uri->is_middleware;
    out->uri = mwl__node_get(root, "uri")->as.text;
    out->uri_len = mwl__node_get(root, "uri")->count;
    const mwl__form *form = uri->is_middleware ? &middleware_form : &call_form;
    if (!mwl__form_check(tree, root, form, &bad)) j.wrong = true;
    for (size_t i = 2; i < form->n_fields; i++) {
        const char *name = form->fields[i].name;
        const mwl__node *n = bad & (1u << i) ? NULL : mwl__node_get(root, name);
        if (!n) continue;
        if (strcmp(name, "codePrefix") == 0) judge_prefix(&j, n);
        if (strcmp(name, "failureCatalog") == 0) judge_failures(&j, n);
        if (strcmp(name, "attachment") == 0) judge_attachment(&j, n);
        if (strcmp(name, "phases") == 0) judge_phases(&j, n);
        if (strcmp(name, "metadata") == 0) judge_metadata(&j, n);
        if (strcmp(name, "parameters") != 0) continue;
        out->compiled[0] = judge_schema(&j, n);
        out->parameters[0] = n;
    }
    return !j.wrong;
}

/* spec: providers, reserved namespaces. */
static bool judge_namespace(mwl__tree *tree, const mwl__uri *uri) {
    const mwl__node *n = mwl__node_get(tree->root, "uri");
    bool own = uri->ns_len == 3 && memcmp(uri->ns, "mwl", 3) == 0;
    bool example = uri->ns_len == 7 && memcmp(uri->ns, "example", 7) == 0;
    if (!own && !example) return true;
    uint32_t at = (uint32_t)(uri->ns - n->as.text);
    mwl__diag *d =
        mwl__node_report_text(tree, n, at, at + (uint32_t)uri->ns_len, MWL_DIAG_RESERVED_NAMESPACE,
                              "the namespace '%.*s' is reserved", (int)uri->ns_len, uri->ns);
    mwl__diag_note(d, own ? "it holds the language's own providers"
                          : "it is for documentation and never holds a real provider");
    return false;
}

mwl_status mwl__contract_read(mwl__contract *out, mwl__tree *tree, mwl_alloc alloc,
                              mwl__source *source, mwl__diags *sink, bool trusted) {
    mwl__uri uri;
    size_t errors = sink->n_errors;
    memset(out, 0, sizeof *out);
    mwl_status status = mwl__tree_read(tree, alloc, source, sink);
    if (status == MWL_E_NOMEM || !tree->root) return status;
    bool good = judge_document(tree, out, &uri);
    if (status < 0 || sink->n_errors > errors) good = false;
    if (good && !trusted) good = judge_namespace(tree, &uri);
    if (sink->status < 0) return sink->status;
    return good ? MWL_OK : MWL_E_REJECTED;
}

void mwl__contract_free(mwl__contract *contract) {
    for (int i = 0; i < 4; i++) mwl__schema_free(contract->compiled[i]);
    mwl__schema_free(contract->compiled_metadata);
}

/* ---- the catalog ----------------------------------------------------------------------------- */

static void document_free(mwl__catalog *c, document *d) {
    if (!d) return;
    mwl__contract_free(&d->contract);
    mwl__tree_free(&d->tree);
    mwl__source_free(&d->source);
    mwl__mem_free(&c->alloc, d, sizeof *d);
}

static entry *find(const mwl__catalog *c, const char *uri, size_t len) {
    for (size_t i = 0; i < c->n; i++) {
        const mwl__provider_name *name = &c->list[i].name;
        if (name->uri_len == len && memcmp(name->uri, uri, len) == 0) return &c->list[i];
    }
    return NULL;
}

/* Makes room for one more, so that nothing can fail after a document is read. */
static mwl_status reserve(mwl__catalog *c) {
    return mwl__mem_grow(&c->alloc, (void **)&c->list, &c->cap, c->n + 1, sizeof *c->list);
}

static mwl_status add(mwl__catalog *c, document *d, mwl__source *source, mwl__diags *sink) {
    mwl_status status = reserve(c);
    if (status < 0) return status;
    status = mwl__contract_read(&d->contract, &d->tree, c->alloc, source, sink, false);
    if (status < 0) return status;
    const mwl__contract *k = &d->contract;
    if (find(c, k->uri, k->uri_len)) {
        const mwl__node *n = mwl__node_get(d->tree.root, "uri");
        mwl__node_report(&d->tree, n, MWL_DIAG_PROVIDER_REDEFINED,
                         "'%.*s' is in the catalog already", MWL__NODE_TEXT(n));
        return sink->status < 0 ? sink->status : MWL_E_REJECTED;
    }
    c->list[c->n++] = (entry){{k->uri, k->uri_len, k->is_middleware}, NULL, NULL, d, false};
    return MWL_OK;
}

mwl_status mwl__catalog_add(mwl__catalog *c, mwl__source *source, mwl__diags *sink) {
    document *d = mwl__mem_zero(&c->alloc, 1, sizeof *d);
    if (!d) return MWL_E_NOMEM;
    mwl_status status = add(c, d, source, sink);
    if (status == MWL_E_REJECTED && d->contract.uri) {
        d->next = c->refused;
        c->refused = d;
    } else if (status < 0) {
        document_free(c, d);
    }
    return status;
}

/* Whether the document of a library was looked up and refused. */
static bool is_refused(const entry *e) { return !e->document && !e->text; }

bool mwl__catalog_refused(const mwl__catalog *c, const char *uri, size_t len) {
    const entry *e = find(c, uri, len);
    for (const document *d = c->refused; d; d = d->next)
        if (d->contract.uri_len == len && memcmp(d->contract.uri, uri, len) == 0) return true;
    return e && is_refused(e);
}

mwl_status mwl__catalog_judge(const mwl__catalog *c, mwl__source *source, mwl__diags *sink) {
    mwl__tree tree;
    mwl__contract contract;
    mwl_status status = mwl__contract_read(&contract, &tree, c->alloc, source, sink, true);
    const mwl__node *n = status == MWL_OK ? mwl__node_get(tree.root, "uri") : NULL;
    mwl__uri uri;
    if (n && !find(c, n->as.text, n->count) &&
        mwl__uri_parse(n->as.text, n->count, &uri) == MWL__URI_OK && !judge_namespace(&tree, &uri))
        status = sink->status < 0 ? sink->status : MWL_E_REJECTED;
    mwl__contract_free(&contract);
    mwl__tree_free(&tree);
    return status;
}

/* Adds a document that is read when it is first looked up. */
static mwl_status add_later(mwl__catalog *c, const char *uri, const char *text, bool stands_in,
                            mwl__diags *sink) {
    mwl__uri parts;
    size_t len = strlen(uri);
    mwl_status status = reserve(c);
    if (status < 0) return status;
    (void)mwl__uri_parse(uri, len, &parts);
    c->list[c->n++] = (entry){{uri, len, parts.is_middleware}, text, sink, NULL, stands_in};
    return MWL_OK;
}

mwl__catalog *mwl__catalog_new(const mwl_alloc *alloc) {
    mwl_alloc a = alloc && alloc->fn ? *alloc : mwl_alloc_default();
    mwl__catalog *c = mwl__mem_zero(&a, 1, sizeof *c);
    if (!c) return NULL;
    c->alloc = a;
    mwl__diags_init(&c->sink, a);
    const mwl__std_document *own;
    for (size_t i = 0; (own = mwl__std_document_at(i)); i++)
        if (add_later(c, own->uri, own->text, false, NULL) < 0) {
            mwl__catalog_free(c);
            return NULL;
        }
    return c;
}

mwl_status mwl__catalog_library(mwl__catalog *c, const mwl_asm_document *list, mwl__diags *sink) {
    mwl_status status = MWL_OK;
    for (; status == MWL_OK && list && list->uri; list++)
        if (!find(c, list->uri, strlen(list->uri)))
            status = add_later(c, list->uri, list->text, list->stands_in, sink);
    return status;
}

void mwl__catalog_free(mwl__catalog *c) {
    if (!c) return;
    for (size_t i = 0; i < c->n; i++) document_free(c, c->list[i].document);
    for (document *d = c->refused, *next; d; d = next) {
        next = d->next;
        document_free(c, d);
    }
    mwl__mem_free(&c->alloc, c->list, c->cap * sizeof *c->list);
    mwl__diags_free(&c->sink);
    mwl_alloc a = c->alloc;
    mwl__mem_free(&a, c, sizeof *c);
}

/* A document of another provider in the place of the one that was announced. */
static mwl_status check_announced(document *d, const entry *e) {
    const mwl__contract *k = &d->contract;
    if (k->uri_len == e->name.uri_len && memcmp(k->uri, e->name.uri, k->uri_len) == 0)
        return MWL_OK;
    mwl__node_report(&d->tree, mwl__node_get(d->tree.root, "uri"), BAD_DOCUMENT,
                     "this is not the document of '%s'", e->name.uri);
    return MWL_E_REJECTED;
}

/* Reads a document when it is needed. The language's own can fail only if out of memory. */
static mwl_status read_later(mwl__catalog *c, entry *e) {
    bool own = !e->sink;
    document *d = mwl__mem_zero(&c->alloc, 1, sizeof *d);
    if (!d) return MWL_E_NOMEM;
    mwl_status status = mwl__source_init(&d->source, c->alloc, own ? "built in" : e->name.uri,
                                         e->text, strlen(e->text));
    if (status == MWL_OK)
        status = mwl__contract_read(&d->contract, &d->tree, c->alloc, &d->source,
                                    own ? &c->sink : e->sink, own || e->stands_in);
    if (status == MWL_OK) status = check_announced(d, e);
    if (status == MWL_OK) {
        e->document = d;
        return MWL_OK;
    }
    if (status != MWL_E_REJECTED) {
        document_free(c, d);
        return status;
    }
    e->text = NULL;
    d->next = c->refused; /* its diagnostics need the source */
    c->refused = d;
    return MWL_E_NOT_FOUND;
}

mwl_status mwl__catalog_find(mwl__catalog *c, const char *uri, size_t len,
                             const mwl__contract **out) {
    entry *e = find(c, uri, len);
    *out = NULL;
    if (!e || is_refused(e)) return MWL_E_NOT_FOUND;
    mwl_status status = e->document ? MWL_OK : read_later(c, e);
    if (status == MWL_OK) *out = &e->document->contract;
    return status;
}

size_t mwl__catalog_count(const mwl__catalog *c) { return c->n; }
const mwl__provider_name *mwl__catalog_at(const mwl__catalog *c, size_t i) {
    return &c->list[i].name;
}
