/* regex_parse.c: translates RE2's syntax into code, in one pass without a tree.
 *
 * Owns: what is a valid pattern. Refuses to know: how code runs. Code of operands that follow each
 * other is adjacent, so an operand is described by the place where it starts. An operator inserts
 * code before its operand or appends code after it. Open groups are on an explicit stack; nothing
 * recurses. */
#include "vm/base/ascii.h"
#include "mwl_config.h"
#include "vm/base/hash.h"
#include "vm/regex/regex_prog.h"

enum { FOLD = 1, MULTI_LINE = 2, DOT_NEWLINE = 4 };
#define NO_JUMP UINT32_MAX

typedef struct group {
    uint32_t alternative; /* where the alternative being read starts */
    uint32_t start;
    uint32_t jumps;   /* chain of the jumps that leave the group, as absolute places */
    uint32_t repeats; /* the most copies that counted repetitions made of anything in this group */
    uint32_t flags;   /* flags outside the group, to restore */
    size_t open_at;
} group;

typedef struct parser {
    const uint8_t *text;
    size_t len, at;
    unsigned options;
    uint32_t flags;
    mwl__re_code *code;
    group *stack;
    size_t depth, cap_stack;
    mwl__rune_range *names; /* offset and end of each group name */
    size_t n_names, cap_names;
    bool has_operand, repeated; /* repeated: the operand was just made by an operator */
    uint32_t operand, operand_repeats;
    bool restart_bytes;
    mwl__class_tables tables;
    mwl_status status;
    const char *message;
    size_t fail_at;
} parser;

static bool fail_with(parser *p, mwl_status status, const char *message, size_t at) {
    if (p->status == MWL_OK) {
        p->status = status;
        p->message = message;
        p->fail_at = at;
    }
    return false;
}
static bool fail(parser *p, const char *message, size_t at) {
    return fail_with(p, MWL_E_SYNTAX, message, at);
}
static bool no_memory(parser *p) {
    return fail_with(p, MWL_E_NOMEM, mwl_status_text(MWL_E_NOMEM), p->at);
}

/* ---- code ------------------------------------------------------------------------------------ */

void mwl__re_code_free(mwl__re_code *c) {
    mwl__mem_free(&c->alloc, c->inst, c->cap * sizeof *c->inst);
    mwl__mem_free(&c->alloc, c->atom, c->cap_atom * sizeof *c->atom);
    mwl__mem_free(&c->alloc, c->range, c->cap_range * sizeof *c->range);
    mwl__table_free(&c->table, &c->alloc);
    *c = (mwl__re_code){.alloc = c->alloc, .work = c->work, .end = c->end};
}

static bool reserve(parser *p, size_t more) {
    mwl__re_code *c = p->code;
    /* One instruction is reserved for the final MATCH. */
    if (more > MWL_REGEX_MAX_INST || c->n + more >= MWL_REGEX_MAX_INST)
        return fail_with(p, MWL_E_TOO_BIG, "the pattern makes too large a program", p->at);
    if (c->n + more <= c->cap) return true;
    void *v = c->inst;
    if (mwl__mem_grow(&c->alloc, &v, &c->cap, c->n + more, sizeof *c->inst) != MWL_OK)
        return no_memory(p);
    c->inst = v;
    return true;
}

static uint32_t here(const parser *p) { return (uint32_t)p->code->n; }

static bool emit(parser *p, mwl__re_op op, int64_t x) {
    if (!reserve(p, 1)) return false;
    p->code->inst[p->code->n++] = (mwl__re_inst){(uint32_t)op, (int32_t)x};
    return true;
}

/* Inserts an instruction before the fragment from `at` to the end. */
static bool insert(parser *p, uint32_t at, mwl__re_op op, int64_t x) {
    if (!reserve(p, 1)) return false;
    mwl__re_inst *i = p->code->inst;
    memmove(i + at + 1, i + at, (p->code->n - at) * sizeof *i);
    i[at] = (mwl__re_inst){(uint32_t)op, (int32_t)x};
    p->code->n++;
    return true;
}

