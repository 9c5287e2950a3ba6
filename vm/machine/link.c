/* link.c: see link.h. What a program needs of its VM is found here once, so that a run finds it by
 * index: providers, functions, schemas, whether constant arguments are valid, the code in the form
 * that is executed (vm/cel/linked.h).
 *
 * Owns: mwl__link. Refuses to know: what a run does with it. */
#include "vm/machine/link.h"

#include "vm/base/error_text.h"
#include "vm/machine/context.h"
#include "vm/machine/exec.h"
#include "vm/machine/frame.h"
#include "vm/machine/providers.h"

/* ---- making ---------------------------------------------------------------------------------- */

static mwl_status refuse(mwl_error *error, mwl_status st, const char *message) {
    if (error) {
        error->status = st;
        error->message = message;
        error->offset = 0;
    }
    return st;
}

static mwl_status link_providers(mwl_vm *vm, mwl__link *l, mwl_error *error) {
    const mwl__flow_tables *t = &l->program->tables;
    l->providers = mwl__mem_zero(&vm->config.alloc, t->n_imports, sizeof *l->providers);
    if (t->n_imports && !l->providers) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < t->n_imports; i++) {
        size_t len;
        const char *uri = mwl_as_text(l->program->consts[t->imports[i].uri_k], &len);
        mwl__provider *p = mwl__providers_find(vm, uri, len);
        bool want = t->imports[i].kind == MWL_IMPORT_MIDDLEWARE;
        if (!p || p->withdrawn || p->is_middleware != want)
            return refuse(error, MWL_E_NOT_FOUND, mwl__error_text_set("%s", uri));
        mwl_status st = p->compile ? p->compile(vm, p, error) : MWL_OK;
        if (st < 0) return st;
        l->providers[i] = p;
    }
    return MWL_OK;
}

/* Frames keep instants if an expression can read those of their Flow or of one of its Steps. */
static mwl_status link_flows(mwl_vm *vm, mwl__link *l, mwl_error *error) {
    const mwl_program *p = l->program;
    const mwl__flow_tables *t = &p->tables;
    const unsigned times = MWL_NEEDS_ENTERED | MWL_NEEDS_EXITED;
    l->flows = mwl__mem_zero(&vm->config.alloc, t->n_flows, sizeof *l->flows);
    if (t->n_flows && !l->flows) return MWL_E_NOMEM;
    /* in all schemas; each one has a limit, but a program may have many Flows */
    size_t patterns = 0;
    uint64_t work = 0;
    for (uint32_t i = 0; i < t->n_flows; i++) {
        const mwl__flow_rec *rec = &t->flows[i];
        mwl__flow_link *flow = &l->flows[i];
        flow->flow = i;
        flow->pc = rec->pc;
        flow->ascend_pc = rec->ascend_pc;
        flow->bare = p->code[rec->ascend_pc].op == MWL_OP_COMPLETE;
        flow->timed = (rec->flags & times) != 0;
        flow->vars = rec->defaults_k == MWL_NONE ? vm->empty : p->consts[rec->defaults_k];
        if (rec->schema == MWL_NONE) continue;
        mwl_status st = mwl__schema_load(&vm->config.alloc, t->schemas, t->n_schema_words,
                                         rec->schema, p->consts, p->n_consts, &flow->schema, error);
        if (st < 0) return st;
        patterns += mwl__schema_patterns_used(flow->schema);
        if (patterns > MWL_PATTERNS_LIMIT)
            return refuse(error, MWL_E_TOO_BIG,
                          "the patterns of the Flows' parameters need too much memory");
        work += mwl__schema_patterns_work(flow->schema);
        if (work > MWL_PATTERNS_WORK)
            return refuse(error, MWL_E_TOO_BIG,
                          "the patterns of the Flows' parameters take too long to compile");
    }
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->steps[i].flags & times) l->flows[t->steps[i].flow].timed = true;
    for (uint32_t i = 0; i < t->n_flows; i++)
        l->flows[i].plain = !l->flows[i].timed && !l->flows[i].schema;
    return MWL_OK;
}

_Static_assert(sizeof(mwl_run) + sizeof(mwl__frame) + sizeof(mwl__times) <= MWL__SMALL,
               "a run is a small block");

static void link_run(mwl__link *l) {
    uint32_t root = l->program->tables.root_flow;
    if (root == MWL_NONE) return; /* an expression */
    l->root = &l->flows[root];
    l->run_size = sizeof(mwl_run) + mwl__frame_size(l->root->timed);
    l->run_units = (uint32_t)(l->run_size + 15) / 16;
}

bool mwl__link_accepts(mwl_vm *vm, const mwl__schema *schema, mwl_value args) {
    if (!schema) return mwl_count(args) == 0 && mwl_value_kind(args) == MWL_KIND_OBJECT;
    mwl__schema_env env = {&vm->heap, vm->regex, NULL};
    bool valid = false;
    return mwl__schema_check(schema, args, &env, &valid, NULL) == MWL_OK && valid;
}

