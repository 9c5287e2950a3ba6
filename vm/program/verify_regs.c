/* verify_regs.c: a register that is read holds a value, and the value is still there.
 *
 * Registers may borrow: from the frame, from constants, and in a loop from the container that is
 * iterated. These rules keep a borrowed value alive; the assembler follows them:
 *   - A block ends at an instruction of the machine and begins where the tables lead. In a block no
 *     register is read before it is written, and nothing that the frame lends changes.
 *   - On every way to an instruction, what it reads was written in the block.
 *   - What NEXT lends, its parts and copies of them depend on the first register of the iterator.
 *     They go only to registers above that one. If a register is written or taken, whatever depends
 *     on it, or on one above it, cannot be read any more.
 *   - An instruction does not take a register that it changes.
 *
 * So a state is a number for each register: 0, the value does not depend on a register; n, it
 * depends on registers below n; UNKNOWN. Where ways meet, the higher number counts. One walk in
 * code order is enough (see verify_loops.c), except that the body of a loop is walked again if less
 * is known at its end than was assumed at its beginning. Work and the number of states are limited.
 */
#include "vm/program/verify.h"

#define REFUSE_AT(pc, message)                                                                     \
    return mwl__image_refuse(&w->p->image, w->error, MWL_E_IMAGE, message, &w->p->code[pc])

#define UNKNOWN 0xffffu
#define OPEN_LIMIT 4096u /* states at one time: for jump targets, and for loops around here */
#define WORK_BASE (UINT64_C(1) << 27)
#define WORK_PER_INSTRUCTION 256u

typedef struct state {
    uint32_t n;    /* registers from here on are UNKNOWN */
    uint32_t lent; /* numbers above 0 are only in registers from here on; MWL_NONE: nowhere */
    uint16_t dep[];
} state;

enum { NOW, SPARE, FIRST_FREE };

typedef struct walk {
    const mwl_program *p;
    const mwl__loops *loops;
    mwl_error *error;
    unsigned char *pool;     /* states, by number */
    size_t cap, size;        /* of the pool; of a state */
    uint32_t n_states, free; /* 0: none */
    uint32_t *open;          /* per instruction: the state on the ways to it that were seen, or 0 */
    uint32_t *head;          /* per loop: the state at NEXT that its body assumes, or 0 */
    unsigned char *entry;    /* per instruction: the tables lead here */
    uint64_t work;
    uint32_t handler; /* this one has the state, except for what was lost since; or MWL_NONE */
    bool lost;        /* less is known about a register after the last instruction */
    bool live;
} walk;

/* ---- states ---------------------------------------------------------------------------------- */

static state *at(const walk *w, uint32_t i) { return (state *)(void *)(w->pool + i * w->size); }

static uint32_t get(const state *s, uint32_t r) { return r < s->n ? s->dep[r] : UNKNOWN; }

static void clear(state *s) {
    s->n = 0;
    s->lent = MWL_NONE;
}

static void copy(walk *w, state *to, const state *from) {
    w->work += from->n;
    to->n = from->n;
    to->lent = from->lent;
    memcpy(to->dep, from->dep, from->n * sizeof *to->dep);
}

static void meet(walk *w, state *to, const state *from) {
    if (from->n < to->n) to->n = from->n;
    w->work += to->n;
    for (uint32_t r = 0; r < to->n; r++)
        if (from->dep[r] > to->dep[r]) to->dep[r] = from->dep[r];
    if (from->lent < to->lent) to->lent = from->lent;
}

/* The register gets another value, so what depended on the old one cannot be read any more. */
static void write(walk *w, state *s, uint32_t r, uint32_t dep) {
    for (uint32_t i = s->lent; i < s->n; i++, w->work++)
        if (s->dep[i] > r && s->dep[i] != UNKNOWN) {
            s->dep[i] = UNKNOWN;
            w->lost = true;
        }
    for (; s->n <= r; s->n++, w->work++) s->dep[s->n] = UNKNOWN;
    s->dep[r] = (uint16_t)dep;
    if (dep == 0) return;
    w->lost = true;
    if (r < s->lent) s->lent = r;
}

/* Returns the number of a new state, or 0 with *status set. The pool may move in memory. */
static uint32_t new_state(walk *w, uint32_t pc, mwl_status *status) {
    uint32_t i = w->free;
    if (i) {
        w->free = at(w, i)->n;
        return i;
    }
    if (w->n_states >= OPEN_LIMIT) {
        *status = mwl__image_refuse(&w->p->image, w->error, MWL_E_IMAGE,
                                    "too many ways are open here to be followed", &w->p->code[pc]);
        return 0;
    }
    void *pool = w->pool;
    mwl_status grown = mwl__mem_grow(&w->p->alloc, &pool, &w->cap, w->n_states + 1u, w->size);
    w->pool = pool;
    if (grown < 0) {
        *status = mwl__image_refuse(&w->p->image, w->error, grown, "out of memory", NULL);
        return 0;
    }
    return w->n_states++;
}

