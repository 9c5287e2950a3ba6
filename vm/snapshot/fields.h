/* fields.h: the members of every record of a saved run, in their order in the bytes.
 *
 * Owns: which members there are, their kinds, and what a single member must satisfy. The writer
 * (save.c), the reader (records.c) and the tests go through these tables, so they cannot disagree.
 * What must hold between members is in fit.c. FORMAT.md describes the bytes.
 *
 * X(record type, member, kind, limit). Kinds:
 *   NUMBER8 NUMBER32 NUMBER64   a number below `limit` (0: any)
 *   INDEX32                     the same, or null: MWL_NONE
 *   SIGNED                      a stamp or a duration, as it is
 *   INSTANT                     of the monotonic clock: moved when the run is loaded
 *   DOUBLE                      a number of the language
 *   DATA OBJECT                 a value of the data model; an object; or absent
 *   FAILURE                     the envelope of a failure, or absent (limit 1: or null)
 *   ANY                         what a provider keeps
 *   RESULT                      absent, or [1 ok + 2 cleanup + 4 severed, value]; a failure with a
 *                               bound around it: and its `rose`, which is moved as instants are
 * and one kind for each part that has its own form: save.c and load.c have a function for each. */
#ifndef MWL_FIELDS_H
#define MWL_FIELDS_H

#include "vm/machine/rest.h"

#define MWL_SAVED_KINDS(X)                                                                         \
    X(NUMBER8)                                                                                     \
    X(NUMBER32)                                                                                    \
    X(NUMBER64)                                                                                    \
    X(INDEX32)                                                                                     \
    X(SIGNED)                                                                                      \
    X(INSTANT)                                                                                     \
    X(DOUBLE)                                                                                      \
    X(DATA)                                                                                        \
    X(OBJECT)                                                                                      \
    X(FAILURE)                                                                                     \
    X(ANY)                                                                                         \
    X(RESULT)                                                                                      \
    X(FLAGS)   /* a number: one bit for each flag of the record, in the order of its table */      \
    X(POINT)   /* mwl__point */                                                                    \
    X(AT)      /* the point's index, or null */                                                    \
    X(TIMER)   /* null; order: a bound; [order, due]. The order among the VM's timers */           \
    X(QUEUED)  /* null, or the order among the run's queued frames */                              \
    X(ENTRIES) /* the entries, innermost first */                                                  \
    X(OWNER)   /* an entry by its distance from the outermost one, or null: the frame */           \
    X(RECORD)  /* null, or the record of the call that is open */                                  \
    X(EXTRA)   /* null, or the record */                                                           \
    X(GATHER)  /* null, or the record */                                                           \
    X(SLOTS)   /* the dispatches that have begun or were skipped */                                \
    X(TARGET)  /* what is awaited: null, true (a frame, which follows in the list), or a call */   \
    X(TIMES)   /* null, or three stamps */                                                         \
    X(DUE)     /* the next instant with work, or null */                                           \
    X(COUNT)   /* the number of calls in flight */                                                 \
    X(HELD)    /* the number of those that are held */                                             \
    X(ID)      /* text */                                                                          \
    X(FUEL)    /* fuel that was used */                                                            \
    X(LIMITS)  /* null: those of the VM; or seven numbers */                                       \
    X(UNUSED)  /* null; in older bytes null or a number */                                         \
    X(FRAMES)  /* all frames, a frame before those below it */                                     \
    X(SITES)   /* where failures began: [failure, Flow, Step, depth] of each */

typedef enum mwl__field_kind {
#define X(name) MWL_FIELD_##name,
    MWL_SAVED_KINDS(X)
#undef X
} mwl__field_kind;

#define MWL_SAVED_RUN(X)                                                                           \
    X(mwl_run, link, DUE, 0)                                                                       \
    X(mwl_run, live, COUNT, 0)                                                                     \
    X(mwl_run, owed, HELD, 0)                                                                      \
    X(mwl_run, id, ID, 0)                                                                          \
    X(mwl_run, limits, LIMITS, 0)                                                                  \
    X(mwl_run, why, NUMBER8, 64) /* the status, without its sign */                                \
    X(mwl_run, limit_hit, FLAGS, 0)                                                                \
    X(mwl_run, budget, FUEL, 0)                                                                    \
    X(mwl_run, rng, NUMBER64, 0)                                                                   \
    X(mwl_run, next_step_id, NUMBER64, 0)                                                          \
    X(mwl_run, next_call, NUMBER64, 0)                                                             \
    X(mwl_run, result, DATA, 0)                                                                    \
    X(mwl_run, aside, TIMER, 0)                                                                    \
    X(mwl_run, user, UNUSED, 0)                                                                    \
    X(mwl_run, root, FRAMES, 0)                                                                    \
    X(mwl_run, state, SITES, 0)
