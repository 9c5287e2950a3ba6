/* machine.c: the machine's instructions, each handed to the file that owns it.
 *
 * Registers named by an instruction are moved out of (their block ends here) or lent; what the functions
 * answer is the next pc or one of MWL_PC_*. */
#include "machine.h"

/* A register's value, counted, its count moved out of the register. */
static mwl_value take(mwl__exec *x, unsigned reg) {
    mwl_value v = mwl__own(x->regs[reg]);
    x->regs[reg] = mwl_null();
    return v;
}

static void set_flight(mwl__exec *x, mwl_value v) { mwl__value_set(x->heap, &x->frame->acc, v); }

static uint32_t steps(mwl__exec *x, mwl__ins i, uint32_t next) {
    mwl__frame *f = x->frame;
    uint32_t ix = mwl__ins_x(i);
    switch (i.op) {
    case MWL_OP_STEP: return mwl__step_begin(f, ix, next);
    case MWL_OP_STEP_EXIT: mwl__step_exit(f); return next;
    case MWL_OP_OUT: set_flight(x, take(x, i.a)); return next;
    case MWL_OP_PASS_INPUT: set_flight(x, mwl__keep(f->step_input)); return next;
    case MWL_OP_ASSIGN: return mwl__step_assign(f, &x->regs[i.a], i.b, next);
    case MWL_OP_TO: return mwl__step_to(f, ix, false);
    case MWL_OP_TO_HANDLER: return mwl__step_to(f, ix, true);
    case MWL_OP_STEP_RESULT: return mwl__step_result(f, next);
    case MWL_OP_STEP_FAULT: return mwl__step_fault(f);
    case MWL_OP_CLAUSE_FAULT: return mwl__step_clause_fault(f);
    case MWL_OP_MATCH_INPUT:
        mwl__frame_set_res(f, true, f->acc);
        f->acc = mwl_absent();
        return next;
    case MWL_OP_PASS_MATCH: set_flight(x, mwl__keep(f->res.v)); return next;
    case MWL_OP_SLEEP_FOR: return mwl__step_sleep(f, x->regs[i.a], false, next);
    case MWL_OP_SLEEP_UNTIL: return mwl__step_sleep(f, x->regs[i.a], true, next);
    case MWL_OP_RETURN: return mwl__step_return(f);
    case MWL_OP_RAISE: return mwl__step_raise(f, &x->regs[i.a], i.b);
    case MWL_OP_RERAISE: return mwl__step_reraise(f);
    default: return mwl__frame_complete(f); /* COMPLETE */
    }
}

static uint32_t entries(mwl__exec *x, mwl__ins i, uint32_t next) {
    mwl__frame *f = x->frame;
    uint32_t ix = mwl__ins_x(i);
    switch (i.op) {
    case MWL_OP_ENTER: return mwl__entry_enter(f, ix, next);
    case MWL_OP_GATE: return mwl__entry_gate(f, x->regs[i.a], ix, next);
    case MWL_OP_WITH: mwl__entry_with(f, take(x, i.a)); return next;
    case MWL_OP_ACTION: return mwl__entry_action(f, i.a, ix, next);
    case MWL_OP_ACTION_DONE: return mwl__entry_action_done(f, i.a, ix);
    case MWL_OP_ESTABLISH: return mwl__entry_establish(f, ix, next);
    case MWL_OP_ENTRY_FAULT: return mwl__entry_fault(f, ix);
    case MWL_OP_ASCEND: return mwl__entry_ascend(f, ix);
    case MWL_OP_SHAPE_SKIP: return mwl__entry_skips_shape(f) ? ix : next;
    case MWL_OP_SHAPE: mwl__entry_shape(f, take(x, i.a)); return next;
    case MWL_OP_ENVELOPE: return mwl__entry_envelope(f, &x->regs[i.a], i.b, next);
    case MWL_OP_PHASE_FAULT: return mwl__entry_phase_fault(f, ix);
    case MWL_OP_REENTER: return mwl__entry_reenter(f, ix);
    case MWL_OP_ALWAYS: return mwl__entry_always(f, ix, next);
    case MWL_OP_ALWAYS_FAULT: return mwl__entry_always_fault(f, ix);
    default: return mwl__entry_unwind(f, ix, next); /* UNWIND */
    }
}

static uint32_t calls(mwl__exec *x, mwl__ins i, uint32_t next) {
    mwl__frame *f = x->frame;
    uint32_t ix = mwl__ins_x(i);
    switch (i.op) {
    case MWL_OP_CALL: return mwl__call_begin(f, ix, next);
    case MWL_OP_CALL_INPUT: mwl__value_set(x->heap, &f->record->target_input, take(x, i.a)); return next;
    case MWL_OP_CALL_WITH: mwl__value_set(x->heap, &f->record->args, take(x, i.a)); return next;
    case MWL_OP_DISPATCH: return mwl__call_dispatch(f, ix, next);
    case MWL_OP_ARMS: return mwl__call_arms(f, ix);
    case MWL_OP_ARM_VALUE: mwl__frame_set_res(f, true, take(x, i.a)); return next;
    case MWL_OP_CALL_FAULT: return mwl__call_fault(f, ix);
    case MWL_OP_ARM_FAULT: return mwl__call_arm_fault(f, ix);
    case MWL_OP_CALL_END: return mwl__call_end(f, ix, next);
    case MWL_OP_GATHER: return mwl__gather_begin(f, ix, next);
    case MWL_OP_GATHER_OVER: return mwl__gather_over(f, x->regs[i.a], next);
    case MWL_OP_GATHER_NEED: return mwl__gather_need(f, x->regs[i.a], next);
    case MWL_OP_GATHER_RUN: return mwl__gather_run(f, ix);
    case MWL_OP_GATHER_ARMS: return mwl__gather_arms(f, ix);
    case MWL_OP_GATHER_FAULT: return mwl__gather_fault(f, ix);
    default: return mwl__gather_end(f, ix, next); /* GATHER_END */
    }
}

/* The groups lie in the table in this order (opcodes.h). */
uint32_t mwl__machine_step(mwl__exec *x, mwl__ins i, uint32_t next_pc) {
    if (!x->frame) return MWL_PC_MALFORMED;
    if (i.op < MWL_OP_ENTER) return steps(x, i, next_pc);
    return i.op < MWL_OP_CALL ? entries(x, i, next_pc) : calls(x, i, next_pc);
}

bool mwl__machine_raised(mwl__exec *x) {
    mwl_value failure = mwl__failure_from_fault(x, x->fault);
    x->fault = mwl_absent();
    mwl__exec_clear(x, x->program->n_regs);
    if (!x->frame || mwl_is_absent(failure)) return false;
    mwl__value_set(x->heap, &x->vm->raised, failure);
    return true;
}