/* Checks the constant arguments of a call. Those that are not valid are checked again when they are
 * used, and fail there. Arguments that are not written are {}. */
static void fill_call(mwl_vm *vm, const mwl__link *l, mwl__call_link *call) {
    const mwl__call_rec *rec = call->rec;
    if (rec->import == MWL_NONE) return;
    call->provider = l->providers[rec->import];
    call->with_ok = MWL_WITH_UNKNOWN;
    call->now = NULL;
    if (rec->with_k == MWL_NONE ||
        !mwl__link_accepts(vm, call->provider->parameters[0], call->args))
        return;
    const uint8_t direct = rec->gather == MWL_NONE ? MWL_CALL_DIRECT : MWL_DISPATCH_DIRECT;
    call->with_ok = rec->flags & MWL_CALL_BARE ? direct : MWL_WITH_VALID;
    if (call->with_ok == MWL_CALL_DIRECT) call->now = call->provider->now;
}

static mwl_status link_calls(mwl_vm *vm, mwl__link *l) {
    const mwl_program *p = l->program;
    const mwl__flow_tables *t = &p->tables;
    l->calls = mwl__mem_zero(&vm->config.alloc, t->n_calls, sizeof *l->calls);
    if (t->n_calls && !l->calls) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < t->n_calls; i++) {
        l->calls[i].rec = &t->calls[i];
        l->calls[i].rises = (t->calls[i].flags & MWL_CALL_RISES) != 0;
        if (t->calls[i].with_k != MWL_NONE) l->calls[i].args = p->consts[t->calls[i].with_k];
        fill_call(vm, l, &l->calls[i]);
    }
    return MWL_OK;
}

static void drop_prepared(mwl_heap *h, mwl__entry_link *e) {
    mwl__drop(h, e->prepared);
    mwl__drop(h, e->why);
    mwl__drop(h, e->cancel);
    e->prepared = e->why = e->cancel = mwl_absent();
}

/* The same for an entry. Valid arguments may be prepared. If that fails, there is no prepared
 * value.
 */
static void fill_entry(mwl_vm *vm, const mwl__link *l, mwl__entry_link *e) {
    const mwl_value *consts = l->program->consts;
    const mwl__provider *m = e->provider = l->providers[e->rec->import];
    for (uint32_t phase = 0; phase < 4; phase++) {
        uint32_t k = e->rec->with_k[phase];
        e->with[phase] = k == MWL_NONE ? mwl_absent() : consts[k];
        e->with_ok[phase] = k != MWL_NONE && mwl__link_accepts(vm, m->parameters[phase], consts[k]);
    }
    const bool carries = m->carries && e->with_ok[MWL_ON_SUCCESS];
    const bool noted = e->rec->flags & ((unsigned)MWL_NEEDS_PHASE << MWL_ON_SUCCESS);
    e->repeats =
        carries && !noted ? mwl__linked_repeats(l->linked, e->rec->success_pc, m->count_name) : 0;
    drop_prepared(&vm->heap, e);
    if (!m->middleware.prepare || !e->with_ok[MWL_ON_ENTRY]) return;
    const bool calling = vm->calling;
    vm->calling = true;
    e->prepared = mwl__own(m->middleware.prepare(&vm->heap, e->with[MWL_ON_ENTRY], m->user));
    vm->calling = calling;
}

static mwl_status link_entries(mwl_vm *vm, mwl__link *l) {
    const mwl__flow_tables *t = &l->program->tables;
    l->entries = mwl__mem_zero(&vm->config.alloc, t->n_entries, sizeof *l->entries);
    if (t->n_entries && !l->entries) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < t->n_entries; i++) {
        l->entries[i].rec = &t->entries[i];
        fill_entry(vm, l, &l->entries[i]);
    }
    return MWL_OK;
}

static mwl_status link_all(mwl_vm *vm, mwl__link *l, mwl_error *error) {
    const char *missing = NULL;
    mwl_status st =
        mwl__functions_link(&vm->functions, &vm->config.alloc, l->program, &l->functions, &missing);
    if (st == MWL_E_NOT_FOUND) return refuse(error, st, mwl__error_text_set("%s", missing));
    if (st == MWL_OK) st = link_providers(vm, l, error);
    if (st == MWL_OK) st = link_flows(vm, l, error);
    if (st == MWL_OK) link_run(l);
    if (st == MWL_OK) st = link_calls(vm, l);
    if (st == MWL_OK) {
        l->linked = mwl__linked_new(&vm->heap, l->program, mwl__context_slot, mwl__exec_labels);
        if (!l->linked) st = MWL_E_NOMEM;
    }
    if (st == MWL_OK) st = link_entries(vm, l);
    /* a running interpreter holds a pointer to the registers: then the first turn makes room */
    if (st == MWL_OK && !vm->executing) st = mwl__exec_reserve(&vm->exec, l->program->n_regs);
    return st;
}

