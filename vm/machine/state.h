/* state.h: the records of running things. No functions but small readers.
 *
 * Owns: the layout of VM, run, frame, entry, call, Gather and provider execution. All of it is
 * plain data on the VM's heap. Pointers between records are links of one tree (run, frames,
 * entries, dispatch slots); everything else is a value, a number or an index into the program. No
 * record holds a C stack, except an execution of a blocking provider.
 *
 * What acts on the records is in one file per subject; FILE.h declares what FILE.c offers:
 *   vm         the VM, its catalog of providers, the pump
 *   providers  the providers of a VM: adding, replacing, withdrawing
 *   ready      what can run: frames, new runs; the round that takes them
 *   clock      time, as the VM reads it
 *   link       a program linked to a VM
 *   account    who pays for memory and fuel
 *   purse      memory of a run outside the heap
 *   run        a run's life: start, Result, cancel, abort, limits
 *   run_list   the lists of runs, and who is notified that one is over
 *   frame      frames: creation, turns, park and wake, completion
 *   step       Step instructions
 *   entry      middleware entries and the instructions around their phases
 *   ascend     a Result that reaches the entry around it
 *   reenter    the inner scope of an entry that runs again
 *   phase      the middleware contract: one callback at one phase
 *   unwind     interruption and the seam where forward execution resumes
 *   call       calls: fields, dispatch, arms
 *   execution  provider executions
 *   blocking   provider executions on their own stacks
 *   host_value  what a host gives to a run: checked, or refused
 *   declared   the codes that a provider's failure catalog declares
 *   durable    calls that are held, runs that have changed
 *   token      Results that other threads post
 *   gather     fan-out
 *   deferred   what a run has dropped and what is freed in steps
 *   arguments  checking of arguments
 *   raise      failures that the machine raises itself
 *   context    what expressions read of a frame
 *   timer      due times
 *   trace      trace events
 *   where      where a run is and what it waits for
 *   exec       the loop: an instruction to its function
 *   nest       what each instruction of the machine may take for granted
 *   rest       where a run at rest continues, and what it consists of
 *   invariant  what holds when a run is over */
#ifndef MWL_STATE_H
#define MWL_STATE_H

#include "mwl_provider.h"
#include "vm/base/error_text.h"
#include "vm/cel/exec_context.h"
#include "vm/cel/functions.h"
#include "vm/machine/timer.h"
#include "vm/program/entry_state.h"
#include "vm/program/tables.h"
#include "vm/schema/schema.h"

#include <stdatomic.h>

typedef struct mwl__frame mwl__frame;
typedef struct mwl__entry mwl__entry;
typedef struct mwl__gather mwl__gather;
typedef struct mwl__slot mwl__slot;

/* An instruction's function returns the next pc or one of these. */
#define MWL_PC_PARK 0xffffffffu  /* the frame waits, or is done and perhaps freed */
#define MWL_PC_FAULT 0xfffffffeu /* x->fault is set: find the handler */
#define MWL_PC_NOMEM 0xfffffffdu /* out of memory, or a limit of the run was reached */
#define MWL_PC_FUEL 0xfffffffcu  /* the run's budget is spent */
#define MWL_PC_LIMIT 0xfffffff0u /* every instruction's pc is below this */

/* ---- entry: one middleware position of a frame ----------------------------------------------- */

typedef enum mwl__verdict {
    MWL_VERDICT_PASS,
    MWL_VERDICT_EMIT, /* onEntry: the inner scope does not run */
    MWL_VERDICT_REENTER
} mwl__verdict;

