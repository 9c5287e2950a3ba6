/* regex_compile.c: makes a program from parsed code: finds which symbols the atoms distinguish.
 *
 * Owns: the alphabet of a program. Invariant: two symbols have the same class exactly when every
 * atom and every look of the code treats them in the same way. */
#include "vm/base/hash.h"
#include "vm/base/sort.h"
#include "vm/regex/regex_prog.h"

/* Steps of splitting classes, and bits of membership. Limits the time and memory for compiling a
 * pattern with many different large classes. */
#define MAX_SPLIT_WORK 20000000u
#define MAX_MEMBER_WORDS (1u << 19)

typedef struct alphabet {
    mwl_alloc alloc;
    uint32_t *bound; /* starts of intervals, sorted, unique */
    size_t n, cap;
    uint32_t *cls;     /* class of each interval */
    uint32_t *size;    /* intervals in each class; room for n classes */
    uint32_t *hit;     /* intervals of the class that the current atom contains */
    uint32_t *fresh;   /* the class to which those intervals move; 0: none yet */
    uint32_t *touched; /* the classes from which the current atom contains intervals */
    uint32_t n_class;
} alphabet;

static int u32_order(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static mwl_status add_bound(alphabet *al, uint32_t at) {
    if (al->n == al->cap) {
        void *v = al->bound;
        mwl_status st = mwl__mem_grow(&al->alloc, &v, &al->cap, al->n + 1, sizeof *al->bound);
        al->bound = v;
        if (st != MWL_OK) return st;
    }
    al->bound[al->n++] = at;
    return MWL_OK;
}

static size_t bound_find(const alphabet *al, uint32_t rune) { /* the interval that contains it */
    size_t lo = 0, hi = al->n;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (al->bound[mid] <= rune)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

static void free_alphabet(alphabet *al) {
    mwl__mem_free(&al->alloc, al->bound, al->cap * sizeof *al->bound);
    mwl__mem_free(&al->alloc, al->cls, al->n * sizeof *al->cls);
    mwl__mem_free(&al->alloc, al->size, (al->n + 1) * sizeof *al->size);
    mwl__mem_free(&al->alloc, al->hit, (al->n + 1) * sizeof *al->hit);
    mwl__mem_free(&al->alloc, al->fresh, (al->n + 1) * sizeof *al->fresh);
    mwl__mem_free(&al->alloc, al->touched, (al->n + 1) * sizeof *al->touched);
}

/* Splits every class of which these ranges contain only a part. */
static void split_by(alphabet *al, const mwl__rune_range *r, size_t n, uint64_t *work) {
    size_t touched = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = bound_find(al, r[i].lo); k < al->n && al->bound[k] <= r[i].hi; k++) {
            uint32_t c = al->cls[k];
            if (al->hit[c]++ == 0) al->touched[touched++] = c;
            ++*work;
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = bound_find(al, r[i].lo); k < al->n && al->bound[k] <= r[i].hi; k++) {
            uint32_t c = al->cls[k];
            if (al->hit[c] == al->size[c]) continue;
            if (al->fresh[c] == 0) al->fresh[c] = al->n_class++;
            al->cls[k] = al->fresh[c];
        }
    }
    for (size_t i = 0; i < touched; i++) {
        uint32_t c = al->touched[i];
        if (al->fresh[c]) {
            al->size[al->fresh[c]] = al->hit[c];
            al->size[c] -= al->hit[c];
        }
        al->fresh[c] = al->hit[c] = 0;
    }
}

