/* provide.c: see provide.h. For each provider, it reads and checks the document, compiles its
 * schemas, and gives the VM what the machine needs of both.
 *
 * Errors are reported as text: the provider, the place in its document, the reason. */
#include "assembler/provider/provide.h"

#include "assembler/provider/catalog.h"
#include "mwl_config.h"
#include "assembler/schema/schema_compile.h"
#include "vm/base/error_text.h"
#include "vm/base/host_struct.h"
#include "vm/machine/blocking.h"
#include "vm/machine/declared.h"
#include "vm/machine/phase.h"
#include "vm/machine/providers.h"
#include "vm/machine/state.h"

#include <stdio.h>

static const char *const phase_names[4] = {"onEntry", "onSuccess", "onFailure", "onAlways"};

/* A document that is being read for a provider. */
typedef struct providing {
    mwl_vm *vm;
    mwl_error *error;
    const char *uri;
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree; /* its own tree, because structural parameters are removed from it */
    mwl__contract contract;
} providing;

static char *copy_text(const mwl_alloc *a, const char *text) {
    size_t size = strlen(text) + 1;
    char *out = mwl__mem_new(a, size);
    return out ? memcpy(out, text, size) : NULL;
}

/* ---- saying no ------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static mwl_status
refuse(providing *j, mwl_status st, size_t offset, const char *format, ...) {
    if (!j->error) return st;
    char *out = mwl__error_text();
    const size_t cap = MWL__ERROR_TEXT_MAX;
    int n = snprintf(out, cap, "%s: ", j->uri ? j->uri : "a provider without a URI");
    va_list ap;
    va_start(ap, format);
    if (n > 0 && (size_t)n < cap) vsnprintf(out + n, cap - (size_t)n, format, ap);
    va_end(ap);
    *j->error = (mwl_error){st, out, offset};
    return st;
}

/* Returns the first error in the sink. */
static mwl_status refuse_document(providing *j, mwl_status st) {
    if (st == MWL_E_NOMEM || j->sink.status == MWL_E_NOMEM)
        return refuse(j, MWL_E_NOMEM, 0, "%s", mwl_status_text(MWL_E_NOMEM));
    mwl__diags_sort(&j->sink);
    for (size_t i = 0; i < j->sink.n_items; i++) {
        const mwl__diag *d = j->sink.items[i];
        if (d->severity != MWL_DIAG_ERROR) continue;
        mwl__place at = mwl__source_place(&j->source, d->span.begin);
        return refuse(j, st, d->span.begin, "its document, line %u, column %u: %s", at.line,
                      at.column, d->message);
    }
    return refuse(j, st, 0, "%s", mwl_status_text(st));
}

/* ---- the document ---------------------------------------------------------------------------- */

static mwl_status read_document(providing *j, const char *text, bool trusted) {
    mwl_alloc alloc = j->vm->config.alloc;
    mwl_status st = mwl__source_init(&j->source, alloc, j->uri, text, strlen(text));
    if (st < 0) return refuse(j, st, 0, "its document: %s", mwl_status_text(st));
    st = mwl__contract_read(&j->contract, &j->tree, alloc, &j->source, &j->sink, trusted);
    if (st < 0) return refuse_document(j, st);
    const mwl__node *uri = mwl__node_get(j->tree.root, "uri");
    if (!mwl__node_is(uri, j->uri))
        return refuse(j, MWL_E_REJECTED, uri->offset, "its document is that of '%.*s'",
                      MWL__NODE_TEXT(uri));
    return MWL_OK;
}

/* ---- schemas --------------------------------------------------------------------------------- */

static void unlink_child(mwl__node *list, mwl__node *before, mwl__node *child) {
    list->as.first = mwl__node_first(list);
    list->indexed = false; /* the index still contains the child */
    if (before)
        before->next = child->next;
    else
        list->as.first = child->next;
    list->count--;
}

/* Removes the member, or the string, with this name. */
static void cut(mwl__node *list, const char *name, size_t name_len) {
    mwl__node *before = NULL;
    for (mwl__node *n = list ? mwl__node_first(list) : NULL; n; before = n, n = n->next) {
        const char *text = n->key ? n->key : n->kind == MWL_NODE_STRING ? n->as.text : NULL;
        size_t len = n->key ? n->key_len : n->count;
        if (!text || len != name_len || memcmp(text, name, len) != 0) continue;
        unlink_child(list, before, n);
        return;
    }
}