struct mwl__entry {
    mwl__entry *outer;                    /* the enclosing record of the same frame */
    const struct mwl__provider *provider; /* its middleware; the catalog may have another one now */
    const struct mwl__entry_link *link;   /* what is known of it by its program */
    uint32_t ix;                          /* in the program's ENTRIES */
    uint32_t resume_pc;                   /* where the phase continues after its structural call */
    uint32_t rank;           /* number of entries around it, in this frame and its callers */
    uint8_t state;           /* mwl__entry_state */
    uint8_t verdict;         /* mwl__verdict of the phase now running */
    uint8_t reenter;         /* MWL_REENTER_* */
    bool accepted;           /* a Result of the inner scope was accepted: the bound cannot fire */
    bool around_call;        /* the inner scope is the call itself */
    bool armed, fired;       /* its bound is set; it elapsed and its cancellation is imposed */
    bool tied;               /* a bound inside has fired at the instant of its own */
    bool gated;              /* `when` was false at the phase now running */
    bool waits;              /* onEntry waits, and its action will run once more */
    bool outer_running;      /* in onAlways: saved extra->running, restored when it ends */
    mwl__entry *outer_owner; /* in onAlways: saved extra->owner, restored when it ends */
    mwl_value input;         /* middleware.input */
    mwl_value output;        /* what was passed down at establishment */
    mwl_value args;          /* of the phase now running */
    mwl_value own_state;     /* what the middleware keeps here */
    mwl_value contributed; /* an object, absent, or an int: only the deadline (wall), no text yet */
    mwl_value vars;        /* at establishment, if the middleware restores them; else absent */
    mwl__result res;       /* in flight at this position */
    mwl__result emit;      /* replaces res: from a substitution or shaping; v absent: nothing */
    mwl_value cancel;      /* the cancellation that this entry imposes, while fired */
    int64_t bound_ns, entered_ns, delay_ns;
    int64_t least_ns; /* no bound of this entry or of those around it is earlier */
    uint64_t runs;    /* runs of the inner scope that have begun */
    mwl_token *token; /* of its wait at onEntry, or NULL */
};

/* ---- call: the record of one call while it is made ------------------------------------------- */

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

#define MWL_HELD_RELEASED UINT64_MAX

/* A provider execution; mwl_provider.h shows it as mwl_call. */
struct mwl_call {
    struct mwl_vm *vm;
    mwl__frame *frame; /* that awaits it; NULL: given up */
    mwl__slot *slot;   /* of a Gather, or NULL */
    const struct mwl__provider *provider;
    mwl_value input, args, state, metadata;
    mwl__result res;
    bool settled, starting;
    bool listed;      /* in vm->executions */
    bool alive;       /* cleared on free; detects use after free in debug builds */
    bool spent;       /* it has used up the run's fuel; `metadata` is not absent then */
    uint16_t attempt; /* how often it was dispatched */
    uint64_t number;  /* in its run */
    uint64_t held;    /* it has not started: the version of the run that contains it first, or
                         MWL_HELD_RELEASED; or 0 */
    mwl__timer timer;
    struct mwl__native
        *native;       /* of a blocking provider whose function has not returned, or NULL */
    mwl_token *tokens; /* without an answer yet */
    void *user;
    mwl_call *next, **at; /* in vm->executions, vm->held or vm->released; what points to it */
    bool cancelled; /* apart: read together with `settled`, it would wait for both to be written */
};

/* ---- Gather ---------------------------------------------------------------------------------- */

typedef enum mwl__slot_state {
    MWL_SLOT_WAITING,
    MWL_SLOT_ACTIVE,
    MWL_SLOT_SETTLED,
    MWL_SLOT_CANCELLED,
    MWL_SLOT_SKIPPED
} mwl__slot_state;

/* One dispatch. */
struct mwl__slot {
    mwl__result res; /* once it is resolved */
    union {
        mwl__frame *frame;   /* ACTIVE, a Flow target */
        mwl_call *execution; /* ACTIVE, a provider target; NULL: its fields are being evaluated */
    } as;
    mwl__call_state *record; /* kept for the arm; NULL: no arm will read it */
    uint8_t state;           /* mwl__slot_state */
    bool is_frame;
    bool no_arm;     /* its fields faulted, or it was refused before dispatch: no arm runs */
    bool superseded; /* interrupted, and the failure of its cleanup replaced the cancellation */
};

struct mwl__gather {
    uint32_t ix, n, next, active, n_ok, n_bad, arm_at;
    double need;
    bool determined, cancelling, faulted, arming;
    bool interrupted;  /* with its frame, until the unwind has read its dispatches' Results */
    bool records;      /* a slot has a record: its arm runs */
    bool enumerated;   /* n is final: step.metadata.dispatchCount exists */
    mwl_value over;    /* the array, of the iterate form */
    mwl_value raised;  /* the failure of its own fields, when faulted */
    mwl_value results; /* step.results, when final and built; else absent */
    mwl__slot slots[]; /* those before `next` are filled */
};

