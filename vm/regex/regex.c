/* regex.c: the search. It builds a deterministic automaton state by state while it reads the
 * subject, and keeps the states.
 *
 * Owns: the scratch and what it caches. Refuses to know: syntax. A state is the sorted set of the
 * instructions that wait for a symbol, together with what is known about the symbol before. Looks
 * that need only that symbol are resolved when the state is made. The other looks stay in the set
 * as instructions, and are resolved with the next symbol or the END. A match is known at the latest
 * one symbol after it. If states are dropped before they were used often enough, the same steps run
 * without keeping any state. */
#include "vm/base/hash.h"
#include "mwl_config.h"
#include "vm/regex/regex_prog.h"

/* What is before the current position. */
enum { BEFORE_BEGIN = 1, BEFORE_NEWLINE = 2, BEFORE_WORD = 4 };
/* What is after it, if that is known. */
enum { AFTER_END = 1, AFTER_NEWLINE = 2, AFTER_WORD = 4, AFTER_UNKNOWN = 8 };

enum { STATE_UNKNOWN, STATE_DEAD, STATE_MATCH, STATE_FIRST }; /* ids; a row is id * stride */
#define N_WAYS 4u                                             /* slots that one program may use */

typedef struct state {
    uint32_t at, n; /* in the pool */
    uint32_t before;
} state;

/* The states of one program. They are valid for any program with the same text and flags. */
typedef struct dfa {
    uint64_t hash, used; /* used: the number of the search that used it last */
    char *text;
    size_t len;
    unsigned flags;
    uint32_t stride, n_state, start; /* start: the row of the first state; 0: not made yet */
    uint32_t *next;                  /* per state and class, a row */
    size_t cap_next;
    state *state;
    size_t cap_state;
    uint32_t *pool;
    size_t n_pool, cap_pool;
    mwl__table table; /* state ids by set */
} dfa;

struct mwl__regex_scratch {
    mwl_alloc alloc;
    dfa slot[MWL_REGEX_CACHE_SLOTS];
    uint64_t clock;
    uint64_t *seen; /* a bit per instruction */
    size_t cap_seen;
    uint32_t *stack, *from, *to; /* each of cap_list */
    size_t cap_list;
    mwl__regex_guest guest, store;
};

typedef struct search {
    const mwl__regex *re;
    mwl__regex_scratch *s;
    dfa *d;
    uint64_t work, *fuel;
    uint32_t n_to, to_before; /* the set in s->to */
    const uint8_t *p, *end, *flushed_at;
    bool forgetful;
} search;

/* ---- the scratch ----------------------------------------------------------------------------- */

mwl_status mwl__regex_scratch_new(const mwl_alloc *a, mwl__regex_scratch **out) {
    mwl__regex_scratch *s = mwl__mem_zero(a, 1, sizeof *s);
    if (!s) return MWL_E_NOMEM;
    s->alloc = *a;
    s->guest.alloc = *a;
    *out = s;
    return MWL_OK;
}

static void drop_dfa(const mwl_alloc *a, dfa *d) {
    mwl__mem_free(a, d->text, d->len);
    mwl__mem_free(a, d->next, d->cap_next * sizeof *d->next);
    mwl__mem_free(a, d->state, d->cap_state * sizeof *d->state);
    mwl__mem_free(a, d->pool, d->cap_pool * sizeof *d->pool);
    mwl__table_free(&d->table, a);
    *d = (dfa){0};
}

void mwl__regex_scratch_free(mwl__regex_scratch *s) {
    if (!s) return;
    if (s->guest.release) s->guest.release(s->guest.data);
    if (s->store.release) s->store.release(s->store.data);
    mwl_alloc a = s->alloc;
    for (size_t i = 0; i < MWL_REGEX_CACHE_SLOTS; i++) drop_dfa(&a, &s->slot[i]);
    mwl__mem_free(&a, s->seen, s->cap_seen * sizeof *s->seen);
    mwl__mem_free(&a, s->stack, s->cap_list * sizeof *s->stack);
    mwl__mem_free(&a, s->from, s->cap_list * sizeof *s->from);
    mwl__mem_free(&a, s->to, s->cap_list * sizeof *s->to);
    mwl__mem_free(&a, s, sizeof *s);
}

mwl__regex_guest *mwl__regex_scratch_guest(mwl__regex_scratch *s) { return &s->guest; }
mwl__regex_guest *mwl__regex_scratch_store(mwl__regex_scratch *s) { return &s->store; }

