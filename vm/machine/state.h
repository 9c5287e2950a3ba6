/* state.h: the state of running things, and what the machine's files ask of each other.
 *
 * Owns: the records of a run: frames, entry records, call records, Gathers, provider executions.
 * All of it is plain data on the VM's heap. Pointers between records are links of one tree (run,
 * frames, entries, dispatch slots), rebuilt from indexes when a run is read back; everything else
 * is a value, a number or an index into the program. No C stack is held by anything here, but by an
 * execution of a blocking provider.
 *
 * Who does what:
 *   vm.c        the VM, its catalog, the ready queue, the pump
 *   run.c       a run's life
 *   frame.c     frames: creation, completion, park and wake
 *   step.c      Step instructions
 *   entry.c     entries and their phases
 *   phase.c     the middleware contract
 *   unwind.c    interruption and the seam
 *   call.c      calls
 *   execution.c  provider executions
 *   gather.c    fan-out
 *   context.c   what expressions read
 *   timer.c     due times
 *   blocking.c  providers on stacks of their own
 *   token.c     answers from other threads
 *   exec.c      the loop: an instruction to its function
 *   invariant.c what holds when a run is over
 *
 * An instruction's function answers the next pc, or one of the MWL_PC_* of exec.h. */
#ifndef MWL_STATE_H
#define MWL_STATE_H

#include "vm/cel/exec_context.h"
#include "vm/cel/functions.h"
#include "mwl_provider.h"
#include "vm/schema/schema.h"
#include "vm/program/tables.h"
#include "vm/machine/timer.h"
#include "vm/base/usage.h"

#include <pthread.h>

typedef struct mwl__frame mwl__frame;
typedef struct mwl__entry mwl__entry;
typedef struct mwl__gather mwl__gather;
typedef struct mwl__slot mwl__slot;

/* ---- entry: one established or establishing middleware position ------------------------------ */

typedef enum mwl__verdict {
    MWL_VERDICT_PASS,
    MWL_VERDICT_EMIT, /* onEntry: the inner scope does not run */
    MWL_VERDICT_REENTER
} mwl__verdict;

struct mwl__entry {
    mwl__entry *outer;  /* the enclosing record of the same frame */
    uint32_t ix;        /* in the program's ENTRIES */
    uint32_t resume_pc; /* after a structural call: where the phase goes on */
    uint16_t depth;     /* entries of this frame around it */
    uint8_t phase;      /* mwl__phase_id now running, or last run */
    uint8_t verdict;    /* mwl__verdict of the phase now running */
    uint8_t reenter;    /* MWL_REENTER_* */
    bool established, accepted;
    bool around_call;  /* the inner scope is the call itself */
    bool armed, fired; /* a bound: set; elapsed, its cancellation imposed */
    bool in_always, cleanup_failed;
    bool over_cleanup;  /* while in_always: the failure in flight holds that of a failed cleanup */
    bool gated;         /* `when` was false at the phase now running */
    bool dispatched;    /* the phase's action waits for its structural call */
    bool in_phase;      /* one of its phases is running: its `middleware` root is read */
    bool outer_running; /* while in_always: the unwind that this cleanup is part of, */
    mwl__entry *outer_owner; /* and its owner; a bound inside the cleanup unwinds on its own */
    mwl_value input;         /* middleware.input */
    mwl_value output;        /* what was passed down at establishment */
    mwl_value args;          /* of the phase now running */
    mwl_value state;
    mwl_value contributed; /* an object; absent; or an int: the deadline alone, wall, not written
                              out yet */
    mwl_value vars;        /* at establishment, where the middleware restores; else absent */
    mwl__result res;       /* rising, in flight at this position */
    mwl__result emit;      /* what a substitution or shaping makes of it; v absent: res as it is */
    mwl_value cancel;      /* the cancellation that this entry imposes, while fired */
    int64_t bound_ns, entered_ns, delay_ns;
    int64_t least_ns; /* no bound of this entry or those around it is earlier */
    uint64_t runs;    /* of the inner scope: counts when one begins */
};

/* ---- call: the record of one call execution -------------------------------------------------- */

