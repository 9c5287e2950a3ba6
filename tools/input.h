/* input.h: JSON values that a person gives to the command: files, words of the command line,
 * standard input. Every function returns CMD_OK, or another exit status with a message printed.
 *
 * A value with a mistake is shown with the line and a mark under the place. What is read but not
 * kept as it was written is noted on standard error: an integer that no double holds, a member name
 * that appears twice. */
#ifndef MWL_TOOLS_INPUT_H
#define MWL_TOOLS_INPUT_H

#include "limit.h"
#include "mwl.h"

struct input {
    mwl_heap *heap;
    struct limits *limits; /* memory for texts counts here; values count in the heap */
};

/* What `option` is given: "-" is standard input to its end; "@FILE" is a file; a word that is JSON
 * is that, whatever files there are; any other is the name of a file. */
int input_word(struct input *in, const char *option, const char *word, mwl_value *out);

/* What standard input brings when nothing was said about it: absent for a terminal, a device, and
 * an input without text; the value of a file or a pipe. A pipe is waited for; a terminal on
 * standard error gets a note after INPUT_PATIENCE_MS. */
enum { INPUT_PATIENCE_MS = 2000 };
int input_stdin(struct input *in, mwl_value *out);

/* An object, given as input_word takes it for --args; its members are put into *object. */
int input_arguments(struct input *in, const char *word, mwl_value *object);

/* "name=JSON", put into *object. */
int input_argument(struct input *in, const char *word, mwl_value *object);

#endif
