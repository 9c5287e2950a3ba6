/* form.h: checks that an object has the right members, with values of the right kinds.
 *
 * Owns: the reports about unknown, missing and wrongly typed members, and about expressions that
 * are not allowed. Refuses to know: what members mean. Tables describe objects; the caller checks
 * what a table cannot describe.
 *
 * One mistake is one report. If an unknown member was probably meant as a missing one (a typing
 * mistake, or a word of another language), the report suggests to rename it, and the missing one is
 * not reported. */
#ifndef MWL_FORM_H
#define MWL_FORM_H

#include "assembler/source/read.h"

#define MWL__FORM_KIND(kind) (1u << MWL_NODE_##kind)
#define MWL__FORM_ANY 0x3fu
#define MWL__FORM_STRING MWL__FORM_KIND(STRING)
#define MWL__FORM_ARRAY MWL__FORM_KIND(ARRAY)
#define MWL__FORM_OBJECT MWL__FORM_KIND(OBJECT)
#define MWL__FORM_BOOL MWL__FORM_KIND(BOOL)
#define MWL__FORM_NUMBER MWL__FORM_KIND(NUMBER)

enum {
    MWL__FORM_REQUIRED = 1,
    MWL__FORM_EXPR = 2,   /* may be an expression; then its kind is known only when it runs */
    MWL__FORM_LITERAL = 4 /* never an expression, also if it looks like one */
};

typedef struct mwl__form_field {
    const char *name;
    unsigned kinds; /* MWL__FORM_* */
    unsigned flags;
} mwl__form_field;

typedef struct mwl__form {
    const char *what; /* "a Flow", for messages */
    const mwl__form_field *fields;
    size_t n_fields;
    mwl__diag_code code; /* for every mistake; 0: each mistake has its own code */
    mwl__words words[2]; /* of other languages */
    /* The code for an unknown member; NULL: MWL_DIAG_UNKNOWN_MEMBER. */
    mwl__diag_code (*unknown)(const mwl__node *member);
} mwl__form;

#define MWL__FORM(what, table, code)                                                               \
    {                                                                                              \
        what, table, sizeof(table) / sizeof *(table), (mwl__diag_code)(code),                      \
            {MWL__WORDS_NONE, MWL__WORDS_NONE}, NULL                                               \
    }
#define MWL__FORM_WORDS(what, table, words)                                                        \
    {                                                                                              \
        what, table, sizeof(table) / sizeof *(table), (mwl__diag_code)0, {words, MWL__WORDS_NONE}, \
            NULL                                                                                   \
    }

/* Adds the help that the guide has for the member, if the report (or NULL) has none. */
void mwl__form_guide(mwl__tree *tree, mwl__diag *d, mwl__words words, const char *member);

/* Does the text begin with `{{` and end with `}}`, as an expression does? */
bool mwl__form_looks_computed(const mwl__node *n);

/* Checks the object against its form and reports every mistake. Returns true if there was none. If
 * `n` is not an object, this is the only report. If `bad` is not NULL, it gets a bit for each field
 * that is wrong, that is missing, or that was probably meant by an unknown member. The caller must
 * not read these. */
bool mwl__form_check(mwl__tree *tree, const mwl__node *n, const mwl__form *form, uint32_t *bad);

/* Is the field one of the bad ones? */
bool mwl__form_is_bad(const mwl__form *form, uint32_t bad, const char *name);
/* Returns a member of the object if mwl__form_check found nothing wrong with it; else NULL. */
const mwl__node *mwl__form_member(const mwl__node *n, const mwl__form *form, uint32_t bad,
                                  const char *name);

/* Checks the kind of one value. The name is for the message ("'next'", "an entry of 'codes'"). */
bool mwl__form_value(mwl__tree *tree, const mwl__node *n, const mwl__form_field *field,
                     mwl__diag_code code);

#endif
