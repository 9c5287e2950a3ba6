/* regex_prog.h: what the files of the linear matcher share: character classes, the code that the
 * parser makes, and the finished program.
 *
 * The matcher reads code points ("symbols"), not bytes, so a class of characters is one
 * instruction, whatever its size. Only a pattern with \C reads bytes; its classes are then written
 * as UTF-8 sequences. Code is a flat array. A fragment is a contiguous part, which is entered at
 * its first instruction and left after its last one. Every jump is relative, so a fragment can be
 * moved and copied. */
#ifndef MWL_REGEX_PROG_H
#define MWL_REGEX_PROG_H

#include "vm/base/mem.h"
#include "vm/base/table.h"
#include "vm/regex/regex.h"

#define MWL__RUNE_MAX 0x10ffffu

/* ---- character classes (regex_class.c) ------------------------------------------------------- */

typedef struct mwl__rune_range {
    uint32_t lo, hi;
} mwl__rune_range;

/* Unicode's data in a form from which classes can be made fast, because a pattern can name one in
 * every three bytes. Filled on first use; zero before. */
typedef struct mwl__class_tables {
    mwl__rune_range *fold; /* a character and another of its case orbit, sorted by the first */
    size_t n_fold, cap_fold;
    uint64_t work; /* ranges that were added and sorted so far, in all classes of the pattern */
    uint64_t most; /* of it */
} mwl__class_tables;
void mwl__class_tables_free(const mwl_alloc *a, mwl__class_tables *t);

/* A set of code points. Ranges are in any order until mwl__class_tidy. `failed` stays set: out of
 * memory, or the work for the pattern exceeds what it may be. */
typedef struct mwl__class {
    mwl_alloc alloc;
    mwl__class_tables *tables; /* lent */
    mwl__rune_range *r;
    size_t n, cap;
    uint32_t has[2]; /* general categories that were added completely: unfolded, and folded */
    bool failed;
} mwl__class;

static inline mwl__class mwl__class_make(mwl_alloc a, mwl__class_tables *tables) {
    mwl__class c = {.alloc = a, .tables = tables};
    return c;
}
void mwl__class_free(mwl__class *c);
void mwl__class_add(mwl__class *c, uint32_t lo, uint32_t hi);
/* Adds the range and every character that is equal to one in it under simple case folding. */
void mwl__class_add_folded(mwl__class *c, uint32_t lo, uint32_t hi);
void mwl__class_tidy(mwl__class *c); /* sorted, disjoint, not adjacent, unless it failed */
void mwl__class_negate(mwl__class *c);
/* Add a named set or, if negated, everything outside it. With fold, as (?i) demands: folded first,
 * then negated. The names are: mwl__class_perl: d, s, w; mwl__class_posix: alpha ...;
 * mwl__class_unicode: a general category, the long name of a script, or Any. Return false if the
 * name is unknown. */
bool mwl__class_perl(mwl__class *c, char name, bool negated, bool fold);
bool mwl__class_posix(mwl__class *c, const char *name, size_t len, bool negated, bool fold);
bool mwl__class_unicode(mwl__class *c, const char *name, size_t len, bool negated, bool fold,
                        bool unassigned);
/* Writes the members of a character's case orbit, with the character itself. Returns their number
 * (at most 8). */
unsigned mwl__class_orbit(uint32_t rune, uint32_t out[8]);
/* Returns whether c is a letter or, unless it is the first of a name, a mark, digit or
 * connector. */
bool mwl__class_is_name(uint32_t rune, bool first);
/* Returns the long name of the script with this long or short name; NULL if there is none. */
const char *mwl__class_script(const char *name, size_t len);

/* ---- code ------------------------------------------------------------------------------------ */

/* op, meaning */
typedef enum mwl__re_op {
    RE_ATOM,  /* a symbol of atom x, then the next instruction */
    RE_SPLIT, /* the next instruction, and the instruction x further */
    RE_JUMP,  /* the instruction x further */
    RE_LOOK,  /* the next instruction, if look x holds */
    RE_MATCH
} mwl__re_op;

