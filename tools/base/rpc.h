/* rpc.h: messages of the Language Server Protocol and of the Debug Adapter Protocol: JSON texts,
 * each behind a header with its length.
 *
 * Owns: the framing, and small helpers to write the JSON of an answer. Refuses to know: what the
 * messages mean. */
#ifndef MWL_TOOLS_RPC_H
#define MWL_TOOLS_RPC_H

#include "vm/base/mem.h"

#include <stdio.h>

/* One message may have this many bytes: a definition of 64 MiB, written as a JSON string. */
#define RPC_MESSAGE_MAX ((size_t)160 << 20)

struct rpc {
    int in;
    FILE *out;
    mwl__buf buf;  /* bytes that were read */
    size_t at;     /* those in front of this are done */
    char why[120]; /* after RPC_BROKEN: what is wrong */
};

enum rpc_got { RPC_MESSAGE, RPC_END, RPC_BROKEN };

void rpc_init(struct rpc *r, int in, FILE *out);
void rpc_free(struct rpc *r);
/* Waits for the next message. *body is lent until the next call. RPC_END: the other side has closed
 * the pipe between two messages. */
enum rpc_got rpc_read(struct rpc *r, const char **body, size_t *len);
/* Returns whether nothing more has arrived: a good moment for work that nothing waits for. */
bool rpc_idle(struct rpc *r);
/* Sends a message. Returns false if the other side cannot be reached. */
bool rpc_send(struct rpc *r, const char *body, size_t len);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Appends a JSON string. */
void rpc_put_text(mwl__buf *out, const char *text, size_t len);
void rpc_put_string(mwl__buf *out, const char *text); /* NUL-terminated */
/* Appends `"name":` and the JSON string, with a comma in front unless it is the first member. */
void rpc_put_member(mwl__buf *out, const char *name, const char *text);
/* Appends a value as JSON, and null if it has no JSON form. */
void rpc_put_value(mwl__buf *out, mwl_heap *heap, mwl_value v);

/* Returns a member of an object, lent; absent if it is not there or `v` is not an object. */
mwl_value rpc_get(mwl_value v, const char *name);
/* Returns a member's text, or NULL if it is not a string. */
const char *rpc_get_text(mwl_value v, const char *name, size_t *len);
/* Returns a member's number as an integer from 0; `otherwise` if it is not such a number. */
uint32_t rpc_get_number(mwl_value v, const char *name, uint32_t otherwise);

#endif
