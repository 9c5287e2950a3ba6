/* turn.c: see turn.h. */
#include "tools/session/turn.h"

#include "mwl_std.h"

enum { BUDGET_NS = 5000000 }; /* of one turn, so that signals and the loop get theirs */

mwl_status session_vm(const mwl_config *config, struct session_turns *out) {
    *out = (struct session_turns){.virtual_time = config->virtual_time};
    mwl_status status = mwl_vm_new(config, &out->vm);
    return status == MWL_OK ? mwl_std_add(out->vm, MWL_STD_ALL, NULL) : status;
}

bool session_is_over(const mwl_run *run) { return mwl_run_get_state(run) >= MWL_RUN_DONE; }

static int64_t now_of(mwl_vm *vm) {
    mwl_instant now;
    mwl_vm_now(vm, &now);
    return now.mono_ns;
}

static int64_t pump(struct session_turns *t, int64_t budget_ns) {
    return mwl_vm_pump_within(t->vm, budget_ns, t->fuel ? t->fuel : MWL_NO_BUDGET);
}

/* Under virtual time a budget is virtual too: 0 is one slice, and more lets time pass so far. A
 * pump that ends with its slice returns the present instant, even if nothing is ready: the next one
 * finds out when something is. */
static int64_t pump_virtual(struct session_turns *t, const mwl_run *run) {
    int64_t now = now_of(t->vm), due = pump(t, t->to_ns > now ? t->to_ns - now : 0);
    t->to_ns = 0;
    bool waits = run && mwl_run_get_state(run) == MWL_RUN_PARKED;
    return waits && due <= now_of(t->vm) ? pump(t, 0) : due;
}

/* Everything of this instant is done, and there is work at *due_ns. Returns true if the run is
 * cancelled now. */
static bool cancel(struct session_turns *t, mwl_run *run, int64_t now, int64_t *due_ns) {
    if (!t->cancels) return false;
    if (t->cancel_ns > now) {
        if (t->cancel_ns < *due_ns) *due_ns = t->cancel_ns;
        return false;
    }
    t->cancels = false;
    (void)mwl_run_cancel(run, t->reason);
    return true;
}

enum session_next session_turn(struct session_turns *t, mwl_run *run, int64_t *due_ns) {
    *due_ns = MWL_NEVER;
    if (run && session_is_over(run)) return SESSION_OVER;
    *due_ns = t->virtual_time ? pump_virtual(t, run) : pump(t, BUDGET_NS);
    if (run && session_is_over(run)) return SESSION_OVER;
    if (*due_ns == 0) return SESSION_AGAIN;
    if (!t->virtual_time && !t->cancels) return SESSION_WAITS;
    int64_t now = now_of(t->vm);
    if (*due_ns <= now || cancel(t, run, now, due_ns)) return SESSION_AGAIN;
    if (!t->virtual_time || t->stands) return SESSION_WAITS;
    if (t->outside && t->outside(t->ctx) > 0) { /* real work is not skipped */
        *due_ns = MWL_NEVER;
        return SESSION_WAITS;
    }
    if (*due_ns == MWL_NEVER) return SESSION_STUCK;
    t->to_ns = *due_ns;
    return SESSION_AGAIN;
}

bool session_finish(struct session_turns *t, mwl_run *run) {
    int64_t due;
    enum session_next next;
    while ((next = session_turn(t, run, &due)) == SESSION_AGAIN) continue;
    return next == SESSION_OVER;
}

int64_t session_settle(mwl_vm *vm) {
    int64_t due;
    do due = mwl_vm_pump(vm, 0);
    while (due <= now_of(vm));
    return due;
}

void session_pass(mwl_vm *vm, int64_t to_ns) {
    int64_t by = to_ns - now_of(vm);
    if (by > 0) (void)mwl_vm_pump(vm, by);
}