/* ---- frame: one Flow being executed ---------------------------------------------------------- */

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

/* What most frames never need, made on first use: a failure being handled, an interruption, a
 * fan-out, registers saved by a yield inside a block. So a parked frame stays small. */
typedef struct mwl__extra {
    mwl_value failure;     /* the failure context, or null */
    mwl__gather *gather;   /* of a Gather Step, until the next Step begins */
    mwl_value *saved_regs; /* as many as the program has, or NULL */
    mwl_value cancel;      /* imposed on the whole frame: by its parent, its Gather or from outside;
                              or absent */
    int64_t cancel_ns;     /* when that came */
    mwl__entry *owner;     /* whose seam ends the unwind now under way; NULL: the frame's */
    bool running;          /* an unwind is under way */
    bool awaiting;         /* the unwind waits until its target executions have resolved */
    bool resume;           /* the frame's next turn begins with mwl__unwind_next */
} mwl__extra;

struct mwl__frame {
    struct mwl_run *run;
    mwl__frame *parent;
    mwl__slot *slot; /* the parent's Gather slot that it fills, or NULL */
    union {
        mwl__frame *frame;         /* awaits FRAME: the Flow that its call runs */
        mwl_call *execution;       /* awaits EXECUTION */
        mwl__frame *queued_behind; /* awaits NOTHING and queued, but not the first, nor fresh */
    } target;
    mwl__entry *entries;     /* innermost */
    mwl__call_state *record; /* the call now being made */
    mwl__extra *extra;       /* or NULL */
    uint32_t flow, pc, step;
    uint32_t depth;                   /* number of frames around it */
    uint32_t entries_around;          /* number of entries in those */
    uint8_t state, construct, awaits; /* mwl__frame_state, mwl__construct, mwl__awaits */
    bool queued : 1, step_done : 1;
    bool timed : 1;   /* mwl__times follow the frame: something in its Flow can read them */
    bool bounded : 1; /* a bound of a caller is around it */
    bool fresh : 1;   /* queued as a new run, not by its links: ready.h */
    mwl_value vars, input, step_input;
    mwl_value in_flight; /* the value that the next construct receives, or absent */
    mwl__result res;     /* the Result that rises; of a Match Step: its shaped input */
    uint64_t step_id;
    union { /* a queued frame has no timer; the link overlays its order only */
        mwl__timer timer;
        mwl__frame *next_ready;
    };
};

/* Instants of a frame and of the Step it is in; wall. */
typedef struct mwl__times {
    int64_t entered_ns, step_entered_ns, step_exited_ns; /* 0: not kept */
} mwl__times;

/* ---- run and VM ------------------------------------------------------------------------------ */

/* The execution of a blocking provider that waits until a run is over. */
typedef struct mwl__awaiting {
    mwl_call *call;
    const mwl_run *run;
    struct mwl__awaiting *next, **at; /* in mwl__aside.awaited_by or vm->woken; at NULL: in none */
    mwl_status st;                    /* MWL_E_NOT_FOUND: the run was freed */
} mwl__awaiting;

/* What few runs have: when a cancelled one must be over; its place in a VM with mwl_config.hold. */
typedef struct mwl__aside {
    mwl__timer timer; /* the deadline of its cleanup */
    mwl_run *run;
    mwl_run *next, *prev; /* vm->changed */
    uint64_t version;     /* of the run's state: durable.c */
    bool deadline;        /* it is set */
    bool durable, listed; /* the VM holds calls; the run is in vm->changed */
    mwl__awaiting *awaited_by;
    struct mwl__purses *purses; /* memory outside the heap, or NULL */
} mwl__aside;

/* What only a run has that was started with limits or an end of its own. */
typedef struct mwl__run_own {
    mwl_limits limits;
    void (*done)(void *ctx, mwl_run *run); /* of mwl_start, or NULL */
    void *done_ctx;
} mwl__run_own;

/* The lists of runs (run_list.h). LINE has first those that are over, for mwl_vm_next_done, then
 * the new ones, from vm->first_new on. */
enum { MWL_RUNS_OTHER, MWL_RUNS_LINE, MWL_RUNS_TELL, MWL_RUNS_LISTS };
/* A place in a list, or the list itself: a ring, in which adding and removing are the same
 * everywhere. */
