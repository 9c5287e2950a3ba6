/* cel_check.c: finds errors in an expression without evaluating it.
 *
 * Owns: the rules by which a resolved tree gets errors and warnings. Refuses to know: which roots
 * and functions exist (the caller's tables), and types beyond the kind that a literal or an
 * operator shows.
 *
 * The guarantee: an error is reported only for what cannot be right at run time (check_format has
 * the one exception). A name that is not declared can never be right. Kinds that do not fit are a
 * fault only if they are evaluated. So this is an error where evaluation is certain, and a warning
 * elsewhere: `certain` is false in branches of ?:, operands of && and || (they absorb faults),
 * bodies of loops, and what is evaluated on demand. */
#include "assembler/cel/cel_front.h"

#include "vm/base/suggest.h"

#include <stdarg.h>
#include <stdio.h>

typedef mwl__cel_known kind;

static const char *const kind_names[] = {"any",    "null",   "bool",  "int",  "uint",
                                         "double", "string", "bytes", "list", "map"};

#define LONGEST_REPAIR 60 /* bytes of an operand that a suggestion writes out */
#define UNKNOWN_MAX 8     /* unknown names of one expression that are reported */

typedef struct checker {
    const mwl__cel_check_options *o;
    const char *source;
    bool rejected, failed;
    unsigned n_unknown;
} checker;

static kind walk(checker *c, const mwl__cel_node *n, bool certain);

const char *mwl__cel_as_condition(mwl__arena *arena, mwl__cel_text text, mwl__cel_known known) {
    static const struct {
        const char *before, *after;
    } ways[] = {[MWL__KNOWN_INT] = {"", " > 0"},        [MWL__KNOWN_UINT] = {"", " > 0u"},
                [MWL__KNOWN_DOUBLE] = {"", " > 0.0"},   [MWL__KNOWN_STRING] = {"", " != \'\'"},
                [MWL__KNOWN_LIST] = {"size(", ") > 0"}, [MWL__KNOWN_MAP] = {"size(", ") > 0"}};
    if ((size_t)known >= sizeof ways / sizeof *ways || !ways[known].before ||
        text.len > LONGEST_REPAIR)
        return NULL;
    char help[LONGEST_REPAIR + 60];
    int n = snprintf(help, sizeof help, "compare it: %s%.*s%s", ways[known].before, (int)text.len,
                     text.data, ways[known].after);
    return mwl__arena_text(arena, help, (size_t)n);
}

/* ---- reporting ------------------------------------------------------------------------------- */

/* What a report suggests: a help, and perhaps an exact repair. */
typedef struct hint {
    const char *help, *fix;
    uint32_t fix_begin, fix_end;
    const char *note; /* a reason, or NULL */
} hint;

static void vreport(checker *c, mwl__cel_problem problem, const char *format, va_list ap) {
    char message[256];
    vsnprintf(message, sizeof message, format, ap);
    problem.message = message;
    if (problem.severity == MWL__CEL_ERROR) c->rejected = true;
    if (c->o->sink.report) c->o->sink.report(c->o->sink.ctx, &problem);
}

