/* pattern_syntax.c: reads ECMA-262 patterns in Unicode mode and translates them.
 *
 * Owns: every difference between ECMA-262 and the two matchers. The matchers get only what both
 * read in the same way (explicit classes, \x{...}, \A, \z, groups by number), so their own rules
 * have no effect.
 * spec: ECMA-262, Patterns, with the parameter UnicodeMode and without UnicodeSetsMode. A first
 * pass counts the groups, because a reference may point forward. Nothing recurses. */
#include "vm/regex/pattern_syntax.h"

#include "mwl_config.h"
#include "vm/regex/regex_prog.h"
#include "vm/base/ascii.h"

#define MAX_COUNT 1000000u /* a larger count becomes this one; no matcher accepts either */

typedef struct name {
    size_t at, len; /* in the buffer of names */
    uint32_t group;
} name;

typedef struct translator {
    const uint8_t *text;
    size_t len, at;
    mwl__pattern_target target;
    mwl__buf *out;
    bool beyond;
    uint32_t n_groups;
    mwl__buf name_text;
    name *names;
    size_t n_names, cap_names;
    uint8_t *stack; /* for each open group: whether it is a look-around */
    size_t depth, cap_stack;
    mwl_status status;
    const char *message;
    size_t fail_at;
} translator;

static bool fail_with(translator *t, mwl_status status, const char *message, size_t at) {
    if (t->status == MWL_OK) {
        t->status = status;
        t->message = message;
        t->fail_at = at;
    }
    return false;
}
static bool fail(translator *t, const char *message, size_t at) {
    return fail_with(t, MWL_E_SYNTAX, message, at);
}
static bool no_memory(translator *t) {
    return fail_with(t, MWL_E_NOMEM, mwl_status_text(MWL_E_NOMEM), t->at);
}

static bool more(const translator *t) { return t->at < t->len; }
static uint8_t peek(const translator *t, size_t ahead) {
    return t->len - t->at > ahead ? t->text[t->at + ahead] : 0;
}
static bool eat(translator *t, char c) {
    if (!more(t) || t->text[t->at] != (uint8_t)c) return false;
    t->at++;
    return true;
}
static bool is_surrogate(uint32_t c) { return c >= 0xd800 && c <= 0xdfff; }

static bool read_rune(translator *t, uint32_t *out) {
    unsigned n = mwl__rune_decode(t->text + t->at, t->text + t->len, out);
    if (n == 0) return fail(t, "invalid UTF-8", t->at);
    t->at += n;
    return true;
}

/* ---- numbers and escapes --------------------------------------------------------------------- */

static bool read_hex(translator *t, unsigned digits, uint32_t *out) {
    uint32_t v = 0;
    for (unsigned i = 0; i < digits; i++, t->at++) {
        int digit = mwl__hex_value(peek(t, 0));
        if (digit < 0) return false;
        v = v * 16 + (uint32_t)digit;
    }
    *out = v;
    return true;
}

/* After \u: XXXX, a surrogate pair of two escapes, or {X...}. */
static bool read_unicode(translator *t, size_t start, uint32_t *out) {
    uint32_t v = 0, low;
    if (eat(t, '{')) {
        if (peek(t, 0) == '}') return fail(t, "invalid Unicode escape", start);
        while (more(t) && peek(t, 0) != '}') {
            uint32_t digit;
            if (!read_hex(t, 1, &digit) || (v = v * 16 + digit) > MWL__RUNE_MAX)
                return fail(t, "invalid Unicode escape", start);
        }
        if (!eat(t, '}')) return fail(t, "invalid Unicode escape", start);
    } else {
        if (!read_hex(t, 4, &v)) return fail(t, "invalid Unicode escape", start);
        if (v >= 0xd800 && v <= 0xdbff && peek(t, 0) == '\\' && peek(t, 1) == 'u') {
            size_t back = t->at;
            t->at += 2;
            if (read_hex(t, 4, &low) && low >= 0xdc00 && low <= 0xdfff)
                v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
            else
                t->at = back;
        }
    }
    *out = v;
    return true;
}