typedef struct mwl__call_state {
    uint32_t ix;            /* in CALLS */
    int64_t index;          /* of a Gather's dispatch, or -1 */
    mwl_value input;        /* call.input */
    mwl_value target_input; /* what the target receives; absent: input */
    mwl_value args;         /* absent: none written */
    mwl__result res;        /* the target's own Result */
    mwl_value metadata;     /* provider.metadata */
    mwl_value flow_vars;    /* flow.vars */
    int64_t entered_ns, exited_ns, dispatched_ns, accepted_ns; /* wall */
    int64_t flow_entered_ns, flow_exited_ns;
} mwl__call_state;

/* A provider execution in flight; mwl_provider.h's mwl_call. */
struct mwl_call {
    struct mwl_vm *vm;
    mwl__frame *frame; /* who awaits it; NULL: given up */
    mwl__slot *slot;   /* of a Gather, or NULL */
    const struct mwl__provider *provider;
    mwl_value input, args, state, metadata;
    mwl__result res;
    bool settled, starting, cancelled, listed;
    bool alive; /* false in memory that was one: tells of its use after it is gone */
    mwl__timer timer;
    struct mwl__native *native; /* of a blocking provider: its function has not returned; or NULL */
    mwl_token *tokens;          /* not answered yet */
    void *user;
    mwl_call *next, *prev; /* the VM's list of live executions */
};

/* ---- Gather ---------------------------------------------------------------------------------- */

typedef enum mwl__slot_state {
    MWL_SLOT_WAITING,
    MWL_SLOT_ACTIVE,
    MWL_SLOT_SETTLED,
    MWL_SLOT_CANCELLED,
    MWL_SLOT_SKIPPED
} mwl__slot_state;

struct mwl__slot {
    mwl__result res; /* once it is resolved */
    union {
        mwl__frame *frame;   /* ACTIVE, a Flow target */
        mwl_call *execution; /* ACTIVE, a provider target */
    } as;
    mwl__call_state *record; /* kept for the arm; NULL when none will read it */
    uint8_t state;           /* mwl__slot_state */
    bool is_frame;
    bool no_arm;     /* its fields faulted, or it was refused before dispatch: no arm runs */
    bool superseded; /* interrupted, and a failed cleanup took the cancellation's place */
};

struct mwl__gather {
    uint32_t ix, n, next, active, n_ok, n_bad, arm_at;
    double need;
    bool determined, cancelling, faulted, arming;
    bool interrupted;  /* with its frame: until the unwind has taken what its dispatches leave */
    bool records;      /* a slot has one: its arm runs */
    bool enumerated;   /* n is settled: step.metadata.dispatchCount is there */
    mwl_value over;    /* the array, of the iterate form */
    mwl_value raised;  /* the failure of its own fields, when faulted */
    mwl_value results; /* step.results once final and built; absent before */
    mwl__slot slots[]; /* those before `next` */
};

/* ---- frame ----------------------------------------------------------------------------------- */

typedef enum mwl__frame_state {
    MWL_FRAME_READY,
    MWL_FRAME_RUNNING,
    MWL_FRAME_WAIT_TIME,
    MWL_FRAME_WAIT_CALL,
    MWL_FRAME_WAIT_GATHER,
    MWL_FRAME_DONE
} mwl__frame_state;

typedef enum mwl__awaits { MWL_AWAITS_NOTHING, MWL_AWAITS_FRAME, MWL_AWAITS_EXECUTION } mwl__awaits;
typedef enum mwl__construct { MWL_IN_FRAME, MWL_IN_STEP, MWL_IN_PHASE, MWL_IN_CALL } mwl__construct;

/* What most frames never have, made when it is first needed: a failure being handled, an
 * interruption, a fan-out, registers saved by a yield inside a block. It keeps a parked frame
 * small. */
