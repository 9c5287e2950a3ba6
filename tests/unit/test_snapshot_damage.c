/* test_snapshot_damage.c: loading finds each damage of a saved run.
 *
 * Every row changes one item of a good snapshot and names the reason with which loading must refuse
 * it: so a check that is left out is noticed. */
#include "utest.h"

#include "tests/unit/saved_runs.h"

static node *frame_at(node *run, size_t i) {
    return &tree_field(run, MWL_RECORD_RUN, "root", -1)->kid[i];
}
static node *of_frame(node *run, const char *name, int kind) {
    return tree_field(frame_at(run, 0), MWL_RECORD_FRAME, name, kind);
}
static node *of_entry(node *run, size_t i, const char *name) {
    return tree_field(&of_frame(run, "entries", -1)->kid[i], MWL_RECORD_ENTRY, name, -1);
}
static node *of_call(node *run, const char *name) {
    return tree_field(of_frame(run, "target", MWL_FIELD_TARGET), MWL_RECORD_CALL, name, -1);
}
static node *of_record(node *run, const char *name) {
    return tree_field(of_frame(run, "record", -1), MWL_RECORD_RECORD, name, -1);
}
static node *of_extra(node *run, const char *name) {
    return tree_field(of_frame(run, "extra", -1), MWL_RECORD_EXTRA, name, -1);
}
static node *gather_of(node *run) { return of_extra(run, "gather"); }
static node *of_gather(node *run, const char *name) {
    return tree_field(gather_of(run), MWL_RECORD_GATHER, name, -1);
}
static node *of_slot(node *run, size_t i, const char *name) {
    return tree_field(&of_gather(run, "next")->kid[i], MWL_RECORD_SLOT, name, -1);
}
static node *of_run(node *run, const char *name) {
    return tree_field(run, MWL_RECORD_RUN, name, -1);
}

#define FAR 0x0fffffff /* so far that whoever reads there without a check does not survive it */