/* CharacterEscape at the letter after the backslash; in a class, also b and -. */
static bool read_escape(translator *t, bool in_class, uint32_t *out) {
    static const char letters[] = "f\fn\nr\rt\tv\v";
    size_t start = t->at - 1;
    if (!more(t)) return fail(t, "\\ at end of pattern", start);
    uint8_t c = t->text[t->at++];
    for (size_t i = 0; letters[i]; i += 2) {
        if (c == (uint8_t)letters[i]) {
            *out = (uint8_t)letters[i + 1];
            return true;
        }
    }
    if (c == 'c') {
        uint8_t letter = peek(t, 0);
        if (!mwl__is_letter(letter)) return fail(t, "invalid escape sequence", start);
        t->at++;
        *out = letter & 0x1fu;
        return true;
    }
    if (c == '0') {
        if (mwl__is_digit(peek(t, 0))) return fail(t, "invalid escape sequence", start);
        *out = 0;
        return true;
    }
    if (c == 'x') return read_hex(t, 2, out) || fail(t, "invalid escape sequence", start);
    if (c == 'u') return read_unicode(t, start, out);
    if (in_class && c == 'b') {
        *out = '\b';
        return true;
    }
    if (c == 0 || (!strchr("^$\\.*+?()[]{}|/", c) && !(in_class && c == '-')))
        return fail(t, "invalid escape sequence", start);
    *out = c;
    return true;
}

/* ---- output ---------------------------------------------------------------------------------- */

#define NOTHING "[^\\x{0}-\\x{10ffff}]"
#define ANYTHING "[\\x{0}-\\x{10ffff}]"

static void put(translator *t, const char *text) { mwl__buf_puts(t->out, text); }

static void put_rune(translator *t, uint32_t rune) {
    if (mwl__is_digit(rune) || mwl__is_letter(rune))
        mwl__buf_putc(t->out, (char)rune);
    else
        mwl__buf_printf(t->out, "\\x{%x}", (unsigned)rune);
}

static void put_range(translator *t, uint32_t lo, uint32_t hi) {
    /* UTF-8 text contains no lone surrogate, and no matcher accepts one. */
    if (is_surrogate(lo)) lo = 0xe000;
    if (is_surrogate(hi)) hi = 0xd7ff;
    if (lo > hi) return;
    put_rune(t, lo);
    if (hi == lo) return;
    put(t, "-");
    put_rune(t, hi);
}

/* ---- classes of characters ------------------------------------------------------------------- */

/* Writes \d \s \w and their negations as the inside of a class. */
static const char *class_inside(uint8_t letter) {
    switch (letter) {
    case 'd': return "0-9";
    case 'D': return "\\x{0}-\\x{2f}\\x{3a}-\\x{10ffff}";
    case 'w': return "0-9A-Za-z\\x{5f}";
    case 'W': return "\\x{0}-\\x{2f}\\x{3a}-\\x{40}\\x{5b}-\\x{5e}\\x{60}\\x{7b}-\\x{10ffff}";
    case 's':
        return "\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"
               "\\x{205f}\\x{3000}\\x{feff}";
    case 'S':
        return "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"
               "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"
               "\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}";
    default: return NULL;
    }
}