typedef struct mwl__extra {
    mwl_value failure;     /* the failure context, or null */
    mwl__gather *gather;   /* of a Gather Step, until the next Step begins */
    mwl_value *saved_regs; /* as many as the program has, or NULL */
    mwl_value severed; /* a failure whose `previous` its author wrote while another is handled, or
                          absent */
    mwl_value cleanup; /* the failure of the cleanup that failed last, or absent */
    mwl_value
        cancel; /* the frame's own: imposed by its parent, its Gather or from outside; or absent */
    int64_t cancel_ns; /* when that came */
    mwl__entry *owner; /* whose seam ends the unwind now under way; NULL: the frame's */
    bool running;      /* an unwind is under way */
    bool awaiting;     /* waiting for target executions to resolve before it goes on */
    bool resume;       /* the frame's next turn begins with mwl__unwind_next */
} mwl__extra;

struct mwl__frame {
    struct mwl_run *run;
    mwl__frame *parent;
    mwl__slot *slot; /* the parent's Gather slot that it fills, or NULL */
    union {
        mwl__frame *frame;   /* a Flow that a call runs */
        mwl_call *execution; /* a provider execution that it awaits */
        mwl__frame *
            queued_behind; /* while it is queued, when it awaits nothing; NULL: the queue's first */
    } target;              /* as `awaits` and `queued` say */
    mwl__entry *entries;   /* innermost */
    mwl__call_state *record; /* the call now being made */
    mwl__extra *extra;
    uint32_t flow, pc, step;
    uint16_t depth;
    uint8_t state, construct, awaits; /* mwl__frame_state, mwl__construct, mwl__awaits */
    bool queued, step_done;
    bool timed; /* mwl__times follow the frame: something in its Flow can read them */
    mwl_value vars, input, step_input, in_flight;
    mwl__result res; /* of a Match Step: its shaped input */
    uint64_t step_id;
    union { /* a queued frame has no timer; the link lies over its order only */
        mwl__timer timer;
        mwl__frame *next_ready;
    };
};

/* Instants of a frame and of the Step it is in; wall. */
typedef struct mwl__times {
    int64_t entered_ns, step_entered_ns, step_exited_ns; /* 0: not kept */
} mwl__times;

/* ---- run and VM ------------------------------------------------------------------------------ */

/* When a cancelled run must be over. Apart, because few runs ever have one. */
typedef struct mwl__deadline {
    mwl__timer timer;
    mwl_run *run;
} mwl__deadline;

struct mwl_run {
    struct mwl__link *link; /* the program and the VM */
    mwl_value id;     /* a string; or the number that one is made from when it is first read */
    mwl_value result; /* when done; before, the reason of a cancellation that was asked for */
    mwl__frame *root;
    uint64_t rng, next_step_id, budget;
    size_t memory_used;
    const mwl_limits *limits; /* the VM's, or its own copy */
    mwl_run *next, *prev;
    void *user;
    mwl_run_state state;
    mwl_status why;
    struct mwl__deadline *deadline; /* of its cleanup, once one is set */
    uint32_t live,
        owed; /* frames and awaited calls; established entries before the end of their onAlways */
    bool succeeded,
        bare; /* done: with a success; whose value is `result`, not yet the Result's object */
    bool limit_hit;
    bool cancel_asked; /* while it is busy: applied when it is not any more */
    bool free_asked;   /* likewise */
    uint16_t busy; /* how often somebody is at work in it who may call back: see mwl__run_enter */
};

/* A provider of the VM's catalog. Schemas are compiled (schema.h); a NULL schema accepts only `{}`.
 */
typedef struct mwl__provider {
    char *uri;
    size_t uri_len;
    bool is_middleware,
        trusted; /* trusted: its document and what it contributes are not checked again */
    mwl_call_provider call;
    mwl_middleware middleware;
    void (*act[4])(mwl_phase *phase,
                   void *user); /* its actions by phase; NULL: it has none there */
    void *user;
    mwl__schema *parameters[4]; /* [0] of a call; by phase of a middleware */
    mwl__schema
        *metadata;      /* of a middleware without its `required`: contributions come one by one */
    uint8_t structural; /* bit per phase: has a structural call */
    uint32_t run_count_len;     /* of middleware.run_count; 0: none */
    char *run_count, *deadline; /* what middleware.run_count, .deadline point to, or NULL */
    struct mwl__provider *next;
} mwl__provider;

/* What is known of the arguments of a call or a phase. DIRECT: of a call besides, that nothing
 * reads its record: no fields are evaluated, no arms run, no instant is kept. */
