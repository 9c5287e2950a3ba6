/* save.c: a run at rest as bytes.
 *
 * Owns: the walk over the records of a run, and the order of its queued frames. The
 * walk is done twice, see writer.h. Frames are one list, a frame before those below it, so a deep
 * run needs no deep stack. Refuses to know: values (writer.c) and what a reader checks (load.c). */
#include "vm/base/usage.h"
#include "vm/machine/account.h"
#include "vm/machine/clock.h"
#include "vm/machine/durable.h"
#include "vm/machine/run.h"
#include "vm/machine/timer.h"
#include "vm/snapshot/fields.h"
#include "vm/snapshot/header.h"
#include "vm/snapshot/resume.h"
#include "vm/snapshot/writer.h"

#include <stdlib.h>

/* Something of the run that has a place in an order, found by its address. */
typedef struct ranked {
    const void *p;
    uint64_t by;
    uint32_t rank;
} ranked;

typedef struct order {
    ranked *list;
    size_t n, cap;
} order;

typedef struct saver {
    mwl__writer w;
    mwl_run *run;
    order queue;
    uint32_t n_frames, n_calls, n_held;
    int64_t due;
} saver;

static void put_record(saver *s, enum mwl__record_id id, const void *record, const void *around);

/* ---- orders ---------------------------------------------------------------------------------- */

static void add_ranked(saver *s, order *o, const void *p, uint64_t by) {
    void *list = o->list;
    mwl_status st = mwl__mem_grow(&s->w.out.alloc, &list, &o->cap, o->n + 1, sizeof *o->list);
    o->list = list;
    if (st < 0)
        mwl__writer_fail(&s->w, st);
    else
        o->list[o->n++] = (ranked){p, by, 0};
}

static int by_order(const void *a, const void *b) {
    uint64_t x = ((const ranked *)a)->by, y = ((const ranked *)b)->by;
    return x < y ? -1 : x > y;
}

static int by_address(const void *a, const void *b) {
    uintptr_t x = (uintptr_t)((const ranked *)a)->p, y = (uintptr_t)((const ranked *)b)->p;
    return x < y ? -1 : x > y;
}

static void rank(order *o) {
    if (o->n > 1) qsort(o->list, o->n, sizeof *o->list, by_order);
    for (size_t i = 0; i < o->n; i++) o->list[i].rank = (uint32_t)i;
    if (o->n > 1) qsort(o->list, o->n, sizeof *o->list, by_address);
}

static uint32_t rank_of(const order *o, const void *p) {
    const ranked key = {p, 0, 0};
    if (o->n == 1) return 0;
    const ranked *found = bsearch(&key, o->list, o->n, sizeof key, by_address);
    return found ? found->rank : 0;
}

static void add_timer(saver *s, const mwl__timer *t) {
    if (!t->at) return;
    int64_t due = mwl__timer_due(&s->run->link->vm->timers, t);
    if (due < s->due) s->due = due;
}

/* Finds what the head of the run's record says, and the orders. */
static void survey(saver *s) {
    mwl_vm *vm = s->run->link->vm;
    bool queued = false;
    s->due = MWL_NEVER;
    for (const mwl__frame *f = s->run->root; f; f = mwl__rest_next_frame(f)) {
        s->n_frames++;
        if (f->queued)
            queued = true; /* and the link of the queue overlays its timer */
        else
            add_timer(s, &f->timer);
    }
    for (const mwl_call *c = NULL; s->run->root && (c = mwl__rest_next_call(s->run, c));) {
        s->n_calls++;
        s->n_held += c->held != 0;
        add_timer(s, &c->timer);
    }
    if (s->run->aside) add_timer(s, &s->run->aside->timer);
    if (!queued) return;
    s->due = vm->now.mono_ns;
    uint64_t at = 0;
    if (s->run->root->fresh) add_ranked(s, &s->queue, s->run->root, at++);
    for (const mwl__frame *f = vm->ready_head; f; f = f->next_ready)
        if (f->run == s->run) add_ranked(s, &s->queue, f, at++);
    rank(&s->queue);
}

/* ---- members --------------------------------------------------------------------------------- */

static void put_bool(saver *s, bool b) {
    if (!s->w.counting) mwl__cbor_simple(&s->w.out, b ? MWL_CBOR_TRUE : MWL_CBOR_FALSE);
}