/* General categories: short name, then the others, each ended by a space. */
static const char *const categories[] = {
    "C Other ",
    "Cc Control cntrl ",
    "Cf Format ",
    "Cn Unassigned ",
    "Co Private_Use ",
    "Cs Surrogate ",
    "L Letter ",
    "LC Cased_Letter ",
    "Ll Lowercase_Letter ",
    "Lm Modifier_Letter ",
    "Lo Other_Letter ",
    "Lt Titlecase_Letter ",
    "Lu Uppercase_Letter ",
    "M Mark Combining_Mark ",
    "Mc Spacing_Mark ",
    "Me Enclosing_Mark ",
    "Mn Nonspacing_Mark ",
    "N Number ",
    "Nd Decimal_Number digit ",
    "Nl Letter_Number ",
    "No Other_Number ",
    "P Punctuation punct ",
    "Pc Connector_Punctuation ",
    "Pd Dash_Punctuation ",
    "Pe Close_Punctuation ",
    "Pf Final_Punctuation ",
    "Pi Initial_Punctuation ",
    "Po Other_Punctuation ",
    "Ps Open_Punctuation ",
    "S Symbol ",
    "Sc Currency_Symbol ",
    "Sk Modifier_Symbol ",
    "Sm Math_Symbol ",
    "So Other_Symbol ",
    "Z Separator ",
    "Zl Line_Separator ",
    "Zp Paragraph_Separator ",
    "Zs Space_Separator ",
};

/* Binary properties of ECMA-262 that only PCRE2 knows, with their aliases. */
static const char *const properties[] = {
    "ASCII_Hex_Digit AHex ",
    "Alphabetic Alpha ",
    "Bidi_Control Bidi_C ",
    "Bidi_Mirrored Bidi_M ",
    "Case_Ignorable CI ",
    "Cased ",
    "Changes_When_Casefolded CWCF ",
    "Changes_When_Casemapped CWCM ",
    "Changes_When_Lowercased CWL ",
    "Changes_When_NFKC_Casefolded CWKCF ",
    "Changes_When_Titlecased CWT ",
    "Changes_When_Uppercased CWU ",
    "Dash ",
    "Default_Ignorable_Code_Point DI ",
    "Deprecated Dep ",
    "Diacritic Dia ",
    "Emoji ",
    "Emoji_Component EComp ",
    "Emoji_Modifier EMod ",
    "Emoji_Modifier_Base EBase ",
    "Emoji_Presentation EPres ",
    "Extended_Pictographic ExtPict ",
    "Extender Ext ",
    "Grapheme_Base Gr_Base ",
    "Grapheme_Extend Gr_Ext ",
    "Hex_Digit Hex ",
    "IDS_Binary_Operator IDSB ",
    "IDS_Trinary_Operator IDST ",
    "ID_Continue IDC ",
    "ID_Start IDS ",
    "Ideographic Ideo ",
    "Join_Control Join_C ",
    "Logical_Order_Exception LOE ",
    "Lowercase Lower ",
    "Math ",
    "Noncharacter_Code_Point NChar ",
    "Pattern_Syntax Pat_Syn ",
    "Pattern_White_Space Pat_WS ",
    "Quotation_Mark QMark ",
    "Radical ",
    "Regional_Indicator RI ",
    "Sentence_Terminal STerm ",
    "Soft_Dotted SD ",
    "Terminal_Punctuation Term ",
    "Unified_Ideograph UIdeo ",
    "Uppercase Upper ",
    "Variation_Selector VS ",
    "White_Space space ",
    "XID_Continue XIDC ",
    "XID_Start XIDS ",
};

/* Returns the first word of the row that contains this word, and its length in *len. */
static const char *find_row(const char *const *rows, size_t n, const char *word, size_t *len) {
    for (size_t i = 0; i < n; i++) {
        for (const char *w = rows[i]; *w;) {
            size_t k = strcspn(w, " ");
            if (k == *len && memcmp(w, word, k) == 0) {
                *len = strcspn(rows[i], " ");
                return rows[i];
            }
            w += k + 1;
        }
    }
    return NULL;
}

static bool is_word(const char *s, size_t len, const char *a, const char *b) {
    return (strlen(a) == len && memcmp(s, a, len) == 0) ||
           (strlen(b) == len && memcmp(s, b, len) == 0);
}

