/* verify_loops.c: where the loops of the code are, and that they are entered only at their end.
 *
 * Owns: the shape of control in expressions, which verify_regs.c and verify_nest.c rely on:
 *   - jumps and handlers go forward; only NEXT and NEXT2 go back, to the first instruction of their
 *     body
 *   - loops are nested or apart; a body has no instruction of the machine
 *   - the only way from outside into a loop [body, next] is a jump to its NEXT
 * So a walk in code order has seen every way to an instruction when it reaches the instruction,
 * except for that from a NEXT to its body. That one is known too: it comes from the jumps to NEXT
 * that are before the body. */
#include "vm/program/verify.h"

#define REFUSE(message, at) return mwl__image_refuse(&p->image, error, MWL_E_IMAGE, message, at)

static bool is_loop(mwl__ins ins) { return (mwl__op_get(ins.op)->flags & MWL_OPF_LOOP) != 0; }

static bool jumps(mwl__ins ins) { return mwl__op_get(ins.op)->kind[1] == MWL_OPERAND_JUMPX; }

static bool ends(mwl__ins ins) { return (mwl__op_get(ins.op)->flags & MWL_OPF_END) != 0; }

/* Finds the loops, in the order of their NEXT. Until nest(), at[body] is the loop that begins
 * there. */
static mwl_status collect(const mwl_program *p, mwl__loops *l, mwl_error *error) {
    for (uint32_t pc = 0; pc < p->n_code; pc++) {
        mwl__ins ins = p->code[pc];
        if (!jumps(ins)) continue;
        uint32_t target = mwl__ins_x(ins);
        if (!is_loop(ins)) {
            if (target <= pc) REFUSE("a jump goes back and is not a loop", &p->code[pc]);
            continue;
        }
        if (target >= pc) REFUSE("a loop's body is not before its end", &p->code[pc]);
        if (l->at[target] != MWL_NONE) REFUSE("two loops have the same body", &p->code[pc]);
        if (target == 0 || !ends(p->code[target - 1]))
            REFUSE("a loop is entered by its body", &p->code[target]);
        l->at[target] = l->n;
        l->loop[l->n++] = (mwl__loop){target, pc, MWL_NONE};
    }
    return MWL_OK;
}

/* Then at[pc] is the innermost loop around pc. */
static mwl_status nest(const mwl_program *p, mwl__loops *l, mwl_error *error) {
    uint32_t top = MWL_NONE;
    for (uint32_t pc = 0; pc < p->n_code; pc++) {
        uint32_t begun = l->at[pc];
        if (begun != MWL_NONE) {
            if (top != MWL_NONE && l->loop[begun].next >= l->loop[top].next)
                REFUSE("loops cross", &p->code[pc]);
            l->loop[begun].parent = top;
            top = begun;
        }
        l->at[pc] = top;
        if (top != MWL_NONE && p->code[pc].op >= MWL_OP_MACHINE)
            REFUSE("a loop holds an instruction of the machine", &p->code[pc]);
        if (top != MWL_NONE && l->loop[top].next == pc) top = l->loop[top].parent;
    }
    return MWL_OK;
}

static bool holds(const mwl__loops *l, uint32_t loop, uint32_t first, uint32_t last) {
    return loop == MWL_NONE || (l->loop[loop].body <= first && last <= l->loop[loop].next);
}

/* May control go from the instructions first to last to the target, which is after them? */
static bool enters(const mwl__loops *l, uint32_t first, uint32_t last, uint32_t target) {
    uint32_t loop = l->at[target];
    if (loop != MWL_NONE && l->loop[loop].next == target) loop = l->loop[loop].parent;
    return holds(l, loop, first, last);
}

static mwl_status check_ways(const mwl_program *p, const mwl__loops *l, mwl_error *error) {
    for (uint32_t pc = 0; pc < p->n_code; pc++)
        if (jumps(p->code[pc]) && !is_loop(p->code[pc]) &&
            !enters(l, pc, pc, mwl__ins_x(p->code[pc])))
            REFUSE("a jump goes into a loop", &p->code[pc]);
    for (uint32_t i = 0; i < p->n_handlers; i++) {
        const mwl__handler_rec *h = &p->handlers[i];
        if (!enters(l, h->begin, h->end - 1, h->target)) REFUSE("a handler goes into a loop", h);
    }
    return MWL_OK;
}

/* Backwards, because rows are ordered by their end, and the outermost of equal ones is the last. */
static void find_handlers(const mwl_program *p, mwl__loops *l) {
    uint32_t row = p->n_handlers, now = MWL_NONE;
    for (uint32_t pc = p->n_code; pc-- > 0;) {
        while (now != MWL_NONE && p->handlers[now].begin > pc) now = p->handlers[now].parent;
        while (row > 0 && p->handlers[row - 1].end == pc + 1) now = --row;
        l->handler[pc] = now;
    }
}

mwl_status mwl__verify_loops(const mwl_program *p, mwl__loops *l, mwl_error *error) {
    uint32_t n = 0;
    for (uint32_t pc = 0; pc < p->n_code; pc++) n += is_loop(p->code[pc]);
    l->cap = n;
    l->n_code = p->n_code;
    l->at = mwl__mem_new(&p->alloc, (size_t)p->n_code * sizeof *l->at);
    l->handler = mwl__mem_new(&p->alloc, (size_t)p->n_code * sizeof *l->handler);
    l->loop = mwl__mem_new(&p->alloc, (size_t)n * sizeof *l->loop);
    l->dead = mwl__mem_zero(&p->alloc, p->n_code, 1);
    if (!l->at || !l->handler || !l->dead || (n && !l->loop))
        return mwl__image_refuse(&p->image, error, MWL_E_NOMEM, "out of memory", NULL);
    memset(l->at, 0xff, (size_t)p->n_code * sizeof *l->at);
    find_handlers(p, l);
    mwl_status status = collect(p, l, error);
    if (status == MWL_OK) status = nest(p, l, error);
    return status == MWL_OK ? check_ways(p, l, error) : status;
}

void mwl__verify_loops_free(const mwl_program *p, mwl__loops *l) {
    mwl__mem_free(&p->alloc, l->at, (size_t)l->n_code * sizeof *l->at);
    mwl__mem_free(&p->alloc, l->handler, (size_t)l->n_code * sizeof *l->handler);
    mwl__mem_free(&p->alloc, l->dead, l->n_code);
    mwl__mem_free(&p->alloc, l->loop, (size_t)l->cap * sizeof *l->loop);
}
