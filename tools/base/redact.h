/* redact.h: secrets that providers have read (env, prompt), or that a definition names (redact),
 * are not shown: every text that could contain a value, except the value of a success, passes
 * through one of these. Any thread.
 *
 * In a build without stdlib/io there are no secrets. */
#ifndef MWL_TOOLS_REDACT_H
#define MWL_TOOLS_REDACT_H

#include "mwl.h"

#include <stdio.h>

/* The secrets of this process, for mwl_io_options; NULL if out of memory. */
struct mwl_io_secrets *redact_secrets(void);
/* Returns a value without what lies at secret paths; given. Secret texts are still in it. Absent if
 * out of memory. */
mwl_value redact_value(mwl_heap *heap, mwl_value v);
/* Writes a value as mwl_json_write_to() does, with secrets replaced. */
mwl_status redact_json(mwl_heap *heap, mwl_value v, mwl_json_style style, mwl_json_sink *sink,
                       void *ctx);
/* Returns the text with secrets replaced, in new memory with a NUL at its end; NULL if there is no
 * secret, so that the text itself can be shown. */
char *redact_text(const char *text, size_t len, size_t *new_len);
/* Returns a number that grows when something becomes secret. */
size_t redact_count(void);
/* Replaces secrets in a file, from its beginning to its end: what became secret after it was
 * written. Returns false if that failed; then the file is empty. */
bool redact_file(FILE *file);
/* The same for a JSON text; without its numbers' spelling if it has secrets. */
char *redact_json_text(const char *json, size_t len, size_t *new_len);
/* Writes what a run has marked as text, nothing if that is nothing, and reads it again. run: its
 * id; NULL: all that is secret, and what is read stays. */
mwl_status redact_save(const char *run, mwl_json_sink *sink, void *ctx);
mwl_status redact_load(const char *run, const char *text, size_t len);
/* Ends what only this run has marked: nothing of it is shown any more. */
void redact_end(const char *run);

#endif