static void put_property(translator *t, bool negated, const char *kind, const char *word,
                         size_t len) {
    mwl__buf_printf(t->out, "\\%c{%s%.*s}", negated ? 'P' : 'p', kind, (int)len, word);
}

static bool put_category(translator *t, bool negated, const char *word, size_t len) {
    const char *row = find_row(categories, sizeof categories / sizeof *categories, word, &len);
    if (!row) return false;
    bool cased = is_word(row, len, "LC", "LC") && t->target == MWL__PATTERN_FOR_PCRE;
    if (cased)
        put_property(t, negated, "", "L&", 2);
    else
        put_property(t, negated, "", row, len);
    return true;
}

static bool put_script(translator *t, bool negated, bool extensions, const char *word, size_t len) {
    const char *script = mwl__class_script(word, len);
    if (!script) return false;
    const char *kind = t->target == MWL__PATTERN_FOR_REGEX ? "" : extensions ? "scx:" : "sc:";
    if (extensions) t->beyond = true;
    put_property(t, negated, kind, script, strlen(script));
    return true;
}

static bool put_lone_property(translator *t, bool negated, const char *word, size_t len) {
    if (put_category(t, negated, word, len)) return true;
    if (is_word(word, len, "Any", "Any")) {
        if (!negated) put(t, "\\x{0}-\\x{10ffff}"); /* its negation is empty */
        return true;
    }
    if (is_word(word, len, "ASCII", "ASCII")) {
        put(t, negated ? "\\x{80}-\\x{10ffff}" : "\\x{0}-\\x{7f}");
        return true;
    }
    if (is_word(word, len, "Assigned", "Assigned")) {
        put_property(t, !negated, "", "Cn", 2);
        return true;
    }
    const char *row = find_row(properties, sizeof properties / sizeof *properties, word, &len);
    if (!row) return false;
    t->beyond = true;
    put_property(t, negated, "", row, len);
    return true;
}

/* Reads \p{...} or \P{...} after the letter, and writes it as the inside of a class. */
static bool parse_property(translator *t, bool negated, size_t start) {
    if (!eat(t, '{')) return fail(t, "invalid property", start);
    const char *word = (const char *)t->text + t->at;
    size_t len = 0, equals = SIZE_MAX;
    for (; more(t) && peek(t, 0) != '}'; t->at++, len++) {
        uint8_t c = peek(t, 0);
        if (c == '=' && equals == SIZE_MAX)
            equals = len;
        else if (!mwl__is_letter(c) && !mwl__is_digit(c) && c != '_')
            break;
    }
    if (!eat(t, '}')) return fail(t, "invalid property", start);
    bool known;
    if (equals == SIZE_MAX) {
        known = put_lone_property(t, negated, word, len);
    } else {
        const char *value = word + equals + 1;
        size_t n = len - equals - 1;
        if (is_word(word, equals, "General_Category", "gc"))
            known = put_category(t, negated, value, n);
        else if (is_word(word, equals, "Script", "sc"))
            known = put_script(t, negated, false, value, n);
        else if (is_word(word, equals, "Script_Extensions", "scx"))
            known = put_script(t, negated, true, value, n);
        else
            known = false;
    }
    return known || fail(t, "unknown property", start);
}

/* Reads a class escape after the backslash. Returns 1 if it was one, and its inside was written; 0
 * if it was not one; -1 on failure. */
static int parse_class_escape(translator *t) {
    size_t start = t->at - 1;
    uint8_t c = peek(t, 0);
    const char *inside = class_inside(c);
    if (inside) {
        t->at++;
        put(t, inside);
        return 1;
    }
    if (c != 'p' && c != 'P') return 0;
    t->at++;
    return parse_property(t, c == 'P', start) ? 1 : -1;
}

/* Reads one side of a range. Returns 1 for a character, 2 for a class escape, which was written, 0
 * on failure. */