static void free_state(walk *w, uint32_t *i) {
    if (!*i) return;
    at(w, *i)->n = w->free;
    w->free = *i;
    *i = 0;
}

/* A way leads to the target with the state `from`. */
static mwl_status go(walk *w, uint32_t pc, uint32_t target, uint32_t from) {
    mwl_status status = MWL_OK;
    if (w->open[target]) {
        meet(w, at(w, w->open[target]), at(w, from));
    } else {
        uint32_t made = new_state(w, pc, &status);
        if (!made) return status;
        w->open[target] = made;
        copy(w, at(w, made), at(w, from));
    }
    return status;
}

/* ---- one instruction ------------------------------------------------------------------------- */

#define MUST_HOLD(r)                                                                               \
    do {                                                                                           \
        if (get(now, (r)) == UNKNOWN)                                                              \
            REFUSE_AT(pc, "a register is read that may hold nothing here");                        \
    } while (0)
static const char *const outlives = "a register would borrow from one that is replaced";

/* Does what NEXT does before the body: the loop variables borrow from the container. */
static void advance(walk *w, state *s, mwl__ins ins) {
    write(w, s, ins.a + 1u, 0);
    write(w, s, ins.a + 2u, ins.a + 1u);
    if (ins.op == MWL_OP_NEXT2) write(w, s, ins.a + 3u, ins.a + 1u);
}

static mwl_status iterate(walk *w, uint32_t pc) {
    state *now = at(w, NOW);
    mwl__ins ins = w->p->code[pc];
    if (ins.op == MWL_OP_ITER) {
        MUST_HOLD(ins.b);
        uint32_t dep = get(now, ins.b);
        if (dep > ins.a) REFUSE_AT(pc, outlives);
        if (ins.a != ins.b) write(w, now, ins.a, dep);
        write(w, now, ins.a + 1u, 0);
        return MWL_OK;
    }
    MUST_HOLD(ins.a);
    MUST_HOLD(ins.a + 1u);
    return MWL_OK;
}

/* The registers that each operand names: n, from the first on. */
typedef struct named {
    uint32_t first[3], n[3];
} named;

static named named_by(const mwl_program *p, const mwl__op_info *info, mwl__ins ins) {
    named by = {{ins.a, ins.b, ins.c}, {info->n_regs[0], info->n_regs[1], info->n_regs[2]}};
    for (int i = 0; i < 2; i++)
        if (by.n[i] == MWL_RUN) by.n[i] = mwl__verify_regs_of(p, ins, i);
    return by;
}

/* Checks that registers which are read hold a value, and are neither taken and changed, nor taken
 * twice. *dep: the highest number of the operands. */
static mwl_status read_operands(walk *w, uint32_t pc, const mwl__op_info *info, const named *by,
                                uint32_t *dep) {
    const state *now = at(w, NOW);
    bool changes = info->use[0] == MWL_USE_CHANGES;
    for (int i = 2; i >= 0; i--) {
        if (info->use[i] == MWL_USE_FILLS) continue;
        w->work += by->n[i];
        for (uint32_t r = by->first[i]; r < by->first[i] + by->n[i]; r++) {
            MUST_HOLD(r);
            if (i == 0 && changes) break;
            if (get(now, r) > *dep) *dep = get(now, r);
            if (changes && r == by->first[0]) REFUSE_AT(pc, "an instruction takes what it changes");
        }
    }
    if (info->use[1] == MWL_USE_TAKES && info->use[2] == MWL_USE_TAKES &&
        by->first[1] == by->first[2])
        REFUSE_AT(pc, "an instruction takes a register twice");
    return MWL_OK;
}