/* X(name, source, change, reason) */
#define DAMAGES(X)                                                                                 \
    X(flow, SLEEP, tree_uint(of_frame(r, "flow", -1), 9), "a number is too large")                 \
    X(step, SLEEP, tree_uint(of_frame(r, "step", -1), 1), "there is no such Sleep")                \
    X(no_step, SLEEP, NULLED(of_frame(r, "step", -1)), "there is no such Sleep")                   \
    X(point, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 9), "a number is too large")     \
    X(index, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0),                                 \
      "a point has no index, or one too many")                                                     \
    X(start, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 0),                              \
      "a frame begins without its input")                                                          \
    X(refused, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 1),                            \
      "a frame was refused without a failure")                                                     \
    X(unwind, SLEEP, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 8),                             \
      "an unwind is not under way")                                                                \
    X(state, SLEEP, tree_uint(of_frame(r, "state", -1), 3), "a frame has another state")           \
    X(frame_state, SLEEP, tree_uint(of_frame(r, "state", -1), 5), "a number is too large")         \
    X(vars, SLEEP, UNDEFINED(of_frame(r, "vars", -1)), "a frame has no variables or no input")     \
    X(vars_kind, SLEEP, tree_uint(of_frame(r, "vars", -1), 1), "this is not an object")            \
    X(input, SLEEP, UNDEFINED(of_frame(r, "input", -1)), "a frame has no variables or no input")   \
    X(step_input, SLEEP, UNDEFINED(of_frame(r, "step_input", -1)), "a frame has no such Step")     \
    X(no_timer, SLEEP, NULLED(of_frame(r, "timer", -1)), "a frame waits for no time")              \
    X(bound_timer, SLEEP, tree_uint(of_frame(r, "timer", -1), 0),                                  \
      "a bound is earlier than the timer")                                                         \
    X(timer_order, SLEEP, tree_uint(&of_frame(r, "timer", -1)->kid[0], MWL_TIMER_ORDERS),          \
      "a number is too large")                                                                     \
    X(queued, SLEEP, tree_uint(of_frame(r, "target", MWL_FIELD_QUEUED), 0),                        \
      "a frame has another state")                                                                 \
    X(times, SLEEP, tree_uint(of_frame(r, "depth", -1), 0), "a frame keeps no instants")           \
    X(target, SLEEP, tree_simple(of_frame(r, "target", MWL_FIELD_TARGET), MWL_CBOR_TRUE),          \
      "a frame waits for nothing")                                                                 \
    X(due, SLEEP, NULLED(of_run(r, "link")), "the head of the run is wrong")                       \
    X(count, SLEEP, tree_uint(of_run(r, "live"), 1), "the head of the run is wrong")               \
    X(id, SLEEP, tree_uint(of_run(r, "id"), 1), "the id of a run is a text")                       \
    X(result, SLEEP, tree_uint(of_run(r, "result"), 1),                                            \
      "a run has no frames and no Result, or both")                                                \
    X(no_frames, SLEEP, (of_run(r, "root")->n_kids = 0),                                           \
      "a run has no frames and no Result, or both")                                                \
    X(too_many, SLEEP, (r->n_kids--), "a record has another number of members")                    \
    X(flags, SLEEP, tree_uint(of_frame(r, "awaits", -1), 2), "a number is too large")              \
    X(not_data, SLEEP,                                                                             \
      (of_frame(r, "input", -1)->major = MWL_CBOR_BYTES, of_frame(r, "input", -1)->n = 1,          \
       of_frame(r, "input", -1)->text = (const unsigned char *)"x"),                               \
      "a value is not of the data model")                                                          \
    X(call, CALL, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), FAR), "there is no such call")        \
    X(direct, CALL, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 4),                              \
      "a call is open that is over")                                                               \
    X(record, CALL, NULLED(of_frame(r, "record", -1)), "the record of a call is of another one")   \
    X(record_ix, CALL, tree_uint(of_record(r, "ix"), FAR), "there is no such call")                \
    X(record_index, CALL, tree_uint(of_record(r, "index"), 0),                                     \
      "the record of a call is of another one")                                                    \
    X(record_input, CALL, UNDEFINED(of_record(r, "input")),                                        \
      "the record of a call is of another one")                                                    \
    X(ready, CALL,                                                                                 \
      (tree_uint(of_frame(r, "state", -1), 0), NULLED(of_frame(r, "target", MWL_FIELD_TARGET)),    \
       NULLED(of_frame(r, "timer", -1)), tree_uint(of_frame(r, "target", MWL_FIELD_QUEUED), 0),    \
       tree_uint(of_run(r, "live"), 0)),                                                           \
      "a call has no Result")                                                                      \
    X(no_target, CALL, NULLED(of_frame(r, "target", MWL_FIELD_TARGET)),                            \
      "a frame waits for nothing")                                                                 \
    X(no_bound, CALL, NULLED(of_frame(r, "timer", -1)), "a bound has no timer")                    \
    X(entries, CALL, (of_frame(r, "entries", -1)->n_kids = 1),                                     \
      "the entries of a frame are not those of its place")                                         \
    X(entry_ix, CALL, tree_uint(of_entry(r, 0, "ix"), FAR), "there is no such middleware entry")   \
    X(entry_order, CALL, tree_uint(of_entry(r, 0, "ix"), 0),                                       \
      "an entry has no variables, or too many")                                                    \
    X(entry_state, CALL, tree_uint(of_entry(r, 0, "state"), 6), "an entry has no such state")      \
    X(entry_none, CALL, tree_uint(of_entry(r, 0, "state"), 0), "an entry has no such state")       \
    X(entry_phase, CALL, tree_uint(of_entry(r, 1, "state"), 4),                                    \
      "the entries of a frame are not those of its place")                                         \
    X(entry_result, CLEANUP, UNDEFINED(of_entry(r, 0, "res")), "an entry has no Result")           \
    X(structural, CALL, tree_uint(of_entry(r, 1, "state"), 9),                                     \
      "an entry has no call in this phase")                                                        \
    X(entering, CALL, tree_uint(of_entry(r, 1, "state"), 1), "an entry has no value")              \
    X(entry_input, CALL, UNDEFINED(of_entry(r, 1, "input")), "an entry has no value")              \
    X(entry_vars, CALL, UNDEFINED(of_entry(r, 0, "vars")),                                         \
      "an entry has no variables, or too many")                                                    \
    X(entry_args, CALL, *of_entry(r, 0, "args") = *of_delay(),                                     \
      "the arguments of an entry are not valid")                                                   \
    X(entry_own, CALL, UNDEFINED(of_entry(r, 0, "own_state")), "an entry has no state")            \
    X(verdict, CALL, tree_uint(of_entry(r, 0, "verdict"), 3), "a number is too large")             \
    X(restores, CALL, tree_uint(of_entry(r, 1, "reenter"), 2),                                     \
      "an entry has no variables to restore")                                                      \
    X(fired, CALL, tree_uint(of_entry(r, 1, "accepted"), 6),                                       \
      "an entry has fired without its cancellation")                                               \
    X(running, CALL, tree_uint(of_entry(r, 1, "accepted"), 18), "an unwind has no cause")          \
    X(owner, CALL, tree_uint(of_entry(r, 1, "outer_owner"), 7),                                    \
      "an owner is not an entry of the frame")                                                     \
    X(owner_inside, CALL, tree_uint(of_entry(r, 1, "outer_owner"), 1),                             \
      "an unwind ends inside what it unwinds")                                                     \
    X(contributed, CALL, tree_uint(of_entry(r, 0, "contributed"), 3),                              \
      "an entry has contributed something else than an object")                                    \
    X(provider, CALL, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[0], FAR),            \
      "there is no such provider")                                                                 \
    X(middleware, CALL, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[0], 1),            \
      "there is no such provider")                                                                 \
    X(cancelled, CALL, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[1], 1),             \
      "a call that does not wait for a time has a timer")                                          \
    X(call_flags, CALL, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[1], 4),            \
      "a number is too large")                                                                     \
    X(number, CALL, tree_uint(of_call(r, "number"), 2),                                            \
      "a call has a number that was not given yet")                                                \
    X(attempt, CALL, tree_uint(of_call(r, "attempt"), 0),                                          \
      "a call has a number that was not given yet")                                                \
    X(call_input, CALL, UNDEFINED(of_call(r, "input")), "a call has no input")                     \
    X(call_args, CALL, tree_uint(of_call(r, "args"), 1), "the arguments of a call are not valid")  \
    X(call_res, CALL, *of_call(r, "res") = *of_result(),                                           \
      "a call has a Result, or was cancelled without a cancellation")                              \
    X(step_done, CALL, tree_uint(of_frame(r, "awaits", -1), 1), "a frame is in another Step")      \
    X(constant, CALL, tree_uint(&of_call(r, "args")->kid[0], 999), "there is no such constant")    \
    X(gather_ix, GATHER, tree_uint(&gather_of(r)->kid[0], FAR), "there is no such Gather")         \
    X(gather_n, GATHER, tree_uint(&gather_of(r)->kid[1], FAR),                                     \
      "a Gather has another number of dispatches")                                                 \
    X(gather_less, GATHER, tree_uint(&gather_of(r)->kid[1], 2),                                    \
      "a Gather has another number of dispatches")                                                 \
    X(gather_ok, GATHER, tree_uint(of_gather(r, "n_ok"), 1), "a Gather counts wrongly")            \
    X(gather_arm, GATHER, tree_uint(of_gather(r, "arm_at"), 3), "a Gather counts wrongly")         \
    X(gather_need, GATHER, UNDEFINED(of_gather(r, "need")), "this is not a number")                \
    X(gather_flags, GATHER, tree_uint(of_gather(r, "determined"), 4 + 64),                         \
      "a Gather has failed without a failure")                                                     \
    X(gather_arming, GATHER, tree_uint(of_gather(r, "determined"), 8 + 32 + 64),                   \
      "there is no such Gather")                                                                   \
    X(gather_gone, GATHER, NULLED(gather_of(r)), "there is no such Gather")                        \
    X(slot_state, GATHER, tree_uint(of_slot(r, 0, "state"), 2),                                    \
      "a dispatch that is over has a target")                                                      \
    X(slot_target, GATHER, NULLED(of_slot(r, 0, "as")), "a dispatch has no target")                \
    X(slot_frame, GATHER, tree_simple(of_slot(r, 0, "as"), MWL_CBOR_TRUE), "a frame is missing")   \
    X(slot_res, GATHER, *of_slot(r, 0, "res") = *of_result(), "a dispatch has no Result")          \
    X(slot_record, GATHER,                                                                         \
      tree_uint(tree_field(of_slot(r, 0, "record"), MWL_RECORD_RECORD, "index", -1), 1),           \
      "the record of a dispatch is of another call")                                               \
    X(slot_provider, GATHER, tree_uint(of_gather(r, "determined"), 1 + 2 + 32 + 64),               \
      "a call was not cancelled as its frame was")                                                 \
    X(gap, GAP, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), FAR), "there is no such gap")           \
    X(gap_value, GAP, UNDEFINED(of_frame(r, "in_flight", -1)), "there is no such gap")             \
    X(child_missing, BELOW, (of_run(r, "root")->n_kids = 1), "a frame is missing")                 \
    X(child_flow, BELOW, tree_uint(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "flow", -1), 0),   \
      "a frame is below one that does not call its Flow")                                          \
    X(root_flow, BELOW, tree_uint(of_frame(r, "flow", -1), 1),                                     \
      "the first frame is not that of the root Flow")                                              \
    X(extra_failure, CLEANUP, UNDEFINED(of_extra(r, "failure")), "there is no failure context")    \
    X(extra_running, CLEANUP, tree_uint(of_extra(r, "running"), 1),                                \
      "a frame goes on in the middle of an unwind")                                                \
    X(extra_cancel, CLEANUP, UNDEFINED(of_extra(r, "cancel")), "an unwind has no cause")           \
    X(envelope, CLEANUP, tree_uint(of_extra(r, "cancel"), 1), "a failure has no envelope")         \
    X(await_nothing, AWAIT, NULLED(of_frame(r, "target", MWL_FIELD_TARGET)),                       \
      "an unwind waits for nothing")                                                               \
    X(await_result, AWAIT, tree_uint(&of_frame(r, "res", -1)->kid[0], 1),                          \
      "an unwind has no cause")                                                                    \
    X(await_running, AWAIT, tree_uint(of_extra(r, "running"), 2), "an unwind is not under way")    \
    X(await_timer, AWAIT, timed(of_frame(r, "timer", -1)), "a frame that can go on has a timer")   \
    X(rose, AWAIT, raised(of_frame(r, "res", -1), 0, 0), "a success does not rise")                \
    X(rose_ok, AWAIT, raised(of_frame(r, "res", -1), 1, 5), "a success does not rise")             \
    X(res_nothing, AWAIT,                                                                          \
      (*of_frame(r, "res", -1) = *of_result(), UNDEFINED(&of_frame(r, "res", -1)->kid[1])),        \
      "a Result has no value")                                                                     \
    X(res_nothing_failed, AWAIT,                                                                   \
      (failed(of_frame(r, "res", -1)), UNDEFINED(&of_frame(r, "res", -1)->kid[1])),                \
      "a Result has no value")                                                                     \
    X(depth, BELOW, limit_depth(r, 1), "there are more frames than the limit allows")              \
    X(timer_of_its_own, CALL, timed(of_frame(r, "timer", -1)), "a bound has no timer")             \
    X(res_odd, AWAIT,                                                                              \
      (*of_frame(r, "res", -1) = *of_result(),                                                     \
       of_frame(r, "res", -1)->kid[1] =                                                            \
           (node){.major = MWL_CBOR_BYTES, .n = 1, .text = (const unsigned char *)"x"}),           \
      "a Result has no value")                                                                     \
    X(number_zero, CALL, tree_uint(of_call(r, "number"), 0),                                       \
      "a call has a number that was not given yet")                                                \
    X(call_state, CALL, UNDEFINED(of_call(r, "state")), "a call has no input")                     \
    X(call_schema, CALL, *of_call(r, "args") = *of_delay(),                                        \
      "the arguments of a call are not valid")                                                     \
    X(cancelled_ok, AWAIT, tree_uint(&of_call(r, "res")->kid[0], 1),                               \
      "a call has a Result, or was cancelled without a cancellation")                              \
    X(cancelled_held, AWAIT, tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[1], 3),       \
      "a call that has not started cannot be cancelled")                                           \
    X(record_other, CALL, tree_uint(of_record(r, "ix"), 1),                                        \
      "the record of a call is of another one")                                                    \
    X(other_provider, CALL,                                                                        \
      (tree_uint(&of_frame(r, "target", MWL_FIELD_TARGET)->kid[0], 3),                             \
       *of_call(r, "args") = (node){.major = MWL_CBOR_MAP}),                                       \
      "a call has another provider")                                                               \
    X(waits_inside, CALL, tree_uint(of_entry(r, 1, "accepted"), 2 + 32),                           \
      "an entry waits outside of onEntry")                                                         \
    X(call_of_gather, GATHER,                                                                      \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 3),                                           \
       tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0)),                                             \
      "there is no such call")                                                                     \
    X(direct_flow, BELOW,                                                                          \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 4), NULLED(of_frame(r, "record", -1))),       \
      "a call without a record has one")                                                           \
    X(slot_waits, GATHER, (tree_uint(of_slot(r, 0, "state"), 0), NULLED(of_slot(r, 0, "as"))),     \
      "a dispatch has no Result")                                                                  \
    X(slot_cancelled_ok, GATHER,                                                                   \
      (over(r, 0, 3), *of_slot(r, 0, "res") = *of_result(), NULLED(of_slot(r, 0, "record"))),      \
      "a cancelled dispatch has succeeded")                                                        \
    X(gather_no_records, GATHER, tree_uint(of_gather(r, "determined"), 64),                        \
      "a dispatch has a record that no arm reads")                                                 \
    X(slot_no_arm, CALLS, (*of_slot(r, 1, "record") = *of_slot(r, 0, "record")),                   \
      "a dispatch has a record that no arm reads")                                                 \
    X(slot_cancelled_record, GATHER, (over(r, 0, 3), failed(of_slot(r, 0, "res"))),                \
      "a dispatch has a record that no arm reads")                                                 \
    X(slot_skipped_record, GATHER, over(r, 0, 4), "a dispatch has a record that no arm reads")     \
    X(slot_other_call, CALLS,                                                                      \
      tree_uint(tree_field(of_slot(r, 0, "record"), MWL_RECORD_RECORD, "ix", -1), 1),              \
      "the record of a dispatch is of another call")                                               \
    X(slot_no_input, GATHER,                                                                       \
      UNDEFINED(tree_field(of_slot(r, 0, "record"), MWL_RECORD_RECORD, "input", -1)),              \
      "the record of a dispatch is of another call")                                               \
    X(gather_step, GATHER, tree_uint(of_frame(r, "step", -1), 1),                                  \
      "a Gather is not that of its Step")                                                          \
    X(gather_goes_on, GATHER,                                                                      \
      (tree_uint(of_gather(r, "determined"), 4 + 32 + 64),                                         \
       *of_gather(r, "raised") = *of_failure()),                                                   \
      "a Gather that failed goes on")                                                              \
    X(gather_negative, GATHER, (*of_gather(r, "need") = (node){.major = MWL_CBOR_NEGATIVE}),       \
      "a Gather counts wrongly")                                                                   \
    X(gather_no_count, GATHER, tree_uint(of_gather(r, "n_ok"), UINT32_MAX),                        \
      "a number is too large")                                                                     \
    X(gather_many, GATHER, more_slots(of_gather(r, "next")),                                       \
      "a Gather has too many dispatches at a time")                                                \
    X(gather_at, GATHER, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), FAR),                          \
      "there is no such Gather")                                                                   \
    X(gather_not_counted, GATHER, (empty_gather(r), tree_uint(of_gather(r, "determined"), 32)),    \
      "there is no such Gather")                                                                   \
    X(gather_faulted, GATHER,                                                                      \
      (empty_gather(r), tree_uint(of_gather(r, "determined"), 4 + 32 + 64),                        \
       *of_gather(r, "raised") = *of_failure()),                                                   \
      "there is no such Gather")                                                                   \
    X(gather_armed, GATHER, tree_uint(of_gather(r, "arm_at"), 1), "there is no such Gather")       \
    X(gather_idle, GATHER, (of_gather(r, "next")->n_kids = 0), "a Gather waits for nothing")       \
    X(gap_state, GAP, tree_uint(of_entry(r, 0, "state"), 3), "there is no such gap")               \
    X(gap_nothing, SLEEP,                                                                          \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 6),                                           \
       tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0)),                                             \
      "there is no such gap")                                                                      \
    X(wait_nothing, SLEEP,                                                                         \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 7),                                           \
       tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0)),                                             \
      "there is no entry that waits")                                                              \
    X(wait_at, WAIT, tree_uint(of_frame(r, "pc", MWL_FIELD_AT), FAR),                              \
      "there is no entry that waits")                                                              \
    X(wait_goes, WAIT, tree_uint(of_entry(r, 0, "accepted"), 0), "there is no entry that waits")   \
    X(wait_verdict, WAIT, tree_uint(of_entry(r, 0, "verdict"), 1),                                 \
      "an entry has a verdict that its phase cannot give")                                         \
    X(gather_left, CALLS,                                                                          \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 6),                                           \
       tree_uint(of_frame(r, "pc", MWL_FIELD_AT), 0), tree_uint(of_frame(r, "in_flight", -1), 0)), \
      "a Gather is still there")                                                                   \
    X(other_flow, BELOW,                                                                           \
      (tree_uint(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "pc", MWL_FIELD_POINT), 3),          \
       tree_uint(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "pc", MWL_FIELD_AT), 0),             \
       *tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "record", -1) = *of_frame(r, "record", -1)),  \
      "a frame is in another Flow")                                                                \
    X(cleanup_in_cleanup, NESTED, tree_uint(of_entry(r, 0, "accepted"), 1 + 16),                   \
      "an unwind passes through a cleanup")                                                        \
    X(deadline, CLEANUP, tree_uint(of_run(r, "aside"), 1), "a deadline has no instant")            \
    X(unwind_in_cleanup, CLEANUP,                                                                  \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 8), NULLED(of_frame(r, "pc", MWL_FIELD_AT)),  \
       NULLED(of_frame(r, "record", -1)), tree_uint(of_extra(r, "running"), 3),                    \
       failed(of_frame(r, "res", -1))),                                                            \
      "an unwind passes through a cleanup")                                                        \
    X(await_both, AWAIT, tree_uint(of_extra(r, "running"), 7), "an unwind is not under way")       \
    X(await_no_result, AWAIT,                                                                      \
      (UNDEFINED(of_frame(r, "res", -1)), *of_extra(r, "cancel") = *of_failure(),                  \
       failed(of_call(r, "res"))),                                                                 \
      "an unwind has no cause")                                                                    \
    X(await_no_cause, AWAIT, UNDEFINED(of_extra(r, "cancel")), "an unwind has no cause")           \
    X(unwind_stack, UNWIND, (of_frame(r, "entries", -1)->n_kids = 1),                              \
      "the entries of a frame are not those of a place in its Flow")                               \
    X(unwind_step, UNWIND, tree_uint(of_frame(r, "step", -1), 1),                                  \
      "the entries of a frame are not those of a place in its Flow")                               \
    X(unwind_flow, INSIDE,                                                                         \
      (tree_uint(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "flow", -1), 0),                     \
       NULLED(tree_field(frame_at(r, 1), MWL_RECORD_FRAME, "step", -1))),                          \
      "the entries of a frame are not those of a place in its Flow")                               \
    X(owner_far, UNWIND, tree_uint(of_extra(r, "owner"), 7),                                       \
      "an owner is not an entry of the frame")                                                     \
    X(start_input, START, UNDEFINED(of_frame(r, "in_flight", -1)),                                 \
      "a frame begins without its input")                                                          \
    X(start_step, START, in_step(r), "a frame begins without its input")                           \
    X(refused_nothing, START, tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 1),                    \
      "a frame was refused without a failure")                                                     \
    X(refused_success, START,                                                                      \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 1), *of_frame(r, "res", -1) = *of_result()),  \
      "a frame was refused without a failure")                                                     \
    X(refused_step, START,                                                                         \
      (tree_uint(of_frame(r, "pc", MWL_FIELD_POINT), 1), in_step(r),                               \
       failed(of_frame(r, "res", -1))),                                                            \
      "a frame was refused without a failure")                                                     \
    X(limit_zero, START, tree_uint(&of_run(r, "limits")->kid[0], 0), "a limit is 0")               \
    X(limit_chain, START, tree_uint(&of_run(r, "limits")->kid[5], 129), "a limit is too large")    \
    X(no_result, DONE, UNDEFINED(of_run(r, "result")),                                             \
      "a run has no frames and no Result, or both")                                                \
    X(done_flags, DONE, tree_uint(of_run(r, "limit_hit"), 4),                                      \
      "a run has no frames and no Result, or both")                                                \
    X(done_failure, DONE, tree_uint(of_run(r, "limit_hit"), 0), "a failure has no envelope")       \
    X(done_whole, DONE, tree_uint(of_run(r, "limit_hit"), 2), "a Result is not a success")