static int parse_class_atom(translator *t, uint32_t *out) {
    if (!eat(t, '\\')) return read_rune(t, out) ? 1 : 0;
    int got = parse_class_escape(t);
    if (got != 0) return got > 0 ? 2 : 0;
    return read_escape(t, true, out) ? 1 : 0;
}

static bool parse_class(translator *t) {
    size_t open = t->at++, out_at = t->out->len;
    bool negated = eat(t, '^');
    put(t, negated ? "[^" : "[");
    size_t inside = t->out->len;
    while (more(t) && peek(t, 0) != ']') {
        size_t start = t->at;
        uint32_t lo = 0, hi;
        int first = parse_class_atom(t, &lo);
        if (first == 0) return false;
        hi = lo;
        if (peek(t, 0) == '-' && t->at + 1 < t->len && peek(t, 1) != ']') {
            t->at++;
            int second = parse_class_atom(t, &hi);
            if (second == 0) return false;
            if (first == 2 || second == 2)
                return fail(t, "a class cannot be the end of a range", start);
            if (hi < lo) return fail(t, "a range out of order", start);
        }
        if (first == 1) put_range(t, lo, hi);
    }
    if (!eat(t, ']')) return fail(t, "missing closing ]", open);
    if (t->out->len == inside && !t->out->failed) {
        t->out->len = out_at;
        put(t, negated ? ANYTHING : NOTHING);
    } else {
        put(t, "]");
    }
    return true;
}

/* ---- groups and references ------------------------------------------------------------------- */

/* Reads the name of a group up to its >, and appends it to name_text. */
static bool read_name(translator *t, size_t open) {
    bool first = true;
    while (!eat(t, '>')) {
        uint32_t rune;
        size_t start = t->at;
        if (!more(t)) return fail(t, "invalid group name", open);
        if (eat(t, '\\')) {
            if (!eat(t, 'u')) return fail(t, "invalid group name", start);
            if (!read_unicode(t, start, &rune)) return false;
        } else if (!read_rune(t, &rune)) {
            return false;
        }
        bool joiner = !first && (rune == 0x200c || rune == 0x200d);
        if (is_surrogate(rune) ||
            (rune != '$' && rune != '_' && !joiner && !mwl__class_is_name(rune, first)))
            return fail(t, "invalid group name", open);
        mwl__buf_put(&t->name_text, &rune, sizeof rune);
        first = false;
    }
    if (t->name_text.failed) return no_memory(t);
    return !first || fail(t, "invalid group name", open);
}

static const name *find_name(const translator *t, size_t at, size_t len) {
    for (size_t i = 0; i < t->n_names; i++) {
        const name *n = &t->names[i];
        if (n->len == len && memcmp(t->name_text.data + n->at, t->name_text.data + at, len) == 0)
            return n;
    }
    return NULL;
}

static bool add_name(translator *t, size_t at, size_t open) {
    size_t len = t->name_text.len - at;
    if (find_name(t, at, len)) return fail(t, "a group name is used twice", open);
    if (t->n_names == 1000) return fail_with(t, MWL_E_TOO_BIG, "too many named groups", open);
    void *v = t->names;
    mwl_status st =
        mwl__mem_grow(&t->name_text.alloc, &v, &t->cap_names, t->n_names + 1, sizeof *t->names);
    t->names = v;
    if (st != MWL_OK) return no_memory(t);
    t->names[t->n_names++] = (name){at, len, t->n_groups};
    return true;
}

/* The first pass: counts the groups that capture, and collects their names. */
static bool count_groups(translator *t) {
    bool in_class = false;
    while (more(t)) {
        size_t start = t->at;
        uint32_t c;
        if (!read_rune(t, &c)) return false;
        if (c == '\\') {
            if (more(t) && !read_rune(t, &c)) return false;
        } else if (in_class) {
            in_class = c != ']';
        } else if (c == '[') {
            in_class = true;
        } else if (c == '(' && peek(t, 0) != '?') {
            t->n_groups++;
        } else if (c == '(' && peek(t, 1) == '<' && peek(t, 2) != '=' && peek(t, 2) != '!') {
            t->n_groups++;
            t->at += 2;
            size_t at = t->name_text.len;
            if (!read_name(t, start) || !add_name(t, at, start)) return false;
        }
    }
    t->at = 0;
    return true;
}

