/* load.c: a run from bytes, which may come from an unknown source.
 *
 * Owns: the order of the checks. Header and checksum; the program; the records, under the run's
 * memory limit (records.c, reader.c); what must hold between them (fit.c); and only then timers,
 * the queue, and callbacks (restart.c). On a refusal everything is freed and no callback was
 * called. Refuses to know: the members of records. */
#include "vm/base/host_struct.h"
#include "vm/base/usage.h"
#include "vm/machine/account.h"
#include "vm/machine/clock.h"
#include "vm/machine/durable.h"
#include "vm/machine/execution.h"
#include "vm/machine/frame.h"
#include "vm/machine/link.h"
#include "vm/machine/rest.h"
#include "vm/machine/run.h"
#include "vm/snapshot/header.h"
#include "vm/snapshot/loader.h"
#include "vm/snapshot/resume.h"
#include "vm/snapshot/silent.h"
#include "vm/value/words.h"

#define MOST_BYTES ((size_t)64 << 20)

static mwl_status refuse(mwl_error *error, mwl_status st, const char *message, size_t offset) {
    if (error) {
        error->status = st;
        error->message = message;
        error->offset = offset;
    }
    return st;
}

/* ---- the program ----------------------------------------------------------------------------- */

static mwl_status find_program(mwl_vm *vm, const mwl__saved_header *h, const mwl_load *how,
                               mwl__link **link, mwl_error *error) {
    mwl_program *p = how->program;
    if (!p && how->lookup) p = how->lookup(how->ctx, h->program);
    if (!p) return refuse(error, MWL_E_NOT_FOUND, "the program of the saved run is not known", 24);
    if (p->tables.root_flow == MWL_NONE)
        return refuse(error, MWL_E_USAGE, "the program is an expression, not a Flow", 0);
    mwl_status st = mwl__link_program(vm, p, link, error);
    if (st < 0) return st;
    const mwl__resume *r = mwl__resume_of(*link);
    if (!r) return refuse(error, MWL_E_NOMEM, mwl_status_text(MWL_E_NOMEM), 0);
    if (memcmp(r->id, h->program, sizeof r->id) == 0 || (r->shape && r->shape == h->shape))
        return MWL_OK;
    return refuse(error, MWL_E_SNAPSHOT, "the saved run is of another program", 24);
}

/* Any readings, also those of a hostile header. */
static int64_t since(int64_t later_ns, int64_t earlier_ns) {
    return mwl__clock_add(later_ns, earlier_ns > INT64_MIN ? -earlier_ns : INT64_MAX);
}

/* By how much instants are moved: the time that went by, unless it stood still. */
static int64_t shift_of(mwl_vm *vm, const mwl__saved_header *h, unsigned flags) {
    int64_t passed = 0;
    mwl__clock_read(vm);
    if (!(flags & MWL_LOAD_TIME_STOOD) && vm->now.wall_ns > h->at.wall_ns)
        passed = since(vm->now.wall_ns, h->at.wall_ns);
    return since(since(vm->now.mono_ns, h->at.mono_ns), passed);
}

/* ---- the run --------------------------------------------------------------------------------- */

static mwl_run *make_run(mwl_vm *vm, mwl__link *link, const mwl_limits *limits) {
    const mwl_start start = {.limits = limits};
    mwl_run *run = mwl__run_new(link);
    if (!run) return NULL;
    run->limits = mwl__run_limits(vm, &start);
    if (run->limits && (!vm->config.hold || mwl__durable_add(run))) return run;
    mwl_run_free(run);
    return NULL;
}

/* Checks what the header says of the run, and its Result. */
static bool check_run(mwl__loader *l, bool done) {
    mwl_run *run = l->run;
    mwl_value type = mwl__word_get(run->result, MWL_WORD_TYPE);
    bool whole = mwl_value_kind(type) == MWL_KIND_STRING && mwl__word_is(type, MWL_WORD_SUCCESS) &&
                 !mwl_is_absent(mwl__word_get(run->result, MWL_WORD_VALUE));
    bool fits =
        done ? !run->root && !mwl_is_absent(run->result) && !(run->aside && run->aside->deadline)
             : run->root && mwl_is_absent(run->result);
    if (!fits || run->bare > run->succeeded)
        return mwl__reader_refuse(&l->r, MWL_E_SNAPSHOT,
                                  "a run has no frames and no Result, or both");
    if (!done) return true;
    run->state = MWL_RUN_DONE;
    if (!run->succeeded) return mwl__fit_failure(&l->r, run->result);
    return run->bare || whole ||
           mwl__reader_refuse(&l->r, MWL_E_SNAPSHOT, "a Result is not a success");
}

/* The calls of the run are collected in a list that exists before a callback is called. */
static bool reserve(mwl__loader *l) {
    void *list = l->timers.list;
    mwl_status st = mwl__mem_grow(&l->vm->config.alloc, &list, &l->timers.cap,
                                  (size_t)l->n_calls + 1, sizeof *l->timers.list);
    l->timers.list = list;
    return st == MWL_OK || mwl__reader_refuse(&l->r, st, "out of memory");
}

static mwl_status load(mwl__loader *l, const mwl__saved_header *h, mwl_error *error) {
    l->r.heap->limit = SIZE_MAX;
    bool good = mwl__load_records(l) && check_run(l, h->flags & MWL_SAVED_DONE) &&
                mwl__load_place(l) && reserve(l);
    l->r.heap->limit = SIZE_MAX;
    mwl__reader_free(&l->r);
    return good ? MWL_OK : refuse(error, l->r.status, l->r.why, l->r.offset);
}