/* [1, null]: a success. */
static const node *of_result(void) {
    static node kids[2], result;
    tree_uint(&kids[0], 1);
    NULLED(&kids[1]);
    result = (node){.major = MWL_CBOR_ARRAY, .n = 2, .kid = kids, .n_kids = 2};
    return &result;
}

/* [0, 0] */
static void timed(node *t) {
    static node kids[2];
    tree_uint(&kids[0], 0);
    tree_uint(&kids[1], 0);
    *t = (node){.major = MWL_CBOR_ARRAY, .n = 2, .kid = kids, .n_kids = 2};
}

static void text(node *t, const char *s) {
    *t = (node){.major = MWL_CBOR_TEXT, .n = strlen(s), .text = (const unsigned char *)s};
}

/* {"type": "error", "code": "X.Y"} */
static const node *of_failure(void) {
    static node kids[4], failure;
    static const char *const words[] = {"type", "error", "code", "X.Y"};
    for (size_t i = 0; i < 4; i++) text(&kids[i], words[i]);
    failure = (node){.major = MWL_CBOR_MAP, .kid = kids, .n_kids = 4};
    return &failure;
}

/* {"delay": 5}: what mock does not accept. */
static const node *of_delay(void) {
    static node kids[2], map;
    text(&kids[0], "delay");
    tree_uint(&kids[1], 5);
    map = (node){.major = MWL_CBOR_MAP, .kid = kids, .n_kids = 2};
    return &map;
}