static bool parse_open(translator *t) {
    size_t open = t->at++;
    bool look = false;
    if (eat(t, '?')) {
        bool behind = peek(t, 0) == '<' && (peek(t, 1) == '=' || peek(t, 1) == '!');
        uint8_t kind = peek(t, behind ? 1 : 0);
        if (kind == '=' || kind == '!') {
            t->at += behind ? 2 : 1;
            mwl__buf_printf(t->out, "(?%s%c", behind ? "<" : "", kind);
            t->beyond = look = true;
        } else if (eat(t, ':')) {
            put(t, "(?:");
        } else if (eat(t, '<')) {
            if (!read_name(t, open)) return false;
            put(t, t->target == MWL__PATTERN_FOR_PCRE ? "(" : "(?:");
        } else {
            return fail(t, "invalid group", open);
        }
    } else {
        put(t, t->target == MWL__PATTERN_FOR_PCRE ? "(" : "(?:");
    }
    if (t->depth == MWL_REGEX_MAX_NEST)
        return fail_with(t, MWL_E_TOO_BIG, "groups are nested too deeply", open);
    void *v = t->stack;
    mwl_status st = mwl__mem_grow(&t->name_text.alloc, &v, &t->cap_stack, t->depth + 1, 1);
    t->stack = v;
    if (st != MWL_OK) return no_memory(t);
    t->stack[t->depth++] = look;
    return true;
}

static bool put_reference(translator *t, uint32_t group) {
    t->beyond = true;
    mwl__buf_printf(t->out, "\\g{%u}", (unsigned)group);
    return true;
}

static bool parse_number_reference(translator *t, size_t start) {
    uint32_t n = 0;
    while (mwl__is_digit(peek(t, 0))) {
        n = n * 10 + (t->text[t->at++] - (uint32_t)'0');
        if (n > t->n_groups) return fail(t, "a reference to no group", start);
    }
    return put_reference(t, n);
}

