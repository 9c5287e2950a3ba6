/* reply.h: writing replies: JSON text into a buffer. */
#ifndef MWL_PLAY_REPLY_H
#define MWL_PLAY_REPLY_H

#include "mwl.h"
#include "vm/base/mem.h"

/* A text as a JSON string; NULL becomes null. */
void reply_text(mwl__buf *out, const char *text, size_t len);
/* "name": and the text. A comma comes first, unless this is the beginning of an object. */
void reply_member(mwl__buf *out, const char *name, const char *text);
void reply_name(mwl__buf *out, const char *name);
/* A value; absent becomes null, what has no JSON form {"$type": ...}. A value whose text is longer
 * than `most` bytes becomes {"$cut": its beginning}; 0: no limit. */
void reply_value(mwl__buf *out, mwl_heap *heap, mwl_value v, size_t most);
/* Nanoseconds; MWL_NEVER becomes null. */
void reply_ns(mwl__buf *out, int64_t ns);
/* Bytes as a base64 string. */
void reply_base64(mwl__buf *out, const unsigned char *bytes, size_t len);
/* Appends the bytes of a base64 text, with its padding. False if it is not valid. */
bool reply_from_base64(mwl__buf *out, const char *text, size_t len);

#endif
