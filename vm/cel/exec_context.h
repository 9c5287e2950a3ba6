/* exec_context.h: the context of the interpreter. Its loop is declared in vm/machine/exec.h.
 *
 * Owns: registers, fuel, the fault in flight. An expression is straight code with jumps and loops
 * in one register window; it never calls another block and never recurses. Registers belong to the
 * VM. They hold nothing while a frame is parked. If fuel runs out inside a block, they are saved.
 *
 * Fuel: `slice` counts down at the end of each loop round (by the length of the loop's body), at
 * function calls and at the machine's instructions; long operations charge by size. At zero the
 * interpreter yields. `budget` is what the run may still use in total; when it is used up the run
 * ends. The machine's instructions are subtracted from it when a turn ends, and no turn has more
 * slice than budget. */
#ifndef MWL_EXEC_CONTEXT_H
#define MWL_EXEC_CONTEXT_H

#include "vm/cel/failure.h"
#include "vm/cel/linked.h"
#include "vm/value/zone.h"

struct mwl__frame;
struct mwl_function_def;

typedef struct mwl__clock_pin {
    int64_t sec; /* wall reading: seconds since the epoch */
    uint32_t ns;
} mwl__clock_pin;

/* Functions by which an expression reads its frame. context.c of the machine has them. Without a
 * frame (x->frame NULL) they are not called. */
struct mwl__exec;
typedef struct mwl__context_ops {
    /* The value at a base (MWL_BASE_*), for LOAD_PATH and the like: borrowed where the machine
     * keeps it, owned where it had to be built, absent if the member does not exist now. */
    mwl_value (*load)(struct mwl__exec *x, unsigned base);
    /* The instant of the construct being executed, wall nanoseconds: what now() returns. */
    int64_t (*now)(const struct mwl__exec *x);
    /* Returns in how many nanoseconds a bound interrupts the frame; 0 or less: it has elapsed, so
     * the present operation's result will not be used; INT64_MAX: none does. *now is the instant.
     */
    int64_t (*bound_in)(const struct mwl__exec *x, int64_t *now);
} mwl__context_ops;

typedef struct mwl__exec {
    mwl_heap *heap;
    const mwl_program *program;
    const mwl__linked *linked; /* of the program, while it is executed */
    const char *root; /* what the slots of its paths count from: the frame, or the variables */
    mwl__linked *own; /* made by mwl__exec_link, the last used first */
    const struct mwl_function_def *const *functions; /* by FUNCS index, resolved for this VM */
    const struct mwl__call_link *calls;              /* by CALLS index; of the machine */
    mwl_value *regs;
    uint32_t n_regs; /* allocated; at least the program's */
    int64_t slice;   /* instructions left before a yield, minus one; below zero: yield */
    int64_t turn;    /* the slice that the turn began with */
    int64_t poll; /* below this slice an operation reads the clock; INT64_MIN: no bound is around */
    uint64_t budget; /* left for the run; UINT64_MAX: no limit */
    uint32_t pc;
    bool in_block;        /* at a yield: registers are live */
    bool late;            /* an operation was given up, because a bound has elapsed */
    int64_t tried_ns;     /* mwl__exec_lend: when the present try began, or 0 */
    mwl_value fault;      /* a FAULT if the outcome is MWL_EXEC_FAULT; given to the caller */
    mwl_value product;    /* of END: given to the caller */
    const mwl_value *env; /* variables of an expression outside a Flow, lent */
    uint32_t n_env;
    struct mwl__frame *frame; /* NULL for a free-standing expression */
    mwl__clock_pin pin;       /* what now() returns */
    mwl__zones *zones;
    mwl__regex_scratch *regex;
    struct mwl_vm *vm;               /* NULL for a free-standing expression */
    const mwl__context_ops *context; /* likewise */
    /* the wall clock for wallTime(); NULL ctx allowed */
    mwl__clock_pin (*wall)(void *ctx);
    void *wall_ctx;
    const void *const *labels; /* of the loop, if it was asked for them: mwl__exec_labels */
    int halt; /* mwl__outcome: why an operator returned false; MWL_EXEC_END while there is no error
               */
} mwl__exec;

typedef enum mwl__outcome {
    MWL_EXEC_END,   /* an expression's product is in `product` */
    MWL_EXEC_PARK,  /* the frame waits (machine only) */
    MWL_EXEC_FAULT, /* no handler in the expression: see `fault` */
    MWL_EXEC_YIELD, /* the slice is used up inside a block: call again to continue; registers are
                       live */
    MWL_EXEC_FUEL,  /* the run's budget is used up */
    MWL_EXEC_NOMEM  /* the heap refused: out of memory or over the run's limit */
} mwl__outcome;

mwl_status mwl__exec_init(mwl__exec *x, mwl_heap *heap); /* an empty context; registers on demand */
void mwl__exec_done(mwl__exec *x);
mwl_status mwl__exec_reserve(mwl__exec *x, uint32_t n_regs);
/* Before a free-standing expression is executed: its linked form, which is made on first use and
 * kept for a while, and its variables, from x->program and x->env. labels: mwl__exec_labels. */
