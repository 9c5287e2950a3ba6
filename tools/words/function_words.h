/* function_words.h: what each function and macro of expressions does, in words and by an example.
 *
 * Owns: the words. How a function is called is in its table (mwl_function_def.usage). A test checks
 * that every function of the build has a row here, and that each example can be evaluated. */
#ifndef MWL_TOOLS_FUNCTION_WORDS_H
#define MWL_TOOLS_FUNCTION_WORDS_H

#include <stddef.h>

struct function_words {
    const char *library; /* "strings" */
    const char *name;    /* as in the table; of a macro, its last word or "cel.bind" */
    const char *usage;   /* of a macro; NULL: it is a function, whose table has it */
    const char *text;    /* a sentence, or two */
    const char *example; /* an expression that reads nothing */
};

extern const struct function_words function_words[];
extern const size_t n_function_words;

/* Returns the first row of this name ("split", "math.abs"), or NULL. Rows of one name follow each
 * other. */
const struct function_words *function_words_find(const char *name, size_t len);

/* Returns how the function or macro of a row is called, from the tables of the build; NULL if this
 * build does not have it. `nth` of the functions with this name, from 0. */
const char *function_words_usage(const struct function_words *row, size_t nth);

/* Returns the name of a function of the build that has no row here; NULL if there is none. */
const char *function_words_missing(void);

#endif
