/* entry_state.h: where a middleware entry is in its life. The verifier gives every instruction one
 * state of the innermost entry; the machine keeps it in the entry's record.
 *
 *   state     instruction     next state
 *   -         ENTER           ENTERING
 *   ENTERING  ESTABLISH       INNER
 *   ENTERING  ENTRY_FAULT     - (never established: no onAlways)
 *   INNER     ASCEND          SUCCESS or FAILURE, by the Result that rises
 *   SUCCESS   REENTER         INNER if the action re-enters, else unchanged
 *   FAILURE   REENTER         the same
 *   INNER     ALWAYS          CLEANING: onEntry emitted a Result, or an interruption
 *   SUCCESS   ALWAYS          CLEANING: behind REENTER or PHASE_FAULT, or an interruption
 *   FAILURE   ALWAYS          the same
 *   CLEANING  UNWIND          -
 *   a phase   ACTION          with STRUCTURAL, if the action dispatches its own call
 *   the same  ACTION_DONE     without STRUCTURAL
 *
 * An interruption ends STRUCTURAL like the phase it belongs to. */
#ifndef MWL_ENTRY_STATE_H
#define MWL_ENTRY_STATE_H

typedef enum mwl__entry_state {
    MWL_ENTRY_NONE,          /* no entry around this */
    MWL_ENTRY_ENTERING,      /* onEntry. The state of a phase is ENTERING + its mwl__phase_id. */
    MWL_ENTRY_SUCCESS,       /* onSuccess */
    MWL_ENTRY_FAILURE,       /* onFailure */
    MWL_ENTRY_CLEANING,      /* onAlways */
    MWL_ENTRY_INNER,         /* established; no phase of it is running */
    MWL_ENTRY_EITHER,        /* verifier only: SUCCESS or FAILURE, where both ways meet */
    MWL_ENTRY_STRUCTURAL = 8 /* added to a phase's state while its action's own call runs */
} mwl__entry_state;

#endif
