/* read.c: JSON text to a tree with positions. See read.h.
 *
 * One pass over the bytes, after all of them were checked to be UTF-8. The state is the innermost
 * open container and what may come next. An open container keeps its last child, so that appending
 * needs no other memory. When an object is closed, its names are checked, with a hash index if
 * there are many. The time is linear. */
#include "assembler/source/read.h"

#include "mwl_config.h"
#include "vm/base/ascii.h"
#include "vm/base/hash.h"
#include "vm/base/num.h"
#include "vm/base/table.h"
#include "vm/base/utf8.h"
#include "vm/value/value.h"

/* The members of one object by name; the first of two equal names is in the table. */
struct mwl__node_index {
    mwl__node *first;
    mwl__table table;
    mwl__node *member[];
};

typedef struct reader {
    mwl__tree *tree;
    const char *s; /* the source's bytes */
    uint32_t at, len;
    mwl__node *open; /* the innermost open container */
    unsigned depth;
    /* The name of the next value. */
    const char *key;
    uint32_t key_len, key_offset, key_end;
    /* The first container whose closing bracket is further left than the line where it begins. The
     * bracket was probably meant for a container around it, and one bracket is missing. */
    const mwl__node *suspect;
    uint32_t suspect_end;
    bool rejected;
    bool no_memory;
} reader;

/* ---- errors ---------------------------------------------------------------------------------- */

#define FAIL(r, code, from, to, ...)                                                               \
    ((r)->rejected = true, mwl__diag_report((r)->tree->sink, code, (r)->tree->source,              \
                                            mwl__span_make(from, to), __VA_ARGS__))

/* Returns the end of the word or character at `at`, to underline it in an error. */
static uint32_t token_end(const reader *r, uint32_t at) {
    uint32_t i = at;
    while (i < r->len && (mwl__is_alnum(r->s[i]) || r->s[i] == '_' || r->s[i] == '+' ||
                          r->s[i] == '-' || r->s[i] == '.' || r->s[i] == '$'))
        i++;
    if (i > at || i >= r->len) return i;
    return i + (uint32_t)mwl__utf8_width((unsigned char)r->s[i]);
}

/* Reports that the text ended inside a container, with the end and the bracket that is still open.
 */
static void fail_at_end(reader *r) {
    uint32_t end = r->len;
    while (end > 0 && strchr(" \t\r\n", r->s[end - 1])) end--;
    if (end == 0) {
        FAIL(r, MWL_DIAG_JSON_SYNTAX, 0, 0, "the file is empty");
        return;
    }
    if (r->suspect) {
        const mwl__node *n = r->suspect;
        bool object = n->kind == MWL_NODE_OBJECT;
        mwl__diag *d = FAIL(r, MWL_DIAG_JSON_SYNTAX, n->offset, n->offset + 1,
                            "this %s is not closed", object ? "object" : "array");
        mwl__diag_label(d, mwl__span_make(r->suspect_end, r->suspect_end + 1),
                        "by its indentation this closes another");
        mwl__diag_help(d, "a `%c` is missing between the two", object ? '}' : ']');
        return;
    }
    mwl__diag *d = FAIL(r, MWL_DIAG_JSON_SYNTAX, end, end, "the text ends too early");
    if (!r->open) return;
    mwl__diag_label(d, mwl__span_make(r->open->offset, r->open->offset + 1),
                    r->open->kind == MWL_NODE_OBJECT ? "this object is never closed"
                                                     : "this array is never closed");
}

/* ---- indentation ----------------------------------------------------------------------------- */

#define LINE_SCAN 400 /* bytes that are read; a longer line was not indented by hand */

/* Counts the blanks at the beginning of the line. Returns -1 if the line begins too far away. */
static int indentation(const reader *r, uint32_t at) {
    uint32_t begin = at, i;
    while (begin > 0 && r->s[begin - 1] != '\n' && at - begin < LINE_SCAN) begin--;
    if (begin > 0 && r->s[begin - 1] != '\n') return -1;
    for (i = begin; i < at && (r->s[i] == ' ' || r->s[i] == '\t'); i++) {
    }
    return (int)(i - begin);
}

