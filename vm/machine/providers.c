/* providers.c: see providers.h. */
#include "vm/machine/providers.h"

#include "vm/machine/declared.h"
#include "vm/machine/execution.h"
#include "vm/machine/link.h"
#include "vm/machine/rest.h"

static const char withdrawn_code[] = "Mwlvm.ProviderWithdrawn";

/* ---- records --------------------------------------------------------------------------------- */

static void free_text(mwl_vm *vm, char *text) {
    if (text) mwl__mem_free(&vm->config.alloc, text, strlen(text) + 1);
}

void mwl__providers_drop(mwl_vm *vm, mwl__provider *p) {
    for (int i = 0; i < 4 && !p->borrows; i++) mwl__schema_free(p->parameters[i]);
    if (!p->borrows) mwl__schema_free(p->metadata);
    if (!p->borrows) mwl__declared_free(&vm->config.alloc, p->declared);
    free_text(vm, p->uri);
    free_text(vm, p->run_count);
    free_text(vm, p->deadline);
    free_text(vm, p->document);
    mwl__mem_free(&vm->config.alloc, p, sizeof *p);
}

static void drop_list(mwl_vm *vm, mwl__provider **list) {
    for (mwl__provider *p; (p = *list);) {
        *list = p->next;
        mwl__providers_drop(vm, p);
    }
}

void mwl__providers_free(mwl_vm *vm) {
    drop_list(vm, &vm->providers);
    drop_list(vm, &vm->retired);
}

mwl__provider *mwl__providers_find(const mwl_vm *vm, const char *uri, size_t len) {
    for (mwl__provider *p = vm->providers; p; p = p->next)
        if (p->uri_len == len && memcmp(p->uri, uri, len) == 0) return p;
    return NULL;
}

/* ---- changing the catalog -------------------------------------------------------------------- */

static void retire(mwl_vm *vm, mwl__provider *p) {
    mwl__provider **at = &vm->providers;
    while (*at != p) at = &(*at)->next;
    *at = p->next;
    p->next = vm->retired;
    vm->retired = p;
}

static void fill(mwl_vm *vm, mwl__provider *p) {
    p->act[MWL_ON_ENTRY] = p->middleware.entry;
    p->act[MWL_ON_SUCCESS] = p->middleware.success;
    p->act[MWL_ON_FAILURE] = p->middleware.failure;
    p->act[MWL_ON_ALWAYS] = p->middleware.always;
    const char *name = p->middleware.run_count;
    p->count_name = NULL;
    if (name)
        p->count_name =
            mwl__atom(&vm->heap, name, strlen(name), mwl__str_hash(name, strlen(name)), false);
    p->held = vm->config.hold && !(p->call.flags & MWL_CALL_LOCAL);
    p->indirect = p->held || p->call.blocking;
    if (!p->call.start && !p->call.blocking && p->call.now) p->call.start = mwl__execution_now;
    p->now = p->indirect ? NULL : p->call.now;
}

mwl_status mwl__providers_put(mwl_vm *vm, mwl__provider *take, bool replaces) {
    mwl__provider *old = mwl__providers_find(vm, take->uri, take->uri_len);
    if (old && !old->withdrawn && !replaces) return MWL_E_DUPLICATE;
    fill(vm, take);
    mwl_status st = old ? mwl__link_replace(vm, old, take) : MWL_OK;
    if (st < 0) return st;
    if (old) retire(vm, old);
    take->next = vm->providers;
    vm->providers = take;
    return MWL_OK;
}

/* ---- withdrawing ----------------------------------------------------------------------------- */

static void fail_call(mwl_call *call, void *user) {
    (void)user;
    mwl_call_fail(call, NULL, withdrawn_code, "the provider was withdrawn", mwl_absent());
}

static void fail_phase(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_fail(phase, NULL, withdrawn_code, "the middleware was withdrawn", mwl_absent());
}

static char *copy_text(mwl_vm *vm, const char *text) {
    size_t size = strlen(text) + 1;
    char *out = mwl__mem_new(&vm->config.alloc, size);
    return out ? memcpy(out, text, size) : NULL;
}

/* Makes the record that takes the place of p, and takes over its schemas. NULL: out of memory. */
static mwl__provider *make_withdrawn(mwl_vm *vm, mwl__provider *p) {
    mwl__provider *w = mwl__mem_zero(&vm->config.alloc, 1, sizeof *w);
    char *uri = copy_text(vm, p->uri);
    if (!w || !uri) {
        free_text(vm, uri);
        if (w) mwl__mem_free(&vm->config.alloc, w, sizeof *w);
        return NULL;
    }
    *w = (mwl__provider){.uri = uri,
                         .uri_len = p->uri_len,
                         .is_middleware = p->is_middleware,
                         .trusted = true,
                         .withdrawn = true,
                         .any_code = true,
                         .metadata = p->metadata,
                         .declared = p->declared};
    w->call.uri = w->middleware.uri = uri;
    w->call.start = fail_call;
    w->call.flags = MWL_CALL_LOCAL;
    w->middleware.flags = p->middleware.flags;
    w->middleware.entry = w->middleware.success = fail_phase;
    w->middleware.failure = w->middleware.always = fail_phase;
    memcpy(w->parameters, p->parameters, sizeof w->parameters);
    memcpy(w->verdicts, p->verdicts, sizeof w->verdicts);
    p->borrows = true;
    return w;
}

mwl_status mwl_vm_withdraw(mwl_vm *vm, const char *uri) {
    if (!vm || !uri) return MWL_E_USAGE;
    mwl__provider *p = mwl__providers_find(vm, uri, strlen(uri));
    if (!p || p->withdrawn) return MWL_E_NOT_FOUND;
    mwl__provider *w = make_withdrawn(vm, p);
    if (!w) return MWL_E_NOMEM;
    (void)mwl__providers_put(vm, w, true); /* schemas are the same, so nothing can fail */
    return MWL_OK;
}

/* ---- who still uses what was retired --------------------------------------------------------- */

static bool is_retired(const mwl_vm *vm, const mwl__provider *p) {
    const mwl__provider *r = vm->retired;
    while (r && r != p) r = r->next;
    return r && !r->withdrawn;
}

static size_t count_calls(const mwl_vm *vm, const mwl_call *list) {
    size_t n = 0;
    for (const mwl_call *c = list; c; c = c->next) n += is_retired(vm, c->provider);
    return n;
}

static size_t count_entries(const mwl_vm *vm, const mwl_run *run) {
    size_t n = 0;
    for (const mwl__frame *f = run->root; f; f = mwl__rest_next_frame(f))
        for (const mwl__entry *e = f->entries; e; e = e->outer) n += is_retired(vm, e->provider);
    return n;
}

size_t mwl_vm_withdrawn(mwl_vm *vm) {
    if (!vm->retired) return 0;
    size_t n =
        count_calls(vm, vm->executions) + count_calls(vm, vm->held) + count_calls(vm, vm->released);
    for (const mwl_run *run = NULL; (run = mwl_vm_runs(vm, run));) n += count_entries(vm, run);
    return n;
}
