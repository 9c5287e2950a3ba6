/* regex_class.c: sets of code points: operations, named sets, and simple case folding.
 *
 * Owns: the names of Perl, POSIX and Unicode classes as RE2 has them. Refuses to know: syntax.
 * General categories, case mappings and scripts are generated tables. */
#include "vm/regex/regex_prog.h"

#include "vm/base/sort.h"
#include "vm/regex/regex_scripts.h"
#include "vm/regex/regex_unicode.h"

#define N_RUNS (sizeof unicode_runs / sizeof *unicode_runs)
#define N_CASES (sizeof unicode_cases / sizeof *unicode_cases)

void mwl__class_free(mwl__class *c) {
    mwl__mem_free(&c->alloc, c->r, c->cap * sizeof *c->r);
    *c = mwl__class_make(c->alloc, c->tables);
}

/* A full class is tidied before it grows, so that it never has many more ranges than its set
 * needs. */
static bool make_room(mwl__class *c) {
    void *p = c->r;
    mwl__class_tidy(c);
    if (c->failed) return false;
    if (c->n < c->cap / 2) return true;
    if (mwl__mem_grow(&c->alloc, &p, &c->cap, c->cap + 1, sizeof *c->r) != MWL_OK) return false;
    c->r = p;
    return true;
}

void mwl__class_add(mwl__class *c, uint32_t lo, uint32_t hi) {
    if (c->failed) return;
    if (c->n && lo == c->r[c->n - 1].hi + 1) {
        c->r[c->n - 1].hi = hi;
        return;
    }
    if (++c->tables->work > c->tables->most || (c->n == c->cap && !make_room(c))) {
        c->failed = true;
        return;
    }
    c->r[c->n++] = (mwl__rune_range){lo, hi};
}

static int range_order(const void *a, const void *b) {
    const mwl__rune_range *x = a, *y = b;
    if (x->lo != y->lo) return x->lo < y->lo ? -1 : 1;
    return x->hi < y->hi ? -1 : x->hi > y->hi;
}

void mwl__class_tidy(mwl__class *c) {
    if (c->n < 2) return;
    c->tables->work += c->n;
    if (!mwl__sort(&c->alloc, c->r, c->n, sizeof *c->r, range_order)) {
        c->failed = true;
        return;
    }
    size_t n = 1;
    for (size_t i = 1; i < c->n; i++) {
        mwl__rune_range *last = &c->r[n - 1];
        if (c->r[i].lo <= last->hi || c->r[i].lo == last->hi + 1) {
            if (c->r[i].hi > last->hi) last->hi = c->r[i].hi;
        } else {
            c->r[n++] = c->r[i];
        }
    }
    c->n = n;
}

void mwl__class_negate(mwl__class *c) {
    mwl__class_tidy(c);
    if (c->failed) return;
    mwl__class out = mwl__class_make(c->alloc, c->tables);
    uint32_t next = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->r[i].lo > next) mwl__class_add(&out, next, c->r[i].lo - 1);
        next = c->r[i].hi + 1;
    }
    if (next <= MWL__RUNE_MAX) mwl__class_add(&out, next, MWL__RUNE_MAX);
    mwl__class_free(c);
    *c = out;
}

/* ---- case folding ---------------------------------------------------------------------------- */

/* Characters whose folded form does not map back to them: the lower case form, then the other
 * one. */
static const uint32_t fold_back[][2] = {
    {0x6b, 0x212a},   {0x73, 0x17f},   {0xe5, 0x212b},  {0x3b2, 0x3d0},  {0x3b5, 0x3f5},
    {0x3b8, 0x3d1},   {0x3b8, 0x3f4},  {0x3b9, 0x345},  {0x3b9, 0x1fbe}, {0x3ba, 0x3f0},
    {0x3bc, 0xb5},    {0x3c0, 0x3d6},  {0x3c1, 0x3f1},  {0x3c3, 0x3c2},  {0x3c6, 0x3d5},
    {0x3c9, 0x2126},  {0x432, 0x1c80}, {0x434, 0x1c81}, {0x43e, 0x1c82}, {0x441, 0x1c83},
    {0x442, 0x1c84},  {0x442, 0x1c85}, {0x44a, 0x1c86}, {0x463, 0x1c87}, {0x1e61, 0x1e9b},
    {0xa64b, 0x1c88},
};
enum { N_FOLD_BACK = sizeof fold_back / sizeof *fold_back };