/* Makes the schema again after something was removed from it. */
static mwl_status compile_again(providing *j, const mwl__node *schema, mwl__schema **out) {
    mwl__schema_options options = mwl__schema_parameters();
    mwl__schema_free(*out);
    *out = NULL;
    mwl_status st = mwl__schema_compile(&j->tree, schema, &options, &j->vm->config.alloc, out);
    return st < 0 ? refuse_document(j, st) : st;
}

/* Structural parameters are code of a program. The arguments that are validated do not contain
 * them. */
static mwl_status cut_structural(providing *j, unsigned phase) {
    const mwl__node *block =
        mwl__node_get(mwl__node_get(j->tree.root, "phases"), phase_names[phase]);
    mwl__node *schema = mwl__node_get(block, "parameters");
    const mwl__node *names = j->contract.structural[phase];
    if (!schema || !names) return MWL_OK;
    for (const mwl__node *name = mwl__node_first(names); name; name = name->next) {
        cut(mwl__node_get(schema, "properties"), name->as.text, name->count);
        cut(mwl__node_get(schema, "required"), name->as.text, name->count);
    }
    return compile_again(j, schema, &j->contract.compiled[phase]);
}

/* A middleware contributes its members one at a time, so no member can be required together with
 * another. */
static mwl_status cut_required(providing *j) {
    mwl__node *metadata = mwl__node_get(j->tree.root, "metadata");
    if (!mwl__node_get(metadata, "required")) return MWL_OK;
    cut(metadata, "required", 8);
    return compile_again(j, metadata, &j->contract.compiled_metadata);
}

/* ---- implementations ------------------------------------------------------------------------- */

/* An action that the document does not declare is refused, because it would never be gated or
 * shown. A declared action without a function is allowed: the machine alone may do it (Loop's
 * gate). */
static mwl_status match_actions(providing *j, const mwl_middleware *m) {
    const mwl__node *phases = mwl__node_get(j->tree.root, "phases");
    const bool given[4] = {m->entry || m->elapsed, m->success || (m->flags & MWL_MW_CARRIES),
                           m->failure, m->always};
    for (unsigned i = 0; i < 4; i++) {
        const mwl__node *block = mwl__node_get(phases, phase_names[i]);
        if (given[i] && !mwl__node_get(block, "action"))
            return refuse(j, MWL_E_REJECTED, 0,
                          "acts at %s, but its document declares no action there", phase_names[i]);
    }
    const mwl__node *members = mwl__node_get(mwl__node_get(j->tree.root, "metadata"), "properties");
    if (m->run_count && !mwl__node_get(members, m->run_count))
        return refuse(j, MWL_E_REJECTED, 0,
                      "counts runs as '%s', but its document declares no such metadata",
                      m->run_count);
    if (m->deadline && !mwl__node_get(members, m->deadline))
        return refuse(j, MWL_E_REJECTED, 0,
                      "names its deadline '%s', but its document declares no such metadata",
                      m->deadline);
    return MWL_OK;
}

/* ---- what the machine checks ----------------------------------------------------------------- */

/* Reads which kind of action the document declares at each phase. */
static void read_kinds(const providing *j, uint8_t kinds[4]) {
    static const char *const names[] = {"", "side-effect", "control", "transform"};
    const mwl__node *phases = mwl__node_get(j->tree.root, "phases");
    for (unsigned i = 0; i < 4; i++) {
        const mwl__node *action = mwl__node_get(mwl__node_get(phases, phase_names[i]), "action");
        const mwl__node *kind = mwl__node_get(action, "kind");
        for (uint8_t k = MWL_ACTION_SIDE_EFFECT; kind && k <= MWL_ACTION_TRANSFORM; k++)
            if (mwl__node_is(kind, names[k])) kinds[i] = k;
    }
}

static size_t list_codes(const mwl__node *list, mwl__declared_code *out) {
    size_t n = 0;
    for (const mwl__node *c = list ? mwl__node_first(list) : NULL; c; c = c->next)
        out[n++] = (mwl__declared_code){c->as.text, c->count, false};
    return n;
}