static const mwl__rune_range word_ranges[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
static const mwl__rune_range newline_range[] = {{'\n', '\n'}};

static mwl_status add_bounds(alphabet *al, const mwl__rune_range *r, size_t n) {
    mwl_status st = MWL_OK;
    for (size_t i = 0; i < n && st == MWL_OK; i++) {
        st = add_bound(al, r[i].lo);
        if (st == MWL_OK && r[i].hi < MWL__RUNE_MAX) st = add_bound(al, r[i].hi + 1);
    }
    return st;
}

/* All classes of the code's symbols. */
static mwl_status make_alphabet(alphabet *al, const mwl__re_code *code, bool lines, bool words) {
    mwl_status st = add_bound(al, 0);
    if (st == MWL_OK) st = add_bounds(al, code->range, code->n_range);
    if (st == MWL_OK && lines) st = add_bounds(al, newline_range, 1);
    if (st == MWL_OK && words) st = add_bounds(al, word_ranges, 4);
    if (st == MWL_OK) st = add_bound(al, 0x80); /* ASCII has its own table */
    size_t filled = al->n;
    al->n = 0;
    if (st == MWL_OK && !mwl__sort(&al->alloc, al->bound, filled, sizeof *al->bound, u32_order))
        st = MWL_E_NOMEM;
    if (st != MWL_OK) return st;
    size_t n = 1;
    for (size_t i = 1; i < filled; i++)
        if (al->bound[i] != al->bound[n - 1]) al->bound[n++] = al->bound[i];
    al->n = n;
    al->cls = mwl__mem_zero(&al->alloc, n, sizeof *al->cls);
    al->size = mwl__mem_zero(&al->alloc, n + 1, sizeof *al->size);
    al->hit = mwl__mem_zero(&al->alloc, n + 1, sizeof *al->hit);
    al->fresh = mwl__mem_zero(&al->alloc, n + 1, sizeof *al->fresh);
    al->touched = mwl__mem_zero(&al->alloc, n + 1, sizeof *al->touched);
    if (!al->cls || !al->size || !al->hit || !al->fresh || !al->touched) return MWL_E_NOMEM;
    al->size[0] = (uint32_t)n;
    al->n_class = 1;
    uint64_t work = 0;
    for (size_t i = 0; i < code->n_atom; i++) {
        split_by(al, code->range + code->atom[i].first, code->atom[i].n, &work);
        bool spent = *code->work + work > code->end;
        if (work > MAX_SPLIT_WORK || spent) {
            *code->work += work;
            return spent ? MWL_E_FUEL : MWL_E_TOO_BIG;
        }
    }
    *code->work += work + code->n_range;
    if (lines) split_by(al, newline_range, 1, &work);
    if (words) split_by(al, word_ranges, 4, &work);
    return al->n_class > 60000 ? MWL_E_TOO_BIG : MWL_OK;
}

static mwl_status fill_classes(mwl__regex *re, const alphabet *al, bool lines, bool words) {
    const mwl_alloc *a = &re->alloc;
    re->n_class = al->n_class;
    /* Neighbours of the same class are one run. */
    uint32_t runs = 0;
    for (size_t i = 0; i < al->n; i++) runs += i == 0 || al->cls[i] != al->cls[i - 1];
    re->n_bound = runs;
    re->bound = mwl__mem_zero(a, runs, sizeof *re->bound);
    re->bound_class = mwl__mem_zero(a, runs, sizeof *re->bound_class);
    re->class_flags = mwl__mem_zero(a, re->n_class + 2, 1);
    if (!re->bound || !re->bound_class || !re->class_flags) return MWL_E_NOMEM;
    for (size_t i = 0, k = 0; i < al->n; i++) {
        if (i && al->cls[i] == al->cls[i - 1]) continue;
        re->bound[k] = al->bound[i];
        re->bound_class[k++] = (uint16_t)al->cls[i];
    }
    for (uint32_t b = 0; b < 256; b++) re->byte_class[b] = (uint16_t)al->cls[bound_find(al, b)];
    if (lines) re->class_flags[re->byte_class['\n']] |= CLASS_NEWLINE;
    for (size_t i = 0; i < 4 && words; i++)
        for (uint32_t b = word_ranges[i].lo; b <= word_ranges[i].hi; b++)
            re->class_flags[re->byte_class[b]] |= CLASS_WORD;
    return MWL_OK;
}

static mwl_status fill_members(mwl__regex *re, const alphabet *al, const mwl__re_code *code) {
    re->n_atom = (uint32_t)code->n_atom;
    re->member_words = (re->n_class + 2 + 63) / 64;
    uint64_t words = (uint64_t)re->n_atom * re->member_words;
    if (words == 0) return MWL_OK;
    if (words > MAX_MEMBER_WORDS) return MWL_E_TOO_BIG;
    re->member = mwl__mem_zero(&re->alloc, (size_t)words, sizeof *re->member);
    if (!re->member) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < re->n_atom; i++) {
        uint64_t *bits = re->member + (size_t)i * re->member_words;
        const mwl__rune_range *r = code->range + code->atom[i].first;
        for (uint32_t j = 0; j < code->atom[i].n; j++) {
            for (size_t k = bound_find(al, r[j].lo); k < al->n && al->bound[k] <= r[j].hi; k++)
                bits[al->cls[k] >> 6] |= 1ull << (al->cls[k] & 63u);
        }
    }
    return MWL_OK;
}

/* Returns the ASCII byte with which every match starts, or -1. Follows only a few instructions from
 * the start: an alternation of many words has many first bytes anyway. */