typedef enum mwl__re_look {
    LOOK_TEXT_BEGIN,
    LOOK_LINE_BEGIN,
    LOOK_TEXT_END,
    LOOK_LINE_END,
    LOOK_WORD,
    LOOK_NOT_WORD
} mwl__re_look;

typedef struct mwl__re_inst {
    uint32_t op;
    int32_t x;
} mwl__re_inst;

/* An atom is a set of symbols: n ranges from `first` in the pool of ranges. */
typedef struct mwl__re_atom {
    uint32_t first, n;
} mwl__re_atom;

/* What the parser makes: code without a final MATCH, and the distinct atoms that it uses. */
typedef struct mwl__re_code {
    mwl_alloc alloc;
    mwl__re_inst *inst;
    size_t n, cap;
    mwl__re_atom *atom;
    size_t n_atom, cap_atom;
    mwl__rune_range *range;
    size_t n_range, cap_range;
    mwl__table table; /* atoms by their ranges */
    bool bytes;       /* the pattern has \C: symbols are bytes */
    uint64_t *work;   /* the work of compiling is added here; lent */
    uint64_t end;     /* where *work may get; then MWL_E_FUEL */
} mwl__re_code;

void mwl__re_code_free(mwl__re_code *c);
/* Parses the pattern into code. On failure *code is freed and empty. */
mwl_status mwl__re_parse(const char *text, size_t len, unsigned flags, mwl__re_code *code,
                         mwl_error *err);

/* ---- the finished program -------------------------------------------------------------------- */

enum { CLASS_NEWLINE = 1, CLASS_WORD = 2 };

struct mwl__regex {
    mwl_alloc alloc;
    uint64_t hash; /* hash of text and flags; a cache also compares the text */
    char *text;
    size_t len;
    unsigned flags;

    mwl__re_inst *inst;
    uint32_t n_inst;

    /* Symbols that no atom distinguishes form one class. After the last class come INVALID (a byte
     * that is not UTF-8) and END (of the text), which no atom contains. */
    uint32_t n_class;
    uint16_t byte_class[256];
    uint32_t *bound; /* starts of the runs of equal class, ascending, the first is 0 */
    uint16_t *bound_class;
    uint32_t n_bound;
    uint8_t *class_flags; /* per class, CLASS_ bits; n_class + 2 of them */
    uint64_t *member;     /* a bit set for each atom: which classes it contains */
    uint32_t n_atom, member_words;

    int first_byte; /* every match starts with this ASCII byte, or -1 */
    bool bytes;
    bool revives; /* has a look that can hold after a newline: with an empty set the search still
                     continues */
};

static inline bool mwl__re_atom_has(const mwl__regex *re, uint32_t atom, uint32_t cls) {
    return re->member[(size_t)atom * re->member_words + (cls >> 6)] >> (cls & 63u) & 1u;
}

/* Decodes the code point at p (p < end). Returns the number of bytes, or 0 if no well-formed
 * sequence begins at p. */
static inline unsigned mwl__rune_decode(const uint8_t *p, const uint8_t *end, uint32_t *out) {
    uint32_t b = p[0];
    if (b < 0x80) return *out = b, 1;
    if (b < 0xc2 || b > 0xf4) return 0;
    size_t room = (size_t)(end - p);
    if (b < 0xe0) {
        if (room < 2 || (p[1] & 0xc0) != 0x80) return 0;
        return *out = (b & 0x1fu) << 6 | (p[1] & 0x3fu), 2;
    }
    if (b < 0xf0) {
        if (room < 3 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80) return 0;
        uint32_t r = (b & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
        if (r < 0x800 || (r >= 0xd800 && r <= 0xdfff)) return 0;
        return *out = r, 3;
    }
    if (room < 4 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80 || (p[3] & 0xc0) != 0x80)
        return 0;
    uint32_t r = (b & 7u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 | (p[3] & 0x3fu);
    if (r < 0x10000 || r > MWL__RUNE_MAX) return 0;
    return *out = r, 4;
}

#endif