typedef struct mwl__run_links {
    struct mwl__run_links *next, *prev;
} mwl__run_links;

/* A run and its root frame are one block: mwl__run_frame. The frame's part is in use while `root`
 * is set. */
struct mwl_run {
    _Alignas(16) struct mwl__link *link; /* the program and the VM */
    mwl_value id;     /* a string, or the number that it is made from on first use */
    mwl_value result; /* when done; before that, the reason of a cancellation asked for */
    mwl__frame *root;
    uint64_t rng, next_step_id, budget;
    uint64_t next_call; /* number of the last provider execution */
    size_t memory_used;
    const mwl_limits *limits; /* the VM's, or those of a mwl__run_own */
    mwl__run_links links;     /* in its list of vm->runs */
    void *user;
    mwl__aside *aside; /* or NULL */
    uint32_t live;     /* frames and awaited provider executions */
    uint32_t owed;     /* established entries whose onAlways has not ended */
    uint8_t state;     /* mwl_run_state */
    int8_t why;        /* mwl_status */
    bool succeeded;    /* done, with a success */
    bool bare;         /* `result` is the success's value, the Result object is not made yet */
    bool limit_hit;
    bool marked : 1;       /* aborted, with an aside, or with something asked: see mwl__run_leave */
    bool cancel_asked : 1; /* while busy: done when it is no longer busy; with `why`: by a limit */
    bool free_asked : 1;   /* likewise */
    bool frozen : 1;       /* its timers are not armed; see vm/explore */
    uint8_t noted : 4; /* bit n: vm->failure_sites[n], or each fourth behind it, may be its own */
    uint16_t busy;     /* nesting depth of code that may call the host; see mwl__run_enter */
};

/* A provider of the VM's catalog. Schemas are compiled (schema.h); a NULL schema accepts only `{}`.
 */
typedef struct mwl__provider {
    char *uri;
    size_t uri_len;
    bool is_middleware;
    bool held;       /* a call provider whose calls wait for mwl_run_release() */
    bool indirect;   /* a call provider whose `start` is not simply called: blocking, or held */
    bool trusted;    /* its document, and what it contributes, are not checked again */
    bool stands_in;  /* for a provider of the documentation: its namespace may be `example` */
    bool withdrawn;  /* what is left of it in the catalog: every call and phase fails */
    bool borrows;    /* its schemas and codes belong to the record that took its place */
    mwl_now_fn *now; /* of a call provider that is not indirect, or NULL */
    mwl_call_provider call;
    mwl_middleware middleware;
    void (*act[4])(mwl_phase *phase, void *user); /* its actions by phase, or NULL */
    void *user;
    mwl__schema *parameters[4]; /* [0] of a call; by phase of a middleware */
    mwl__schema *metadata; /* a middleware's has no `required`: contributions come one by one */
    struct mwl__declared *declared; /* what its failure catalog declares; NULL before compile */
    bool any_code;                  /* its codes are not checked */
    uint16_t verdicts[5]; /* what its actions may decide, by phase and in `elapsed` (phase.h) */
    bool carries;         /* its onSuccess re-enters and carries, without a callback */
    /* Fills parameters and metadata; NULL when that is done. Linking a program that imports the
     * provider calls it. */
    mwl_status (*compile)(struct mwl_vm *vm, struct mwl__provider *p, mwl_error *error);
    char *document;             /* its text, for mwl_assemble_for; or NULL */
    const mwl__str *count_name; /* of middleware.run_count: an atom, or NULL */
    char *run_count, *deadline; /* what middleware.run_count, .deadline point to, or NULL */
    struct mwl__provider *next;
} mwl__provider;

/* What is known of the arguments of a call or a phase. DIRECT: valid, and nothing reads the call's
 * record: no fields are evaluated, no arms run, no instant is kept; the call of a Call Step, or of
 * a Gather. */
enum { MWL_WITH_UNKNOWN, MWL_WITH_VALID, MWL_CALL_DIRECT, MWL_DISPATCH_DIRECT };

/* Where a Step is in the definition; line 0: not looked up yet, or not known. */
typedef struct mwl__step_place {
    uint32_t line, column;
} mwl__step_place;