/* Callbacks may ask for the end of the run. */
static mwl_status start(mwl__loader *l, unsigned flags, mwl_error *error) {
    mwl_run *run = l->run;
    mwl__run_enter(run);
    mwl__load_restart(l, flags);
    bool gone = run->free_asked;
    mwl__run_leave(run);
    return gone ? refuse(error, MWL_E_CANCELLED, "a callback freed the run", 0) : MWL_OK;
}

/* So that freeing the run, which need not be complete, calls no callback: neither `cancel` of its
 * calls nor `left` of its entries. */
static void silence(mwl_run *run) {
    mwl_heap *h = &run->link->vm->heap;
    for (mwl__frame *f = run->root; f; f = mwl__rest_next_frame(f)) {
        if (f->awaits == MWL_AWAITS_FRAME && !f->target.frame) f->awaits = MWL_AWAITS_NOTHING;
        for (mwl__entry *e = f->entries; e; e = e->outer) {
            if (e->ix >= mwl__tables(f)->n_entries) e->ix = 0; /* it was refused for that */
            mwl__replace(h, &e->own_state, mwl_null());
        }
    }
    for (mwl_call *c = NULL; run->root && (c = mwl__rest_next_call(run, c));) c->settled = true;
}

mwl_status mwl__run_load(mwl_vm *vm, const void *bytes, size_t size, const mwl_load *how,
                         bool asleep, mwl_run **out, mwl_error *error) {
    mwl__saved_header h;
    const char *why;
    mwl__link *link;
    if (size > (how->max_bytes ? how->max_bytes : MOST_BYTES))
        return refuse(error, MWL_E_TOO_BIG, "the saved run has too many bytes", 0);
    mwl_status st = mwl__saved_open(bytes, size, &h, &why);
    if (st < 0) return refuse(error, st, why, 0);
    st = find_program(vm, &h, how, &link, error);
    if (st < 0) return st;
    size_t used = vm->heap.used;
    mwl__loader l;
    memset(&l, 0, sizeof l);
    l.vm = vm;
    l.run = make_run(vm, link, how->limits);
    l.limited = how->limits != NULL;
    l.copies = (how->flags & MWL_LOAD_NEW_ID) != 0;
    if (!l.run) return refuse(error, MWL_E_NOMEM, mwl_status_text(MWL_E_NOMEM), 0);
    l.shift_ns = shift_of(vm, &h, how->flags);
    l.r.link = link;
    l.r.heap = &vm->heap;
    l.r.begin = bytes;
    l.r.c = (mwl__cbor){l.r.begin + MWL_SAVED_HEADER, l.r.begin + size};
    st = load(&l, &h, error);
    if (st < 0) {
        silence(l.run);
        mwl_run_free(l.run);
    } else {
        if (how->flags & MWL_LOAD_NEW_ID) {
            mwl__drop(&vm->heap, l.run->id);
            l.run->id = mwl_uint(vm->next_run++);
        }
        mwl__run_used(l.run, vm, used);
        if (!asleep) st = start(&l, how->flags, error);
    }
    mwl__mem_free(&vm->config.alloc, l.timers.list, l.timers.cap * sizeof *l.timers.list);
    mwl__mem_free(&vm->config.alloc, l.queue.list, l.queue.cap * sizeof *l.queue.list);
    if (st == MWL_OK) *out = l.run;
    return st;
}

static const mwl__member load_members[] = {
    MWL__MEMBER(mwl_load, program), MWL__MEMBER(mwl_load, lookup),    MWL__MEMBER(mwl_load, ctx),
    MWL__MEMBER(mwl_load, flags),   MWL__MEMBER(mwl_load, max_bytes), MWL__MEMBER(mwl_load, limits),
};
static const mwl__host_struct load_struct = MWL__HOST_STRUCT(mwl_load, load_members);

mwl_status mwl_run_load_sized(mwl_vm *vm, const void *bytes, size_t size, const mwl_load *how,
                              size_t how_size, mwl_run **out, mwl_error *error) {
    mwl_load known;
    if (!vm || !bytes || !how || !out)
        return refuse(error, MWL_E_USAGE, "vm, bytes, how and out are needed", 0);
    mwl__usage(vm->alive == MWL_VM_ALIVE, "mwl_run_load: the VM was freed");
    if (vm->pumping) return refuse(error, MWL_E_STATE, "a run cannot be loaded in a callback", 0);
    mwl_status st = mwl__host_struct_read(&known, &load_struct, how, how_size);
    if (st < 0)
        return refuse(error, st,
                      mwl__host_struct_why(st, "mwl_load has a member that is not known here"), 0);
    mwl__vm_here(vm);
    return mwl__run_load(vm, bytes, size, &known, false, out, error);
}

/* ---- leaving --------------------------------------------------------------------------------- */

void mwl__run_unload(mwl_run *run) {
    silence(run);
    mwl_run_free(run);
}

mwl_status mwl_run_unload(mwl_run *run) {
    if (!run) return MWL_E_USAGE;
    if (run->link->vm->pumping || !mwl_run_at_rest(run)) return MWL_E_STATE;
    for (mwl_call *c = NULL; run->root && (c = mwl__rest_next_call(run, c));)
        if (mwl__execution_is_outside(c)) return MWL_E_STATE;
    mwl__run_unload(run);
    return MWL_OK;
}
