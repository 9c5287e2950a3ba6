/* form.h: whether an object has the members it may have, with values of the right kinds.
 *
 * Owns: the reports about unknown, missing and wrongly typed members, and expressions where none
 * may stand. Refuses to know: what members mean. Tables describe objects; what a table cannot say
 * is the caller's.
 *
 * One mistake is one report: an unknown member that stands for a missing one (a typing mistake, or
 * a word of another language) is a rename, and nothing is said about the missing one. */
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
    MWL__FORM_LITERAL = 4 /* text is text, whatever it looks like */
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
    mwl__diag_code code; /* for all that is wrong; 0: each mistake has its own */
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

/* Whether the text has the outer look of an expression: between `{{` and `}}`. */
bool mwl__form_looks_computed(const mwl__node *n);

/* Check the object against its form: reports all that is wrong, and returns whether nothing was.
 * When `n` is not an object, one report. The members that are wrong are written to `bad` when it is
 * not NULL, a bit per field: these must not be looked at again. Missing ones count as bad too, and
 * those that an unknown member stands for. */
bool mwl__form_check(mwl__tree *tree, const mwl__node *n, const mwl__form *form, uint32_t *bad);

/* Whether the field is among the bad ones. */
bool mwl__form_is_bad(const mwl__form *form, uint32_t bad, const char *name);
/* A member of the object when mwl__form_check found nothing wrong with it; else NULL. */
const mwl__node *mwl__form_member(const mwl__node *n, const mwl__form *form, uint32_t bad,
                                  const char *name);

/* One value of a kind among `kinds`; `name` for the message ("'next'", "an entry of 'codes'"). */
bool mwl__form_value(mwl__tree *tree, const mwl__node *n, const mwl__form_field *field,
                     mwl__diag_code code);

#endif