/* Is the bracket at `at` the first character of its line? */
static bool begins_line(const reader *r, uint32_t at) {
    while (at > 0 && (r->s[at - 1] == ' ' || r->s[at - 1] == '\t')) at--;
    return at > 0 && r->s[at - 1] == '\n';
}

/* Compares the indentation of a container with that of its closing bracket, at `at`. */
static void compare_indentation(reader *r, const mwl__node *n, uint32_t at) {
    if (r->suspect || !begins_line(r, at)) return;
    int from = indentation(r, n->offset), to = indentation(r, at);
    if (to >= from) return;
    r->suspect = n;
    r->suspect_end = at;
}

/* ---- what was meant -------------------------------------------------------------------------- */

/* Suggests double quotes for a text in single quotes, if nothing in it must be escaped. */
static void fix_quotes(const reader *r, mwl__diag *d, uint32_t from) {
    uint32_t to = from + 1;
    while (to < r->len && r->s[to] != '\'' && r->s[to] != '\n' && r->s[to] != '"' &&
           r->s[to] != '\\')
        to++;
    if (to < r->len && r->s[to] == '\'')
        mwl__diag_fix_string(d, mwl__span_make(from, to + 1), r->s + from + 1, to - from - 1);
}

/* Suggests `text` for a word of another language. */
static void fix_word(mwl__diag *d, uint32_t from, uint32_t to, const char *text) {
    mwl__diag_help(d, "write %s", text);
    mwl__diag_fix(d, mwl__span_make(from, to), text, strlen(text));
}

static bool is_word(const char *t, size_t n, const char *word) {
    return n == strlen(word) && memcmp(t, word, n) == 0;
}