/* Returns the index of the atom with exactly these ranges (tidy); makes it if it does not exist. */
static bool find_atom(parser *p, const mwl__rune_range *r, size_t n, uint32_t *out) {
    mwl__re_code *c = p->code;
    if (mwl__table_reserve(&c->table, &c->alloc, c->n_atom + 1) < 0) return no_memory(p);
    mwl__probe probe = mwl__probe_make(&c->table, mwl__hash_key(r, n * sizeof *r));
    while (mwl__table_next(&c->table, &probe, out)) {
        const mwl__re_atom *a = &c->atom[*out];
        if (a->n == n && (n == 0 || memcmp(c->range + a->first, r, n * sizeof *r) == 0))
            return true;
    }
    void *va = c->atom, *vr = c->range;
    mwl_status st = mwl__mem_grow(&c->alloc, &va, &c->cap_atom, c->n_atom + 1, sizeof *c->atom);
    c->atom = va;
    if (st != MWL_OK) return no_memory(p);
    st = mwl__mem_grow(&c->alloc, &vr, &c->cap_range, c->n_range + n + 1, sizeof *c->range);
    c->range = vr;
    if (st != MWL_OK) return no_memory(p);
    if (n) memcpy(c->range + c->n_range, r, n * sizeof *r);
    c->atom[c->n_atom] = (mwl__re_atom){(uint32_t)c->n_range, (uint32_t)n};
    c->n_range += n;
    *out = (uint32_t)c->n_atom++;
    mwl__table_put(&c->table, &probe, *out);
    return true;
}

static bool emit_atom(parser *p, const mwl__rune_range *r, size_t n) {
    uint32_t atom = 0;
    return find_atom(p, r, n, &atom) && emit(p, RE_ATOM, atom);
}

/* ---- classes as bytes, for patterns with \C -------------------------------------------------- */

