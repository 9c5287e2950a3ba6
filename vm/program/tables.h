/* tables.h: the Flow half of a program image: Flows, Steps, entries, calls, Gathers, clauses.
 *
 * Owns: the records that the machine's instructions name, as they are in the image (FORMAT.md). The
 * assembler's lowering writes them, verify_flow.c and verify_nest.c check them, the machine reads
 * them. Every field is a u32, or MWL_NONE if there is nothing. A pc is an index into CODE, *_k one
 * into CONSTS, the first of a run one into KEYS.
 *
 * The code of a Flow, as the lowering writes it (brackets are optional parts):
 *
 *   flow.pc:      descent of each entry, outermost first (below); the entrypoint's Step, which it
 *                 falls into
 *   flow.ascend_pc: ascent of each entry, innermost first; COMPLETE flow
 *
 *   Pass:    STEP; [STEP_EXIT]; output -> OUT | PASS_INPUT; [assign -> ASSIGN]; TO next
 *   Match:   STEP; input -> OUT | PASS_INPUT; MATCH_INPUT;
 *            per clause: when -> JUMP_UNLESS next clause; [STEP_EXIT]; output -> OUT | PASS_MATCH;
 *            [ASSIGN]; TO
 *   Sleep:   STEP; value -> SLEEP_FOR | SLEEP_UNTIL; PASS_INPUT; TO next
 *   Return:  STEP; value -> OUT | PASS_INPUT; RETURN
 *   Raise:   STEP; fields -> RAISE | RERAISE
 *   Call:    STEP; input -> OUT | PASS_INPUT; descents; call; ascents; STEP_RESULT;
 *            [output -> OUT]; [ASSIGN]; TO next
 *   Gather:  STEP; GATHER; [over -> GATHER_OVER]; [successes -> GATHER_NEED]; run_pc: GATHER_RUN;
 *            the calls; arms_pc: GATHER_ARMS; end_pc: GATHER_END; [output -> OUT]; [ASSIGN];
 *            TO next
 *   Clause of a catch (catch.pc): output -> OUT | PASS_INPUT; [ASSIGN]; TO_HANDLER next
 *
 * A fault in the fields of a Step or in the clauses of a Match goes to STEP_FAULT, in those of a
 * catch clause to CLAUSE_FAULT, in over and successes of a Gather to GATHER_FAULT. These are behind
 * the code of the construct, one for each construct and kind. A range in which nothing can fault
 * has no handler.
 *
 *   descent: ENTER; [when -> GATE L]; [with -> WITH]; ACTION 0 (when the middleware acts there, or
 *            there is a `with`); L: [output -> OUT]; [ASSIGN]; ESTABLISH; inner_pc:
 *            faults -> ENTRY_FAULT
 *   ascent:  ASCEND;
 *     success_pc: [when -> GATE L]; [with -> WITH]; [ACTION 1];
 *                 L: [SHAPE_SKIP M; value -> SHAPE; M:]; [ASSIGN]; REENTER
 *                 faults -> PHASE_FAULT
 *     failure_pc: [when -> GATE L]; [with -> WITH]; [ACTION 2];
 *                 L: [SHAPE_SKIP M; fields -> ENVELOPE; M:]; [ASSIGN]; REENTER
 *                 faults -> PHASE_FAULT
 *     always_pc:  ALWAYS; [when -> GATE L]; [with -> WITH]; [ACTION 3]; L: [ASSIGN];
 *     leave_pc:   UNWIND
 *                 faults -> ALWAYS_FAULT
 *   out_pc: what follows the ascent (the next outer ASCEND, STEP_RESULT, COMPLETE, ACTION_DONE)
 *   A structural call (struct_pc of its phase): descents of its stack; call; ascents; ACTION_DONE
 *
 *   call:    fields_pc: CALL; [input -> CALL_INPUT]; [with -> CALL_WITH]; DISPATCH; [ARMS;
 *            success_pc: [value -> ARM_VALUE]; [ASSIGN]; JUMP end_pc; failure_pc: [ASSIGN]];
 *            end_pc: CALL_END
 *            faults of the fields -> CALL_FAULT, of the arms -> ARM_FAULT
 *
 * A phase without fields, in which the middleware has no action, has no code: its pc is that of
 * what follows (success_pc, failure_pc: the one REENTER that both phases share; always_pc: ALWAYS
 * and UNWIND). An arm without fields has none either: its pc is end_pc. A `when` without an action
 * has no code. If a `when` is literally false, `with` and the ACTION behind its GATE are left out;
 * if it is literally true, the GATE is. Match clauses that are literally false are left out, and
 * all behind one that is literally true.
 *
 * Structural members of a `with` are neither in its constant nor in its WITH; if it has no others,
 * there is neither. Steps that no path leads to, and Flows that only such Steps call, are left
 * out. */
#ifndef MWL_TABLES_H
#define MWL_TABLES_H

#include <stdint.h>

#define MWL_NONE 0xffffffffu /* no such index */

/* The words of INFO, by position. */
enum { MWL_INFO_REGS = 0, MWL_INFO_ROOT_FLOW = 1, MWL_INFO_WORDS = 2 };

typedef enum mwl__action {
    MWL_ACTION_CALL,
    MWL_ACTION_GATHER,
    MWL_ACTION_MATCH,
    MWL_ACTION_PASS,
    MWL_ACTION_SLEEP,
    MWL_ACTION_RETURN,
    MWL_ACTION_RAISE,
    MWL_ACTION_COUNT
} mwl__action;