enum { MWL_WITH_UNKNOWN, MWL_WITH_VALID, MWL_CALL_DIRECT };

/* A program linked to a VM. */
typedef struct mwl__link {
    struct mwl_vm *vm;
    mwl_program *program;               /* kept */
    const mwl__provider **providers;    /* by IMPORTS index */
    const mwl_function_def **functions; /* by FUNCS index */
    mwl__schema **flow_schemas;         /* by FLOWS index; NULL: takes no arguments */
    uint8_t *with_ok;                   /* calls, then entries * 4: MWL_WITH_* */
    uint8_t *timed;                     /* by FLOWS index: frames of it keep instants */
    mwl_value *prepared; /* by ENTRIES index: what the middleware made of onEntry's constant
                            arguments, or absent */
    size_t n_runs;       /* not freed yet */
    bool forget;         /* the host has no use for it when they are */
    struct mwl__link *next;
} mwl__link;

/* Where the last failures were born, for people: identities, nothing is held. */
enum { MWL_FAILURE_SITES = 16 };
typedef struct mwl__failure_site {
    const mwl_run *run;
    const void *failure;
    uint32_t flow, step;
    uint32_t depth;
} mwl__failure_site;

enum { MWL_VM_ALIVE = 0x6d776c21, MWL_RUN_GONE = 0x60 };
struct mwl_vm {
    mwl_config config;
    mwl_heap heap;
    mwl__exec exec;
    mwl__zones zones;
    mwl__regex_scratch *regex;
    mwl__functions functions;
    mwl__timers timers;
    int64_t bound_ns;    /* of the bound that fired last, */
    uint32_t bound_rank; /* and how deep it lies */
    mwl__provider *providers;
    mwl__link *links;
    mwl_run *runs;
    mwl_call *executions, *spare_execution;
    mwl__frame *ready_head, *ready_tail;
    size_t n_ready, round_left; /* frames queued; those that this round has still to serve */
    int64_t round_ns;           /* when the round began */
    mwl_instant now;            /* the reading of this turn; under virtual time, the time */
    uint64_t rng, next_run, id_seed;
    void (*listen)(void *ctx, const mwl_trace_event *event);
    void *listen_ctx;
    mwl_value empty; /* {} */
    mwl__failure_site failure_sites[MWL_FAILURE_SITES];
    uint32_t n_failure_sites; /* ever */
    mwl_value raised; /* the failure a site handler made, on its way to the *_FAULT instruction */
    size_t turn_used; /* the heap's `used` when the turn of `executing` began, less what others took
                         since */
    mwl_run *executing; /* whose frame is in the interpreter, or NULL: then that is not running */
    char message[256];  /* of the last registration that was refused */
    struct mwl__mail *mail;        /* made with the first token */
    struct mwl__coro_pool *stacks; /* made with the first blocking call */
    pthread_t thread;              /* that used it last; for mwl__usage */
    bool pumping, started; /* inside mwl_vm_pump; a run was started: the catalog is closed */
    uint32_t alive;        /* MWL_VM_ALIVE, else memory that was one; for mwl__usage */
};

/* ---- between the files: what each answers is a pc unless it says otherwise ------------------- */

static inline const mwl_program *mwl__program_of(const mwl__frame *f) {
    return f->run->link->program;
}
static inline const mwl__flow_tables *mwl__tables(const mwl__frame *f) {
    return &f->run->link->program->tables;
}
static inline void mwl__value_set(mwl_heap *h, mwl_value *place, mwl_value take) {
    mwl_value old = *place;
    *place = take;
    mwl__drop(h, old);
}
/* Where a base lies in the frame as it is, or NULL: what most paths begin with, without a call. */
static inline const mwl_value *mwl__context_slot(const mwl__frame *f, unsigned base) {
    switch (base) {
    case MWL_BASE_STEP_INPUT: return &f->step_input;
    case MWL_BASE_VARS: return &f->vars;
    case MWL_BASE_FRAME_INPUT: return &f->input;
    case MWL_BASE_CALL_INPUT: return f->record ? &f->record->input : NULL;
    default: return NULL;
    }
}
static inline mwl_vm *mwl__vm_of(const mwl__frame *f) { return f->run->link->vm; }
static inline mwl_heap *mwl__heap_of(const mwl__frame *f) { return &mwl__vm_of(f)->heap; }
/* As mwl__value_set; the heap is looked for when something goes. */
static inline void mwl__frame_put(const mwl__frame *f, mwl_value *place, mwl_value take) {
    mwl_value old = *place;
    *place = take;
    if (old.tag & MWL_OWNED) mwl__drop(mwl__heap_of(f), old);
}
static inline void mwl__frame_set_res(mwl__frame *f, bool ok, mwl_value take) {
    mwl__frame_put(f, &f->res.v, take);
    f->res.ok = ok;
}
/* A transition that nothing but the frame itself takes part in, to a Step whose entry nobody reads.
 */
