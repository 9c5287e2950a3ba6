/* exec_context.h: the interpreter's context. The loop is vm/machine/exec.h.
 *
 * Owns: registers, fuel, the fault in flight. An expression is straight code with jumps and loops
 * in one register window; it never calls another block and never recurses. Registers belong to the
 * VM: they hold nothing across a park; a fuel yield inside a block saves them.
 *
 * Fuel: `slice` counts down at loop edges (by the length of the loop's body), function calls and
 * the machine's instructions; long single operations charge by size. At zero the interpreter
 * yields. `budget` is what the run may still use in all; when that is spent the run ends. The
 * machine's instructions are taken from it when a turn ends, and no turn has more slice than
 * budget. */
#ifndef MWL_EXEC_CONTEXT_H
#define MWL_EXEC_CONTEXT_H

#include "vm/cel/failure.h"
#include "vm/program/program.h"
#include "vm/value/zone.h"

struct mwl__frame;
struct mwl_function_def;

typedef struct mwl__clock_pin {
    int64_t sec; /* wall reading: seconds since the epoch */
    uint32_t ns;
} mwl__clock_pin;

/* What an expression reads of the frame that it is evaluated in. The machine's context.c has them;
 * without a frame (x->frame NULL) they are not called. */
struct mwl__exec;
typedef struct mwl__context_ops {
    /* The value at a base (MWL_BASE_*), for LOAD_PATH and the like: borrowed where the machine
     * keeps it, owned where it had to be built, absent if the member does not exist now. */
    mwl_value (*load)(struct mwl__exec *x, unsigned base);
    /* Is this path, of one key, the count of runs that the middleware being read contributes? Then
     * *out is the count. A loop's condition reads it every time and needs no object for it. */
    bool (*run_count)(struct mwl__exec *x, const mwl__path_rec *path, mwl_value *out);
    /* The instant of the construct being executed, wall nanoseconds: what now() returns. */
    int64_t (*now)(const struct mwl__exec *x);
} mwl__context_ops;

typedef struct mwl__exec {
    mwl_heap *heap;
    const mwl_program *program;
    const struct mwl_function_def *const *functions; /* by FUNCS index, resolved for this VM */
    mwl_value *regs;
    uint32_t n_regs; /* allocated; at least the program's */
    int64_t slice;   /* instructions left before a yield; may go below zero */
    int64_t turn;    /* the slice that the turn began with */
    uint64_t budget; /* left for the run; UINT64_MAX: no limit */
    uint32_t pc;
    bool in_block;        /* at a yield: registers are live */
    mwl_value fault;      /* FAULT when the outcome is MWL_EXEC_FAULT: given to the caller */
    mwl_value product;    /* of END: given to the caller */
    const mwl_value *env; /* slots of a free-standing expression, lent */
    uint32_t n_env;
    struct mwl__frame *frame;        /* NULL for a free-standing expression */
    const mwl__path_rec *count_path; /* of this program: one that reads a count of runs, in the
                                        phases of count_entry */
    uint32_t count_entry;
    mwl__clock_pin pin; /* what now() returns */
    mwl__zones *zones;
    mwl__regex_scratch *regex;
    struct mwl_vm *vm;               /* NULL for a free-standing expression */
    const mwl__context_ops *context; /* likewise */
    /* the wall clock for wallTime(); NULL ctx allowed */
    mwl__clock_pin (*wall)(void *ctx);
    void *wall_ctx;
    int halt; /* mwl__outcome: why an operator returned false; MWL_EXEC_END while all is well */
} mwl__exec;

typedef enum mwl__outcome {
    MWL_EXEC_END,   /* an expression's product is in `product` */
    MWL_EXEC_FAULT, /* nothing handled it: `fault` */
    MWL_EXEC_YIELD, /* the slice is used up inside a block: call again to go on; registers are live
                     */
    MWL_EXEC_PARK,  /* the frame waits (machine only) */
    MWL_EXEC_FUEL,  /* the run's budget is spent */
    MWL_EXEC_NOMEM  /* the heap refused: out of memory or over the run's limit */
} mwl__outcome;

mwl_status mwl__exec_init(mwl__exec *x, mwl_heap *heap); /* an empty context; registers on demand */
void mwl__exec_done(mwl__exec *x);
mwl_status mwl__exec_reserve(mwl__exec *x, uint32_t n_regs);

/* Drop what registers own; they are null afterwards. Called at a block's end and after a fault. */
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

/* The turn ends with the instruction that is running; what it has used stays as it is. */
static inline void mwl__exec_stop(mwl__exec *x) {
    x->turn -= x->slice + 1;
    x->slice = -1;
}

/* Charge work of about n instructions inside one operation: false when the run's budget is spent.
 */
static inline bool mwl__exec_charge(mwl__exec *x, uint64_t n) {
    x->slice -= (int64_t)(n < (1u << 30) ? n : (1u << 30));
    if (x->budget == UINT64_MAX) return true;
    if (x->budget < n) {
        x->budget = 0;
        return false;
    }
    x->budget -= n;
    return true;
}

/* Charges the work that the value layer noted (mwl__heap_work): after an operation that may copy a
 * container. */
static inline bool mwl__exec_settle(mwl__exec *x) {
    uint64_t n = x->heap->work;
    x->heap->work = 0;
    return n == 0 || mwl__exec_charge(x, n);
}

/* For an operator when a heap function returned absent: nesting too deep becomes a fault of the
 * expression, anything else ends the run. Sets x->halt, returns false. */
bool mwl__exec_heap_failed(mwl__exec *x);

/* Raise: sets x->fault from a printf-shaped reason, with the instruction x->pc as its place, and
 * x->halt; always returns false, for `return`. Texts over some hundred bytes are cut. */
bool mwl__exec_raise(mwl__exec *x, mwl__failure_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Which part of the instruction's source the fault in flight is about (sub of mwl__program_where).
 */
static inline void mwl__exec_raise_sub(mwl__exec *x, uint32_t sub) {
    if (mwl_value_kind(x->fault) == MWL_KIND_FAULT) mwl__as_fault(x->fault)->sub = sub;
}
/* Adds a member to the details of the fault in flight; takes the value. A failure to is ignored. */
void mwl__exec_raise_detail(mwl__exec *x, const char *name, mwl_value take);
/* A fault that nobody in the expression handles says which part of the source it came from. */
void mwl__exec_locate(mwl__exec *x);

#endif