/* The blocks that contain letters with case. A test compares this with the linked library. */
static const mwl__rune_range cased[] = {
    {0x41, 0x587},      {0x10a0, 0x10ff},   {0x13a0, 0x13ff},   {0x1c80, 0x218f},
    {0x24b6, 0x24e9},   {0x2c00, 0x2d2f},   {0xa640, 0xabbf},   {0xff21, 0xff5a},
    {0x10400, 0x105bf}, {0x10c80, 0x10d8f}, {0x118a0, 0x118df}, {0x16e40, 0x16edf},
    {0x1e900, 0x1e943},
};

/* Returns the case mappings of a character, or NULL. Two rows with step 2 can lie in each other, so
 * the row before the last that begins early enough is looked at too. */
static const unicode_case *case_of(uint32_t rune) {
    size_t lo = 0, hi = N_CASES;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (unicode_cases[mid].first <= rune)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (size_t back = 1; back <= 3 && back <= lo; back++) {
        const unicode_case *k = &unicode_cases[lo - back];
        if (rune <= k->last && (rune - k->first) % k->step == 0) return k;
    }
    return NULL;
}

static unsigned orbit_put(uint32_t *out, unsigned n, uint32_t rune) {
    /* The dotted and the dotless i have no simple folding. */
    if (n == 8 || rune == 0x130 || rune == 0x131) return n;
    for (unsigned i = 0; i < n; i++)
        if (out[i] == rune) return n;
    out[n] = rune;
    return n + 1;
}

