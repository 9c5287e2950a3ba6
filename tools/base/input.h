/* input.h: JSON values that a person gives to the command: files, words of the command line,
 * standard input. Every function returns CMD_OK, or another exit status with a message printed.
 *
 * A value with a mistake is shown with the line and a mark under the place. A note on standard
 * error reports what a value cannot keep: an integer that no double holds, a member name that
 * appears twice. */
#ifndef MWL_TOOLS_INPUT_H
#define MWL_TOOLS_INPUT_H

#include "tools/base/limit.h"
#include "mwl.h"

struct input {
    mwl_heap *heap;
    struct limits *limits; /* counts the memory of texts; values count in the heap */
};

/* Reads the value of `option`: "-" is standard input to its end; "@FILE" is a file; a word that is
 * JSON is that value, even if a file has the same name; any other word is the name of a file. */
int input_word(struct input *in, const char *option, const char *word, mwl_value *out);

/* Reads standard input if no option names an input. The value is absent for a terminal, a device,
 * and an input without text; else it is that of the file or pipe. It waits for a pipe; after
 * INPUT_PATIENCE_MS a note is printed, because another program may never close it. */
enum { INPUT_PATIENCE_MS = 2000 };
int input_stdin(struct input *in, mwl_value *out);

/* Prints what the value of a JSON text does not keep, with its place in the text. Returns whether
 * there was something. Any thread. */
bool input_note(mwl_heap *heap, const char *name, const char *text, size_t len);

/* Reads an object, as input_word does, for --args; its members are put into *object. */
int input_arguments(struct input *in, const char *word, mwl_value *object);

/* Reads "name=JSON" and puts it into *object. */
int input_argument(struct input *in, const char *word, mwl_value *object);

#endif