static bool is_letter(char c) { return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_'; }

/* A `]` in an object whose latest member is an object: that one was probably meant as a list. */
static void suggest_list(const reader *r, mwl__diag *d, char found) {
    const mwl__node *last = r->open->kind == MWL_NODE_OBJECT ? r->open->next : NULL;
    if (found != ']' || !last || last->kind != MWL_NODE_OBJECT) return;
    mwl__diag_help(d, "if '%.*s' is a list, write [ before its value", MWL__NODE_KEY(last));
    mwl__diag_label(d, mwl__span_make(last->offset, last->offset + 1), "a list would begin here");
}

/* Adds the help for the token at [from, to), where something else is expected, by what is common in
 * other languages. name: the name of a member is expected. */
static void suggest_json(const reader *r, mwl__diag *d, uint32_t from, uint32_t to, bool name) {
    const char *t = r->s + from;
    size_t n = to - from;
    if (*t == '\'') {
        mwl__diag_help(d, "JSON writes strings in double quotes");
        fix_quotes(r, d, from);
    } else if (*t == '/' || *t == '#') {
        mwl__diag_help(d, "JSON has no comments; the language has a `comment` member");
    } else if (*t == '`') {
        mwl__diag_help(d, "JSON has no template strings");
    } else if (name && is_letter(*t)) {
        mwl__diag_help(d, "JSON writes names in double quotes: \"%.*s\"", (int)(n > 40 ? 40 : n),
                       t);
        mwl__diag_fix_string(d, mwl__span_make(from, to), t, n);
    } else if (is_word(t, n, "True") || is_word(t, n, "False")) {
        fix_word(d, from, to, *t == 'T' ? "true" : "false");
    } else if (is_word(t, n, "None") || is_word(t, n, "nil") || is_word(t, n, "undefined")) {
        fix_word(d, from, to, "null");
    } else if (is_word(t, n, "NaN") || (n >= 8 && memcmp(t + n - 8, "Infinity", 8) == 0)) {
        mwl__diag_help(d, "JSON numbers are finite");
    } else if (*t == '+' || *t == '.') {
        mwl__diag_help(d, "a JSON number begins with a digit, or a minus and a digit");
    } else if ((*t == '}' || *t == ']') && r->open) {
        mwl__diag_label(d, mwl__span_make(r->open->offset, r->open->offset + 1), "still open");
        suggest_list(r, d, *t);
    } else if (is_letter(*t)) {
        mwl__diag_help(d, "JSON writes strings in double quotes");
    }
}

/* Reports that something else was found where `expected` should be. */
static mwl__diag *fail_expected(reader *r, const char *expected, bool name) {
    if (r->at >= r->len) {
        fail_at_end(r);
        return NULL;
    }
    uint32_t from = r->at, to = token_end(r, from);
    mwl__diag *d = FAIL(r, MWL_DIAG_JSON_SYNTAX, from, to, "expected %s, found '%.*s'", expected,
                        (int)(to - from > 40 ? 40 : to - from), r->s + from);
    if (d) suggest_json(r, d, from, to, name);
    return d;
}

/* Reports that neither a comma nor the closing bracket follows a value that ended at `end`. */
static void fail_after_value(reader *r, uint32_t end, bool object) {
    char c = r->at < r->len ? r->s[r->at] : '\0';
    bool begins =
        c == '"' || (!object && (c == '{' || c == '[' || c == '-' || (c >= '0' && c <= '9')));
    if (begins) {
        mwl__diag *d = FAIL(r, MWL_DIAG_JSON_SYNTAX, end, end, "a comma is missing");
        mwl__diag_help(d, "write a comma between this and what follows");
        mwl__diag_fix(d, mwl__span_make(end, end), ",", 1);
        return;
    }
    mwl__diag *d = fail_expected(r, object ? "',' or '}'" : "',' or ']'", false);
    if (c != ':' || object) return;
    mwl__diag_label(d, mwl__span_make(r->open->offset, r->open->offset + 1), "an array");
    mwl__diag_help(d, "members with names stand in an object: { \"name\": ... }");
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Returns the value of the four hexadecimal digits at p, or -1. */
static int32_t hex4(const char *p, const char *end) {
    if (end - p < 4) return -1;
    int32_t v = 0;
    for (int i = 0; i < 4; i++) {
        int d = mwl__hex_value(p[i]);
        if (d < 0) return -1;
        v = v * 16 + d;
    }
    return v;
}

/* Decodes the escape at p (a backslash) of a text that ends at `end`. Returns its length in the
 * source, 0 if it is not an escape, or -1 if it is half of a surrogate pair. *c is the code point.
 */
static int read_escape(const char *p, const char *end, uint32_t *c) {
    if (end - p < 2) return 0;
    switch (p[1]) {
    case '"':
    case '\\':
    case '/': *c = (unsigned char)p[1]; return 2;
    case 'b': *c = '\b'; return 2;
    case 'f': *c = '\f'; return 2;
    case 'n': *c = '\n'; return 2;
    case 'r': *c = '\r'; return 2;
    case 't': *c = '\t'; return 2;
    case 'u': break;
    default: return 0;
    }
    int32_t high = hex4(p + 2, end);
    if (high < 0) return 0;
    *c = (uint32_t)high;
    if (mwl__utf8_is_scalar(*c)) return 6;
    if (high >= 0xDC00 || end - p < 12 || p[6] != '\\' || p[7] != 'u') return -1;
    int32_t low = hex4(p + 8, end);
    if (low < 0xDC00 || low > 0xDFFF) return -1;
    *c = 0x10000u + (((uint32_t)high - 0xD800u) << 10) + ((uint32_t)low - 0xDC00u);
    return 12;
}

static bool fail_escape(reader *r, uint32_t at, int why) {
    uint32_t room = r->len - at;
    if (why < 0) {
        mwl__diag *d = FAIL(r, MWL_DIAG_LONE_SURROGATE, at, at + 6,
                            "'%.6s' is one half of a surrogate pair", r->s + at);
        mwl__diag_help(d, "write the character itself, or both halves: a high one, then a low one");
    } else if (room > 1 && r->s[at + 1] == 'u') {
        FAIL(r, MWL_DIAG_JSON_SYNTAX, at, at + 2, "'\\u' needs four hexadecimal digits after it");
    } else {
        uint32_t width = room > 1 ? (uint32_t)mwl__utf8_width((unsigned char)r->s[at + 1]) : 0;
        mwl__diag *d = FAIL(r, MWL_DIAG_JSON_SYNTAX, at, at + 1 + width, "unknown escape '%.*s'",
                            (int)(1 + width), r->s + at);
        mwl__diag_help(d, "a backslash itself is written \\\\");
    }
    return false;
}

static bool fail_in_string(reader *r, uint32_t from, uint32_t at) {
    mwl__diag *d;
    if (at >= r->len || r->s[at] == '\n' || r->s[at] == '\r') {
        d = FAIL(r, MWL_DIAG_JSON_SYNTAX, from, at, "a string is not closed");
        if (at < r->len) mwl__diag_help(d, "a line end inside a string is written \\n");
    } else {
        unsigned char c = (unsigned char)r->s[at];
        d = FAIL(r, MWL_DIAG_JSON_SYNTAX, at, at + 1,
                 "a control character (U+%04X) inside a string", c);
        if (c == '\t')
            mwl__diag_help(d, "write it as \\t");
        else
            mwl__diag_help(d, "write it as \\u%04x", c);
    }
    return false;
}

/* Copies [from, to) with its escapes decoded. */
static bool decode_string(reader *r, uint32_t from, uint32_t to, const char **out,
                          uint32_t *out_len) {
    char *copy = mwl__arena_new(&r->tree->arena, to - from);
    if (!copy) {
        r->no_memory = true;
        return false;
    }
    const char *p = r->s + from, *end = r->s + to;
    size_t n = 0;
    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((slash ? slash : end) - p);
        memcpy(copy + n, p, plain);
        n += plain;
        p += plain;
        if (!slash) break;
        uint32_t c;
        int width = read_escape(p, end, &c);
        if (width <= 0) return fail_escape(r, (uint32_t)(p - r->s), width);
        char utf8[4];
        size_t bytes = mwl__utf8_encode(c, utf8);
        memcpy(copy + n, utf8, bytes);
        n += bytes;
        p += width;
    }
    *out = copy;
    *out_len = (uint32_t)n;
    return true;
}

/* Reads the string that begins at r->at (its quote). If it returns true, r->at is after the closing
 * quote. */
static bool read_string(reader *r, const char **out, uint32_t *out_len) {
    uint32_t from = r->at + 1, i = from;
    bool escapes = false;
    for (;; i++) {
        if (i >= r->len || (unsigned char)r->s[i] < 0x20) return fail_in_string(r, r->at, i);
        if (r->s[i] == '"') break;
        if (r->s[i] != '\\') continue;
        escapes = true;
        if (++i >= r->len) return fail_in_string(r, r->at, i);
        if ((unsigned char)r->s[i] < 0x20) return fail_escape(r, i - 1, 0);
    }
    r->at = i + 1;
    if (escapes) return decode_string(r, from, i, out, out_len);
    *out = r->s + from;
    *out_len = i - from;
    return true;
}

/* ---- numbers and words ----------------------------------------------------------------------- */

static uint32_t skip_digits(const reader *r, uint32_t i) {
    while (i < r->len && mwl__is_digit(r->s[i])) i++;
    return i;
}

/* Returns the end of the JSON number at `at`, or 0 if there is no valid number. */
static uint32_t scan_number(const reader *r, uint32_t at, bool *integer) {
    uint32_t i = at, from;
    *integer = true;
    if (i < r->len && r->s[i] == '-') i++;
    from = i;
    i = skip_digits(r, i);
    if (i == from || (r->s[from] == '0' && i > from + 1)) return 0;
    if (i < r->len && r->s[i] == '.') {
        *integer = false;
        from = i + 1;
        if ((i = skip_digits(r, from)) == from) return 0;
    }
    if (i < r->len && (r->s[i] | 0x20) == 'e') {
        *integer = false;
        i++;
        if (i < r->len && (r->s[i] == '+' || r->s[i] == '-')) i++;
        from = i;
        if ((i = skip_digits(r, from)) == from) return 0;
    }
    return i;
}

static void fail_number(reader *r) {
    uint32_t from = r->at, to = token_end(r, from);
    mwl__diag *d = FAIL(r, MWL_DIAG_JSON_SYNTAX, from, to, "'%.*s' is not a JSON number",
                        (int)(to - from > 40 ? 40 : to - from), r->s + from);
    uint32_t first = from + (r->s[from] == '-');
    if (first + 1 < to && r->s[first] == '0' && mwl__is_digit(r->s[first + 1]))
        mwl__diag_help(d, "leading zeros are not allowed");
    else if (to > from && (r->s[to - 1] == '.' || (r->s[to - 1] | 0x20) == 'e'))
        mwl__diag_help(d, "a digit is missing at the end");
}

/* Warns if an integer is changed by becoming a double. Beyond 2^53 several integers become the same
 * double. */
static void warn_imprecise(reader *r, uint32_t from, uint32_t to, double d) {
    if (d > -9007199254740992.0 && d < 9007199254740992.0) return;
    uint32_t digits = from + (r->s[from] == '-');
    uint64_t exact;
    double size = d < 0 ? -d : d;
    if (mwl__num_parse_u64(r->s + digits, to - digits, &exact) >= 0 &&
        size < 18446744073709551615.0 && (uint64_t)size == exact)
        return;
    char text[MWL__NUM_MAX];
    size_t n = mwl__num_write(d, text);
    mwl__diag *w =
        mwl__diag_report(r->tree->sink, MWL_DIAG_IMPRECISE_NUMBER, r->tree->source,
                         mwl__span_make(from, to), "this integer becomes %.*s", (int)n, text);
    mwl__diag_help(w, "an identifier of this size belongs in a string");
}

static bool read_number(reader *r, mwl__node *n) {
    bool integer;
    uint32_t from = r->at, end = scan_number(r, from, &integer);
    if (token_end(r, from) != end) { /* what follows a number directly was meant as a part of it */
        fail_number(r);
        return false;
    }
    mwl_status status = mwl__num_parse(r->s + from, end - from, &n->as.number);
    if (status == MWL_E_RANGE) {
        FAIL(r, MWL_DIAG_NUMBER_OUT_OF_RANGE, from, end, "this number is too large for a double");
        n->as.number = 0; /* continue: the rest can still be read */
    } else if (integer && end - from > 15) {
        warn_imprecise(r, from, end, n->as.number);
    }
    r->at = end;
    return true;
}

static bool read_word(reader *r, mwl__node *n) {
    static const struct {
        const char *text;
        uint8_t len, kind;
        bool value;
    } words[] = {{"true", 4, MWL_NODE_BOOL, true},
                 {"false", 5, MWL_NODE_BOOL, false},
                 {"null", 4, MWL_NODE_NULL, false}};
    uint32_t len = token_end(r, r->at) - r->at;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (len != words[i].len || memcmp(r->s + r->at, words[i].text, len) != 0) continue;
        n->kind = words[i].kind;
        n->boolean = words[i].value;
        r->at += len;
        return true;
    }
    fail_expected(r, "a value", false);
    return false;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool same_name(const mwl__node *n, const char *s, size_t len) {
    return n->key_len == len && (len == 0 || memcmp(n->key, s, len) == 0);
}

static void fail_duplicate(reader *r, const mwl__node *first, const mwl__node *again) {
    r->rejected = true;
    mwl__diag *d =
        mwl__node_report_key(r->tree, again, MWL_DIAG_DUPLICATE_MEMBER,
                             "the member '%.*s' appears twice in one object", MWL__NODE_KEY(again));
    mwl__diag_text(d, "written again here");
    mwl__diag_label(d, mwl__node_key_span(first), "first written here");
    mwl__diag_help(d, "give one of the two another name, or remove it");
}

/* Returns the member of that name, or NULL; then the probe is where it can be added. */
static mwl__node *find_member(const struct mwl__node_index *index, const char *s, size_t len,
                              mwl__probe *probe) {
    *probe = mwl__probe_make(&index->table, mwl__hash_key(s, len));
    for (uint32_t i; mwl__table_next(&index->table, probe, &i);)
        if (same_name(index->member[i], s, len)) return index->member[i];
    return NULL;
}

static void check_few(reader *r, const mwl__node *object) {
    for (const mwl__node *m = object->as.first; m; m = m->next)
        for (const mwl__node *o = object->as.first; o != m; o = o->next)
            if (same_name(o, m->key, m->key_len)) {
                fail_duplicate(r, o, m);
                break;
            }
}

/* Checks the names of an object that was just closed, and makes its index. */
static bool check_members(reader *r, mwl__node *object) {
    if (object->count < MWL_INDEX_FROM) {
        check_few(r, object);
        return true;
    }
    struct mwl__node_index *index = mwl__arena_new(
        &r->tree->arena, sizeof *index + (size_t)object->count * sizeof *index->member);
    mwl_alloc alloc = mwl__arena_alloc(&r->tree->arena);
    if (!index || mwl__table_reserve(&index->table, &alloc, object->count) < 0) {
        r->no_memory = true;
        return false;
    }
    index->first = object->as.first;
    object->as.members = index;
    object->indexed = true;
    for (mwl__node *m = index->first; m; m = m->next) {
        mwl__probe probe;
        const mwl__node *first = find_member(index, m->key, m->key_len, &probe);
        index->member[m->index] = m;
        if (first)
            fail_duplicate(r, first, m);
        else
            mwl__table_put(&index->table, &probe, m->index);
    }
    return true;
}

/* ---- the grammar ----------------------------------------------------------------------------- */

static void skip_space(reader *r) {
    while (r->at < r->len) {
        char c = r->s[r->at];
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') break;
        r->at++;
    }
}

/* Appends a new node at r->at to the open container. */
static mwl__node *add_node(reader *r, mwl__node_kind kind) {
    mwl__node *n = mwl__arena_new(&r->tree->arena, sizeof *n);
    if (!n) {
        r->no_memory = true;
        return NULL;
    }
    r->tree->sink->quota.at = r->at;
    n->kind = (uint8_t)kind;
    n->offset = r->at;
    n->parent = r->open;
    r->tree->n_nodes++;
    if (!r->open) {
        r->tree->root = n;
        return n;
    }
    if (r->open->kind == MWL_NODE_OBJECT) {
        n->key = r->key;
        n->key_len = r->key_len;
        n->key_offset = r->key_offset;
        n->key_end = r->key_end;
    }
    n->index = r->open->count++;
    if (r->open->as.first)
        r->open->next->next = n;
    else
        r->open->as.first = n;
    r->open->next = n;
    return n;
}

static bool open_container(reader *r, mwl__node_kind kind) {
    if (r->depth >= MWL_DEPTH_LIMIT) {
        mwl__diag *d = FAIL(r, MWL_DIAG_NESTED_TOO_DEEPLY, r->at, r->at + 1,
                            "more than %d containers inside each other", (int)MWL_DEPTH_LIMIT);
        for (const mwl__node *n = r->open; n; n = n->parent)
            if (n->key && n->key_len == 4 && memcmp(n->key, "flow", 4) == 0) {
                mwl__diag_help(d, "move inner Flows into `flows` and call them by name");
                break;
            }
        return false;
    }
    mwl__node *n = add_node(r, kind);
    if (!n) return false;
    r->open = n;
    r->depth++;
    r->at++;
    return true;
}

static bool close_container(reader *r) {
    mwl__node *n = r->open;
    compare_indentation(r, n, r->at);
    n->end = ++r->at;
    n->next = NULL;
    r->open = n->parent;
    r->depth--;
    return n->kind != MWL_NODE_OBJECT || check_members(r, n);
}

/* Reads a value at r->at: a whole scalar, or the opening bracket of a container. */
static bool begin_value(reader *r) {
    char c = r->s[r->at];
    if (c == '{') return open_container(r, MWL_NODE_OBJECT);
    if (c == '[') return open_container(r, MWL_NODE_ARRAY);
    mwl__node *n = add_node(r, MWL_NODE_NULL);
    if (!n) return false;
    bool fine;
    if (c == '"') {
        n->kind = MWL_NODE_STRING;
        fine = read_string(r, &n->as.text, &n->count);
    } else if (c == '-' || mwl__is_digit(c)) {
        n->kind = MWL_NODE_NUMBER;
        fine = read_number(r, n);
    } else {
        fine = read_word(r, n);
    }
    n->end = r->at;
    return fine;
}

static bool read_name(reader *r) {
    if (r->at >= r->len || r->s[r->at] != '"') {
        fail_expected(r, "a member name in double quotes", true);
        return false;
    }
    r->key_offset = r->at;
    if (!read_string(r, &r->key, &r->key_len)) return false;
    r->key_end = r->at;
    skip_space(r);
    if (r->at >= r->len || r->s[r->at] != ':') {
        mwl__diag *d = fail_expected(r, "':' after the member name", false);
        if (r->at < r->len && (r->s[r->at] == '=' || r->s[r->at] == '"' || r->s[r->at] == '{')) {
            bool equals = r->s[r->at] == '=';
            mwl__diag_help(d, "a colon stands between a name and its value");
            mwl__diag_fix(
                d, mwl__span_make(equals ? r->at : r->key_end, equals ? r->at + 1 : r->key_end),
                ":", 1);
        }
        return false;
    }
    r->at++;
    skip_space(r);
    return true;
}

static bool fail_trailing_comma(reader *r, uint32_t comma) {
    mwl__diag *d = FAIL(r, MWL_DIAG_JSON_SYNTAX, comma, comma + 1, "a comma with nothing after it");
    mwl__diag_help(d, "remove the comma");
    mwl__diag_fix(d, mwl__span_make(comma, comma + 1), "", 0);
    return false;
}

/* Reads what follows a value: closing brackets, then a comma and what comes before the next value.
 * Sets *done if the root is complete. */
static bool after_value(reader *r, bool *done) {
    for (;;) {
        uint32_t value_end = r->at;
        skip_space(r);
        if (!r->open) {
            *done = true;
            return true;
        }
        char end = r->open->kind == MWL_NODE_OBJECT ? '}' : ']';
        char c = r->at < r->len ? r->s[r->at] : '\0';
        if (c == end && r->at < r->len) {
            if (!close_container(r)) return false;
            continue;
        }
        if (c != ',' || r->at >= r->len) {
            fail_after_value(r, value_end, end == '}');
            return false;
        }
        uint32_t comma = r->at++;
        skip_space(r);
        if (r->at < r->len && (r->s[r->at] == '}' || r->s[r->at] == ']'))
            return fail_trailing_comma(r, comma);
        return end == ']' || read_name(r);
    }
}

static bool read_document(reader *r) {
    bool done = false;
    skip_space(r);
    while (!done) {
        if (r->at >= r->len) {
            fail_at_end(r);
            return false;
        }
        const mwl__node *around = r->open;
        if (!begin_value(r)) return false;
        if (r->open != around) { /* a container was opened: its first child, or its end */
            skip_space(r);
            char end = r->open->kind == MWL_NODE_OBJECT ? '}' : ']';
            bool empty = r->at < r->len && r->s[r->at] == end;
            if (!empty && end == '}' && !read_name(r)) return false;
            if (!empty) continue;
        }
        if (!after_value(r, &done)) return false;
    }
    if (r->at < r->len) {
        uint32_t to = token_end(r, r->at);
        bool closes = r->s[r->at] == '}' || r->s[r->at] == ']';
        mwl__diag *d = FAIL(r, MWL_DIAG_JSON_SYNTAX, r->at, to,
                            closes ? "this bracket closes nothing"
                                   : "something follows the end of the document");
        if (closes) {
            mwl__diag_help(d, "remove it");
            mwl__diag_fix(d, mwl__span_make(r->at, r->at + 1), "", 0);
        }
        if (r->suspect && closes)
            mwl__diag_label(d, mwl__span_make(r->suspect_end, r->suspect_end + 1),
                            "by its indentation this bracket is one too many");
        else
            mwl__diag_label(d, mwl__span_make(r->tree->root->end - 1, r->tree->root->end),
                            "the document ends here");
        return false;
    }
    return true;
}

/* Checks the bytes before they are read: byte order mark, UTF-8. */
static bool check_bytes(reader *r) {
    if (r->len >= 3 && memcmp(r->s, "\xEF\xBB\xBF", 3) == 0) {
        mwl__diag *d =
            FAIL(r, MWL_DIAG_BYTE_ORDER_MARK, 0, 3, "the text begins with a byte order mark");
        mwl__diag_help(d, "save the file as UTF-8 without a byte order mark");
        return false;
    }
    if (r->len >= 2 && (memcmp(r->s, "\xFF\xFE", 2) == 0 || memcmp(r->s, "\xFE\xFF", 2) == 0)) {
        mwl__diag *d =
            FAIL(r, MWL_DIAG_BYTE_ORDER_MARK, 0, 2, "the text begins with the mark of UTF-16");
        mwl__diag_help(d, "save the file as UTF-8 without a byte order mark");
        return false;
    }
    size_t valid = mwl__utf8_valid_prefix(r->s, r->len);
    if (valid == r->len) return true;
    FAIL(r, MWL_DIAG_INVALID_UTF8, (uint32_t)valid, (uint32_t)valid + 1,
         "the byte 0x%02X here is not UTF-8", (unsigned char)r->s[valid]);
    return false;
}

/* Checks that the text is within the limits. Reading costs a unit of work for each byte. */
static bool check_size(reader *r) {
    const mwl__quota *q = &r->tree->sink->quota;
    if (r->len > q->bytes) {
        mwl__diag *d =
            FAIL(r, MWL_DIAG_DEFINITION_TOO_LARGE, (uint32_t)q->bytes, (uint32_t)q->bytes,
                 "the text has more than %llu bytes", (unsigned long long)q->bytes);
        mwl__diag_help(d, "data does not belong in a definition: pass it as input");
        return false;
    }
    uint32_t at = q->work < r->len ? (uint32_t)q->work : 0;
    if (mwl__diags_work(r->tree->sink, r->tree->source, at, r->len)) return true;
    r->rejected = true;
    return false;
}

mwl_status mwl__tree_read(mwl__tree *tree, mwl_alloc alloc, mwl__source *source, mwl__diags *sink) {
    memset(tree, 0, sizeof *tree);
    tree->arena = mwl__arena_make(alloc);
    tree->source = source;
    tree->sink = sink;
    reader r = {.tree = tree, .s = source->text, .len = source->len};
    bool fine = check_size(&r) && check_bytes(&r) && read_document(&r);
    if (!fine) tree->root = NULL;
    if (r.no_memory) return MWL_E_NOMEM;
    return r.rejected ? MWL_E_REJECTED : MWL_OK;
}

void mwl__tree_free(mwl__tree *tree) {
    mwl__mem_free(&tree->arena.alloc, tree->marks, tree->n_marks * sizeof *tree->marks);
    tree->marks = NULL;
    tree->n_marks = 0;
    tree->marked = NULL;
    mwl__arena_free(&tree->arena);
    tree->root = NULL;
}

/* ---- looking --------------------------------------------------------------------------------- */

mwl__node *mwl__node_index_first(const struct mwl__node_index *members) { return members->first; }

mwl__node *mwl__node_find(const mwl__node *n, const char *name, size_t len) {
    if (!n || n->kind != MWL_NODE_OBJECT) return NULL;
    mwl__probe probe;
    if (n->indexed) return find_member(n->as.members, name, len, &probe);
    for (mwl__node *m = n->as.first; m; m = m->next)
        if (same_name(m, name, len)) return m;
    return NULL;
}

mwl__node *mwl__node_get(const mwl__node *n, const char *name) {
    return mwl__node_find(n, name, strlen(name));
}

bool mwl__node_is(const mwl__node *n, const char *text) {
    size_t len = strlen(text);
    return n && n->kind == MWL_NODE_STRING && n->count == len && memcmp(n->as.text, text, len) == 0;
}

bool mwl__node_key_is(const mwl__node *n, const char *name) {
    return n->key && same_name(n, name, strlen(name));
}

const char *mwl__node_kind_name(const mwl__node *n) {
    static const char *const names[] = {"null",     "a boolean", "a number",
                                        "a string", "an array",  "an object"};
    return names[n->kind];
}
