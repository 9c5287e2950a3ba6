/* link.c: see link.h. What a program needs of its VM is found here once, so that a run finds it by
 * index: providers, functions, schemas, whether constant arguments are valid.
 *
 * Owns: mwl__link. Refuses to know: what a run does with it. */
#include "vm/machine/link.h"

#include "vm/base/said.h"
#include "vm/machine/providers.h"

static size_t with_ok_size(const mwl__flow_tables *t) {
    return (size_t)t->n_calls + (size_t)t->n_entries * 4;
}

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
            return refuse(error, MWL_E_NOT_FOUND, mwl__say("%s", uri));
        mwl_status st = p->compile ? p->compile(vm, p, error) : MWL_OK;
        if (st < 0) return st;
        l->providers[i] = p;
    }
    return MWL_OK;
}

static mwl_status link_schemas(mwl_vm *vm, mwl__link *l, mwl_error *error) {
    const mwl_program *p = l->program;
    const mwl__flow_tables *t = &p->tables;
    l->flow_schemas = mwl__mem_zero(&vm->config.alloc, t->n_flows, sizeof *l->flow_schemas);
    if (t->n_flows && !l->flow_schemas) return MWL_E_NOMEM;
    size_t patterns =
        0; /* in all schemas; each one has a limit, but a program may have many Flows */
    for (uint32_t i = 0; i < t->n_flows; i++) {
        if (t->flows[i].schema == MWL_NONE) continue;
        mwl_status st =
            mwl__schema_load(&vm->config.alloc, t->schemas, t->n_schema_words, t->flows[i].schema,
                             p->consts, p->n_consts, &l->flow_schemas[i], error);
        if (st < 0) return st;
        patterns += mwl__schema_patterns_used(l->flow_schemas[i]);
        if (patterns > MWL_PATTERNS_LIMIT)
            return refuse(error, MWL_E_TOO_BIG,
                          "the patterns of the Flows' parameters need too much memory");
    }
    return MWL_OK;
}

bool mwl__link_accepts(mwl_vm *vm, const mwl__schema *schema, mwl_value args) {
    if (!schema) return mwl_count(args) == 0 && mwl_value_kind(args) == MWL_KIND_OBJECT;
    mwl__schema_env env = {&vm->heap, vm->regex, NULL};
    bool valid = false;
    return mwl__schema_check(schema, args, &env, &valid, NULL) == MWL_OK && valid;
}

/* Checks the constant arguments of each call and each phase. */
static void check_constants(mwl_vm *vm, mwl__link *l) {
    const mwl_program *p = l->program;
    const mwl__flow_tables *t = &p->tables;
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const mwl__call_rec *c = &t->calls[i];
        if (c->import == MWL_NONE || c->with_k == MWL_NONE) continue;
        bool valid =
            mwl__link_accepts(vm, l->providers[c->import]->parameters[0], p->consts[c->with_k]);
        l->with_ok[i] = !valid                     ? MWL_WITH_UNKNOWN
                        : c->flags & MWL_CALL_BARE ? MWL_CALL_DIRECT
                                                   : MWL_WITH_VALID;
    }
    for (uint32_t i = 0; i < t->n_entries; i++)
        for (uint32_t phase = 0; phase < 4; phase++) {
            uint32_t k = t->entries[i].with_k[phase];
            if (k != MWL_NONE)
                l->with_ok[t->n_calls + i * 4 + phase] = mwl__link_accepts(
                    vm, l->providers[t->entries[i].import]->parameters[phase], p->consts[k]);
        }
}

/* Checks constant arguments once. Those that are not valid are checked again when they are used,
 * and fail there. Arguments that are not written are {}. */
static mwl_status link_constants(mwl_vm *vm, mwl__link *l) {
    const mwl__flow_tables *t = &l->program->tables;
    l->with_ok = mwl__mem_zero(&vm->config.alloc, with_ok_size(t), 1);
    if (with_ok_size(t) && !l->with_ok) return MWL_E_NOMEM;
    check_constants(vm, l);
    return MWL_OK;
}

