/* cel_words.c: habits of other languages in expressions: what was meant, and how CEL writes it.
 *
 * Owns: operators that CEL spells in another way, and the names of functions and of data that
 * people bring along. Texts are those of mwl__word_find (suggest.h). */
#include "assembler/cel/cel_parser.h"

#include "vm/base/suggest.h"

#include <stdio.h>

/* ---- reserved words -------------------------------------------------------------------------- */

static const char reserved_words[] =
    "if else >: a condition is written condition ? a : b\n"
    "for while loop >: a macro goes over a list: x.map(e, ...), x.filter(e, ...), x.all(e, ...)\n"
    "let var const >: cel.bind(x, value, expression) names a value; or assign it in a Step before\n"
    "function >: a macro takes a name and an expression: x.filter(e, e > 1.0)\n"
    "return >: an expression is its own value; leave the word out\n";

const char *mwl__cel_reserved_help(mwl__cel_parser *p, const char *word, size_t len) {
    mwl__named w;
    if (!mwl__word_find(reserved_words, word, len, &w)) return NULL;
    return mwl__arena_text(p->arena, w.help, w.help_len);
}

/* ---- operators ------------------------------------------------------------------------------- */

static const char operator_words[] =
    "and > &&\nor > ||\nis eq > ==\nisnt ne > !=\nlt > <\ngt > >\nle > <=\nge > >=\nmod > %\n"
    "not >: write !( ... ), and !(a in b)\n"
    "if >: write condition ? a : b\n"
    "contains has includes >: write a.contains(b), or b in a\n"
    "like matches >: write a.matches('...')\n"
    "then else >: write condition ? a : b\n";

#define LAMBDA "a macro takes the name first: x.filter(e, e > 1.0)"
#define OPTIONAL "write has(a.b) ? a.b : c, or a.?b.orValue(c)"

/* Two tokens next to each other, of which the second is the one that stands wrongly. */
static const struct {
    const char *text, *fix, *help; /* fix NULL: it depends */
} habits[] = {
    {"===", "==", "equality is `==`"},
    {"!==", "!=", "inequality is `!=`"},
    {"<>", "!=", "inequality is `!=`"},
    {"??", NULL, OPTIONAL},
    {"?:", NULL, OPTIONAL},
    {"++", NULL, "an expression changes nothing: write x + 1.0"},
    {"->", NULL, LAMBDA},
    {"**", NULL, "CEL has no power operator: write x * x"},
};

static bool complain(mwl__cel_parser *p, uint32_t begin, uint32_t end, const char *help,
                     const char *fix) {
    p->help = help;
    p->fix = fix;
    p->fix_begin = begin;
    p->fix_end = end;
    mwl__cel_complain(p, begin, end, NULL, "CEL has no `%.*s`", (int)(end - begin),
                      p->options->source + begin);
    return true;
}

/* Whether the token before the current one and this one are this text. */
static bool follows(const mwl__cel_parser *p, const char *text) {
    size_t len = strlen(text);
    return p->prev_end == p->tok.begin && p->tok.end - p->prev_begin == len &&
           memcmp(p->options->source + p->prev_begin, text, len) == 0;
}

/* `x => ...`: a lambda when a name or a parenthesis is before it, else `>=` the wrong way round. */
static bool arrow(mwl__cel_parser *p) {
    const char *s = p->options->source;
    uint32_t at = p->tok.begin, before = p->prev_begin;
    if (at + 1 >= p->options->len || s[at] != '=' || s[at + 1] != '>') return false;
    while (before > 0 && s[before - 1] == ' ') before--;
    bool lambda =
        p->prev_end > 0 && (s[p->prev_end - 1] == ')' || (before > 0 && s[before - 1] == '('));
    if (!lambda) return complain(p, at, at + 2, "at least is `>=`", ">=");
    return complain(p, at, at + 2, LAMBDA, NULL);
}

static bool bad_character(mwl__cel_parser *p) {
    static const struct {
        const char *text, *fix, *help;
    } marks[] = {{"=", "==", "equality is `==`"},
                 {"&", "&&", "logical and is `&&`"},
                 {"|", NULL, "logical or is `||`; a function is called: f(x)"},
                 {"$", NULL, "data is under roots: step.input.x for $.x, vars.x for a variable"},
                 {"@", NULL, "data is under roots: vars.x, step.input.x"},
                 {";", NULL, "an expression is one value, without a semicolon"},
                 {"#", NULL, "a comment begins with //"},
                 {"\xE2\x80\x98", NULL, "quotes are ' or \""},
                 {"\xE2\x80\x99", NULL, "quotes are ' or \""},
                 {"\xE2\x80\x9C", NULL, "quotes are ' or \""},
                 {"\xE2\x80\x9D", NULL, "quotes are ' or \""},
                 {"\xE2\x89\xA0", "!=", "inequality is `!=`"},
                 {"\xE2\x89\xA4", "<=", "at most is `<=`"},
                 {"\xE2\x89\xA5", ">=", "at least is `>=`"}};
    const mwl__cel_token *t = &p->tok;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t len = strlen(marks[i].text);
        if (t->end - t->begin == len &&
            memcmp(p->options->source + t->begin, marks[i].text, len) == 0)
            return complain(p, t->begin, t->end, marks[i].help, marks[i].fix);
    }
    return false;
}

bool mwl__cel_foreign(mwl__cel_parser *p) {
    const mwl__cel_token *t = &p->tok;
    const char *s = p->options->source;
    mwl__named w;
    for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
        if (follows(p, habits[i].text))
            return complain(p, p->prev_begin, t->end, habits[i].help, habits[i].fix);
    if (t->kind == MWL__CEL_T_BAD) return arrow(p) || bad_character(p);
    /* `not x`: two names without an operator, the first of which was taken for a name */
    if (p->prev_end - p->prev_begin == 3 && memcmp(s + p->prev_begin, "not", 3) == 0)
        return complain(p, p->prev_begin, p->prev_end, "logical not is `!`: !( ... )", NULL);
    if (t->kind != MWL__CEL_T_NAME ||
        !mwl__word_find(operator_words, s + t->begin, t->end - t->begin, &w))
        return false;
    if (t->end - t->begin == 2 && memcmp(s + t->begin, "is", 2) == 0) {
        mwl__cel_token negation = mwl__cel_lex(s, p->options->len, t->end);
        if (negation.end - negation.begin == 3 && memcmp(s + negation.begin, "not", 3) == 0)
            return complain(p, t->begin, negation.end, "inequality is `!=`", "!=");
    }
    const char *text = w.help ? w.help : w.name;
    size_t len = w.help ? w.help_len : w.name_len;
    char *copy = mwl__arena_text(p->arena, text, len);
    char *help = mwl__arena_new(p->arena, len + 16);
    if (!copy || !help) return false;
    snprintf(help, len + 16, "write `%s`", copy);
    return w.help ? complain(p, t->begin, t->end, copy, NULL)
                  : complain(p, t->begin, t->end, help, copy);
}