static inline bool mwl__step_hops(const mwl__frame *f, const mwl__step_rec *to) {
    return !f->extra && mwl_is_absent(f->res.v) && !(to->flags & MWL_NEEDS_ENTERED);
}
/* What is done then; step.c does the rest for the others. */
static inline void mwl__step_hop(mwl__frame *f, uint32_t step, mwl_heap *h) {
    mwl_value old = f->step_input;
    mwl__move(&f->step_input, &f->in_flight);
    f->in_flight = mwl_absent();
    f->step = step;
    f->step_id = f->run->next_step_id++;
    f->construct = MWL_IN_STEP;
    f->step_done = false;
    mwl__drop(h, old);
}
static inline mwl__times *mwl__times_of(const mwl__frame *f) {
    return f->timed ? (mwl__times *)(uintptr_t)(f + 1) : NULL;
}
static inline mwl__gather *mwl__gather_of(const mwl__frame *f) {
    return f->extra ? f->extra->gather : NULL;
}
static inline mwl_value mwl__failure_of(const mwl__frame *f) {
    return f->extra ? f->extra->failure : mwl_null();
}

extern const mwl__context_ops mwl__context; /* context.c */

/* frame.c */
mwl__frame *mwl__frame_new(mwl_run *run, mwl__frame *parent, uint32_t flow, mwl_value take_input,
                           mwl_value take_args); /* NULL: memory is out. Not queued yet */
void mwl__frame_free(mwl__frame *f);  /* with all below it; outstanding executions are told */
void mwl__frame_ready(mwl__frame *f); /* into the ready queue, once */
void mwl__frame_run(mwl__frame *f);   /* until it parks, yields or is done */
uint32_t mwl__frame_complete(mwl__frame *f);
uint32_t mwl__frame_ascend(mwl__frame *f); /* res is set: go to the Flow's ascent */
uint32_t mwl__frame_park(mwl__frame *f, mwl__frame_state state, uint32_t pc, int64_t due_mono_ns);
void mwl__frame_timer(mwl__frame *f);              /* its timer is due */
void mwl__frame_take_raised(mwl__frame *f);        /* res := the failure a site handler made */
mwl__entry *mwl__frame_bound(const mwl__frame *f); /* the earliest that can still fire, or NULL */
mwl__extra *mwl__frame_extra(mwl__frame *f);       /* made if need be; NULL: memory is out */
bool mwl__frame_fail(mwl__frame *f,
                     mwl_value failure); /* set the failure context, lent; null clears it */
int64_t mwl__vm_mono(mwl_vm *vm);        /* readings of this moment, ns */
int64_t mwl__vm_wall(mwl_vm *vm);
int64_t mwl__add_ns(int64_t a, int64_t b); /* saturating */
/* Raise System.ParameterValidationFailed for a value the specification types; answers MWL_PC_FAULT.
 */
uint32_t mwl__raise_parameter(mwl__frame *f, const char *where, mwl_value observed,
                              const char *message);
uint32_t mwl__raise(mwl__frame *f, mwl__failure_code code, const char *message,
                    mwl_value take_details);
/* Validate arguments: next_pc, MWL_PC_FAULT with the report as details, MWL_PC_FUEL, MWL_PC_NOMEM.
 * args absent: none. */
uint32_t mwl__check_arguments(mwl__frame *f, const mwl__schema *schema, mwl_value args,
                              const char *who, uint32_t next_pc);

