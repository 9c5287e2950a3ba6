/* redact.h: secrets that providers have read (env, prompt) are not shown: every text that could
 * contain a value, except the value of a success, passes through one of these. Any thread.
 *
 * In a build without stdlib/io there are no secrets. */
#ifndef MWL_TOOLS_REDACT_H
#define MWL_TOOLS_REDACT_H

#include "mwl.h"

/* The secrets of this process, for mwl_io_options; NULL if out of memory. */
struct mwl_io_secrets *redact_secrets(void);
/* Writes a value as mwl_json_write_to() does, with secrets replaced. */
mwl_status redact_json(mwl_heap *heap, mwl_value v, mwl_json_style style, mwl_json_sink *sink,
                       void *ctx);
/* Returns the text with secrets replaced, in new memory with a NUL at its end; NULL if there is no
 * secret, so that the text itself can be shown. */
char *redact_text(const char *text, size_t len, size_t *new_len);

#endif