/* ---- a provider takes the place of another --------------------------------------------------- */

static bool imports(const mwl__link *l, const mwl__provider *p) {
    for (uint32_t i = 0; i < l->program->tables.n_imports; i++)
        if (l->providers[i] == p) return true;
    return false;
}

static void put(mwl_vm *vm, mwl__link *l, const mwl__provider *old, const mwl__provider *new) {
    const mwl__flow_tables *t = &l->program->tables;
    l->missing = NULL;
    for (uint32_t i = 0; i < t->n_imports; i++) {
        if (l->providers[i] == old) l->providers[i] = new;
        if (l->providers[i]->withdrawn)
            l->missing = mwl_as_text(l->program->consts[t->imports[i].uri_k], NULL);
    }
    for (uint32_t i = 0; i < t->n_calls; i++)
        if (l->calls[i].provider == old) fill_call(vm, l, &l->calls[i]);
    for (uint32_t i = 0; i < t->n_entries; i++)
        if (l->entries[i].provider == old) fill_entry(vm, l, &l->entries[i]);
}

mwl_status mwl__link_replace(mwl_vm *vm, const mwl__provider *old, mwl__provider *new) {
    for (mwl__link *l = vm->links; l; l = l->next) {
        if (!imports(l, old)) continue;
        mwl_status st = new->compile ? new->compile(vm, new, NULL) : MWL_OK;
        if (st < 0) return st; /* for the first one: nothing has changed */
        put(vm, l, old, new);
    }
    return MWL_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

void mwl__link_free(mwl_vm *vm, mwl__link *l) {
    const mwl_alloc *a = &vm->config.alloc;
    const mwl__flow_tables *t = &l->program->tables;
    for (uint32_t i = 0; l->flows && i < t->n_flows; i++) mwl__schema_free(l->flows[i].schema);
    mwl__mem_free(a, l->flows, t->n_flows * sizeof *l->flows);
    mwl__mem_free(a, l->providers, t->n_imports * sizeof *l->providers);
    mwl__mem_free(a, l->functions, l->program->n_funcs * sizeof *l->functions);
    for (uint32_t i = 0; l->entries && i < t->n_entries; i++)
        drop_prepared(&vm->heap, &l->entries[i]);
    mwl__mem_free(a, l->entries, t->n_entries * sizeof *l->entries);
    mwl__mem_free(a, l->calls, t->n_calls * sizeof *l->calls);
    mwl__mem_free(a, l->places, t->n_steps * sizeof *l->places);
    mwl__linked_free(&vm->heap, l->linked);
    mwl__arena_free(&l->resume_memory);
    mwl__program_release(l->program);
    mwl__mem_free(a, l, sizeof *l);
}

void mwl__link_free_forgotten(mwl_vm *vm) {
    for (mwl__link **at = &vm->links; *at;) {
        mwl__link *l = *at;
        if (!l->forget || l->n_runs) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        mwl__link_free(vm, l);
    }
}

static mwl__link *find(const mwl_vm *vm, const mwl_program *program) {
    mwl__link *l = vm->links;
    while (l && l->program != program) l = l->next;
    return l;
}

mwl_status mwl_vm_forget(mwl_vm *vm, const mwl_program *program) {
    mwl__link *l = find(vm, program);
    if (!l) return MWL_E_NOT_FOUND;
    l->forget = true;
    mwl__link_free_forgotten(vm);
    return MWL_OK;
}

mwl_status mwl__link_program(mwl_vm *vm, mwl_program *program, mwl__link **out, mwl_error *error) {
    mwl__link *l = find(vm, program);
    if (l && l->missing)
        return refuse(error, MWL_E_NOT_FOUND, mwl__error_text_set("%s", l->missing));
    if (l) {
        l->forget = false;
        *out = l;
        return MWL_OK;
    }
    l = mwl__mem_zero(&vm->config.alloc, 1, sizeof *l);
    if (!l) return refuse(error, MWL_E_NOMEM, mwl_status_text(MWL_E_NOMEM));
    l->vm = vm;
    l->program = mwl__program_keep(program);
    l->resume_memory = mwl__arena_make(vm->config.alloc);
    if (error) error->status = MWL_OK;
    mwl_status st = link_all(vm, l, error);
    if (st < 0) {
        if (error && error->status == MWL_OK) refuse(error, st, mwl_status_text(st));
        mwl__link_free(vm, l);
        return st;
    }
    mwl__link *other = find(vm, program);
    if (other) { /* a middleware has started the program in `prepare`; a program has one link */
        mwl__link_free(vm, l);
        other->forget = false;
        *out = other;
        return MWL_OK;
    }
    l->next = vm->links;
    vm->links = l;
    *out = l;
    return MWL_OK;
}