typedef enum mwl__phase_id {
    MWL_ON_ENTRY,
    MWL_ON_SUCCESS,
    MWL_ON_FAILURE,
    MWL_ON_ALWAYS
} mwl__phase_id;

/* IMPORTS: the providers that the VM must have. */
typedef enum mwl__import_kind { MWL_IMPORT_CALL = 1, MWL_IMPORT_MIDDLEWARE = 2 } mwl__import_kind;
typedef struct mwl__import_rec {
    uint32_t uri_k, kind, pos_line, pos_column; /* where it is first named */
} mwl__import_rec;

/* FLOWS. The root is INFO's. */
typedef struct mwl__flow_rec {
    uint32_t name_k; /* or NONE: root and inline Flows */
    uint32_t pc, ascend_pc;
    uint32_t schema; /* offset in SCHEMAS (words) of the parameters, or NONE: takes no arguments */
    uint32_t defaults_k; /* object of declared defaults, or NONE */
    uint32_t flags;      /* MWL_NEEDS_ENTERED, MWL_NEEDS_EXITED */
} mwl__flow_rec;

/* Flags of Flows, Steps, calls and entries. NEEDS: something can read that instant. Of an entry:
 * MWL_NEEDS_PHASE << phase. */
enum {
    MWL_NEEDS_ENTERED = 1,
    MWL_NEEDS_EXITED = 2,
    MWL_NEEDS_DISPATCHED = 4,
    MWL_NEEDS_ACCEPTED = 8,
    MWL_NEEDS_PHASE = 0x100,
    MWL_CALL_KEEPS_WINDOW = 0x1000, /* an arm reads more of flow or provider than its `result` */
    MWL_CALL_HAS_ARMS = 0x2000,
    /* its code is CALL, DISPATCH, CALL_END, and it has no other flag but MWL_CALL_RISES */
    MWL_CALL_BARE = 0x4000,
    /* its Result goes to an entry: ASCEND follows its CALL_END. May be missing: it saves an
     * instruction, and earlier assemblers did not write it. */
    MWL_CALL_RISES = 0x8000
};

/* STEPS */
typedef struct mwl__step_rec {
    uint32_t name_k, flow, action, flags;
    uint32_t pc;
    uint32_t first_catch, n_catch;
} mwl__step_rec;

/* CATCHES and MATCHERS */
typedef struct mwl__catch_rec {
    uint32_t matcher, pc;
} mwl__catch_rec;
typedef struct mwl__matcher_rec {
    uint32_t first_code, n_codes; /* KEYS: patterns; n 0: the member is absent */
    uint32_t first_type, n_types;
    uint32_t retryable; /* 0 false, 1 true, NONE: absent */
} mwl__matcher_rec;

/* ENTRIES */
typedef struct mwl__entry_rec {
    uint32_t import;
    uint32_t flags; /* MWL_NEEDS_PHASE << phase; MWL_ENTRY_* */
    uint32_t inner_pc, success_pc, failure_pc, always_pc, leave_pc, out_pc;
    uint32_t struct_pc[4]; /* a phase's structural call, or NONE */
    uint32_t
        with_k[4]; /* a phase's constant arguments, or NONE: code computes them or there are none */
} mwl__entry_rec;
enum {
    MWL_ENTRY_FLOW_LEVEL = 1,
    MWL_ENTRY_AROUND_CALL = 2, /* the inner scope is the call itself */
    /* neither onSuccess (onFailure) nor onAlways has code of its own: success_pc (failure_pc) is
     * REENTER, and UNWIND follows ALWAYS */
    MWL_ENTRY_PASSES_SUCCESS = 4,
    MWL_ENTRY_PASSES_FAILURE = 8,
    /* its Result goes to the entry around it: ASCEND follows its UNWIND. May be missing, too. */
    MWL_ENTRY_RISES = 16
};

/* CALLS */
typedef struct mwl__call_rec {
    uint32_t import, flow; /* exactly one is not NONE */
    uint32_t flags;
    uint32_t with_k;                                    /* constant arguments, or NONE */
    uint32_t fields_pc, success_pc, failure_pc, end_pc; /* success_pc NONE: no arms */
    uint32_t gather;                                    /* the Gather it belongs to, or NONE */
} mwl__call_rec;

/* GATHERS */
typedef struct mwl__gather_rec {
    uint32_t step;
    uint32_t first_call,
        n_calls;          /* KEYS: call indexes; the iterate form has one call and flag OVER */
    uint32_t concurrency; /* or NONE: unlimited */
    uint32_t flags;
    uint32_t run_pc, arms_pc, end_pc;
} mwl__gather_rec;
enum {
    MWL_GATHER_OVER = 1,
    MWL_GATHER_NO_WAIT = 2,
    MWL_GATHER_RESULTS = 4 /* step.results is read */,
    MWL_GATHER_NEED = 8 /* successes is written */
};

typedef struct mwl__flow_tables {
    const mwl__flow_rec *flows;
    const mwl__step_rec *steps;
    const mwl__entry_rec *entries;
    const mwl__call_rec *calls;
    const mwl__gather_rec *gathers;
    const mwl__catch_rec *catches;
    const mwl__matcher_rec *matchers;
    const mwl__import_rec *imports;
    const uint32_t *schemas;
    uint32_t n_flows, n_steps, n_entries, n_calls, n_gathers, n_catches, n_matchers, n_imports,
        n_schema_words;
    uint32_t root_flow; /* NONE: a free-standing expression */
} mwl__flow_tables;

#endif
