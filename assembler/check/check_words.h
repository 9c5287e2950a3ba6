/* check_words.h: words of other languages, and what stands in their place here.
 *
 * Owns: the tables that forms look unknown members up in (form.h). They are for people who come
 * from Step Functions, from GitHub Actions, from a script; each row is a mistake that was seen. */
#ifndef MWL_CHECK_WORDS_H
#define MWL_CHECK_WORDS_H

#include "assembler/source/form.h"

extern const char mwl__words_flow[], mwl__words_step[], mwl__words_call_step[], mwl__words_gather[],
    mwl__words_match[], mwl__words_pass[], mwl__words_sleep[], mwl__words_return[],
    mwl__words_raise[], mwl__words_catch[], mwl__words_case[], mwl__words_matcher[],
    mwl__words_completion[], mwl__words_result[], mwl__words_call[], mwl__words_arm[],
    mwl__words_entry[], mwl__words_on_entry[], mwl__words_phase[];

/* Arguments: the member is the parameter, where the schema has one of that name. */
extern const char mwl__words_arguments[];

/* The action that another language calls so; NULL when no language is known to. */
const char *mwl__words_action(const char *word, size_t len, size_t *name_len);
/* A member that stands in the place of `action` in a Step of another language, or NULL. */
const mwl__node *mwl__words_discriminator(const mwl__node *step);

#endif
