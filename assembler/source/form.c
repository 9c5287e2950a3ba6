/* form.c: see form.h. */
#include "assembler/source/form.h"

#include "vm/base/num.h"
#include "vm/base/suggest.h"

#include <stdio.h>

bool mwl__form_looks_computed(const mwl__node *n) {
    return n && n->kind == MWL_NODE_STRING && n->count >= 4 && memcmp(n->as.text, "{{", 2) == 0 &&
           memcmp(n->as.text + n->count - 2, "}}", 2) == 0;
}

/* "a string", "a string or an object", "true or false or null". */
static void kinds_text(unsigned kinds, char *out, size_t size) {
    static const char *const names[] = {"null",     "a boolean", "a number",
                                        "a string", "an array",  "an object"};
    size_t len = 0;
    out[0] = '\0';
    for (unsigned k = 0; k <= MWL_NODE_OBJECT; k++) {
        if (!(kinds & (1u << k))) continue;
        int n = snprintf(out + len, size - len, "%s%s", len ? " or " : "", names[k]);
        if (n > 0) len += (size_t)n;
    }
}

static bool is_text_of_number(const mwl__node *n) {
    double d;
    return n->kind == MWL_NODE_STRING && n->count > 0 && n->count < 32 &&
           mwl__num_parse(n->as.text, n->count, &d) == MWL_OK;
}

void mwl__form_guide(mwl__tree *tree, mwl__diag *d, mwl__words words, const char *member) {
    mwl__named w;
    if (d && !d->help &&
        mwl__word_find(mwl__diags_words(tree->sink, words), member, strlen(member), &w) && w.help)
        mwl__diag_help(d, "%.*s", (int)w.help_len, w.help);
}

/* Adds the help for a value of the wrong kind. */
static void suggest_kind(mwl__diag *d, const mwl__node *n, const mwl__form_field *field) {
    mwl__span at = mwl__node_span(n);
    if (field->kinds == MWL__FORM_ARRAY &&
        (n->kind == MWL_NODE_OBJECT || n->kind == MWL_NODE_STRING)) {
        mwl__diag_help(d, "put the %s into an array: [ ... ]",
                       n->kind == MWL_NODE_OBJECT ? "object" : "string");
        mwl__diag_fix(d, mwl__span_make(at.begin, at.begin), "[", 1);
        mwl__diag_fix(d, mwl__span_make(at.end, at.end), "]", 1);
    } else if (field->kinds == MWL__FORM_OBJECT && n->kind == MWL_NODE_ARRAY) {
        mwl__diag_help(d, "write an object, whose members have names: { \"name\": ... }");
    } else if (((field->kinds & MWL__FORM_BOOL) &&
                (mwl__node_is(n, "true") || mwl__node_is(n, "false"))) ||
               ((field->kinds & MWL__FORM_NUMBER) && is_text_of_number(n))) {
        mwl__diag_help(d, "write it without quotes: %.*s", MWL__NODE_TEXT(n));
        mwl__diag_fix(d, at, n->as.text, n->count);
    }
}

bool mwl__form_value(mwl__tree *tree, const mwl__node *n, const mwl__form_field *field,
                     mwl__diag_code code) {
    if (mwl__form_looks_computed(n) && !(field->flags & MWL__FORM_LITERAL)) {
        if (field->flags & MWL__FORM_EXPR) return true;
        mwl__diag *d = mwl__node_report(tree, n, code ? code : MWL_DIAG_EXPRESSION_NOT_ALLOWED,
                                        "'%s' takes no expression", field->name);
        mwl__diag_note(d,
                       "it is read before anything runs, so there is no data to compute it from");
        mwl__form_guide(tree, d, MWL__WORDS_COMPUTED, field->name);
        return false;
    }
    if (field->kinds & (1u << n->kind)) return true;
    char want[96];
    kinds_text(field->kinds, want, sizeof want);
    mwl__diag *d = mwl__node_report(
        tree, n, code ? code : MWL_DIAG_WRONG_TYPE, "'%s' is %s and must be %s%s", field->name,
        mwl__node_kind_name(n), want, field->flags & MWL__FORM_EXPR ? " or an expression" : "");
    if (d) suggest_kind(d, n, field);
    mwl__form_guide(tree, d, MWL__WORDS_KIND, field->name);
    return false;
}