/* Makes room for work on a program of this many instructions. */
static mwl_status reserve(mwl__regex_scratch *s, uint32_t n_inst) {
    const mwl_alloc *a = &s->alloc;
    size_t words = (n_inst + 63) / 64;
    if (words > s->cap_seen) {
        uint64_t *seen = mwl__mem_zero(a, words, sizeof *seen);
        if (!seen) return MWL_E_NOMEM;
        mwl__mem_free(a, s->seen, s->cap_seen * sizeof *seen);
        s->seen = seen;
        s->cap_seen = words;
    }
    if (n_inst <= s->cap_list) return MWL_OK;
    /* An instruction is pushed at most once per closure, and at most twice if a set is entered
     * again. */
    size_t cap = (size_t)n_inst + 16, size = cap * sizeof(uint32_t);
    uint32_t *v[3];
    for (int i = 0; i < 3; i++) {
        v[i] = mwl__mem_new(a, size);
        if (v[i]) continue;
        while (i--) mwl__mem_free(a, v[i], size);
        return MWL_E_NOMEM;
    }
    mwl__mem_free(a, s->stack, s->cap_list * sizeof *s->stack);
    mwl__mem_free(a, s->from, s->cap_list * sizeof *s->from);
    mwl__mem_free(a, s->to, s->cap_list * sizeof *s->to);
    s->stack = v[0];
    s->from = v[1];
    s->to = v[2];
    s->cap_list = cap;
    return MWL_OK;
}

static bool dfa_is_for(const dfa *d, const mwl__regex *re) {
    return d->hash == re->hash && d->stride && d->len == re->len && d->flags == re->flags &&
           (re->len == 0 || memcmp(d->text, re->text, re->len) == 0);
}

/* Returns the states of this program: those of an earlier search, or a slot that was emptied for
 * it. */
static mwl_status find_dfa(mwl__regex_scratch *s, const mwl__regex *re, dfa **out) {
    size_t base = (size_t)re->hash & (MWL_REGEX_CACHE_SLOTS - N_WAYS);
    dfa *oldest = &s->slot[base];
    for (size_t i = 0; i < N_WAYS; i++) {
        dfa *d = &s->slot[base + i];
        if (dfa_is_for(d, re)) {
            d->used = ++s->clock;
            *out = d;
            return MWL_OK;
        }
        if (d->used < oldest->used) oldest = d;
    }
    dfa *d = oldest;
    drop_dfa(&s->alloc, d);
    if (re->len) {
        d->text = mwl__mem_new(&s->alloc, re->len);
        if (!d->text) return MWL_E_NOMEM;
        memcpy(d->text, re->text, re->len);
    }
    d->len = re->len;
    d->flags = re->flags;
    d->hash = re->hash;
    d->stride = re->n_class + 2;
    d->n_state = STATE_FIRST;
    d->used = ++s->clock;
    *out = d;
    return MWL_OK;
}

/* ---- steps of the set ------------------------------------------------------------------------ */

static bool look_holds(mwl__re_look look, uint32_t before, uint32_t after) {
    switch (look) {
    case LOOK_TEXT_BEGIN: return (before & BEFORE_BEGIN) != 0;
    case LOOK_LINE_BEGIN: return (before & (BEFORE_BEGIN | BEFORE_NEWLINE)) != 0;
    case LOOK_TEXT_END: return (after & AFTER_END) != 0;
    case LOOK_LINE_END: return (after & (AFTER_END | AFTER_NEWLINE)) != 0;
    case LOOK_WORD: return !(before & BEFORE_WORD) != !(after & AFTER_WORD);
    case LOOK_NOT_WORD: return !(before & BEFORE_WORD) == !(after & AFTER_WORD);
    }
    return false;
}

/* Marks every instruction that pc reaches without a symbol. Returns whether MATCH is one of
 * them. */