/* step.c */
uint32_t mwl__step_begin(mwl__frame *f, uint32_t step, uint32_t next_pc);
void mwl__step_exit(mwl__frame *f);
uint32_t mwl__step_to(mwl__frame *f, uint32_t step, bool handler);
uint32_t mwl__step_result(mwl__frame *f, uint32_t next_pc);
uint32_t mwl__step_fault(mwl__frame *f);
uint32_t mwl__step_clause_fault(mwl__frame *f);
uint32_t mwl__step_failed(mwl__frame *f); /* res is the Step's failure: catch or out */
uint32_t mwl__step_assign(mwl__frame *f, mwl_value *regs, uint32_t shape, uint32_t next_pc);
uint32_t mwl__step_sleep(mwl__frame *f, mwl_value v, bool until, uint32_t next_pc);
uint32_t mwl__step_return(mwl__frame *f);
uint32_t mwl__step_raise(mwl__frame *f, mwl_value *regs, uint32_t shape);
uint32_t mwl__step_reraise(mwl__frame *f);

/* entry.c */
uint32_t mwl__entry_enter(mwl__frame *f, uint32_t ix, uint32_t next_pc);
uint32_t mwl__entry_gate(mwl__frame *f, mwl_value when, uint32_t off_pc, uint32_t next_pc);
void mwl__entry_with(mwl__frame *f, mwl_value take);
uint32_t mwl__entry_action(mwl__frame *f, unsigned phase, uint32_t ix, uint32_t next_pc);
uint32_t mwl__entry_action_done(mwl__frame *f, unsigned phase, uint32_t ix);
uint32_t mwl__entry_establish(mwl__frame *f, uint32_t ix, uint32_t next_pc);
uint32_t mwl__entry_fault(mwl__frame *f, uint32_t ix);
uint32_t mwl__entry_ascend(mwl__frame *f, uint32_t ix);
bool mwl__entry_skips_shape(const mwl__frame *f);
void mwl__entry_shape(mwl__frame *f, mwl_value take);
uint32_t mwl__entry_envelope(mwl__frame *f, mwl_value *regs, uint32_t shape, uint32_t next_pc);
uint32_t mwl__entry_phase_fault(mwl__frame *f, uint32_t ix);
uint32_t mwl__entry_reenter(mwl__frame *f, uint32_t ix);
uint32_t mwl__entry_always(mwl__frame *f, uint32_t ix, uint32_t next_pc);
uint32_t mwl__entry_always_fault(mwl__frame *f, uint32_t ix);
uint32_t mwl__entry_unwind(mwl__frame *f, uint32_t ix, uint32_t next_pc);
void mwl__entry_pop(mwl__frame *f);
/* Lent: the members it contributes, the machine's own among them; absent: none, or memory is out.
 */
mwl_value mwl__entry_contributed(mwl__frame *f, mwl__entry *e);
bool mwl__entry_write_deadline(mwl__frame *f,
                               mwl__entry *e);       /* into `contributed`; false: memory is out */
mwl__entry *mwl__entry_reading(const mwl__frame *f); /* whose `middleware` root is read, or NULL */
void mwl__entry_set_res(mwl__frame *f, mwl__entry *e, bool ok, mwl_value take);
void mwl__entry_set_emit(mwl__frame *f, mwl__entry *e, bool ok, mwl_value take);

/* phase.c: the middleware contract around one callback. */
uint32_t mwl__phase_act(mwl__frame *f, mwl__entry *e, const mwl__provider *p, unsigned phase,
                        uint32_t next_pc);
mwl__result mwl__phase_elapsed(mwl__frame *f,
                               mwl__entry *e); /* what is emitted instead, given; absent: memory */

/* unwind.c */
void mwl__unwind_frame(mwl__frame *f, mwl_value cancel);  /* impose on the whole frame; lent */
void mwl__unwind_bound(mwl__frame *f, mwl__entry *owner); /* a bound has elapsed */
bool mwl__unwind_bounds_due(
    mwl__frame *f); /* at a slice's end: fire what has elapsed; true: it did */