/* Prepares the entries of a middleware, or of all. If that fails, there is no prepared value. */
static void prepare(mwl_vm *vm, mwl__link *l, const mwl__provider *of) {
    const mwl__flow_tables *t = &l->program->tables;
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const mwl__provider *p = l->providers[t->entries[i].import];
        if (of && p != of) continue;
        mwl__replace(&vm->heap, &l->prepared[i], mwl_absent());
        uint32_t k = t->entries[i].with_k[MWL_ON_ENTRY];
        if (k == MWL_NONE || !p->middleware.prepare ||
            !l->with_ok[t->n_calls + i * 4 + MWL_ON_ENTRY])
            continue;
        l->prepared[i] = mwl__own(p->middleware.prepare(&vm->heap, l->program->consts[k], p->user));
    }
}

/* After link_constants: valid arguments may be prepared. */
static mwl_status link_prepared(mwl_vm *vm, mwl__link *l) {
    const mwl__flow_tables *t = &l->program->tables;
    l->prepared = mwl__mem_zero(&vm->config.alloc, t->n_entries, sizeof *l->prepared);
    if (t->n_entries && !l->prepared) return MWL_E_NOMEM;
    prepare(vm, l, NULL);
    return MWL_OK;
}

/* Frames keep instants if an expression can read those of their Flow or of one of its Steps. */
static mwl_status link_times(mwl_vm *vm, mwl__link *l) {
    const mwl__flow_tables *t = &l->program->tables;
    const unsigned any = MWL_NEEDS_ENTERED | MWL_NEEDS_EXITED;
    l->timed = mwl__mem_zero(&vm->config.alloc, t->n_flows, 1);
    if (t->n_flows && !l->timed) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < t->n_flows; i++) l->timed[i] = (t->flows[i].flags & any) != 0;
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->steps[i].flags & any) l->timed[t->steps[i].flow] = 1;
    return MWL_OK;
}

static mwl_status link_all(mwl_vm *vm, mwl__link *l, mwl_error *error) {
    const char *missing = NULL;
    mwl_status st =
        mwl__functions_link(&vm->functions, &vm->config.alloc, l->program, &l->functions, &missing);
    if (st == MWL_E_NOT_FOUND) return refuse(error, st, mwl__say("%s", missing));
    if (st == MWL_OK) st = link_providers(vm, l, error);
    if (st == MWL_OK) st = link_schemas(vm, l, error);
    if (st == MWL_OK) st = link_constants(vm, l);
    if (st == MWL_OK) st = link_prepared(vm, l);
    if (st == MWL_OK) st = link_times(vm, l);
    /* a running interpreter holds a pointer to the registers: then the first turn makes room */
    if (st == MWL_OK && !vm->executing) st = mwl__exec_reserve(&vm->exec, l->program->n_regs);
    return st;
}

/* ---- a provider takes the place of another ----------------------------------------------------
 */

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
    check_constants(vm, l);
    prepare(vm, l, new);
    vm->exec.count_path = NULL; /* what it knows of a middleware's run_count */
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
    for (uint32_t i = 0; l->flow_schemas && i < t->n_flows; i++)
        mwl__schema_free(l->flow_schemas[i]);
    mwl__mem_free(a, l->flow_schemas, t->n_flows * sizeof *l->flow_schemas);
    mwl__mem_free(a, l->providers, t->n_imports * sizeof *l->providers);
    mwl__mem_free(a, l->functions, l->program->n_funcs * sizeof *l->functions);
    mwl__mem_free(a, l->with_ok, with_ok_size(t));
    for (uint32_t i = 0; l->prepared && i < t->n_entries; i++) mwl__drop(&vm->heap, l->prepared[i]);
    mwl__mem_free(a, l->prepared, t->n_entries * sizeof *l->prepared);
    mwl__mem_free(a, l->places, t->n_steps * sizeof *l->places);
    mwl__mem_free(a, l->timed, t->n_flows);
    if (vm->exec.program == l->program) { /* its address may be used by another program */
        vm->exec.program = NULL;
        vm->exec.count_path = NULL;
    }
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
    if (l && l->missing) return refuse(error, MWL_E_NOT_FOUND, mwl__say("%s", l->missing));
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