mwl_status mwl__exec_link(mwl__exec *x, mwl__labels_fn *labels);

/* Drops what the registers own and sets them to null. Called at the end of a block and after a
 * fault. */
void mwl__exec_clear_owned(mwl__exec *x, mwl_value *reg);
static inline void mwl__exec_clear(mwl__exec *x, uint32_t n) {
    mwl_value *r = x->regs;
    for (; n; n--, r++) {
        if (r->tag & MWL_OWNED)
            mwl__exec_clear_owned(x, r);
        else
            r->tag = MWL_KIND_NULL;
    }
}

/* Lets the turn end after the current instruction. What it has used does not change. */
static inline void mwl__exec_stop(mwl__exec *x) {
    x->turn -= x->slice + 1;
    x->slice = -1;
}

#if defined(__GNUC__)
#define MWL__COLD __attribute__((cold))
#else
#define MWL__COLD
#endif

/* From now on an operation that takes longer than a slice reads the clock after each: a bound is
 * around it, and must not be noticed later than that. */
static inline void mwl__exec_watch(mwl__exec *x) { x->poll = x->slice - MWL_SLICE; }
/* Reads the clock. Returns true, with x->late, if a bound has elapsed. */
MWL__COLD bool mwl__exec_poll(mwl__exec *x);

/* Pays for n instructions that are done away from the loop: parts of a joined one (linked_op.h). */
static inline void mwl__exec_pay(mwl__exec *x, int64_t n) { x->slice -= n; }
/* The same for the instruction that follows, where that is done at once. Returns false if the slice
 * is used up: then the loop comes to it. */
static inline bool mwl__exec_pay_next(mwl__exec *x) {
    if (x->slice <= 0) return false;
    mwl__exec_pay(x, 1);
    return true;
}

/* Charges work of about n instructions inside one operation. Returns false if the operation must be
 * given up: the run's budget is used up, or a bound has elapsed. */
static inline bool mwl__exec_charge(mwl__exec *x, uint64_t n) {
    x->slice -= (int64_t)(n < (1u << 30) ? n : (1u << 30));
    if (x->slice < x->poll && mwl__exec_poll(x)) return false;
    if (x->budget == UINT64_MAX) return true;
    if (x->budget < n) {
        x->budget = 0;
        return false;
    }
    x->budget -= n;
    return true;
}

/* For an operation that counts its fuel itself and cannot read the clock. It is lent a part, and is
 * done again with more if that was too little and no bound has elapsed meanwhile:
 *
 *     do {
 *         left = lent = mwl__exec_lend(x, lent);
 *         status = operation(..., &left);
 *     } while (mwl__exec_again(x, lent - left, status));
 *
 * lent is 0 at first. Without a bound all is lent. Otherwise four times as much at each try, but
 * not more than can be used until the bound elapses. */
MWL__COLD uint64_t mwl__exec_lend_more(mwl__exec *x, uint64_t before);
static inline uint64_t mwl__exec_lend(mwl__exec *x, uint64_t before) {
    if (x->poll == INT64_MIN) return x->budget;
    if (before) return mwl__exec_lend_more(x, before);
    x->tried_ns = 0;
    const uint64_t first = UINT64_C(16) * MWL_SLICE;
    return first < x->budget ? first : x->budget;
}
static inline bool mwl__exec_again(mwl__exec *x, uint64_t used, mwl_status status) {
    return mwl__exec_charge(x, used) && status == MWL_E_FUEL && x->budget > 0;
}

/* Charges the work that the value layer recorded (mwl__heap_work). Call it after an operation that
 * may copy a container. */
static inline bool mwl__exec_settle(mwl__exec *x) {
    uint64_t n = x->heap->work;
    x->heap->work = 0;
    return n == 0 || mwl__exec_charge(x, n);
}

/* For an operator, after a heap function returned absent. Nesting that is too deep becomes a fault
 * of the expression; anything else ends the run. Sets x->halt and returns false. */
bool mwl__exec_heap_failed(mwl__exec *x);

/* Raises a fault: sets x->fault, with a message formatted as by printf and the instruction x->pc as
 * its place, and x->halt. Always returns false, so that a caller can return it. A text of more than
 * a few hundred bytes is cut. */
bool mwl__exec_raise(mwl__exec *x, mwl__failure_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets which part of the instruction's source the present fault is about (sub of
 * mwl__program_where). */
static inline void mwl__exec_raise_sub(mwl__exec *x, uint32_t sub) {
    if (mwl_value_kind(x->fault) == MWL_KIND_FAULT) mwl__as_fault(x->fault)->sub = sub;
}
/* Adds a member to the details of the present fault. Takes over the value. If it fails, nothing is
 * added. */
void mwl__exec_raise_detail(mwl__exec *x, const char *name, mwl_value take);
/* Called for a fault that the expression does not handle: adds the part of the source where it
 * happened. */
void mwl__exec_locate(mwl__exec *x);

#endif