uint32_t mwl__unwind_next(mwl__frame *f); /* the next onAlways, the seam, or completion */
void mwl__unwind_resolved(mwl__frame *f); /* a target execution resolved: go on when all did */
uint32_t mwl__unwind_after_always(mwl__frame *f, uint32_t next_pc);
uint32_t mwl__unwind_late(mwl__frame *f,
                          mwl__entry *owner); /* res reached it when its bound had elapsed */
void mwl__unwind_failed(mwl__frame *f,
                        mwl_value failure); /* a cleanup's, lent: from here on it is not hidden */
static inline bool mwl__unwinds(const mwl__frame *f) { return f->extra && f->extra->running; }

/* call.c */
uint32_t mwl__call_begin(mwl__frame *f, uint32_t ix, uint32_t next_pc);
uint32_t mwl__call_dispatch(mwl__frame *f, uint32_t ix, uint32_t next_pc);
uint32_t mwl__call_arms(mwl__frame *f, uint32_t ix);
uint32_t mwl__call_fault(mwl__frame *f, uint32_t ix);
uint32_t mwl__call_arm_fault(mwl__frame *f, uint32_t ix);
uint32_t mwl__call_end(mwl__frame *f, uint32_t ix, uint32_t next_pc);
void mwl__call_accept(mwl__frame *f, bool ok, mwl_value take);    /* the target's Result is there */
void mwl__call_frame_done(mwl__frame *parent, mwl__frame *child); /* a Call Step's Flow completed */
mwl__call_state *mwl__call_state_new(mwl_heap *h);
void mwl__call_state_clear(mwl_heap *h, mwl__call_state *r);
void mwl__call_state_free(mwl_heap *h, mwl__call_state *r);
void mwl__call_state_window(mwl__call_state *r,
                            mwl__frame *child); /* what arms read of a completed frame */
void mwl__call_state_accepted(mwl__frame *f, mwl__call_state *r, unsigned needs);
/* The target's arguments, given; validated for a provider target. next_pc or MWL_PC_FAULT. */
uint32_t mwl__call_arguments(mwl__frame *f, uint32_t ix, mwl_value *args, uint32_t next_pc);

/* execution.c: provider executions. */
mwl_call *mwl__execution_start(mwl__frame *f, mwl__slot *slot, const mwl__provider *p,
                               mwl_value take_input,
                               mwl_value take_args); /* NULL: memory. May be settled already */
/* As mwl__execution_start, with constant arguments. NULL: it has settled, *res is its Result and
 * nothing is left of the call; or memory is out, and res->v absent. */
mwl_call *mwl__execution_run(mwl__frame *f, mwl__slot *slot, const mwl__provider *p,
                             mwl_value take_input, mwl_value args, mwl__result *res);
mwl__result mwl__execution_take(
    mwl_call *call); /* the Result of one that its start has settled; the call is gone then */
void mwl__execution_cancel(mwl_call *call, mwl_value cancel); /* interrupt it; lent */
void mwl__execution_abandon(mwl_call *call);                  /* nobody awaits it any more */
void mwl__execution_timer(mwl_call *call);
void mwl__execution_free(mwl_call *call);
mwl_status mwl__execution_resolve(mwl_call *call, bool ok,
                                  mwl_value take); /* settle; the call may be gone then */
void mwl__execution_deliver(mwl_call *call); /* settled, and nothing runs on its behalf any more */

/* blocking.c: the stack of a blocking provider's execution. The call may be gone after each. */
mwl_status mwl__blocking_start(mwl_call *call);
void mwl__blocking_timer(mwl_call *call);
void mwl__blocking_stop(
    mwl_call *call); /* it is cancelled: its wait returns now, and none waits again */
void mwl__blocking_answer(mwl_call *call, bool ok, mwl_value take);

/* token.c: answers from other threads. */
bool mwl__mail_adopt(mwl_vm *vm);          /* what has come; false: nothing */
void mwl__mail_close(mwl_vm *vm);          /* afterwards no thread reaches the VM */
void mwl__tokens_unwanted(mwl_call *call); /* it was cancelled */
void mwl__tokens_free(mwl_call *call);     /* it is going */