static bool reach(search *q, uint32_t pc, uint32_t before, uint32_t after) {
    const mwl__re_inst *inst = q->re->inst;
    uint64_t *seen = q->s->seen;
    uint32_t *stack = q->s->stack, n = 0;
    for (;;) {
        if (!(seen[pc >> 6] >> (pc & 63u) & 1u)) {
            seen[pc >> 6] |= 1ull << (pc & 63u);
            q->work++;
            mwl__re_inst in = inst[pc];
            if (in.op == RE_MATCH) return true;
            if (in.op == RE_SPLIT) stack[n++] = (uint32_t)((int64_t)pc + in.x);
            if (in.op == RE_JUMP) {
                pc = (uint32_t)((int64_t)pc + in.x);
                continue;
            }
            mwl__re_look look = (mwl__re_look)in.x;
            bool waits = after == AFTER_UNKNOWN && look >= LOOK_TEXT_END;
            if (in.op == RE_SPLIT ||
                (in.op == RE_LOOK && !waits && look_holds(look, before, after))) {
                pc++;
                continue;
            }
        }
        if (n == 0) return false;
        pc = stack[--n];
    }
}

static void clear_seen(search *q) {
    size_t words = (q->re->n_inst + 63) / 64;
    memset(q->s->seen, 0, words * sizeof *q->s->seen);
    q->work += words / 8 + 1;
}

/* Copies the marked instructions that wait for something to s->to. */
static void collect(search *q, uint32_t before) {
    const mwl__re_inst *inst = q->re->inst;
    size_t words = (q->re->n_inst + 63) / 64;
    uint32_t n = 0;
    bool looks = false;
    for (size_t w = 0; w < words; w++) {
        for (uint64_t bits = q->s->seen[w]; bits; bits &= bits - 1) {
            uint32_t pc = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(bits);
            bool look = inst[pc].op == RE_LOOK && inst[pc].x >= LOOK_TEXT_END;
            if (inst[pc].op != RE_ATOM && !look) continue;
            looks |= look;
            q->s->to[n++] = pc;
        }
    }
    q->work += n;
    q->n_to = n;
    q->to_before = looks ? before : 0;
}

/* Makes the set at the start of the text. Returns STATE_MATCH, or STATE_FIRST with the set in
 * s->to. */
static uint32_t begin_set(search *q) {
    clear_seen(q);
    if (reach(q, 0, BEFORE_BEGIN, AFTER_UNKNOWN)) return STATE_MATCH;
    collect(q, BEFORE_BEGIN);
    return STATE_FIRST;
}

/* Moves from the set (n instructions at `set`, which may be s->from) over one symbol of class cls.
 * Returns STATE_DEAD, STATE_MATCH, or STATE_FIRST with the new set in s->to. */
static uint32_t step_set(search *q, const uint32_t *set, uint32_t n, uint32_t before,
                         uint32_t cls) {
    const mwl__regex *re = q->re;
    bool end = cls == re->n_class + 1;
    uint32_t flags = re->class_flags[cls];
    q->work += n;
    uint32_t looks = 0;
    for (uint32_t i = 0; i < n; i++) looks += re->inst[set[i]].op == RE_LOOK;
    if (looks) { /* looks that need the next symbol can be decided now */
        uint32_t after = end                     ? AFTER_END
                         : flags & CLASS_NEWLINE ? AFTER_NEWLINE
                         : flags & CLASS_WORD    ? AFTER_WORD
                                                 : 0;
        clear_seen(q);
        for (uint32_t i = 0; i < n; i++)
            if (reach(q, set[i], before, after)) return STATE_MATCH;
        collect(q, before);
        uint32_t *swap = q->s->from;
        q->s->from = q->s->to;
        q->s->to = swap;
        set = q->s->from;
        n = q->n_to;
    }
    if (end) return STATE_DEAD;
    before =
        (flags & CLASS_NEWLINE ? BEFORE_NEWLINE : 0u) | (flags & CLASS_WORD ? BEFORE_WORD : 0u);
    clear_seen(q);
    for (uint32_t i = 0; i < n; i++) {
        mwl__re_inst in = re->inst[set[i]];
        if (in.op != RE_ATOM || !mwl__re_atom_has(re, (uint32_t)in.x, cls)) continue;
        if (reach(q, set[i] + 1, before, AFTER_UNKNOWN)) return STATE_MATCH;
    }
    if (reach(q, 0, before, AFTER_UNKNOWN)) return STATE_MATCH; /* a match may start here */
    collect(q, before);
    return q->n_to || re->revives ? STATE_FIRST : STATE_DEAD;
}

static bool charge(search *q) {
    uint64_t cost = q->work >> 6;
    q->work &= 63u;
    if (!q->fuel) return true;
    if (*q->fuel < cost) {
        *q->fuel = 0;
        return false;
    }
    *q->fuel -= cost;
    return true;
}