static int find_first_byte(const mwl__regex *re, const mwl__re_code *code) {
    uint32_t todo[16], n = 1, steps = 0;
    int first = -1;
    todo[0] = 0;
    while (n) {
        uint32_t pc = todo[--n];
        const mwl__re_inst *in = &re->inst[pc];
        if (++steps > 64 || in->op == RE_LOOK || in->op == RE_MATCH) return -1;
        if (in->op == RE_ATOM) {
            const mwl__re_atom *a = &code->atom[in->x];
            const mwl__rune_range *r = code->range + a->first;
            if (a->n != 1 || r->lo != r->hi || r->lo >= 0x80) return -1;
            if (first >= 0 && first != (int)r->lo) return -1;
            first = (int)r->lo;
        } else {
            if (n + 2 > 16) return -1;
            todo[n++] = (uint32_t)((int64_t)pc + in->x);
            if (in->op == RE_SPLIT) todo[n++] = pc + 1;
        }
    }
    return first;
}

static mwl_status build(mwl__regex *re, const mwl__re_code *code) {
    bool lines = false, words = false;
    for (size_t i = 0; i < code->n; i++) {
        if (code->inst[i].op != RE_LOOK) continue;
        re->revives |= code->inst[i].x == LOOK_LINE_BEGIN;
        lines |= code->inst[i].x == LOOK_LINE_BEGIN || code->inst[i].x == LOOK_LINE_END;
        words |= code->inst[i].x == LOOK_WORD || code->inst[i].x == LOOK_NOT_WORD;
    }
    re->inst = mwl__mem_zero(&re->alloc, code->n, sizeof *re->inst);
    if (!re->inst) return MWL_E_NOMEM;
    memcpy(re->inst, code->inst, code->n * sizeof *re->inst);
    *code->work += code->n;
    re->n_inst = (uint32_t)code->n;
    re->bytes = code->bytes;
    alphabet al = {.alloc = re->alloc};
    mwl_status st = make_alphabet(&al, code, lines, words);
    if (st == MWL_OK) st = fill_classes(re, &al, lines, words);
    if (st == MWL_OK) st = fill_members(re, &al, code);
    free_alphabet(&al);
    if (st == MWL_OK) re->first_byte = find_first_byte(re, code);
    return st;
}

mwl_status mwl__regex_compile(const mwl_alloc *a, const char *pattern, size_t len, unsigned flags,
                              uint64_t *work, mwl__regex **out, mwl_error *err) {
    return mwl__regex_compile_within(a, pattern, len, flags, UINT64_MAX, work, out, err);
}

mwl_status mwl__regex_compile_within(const mwl_alloc *a, const char *pattern, size_t len,
                                     unsigned flags, uint64_t most, uint64_t *work,
                                     mwl__regex **out, mwl_error *err) {
    uint64_t not_asked = 0;
    mwl__re_code code = {.alloc = *a, .work = work ? work : &not_asked};
    code.end = most < UINT64_MAX - *code.work ? *code.work + most : UINT64_MAX;
    mwl_status st = mwl__re_parse(pattern, len, flags, &code, err);
    if (st != MWL_OK) return st;
    mwl__regex *re = mwl__mem_zero(a, 1, sizeof *re);
    if (!re) {
        st = MWL_E_NOMEM;
        goto out;
    }
    re->alloc = *a;
    re->flags = flags;
    re->len = len;
    /* This hash has no secret, because the cost of a search depends on which programs use the same
     * slot, and must be the same in every process. An author whose patterns use the same slot only
     * loses states of these patterns. */
    re->hash = mwl__hash(flags, pattern, len);
    re->text = mwl__mem_new(a, len);
    if (len && !re->text)
        st = MWL_E_NOMEM;
    else if (len)
        memcpy(re->text, pattern, len);
    if (st == MWL_OK) st = build(re, &code);
out:
    mwl__re_code_free(&code);
    if (st != MWL_OK) {
        mwl__regex_free(re);
        if (err) {
            const char *big = "the pattern has too many different character classes";
            *err = (mwl_error){st, st == MWL_E_TOO_BIG ? big : mwl_status_text(st), 0};
        }
        return st;
    }
    *out = re;
    return MWL_OK;
}

void mwl__regex_free(mwl__regex *re) {
    if (!re) return;
    mwl_alloc a = re->alloc;
    mwl__mem_free(&a, re->text, re->len);
    mwl__mem_free(&a, re->inst, re->n_inst * sizeof *re->inst);
    mwl__mem_free(&a, re->bound, re->n_bound * sizeof *re->bound);
    mwl__mem_free(&a, re->bound_class, re->n_bound * sizeof *re->bound_class);
    mwl__mem_free(&a, re->class_flags, re->n_class + 2);
    mwl__mem_free(&a, re->member, (size_t)re->n_atom * re->member_words * sizeof *re->member);
    mwl__mem_free(&a, re, sizeof *re);
}