/* What the machine needs of a Flow, an entry or a call, found when the program is linked. */
typedef struct mwl__flow_link {
    mwl_value vars;      /* the defaults of its variables; a constant */
    mwl__schema *schema; /* NULL: it takes no arguments */
    uint32_t flow, pc;   /* its index, its first instruction */
    uint32_t ascend_pc;
    bool timed; /* its frames keep instants */
    bool plain; /* they do not, and it takes no arguments */
    bool bare;  /* no middleware is around it: it ascends to its COMPLETE */
} mwl__flow_link;
typedef struct mwl__entry_link {
    const mwl__entry_rec *rec;
    const mwl__provider *provider;
    mwl_value prepared;    /* what the middleware made of onEntry's constant arguments, or absent */
    mwl_value why, cancel; /* the last explanation of its bound, and the cancellation with it */
    mwl_value with[4];     /* by phase: its constant arguments, or absent */
    bool with_ok[4];       /* by phase: they are there and valid */
    uint64_t repeats;      /* below this count of runs its code says that onSuccess re-enters and
                              carries; 0: not known */
} mwl__entry_link;
typedef struct mwl__call_link {
    const mwl__call_rec *rec;
    const mwl__provider *provider; /* NULL: the target is a Flow */
    mwl_value args;                /* constant ones, or absent */
    mwl_now_fn *now;               /* of the provider, if the call is CALL_DIRECT; or NULL */
    uint8_t with_ok;               /* MWL_WITH_* */
    bool rises;                    /* MWL_CALL_RISES, kept where a direct call reads */
} mwl__call_link;

/* A program linked to a VM. */
typedef struct mwl__link {
    struct mwl_vm *vm;
    mwl_program *program;               /* kept */
    mwl__linked *linked;                /* its code, as it is executed */
    const mwl__provider **providers;    /* by IMPORTS index */
    const mwl_function_def **functions; /* by FUNCS index */
    mwl__flow_link *flows;              /* by FLOWS index */
    mwl__entry_link *entries;           /* by ENTRIES index */
    mwl__call_link *calls;              /* by CALLS index */
    struct mwl__step_place *places;     /* by STEPS index, for events; made with the first one */
    struct mwl__resume *resume;         /* vm/snapshot; made when a run is first saved or loaded */
    mwl__arena resume_memory;
    const mwl__flow_link *root; /* of a run's first frame; NULL: the program is an expression */
    size_t run_size;            /* of a run and its root frame, in bytes */
    uint32_t run_units;         /* the same as units of 16 bytes, which are of a small block */
    size_t n_runs;              /* not freed yet */
    const char *missing;        /* a provider that was withdrawn, or NULL; lent by the program */
    bool forget;                /* freed with its last run */
    struct mwl__link *next;
} mwl__link;