unsigned mwl__class_orbit(uint32_t rune, uint32_t out[8]) {
    out[0] = rune;
    unsigned n = 1;
    if (rune == 0x130 || rune == 0x131) return n;
    for (unsigned i = 0; i < n; i++) {
        const unicode_case *k = case_of(out[i]);
        int32_t c = (int32_t)out[i];
        if (k) {
            n = orbit_put(out, n, (uint32_t)(c + k->lower));
            n = orbit_put(out, n, (uint32_t)(c + k->upper));
            n = orbit_put(out, n, (uint32_t)(c + k->title));
        }
        size_t lo = 0, hi = N_FOLD_BACK;
        while (lo < hi) {
            size_t mid = (lo + hi) / 2;
            if (fold_back[mid][0] < out[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        for (; lo < N_FOLD_BACK && fold_back[lo][0] == out[i]; lo++)
            n = orbit_put(out, n, fold_back[lo][1]);
    }
    return n;
}

void mwl__class_tables_free(const mwl_alloc *a, mwl__class_tables *t) {
    mwl__mem_free(a, t->fold, t->cap_fold * sizeof *t->fold);
    *t = (mwl__class_tables){0};
}

/* Every character with case, paired with each other character of its orbit. */
static void fill_folds(mwl__class *c) {
    mwl__class_tables *t = c->tables;
    if (t->n_fold) return;
    for (size_t i = 0; i < sizeof cased / sizeof *cased; i++) {
        for (uint32_t r = cased[i].lo; r <= cased[i].hi; r++) {
            uint32_t orbit[8];
            unsigned n = mwl__class_orbit(r, orbit);
            void *v = t->fold;
            if (mwl__mem_grow(&c->alloc, &v, &t->cap_fold, t->n_fold + n, sizeof *t->fold) !=
                MWL_OK) {
                c->failed = true;
                t->n_fold = 0;
                return;
            }
            t->fold = v;
            for (unsigned k = 1; k < n; k++) t->fold[t->n_fold++] = (mwl__rune_range){r, orbit[k]};
        }
    }
}

/* Adds the characters outside [lo, hi] that are equal to one inside under folding. */
static void add_others(mwl__class *c, uint32_t lo, uint32_t hi) {
    const mwl__class_tables *t = c->tables;
    size_t a = 0, b = t->n_fold;
    while (a < b) {
        size_t mid = (a + b) / 2;
        if (t->fold[mid].lo < lo)
            a = mid + 1;
        else
            b = mid;
    }
    for (; a < t->n_fold && t->fold[a].lo <= hi; a++) {
        uint32_t other = t->fold[a].hi;
        if (other < lo || other > hi) mwl__class_add(c, other, other);
    }
}

void mwl__class_add_folded(mwl__class *c, uint32_t lo, uint32_t hi) {
    mwl__class_add(c, lo, hi);
    if (hi - lo >
        0xff) { /* making the table takes half a millisecond: too much for one or two letters */
        fill_folds(c);
        if (!c->failed) add_others(c, lo, hi);
        return;
    }
    for (uint32_t r = lo; r <= hi; r++) {
        uint32_t orbit[8];
        unsigned n = mwl__class_orbit(r, orbit);
        for (unsigned k = 1; k < n; k++)
            if (orbit[k] < lo || orbit[k] > hi) mwl__class_add(c, orbit[k], orbit[k]);
    }
}

/* ---- named classes --------------------------------------------------------------------------- */

/* Adds a set to c, and frees it. */
static void add_all(mwl__class *c, mwl__class *from) {
    for (size_t i = 0; i < from->n; i++) mwl__class_add(c, from->r[i].lo, from->r[i].hi);
    if (from->failed) c->failed = true;
    mwl__class_free(from);
}

/* Adds the set g to c as described at mwl__class_perl. Frees g. */
static void add_group(mwl__class *c, mwl__class *g, bool negated, bool fold) {
    mwl__class others = mwl__class_make(c->alloc, c->tables);
    mwl__class_tidy(g);
    if (fold && g->n > 16) fill_folds(g);
    for (size_t i = 0; fold && i < g->n && !g->failed && !others.failed; i++) {
        if (g->n > 16)
            add_others(&others, g->r[i].lo, g->r[i].hi);
        else
            mwl__class_add_folded(&others, g->r[i].lo, g->r[i].hi);
    }
    add_all(g, &others);
    if (negated) mwl__class_negate(g);
    add_all(c, g);
}

/* Ranges as pairs of characters. */
typedef struct named {
    const char *name, *pairs;
} named;

static void add_pairs(mwl__class *c, const char *pairs, bool negated, bool fold) {
    mwl__class g = mwl__class_make(c->alloc, c->tables);
    for (; pairs[0]; pairs += 2) mwl__class_add(&g, (uint8_t)pairs[0], (uint8_t)pairs[1]);
    add_group(c, &g, negated, fold);
}

bool mwl__class_perl(mwl__class *c, char name, bool negated, bool fold) {
    const char *pairs = name == 'd'   ? "09"
                        : name == 's' ? "\t\n\f\r  "
                        : name == 'w' ? "09AZ__az"
                                      : NULL;
    if (pairs) add_pairs(c, pairs, negated, fold);
    return pairs != NULL;
}

bool mwl__class_posix(mwl__class *c, const char *name, size_t len, bool negated, bool fold) {
    static const named posix[] = {
        {"alnum", "09AZaz"}, {"alpha", "AZaz"},     {"blank", "\t\t  "},  {"digit", "09"},
        {"graph", "!~"},     {"lower", "az"},       {"print", " ~"},      {"punct", "!/:@[`{~"},
        {"space", "\t\r  "}, {"upper", "AZ"},       {"word", "09AZ__az"}, {"xdigit", "09AFaf"},
        {"ascii", NULL},     {"cntrl", "\x7f\x7f"},
    };
    for (size_t i = 0; i < sizeof posix / sizeof *posix; i++) {
        if (strlen(posix[i].name) != len || memcmp(posix[i].name, name, len) != 0) continue;
        if (posix[i].pairs && posix[i].name[0] != 'c') {
            add_pairs(c, posix[i].pairs, negated, fold);
            return true;
        }
        /* The two classes that contain NUL, which the pairs cannot express. */
        mwl__class g = mwl__class_make(c->alloc, c->tables);
        mwl__class_add(&g, 0, posix[i].pairs ? 0x1f : 0x7f);
        if (posix[i].pairs) mwl__class_add(&g, 0x7f, 0x7f);
        add_group(c, &g, negated, fold);
        return true;
    }
    return false;
}

/* Two letters per category, in the order of the table. */
static const char categories[] = "CnLuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCo";

/* Returns the bits of the categories that a name means; 0 if the name is unknown. */
static uint32_t category_mask(const char *name, size_t len, bool unassigned) {
    uint32_t mask = 0;
    if (len == 2 && memcmp(name, "LC", 2) == 0)
        return unassigned ? 1u << 1 | 1u << 2 | 1u << 3 /* Lu, Ll, Lt */
                          : 0;
    for (unsigned i = 0; i < 30; i++) {
        const char *at = categories + 2 * (size_t)i;
        if (i == 0 && !unassigned) continue;
        if ((len == 1 && name[0] == at[0]) || (len == 2 && memcmp(name, at, 2) == 0))
            mask |= 1u << i;
    }
    return mask;
}

unsigned mwl__class_category(uint32_t rune) {
    size_t lo = 0, hi = N_RUNS;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (unicode_runs[mid] >> 8 <= rune)
            lo = mid + 1;
        else
            hi = mid;
    }
    return unicode_runs[lo - 1] & 0xffu;
}

static void add_categories(mwl__class *g, uint32_t mask) {
    for (size_t i = 0; i < N_RUNS && !g->failed; i++) {
        if (!(mask >> (unicode_runs[i] & 0xffu) & 1u)) continue;
        uint32_t end = i + 1 < N_RUNS ? unicode_runs[i + 1] >> 8 : MWL__RUNE_MAX + 1;
        mwl__class_add(g, unicode_runs[i] >> 8, end - 1);
    }
}

static int script_find(const char *name, size_t len, bool with_short) {
    for (int i = 0; i < MWL__N_SCRIPTS; i++) {
        for (int k = 0; k < (with_short ? 2 : 1); k++) {
            const char *s = script_names[i][k];
            if (strlen(s) == len && memcmp(s, name, len) == 0) return i;
        }
    }
    /* An alias that is neither the long nor the short name. */
    if (with_short && len == 4 && memcmp(name, "Qaac", 4) == 0)
        return script_find("Coptic", 6, false);
    if (with_short && len == 4 && memcmp(name, "Qaai", 4) == 0)
        return script_find("Inherited", 9, false);
    return -1;
}

const char *mwl__class_script(const char *name, size_t len) {
    int i = script_find(name, len, true);
    return i < 0 ? NULL : script_names[i][0];
}

static void add_script(mwl__class *g, uint32_t script) {
    size_t n = sizeof script_runs / sizeof *script_runs;
    for (size_t i = 0; i < n; i++) {
        if ((script_runs[i] & 0xffu) != script) continue;
        uint32_t end = i + 1 < n ? script_runs[i + 1] >> 8 : MWL__RUNE_MAX + 1;
        mwl__class_add(g, script_runs[i] >> 8, end - 1);
    }
}

bool mwl__class_unicode(mwl__class *c, const char *name, size_t len, bool negated, bool fold,
                        bool unassigned) {
    mwl__class g = mwl__class_make(c->alloc, c->tables);
    uint32_t mask = category_mask(name, len, unassigned);
    int script = mask ? -1 : script_find(name, len, false);
    if (script >= 0 && !unassigned && strcmp(script_names[script][0], "Unknown") == 0) script = -1;
    if (mask && !negated) { /* do not add again what the class already has */
        uint32_t fresh = mask & ~c->has[fold];
        c->has[fold] |= mask;
        if (!fresh) return true;
        mask = fresh;
    }
    if (mask)
        add_categories(&g, mask);
    else if (script >= 0)
        add_script(&g, (uint32_t)script);
    else if (len == 3 && memcmp(name, "Any", 3) == 0)
        mwl__class_add(&g, 0, MWL__RUNE_MAX);
    else
        return false;
    add_group(c, &g, negated, fold);
    return true;
}

bool mwl__class_is_name(uint32_t rune, bool first) {
    uint32_t mask = category_mask("L", 1, false) | category_mask("Nl", 2, false);
    if (!first)
        mask |= category_mask("Mn", 2, false) | category_mask("Mc", 2, false) |
                category_mask("Nd", 2, false) | category_mask("Pc", 2, false);
    return mask >> mwl__class_category(rune) & 1u;
}