static void report(checker *c, mwl__cel_severity severity, mwl__cel_why why, uint32_t begin,
                   uint32_t end, const char *note, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
static void report(checker *c, mwl__cel_severity severity, mwl__cel_why why, uint32_t begin,
                   uint32_t end, const char *note, const char *format, ...) {
    mwl__cel_problem problem = {
        .severity = severity, .begin = begin, .end = end, .note = note, .why = why};
    va_list ap;
    va_start(ap, format);
    vreport(c, problem, format, ap);
    va_end(ap);
}

static void report_hint(checker *c, mwl__cel_severity severity, mwl__cel_why why, uint32_t begin,
                        uint32_t end, const hint *h, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
static void report_hint(checker *c, mwl__cel_severity severity, mwl__cel_why why, uint32_t begin,
                        uint32_t end, const hint *h, const char *format, ...) {
    mwl__cel_problem problem = {.severity = severity,
                                .begin = begin,
                                .end = end,
                                .why = why,
                                .note = h->note,
                                .help = h->help,
                                .fix = h->fix,
                                .fix_begin = h->fix_begin,
                                .fix_end = h->fix_end};
    va_list ap;
    va_start(ap, format);
    vreport(c, problem, format, ap);
    va_end(ap);
}

static const char *copy_text(checker *c, const char *s, size_t len) {
    const char *copy = mwl__arena_text(c->o->arena, s, len);
    if (!copy) c->failed = true;
    return copy;
}

/* Adds "did you mean `x`?", with x instead of these bytes; adds nothing if no name is near. */
static hint meant(checker *c, const char *name, size_t len, uint32_t begin, uint32_t end) {
    hint h = {.fix_begin = begin, .fix_end = end};
    if (!name) return h;
    char *help = mwl__arena_new(c->o->arena, len + 20);
    h.fix = copy_text(c, name, len);
    if (help)
        snprintf(help, len + 20, "did you mean `%.*s`?", (int)len, name);
    else
        c->failed = true;
    h.help = help;
    return h;
}

static bool is_text(mwl__cel_text t, const char *word) {
    return strlen(word) == t.len && memcmp(t.data, word, t.len) == 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Whether the name, up to its first dot, is a root that is in scope; a word of CEL counts too. */
static bool is_in_scope(const checker *c, const char *name, size_t len) {
    const char *dot = memchr(name, '.', len);
    size_t n = dot ? (size_t)(dot - name) : len;
    if (n == 4 && memcmp(name, "null", 4) == 0) return true;
    for (size_t i = 0; i < c->o->n_roots; i++)
        if (strlen(c->o->roots[i].name) == n && memcmp(c->o->roots[i].name, name, n) == 0)
            return !c->o->roots[i].absent;
    return false;
}

static hint meant_name(checker *c, const mwl__cel_node *n) {
    mwl__named w;
    if (mwl__word_find(c->o->name_words, n->name.data, n->name.len, &w)) {
        hint h = {.help = NULL};
        if (w.help) h.help = copy_text(c, w.help, w.help_len);
        if (w.help) return h;
        if (is_in_scope(c, w.name, w.name_len))
            return meant(c, w.name, w.name_len, n->begin, n->end);
    }
    mwl__suggest s = mwl__suggest_make(n->name.data, n->name.len);
    for (size_t i = 0; i < c->o->n_roots; i++)
        if (!c->o->roots[i].absent)
            mwl__suggest_offer(&s, c->o->roots[i].name, strlen(c->o->roots[i].name));
    for (const mwl__cel_node *up = n->parent; up; up = up->parent)
        for (uint32_t i = 0; i < up->n_vars; i++)
            mwl__suggest_offer(&s, up->vars[i].name.data, up->vars[i].name.len);
    return meant(c, s.best, s.best_len, n->begin, n->end);
}

/* Whether there were unknown names enough in this expression: it is a text of another kind. */
static bool is_one_of_many(checker *c) {
    if (c->n_unknown++ < UNKNOWN_MAX) return false;
    c->rejected = true;
    return true;
}

static void check_ident(checker *c, const mwl__cel_node *n) {
    if (n->ref == MWL__CEL_REF_LOCAL || n->ref == MWL__CEL_REF_TYPE) return;
    for (size_t i = 0; i < c->o->n_roots; i++) {
        const mwl__cel_root *root = &c->o->roots[i];
        if (!is_text(n->name, root->name)) continue;
        if (root->absent)
            report(c, MWL__CEL_ERROR, MWL__CEL_WHY_SCOPE, n->begin, n->end, root->absent,
                   "`%s` does not exist here", root->name);
        return;
    }
    if (n->ref == MWL__CEL_REF_VARIABLE) return;
    if (is_one_of_many(c)) return;
    hint h = c->o->no_hints ? (hint){.help = NULL} : meant_name(c, n);
    report_hint(c, MWL__CEL_ERROR, MWL__CEL_WHY_NAME, n->begin, n->end, &h,
                "nothing is called `%s`", n->name.data);
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool is_macro(mwl__cel_text name, bool member) {
    for (const mwl__cel_macro *m = mwl__cel_standard_macros; m->name; m++)
        if (m->member == member && !m->name_space && is_text(name, m->name)) return true;
    return false;
}

/* Returns whether `name` and a dot begin the name of a function: `math`. */
static bool is_name_space(const checker *c, mwl__cel_text name) {
    for (size_t i = 0; i < c->o->n_functions; i++) {
        const char *f = c->o->functions[i]->name;
        if (strncmp(f, name.data, name.len) == 0 && f[name.len] == '.') return true;
    }
    return false;
}

/* Whether the member call is one of another language's name spaces: `JSON.stringify(x)`. */
static bool is_foreign(const checker *c, const mwl__cel_node *call) {
    char name[40];
    mwl__named w;
    int n = snprintf(name, sizeof name, "%s.%s", call->kids[0]->name.data, call->name.data);
    return n > 0 && (size_t)n < sizeof name &&
           mwl__word_find(c->o->function_words, name, (size_t)n, &w);
}

/* Whether the target of the member call is a name space and no value. */
static bool is_in_name_space(const checker *c, const mwl__cel_node *call) {
    const mwl__cel_node *target = call->kids[0];
    return target->kind == MWL__CEL_IDENT && target->ref == MWL__CEL_REF_NONE &&
           (is_name_space(c, target->name) || is_foreign(c, call));
}

/* Returns where the last part of a call's name begins. Problems of the call are reported there. */
static void name_span(const mwl__cel_node *n, uint32_t *begin, uint32_t *end) {
    *begin = n->at;
    *end = n->kind == MWL__CEL_MEMBER ? n->at + (uint32_t)n->name.len : n->end;
    if (n->kind == MWL__CEL_CALL && n->at + n->name.len <= n->end)
        *end = n->at + (uint32_t)n->name.len; /* exact unless there are spaces or a container */
}

/* The function or macro of that name and style, of any arity. */
static bool is_function(const checker *c, const char *name, size_t len, bool member) {
    mwl__cel_text text = {name, len};
    if (is_macro(text, member)) return true;
    for (size_t i = 0; i < c->o->n_functions; i++) {
        const mwl_function_def *f = c->o->functions[i];
        if ((f->style & (member ? MWL_FN_MEMBER : MWL_FN_GLOBAL)) && is_text(text, f->name))
            return true;
    }
    return false;
}

/* Suggests `x.f(y)` for `f(x, y)`. */
static hint as_member(checker *c, const mwl__cel_node *n, const char *name) {
    hint h = {.fix_begin = n->begin, .fix_end = n->end};
    if (n->n_kids == 0) return h;
    const mwl__cel_node *x = n->kids[0];
    const char *s = c->source;
    bool simple = x->kind == MWL__CEL_IDENT || x->kind == MWL__CEL_SELECT ||
                  x->kind == MWL__CEL_INDEX || x->kind == MWL__CEL_CALL ||
                  x->kind == MWL__CEL_MEMBER || x->kind == MWL__CEL_LIST ||
                  (x->kind == MWL__CEL_LIT && x->lit.kind == MWL__CEL_STRING);
    uint32_t from = n->n_kids > 1 ? n->kids[1]->begin : n->end - 1;
    if (!simple || n->end <= from || n->end - n->begin > 200 || s[n->end - 1] != ')') return h;
    mwl__buf b = mwl__buf_make(mwl__arena_alloc(c->o->arena));
    mwl__buf_puts(&b, "write ");
    mwl__buf_put(&b, s + x->begin, x->end - x->begin);
    mwl__buf_printf(&b, ".%s(", name);
    mwl__buf_put(&b, s + from, n->end - from);
    h.help = copy_text(c, mwl__buf_cstr(&b), b.len);
    if (h.help) h.fix = h.help + 6;
    mwl__buf_free(&b);
    return h;
}

/* Returns what an unknown function may be meant to be. *macro: it is a macro, which declares its
 * first argument. */
static hint meant_function(checker *c, const mwl__cel_node *n, const char *name, size_t len,
                           uint32_t begin, uint32_t end, bool *macro) {
    bool member = n->kind == MWL__CEL_MEMBER;
    mwl__named w;
    hint h = {.help = NULL};
    if (mwl__word_find(c->o->function_words, name, len, &w)) {
        mwl__cel_text text = {w.name, w.name_len};
        *macro = w.name && is_macro(text, member);
        if (w.help) h.help = copy_text(c, w.help, w.help_len);
        if (w.help) return h;
        h = meant(c, w.name, w.name_len, begin, end);
        if (is_function(c, w.name, w.name_len, member)) return h;
        h.fix = NULL; /* of the other style: the arguments must be moved */
        if (is_function(c, w.name, w.name_len, !member)) {
            const char *found = member ? NULL : copy_text(c, w.name, w.name_len);
            hint moved = found ? as_member(c, n, found) : h;
            return moved.help ? moved : h;
        }
    }
    mwl__suggest s = mwl__suggest_make(name, len);
    for (size_t i = 0; i < c->o->n_functions; i++)
        mwl__suggest_offer(&s, c->o->functions[i]->name, strlen(c->o->functions[i]->name));
    for (const mwl__cel_macro *m = mwl__cel_standard_macros; m->name; m++)
        if (!m->name_space) mwl__suggest_offer(&s, m->name, strlen(m->name));
    mwl__cel_text best = {s.best, s.best_len};
    *macro = s.best && is_macro(best, member);
    h = meant(c, s.best, s.best_len, begin, end);
    if (s.best && !is_function(c, s.best, s.best_len, member)) h.fix = NULL;
    return h;
}

/* Returns false if the arguments may be variables that a macro would declare. Then they are not
 * checked. */
static bool unknown_function(checker *c, const mwl__cel_node *n, const char *name, size_t len,
                             uint32_t begin, uint32_t end) {
    bool member = n->kind == MWL__CEL_MEMBER, macro = is_macro(n->name, member);
    const mwl_function_def *other = NULL;
    for (size_t i = 0; i < c->o->n_functions && !macro; i++) {
        const mwl_function_def *f = c->o->functions[i];
        if (strlen(f->name) == len && memcmp(f->name, name, len) == 0) other = f;
    }
    if (macro) {
        report(c, MWL__CEL_ERROR, MWL__CEL_WHY_MACRO, begin, end, NULL,
               "the macro `%s` does not take %u argument%s", n->name.data,
               n->n_kids - (member ? 1 : 0), n->n_kids == (member ? 2u : 1u) ? "" : "s");
    } else if (other && member) {
        report(c, MWL__CEL_ERROR, MWL__CEL_WHY_ARITY, begin, end, other->usage,
               "`%s` is called without a target", other->name);
    } else if (other) {
        hint h = as_member(c, n, other->name);
        h.note = other->usage;
        report_hint(c, MWL__CEL_ERROR, MWL__CEL_WHY_ARITY, begin, end, &h,
                    "`%s` is called on a target: x.%s()", other->name, other->name);
    } else {
        if (is_one_of_many(c)) return true;
        hint h = {.help = NULL};
        if (!c->o->no_hints) h = meant_function(c, n, name, len, begin, end, &macro);
        report_hint(c, MWL__CEL_ERROR, MWL__CEL_WHY_FUNCTION, begin, end, &h,
                    "there is no function `%.*s`", (int)len, name);
    }
    return !macro;
}

/* Checks the name and the number of arguments of a CALL or MEMBER. Returns false if it is, or was
 * meant to be, a macro whose arguments may be variables that are not declared. Then they are not
 * checked. */
static bool check_call(checker *c, const mwl__cel_node *n) {
    unsigned style = n->kind == MWL__CEL_MEMBER ? MWL_FN_MEMBER : MWL_FN_GLOBAL;
    unsigned receiver = n->kind == MWL__CEL_MEMBER ? 1 : 0;
    const mwl_function_def *found = NULL;
    unsigned least = 255, most = 0;
    uint32_t begin, end;
    name_span(n, &begin, &end);
    for (size_t i = 0; i < c->o->n_functions; i++) {
        const mwl_function_def *f = c->o->functions[i];
        if (!(f->style & style) || !is_text(n->name, f->name)) continue;
        if (n->n_kids >= f->min_args && (f->max_args == 255 || n->n_kids <= f->max_args))
            return true;
        found = f;
        if (f->min_args < least) least = f->min_args;
        if (f->max_args > most) most = f->max_args;
    }
    if (!found) return unknown_function(c, n, n->name.data, n->name.len, begin, end);
    least = least > receiver ? least - receiver : 0;
    unsigned given = n->n_kids - receiver;
    if (most == 255)
        report(c, MWL__CEL_ERROR, MWL__CEL_WHY_ARITY, begin, end, found->usage,
               "`%s` takes %u or more arguments and is given %u", found->name, least, given);
    else if (least == most - receiver)
        report(c, MWL__CEL_ERROR, MWL__CEL_WHY_ARITY, begin, end, found->usage,
               "`%s` takes %u argument%s and is given %u", found->name, least,
               least == 1 ? "" : "s", given);
    else
        report(c, MWL__CEL_ERROR, MWL__CEL_WHY_ARITY, begin, end, found->usage,
               "`%s` takes %u to %u arguments and is given %u", found->name, least, most - receiver,
               given);
    return true;
}

/* `math.nope(x)`: the target is a name space and not a value. Returns true if that is the case. */
static bool check_name_space(checker *c, const mwl__cel_node *n) {
    const mwl__cel_node *target = n->kids[0];
    if (!is_in_name_space(c, n)) return false;
    mwl__buf full = mwl__buf_make(c->o->arena->alloc);
    mwl__buf_printf(&full, "%s.%s", target->name.data, n->name.data);
    const char *name = mwl__buf_cstr(&full);
    if (full.failed)
        c->failed = true;
    else
        unknown_function(c, n, name, full.len, n->begin, n->at + (uint32_t)n->name.len);
    mwl__buf_free(&full);
    return true;
}

static void check_pattern(checker *c, const mwl__cel_node *n, bool certain) {
    if (!c->o->pattern_fault || n->n_kids != 2 || !is_text(n->name, "matches")) return;
    const mwl__cel_node *p = n->kids[1];
    if (p->kind != MWL__CEL_LIT || p->lit.kind != MWL__CEL_STRING) return;
    const char *why = c->o->pattern_fault(c->o->ctx, p->lit.as.text, p->lit.len);
    if (why)
        report(c, certain ? MWL__CEL_ERROR : MWL__CEL_WARNING, MWL__CEL_WHY_PATTERN, p->begin,
               p->end, why, "the pattern is not a regular expression of RE2");
}

/* Returns the number of arguments that a format of the strings library needs: its %verbs. */
static size_t count_verbs(mwl__cel_text format) {
    size_t n = 0;
    for (size_t i = 0; i + 1 < format.len; i++) {
        if (format.data[i] != '%') continue;
        i++;
        if (format.data[i] != '%') n++;
    }
    return n;
}

/* 'literal'.format([a, b]): both numbers are known. Too many arguments are an error, although
 * evaluation would only ignore the rest, because cel-go's checker refuses it and it is surely a
 * mistake. */
static void check_format(checker *c, const mwl__cel_node *n, bool certain) {
    if (n->n_kids != 2 || !is_text(n->name, "format")) return;
    const mwl__cel_node *format = n->kids[0], *args = n->kids[1];
    if (format->kind != MWL__CEL_LIT || format->lit.kind != MWL__CEL_STRING ||
        args->kind != MWL__CEL_LIST || (args->flags & MWL__CEL_OPTIONAL))
        return;
    size_t verbs = count_verbs(mwl__cel_lit_text(&format->lit));
    if (args->n_kids == verbs) return;
    bool error = certain || args->n_kids > verbs;
    report(c, error ? MWL__CEL_ERROR : MWL__CEL_WARNING, MWL__CEL_WHY_KIND, args->begin, args->end,
           NULL, "the format has %zu place%s and is given %u argument%s", verbs,
           verbs == 1 ? "" : "s", args->n_kids, args->n_kids == 1 ? "" : "s");
}

/* ---- kinds ----------------------------------------------------------------------------------- */

static kind literal_kind(const mwl__cel_lit *lit) {
    static const kind kinds[] = {MWL__KNOWN_NULL, MWL__KNOWN_BOOL,   MWL__KNOWN_INT,
                                 MWL__KNOWN_UINT, MWL__KNOWN_DOUBLE, MWL__KNOWN_STRING,
                                 MWL__KNOWN_BYTES};
    return kinds[lit->kind];
}

static bool is_number(kind k) {
    return k == MWL__KNOWN_INT || k == MWL__KNOWN_UINT || k == MWL__KNOWN_DOUBLE;
}

/* Returns whether `kind` occurs in a list that ends with MWL__KNOWN_ANY. */
static bool among(kind k, const kind *kinds) {
    for (; *kinds != MWL__KNOWN_ANY; kinds++)
        if (*kinds == k) return true;
    return false;
}

/* The kinds of operands for + - * / % and the ordering relations, where both sides have the same
 * kind. */
static const kind *operand_kinds(const mwl__cel_node *n) {
    static const kind add[] = {MWL__KNOWN_INT,    MWL__KNOWN_UINT,  MWL__KNOWN_DOUBLE,
                               MWL__KNOWN_STRING, MWL__KNOWN_BYTES, MWL__KNOWN_LIST,
                               MWL__KNOWN_ANY};
    static const kind arith[] = {MWL__KNOWN_INT, MWL__KNOWN_UINT, MWL__KNOWN_DOUBLE,
                                 MWL__KNOWN_ANY};
    static const kind mod[] = {MWL__KNOWN_INT, MWL__KNOWN_UINT, MWL__KNOWN_ANY};
    static const kind order[] = {MWL__KNOWN_BOOL,   MWL__KNOWN_INT,    MWL__KNOWN_UINT,
                                 MWL__KNOWN_DOUBLE, MWL__KNOWN_STRING, MWL__KNOWN_BYTES,
                                 MWL__KNOWN_ANY};
    switch (n->kind) {
    case MWL__CEL_ADD: return add;
    case MWL__CEL_SUB:
    case MWL__CEL_MUL:
    case MWL__CEL_DIV: return arith;
    case MWL__CEL_MOD: return mod;
    default: return order;
    }
}

/* The text of the node. */
static mwl__cel_text source_of(const checker *c, const mwl__cel_node *n) {
    return (mwl__cel_text){c->source + n->begin, n->end - n->begin};
}

/* Adds "write X": `before`, the text of the node and `after` instead of the node. */
static hint instead(checker *c, const mwl__cel_node *n, const char *before, mwl__cel_text text,
                    const char *after) {
    hint h = {.fix_begin = n->begin, .fix_end = n->end};
    if (text.len > LONGEST_REPAIR) return h;
    mwl__buf b = mwl__buf_make(mwl__arena_alloc(c->o->arena));
    mwl__buf_printf(&b, "write %s%.*s%s", before, (int)text.len, text.data, after);
    h.help = copy_text(c, mwl__buf_cstr(&b), b.len);
    if (h.help) h.fix = h.help + strlen("write ");
    mwl__buf_free(&b);
    return h;
}

/* Is it a string literal that has a number and nothing else: '3', '2.5'? */
static bool is_number_text(const mwl__cel_node *n) {
    if (n->kind != MWL__CEL_LIT || n->lit.kind != MWL__CEL_STRING) return false;
    mwl__cel_text t = mwl__cel_lit_text(&n->lit);
    size_t digits = 0, points = 0;
    for (size_t i = 0; i < t.len; i++) {
        digits += t.data[i] >= '0' && t.data[i] <= '9';
        points += t.data[i] == '.' && i > 0 && i + 1 < t.len;
    }
    return digits && points <= 1 && digits + points == t.len;
}

/* How to mend an operator whose operands have these kinds; without help if that is not known. */
static hint mend(checker *c, const mwl__cel_node *n, kind a, kind b) {
    const mwl__cel_node *left = n->kids[0], *right = n->kids[1];
    if (n->kind == MWL__CEL_ADD && a == MWL__KNOWN_STRING && (is_number(b) || b == MWL__KNOWN_BOOL))
        return instead(c, right, "string(", source_of(c, right), ")");
    if (n->kind == MWL__CEL_ADD && b == MWL__KNOWN_STRING && (is_number(a) || a == MWL__KNOWN_BOOL))
        return instead(c, left, "string(", source_of(c, left), ")");
    const mwl__cel_node *text = is_number(a) && is_number_text(right)  ? right
                                : is_number(b) && is_number_text(left) ? left
                                                                       : NULL;
    if (!text || n->kind == MWL__CEL_ADD) return (hint){.help = NULL};
    mwl__cel_text number = mwl__cel_lit_text(&text->lit);
    return instead(c, text, "", number, memchr(number.data, '.', number.len) ? "" : ".0");
}

static void clash(checker *c, const mwl__cel_node *n, bool certain, const hint *h, kind left,
                  kind right) {
    const char *op = mwl__cel_kind_text((mwl__cel_kind)n->kind);
    mwl__cel_severity s = certain ? MWL__CEL_ERROR : MWL__CEL_WARNING;
    if (left == MWL__KNOWN_ANY) left = right, right = MWL__KNOWN_ANY;
    if (right != MWL__KNOWN_ANY)
        report_hint(c, s, MWL__CEL_WHY_KIND, n->begin, n->end, h,
                    "`%s` is not defined for %s and %s", op, kind_names[left], kind_names[right]);
    else
        report_hint(c, s, MWL__CEL_WHY_KIND, n->begin, n->end, h, "`%s` is not defined for %s", op,
                    kind_names[left]);
}

/* How `a in b` is written if b is a string. */
static hint contains(checker *c, const mwl__cel_node *n) {
    mwl__cel_text part = source_of(c, n->kids[0]), whole = source_of(c, n->kids[1]);
    char after[LONGEST_REPAIR + 20];
    if (part.len > LONGEST_REPAIR) return (hint){.help = NULL};
    snprintf(after, sizeof after, ".contains(%.*s)", (int)part.len, part.data);
    return instead(c, n, "", whole, after);
}

/* `.length` of what has none. */
static hint size_of(checker *c, const mwl__cel_node *n) {
    if (!is_text(n->name, "length") && !is_text(n->name, "size") && !is_text(n->name, "count"))
        return (hint){.help = NULL};
    return instead(c, n, "size(", source_of(c, n->kids[0]), ")");
}

static kind binary_kind(checker *c, const mwl__cel_node *n, kind a, kind b, bool certain) {
    if (n->kind == MWL__CEL_EQ || n->kind == MWL__CEL_NE)
        return MWL__KNOWN_BOOL; /* any two values can be compared */
    if (n->kind == MWL__CEL_IN) {
        if (b != MWL__KNOWN_ANY && b != MWL__KNOWN_LIST && b != MWL__KNOWN_MAP) {
            bool part = b == MWL__KNOWN_STRING && (a == MWL__KNOWN_STRING || a == MWL__KNOWN_ANY);
            hint h = part ? contains(c, n) : (hint){.help = NULL};
            h.note = "the right side must be a list or a map";
            clash(c, n, certain, &h, a, b);
        }
        return MWL__KNOWN_BOOL;
    }
    bool order = n->kind >= MWL__CEL_LT && n->kind <= MWL__CEL_GE;
    const kind *allowed = operand_kinds(n);
    bool wrong =
        (a != MWL__KNOWN_ANY && !among(a, allowed)) || (b != MWL__KNOWN_ANY && !among(b, allowed));
    if (a != MWL__KNOWN_ANY && b != MWL__KNOWN_ANY && a != b &&
        !(order && is_number(a) && is_number(b)))
        wrong = true;
    if (wrong) {
        hint h = mend(c, n, a, b);
        if (is_number(a) && is_number(b) && !order)
            h.note =
                "numbers of different types are not converted; write int(), uint() or double()";
        clash(c, n, certain, &h, a, b);
        return MWL__KNOWN_ANY;
    }
    if (order) return MWL__KNOWN_BOOL;
    /* a known list, string, bytes or uint side decides; int and double could not meet anything else
     * either, and a timestamp or duration side is MWL__KNOWN_ANY together with MWL__KNOWN_ANY */
    return a != MWL__KNOWN_ANY ? a : b;
}

/* Returns the kind that the value of a call certainly has. */
static kind call_kind(const mwl__cel_node *n) {
    static const struct {
        const char *name;
        kind kind;
    } known[] = {{"size", MWL__KNOWN_INT},        {"int", MWL__KNOWN_INT},
                 {"uint", MWL__KNOWN_UINT},       {"double", MWL__KNOWN_DOUBLE},
                 {"string", MWL__KNOWN_STRING},   {"bytes", MWL__KNOWN_BYTES},
                 {"bool", MWL__KNOWN_BOOL},       {"contains", MWL__KNOWN_BOOL},
                 {"startsWith", MWL__KNOWN_BOOL}, {"endsWith", MWL__KNOWN_BOOL},
                 {"matches", MWL__KNOWN_BOOL},    {"toJson", MWL__KNOWN_STRING}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_text(n->name, known[i].name)) return known[i].kind;
    return MWL__KNOWN_ANY;
}

static void want_bool(checker *c, const mwl__cel_node *n, const mwl__cel_node *operand, kind k,
                      bool certain) {
    if (k == MWL__KNOWN_ANY || k == MWL__KNOWN_BOOL) return;
    hint h = {.help = NULL};
    if (operand->kind != MWL__CEL_LIT)
        h.help = mwl__cel_as_condition(c->o->arena, source_of(c, operand), k);
    report_hint(c, certain ? MWL__CEL_ERROR : MWL__CEL_WARNING, MWL__CEL_WHY_KIND, operand->begin,
                operand->end, &h, "`%s` needs a bool here, not %s",
                mwl__cel_kind_text((mwl__cel_kind)n->kind), kind_names[k]);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void walk_kids(checker *c, const mwl__cel_node *n, uint32_t from, bool certain) {
    for (uint32_t i = from; i < n->n_kids; i++) walk(c, n->kids[i], certain);
}

static kind check_logic(checker *c, const mwl__cel_node *n) {
    for (uint32_t i = 0; i < n->n_kids; i++)
        want_bool(c, n, n->kids[i], walk(c, n->kids[i], false), false);
    return MWL__KNOWN_BOOL;
}

static kind check_cond(checker *c, const mwl__cel_node *n, bool certain) {
    want_bool(c, n, n->kids[0], walk(c, n->kids[0], certain), certain);
    kind a = walk(c, n->kids[1], false), b = walk(c, n->kids[2], false);
    return a == b ? a : MWL__KNOWN_ANY;
}

static kind check_unary(checker *c, const mwl__cel_node *n, bool certain) {
    kind k = walk(c, n->kids[0], certain);
    if (n->kind == MWL__CEL_NOT) {
        want_bool(c, n, n->kids[0], k, certain);
        return MWL__KNOWN_BOOL;
    }
    if (k != MWL__KNOWN_ANY && k != MWL__KNOWN_INT && k != MWL__KNOWN_DOUBLE)
        clash(c, n, certain, &(hint){.help = NULL}, k, MWL__KNOWN_ANY);
    return k == MWL__KNOWN_INT || k == MWL__KNOWN_DOUBLE ? k : MWL__KNOWN_ANY;
}

/* Checks a node that does not continue a spine. */
static kind check_base(checker *c, const mwl__cel_node *n, bool certain) {
    switch (n->kind) {
    case MWL__CEL_LIT: return literal_kind(&n->lit);
    case MWL__CEL_IDENT: check_ident(c, n); return MWL__KNOWN_ANY;
    case MWL__CEL_NOT:
    case MWL__CEL_NEG: return check_unary(c, n, certain);
    case MWL__CEL_AND:
    case MWL__CEL_OR: return check_logic(c, n);
    case MWL__CEL_COND: return check_cond(c, n, certain);
    case MWL__CEL_CALL:
        if (!check_call(c, n)) return MWL__KNOWN_ANY;
        check_pattern(c, n, certain);
        walk_kids(c, n, 0, certain);
        return call_kind(n);
    case MWL__CEL_MESSAGE:
        if (!c->o->is_message || !c->o->is_message(c->o->ctx, n->name.data, n->name.len))
            report(c, MWL__CEL_ERROR, MWL__CEL_WHY_TYPE, n->begin, n->end, NULL,
                   "there is no type `%s`", n->name.data);
        walk_kids(c, n, 0, certain);
        return MWL__KNOWN_ANY;
    case MWL__CEL_LIST: walk_kids(c, n, 0, certain); return MWL__KNOWN_LIST;
    case MWL__CEL_MAP: walk_kids(c, n, 0, certain); return MWL__KNOWN_MAP;
    default: /* BIND, BLOCK: an initialiser is evaluated at the first use, perhaps never */
        for (uint32_t i = 0; i + 1 < n->n_kids; i++) walk(c, n->kids[i], false);
        return walk(c, n->kids[n->n_kids - 1], certain);
    }
}

static kind check_loop(checker *c, const mwl__cel_node *n, kind range, bool certain) {
    bool optional = n->kind == MWL__CEL_OPT_MAP || n->kind == MWL__CEL_OPT_FLAT_MAP;
    bool iterable = range == MWL__KNOWN_ANY || range == MWL__KNOWN_LIST ||
                    (range == MWL__KNOWN_MAP && n->kind != MWL__CEL_SORT_BY);
    if (optional ? range != MWL__KNOWN_ANY : !iterable)
        report(c, certain ? MWL__CEL_ERROR : MWL__CEL_WARNING, MWL__CEL_WHY_KIND, n->kids[0]->begin,
               n->kids[0]->end, NULL, "`%s` needs %s, not %s",
               mwl__cel_kind_text((mwl__cel_kind)n->kind),
               optional                      ? "an optional"
               : n->kind == MWL__CEL_SORT_BY ? "a list"
                                             : "a list or a map",
               kind_names[range]);
    for (uint32_t i = 1; i < n->n_kids; i++) {
        kind k = walk(c, n->kids[i], false);
        bool predicate = (n->kind >= MWL__CEL_ALL && n->kind <= MWL__CEL_FILTER) ||
                         (i == 1 && (n->flags & MWL__CEL_FILTERED));
        if (predicate) want_bool(c, n, n->kids[i], k, false);
    }
    if (n->kind <= MWL__CEL_EXISTS_ONE) return MWL__KNOWN_BOOL;
    if (optional) return MWL__KNOWN_ANY;
    return n->kind == MWL__CEL_TRANSFORM_MAP || n->kind == MWL__CEL_TRANSFORM_ENTRY
               ? MWL__KNOWN_MAP
               : MWL__KNOWN_LIST;
}

/* Checks a link of a spine whose child has kind `k`. */
static kind check_link(checker *c, const mwl__cel_node *n, kind k, bool certain) {
    if (mwl__cel_is_binary(n)) return binary_kind(c, n, k, walk(c, n->kids[1], certain), certain);
    if (n->kind == MWL__CEL_SELECT || n->kind == MWL__CEL_INDEX) {
        bool holds = k == MWL__KNOWN_ANY || k == MWL__KNOWN_MAP ||
                     (n->kind == MWL__CEL_INDEX && k == MWL__KNOWN_LIST);
        if (!holds) {
            bool field = n->kind == MWL__CEL_SELECT;
            hint h = field ? size_of(c, n) : (hint){.help = NULL};
            report_hint(c, certain ? MWL__CEL_ERROR : MWL__CEL_WARNING, MWL__CEL_WHY_KIND,
                        n->kids[0]->begin, n->kids[0]->end, &h, "%s has no %s", kind_names[k],
                        field ? "fields" : "elements");
        }
        walk_kids(c, n, 1, certain);
        if (n->flags & MWL__CEL_TEST) return MWL__KNOWN_BOOL;
        bool path = n->kind == MWL__CEL_SELECT && !n->flags && c->o->known;
        return path ? c->o->known(c->o->ctx, n) : MWL__KNOWN_ANY;
    }
    if (n->kind == MWL__CEL_MEMBER) {
        bool lazy = is_text(n->name, "or") || is_text(n->name, "orValue");
        if (!check_name_space(c, n) && !check_call(c, n)) return MWL__KNOWN_ANY;
        check_pattern(c, n, certain);
        check_format(c, n, certain);
        walk_kids(c, n, 1, certain && !lazy);
        return call_kind(n);
    }
    return check_loop(c, n, k, certain);
}

/* A name space at the bottom of a spine is not a value; check_name_space reports it. */
static bool is_name_space_target(const checker *c, const mwl__cel_node *n) {
    return n->parent && n->ix == 0 && n->parent->kind == MWL__CEL_MEMBER &&
           is_in_name_space(c, n->parent);
}

static kind walk(checker *c, const mwl__cel_node *n, bool certain) {
    const mwl__cel_node *top = n;
    while (mwl__cel_spine(n)) n = mwl__cel_spine(n);
    kind k = is_name_space_target(c, n) ? MWL__KNOWN_ANY : check_base(c, n, certain);
    while (n != top) {
        n = n->parent;
        k = check_link(c, n, k, certain);
    }
    return k;
}

mwl_status mwl__cel_check(const mwl__cel_tree *tree, const mwl__cel_check_options *options) {
    checker c = {.o = options, .source = tree->source};
    kind root = walk(&c, tree->root, true);
    if (options->root) *options->root = root;
    if (c.failed) return MWL_E_NOMEM;
    return c.rejected ? MWL_E_REJECTED : MWL_OK;
}
