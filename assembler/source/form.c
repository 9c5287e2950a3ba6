/* form.c: see form.h. */
#include "assembler/source/form.h"

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

bool mwl__form_value(mwl__tree *tree, const mwl__node *n, const mwl__form_field *field,
                     mwl__diag_code code) {
    if (mwl__form_looks_computed(n) && !(field->flags & MWL__FORM_LITERAL)) {
        if (field->flags & MWL__FORM_EXPR) return true;
        mwl__diag *d = mwl__node_report(tree, n, code ? code : MWL_DIAG_EXPRESSION_NOT_ALLOWED,
                                        "'%s' takes no expression", field->name);
        mwl__diag_note(d,
                       "it is read before anything runs, so there is no data to compute it from");
        return false;
    }
    if (field->kinds & (1u << n->kind)) return true;
    char want[96];
    kinds_text(field->kinds, want, sizeof want);
    mwl__diag *d = mwl__node_report(
        tree, n, code ? code : MWL_DIAG_WRONG_TYPE, "'%s' is %s and must be %s%s", field->name,
        mwl__node_kind_name(n), want, field->flags & MWL__FORM_EXPR ? " or an expression" : "");
    if (field->kinds == MWL__FORM_ARRAY && n->kind == MWL_NODE_OBJECT)
        mwl__diag_help(d, "put the object into an array: [ ... ]");
    return false;
}

static void unknown_member(mwl__tree *tree, const mwl__node *m, const mwl__form *form) {
    mwl__diag *d = mwl__node_report_key(tree, m, form->code ? form->code : MWL_DIAG_UNKNOWN_MEMBER,
                                        "%s has no member '%.*s'", form->what, MWL__NODE_KEY(m));
    if (!d) return;
    mwl__suggest s = mwl__suggest_make(m->key, m->key_len);
    for (size_t i = 0; i < form->n_fields; i++) {
        const char *name = form->fields[i].name;
        if (!mwl__node_get(m->parent, name)) mwl__suggest_offer(&s, name, strlen(name));
    }
    if (s.best) mwl__diag_help(d, "did you mean '%.*s'?", (int)s.best_len, s.best);
}

bool mwl__form_check(mwl__tree *tree, const mwl__node *n, const mwl__form *form, uint32_t *bad) {
    uint32_t wrong = 0;
    bool unknown = false;
    if (n->kind != MWL_NODE_OBJECT) {
        mwl__node_report(tree, n, form->code ? form->code : MWL_DIAG_WRONG_TYPE,
                         "%s is an object, not %s", form->what, mwl__node_kind_name(n));
        if (bad) *bad = 0xffffffffu;
        return false;
    }
    for (const mwl__node *m = mwl__node_first(n); m; m = m->next) {
        size_t i = 0;
        while (i < form->n_fields && !mwl__node_key_is(m, form->fields[i].name)) i++;
        if (i == form->n_fields) {
            unknown_member(tree, m, form);
            unknown = true;
        } else if (!mwl__form_value(tree, m, &form->fields[i], form->code)) {
            wrong |= 1u << i;
        }
    }
    for (size_t i = 0; i < form->n_fields; i++) {
        if (!(form->fields[i].flags & MWL__FORM_REQUIRED) || mwl__node_get(n, form->fields[i].name))
            continue;
        wrong |= 1u << i;
        mwl__node_report(tree, n, form->code ? form->code : MWL_DIAG_MISSING_MEMBER,
                         "%s needs '%s'", form->what, form->fields[i].name);
    }
    if (bad) *bad = wrong;
    return !wrong && !unknown;
}

const mwl__node *mwl__form_member(const mwl__node *n, const mwl__form *form, uint32_t bad,
                                  const char *name) {
    for (size_t i = 0; i < form->n_fields; i++)
        if (strcmp(form->fields[i].name, name) == 0)
            return bad & (1u << i) ? NULL : mwl__node_get(n, name);
    return NULL;
}