/* ---- states ---------------------------------------------------------------------------------- */

static void forget_states(dfa *d) {
    d->n_state = STATE_FIRST;
    d->n_pool = 0;
    d->start = 0;
    mwl__table_clear(&d->table);
}

static mwl_status grow(const mwl_alloc *a, uint32_t **p, size_t *cap, size_t need) {
    void *v = *p;
    mwl_status st = need <= *cap ? MWL_OK : mwl__mem_grow(a, &v, cap, need, sizeof **p);
    *p = v;
    return st;
}

/* Makes room for one more state with the set in s->to. Drops all states if the limit is reached. */
static mwl_status make_room(search *q, bool *forgot) {
    dfa *d = q->d;
    const mwl_alloc *a = &q->s->alloc;
    size_t need = ((size_t)d->n_state + 1) * (d->stride * sizeof *d->next + sizeof *d->state) +
                  (d->n_pool + q->n_to) * sizeof *d->pool;
    *forgot = d->n_state > STATE_FIRST + 1 && need > MWL_REGEX_CACHE_BYTES;
    if (*forgot) {
        size_t gone = (size_t)(q->p - q->flushed_at);
        /* A state that is not used about ten times costs more than it saves. */
        if (gone < 10 * (size_t)d->n_state) q->forgetful = true;
        q->flushed_at = q->p;
        forget_states(d);
    }
    mwl_status st = grow(a, &d->next, &d->cap_next, ((size_t)d->n_state + 1) * d->stride);
    if (st == MWL_OK) st = grow(a, &d->pool, &d->cap_pool, d->n_pool + q->n_to + 1);
    if (st == MWL_OK && d->n_state >= d->cap_state) {
        void *v = d->state;
        st = mwl__mem_grow(a, &v, &d->cap_state, (size_t)d->n_state + 1, sizeof *d->state);
        d->state = v;
    }
    if (st == MWL_OK) st = mwl__table_reserve(&d->table, a, d->table.n + 1u);
    return st;
}

/* Returns the state whose set is in s->to, or 0; then the probe is where it would go. */
static uint32_t known_state(const search *q, uint64_t hash, mwl__probe *probe) {
    const dfa *d = q->d;
    *probe = mwl__probe_make(&d->table, hash);
    for (uint32_t id; mwl__table_next(&d->table, probe, &id);) {
        const state *s = &d->state[id];
        if (s->n == q->n_to && s->before == q->to_before &&
            memcmp(d->pool + s->at, q->s->to, q->n_to * sizeof *d->pool) == 0)
            return id;
    }
    return 0;
}

/* Returns the row of the state whose set is in s->to. If *forgot becomes true, no other row is
 * valid any more. */
static mwl_status find_state(search *q, uint32_t *row, bool *forgot) {
    dfa *d = q->d;
    size_t bytes = q->n_to * sizeof *d->pool;
    uint64_t hash = mwl__hash(mwl__hash_secret() + q->to_before, q->s->to, bytes);
    mwl__probe probe;
    uint32_t id = known_state(q, hash, &probe);
    *forgot = false;
    if (id == 0) {
        mwl_status st = make_room(q, forgot);
        if (st != MWL_OK) return st;
        (void)known_state(q, hash, &probe); /* making room may have moved the places */
        id = d->n_state++;
        memcpy(d->pool + d->n_pool, q->s->to, bytes);
        d->state[id] = (state){(uint32_t)d->n_pool, q->n_to, q->to_before};
        d->n_pool += q->n_to;
        memset(d->next + (size_t)id * d->stride, 0, d->stride * sizeof *d->next);
        mwl__table_put(&d->table, &probe, id);
    }
    *row = id * d->stride;
    return MWL_OK;
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Returns the class of the symbol at p, which is before the end, and its length. */
static inline uint32_t classify(const mwl__regex *re, const uint8_t *p, const uint8_t *end,
                                uint32_t *len) {
    *len = 1;
    if (*p < 0x80 || re->bytes) return re->byte_class[*p];
    uint32_t rune, n = mwl__rune_decode(p, end, &rune);
    if (n == 0) return re->n_class;
    *len = n;
    uint32_t lo = 0, hi = re->n_bound;
    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        if (re->bound[mid] <= rune)
            lo = mid;
        else
            hi = mid;
    }
    return re->bound_class[lo];
}