static mwl_status read_codes(providing *j, mwl__declared **out) {
    const mwl_alloc *a = &j->vm->config.alloc;
    const mwl__node *closed = j->contract.closed, *open = j->contract.open;
    size_t room = 1 + (closed ? closed->count : 0) + (open ? open->count : 0);
    mwl__declared_code *codes = mwl__mem_zero(a, room, sizeof *codes);
    if (codes) {
        size_t n = list_codes(closed, codes);
        n += list_codes(open, codes + n);
        *out = mwl__declared_new(a, codes, n);
        mwl__mem_free(a, codes, room * sizeof *codes);
    }
    return *out ? MWL_OK : refuse_document(j, MWL_E_NOMEM);
}

/* ---- compiling ------------------------------------------------------------------------------- */

static mwl_status fit(providing *j, const mwl__provider *p, const char *text) {
    mwl_status st = read_document(j, text, p->trusted || p->stands_in);
    if (st < 0 || !p->is_middleware) return st;
    for (unsigned phase = 0; st >= 0 && phase < 4; phase++) st = cut_structural(j, phase);
    if (st >= 0) st = cut_required(j);
    return st < 0 ? st : match_actions(j, &p->middleware);
}

/* Gives the provider what the machine needs of its document. */
static mwl_status compile(mwl_vm *vm, mwl__provider *p, mwl_error *error) {
    const char *text = p->is_middleware ? p->middleware.document : p->call.document;
    providing j;
    memset(&j, 0, sizeof j);
    j.vm = vm;
    j.error = error;
    j.uri = p->uri;
    mwl__diags_init(&j.sink, vm->config.alloc);
    mwl_status st = fit(&j, p, text);
    if (st >= 0) st = read_codes(&j, &p->declared);
    if (st >= 0) {
        uint8_t kinds[4] = {MWL_ACTION_NONE};
        read_kinds(&j, kinds);
        mwl__phase_allow(p, kinds);
        if ((p->middleware.flags & MWL_MW_CARRIES) && !p->carries)
            st = refuse(&j, MWL_E_REJECTED, 0,
                        "carries at onSuccess, but its document declares no control action there");
    }
    if (st >= 0) {
        p->any_code = p->trusted || p->declared->any;
        memcpy(p->parameters, j.contract.compiled, sizeof p->parameters);
        p->metadata = j.contract.compiled_metadata;
        p->compile = NULL;
    } else {
        mwl__contract_free(&j.contract);
    }
    mwl__tree_free(&j.tree);
    mwl__diags_free(&j.sink);
    mwl__source_free(&j.source);
    return st;
}

/* ---- registration ---------------------------------------------------------------------------- */

/* Which namespaces are open to a document, and whether it is read now or when it is needed. */
typedef enum trust { OF_A_HOST, STANDS_IN, TRUSTED } trust;

/* Makes everything except the schemas. Returns NULL if out of memory. */
static mwl__provider *make_provider(mwl_vm *vm, const mwl_call_provider *call,
                                    const mwl_middleware *middleware, void *user, trust how) {
    const mwl_alloc *a = &vm->config.alloc;
    mwl__provider *p = mwl__mem_zero(a, 1, sizeof *p);
    if (!p) return NULL;
    const char *uri = call ? call->uri : middleware->uri;
    p->is_middleware = middleware != NULL;
    p->user = user;
    p->compile = compile;
    p->uri = copy_text(a, uri);
    p->uri_len = strlen(uri);
    const char *document = call ? call->document : middleware->document;
    bool constant = how == TRUSTED || (call ? call->deferred : middleware->deferred);
    if (!constant) p->document = copy_text(a, document); /* for mwl_assemble_for */
    p->trusted = how == TRUSTED;
    p->stands_in = how == STANDS_IN;
    bool made = p->uri && (constant || p->document);
    if (call) {
        p->call = *call;
        p->call.uri = p->uri;
    } else {
        p->middleware = *middleware;
        p->middleware.uri = p->uri;
        if (middleware->run_count)
            p->middleware.run_count = p->run_count = copy_text(a, middleware->run_count);
        if (middleware->deadline)
            p->middleware.deadline = p->deadline = copy_text(a, middleware->deadline);
        made = made && !middleware->run_count == !p->run_count &&
               !middleware->deadline == !p->deadline;
    }
    if (p->document) p->call.document = p->middleware.document = p->document;
    if (made) return p;
    mwl__providers_drop(vm, p);
    return NULL;
}