static unsigned encode(uint32_t r, uint8_t *out) {
    if (r < 0x80) return out[0] = (uint8_t)r, 1;
    if (r < 0x800) {
        out[0] = (uint8_t)(0xc0 | r >> 6);
        out[1] = (uint8_t)(0x80 | (r & 0x3f));
        return 2;
    }
    if (r < 0x10000) {
        out[0] = (uint8_t)(0xe0 | r >> 12);
        out[1] = (uint8_t)(0x80 | (r >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (r & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | r >> 18);
    out[1] = (uint8_t)(0x80 | (r >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (r >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (r & 0x3f));
    return 4;
}

/* Shortens [lo, *hi] so that its encodings are the product of one byte range per place. */
static void utf8_cut(uint32_t lo, uint32_t *hi) {
    static const uint32_t last[] = {0x7f, 0x7ff, 0xd7ff, 0xdfff, 0xffff};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        if (lo <= last[i] && *hi > last[i]) *hi = last[i];
    if (*hi < 0x80) return;
    unsigned tails = *hi < 0x800 ? 1 : *hi < 0x10000 ? 2 : 3;
    for (unsigned i = 1; i <= tails; i++) {
        uint32_t m = (1u << 6 * i) - 1;
        if ((lo & ~m) == (*hi & ~m)) continue;
        if (lo & m) {
            *hi = lo | m;
            return;
        }
        if ((*hi & m) != m) *hi = (*hi & ~m) - 1;
    }
}

/* A fragment that reads one character of the set, byte by byte. */
static bool emit_utf8(parser *p, const mwl__rune_range *r, size_t n) {
    uint32_t jumps = NO_JUMP;
    for (size_t i = 0; i < n; i++) {
        uint32_t lo = r[i].lo;
        while (lo <= r[i].hi) {
            uint32_t hi = r[i].hi;
            utf8_cut(lo, &hi);
            uint8_t a[4], b[4];
            unsigned len = encode(lo, a);
            encode(hi, b);
            if (!emit(p, RE_SPLIT, len + 2)) return false;
            for (unsigned k = 0; k < len; k++) {
                mwl__rune_range byte = {a[k], b[k]};
                if (!emit_atom(p, &byte, 1)) return false;
            }
            if (!emit(p, RE_JUMP, jumps)) return false;
            jumps = here(p) - 1;
            lo = hi + 1;
        }
    }
    if (!emit_atom(p, NULL, 0)) return false; /* an empty set: nothing can follow */
    while (jumps != NO_JUMP) {
        uint32_t next = (uint32_t)p->code->inst[jumps].x;
        p->code->inst[jumps].x = (int32_t)(here(p) - jumps);
        jumps = next;
    }
    return true;
}

/* ---- operands -------------------------------------------------------------------------------- */

static group *top(parser *p) { return &p->stack[p->depth - 1]; }

static void operand_is(parser *p, uint32_t start, uint32_t repeats) {
    p->has_operand = true;
    p->repeated = false;
    p->operand = start;
    p->operand_repeats = repeats;
    if (top(p)->repeats < repeats) top(p)->repeats = repeats;
}

static bool push_ranges(parser *p, const mwl__rune_range *r, size_t n) {
    uint32_t start = here(p);
    if (!(p->code->bytes ? emit_utf8(p, r, n) : emit_atom(p, r, n))) return false;
    operand_is(p, start, 1);
    return true;
}

static bool class_failed(parser *p) {
    if (p->tables.work <= p->tables.most) return no_memory(p);
    if (p->tables.most < MWL_REGEX_MAX_WORK)
        return fail_with(p, MWL_E_FUEL, "the pattern takes too long to compile", p->at);
    return fail_with(p, MWL_E_TOO_BIG, "the pattern's character classes are too large", p->at);
}

/* Takes the class over. */
static bool push_class(parser *p, mwl__class *c) {
    mwl__class_tidy(c);
    bool ok = c->failed ? class_failed(p) : push_ranges(p, c->r, c->n);
    mwl__class_free(c);
    return ok;
}

static bool push_literal(parser *p, uint32_t rune) {
    if (p->flags & FOLD) {
        mwl__class c = mwl__class_make(p->code->alloc, &p->tables);
        mwl__class_add_folded(&c, rune, rune);
        return push_class(p, &c);
    }
    mwl__rune_range r = {rune, rune};
    return push_ranges(p, &r, 1);
}

static bool push_dot(parser *p) {
    static const mwl__rune_range any[] = {{0, MWL__RUNE_MAX}};
    static const mwl__rune_range line[] = {{0, '\n' - 1}, {'\n' + 1, MWL__RUNE_MAX}};
    return p->flags & DOT_NEWLINE ? push_ranges(p, any, 1) : push_ranges(p, line, 2);
}

static bool push_look(parser *p, mwl__re_look look) {
    uint32_t start = here(p);
    if (!emit(p, RE_LOOK, look)) return false;
    operand_is(p, start, 1);
    return true;
}

static bool push_any_byte(parser *p) {
    if (!p->code->bytes) {
        p->restart_bytes = true;
        return false;
    }
    static const mwl__rune_range byte = {0, 0xff};
    uint32_t start = here(p);
    if (!emit_atom(p, &byte, 1)) return false;
    operand_is(p, start, 1);
    return true;
}

/* ---- repetition ------------------------------------------------------------------------------ */

static bool copy_operand(parser *p, uint32_t start, uint32_t len) {
    if (!reserve(p, len)) return false;
    mwl__re_inst *i = p->code->inst;
    memcpy(i + p->code->n, i + start, len * sizeof *i);
    p->code->n += len;
    return true;
}

static bool make_star(parser *p, uint32_t start) {
    int64_t len = here(p) - start;
    return insert(p, start, RE_SPLIT, len + 2) && emit(p, RE_JUMP, -(len + 1));
}

/* Repeats the operand n to m times; m < 0 means without limit. */
static bool make_counted(parser *p, int n, int m) {
    uint32_t start = p->operand, len = here(p) - start;
    if (len == 0) return true; /* an operand that matches only the empty text needs no repetition */
    if (m == 0) {
        p->code->n = start;
        return true;
    }
    if (m < 0 && n == 0) return make_star(p, start);
    uint64_t size = (uint64_t)len * (uint64_t)(m < 0 ? n : m) + (m < 0 ? 1u : (unsigned)(m - n));
    if (size > MWL_REGEX_MAX_INST)
        return fail_with(p, MWL_E_TOO_BIG, "the pattern makes too large a program", p->at);
    for (int i = 1; i < n; i++)
        if (!copy_operand(p, start, len)) return false;
    if (m < 0) return emit(p, RE_SPLIT, -(int64_t)len);
    uint32_t body = start;
    int optional = m - n;
    if (n == 0) { /* the operand itself is the first optional one */
        if (!insert(p, start, RE_SPLIT, (int64_t)(len + 1) * optional)) return false;
        body = start + 1;
        optional--;
    }
    for (; optional > 0; optional--) {
        if (!emit(p, RE_SPLIT, (int64_t)(len + 1) * optional)) return false;
        if (!copy_operand(p, body, len)) return false;
    }
    return true;
}

/* Skips a ? after an operator. It makes the operator lazy, which does not matter for a yes-or-no
 * search. */
static bool check_repeat(parser *p, size_t at) {
    if (p->at < p->len && p->text[p->at] == '?') p->at++;
    if (p->has_operand && p->repeated) return fail(p, "bad repetition operator", at);
    if (!p->has_operand) return fail(p, "no argument for repetition operator", at);
    return true;
}

static bool parse_simple_repeat(parser *p) {
    size_t at = p->at;
    uint8_t op = p->text[p->at++];
    if (!check_repeat(p, at)) return false;
    uint32_t start = p->operand;
    int64_t len = here(p) - start;
    bool ok = len == 0    ? true
              : op == '*' ? make_star(p, start)
              : op == '+' ? emit(p, RE_SPLIT, -len)
                          : insert(p, start, RE_SPLIT, len + 1);
    p->repeated = true;
    return ok;
}

static bool read_number(const parser *p, size_t *at, int *out) {
    size_t i = *at;
    if (i >= p->len || !mwl__is_digit(p->text[i])) return false;
    if (p->text[i] == '0' && i + 1 < p->len && mwl__is_digit(p->text[i + 1])) return false;
    int n = 0;
    for (; i < p->len && mwl__is_digit(p->text[i]); i++) {
        if (n >= 100000000) return false;
        n = n * 10 + (p->text[i] - '0');
    }
    *at = i;
    *out = n;
    return true;
}

/* Reads {n}, {n,} or {n,m}. Returns false if it has another form; then the brace is a literal. */
static bool read_counts(const parser *p, size_t *at, int *n, int *m) {
    size_t i = *at + 1;
    if (!read_number(p, &i, n)) return false;
    *m = *n;
    if (i < p->len && p->text[i] == ',') {
        i++;
        if (i < p->len && p->text[i] == '}')
            *m = -1;
        else if (!read_number(p, &i, m))
            return false;
    }
    if (i >= p->len || p->text[i] != '}') return false;
    *at = i + 1;
    return true;
}

static bool parse_counted(parser *p) {
    int n, m;
    size_t at = p->at;
    if (!read_counts(p, &p->at, &n, &m)) {
        p->at++;
        return push_literal(p, '{');
    }
    if (p->at < p->len && p->text[p->at] == '?') p->at++;
    if (p->has_operand && p->repeated) return fail(p, "bad repetition operator", at);
    int limit = (int)MWL_REGEX_MAX_REPEAT;
    if ((m >= 0 && m < n) || n > limit || m > limit) return fail(p, "invalid repetition count", at);
    if (!p->has_operand) return fail(p, "no argument for repetition operator", at);
    uint32_t times = (uint32_t)(m < 0 ? n : m);
    uint32_t repeats = p->operand_repeats * (times ? times : 1);
    if (repeats > MWL_REGEX_MAX_REPEAT) return fail(p, "invalid repetition count", at);
    if (!make_counted(p, n, m)) return false;
    operand_is(p, p->operand, repeats);
    p->repeated = true;
    return true;
}

/* ---- escapes and classes --------------------------------------------------------------------- */

static bool read_rune(parser *p, uint32_t *out) {
    unsigned n = mwl__rune_decode(p->text + p->at, p->text + p->len, out);
    if (n == 0) return fail(p, "invalid UTF-8", p->at);
    p->at += n;
    return true;
}

static bool read_hex(parser *p, size_t start, uint32_t *out) {
    uint32_t v = 0;
    if (p->at < p->len && p->text[p->at] == '{') {
        size_t digits = 0;
        for (p->at++; p->at < p->len && mwl__hex_value(p->text[p->at]) >= 0; p->at++, digits++) {
            v = v * 16 + (uint32_t)mwl__hex_value(p->text[p->at]);
            if (v > MWL__RUNE_MAX) return fail(p, "invalid escape sequence", start);
        }
        if (!digits || p->at >= p->len || p->text[p->at] != '}')
            return fail(p, "invalid escape sequence", start);
        p->at++;
    } else {
        for (int i = 0; i < 2; i++, p->at++) {
            if (p->at >= p->len || mwl__hex_value(p->text[p->at]) < 0)
                return fail(p, "invalid escape sequence", start);
            v = v * 16 + (uint32_t)mwl__hex_value(p->text[p->at]);
        }
    }
    *out = v;
    return true;
}

/* Reads an escape at the backslash that means one character. */
static bool read_escape(parser *p, uint32_t *out) {
    static const char letters[] = "a\af\fn\nr\rt\tv\v";
    size_t start = p->at++;
    uint32_t c;
    if (p->at >= p->len) return fail(p, "trailing \\ at end of pattern", start);
    if (!read_rune(p, &c)) return false;
    if (c >= '0' && c <= '7') {
        bool more = p->at < p->len && p->text[p->at] >= '0' && p->text[p->at] <= '7';
        if (c != '0' && !more) return fail(p, "invalid escape sequence", start);
        uint32_t v = c - '0';
        for (int i = 0; i < 2 && p->at < p->len; i++, p->at++) {
            if (p->text[p->at] < '0' || p->text[p->at] > '7') break;
            v = v * 8 + (uint32_t)(p->text[p->at] - '0');
        }
        *out = v;
        return true;
    }
    if (c == 'x') return read_hex(p, start, out);
    for (size_t i = 0; letters[i]; i += 2) {
        if (c == (uint8_t)letters[i]) {
            *out = (uint8_t)letters[i + 1];
            return true;
        }
    }
    bool word = mwl__is_alnum(c);
    if (c >= 0x80 || word) return fail(p, "invalid escape sequence", start);
    *out = c;
    return true;
}

/* Adds a \d, \pL, \p{Greek} and so on at the backslash to c. Returns 1 if it was one, 0 if it was
 * not, -1 on failure. */
static int read_class_escape(parser *p, mwl__class *c) {
    size_t start = p->at;
    if (start + 1 >= p->len) return 0;
    uint8_t letter = p->text[start + 1];
    bool negated = mwl__is_upper(letter), fold = (p->flags & FOLD) != 0;
    char lower = (char)(letter | 0x20);
    if (lower == 'd' || lower == 's' || lower == 'w') {
        p->at += 2;
        mwl__class_perl(c, lower, negated, fold);
        return 1;
    }
    if (lower != 'p') return 0;
    p->at += 2;
    size_t name = p->at, end;
    uint32_t rune;
    if (p->at >= p->len) return fail(p, "invalid character class range", start), -1;
    if (!read_rune(p, &rune)) return -1;
    end = p->at;
    if (rune == '{') {
        name = p->at;
        while (p->at < p->len && p->text[p->at] != '}') {
            if (!read_rune(p, &rune)) return -1;
        }
        if (p->at >= p->len) return fail(p, "invalid character class range", start), -1;
        end = p->at++;
    }
    if (name < end && p->text[name] == '^') {
        negated = !negated;
        name++;
    }
    bool unassigned = (p->options & MWL__REGEX_UNASSIGNED) != 0;
    if (!mwl__class_unicode(c, (const char *)p->text + name, end - name, negated, fold, unassigned))
        return fail(p, "invalid character class range", start), -1;
    return 1;
}

/* Reads [:alpha:] or [:^alpha:] inside a class. Returns the same as read_class_escape. */
static int read_posix(parser *p, mwl__class *c) {
    size_t start = p->at, end = p->at + 2;
    if (end >= p->len || p->text[start] != '[' || p->text[start + 1] != ':') return 0;
    while (end + 1 < p->len && !(p->text[end] == ':' && p->text[end + 1] == ']')) end++;
    if (end + 1 >= p->len) return 0;
    size_t name = start + 2;
    bool negated = p->text[name] == '^';
    if (negated) name++;
    if (name > end || !mwl__class_posix(c, (const char *)p->text + name, end - name, negated,
                                        (p->flags & FOLD) != 0))
        return fail(p, "invalid character class range", start), -1;
    p->at = end + 2;
    return 1;
}

static bool read_class_rune(parser *p, size_t open, uint32_t *out) {
    if (p->at >= p->len) return fail(p, "missing closing ]", open);
    return p->text[p->at] == '\\' ? read_escape(p, out) : read_rune(p, out);
}

static bool read_class_range(parser *p, mwl__class *c, size_t open) {
    size_t start = p->at;
    uint32_t lo, hi;
    if (!read_class_rune(p, open, &lo)) return false;
    hi = lo;
    if (p->at + 1 < p->len && p->text[p->at] == '-' && p->text[p->at + 1] != ']') {
        p->at++;
        if (!read_class_rune(p, open, &hi)) return false;
        if (hi < lo) return fail(p, "invalid character class range", start);
    }
    if (p->flags & FOLD)
        mwl__class_add_folded(c, lo, hi);
    else
        mwl__class_add(c, lo, hi);
    return true;
}

static bool parse_class(parser *p) {
    mwl__class c = mwl__class_make(p->code->alloc, &p->tables);
    size_t open = p->at++;
    bool negated = p->at < p->len && p->text[p->at] == '^';
    if (negated) p->at++;
    for (bool first = true; p->at < p->len && (first || p->text[p->at] != ']'); first = false) {
        int got = read_posix(p, &c);
        if (got == 0 && p->text[p->at] == '\\') got = read_class_escape(p, &c);
        if (got < 0 || (got == 0 && !read_class_range(p, &c, open))) {
            mwl__class_free(&c);
            return false;
        }
    }
    if (p->at >= p->len) {
        mwl__class_free(&c);
        return fail(p, "missing closing ]", open);
    }
    p->at++;
    if (negated) mwl__class_negate(&c);
    return push_class(p, &c);
}

static bool parse_backslash(parser *p) {
    uint8_t letter = p->at + 1 < p->len ? p->text[p->at + 1] : 0;
    if (letter && strchr("bBAzCQ", letter)) p->at += 2;
    switch (letter) {
    case 'b': return push_look(p, LOOK_WORD);
    case 'B': return push_look(p, LOOK_NOT_WORD);
    case 'A': return push_look(p, LOOK_TEXT_BEGIN);
    case 'z': return push_look(p, LOOK_TEXT_END);
    case 'C': return push_any_byte(p);
    case 'Q':
        p->repeated = false;
        while (p->at < p->len) {
            if (p->text[p->at] == '\\' && p->at + 1 < p->len && p->text[p->at + 1] == 'E') {
                p->at += 2;
                break;
            }
            uint32_t rune;
            if (!read_rune(p, &rune) || !push_literal(p, rune)) return false;
        }
        return true;
    default: break;
    }
    mwl__class c = mwl__class_make(p->code->alloc, &p->tables);
    int got = read_class_escape(p, &c);
    if (got > 0) return push_class(p, &c);
    mwl__class_free(&c);
    uint32_t rune;
    return got == 0 && read_escape(p, &rune) && push_literal(p, rune);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool open_group(parser *p, size_t at, uint32_t outer_flags) {
    if (p->depth > MWL_REGEX_MAX_NEST)
        return fail_with(p, MWL_E_TOO_BIG, "groups are nested too deeply", at);
    void *v = p->stack;
    mwl_status st =
        mwl__mem_grow(&p->code->alloc, &v, &p->cap_stack, p->depth + 1, sizeof *p->stack);
    p->stack = v;
    if (st != MWL_OK) return no_memory(p);
    p->stack[p->depth++] = (group){here(p), here(p), NO_JUMP, 1, outer_flags, at};
    p->has_operand = p->repeated = false;
    return true;
}

/* Ends an alternative: what was read since the last |. Another one follows. */
static bool next_alternative(parser *p) {
    group *g = top(p);
    uint32_t len = here(p) - g->alternative;
    if (!insert(p, g->alternative, RE_SPLIT, (int64_t)len + 2)) return false;
    if (!emit(p, RE_JUMP, (int64_t)(int32_t)g->jumps)) return false;
    g->jumps = here(p) - 1;
    g->alternative = here(p);
    p->has_operand = p->repeated = false;
    return true;
}

static void land_jumps(parser *p, const group *g) {
    uint32_t at = g->jumps;
    while (at != NO_JUMP) {
        uint32_t next = (uint32_t)p->code->inst[at].x;
        p->code->inst[at].x = (int32_t)(here(p) - at);
        at = next;
    }
}

static bool close_group(parser *p) {
    if (p->depth == 1) return fail(p, "unexpected )", p->at);
    group g = *top(p);
    land_jumps(p, &g);
    p->depth--;
    p->flags = g.flags;
    p->at++;
    operand_is(p, g.start, g.repeats);
    return true;
}

static bool add_name(parser *p, size_t from, size_t to, size_t open) {
    for (size_t i = from; i < to;) {
        uint32_t rune;
        unsigned n = mwl__rune_decode(p->text + i, p->text + to, &rune);
        if (n == 0) return fail(p, "invalid UTF-8", i);
        if (!mwl__class_is_name(rune, false)) return fail(p, "invalid group name", open);
        i += n;
    }
    if (from == to) return fail(p, "invalid group name", open);
    for (size_t i = 0; i < p->n_names; i++) {
        mwl__rune_range o = p->names[i];
        if (o.hi - o.lo == to - from && memcmp(p->text + o.lo, p->text + from, to - from) == 0)
            return fail(p, "a group name is used twice", open);
    }
    /* Each name is compared with all names before it. */
    if (p->n_names == 1000) return fail_with(p, MWL_E_TOO_BIG, "too many named groups", open);
    void *v = p->names;
    mwl_status st =
        mwl__mem_grow(&p->code->alloc, &v, &p->cap_names, p->n_names + 1, sizeof *p->names);
    p->names = v;
    if (st != MWL_OK) return no_memory(p);
    p->names[p->n_names++] = (mwl__rune_range){(uint32_t)from, (uint32_t)to};
    return true;
}

/* Reads (?flags) and (?flags: from the first flag on. */
static bool parse_flags(parser *p, size_t open) {
    static const char letters[] = "ims";
    bool negated = false, seen = false;
    uint32_t flags = p->flags;
    for (;;) {
        if (p->at >= p->len) return fail(p, "invalid or unsupported group syntax", open);
        uint8_t c = p->text[p->at++];
        const char *letter = c ? strchr(letters, c) : NULL;
        if (letter) {
            uint32_t bit = 1u << (letter - letters);
            flags = negated ? flags & ~bit : flags | bit;
            seen = true;
        } else if (c == 'U') { /* which of two matches is preferred does not matter */
            seen = true;
        } else if (c == '-' && !negated) {
            negated = true;
            seen = false;
        } else if (c == ':' || c == ')') {
            if (negated && !seen) break;
            if (c == ':' && !open_group(p, open, p->flags)) return false;
            /* An operand may continue after a group that only sets flags: a(?i)* repeats the a. */
            p->repeated = false;
            p->flags = flags;
            return true;
        } else {
            break;
        }
    }
    return fail(p, "invalid or unsupported group syntax", open);
}

static bool parse_open(parser *p) {
    size_t open = p->at;
    const uint8_t *t = p->text + open;
    size_t left = p->len - open;
    if (left < 2 || t[1] != '?') {
        p->at++;
        return open_group(p, open, p->flags);
    }
    size_t name = left > 3 && t[2] == 'P' && t[3] == '<' ? 4 : left > 2 && t[2] == '<' ? 3 : 0;
    if (name == 3 && left > 3 && (t[3] == '=' || t[3] == '!'))
        return fail(p, "look-around is not supported", open);
    if (left > 2 && (t[2] == '=' || t[2] == '!'))
        return fail(p, "look-around is not supported", open);
    if (name) {
        size_t end = open + name;
        while (end < p->len && p->text[end] != '>') end++;
        if (end == p->len) return fail(p, "invalid group name", open);
        if (!add_name(p, open + name, end, open)) return false;
        p->at = end + 1;
        return open_group(p, open, p->flags);
    }
    p->at += 2;
    return parse_flags(p, open);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool parse_next(parser *p) {
    uint32_t rune;
    switch (p->text[p->at]) {
    case '(': return parse_open(p);
    case ')': return close_group(p);
    case '|': p->at++; return next_alternative(p);
    case '^':
        p->at++;
        return push_look(p, p->flags & MULTI_LINE ? LOOK_LINE_BEGIN : LOOK_TEXT_BEGIN);
    case '$': p->at++; return push_look(p, p->flags & MULTI_LINE ? LOOK_LINE_END : LOOK_TEXT_END);
    case '.': p->at++; return push_dot(p);
    case '[': return parse_class(p);
    case '*':
    case '+':
    case '?': return parse_simple_repeat(p);
    case '{': return parse_counted(p);
    case '\\': return parse_backslash(p);
    default: return read_rune(p, &rune) && push_literal(p, rune);
    }
}

static void parse_all(parser *p) {
    if (!open_group(p, 0, 0)) return;
    while (p->at < p->len)
        if (!parse_next(p)) return;
    if (p->depth > 1) {
        fail(p, "missing closing )", top(p)->open_at);
        return;
    }
    land_jumps(p, top(p));
    emit(p, RE_MATCH, 0);
}

mwl_status mwl__re_parse(const char *text, size_t len, unsigned flags, mwl__re_code *code,
                         mwl_error *err) {
    parser p;
    bool bytes = false;
    do {
        mwl__re_code_free(code);
        code->bytes = bytes;
        p = (parser){.text = (const uint8_t *)text, .len = len, .options = flags, .code = code};
        uint64_t left = code->end > *code->work ? code->end - *code->work : 0;
        p.tables.most = left < MWL_REGEX_MAX_WORK ? left : MWL_REGEX_MAX_WORK;
        if (len > UINT32_MAX / 2)
            fail_with(&p, MWL_E_TOO_BIG, "the pattern is too long", 0);
        else
            parse_all(&p);
        mwl__mem_free(&code->alloc, p.stack, p.cap_stack * sizeof *p.stack);
        mwl__mem_free(&code->alloc, p.names, p.cap_names * sizeof *p.names);
        *code->work += p.tables.work;
        mwl__class_tables_free(&code->alloc, &p.tables);
        bytes = true;
    } while (p.restart_bytes);
    if (p.status != MWL_OK) {
        mwl__re_code_free(code);
        if (err) *err = (mwl_error){p.status, p.message, p.fail_at};
    }
    return p.status;
}