/* gather.c */
uint32_t mwl__gather_begin(mwl__frame *f, uint32_t ix, uint32_t next_pc);
uint32_t mwl__gather_over(mwl__frame *f, mwl_value v, uint32_t next_pc);
uint32_t mwl__gather_need(mwl__frame *f, mwl_value v, uint32_t next_pc);
uint32_t mwl__gather_run(mwl__frame *f, uint32_t ix);
uint32_t mwl__gather_arms(mwl__frame *f, uint32_t ix);
uint32_t mwl__gather_fault(mwl__frame *f, uint32_t ix);
uint32_t mwl__gather_end(mwl__frame *f, uint32_t ix, uint32_t next_pc);
uint32_t mwl__gather_dispatch(mwl__frame *f, uint32_t call_ix); /* DISPATCH inside a fan-out */
bool mwl__gather_starting(const mwl__frame *f,
                          uint32_t call_ix);  /* are this call's fields being evaluated? */
bool mwl__gather_in_arm(const mwl__frame *f); /* is a settled dispatch's arm running? */
uint32_t mwl__gather_field_fault(mwl__frame *f);
uint32_t mwl__gather_arm_end(mwl__frame *f);
/* A dispatch resolved: fills its slot, counts it, wakes the frame when it waits. */
void mwl__gather_resolved(mwl__frame *f, mwl__slot *slot, mwl__slot_state state, mwl__result take);
void mwl__gather_interrupt(mwl__frame *f, mwl_value cancel); /* every active dispatch; lent */
mwl_value
mwl__gather_superseding(mwl__frame *f); /* lent: the lowest-indexed failed cleanup, or absent */
mwl_value mwl__gather_results(mwl__frame *f); /* step.results: lent; absent before the end */
void mwl__gather_free(mwl_heap *h, mwl__gather *g);

/* That failure's place and observed value; answers MWL_PC_FAULT. */
uint32_t mwl__failure_refuse(mwl__frame *f, const char *where, uint32_t shape,
                             const mwl_value *values, uint32_t field, const char *wrong);

/* run.c */
/* The run did something since the VM's heap held `before`: its account moves by the difference.
 * What happens between its turns (timers, settlements) may free more than it took, so the account
 * stops at zero; what a host frees for it (a settled call's input) is not seen, so it never stands
 * above all memory in use. */
void mwl__run_used(mwl_run *run, size_t before);
mwl_value mwl__run_id(mwl_run *run); /* lent; absent when memory is out */
void mwl__run_done(mwl_run *run, mwl__result *take);
/* Around all that walks a run's records and may call a provider, a middleware or a listener: what
 * those ask of the run itself (cancel, abort, free) is put off until the last of them leaves. The
 * run may be gone after that. */
static inline void mwl__run_enter(mwl_run *run) { run->busy++; }
void mwl__run_leave(mwl_run *run);
void mwl__run_overdue(mwl_run *run); /* its cleanup took too long */
void mwl__run_limit(mwl_run *run,
                    mwl_status why); /* fuel or memory: cancel with the reason, once */

/* invariant.c */
const char *
mwl__invariant_broken(const mwl_run *run); /* a run that is over: what does not hold, or NULL */
#if MWL_CHECKED
void mwl__invariant_over(const mwl_run *run); /* stops the program when something does not */
#else
#define mwl__invariant_over(run) ((void)0)
#endif

/* vm.c */
void mwl__trace(mwl__frame *f, mwl_trace_kind kind, const char *provider, int phase, int64_t index,
                mwl_value value);
static inline bool mwl__tracing(const mwl_vm *vm) { return vm->listen != NULL; }
uint64_t mwl__random(uint64_t *state);
const mwl__provider *mwl__vm_provider(const mwl_vm *vm, const char *uri, size_t len); /* or NULL */
mwl_status mwl__vm_add_provider(mwl_vm *vm, mwl__provider *take); /* not taken when it fails */
void mwl__vm_free_provider(mwl_vm *vm, mwl__provider *p);
mwl_status mwl__vm_link(mwl_vm *vm, mwl_program *program, mwl__link **out, mwl_error *error);
void mwl__vm_unlink(mwl_vm *vm); /* programs that the host forgot and whose last run is gone */

#endif