static void failed(node *res) {
    *res = *of_result();
    tree_uint(&res->kid[0], 0);
    res->kid[1] = *of_failure();
}

/* [flags, failure, rose] */
static void raised(node *res, unsigned flags, unsigned rose) {
    static node kids[3];
    tree_uint(&kids[0], flags);
    kids[1] = *of_failure();
    tree_uint(&kids[2], rose);
    *res = (node){.major = MWL_CBOR_ARRAY, .kid = kids, .n_kids = 3};
}

/* The dispatch is over, in this state. */
static void over(node *r, size_t i, unsigned state) {
    tree_uint(of_slot(r, i, "state"), state);
    NULLED(of_slot(r, i, "as"));
}

/* A third dispatch at the same time. */
static void more_slots(node *slots) {
    static node all[3], record[32], slot[32];
    memcpy(all, slots->kid, 2 * sizeof *all);
    all[2] = all[1];
    memcpy(slot, all[1].kid, all[1].n_kids * sizeof *slot);
    all[2].kid = slot;
    node *copied = tree_field(&all[2], MWL_RECORD_SLOT, "record", -1);
    memcpy(record, copied->kid, copied->n_kids * sizeof *record);
    copied->kid = record;
    tree_uint(tree_field(copied, MWL_RECORD_RECORD, "index", -1), 2);
    slots->kid = all;
    slots->n_kids = 3;
}