static mwl_status transfer(walk *w, uint32_t pc, const mwl__op_info *info) {
    state *now = at(w, NOW);
    mwl__ins ins = w->p->code[pc];
    uint32_t dep = 0, lowest = UNKNOWN;
    if (!(info->use[0] | info->use[1])) return MWL_OK; /* it names no register */
    if (info->use[0] == MWL_USE_ITERATES) return iterate(w, pc);
    const named by = named_by(w->p, info, ins);
    mwl_status status = read_operands(w, pc, info, &by, &dep);
    if (status < 0) return status;
    for (int i = 0; i < 3; i++) {
        if (info->use[i] != MWL_USE_TAKES || by.n[i] == 0) continue;
        for (uint32_t r = by.first[i]; r < by.first[i] + by.n[i]; r++) write(w, now, r, 0);
        if (by.first[i] < lowest) lowest = by.first[i];
    }
    if (info->use[0] == MWL_USE_CHANGES) {
        write(w, now, ins.a, info->flags & MWL_OPF_LENDS ? get(now, ins.a) : 0);
    } else if (info->use[0] == MWL_USE_FILLS) {
        if (!(info->flags & MWL_OPF_LENDS)) dep = 0;
        if (dep > ins.a || dep > lowest) REFUSE_AT(pc, outlives);
        write(w, now, ins.a, dep);
    }
    return MWL_OK;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* A fault here leads to its handler with the registers as they were before, except for those that
 * were taken. As long as only more becomes known, the handler has that state already. */
static mwl_status to_handler(walk *w, uint32_t pc) {
    uint32_t h = w->loops->handler[pc];
    w->handler = h;
    if (h == MWL_NONE || w->p->handlers[h].kind != MWL_HANDLER_EXPR) return MWL_OK;
    copy(w, at(w, SPARE), at(w, NOW));
    write(w, at(w, SPARE), w->p->handlers[h].reg, 0);
    return go(w, pc, w->p->handlers[h].target, SPARE);
}

/* At the first instruction of a body: the state on the ways to its NEXT from before the loop. */
static mwl_status begin_body(walk *w, uint32_t loop) {
    const mwl__loop *l = &w->loops->loop[loop];
    mwl_status status = MWL_OK;
    bool first = w->head[loop] == 0;
    if (first && !(w->head[loop] = new_state(w, l->body, &status))) return status;
    state *head = at(w, w->head[loop]);
    if (!w->open[l->next])
        clear(head);
    else if (first)
        copy(w, head, at(w, w->open[l->next]));
    else
        meet(w, head, at(w, w->open[l->next]));
    copy(w, at(w, NOW), head);
    advance(w, at(w, NOW), w->p->code[l->next]);
    w->live = true;
    w->handler = MWL_NONE;
    return MWL_OK;
}

static bool weaker_or_equal(const state *s, const state *than) {
    for (uint32_t r = 0; r < s->n; r++)
        if (get(than, r) > s->dep[r]) return false;
    return true;
}

/* At NEXT. If the body must be walked again, *pc becomes its first instruction. */
static mwl_status end_body(walk *w, uint32_t loop, uint32_t *pc) {
    const mwl__loop *l = &w->loops->loop[loop];
    state *head = at(w, w->head[loop]), *now = at(w, NOW);
    w->work += head->n;
    if (!weaker_or_equal(head, now)) {
        meet(w, head, now);
        copy(w, now, head);
        advance(w, now, w->p->code[l->next]);
        *pc = l->body;
        w->handler = MWL_NONE;
        return MWL_OK;
    }
    copy(w, now, head);
    w->handler = MWL_NONE;
    if (l->parent == MWL_NONE) { /* inner loops keep theirs until here, for another walk */
        for (uint32_t i = loop; i != MWL_NONE && w->loops->loop[i].body >= l->body;
             i = i ? i - 1 : MWL_NONE)
            free_state(w, &w->head[i]);
    }
    ++*pc;
    return MWL_OK;
}

/* Finds the state at pc, on all ways to it. */
static mwl_status arrive(walk *w, uint32_t pc) {
    state *now = at(w, NOW);
    uint32_t loop = w->loops->at[pc];
    if (w->entry[pc] || w->open[pc] || !w->live) w->handler = MWL_NONE;
    if (w->entry[pc]) {
        clear(now);
        free_state(w, &w->open[pc]);
    } else if (loop != MWL_NONE && w->loops->loop[loop].body == pc) {
        return begin_body(w, loop);
    } else if (w->open[pc]) {
        if (w->live)
            meet(w, now, at(w, w->open[pc]));
        else
            copy(w, now, at(w, w->open[pc]));
        free_state(w, &w->open[pc]);
    } else if (!w->live) {
        clear(now);
    }
    w->live = true;
    return MWL_OK;
}

static mwl_status visit(walk *w, uint32_t *at_pc) {
    uint32_t pc = *at_pc, loop = w->loops->at[pc];
    mwl__ins ins = w->p->code[pc];
    const mwl__op_info *info = mwl__op_get(ins.op);
    mwl_status status = w->handler == w->loops->handler[pc] ? MWL_OK : to_handler(w, pc);
    w->lost = false;
    if (status == MWL_OK) status = transfer(w, pc, info);
    if (status == MWL_OK && w->lost) status = to_handler(w, pc);
    if (status < 0) return status;
    if (loop != MWL_NONE && w->loops->loop[loop].next == pc) return end_body(w, loop, at_pc);
    if (ins.op >= MWL_OP_MACHINE) {
        clear(at(w, NOW));
        w->handler = MWL_NONE;
    }
    if (info->kind[1] == MWL_OPERAND_JUMPX) status = go(w, pc, mwl__ins_x(ins), NOW);
    w->live = !(info->flags & MWL_OPF_END);
    ++*at_pc;
    return status;
}

static mwl_status walk_code(walk *w) {
    uint64_t limit = WORK_BASE + (uint64_t)w->p->n_code * WORK_PER_INSTRUCTION;
    for (uint32_t pc = 0; pc < w->p->n_code; pc++)
        if (w->entry[pc] && w->loops->at[pc] != MWL_NONE)
            REFUSE_AT(pc, "a table leads into a loop");
    for (uint32_t pc = 0, back = MWL_NONE; pc < w->p->n_code;) {
        if (w->loops->dead[pc]) {
            w->live = false;
            pc++;
            continue;
        }
        mwl_status status = back == pc ? MWL_OK : arrive(w, pc);
        uint32_t was = pc;
        if (status == MWL_OK) status = visit(w, &pc);
        if (status < 0) return status;
        back = pc < was ? pc : MWL_NONE; /* the state for the body is there already */
        if (++w->work > limit) REFUSE_AT(was, "the code is too tangled to be followed");
    }
    return MWL_OK;
}

/* ---- where tables lead ----------------------------------------------------------------------- */

static void enter(walk *w, uint32_t pc) {
    if (pc != MWL_NONE) w->entry[pc] = 1;
}

static void mark_entries(walk *w) {
    const mwl__flow_tables *t = &w->p->tables;
    for (uint32_t i = 0; i < t->n_flows; i++)
        enter(w, t->flows[i].pc), enter(w, t->flows[i].ascend_pc);
    for (uint32_t i = 0; i < t->n_steps; i++) enter(w, t->steps[i].pc);
    for (uint32_t i = 0; i < t->n_catches; i++) enter(w, t->catches[i].pc);
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const mwl__entry_rec *e = &t->entries[i];
        const uint32_t pcs[] = {e->inner_pc,  e->success_pc, e->failure_pc,
                                e->always_pc, e->leave_pc,   e->out_pc};
        for (size_t k = 0; k < sizeof pcs / sizeof *pcs; k++) enter(w, pcs[k]);
        for (size_t k = 0; k < 4; k++) enter(w, e->struct_pc[k]);
    }
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const mwl__call_rec *c = &t->calls[i];
        enter(w, c->fields_pc), enter(w, c->success_pc), enter(w, c->failure_pc),
            enter(w, c->end_pc);
    }
    for (uint32_t i = 0; i < t->n_gathers; i++) {
        const mwl__gather_rec *g = &t->gathers[i];
        enter(w, g->run_pc), enter(w, g->arms_pc), enter(w, g->end_pc);
    }
}