#define MWL_SAVED_RUN_FLAGS(X) X(mwl_run, limit_hit) X(mwl_run, succeeded) X(mwl_run, bare)

#define MWL_SAVED_FRAME(X)                                                                         \
    X(mwl__frame, flow, NUMBER32, 0)                                                               \
    X(mwl__frame, step, INDEX32, 0)                                                                \
    X(mwl__frame, pc, POINT, 0)                                                                    \
    X(mwl__frame, pc, AT, 0)                                                                       \
    X(mwl__frame, state, NUMBER8, MWL_FRAME_DONE)                                                  \
    X(mwl__frame, construct, NUMBER8, MWL_IN_CALL + 1)                                             \
    X(mwl__frame, awaits, FLAGS, 0) /* 1: the Step is done */                                      \
    X(mwl__frame, vars, OBJECT, 0)                                                                 \
    X(mwl__frame, input, DATA, 0)                                                                  \
    X(mwl__frame, step_input, DATA, 0)                                                             \
    X(mwl__frame, in_flight, DATA, 0)                                                              \
    X(mwl__frame, res, RESULT, 0)                                                                  \
    X(mwl__frame, step_id, NUMBER64, 0)                                                            \
    X(mwl__frame, entries, ENTRIES, 0)                                                             \
    X(mwl__frame, record, RECORD, 0)                                                               \
    X(mwl__frame, extra, EXTRA, 0)                                                                 \
    X(mwl__frame, target, TARGET, 0)                                                               \
    X(mwl__frame, depth, TIMES, 0)                                                                 \
    X(mwl__frame, timer, TIMER, 0)                                                                 \
    X(mwl__frame, target, QUEUED, 0)

#define MWL_SAVED_ENTRY(X)                                                                         \
    X(mwl__entry, ix, NUMBER32, 0)                                                                 \
    X(mwl__entry, state, NUMBER8, 16)                                                              \
    X(mwl__entry, verdict, NUMBER8, MWL_VERDICT_REENTER + 1)                                       \
    X(mwl__entry, reenter, NUMBER8, 4)                                                             \
    X(mwl__entry, accepted, FLAGS, 0)                                                              \
    X(mwl__entry, outer_owner, OWNER, 0)                                                           \
    X(mwl__entry, input, DATA, 0)                                                                  \
    X(mwl__entry, output, DATA, 0)                                                                 \
    X(mwl__entry, args, DATA, 0)                                                                   \
    X(mwl__entry, own_state, ANY, 0)                                                               \
    X(mwl__entry, contributed, ANY, 0)                                                             \
    X(mwl__entry, vars, OBJECT, 0)                                                                 \
    X(mwl__entry, res, RESULT, 0)                                                                  \
    X(mwl__entry, emit, RESULT, 0)                                                                 \
    X(mwl__entry, cancel, FAILURE, 0)                                                              \
    X(mwl__entry, bound_ns, INSTANT, 0)                                                            \
    X(mwl__entry, entered_ns, SIGNED, 0)                                                           \
    X(mwl__entry, delay_ns, SIGNED, 0)                                                             \
    X(mwl__entry, runs, NUMBER64, 0)
#define MWL_SAVED_ENTRY_FLAGS(X)                                                                   \
    X(mwl__entry, accepted)                                                                        \
    X(mwl__entry, armed)                                                                           \
    X(mwl__entry, fired)                                                                           \
    X(mwl__entry, gated) X(mwl__entry, outer_running) X(mwl__entry, waits) X(mwl__entry, tied)

#define MWL_SAVED_RECORD(X)                                                                        \
    X(mwl__call_state, ix, NUMBER32, 0)                                                            \
    X(mwl__call_state, index, SIGNED, 0)                                                           \
    X(mwl__call_state, input, DATA, 0)                                                             \
    X(mwl__call_state, target_input, DATA, 0)                                                      \
    X(mwl__call_state, args, DATA, 0)                                                              \
    X(mwl__call_state, res, RESULT, 0)                                                             \
    X(mwl__call_state, metadata, OBJECT, 0)                                                        \
    X(mwl__call_state, flow_vars, OBJECT, 0)                                                       \
    X(mwl__call_state, entered_ns, SIGNED, 0)                                                      \
    X(mwl__call_state, exited_ns, SIGNED, 0)                                                       \
    X(mwl__call_state, dispatched_ns, SIGNED, 0)                                                   \
    X(mwl__call_state, accepted_ns, SIGNED, 0)                                                     \
    X(mwl__call_state, flow_entered_ns, SIGNED, 0)                                                 \
    X(mwl__call_state, flow_exited_ns, SIGNED, 0)