static void put_index(saver *s, uint32_t i) {
    if (i == MWL_NONE)
        mwl__writer_null(&s->w);
    else
        mwl__writer_uint(&s->w, i);
}

static void put_result(saver *s, const mwl__result *r) {
    if (mwl_is_absent(r->v)) {
        mwl__writer_value(&s->w, r->v);
        return;
    }
    mwl__writer_array(&s->w, r->rose ? 3 : 2);
    mwl__writer_uint(&s->w,
                     (uint64_t)r->ok | (uint64_t)r->cleanup << 1 | (uint64_t)r->severed << 2);
    mwl__writer_value(&s->w, r->v);
    if (r->rose) mwl__writer_uint(&s->w, r->rose);
}

static void put_timer(saver *s, const mwl__timer *t) {
    if (!t || !t->at) {
        mwl__writer_null(&s->w);
        return;
    }
    uint64_t at = mwl__timer_order(t);
    if (t->class_ && t->owner == MWL_TIMER_FRAME) { /* its bound has the instant */
        mwl__writer_uint(&s->w, at);
        return;
    }
    mwl__writer_array(&s->w, 2);
    mwl__writer_uint(&s->w, at);
    mwl__writer_int(&s->w, mwl__timer_due(&s->run->link->vm->timers, t));
}

/* The distance of an entry from the outermost one of the frame. */
static void put_owner(saver *s, const mwl__frame *f, const mwl__entry *owner) {
    const mwl__entry *e = f->entries;
    while (e && e != owner) e = e->outer;
    put_index(s, e ? e->rank - f->entries_around : MWL_NONE);
}

static uint32_t import_of(const saver *s, const mwl__provider *p) {
    const mwl__link *link = s->run->link;
    for (uint32_t i = 0; i < link->program->tables.n_imports; i++)
        if (strcmp(link->providers[i]->uri, p->uri) == 0) return i; /* it may be replaced */
    return MWL_NONE;
}

static void put_call(saver *s, const mwl_call *c) {
    mwl__writer_array(&s->w, mwl__records[MWL_RECORD_CALL].n_fields + 2u);
    mwl__writer_uint(&s->w, import_of(s, c->provider));
    mwl__writer_uint(&s->w, (uint64_t)c->cancelled | (uint64_t)(c->held != 0) << 1);
    put_record(s, MWL_RECORD_CALL, c, NULL);
}

static void put_target(saver *s, const mwl__frame *f) {
    if (f->queued || f->awaits == MWL_AWAITS_NOTHING)
        mwl__writer_null(&s->w);
    else if (f->awaits == MWL_AWAITS_FRAME)
        put_bool(s, true);
    else
        put_call(s, f->target.execution);
}

static void put_slot_target(saver *s, const mwl__slot *slot) {
    if (slot->state != MWL_SLOT_ACTIVE)
        mwl__writer_null(&s->w);
    else if (slot->is_frame)
        put_bool(s, true);
    else
        put_call(s, slot->as.execution);
}

static void put_times(saver *s, const mwl__times *t) {
    if (!t) {
        mwl__writer_null(&s->w);
        return;
    }
    mwl__writer_array(&s->w, 3);
    mwl__writer_int(&s->w, t->entered_ns);
    mwl__writer_int(&s->w, t->step_entered_ns);
    mwl__writer_int(&s->w, t->step_exited_ns);
}

static void put_nested(saver *s, enum mwl__record_id id, const void *record, const void *around) {
    if (!record) {
        mwl__writer_null(&s->w);
        return;
    }
    mwl__writer_array(&s->w, mwl__records[id].n_fields);
    put_record(s, id, record, around);
}

static void put_entries(saver *s, const mwl__frame *f) {
    uint32_t n = mwl__entries_around(f) - f->entries_around;
    mwl__writer_array(&s->w, n);
    for (const mwl__entry *e = f->entries; e; e = e->outer) put_nested(s, MWL_RECORD_ENTRY, e, f);
}