static bool parse_name_reference(translator *t, size_t start) {
    t->at++;
    size_t at = t->name_text.len;
    if (!eat(t, '<')) return fail(t, "invalid named reference", start);
    if (!read_name(t, start)) return false;
    const name *n = find_name(t, at, t->name_text.len - at);
    t->name_text.len = at;
    return n ? put_reference(t, n->group) : fail(t, "a reference to no group", start);
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* Writes a character. Outside a class a lone surrogate matches nothing. */
static void put_literal(translator *t, uint32_t rune) {
    if (is_surrogate(rune))
        put(t, NOTHING);
    else
        put_rune(t, rune);
}

/* After a backslash. *quantifiable: it is an atom, not an assertion. */
static bool parse_atom_escape(translator *t, bool *quantifiable) {
    size_t start = t->at++;
    uint8_t c = peek(t, 0);
    if (more(t) && (c == 'b' || c == 'B')) {
        t->at++;
        *quantifiable = false;
        put(t, c == 'b' ? "\\b" : "\\B");
        return true;
    }
    if (c >= '1' && c <= '9') return parse_number_reference(t, start);
    if (c == 'k') return parse_name_reference(t, start);
    size_t out_at = t->out->len;
    put(t, "[");
    size_t inside = t->out->len;
    int got = parse_class_escape(t);
    if (got < 0) return false;
    if (got > 0) {
        if (t->out->len > inside || t->out->failed) {
            put(t, "]");
        } else {
            t->out->len = out_at;
            put(t, NOTHING);
        }
        return true;
    }
    if (!t->out->failed) t->out->len = out_at;
    uint32_t rune;
    if (!read_escape(t, false, &rune)) return false;
    put_literal(t, rune);
    return true;
}

static bool read_count(translator *t, uint32_t *out) {
    if (!mwl__is_digit(peek(t, 0))) return false;
    uint32_t n = 0;
    for (; mwl__is_digit(peek(t, 0)); t->at++) {
        n = n * 10 + (peek(t, 0) - (uint32_t)'0');
        if (n > MAX_COUNT) n = MAX_COUNT;
    }
    *out = n;
    return true;
}

static bool parse_quantifier(translator *t, bool quantifiable) {
    size_t start = t->at;
    uint8_t c = peek(t, 0);
    if (!more(t) || !strchr("*+?{", c) || c == 0) return true;
    if (!quantifiable) return fail(t, "nothing to repeat", start);
    t->at++;
    if (c == '{') {
        uint32_t lo, hi;
        bool open_end = false;
        if (!read_count(t, &lo)) return fail(t, "invalid quantifier", start);
        hi = lo;
        if (eat(t, ',') && !read_count(t, &hi)) open_end = true;
        if (!eat(t, '}')) return fail(t, "invalid quantifier", start);
        if (!open_end && hi < lo) return fail(t, "a quantifier out of order", start);
        if (open_end)
            mwl__buf_printf(t->out, "{%u,}", (unsigned)lo);
        else
            mwl__buf_printf(t->out, "{%u,%u}", (unsigned)lo, (unsigned)hi);
    } else {
        mwl__buf_putc(t->out, (char)c);
    }
    if (eat(t, '?')) put(t, "?");
    return true;
}

static bool parse_term(translator *t) {
    bool quantifiable = true;
    uint32_t rune;
    switch (peek(t, 0)) {
    case '(': return parse_open(t);
    case ')':
        if (t->depth == 0) return fail(t, "unexpected )", t->at);
        t->at++;
        put(t, ")");
        quantifiable = !t->stack[--t->depth];
        break;
    case '|':
        t->at++;
        put(t, "|");
        quantifiable = false;
        break;
    case '^':
    case '$':
        put(t, t->text[t->at++] == '^' ? "\\A" : "\\z");
        quantifiable = false;
        break;
    case '.':
        t->at++;
        put(t, "[^\\x{a}\\x{d}\\x{2028}\\x{2029}]");
        break;
    case '[':
        if (!parse_class(t)) return false;
        break;
    case '\\':
        if (!parse_atom_escape(t, &quantifiable)) return false;
        break;
    case '*':
    case '+':
    case '?':
    case '{': return fail(t, "nothing to repeat", t->at);
    case '}':
    case ']': return fail(t, "a bracket without its partner", t->at);
    default:
        if (!read_rune(t, &rune)) return false;
        put_literal(t, rune);
    }
    return parse_quantifier(t, quantifiable);
}

static void translate(translator *t) {
    if (!count_groups(t)) return;
    while (more(t))
        if (!parse_term(t)) return;
    if (t->depth)
        fail(t, "missing closing )", t->len);
    else if (t->out->failed)
        no_memory(t);
}

mwl_status mwl__pattern_translate(const mwl_alloc *a, const char *text, size_t len,
                                  mwl__pattern_target target, mwl__buf *out, bool *beyond,
                                  mwl_error *err) {
    translator t = {.text = (const uint8_t *)text,
                    .len = len,
                    .target = target,
                    .out = out,
                    .name_text = mwl__buf_make(*a)};
    translate(&t);
    mwl__buf_free(&t.name_text);
    mwl__mem_free(a, t.names, t.cap_names * sizeof *t.names);
    mwl__mem_free(a, t.stack, t.cap_stack);
    *beyond = t.beyond;
    if (t.status != MWL_OK && err) *err = (mwl_error){t.status, t.message, t.fail_at};
    return t.status;
}