static void empty_gather(node *r) {
    tree_uint(&gather_of(r)->kid[1], 0);
    UNDEFINED(&gather_of(r)->kid[2]);
    of_gather(r, "next")->n_kids = 0;
}

/* The run's own limits, which allow so many frames. */
static void limit_depth(node *r, unsigned frames) {
    static node kids[7];
    for (size_t i = 0; i < 7; i++) tree_uint(&kids[i], i < 2 ? 1000000 : i == 2 ? frames : 64);
    *of_run(r, "limits") = (node){.major = MWL_CBOR_ARRAY, .kid = kids, .n_kids = 7};
}

static void in_step(node *r) {
    tree_uint(of_frame(r, "step", -1), 0);
    tree_uint(of_frame(r, "step_input", -1), 0);
}

#define X(name, from, change, reason)                                                              \
    static void damage_##name(node *r) { change; }
DAMAGES(X)
#undef X

static const struct damage {
    const char *name;
    source from;
    void (*change)(node *run);
    const char *reason;
} damages[] = {
#define X(name, from, change, reason) {#name, from, damage_##name, reason},
    DAMAGES(X)
#undef X
};

UTEST(damage, each_is_refused_with_its_reason) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        const struct damage *d = &damages[i];
        mwl__arena memory = mwl__arena_make(mwl_alloc_default());
        mwl__cbor c = {b.bytes[d->from] + MWL_SAVED_HEADER, b.bytes[d->from] + b.size[d->from]};
        node tree;
        ASSERT_TRUE(tree_read(&c, &memory, &tree));
        d->change(&tree);
        size_t size, used = mwl_heap_used(mwl_vm_heap(b.vm));
        unsigned char *bytes = tree_bytes(b.bytes[d->from], &tree, &size);
        mwl_run *run;
        mwl_error error;
        mwl_status st = try_load(&b, d->from, bytes, size, &run, &error);
        if (st != MWL_E_SNAPSHOT || strcmp(error.message, d->reason) != 0)
            printf("%s: status %d, '%s'\n", d->name, (int)st, error.message);
        EXPECT_EQ((int)st, (int)MWL_E_SNAPSHOT);
        EXPECT_STREQ(error.message, d->reason);
        if (run) mwl_run_free(run);
        EXPECT_LE(mwl_heap_used(mwl_vm_heap(b.vm)), used + 4096); /* names are kept */
        free(bytes);
        mwl__arena_free(&memory);
    }
    close_bench(&b);
}

UTEST_MAIN()
