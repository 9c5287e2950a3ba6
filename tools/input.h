/* input.h: JSON values that a person gives to the command: files, words of the command line,
 * standard input. Every function answers CMD_OK, or CMD_USAGE with one message printed. */
#ifndef MWL_TOOLS_INPUT_H
#define MWL_TOOLS_INPUT_H

#include "mwl.h"

/* What --input names: "-" is standard input to its end; a word that begins like an object, an array
 * or a string is JSON; any other is a file when there is one of that name, and JSON otherwise. */
int input_word(mwl_heap *heap, const char *word, mwl_value *out);

/* What standard input brings when nothing was said about it: absent for a terminal, a device, and
 * an input without text; the value of a file or a pipe. A pipe that neither brings a byte nor ends
 * within INPUT_PATIENCE_MS is left alone, with a note: it belongs to whoever started us. */
enum { INPUT_PATIENCE_MS = 2000 };
int input_stdin(mwl_heap *heap, mwl_value *out);

/* A file that holds an object; its members are put into *object. */
int input_arguments_file(mwl_heap *heap, const char *path, mwl_value *object);

/* "name=JSON", put into *object. */
int input_argument(mwl_heap *heap, const char *word, mwl_value *object);

#endif