/* Continues from the set in s->to to the end without keeping states. */
static mwl_status search_forgetful(search *q, bool *matched) {
    const mwl__regex *re = q->re;
    for (;;) {
        uint32_t len = 0, *swap = q->s->from;
        q->s->from = q->s->to;
        q->s->to = swap;
        uint32_t cls = q->p < q->end ? classify(re, q->p, q->end, &len) : re->n_class + 1;
        q->p += len;
        uint32_t got = step_set(q, q->s->from, q->n_to, q->to_before, cls);
        if (!charge(q)) return MWL_E_FUEL;
        if (got == STATE_FIRST) continue;
        *matched = got == STATE_MATCH;
        return MWL_OK;
    }
}

/* Fills in the transition from `row` over cls. *next is the row that it leads to, which may be a
 * special row. If the search does not keep states any more, *next is 0 and the set is in s->to. */
static mwl_status find_next(search *q, uint32_t row, uint32_t cls, uint32_t *next) {
    dfa *d = q->d;
    const state *from = &d->state[row / d->stride];
    uint32_t got = step_set(q, d->pool + from->at, from->n, from->before, cls);
    if (!charge(q)) return MWL_E_FUEL;
    bool forgot = false;
    if (got == STATE_FIRST) {
        mwl_status st = find_state(q, next, &forgot);
        if (st != MWL_OK) return st;
        if (q->forgetful) {
            *next = 0;
            return MWL_OK;
        }
    } else {
        *next = got * d->stride;
    }
    if (!forgot) d->next[row + cls] = *next;
    return MWL_OK;
}

static mwl_status find_start(search *q) {
    dfa *d = q->d;
    if (d->start) return MWL_OK;
    uint32_t got = begin_set(q);
    if (!charge(q)) return MWL_E_FUEL;
    if (got == STATE_MATCH) {
        d->start = STATE_MATCH * d->stride;
        return MWL_OK;
    }
    bool forgot;
    uint32_t row;
    mwl_status st = find_state(q, &row, &forgot);
    if (st == MWL_OK) d->start = row;
    return st;
}

static mwl_status run(search *q, bool *matched) {
    const mwl__regex *re = q->re;
    dfa *d = q->d;
    uint32_t row = d->start, special = STATE_MATCH * d->stride, next, len;
    const uint32_t skip_row = re->first_byte >= 0 ? d->start : UINT32_MAX;
    if (row <= special) {
        *matched = true;
        return MWL_OK;
    }
    for (;;) {
        uint32_t cls = re->n_class + 1;
        len = 0;
        const uint8_t *p = q->p;
        const uint32_t *rows = d->next;
        /* The common case, in a loop of its own: ASCII, and the transition is known. */
        while (p < q->end && *p < 0x80 && row != skip_row) {
            next = rows[row + re->byte_class[*p]];
            if (next <= special) break;
            row = next;
            p++;
        }
        q->p = p;
        if (p < q->end) {
            if (row == skip_row && *p != re->first_byte && row == d->start) {
                const uint8_t *at = memchr(p, re->first_byte, (size_t)(q->end - p));
                q->p = at ? at : q->end;
                continue;
            }
            cls = classify(re, p, q->end, &len);
        }
        next = d->next[row + cls];
        if (next <= special) {
            if (next == 0) {
                mwl_status st = find_next(q, row, cls, &next);
                if (st != MWL_OK) return st;
                if (q->forgetful) {
                    q->p += len;
                    return search_forgetful(q, matched);
                }
            }
            if (next <= special) {
                *matched = next == special;
                return MWL_OK;
            }
        }
        row = next;
        q->p += len;
    }
}

mwl_status mwl__regex_search(const mwl__regex *re, mwl__regex_scratch *scratch, const char *subject,
                             size_t len, uint64_t *fuel, bool *matched) {
    if (fuel) {
        uint64_t cost = 1 + len / 8;
        if (*fuel < cost) {
            *fuel = 0;
            return MWL_E_FUEL;
        }
        *fuel -= cost;
    }
    static const uint8_t none[1] = {0};
    const uint8_t *p = len ? (const uint8_t *)subject : none;
    search q = {.re = re, .s = scratch, .fuel = fuel, .p = p, .end = p + len, .flushed_at = p};
    mwl_status st = reserve(scratch, re->n_inst);
    if (st == MWL_OK) st = find_dfa(scratch, re, &q.d);
    if (st == MWL_OK) st = find_start(&q);
    if (st == MWL_OK) st = run(&q, matched);
    return st;
}