/* Where the last failures began, for error messages. Pointers are compared only, never followed. */
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
    mwl__provider *providers;
    mwl__provider *retired; /* replaced or withdrawn: calls and entries may still use them */
    char *diagnostics;      /* of the last mwl_assemble_for, or NULL */
    mwl__link *links;
    mwl__run_links runs[MWL_RUNS_LISTS];
    mwl__awaiting *woken;                /* the next tell continues them */
    bool to_tell;                        /* MWL_RUNS_TELL or `woken` may have something */
    mwl_call *executions;                /* that outlived their start */
    mwl_call *held;                      /* that have not started */
    mwl_run *changed, *changed_last;     /* linked by mwl__aside */
    mwl_call *released, **released_end;  /* held before; the next pump starts them */
    mwl_call *spare_execution;           /* kept for the next one, or NULL */
    mwl__frame *ready_head, *ready_tail; /* the queue; without a head there is no tail */
    mwl__frame *round_end;               /* the last one of this round; NULL: no more of it */
    mwl__run_links *first_new;           /* of MWL_RUNS_LINE, or the list itself */
    mwl__run_links *round_new;           /* the last new one of this round; NULL: no more of it */
    int64_t round_ns;                    /* when the round began */
    mwl_instant now; /* the reading of this turn; under virtual time, the time */
    uint64_t rng, next_run;
    uint64_t id_seed, id_process; /* see mwl__vm_id_seed */
    void (*listen)(void *ctx, const mwl_trace_event *event);
    void *listen_ctx;
    void (*hear_hidden)(void *ctx, const mwl_trace_event *event);
    void *hidden_ctx;
    struct mwl__deferred *deferred; /* dead values of runs, freed in steps */
    mwl_value empty;                /* {} */
    mwl__failure_site failure_sites[MWL_FAILURE_SITES];
    uint32_t n_failure_sites; /* ever */
    mwl_value raised;         /* made by a site handler, taken by its *_FAULT instruction */
    size_t mark;    /* heap.used when the open account was opened, minus what others were charged */
    mwl_run *payer; /* whose account is open outside its turn, or NULL: that of `executing` */
    size_t unpaid;  /* bytes that runs gave back and had not paid: what hosts have lent them */
    uint32_t unasked; /* fuel charged outside turns since the clock was read */
    struct {          /* mwl_call_enter; call NULL: none is entered */
        mwl_call *call;
        mwl_run *run, *was;
        size_t paid;
        size_t all; /* ever paid so, for invariant.c: a host may have dropped some of it since */
        bool (*late)(void *ctx); /* those of the heap before */
        void *late_ctx;
    } entered;
    mwl_run *executing;            /* whose frame is in the interpreter, or NULL */
    struct mwl__mail *mail;        /* made with the first token */
    struct mwl__coro_pool *stacks; /* made with the first blocking call */
    _Atomic uintptr_t thread;      /* that used it last; see mwl__vm_here */
    bool pumping;                  /* inside mwl_vm_pump */
    bool calling;                  /* inside a callback that belongs to no run, or mwl_vm_free */
    bool stale;                    /* time has gone on since `now` was read */
    uint32_t n_reads;              /* of the clock */
    int64_t fuel_left;             /* of this pump's budget */
    uint32_t alive;                /* MWL_VM_ALIVE until it is freed; for mwl__usage */
};

/* ---- threads --------------------------------------------------------------------------------- */

/* This thread uses the VM now. */
static inline void mwl__vm_here(mwl_vm *vm) {
    atomic_store_explicit(&vm->thread, (uintptr_t)mwl__error_text(), memory_order_relaxed);
}
/* Is this the thread that used it last? Any thread. */
static inline bool mwl__vm_is_here(const mwl_vm *vm) {
    return atomic_load_explicit(&vm->thread, memory_order_relaxed) == (uintptr_t)mwl__error_text();
}

/* ---- readers --------------------------------------------------------------------------------- */

static inline const mwl_program *mwl__program_of(const mwl__frame *f) {
    return f->run->link->program;
}
static inline const mwl__flow_tables *mwl__tables(const mwl__frame *f) {
    return &f->run->link->program->tables;
}
static inline mwl_vm *mwl__vm_of(const mwl__frame *f) { return f->run->link->vm; }
static inline mwl_heap *mwl__heap_of(const mwl__frame *f) { return &mwl__vm_of(f)->heap; }
/* The number of entries around what the frame does now, in the frame and its callers. */
static inline uint32_t mwl__entries_around(const mwl__frame *f) {
    return f->entries ? f->entries->rank + 1 : f->entries_around;
}
static inline bool mwl__entry_established(const mwl__entry *e) {
    return (e->state & ~MWL_ENTRY_STRUCTURAL) != MWL_ENTRY_ENTERING;
}
static inline bool mwl__entry_cleaning(const mwl__entry *e) { /* onAlways is running */
    return (e->state & ~MWL_ENTRY_STRUCTURAL) == MWL_ENTRY_CLEANING;
}
static inline mwl__times *mwl__times_of(const mwl__frame *f) {
    return f->timed ? (mwl__times *)(uintptr_t)(f + 1) : NULL;
}
static inline size_t mwl__frame_size(bool timed) {
    return sizeof(mwl__frame) + (timed ? sizeof(mwl__times) : 0);
}
static inline mwl__frame *mwl__run_frame(mwl_run *run) { return (mwl__frame *)(void *)(run + 1); }
static inline mwl__gather *mwl__gather_of(const mwl__frame *f) {
    return f->extra ? f->extra->gather : NULL;
}
static inline mwl_value mwl__failure_of(const mwl__frame *f) {
    return f->extra ? f->extra->failure : mwl_null();
}

#endif
