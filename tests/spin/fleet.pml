/* fleet.pml: the protocol between workers, the store and providers, for Spin: claim, lease, commit, release, inbox,
 * give-back, unknown outcomes.
 *
 * One run of K effects in sequence; before the last one it waits for an answer. Workers are asynchronous: one may crash
 * (lose its memory) or stall at any point, and a lease may be judged expired at any time at all, which covers every
 * clock. The store is linearizable: each atomic block is one transaction. A transaction may be made and its answer
 * lost: the worker repeats it as it is. While the run waits for the answer, a worker may give it back. The answer may
 * come at any time, also before its wait. Effects go to a provider that remembers keys.
 *
 * Promises:
 *   S1  a Result is written at most once
 *   S2  no effect is released before the snapshot that records it is committed
 *   S3  one key, one content
 *   S4  the committed position never goes back
 *   S5  the answer is taken once, and a run does not pass its wait without it
 *   L1  (with fair workers) the run ends
 * Faults to switch on: NOFENCE (saves do not ask for owner and epoch), EARLY (release before commit). */
#ifndef W
#define W 2
#endif
#ifndef K
#define K 2
#endif
#ifndef CRASHES
#define CRASHES 2
#endif
#ifndef STEALS
#define STEALS 3
#endif
#ifndef UNKNOWNS
#define UNKNOWNS 2
#endif
#ifndef GIVEN
#define GIVEN 2
#endif
#define NOBODY 255
#define WAIT (K - 1) /* the effect before which the run waits for the answer */

/* the store: one row and its inbox */
byte db_pos = 0;     /* effects whose results are in the snapshot */
bool db_held = false; /* the effect db_pos is recorded as in flight */
byte db_content = 0; /* what it carries */
bool db_answered = false; /* the snapshot contains the answer */
byte db_epoch = 0;
byte db_version = 0;
byte db_owner = NOBODY;
bool db_available = true; /* a run that nobody owns may be claimed: it is due, or has a message */
bool db_done = false;
bool inbox = false;
byte results = 0;
byte taken = 0;

/* the provider: what was released under key k (0: nothing yet) */
byte seen[K];
byte crashes = 0, steals = 0, unknowns = 0, given = 0;

/* A save, which may be repeated: it is kept if this worker owns the run with its epoch, or if the store has this very
 * version already. drop: the message that the snapshot contains is removed with it. */
inline save(new_pos, new_held, new_content) {
    atomic {
        if
#ifdef NOFENCE
        :: true ->
#else
        :: db_owner == me && db_epoch == epoch && db_version < version ->
#endif
            assert(db_pos <= new_pos); /* S4 */
            assert(!db_done);
            db_pos = new_pos; db_held = new_held; db_content = new_content;
            if
            :: answered && !db_answered ->
                assert(inbox || taken > 0);
                taken++; assert(taken == 1); /* S5 */
                inbox = false; db_answered = true
            :: else -> skip
            fi;
            db_version = version; kept = true
#ifndef NOFENCE
        :: db_owner == me && db_epoch == epoch && db_version == version -> kept = true /* it was made before */
        :: else -> kept = false
#endif
        fi;
        /* the answer of the store may be lost; then the same save comes again */
        if
        :: unknowns < UNKNOWNS -> unknowns++; known = false
        :: known = true
        fi
    }
}

proctype worker(byte me) {
    byte pos, content, epoch, version;
    bool held, answered, mine, over, kept, known;
    do
    :: over -> break
    :: !over && !mine ->
        atomic { /* claim: nobody's and available, or its lease is judged expired */
            if
            :: db_done -> over = true
            :: !db_done && ((db_owner == NOBODY && db_available) || db_owner == me ||
                            (db_owner != NOBODY && db_owner != me && steals < STEALS)) ->
                if :: db_owner != NOBODY && db_owner != me -> steals++ :: else -> skip fi;
                db_owner = me; db_epoch++; epoch = db_epoch; version = db_version;
                pos = db_pos; held = db_held; content = db_content; answered = db_answered; mine = true
            fi
        }
    :: !over && mine && !held && pos < K && (pos != WAIT || answered) ->
        /* forward to the next effect; what it carries depends on what this incarnation has seen */
        if :: content = 1 :: content = 2 fi;
#ifdef EARLY
        atomic { assert(seen[pos] == 0 || seen[pos] == content); seen[pos] = content }
#endif
        version++; known = false;
        do
        :: !known -> save(pos, true, content)
        :: else -> break
        od;
        if :: kept -> held = true :: else -> mine = false fi /* another's: forget all of it */
    :: !over && mine && held ->
#ifndef EARLY
        atomic { /* release, as long after the commit as you like */
            assert(db_done || db_pos > pos || (db_pos == pos && db_held)); /* S2 */
            assert(seen[pos] == 0 || seen[pos] == content);     /* S3 */
            seen[pos] = content
        }
#endif
        held = false; pos++ /* its result comes, and is committed with what follows */
    :: !over && mine && !held && pos == WAIT && !answered && inbox ->
        answered = true /* delivered in memory; the message stays until a save contains it */
    :: !over && mine && !held && pos == WAIT && !answered && db_owner == me && db_epoch == epoch && given < GIVEN ->
        atomic { /* give back while it waits: a message that came meanwhile makes it available at once */
            if
            :: db_owner == me && db_epoch == epoch ->
                given++;
                version++; db_version = version; db_pos = pos; db_held = false;
                db_owner = NOBODY; db_available = inbox
            :: else -> skip
            fi;
            mine = false
        }
    :: !over && mine && !held && pos == WAIT && !answered && !(db_owner == me && db_epoch == epoch) ->
        mine = false /* it would be given back, and the store says that it is another's */
    :: !over && mine && !held && pos == K ->
        version++; known = false;
        do
        :: !known ->
            atomic {
                if
#ifdef NOFENCE
                :: true ->
#else
                :: db_owner == me && db_epoch == epoch && !db_done ->
#endif
                    assert(answered); /* S5 */
                    results++; assert(results == 1); /* S1 */
                    db_done = true
#ifndef NOFENCE
                :: else -> skip
#endif
                fi;
                if
                :: unknowns < UNKNOWNS -> unknowns++; known = false
                :: known = true
                fi
            }
        :: else -> break
        od;
        mine = false
    :: !over && mine && crashes < CRASHES ->
        d_step { crashes++; mine = false; pos = 0; held = false; content = 0; epoch = 0; version = 0; answered = false }
    od
}

/* Somebody answers, once, at any time. */
proctype person() {
    atomic { inbox = true; if :: db_owner == NOBODY -> db_available = true :: else -> skip fi }
}

init {
    byte i;
    atomic {
        run person();
        i = 0;
        do :: i < W -> run worker(i); i++ :: else -> break od
    }
}
ltl ends { <> (results == 1) }