static mwl_status add(providing *j, mwl__provider *p) {
    bool replaces = p->is_middleware ? p->middleware.replaces : p->call.replaces;
    mwl_status st = mwl__providers_put(j->vm, p, replaces);
    if (st == MWL_E_DUPLICATE) return refuse(j, st, 0, "the VM has this provider already");
    return st < 0 ? refuse(j, st, 0, "%s", mwl_status_text(st)) : st;
}

/* Exactly one of the two implementations is not NULL. The document of a host is compiled here, so
 * that the host gets its errors. A trusted or deferred one is compiled when a program that imports
 * it is linked. */
static mwl_status provide(mwl_vm *vm, const mwl_call_provider *call,
                          const mwl_middleware *middleware, void *user, trust how,
                          mwl_error *error) {
    providing j;
    memset(&j, 0, sizeof j);
    j.vm = vm;
    j.error = error;
    j.uri = call ? call->uri : middleware->uri;
    if (!j.uri) return refuse(&j, MWL_E_USAGE, 0, "a provider needs one");
    if (!(call ? call->document : middleware->document))
        return refuse(&j, MWL_E_USAGE, 0, "a provider needs its definition document");
    if (call && !call->start == !call->blocking && (call->start || !call->now))
        return refuse(&j, MWL_E_USAGE, 0,
                      "a call provider needs either `start` or `blocking`, or `now` alone");
    if (call && call->blocking && !MWL_STACKS)
        return refuse(&j, MWL_E_UNSUPPORTED, 0, "this build has no stacks for blocking providers");
    const char *foreign = call && call->blocking ? mwl__blocking_refused(call->blocking) : NULL;
    if (foreign) return refuse(&j, MWL_E_UNSUPPORTED, 0, "%s", foreign);
    const char *type = call ? "mwl:provider.call/" : "mwl:provider.middleware/";
    if (strncmp(j.uri, type, strlen(type)) != 0)
        return refuse(&j, MWL_E_REJECTED, 0, "the URI of a %s begins with '%s'",
                      call ? "call provider" : "middleware", type);
    mwl__provider *p = make_provider(vm, call, middleware, user, how);
    if (!p) return refuse(&j, MWL_E_NOMEM, 0, "%s", mwl_status_text(MWL_E_NOMEM));
    bool later = how == TRUSTED || (call ? call->deferred : middleware->deferred);
    mwl_status st = later ? MWL_OK : compile(vm, p, error);
    if (st >= 0) st = add(&j, p);
    if (st < 0) mwl__providers_drop(vm, p);
    return st;
}

/* ---- what a VM offers to definitions --------------------------------------------------------- */

mwl_status mwl__offer_make(const mwl_vm *vm, const mwl_asm_document *more, mwl__offer *out) {
    size_t n = 1;
    for (const mwl__provider *p = vm->providers; p; p = p->next) n++;
    for (const mwl_asm_document *d = more; d && d->uri; d++) n++;
    *out = (mwl__offer){
        .n_documents = n, .functions = vm->functions.defs, .n_functions = vm->functions.n_defs};
    out->documents = mwl__mem_zero(&vm->config.alloc, n, sizeof *out->documents);
    if (!out->documents) return MWL_E_NOMEM;
    mwl_asm_document *to = out->documents;
    for (const mwl__provider *p = vm->providers; p; p = p->next)
        if (!p->trusted)
            *to++ = (mwl_asm_document){
                p->uri, p->is_middleware ? p->middleware.document : p->call.document, false};
    for (const mwl_asm_document *d = more; d && d->uri; d++) *to++ = *d;
    return MWL_OK;
}

void mwl__offer_free(const mwl_vm *vm, mwl__offer *offer) {
    mwl__mem_free(&vm->config.alloc, offer->documents,
                  offer->n_documents * sizeof *offer->documents);
}