/* ---- unknown members ------------------------------------------------------------------------- */

#define GUESSES 32 /* unknown members of one object that get a guess */

/* What was probably meant by an unknown member. */
typedef struct guess {
    const mwl__node *node;
    size_t field;     /* n_fields: none of this object's fields */
    const char *help; /* a sentence, or NULL */
    size_t help_len;
    bool exact; /* renaming it is an exact repair */
    bool free;  /* the field is not written */
} guess;

/* Returns the index of the member's field; n_fields if there is none. */
static size_t field_of(const mwl__form *form, const mwl__node *m) {
    size_t i = 0;
    while (i < form->n_fields && !mwl__node_key_is(m, form->fields[i].name)) i++;
    return i;
}

static size_t field_named(const mwl__form *form, const char *name, size_t len) {
    size_t i = 0;
    while (i < form->n_fields &&
           (strlen(form->fields[i].name) != len || memcmp(form->fields[i].name, name, len) != 0))
        i++;
    return i;
}

/* Guesses what was meant: by the words of other languages, or by the spelling. */
static guess guess_at(const mwl__tree *tree, const mwl__node *m, const mwl__form *form) {
    guess g = {m, form->n_fields, NULL, 0, false, false};
    mwl__named w;
    bool found = false;
    for (int i = 0; i < 2 && !found; i++)
        found =
            mwl__word_find(mwl__diags_words(tree->sink, form->words[i]), m->key, m->key_len, &w);
    if (found) {
        if (w.name) g.field = field_named(form, w.name, w.name_len);
        g.help = w.help;
        g.help_len = w.help_len;
        g.exact = !w.help;
    } else {
        mwl__suggest s = mwl__suggest_make(m->key, m->key_len);
        for (size_t i = 0; i < form->n_fields; i++) {
            const char *name = form->fields[i].name;
            if (!mwl__node_get(m->parent, name)) mwl__suggest_offer(&s, name, strlen(name));
        }
        if (s.best) g.field = field_named(form, s.best, s.best_len);
        g.exact = s.best != NULL;
    }
    g.free = g.field < form->n_fields && !mwl__node_get(m->parent, form->fields[g.field].name);
    if (!g.free) g.exact = false;
    return g;
}

/* Would the value be right for the field? */
static bool value_fits(const mwl__node *m, const mwl__form_field *field) {
    if (mwl__form_looks_computed(m) && !(field->flags & MWL__FORM_LITERAL))
        return field->flags & MWL__FORM_EXPR;
    return field->kinds & (1u << m->kind);
}

static void put_names(const mwl__form *form, char *out, size_t size) {
    size_t len = 0;
    out[0] = '\0';
    for (size_t i = 0; i < form->n_fields && len + 40 < size; i++)
        len += (size_t)snprintf(out + len, size - len, "%s'%s'",
                                i == 0                    ? ""
                                : i + 1 == form->n_fields ? " and "
                                                          : ", ",
                                form->fields[i].name);
}

static void suggest_member(mwl__diag *d, const mwl__form *form, const guess *g) {
    char names[320];
    const char *member = g->field < form->n_fields ? form->fields[g->field].name : NULL;
    if (g->help && member && !g->free && !mwl__node_get(g->node->parent, member)) {
        mwl__diag_help(d, "it belongs in '%s', too", member);
    } else if (g->help) {
        mwl__diag_help(d, "%.*s", (int)g->help_len, g->help);
    } else if (member && !g->free) {
        mwl__diag_help(d, "that is '%s' here, which is written already", member);
    } else if (member) {
        mwl__diag_help(d, "did you mean '%s'?", member);
        if (g->exact && value_fits(g->node, &form->fields[g->field]))
            mwl__diag_fix_string(d, mwl__node_key_span(g->node), member, strlen(member));
    } else {
        put_names(form, names, sizeof names);
        mwl__diag_note(d, "the members are %s", names);
    }
}