/* Its index, its size and what it enumerates come first: a reader must know them. */
static void put_gather(saver *s, const mwl__gather *g, const mwl__frame *f) {
    if (!g) {
        mwl__writer_null(&s->w);
        return;
    }
    mwl__writer_array(&s->w, mwl__records[MWL_RECORD_GATHER].n_fields + 3u);
    mwl__writer_uint(&s->w, g->ix);
    mwl__writer_uint(&s->w, g->n);
    mwl__writer_value(&s->w, g->over);
    put_record(s, MWL_RECORD_GATHER, g, f);
}

static void put_slots(saver *s, const mwl__gather *g) {
    mwl__writer_array(&s->w, g->next);
    for (uint32_t i = 0; i < g->next; i++) put_nested(s, MWL_RECORD_SLOT, &g->slots[i], NULL);
}

static void put_point(saver *s, const mwl__frame *f, bool index) {
    mwl__point point = MWL_POINT_START;
    uint32_t at;
    (void)mwl__rest_point(f, &point, &at);
    if (index)
        put_index(s, at);
    else
        mwl__writer_uint(&s->w, point);
}

/* The record of a call that is over is memory only. */
static const mwl__call_state *open_record(const mwl__frame *f) {
    mwl__point point;
    uint32_t at;
    return mwl__rest_point(f, &point, &at) && point == MWL_POINT_CALL ? f->record : NULL;
}

static void put_limits(saver *s) {
    const mwl_limits *l = s->run->limits;
    if (l == &s->run->link->vm->config.limits) {
        mwl__writer_null(&s->w);
        return;
    }
    mwl__writer_array(&s->w, 7);
    mwl__writer_uint(&s->w, l->fuel);
    mwl__writer_uint(&s->w, l->memory_bytes);
    mwl__writer_uint(&s->w, l->frame_depth);
    mwl__writer_uint(&s->w, l->entry_depth);
    mwl__writer_uint(&s->w, l->fan_out);
    mwl__writer_uint(&s->w, l->chain_depth);
    mwl__writer_int(&s->w, l->cleanup_ns);
}

/* Those of the VM's last failures that the run still has, in more than one place: so they have a
 * number. */
static void put_sites(saver *s) {
    const mwl_vm *vm = s->run->link->vm;
    uint32_t total = vm->n_failure_sites,
             kept = total < MWL_FAILURE_SITES ? total : MWL_FAILURE_SITES;
    uint32_t n = 0, numbers[MWL_FAILURE_SITES];
    for (uint32_t i = 0; i < kept; i++) {
        const mwl__failure_site *b = &vm->failure_sites[(total - kept + i) % MWL_FAILURE_SITES];
        numbers[i] = MWL_NONE;
        if (b->run == s->run) numbers[i] = mwl__writer_number(&s->w, b->failure);
        n += numbers[i] != MWL_NONE;
    }
    mwl__writer_array(&s->w, n);
    for (uint32_t i = 0; i < kept; i++) {
        const mwl__failure_site *b = &vm->failure_sites[(total - kept + i) % MWL_FAILURE_SITES];
        if (numbers[i] == MWL_NONE) continue;
        mwl__writer_array(&s->w, 4);
        mwl__cbor_head(&s->w.out, MWL_CBOR_TAG, MWL_TAG_REFERENCE);
        mwl__writer_uint(&s->w, numbers[i]);
        mwl__writer_uint(&s->w, b->flow);
        mwl__writer_uint(&s->w, b->step);
        mwl__writer_uint(&s->w, b->depth);
    }
}

static void put_frames(saver *s) {
    mwl__writer_array(&s->w, s->n_frames);
    for (const mwl__frame *f = s->run->root; f && s->w.status == MWL_OK;
         f = mwl__rest_next_frame(f))
        put_nested(s, MWL_RECORD_FRAME, f, NULL);
}

static void put_fuel(saver *s) {
    const mwl_run *run = s->run;
    uint64_t all = run->limit_hit ? MWL_RUN_RESERVE_FUEL : run->limits->fuel;
    mwl__writer_uint(&s->w, all > run->budget ? all - run->budget : 0);
}

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t flags_of(enum mwl__record_id id, const void *record) {
    const mwl__record *r = &mwl__records[id];
    uint64_t flags = 0;
    for (unsigned i = 0; i < r->n_flags; i++)
        flags |= (uint64_t) * (const bool *)((const char *)record + r->flags[i].offset) << i;
    return id == MWL_RECORD_FRAME ? ((const mwl__frame *)record)->step_done : flags;
}