void mwl__offer_say(mwl_vm *vm, const char *text) {
    const mwl_alloc *a = &vm->config.alloc;
    if (vm->diagnostics) mwl__mem_free(a, vm->diagnostics, strlen(vm->diagnostics) + 1);
    vm->diagnostics = copy_text(a, text);
}

const char *mwl_vm_diagnostics(const mwl_vm *vm) { return vm->diagnostics ? vm->diagnostics : ""; }

static const mwl__member call_members[] = {
    MWL__MEMBER(mwl_call_provider, uri),      MWL__MEMBER(mwl_call_provider, document),
    MWL__MEMBER(mwl_call_provider, start),    MWL__MEMBER(mwl_call_provider, wake),
    MWL__MEMBER(mwl_call_provider, cancel),   MWL__MEMBER(mwl_call_provider, blocking),
    MWL__MEMBER(mwl_call_provider, deferred), MWL__MEMBER(mwl_call_provider, flags),
    MWL__MEMBER(mwl_call_provider, restore),  MWL__MEMBER(mwl_call_provider, replaces),
    MWL__MEMBER(mwl_call_provider, now),
};
static const mwl__host_struct call_struct = MWL__HOST_STRUCT(mwl_call_provider, call_members);

static const mwl__member middleware_members[] = {
    MWL__MEMBER(mwl_middleware, uri),      MWL__MEMBER(mwl_middleware, document),
    MWL__MEMBER(mwl_middleware, flags),    MWL__MEMBER(mwl_middleware, run_count),
    MWL__MEMBER(mwl_middleware, deadline), MWL__MEMBER(mwl_middleware, entry),
    MWL__MEMBER(mwl_middleware, success),  MWL__MEMBER(mwl_middleware, failure),
    MWL__MEMBER(mwl_middleware, always),   MWL__MEMBER(mwl_middleware, elapsed),
    MWL__MEMBER(mwl_middleware, left),     MWL__MEMBER(mwl_middleware, prepare),
    MWL__MEMBER(mwl_middleware, deferred), MWL__MEMBER(mwl_middleware, restore),
    MWL__MEMBER(mwl_middleware, replaces),
};
static const mwl__host_struct middleware_struct =
    MWL__HOST_STRUCT(mwl_middleware, middleware_members);

static mwl_status refuse_struct(mwl_status st, mwl_error *error) {
    if (error)
        *error = (mwl_error){
            st, mwl__host_struct_why(st, "a provider has a member that is not known here"), 0};
    return st;
}

mwl_status mwl_vm_provide_sized(mwl_vm *vm, const mwl_call_provider *providers, size_t size,
                                size_t n, void *user, mwl_error *error) {
    mwl_status st = MWL_OK;
    for (size_t i = 0; st >= 0 && i < n; i++) {
        mwl_call_provider p;
        st = mwl__host_struct_read(&p, &call_struct, mwl__host_struct_at(providers, size, i), size);
        st = st < 0 ? refuse_struct(st, error) : provide(vm, &p, NULL, user, OF_A_HOST, error);
    }
    return st;
}

mwl_status mwl_vm_provide_middleware_sized(mwl_vm *vm, const mwl_middleware *middleware,
                                           size_t size, size_t n, void *user, mwl_error *error) {
    mwl_status st = MWL_OK;
    for (size_t i = 0; st >= 0 && i < n; i++) {
        mwl_middleware m;
        st = mwl__host_struct_read(&m, &middleware_struct, mwl__host_struct_at(middleware, size, i),
                                   size);
        st = st < 0 ? refuse_struct(st, error) : provide(vm, NULL, &m, user, OF_A_HOST, error);
    }
    return st;
}

mwl_status mwl__provide_trusted(mwl_vm *vm, const mwl_call_provider *provider, void *user,
                                mwl_error *error) {
    return provide(vm, provider, NULL, user, TRUSTED, error);
}

mwl_status mwl__provide_trusted_middleware(mwl_vm *vm, const mwl_middleware *middleware,
                                           mwl_error *error) {
    return provide(vm, NULL, middleware, NULL, TRUSTED, error);
}

mwl_status mwl__provide_stand_in(mwl_vm *vm, const mwl_call_provider *provider, void *user,
                                 mwl_error *error) {
    return provide(vm, provider, NULL, user, STANDS_IN, error);
}