/* A call begins with two numbers that are not members: its provider (an index of IMPORTS) and
 * 1 cancelled + 2 held. */
#define MWL_SAVED_CALL(X)                                                                          \
    X(mwl_call, number, NUMBER64, 0)                                                               \
    X(mwl_call, attempt, NUMBER32, 0x10000)                                                        \
    X(mwl_call, input, DATA, 0)                                                                    \
    X(mwl_call, args, DATA, 0)                                                                     \
    X(mwl_call, state, ANY, 0)                                                                     \
    X(mwl_call, metadata, ANY, 0)                                                                  \
    X(mwl_call, res, RESULT, 0)                                                                    \
    X(mwl_call, timer, TIMER, 0)

#define MWL_SAVED_EXTRA(X)                                                                         \
    X(mwl__extra, failure, FAILURE, 1) /* 1: or null */                                            \
    X(mwl__extra, cancel, FAILURE, 0)                                                              \
    X(mwl__extra, cancel_ns, INSTANT, 0)                                                           \
    X(mwl__extra, owner, OWNER, 0)                                                                 \
    X(mwl__extra, running, FLAGS, 0)                                                               \
    X(mwl__extra, gather, GATHER, 0)
#define MWL_SAVED_EXTRA_FLAGS(X)                                                                   \
    X(mwl__extra, running) X(mwl__extra, awaiting) X(mwl__extra, resume)

#define MWL_SAVED_GATHER(X)                                                                        \
    X(mwl__gather, n_ok, NUMBER32, 0)                                                              \
    X(mwl__gather, n_bad, NUMBER32, 0)                                                             \
    X(mwl__gather, arm_at, NUMBER32, 0)                                                            \
    X(mwl__gather, need, DOUBLE, 0)                                                                \
    X(mwl__gather, determined, FLAGS, 0)                                                           \
    X(mwl__gather, raised, FAILURE, 0)                                                             \
    X(mwl__gather, results, DATA, 0)                                                               \
    X(mwl__gather, next, SLOTS, 0)
#define MWL_SAVED_GATHER_FLAGS(X)                                                                  \
    X(mwl__gather, determined)                                                                     \
    X(mwl__gather, cancelling)                                                                     \
    X(mwl__gather, faulted)                                                                        \
    X(mwl__gather, arming)                                                                         \
    X(mwl__gather, interrupted) X(mwl__gather, records) X(mwl__gather, enumerated)

#define MWL_SAVED_SLOT(X)                                                                          \
    X(mwl__slot, state, NUMBER8, MWL_SLOT_SKIPPED + 1)                                             \
    X(mwl__slot, no_arm, FLAGS, 0)                                                                 \
    X(mwl__slot, res, RESULT, 0)                                                                   \
    X(mwl__slot, record, RECORD, 0)                                                                \
    X(mwl__slot, as, TARGET, 0)
#define MWL_SAVED_SLOT_FLAGS(X) X(mwl__slot, no_arm) X(mwl__slot, superseded)

/* X(name of the record, enumerator, whether it has flags) */
#define MWL_SAVED_RECORDS(X) X(RUN) X(FRAME) X(ENTRY) X(RECORD) X(CALL) X(EXTRA) X(GATHER) X(SLOT)

typedef struct mwl__field {
    const char *name;
    uint16_t offset;
    uint8_t kind; /* mwl__field_kind */
    uint32_t limit;
} mwl__field;
typedef struct mwl__flag {
    const char *name;
    uint16_t offset;
} mwl__flag;
typedef struct mwl__record {
    const char *name;
    const mwl__field *fields;
    const mwl__flag *flags;
    uint8_t n_fields, n_flags;
} mwl__record;

enum mwl__record_id {
#define X(name) MWL_RECORD_##name,
    MWL_SAVED_RECORDS(X)
#undef X
        MWL_RECORD_COUNT
};
extern const mwl__record mwl__records[MWL_RECORD_COUNT]; /* fields.c */

#endif