/* around: the frame of an entry, an extra or a Gather. */
static void put_part(saver *s, const mwl__field *field, const void *record, const void *around) {
    const mwl__frame *f = record;
    switch (field->kind) {
    case MWL_FIELD_POINT: put_point(s, f, false); break;
    case MWL_FIELD_AT: put_point(s, f, true); break;
    case MWL_FIELD_QUEUED: put_index(s, f->queued ? rank_of(&s->queue, f) : MWL_NONE); break;
    case MWL_FIELD_ENTRIES: put_entries(s, f); break;
    case MWL_FIELD_EXTRA: put_nested(s, MWL_RECORD_EXTRA, f->extra, f); break;
    case MWL_FIELD_TIMES: put_times(s, mwl__times_of(f)); break;
    case MWL_FIELD_GATHER: put_gather(s, ((const mwl__extra *)record)->gather, around); break;
    case MWL_FIELD_SLOTS: put_slots(s, record); break;
    case MWL_FIELD_OWNER:
        put_owner(s, around,
                  *(mwl__entry *const *)(const void *)((const char *)record + field->offset));
        break;
    case MWL_FIELD_DUE:
        if (s->due == MWL_NEVER)
            mwl__writer_null(&s->w);
        else
            mwl__writer_int(&s->w, s->due);
        break;
    case MWL_FIELD_COUNT: mwl__writer_uint(&s->w, s->n_calls); break;
    case MWL_FIELD_HELD: mwl__writer_uint(&s->w, s->n_held); break;
    case MWL_FIELD_ID: mwl__writer_value(&s->w, s->run->id); break;
    case MWL_FIELD_FUEL: put_fuel(s); break;
    case MWL_FIELD_LIMITS: put_limits(s); break;
    case MWL_FIELD_UNUSED: mwl__writer_null(&s->w); break;
    case MWL_FIELD_FRAMES: put_frames(s); break;
    default: put_sites(s); break;
    }
}

/* TIMER, RECORD and TARGET occur in several records. */
static bool put_common(saver *s, enum mwl__record_id id, const mwl__field *field,
                       const void *record) {
    bool frame = id == MWL_RECORD_FRAME;
    switch (field->kind) {
    case MWL_FIELD_TIMER:
        if (frame && ((const mwl__frame *)record)->queued)
            put_timer(s, NULL);
        else if (id == MWL_RECORD_RUN)
            put_timer(s, s->run->aside ? &s->run->aside->timer : NULL);
        else
            put_timer(s, frame ? &((const mwl__frame *)record)->timer
                               : &((const mwl_call *)record)->timer);
        return true;
    case MWL_FIELD_RECORD:
        put_nested(s, MWL_RECORD_RECORD,
                   frame ? open_record(record) : ((const mwl__slot *)record)->record, NULL);
        return true;
    case MWL_FIELD_TARGET:
        if (frame)
            put_target(s, record);
        else
            put_slot_target(s, record);
        return true;
    default: return false;
    }
}

/* The first pass, which counts values, leaves these out. */
static inline bool has_no_values(unsigned kind) {
    return kind <= MWL_FIELD_DOUBLE || (kind >= MWL_FIELD_FLAGS && kind <= MWL_FIELD_QUEUED);
}