mwl_status mwl__verify_regs(const mwl_program *p, const mwl__loops *l, mwl_error *error) {
    walk w;
    memset(&w, 0, sizeof w);
    w.p = p;
    w.loops = l;
    w.error = error;
    w.size = (sizeof(state) + p->n_regs * sizeof(uint16_t) + 7) / 8 * 8;
    w.open = mwl__mem_zero(&p->alloc, p->n_code, sizeof *w.open);
    w.head = mwl__mem_zero(&p->alloc, l->n, sizeof *w.head);
    w.entry = mwl__mem_zero(&p->alloc, p->n_code, 1);
    void *pool = NULL;
    mwl_status status = MWL_E_NOMEM;
    if (w.open && w.entry && (w.head || !l->n))
        status = mwl__mem_grow(&p->alloc, &pool, &w.cap, FIRST_FREE, w.size);
    w.pool = pool;
    if (status < 0) {
        status = mwl__image_refuse(&p->image, error, status, "out of memory", NULL);
    } else {
        w.n_states = FIRST_FREE;
        clear(at(&w, NOW));
        w.handler = MWL_NONE;
        w.live = true;
        mark_entries(&w);
        status = walk_code(&w);
    }
    mwl__mem_free(&p->alloc, w.pool, w.cap * w.size);
    mwl__mem_free(&p->alloc, w.entry, p->n_code);
    mwl__mem_free(&p->alloc, w.head, l->n * sizeof *w.head);
    mwl__mem_free(&p->alloc, w.open, p->n_code * sizeof *w.open);
    return status;
}