static void report_unknown(mwl__tree *tree, const mwl__form *form, const guess *g, bool needed) {
    const mwl__node *m = g->node;
    mwl__diag_code code = form->code      ? form->code
                          : form->unknown ? form->unknown(m)
                                          : MWL_DIAG_UNKNOWN_MEMBER;
    mwl__diag *d =
        needed ? mwl__node_report_key(tree, m, code, "%s needs '%s' and has no member '%.*s'",
                                      form->what, form->fields[g->field].name, MWL__NODE_KEY(m))
               : mwl__node_report_key(tree, m, code, "%s has no member '%.*s'", form->what,
                                      MWL__NODE_KEY(m));
    if (d) suggest_member(d, form, g);
}

/* Reports the unknown members. `missing` has the required fields that are not written. If an
 * unknown member was probably meant as a field, the field is removed from `missing` and added to
 * `covered`, also if it is optional. */
static void report_unknowns(mwl__tree *tree, const mwl__node *n, const mwl__form *form,
                            uint32_t *missing, uint32_t *covered) {
    guess guesses[GUESSES];
    size_t count = 0, blank = 0;
    uint32_t required = *missing;
    for (const mwl__node *m = mwl__node_first(n); m; m = m->next) {
        guess g = {m, form->n_fields, NULL, 0, false, false};
        if (field_of(form, m) < form->n_fields) continue;
        if (count == GUESSES) {
            report_unknown(tree, form, &g, false);
            continue;
        }
        g = guess_at(tree, m, form);
        uint32_t bit = g.free ? 1u << g.field : 0;
        if (bit & *covered) g.exact = g.free = false; /* two cannot both become it */
        *covered |= bit;
        if (g.field == form->n_fields && !g.help) blank++;
        guesses[count++] = g;
    }
    *missing &= ~*covered;
    bool one = blank == 1 && *missing && !(*missing & (*missing - 1));
    for (size_t i = 0; i < count; i++) {
        guess *g = &guesses[i];
        if (one && g->field == form->n_fields &&
            !g->help) { /* one missing, one unknown: probably the same */
            for (g->field = 0; !(*missing & (1u << g->field)); g->field++) {
            }
            g->free = true;
            *covered |= *missing;
            *missing = 0;
        }
        report_unknown(tree, form, g, g->free && (required & (1u << g->field)));
    }
}

bool mwl__form_check(mwl__tree *tree, const mwl__node *n, const mwl__form *form, uint32_t *bad) {
    uint32_t wrong = 0, missing = 0, covered = 0;
    size_t n_known = 0;
    if (n->kind != MWL_NODE_OBJECT) {
        mwl__node_report(tree, n, form->code ? form->code : MWL_DIAG_WRONG_TYPE,
                         "%s is an object, not %s", form->what, mwl__node_kind_name(n));
        if (bad) *bad = 0xffffffffu;
        return false;
    }
    for (size_t i = 0; i < form->n_fields; i++)
        if ((form->fields[i].flags & MWL__FORM_REQUIRED) && !mwl__node_get(n, form->fields[i].name))
            missing |= 1u << i;
    for (const mwl__node *m = mwl__node_first(n); m; m = m->next) {
        size_t i = field_of(form, m);
        if (i == form->n_fields) continue;
        n_known++;
        if (!mwl__form_value(tree, m, &form->fields[i], form->code)) wrong |= 1u << i;
    }
    if (n_known < n->count) report_unknowns(tree, n, form, &missing, &covered);
    for (size_t i = 0; i < form->n_fields; i++)
        if (missing & (1u << i))
            mwl__form_guide(tree,
                            mwl__node_report(tree, n,
                                             form->code ? form->code : MWL_DIAG_MISSING_MEMBER,
                                             "%s needs '%s'", form->what, form->fields[i].name),
                            MWL__WORDS_MISSING, form->fields[i].name);
    wrong |= missing | covered;
    if (bad) *bad = wrong;
    return !wrong && n_known == n->count;
}

bool mwl__form_is_bad(const mwl__form *form, uint32_t bad, const char *name) {
    size_t i = field_named(form, name, strlen(name));
    return i < form->n_fields && (bad & (1u << i));
}

const mwl__node *mwl__form_member(const mwl__node *n, const mwl__form *form, uint32_t bad,
                                  const char *name) {
    size_t i = field_named(form, name, strlen(name));
    return i == form->n_fields || (bad & (1u << i)) ? NULL : mwl__node_get(n, name);
}