static void put_record(saver *s, enum mwl__record_id id, const void *record, const void *around) {
    const mwl__record *r = &mwl__records[id];
    for (unsigned i = 0; i < r->n_fields; i++) {
        const mwl__field *field = &r->fields[i];
        if (s->w.counting && has_no_values(field->kind)) continue;
        const void *at = (const char *)record + field->offset;
        switch (field->kind) {
        case MWL_FIELD_NUMBER8:
            mwl__writer_uint(&s->w,
                             id == MWL_RECORD_RUN ? (uint64_t)-s->run->why : *(const uint8_t *)at);
            break;
        case MWL_FIELD_NUMBER32:
            mwl__writer_uint(&s->w,
                             id == MWL_RECORD_CALL ? *(const uint16_t *)at : *(const uint32_t *)at);
            break;
        case MWL_FIELD_NUMBER64: mwl__writer_uint(&s->w, *(const uint64_t *)at); break;
        case MWL_FIELD_INDEX32: put_index(s, *(const uint32_t *)at); break;
        case MWL_FIELD_SIGNED:
        case MWL_FIELD_INSTANT: mwl__writer_int(&s->w, *(const int64_t *)at); break;
        case MWL_FIELD_DOUBLE: mwl__writer_value(&s->w, mwl_number(*(const double *)at)); break;
        case MWL_FIELD_DATA:
        case MWL_FIELD_OBJECT:
        case MWL_FIELD_FAILURE:
        case MWL_FIELD_ANY: mwl__writer_value(&s->w, *(const mwl_value *)at); break;
        case MWL_FIELD_RESULT: put_result(s, at); break;
        case MWL_FIELD_FLAGS: mwl__writer_uint(&s->w, flags_of(id, record)); break;
        default:
            if (!put_common(s, id, field, record)) put_part(s, field, record, around);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static mwl_status write_run(saver *s) {
    static const unsigned char room[MWL_SAVED_HEADER];
    mwl_run *run = s->run;
    survey(s);
    s->w.counting = true;
    put_record(s, MWL_RECORD_RUN, run, NULL);
    s->w.counting = false;
    (void)mwl__buf_reserve(&s->w.out, 960);
    mwl__buf_put(&s->w.out, room, sizeof room);
    if (s->w.status == MWL_OK) put_nested(s, MWL_RECORD_RUN, run, NULL);
    return s->w.out.failed ? MWL_E_NOMEM : s->w.status;
}

static mwl_status finish(saver *s, void **bytes, size_t *size) {
    mwl__buf *out = &s->w.out;
    const mwl__resume *r = s->run->link->resume;
    mwl__saved_header h = {.flags = s->run->state == MWL_RUN_DONE ? MWL_SAVED_DONE : 0,
                           .shape = r->shape,
                           .at = s->run->link->vm->now};
    memcpy(h.program, r->id, sizeof h.program);
    mwl__saved_seal((unsigned char *)out->data, out->len, &h);
    void *exact = out->alloc.fn(out->alloc.ctx, out->data, out->cap, out->len);
    if (!exact) return MWL_E_NOMEM;
    *bytes = exact;
    *size = out->len;
    out->data = NULL;
    return MWL_OK;
}

/* Without mwl_config.hold no version is counted: a hash of the state is as good. */
static uint64_t version_of(const mwl_run *run, const void *bytes, size_t size) {
    if (run->link->vm->config.hold) return mwl__durable_version(run);
    return mwl__str_hash64((const char *)bytes + MWL_SAVED_HEADER, size - MWL_SAVED_HEADER, 0);
}

mwl_status mwl_run_save(mwl_run *run, void **bytes, size_t *size, uint64_t *version) {
    if (!run || !bytes || !size) return MWL_E_USAGE;
    mwl_vm *vm = run->link->vm;
    mwl__usage(vm->alive == MWL_VM_ALIVE, "mwl_run_save: the VM was freed");
    if (vm->pumping || vm->executing || !mwl_run_at_rest(run)) return MWL_E_STATE;
    size_t used = vm->heap.used;
    saver s;
    mwl__writer_open(&s.w, run->link);
    s.run = run;
    s.queue = (order){NULL, 0, 0};
    s.n_frames = s.n_calls = s.n_held = 0;
    mwl__clock_read(vm);
    mwl_status st =
        mwl__resume_of(run->link) && !mwl_is_absent(mwl__run_id(run)) ? MWL_OK : MWL_E_NOMEM;
    if (st == MWL_OK) st = write_run(&s);
    if (st == MWL_OK) st = finish(&s, bytes, size);
    mwl__buf_free(&s.w.out);
    mwl__writer_free(&s.w);
    mwl__mem_free(&vm->config.alloc, s.queue.list, s.queue.cap * sizeof *s.queue.list);
    mwl__run_used(run, run->link->vm, used); /* the text of its id */
    if (st == MWL_OK && version) *version = version_of(run, *bytes, *size);
    return st;
}

void mwl_bytes_free(mwl_vm *vm, void *bytes, size_t size) {
    if (vm && bytes) mwl__mem_free(&vm->config.alloc, bytes, size);
}
