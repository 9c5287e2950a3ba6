/* row.c: the bytes of a row: what the run has marked as secret, and its snapshot.
 *
 * Without marks they are the snapshot. With marks: "MWLM" and a version (8 bytes), the length of
 * the marks (4 bytes, little-endian), the marks as JSON, the snapshot. A run that is over has its
 * marks alone, as long as its Result is kept. */
#include "stdlib/durable/durable_impl.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char magic[8] = {'M', 'W', 'L', 'M', 0, 0, 0, 1};
enum { HEAD = 12 };

mwl_status mwl_store_bytes_read(const void *bytes, size_t size, mwl_store_bytes *out) {
    const unsigned char *at = bytes;
    size_t len = 0;
    *out = (mwl_store_bytes){bytes, size, {NULL, 0}};
    if (size < sizeof magic || memcmp(bytes, magic, 4) != 0) return MWL_OK;
    *out = (mwl_store_bytes){NULL, 0, {NULL, 0}};
    if (size < HEAD || memcmp(bytes, magic, sizeof magic) != 0) return MWL_E_SNAPSHOT;
    for (int i = 0; i < 4; i++) len |= (size_t)at[8 + i] << (8 * i);
    if (len > MWL_STORE_SECRETS || len > size - HEAD) return MWL_E_SNAPSHOT;
    out->secrets = (mwl_store_text){(const char *)at + HEAD, len};
    out->size = size - HEAD - len;
    if (out->size) out->snapshot = at + HEAD + len;
    return MWL_OK;
}

bool mwl__driver_row_write(mwl_durable *d, mwl_run *run, const void *snapshot, size_t size,
                           char **row, size_t *row_size) {
    unsigned char head[HEAD] = {0};
    struct mwl__driver_text t = {NULL, 0, 0};
    *row = NULL;
    *row_size = 0;
    if (!run || !d->options.secrets_write) return true;
    memcpy(head, magic, sizeof magic);
    mwl_status status = mwl__driver_text_add(&t, (const char *)head, HEAD);
    if (status == MWL_OK)
        status = d->options.secrets_write(d->options.ctx, run, mwl__driver_text_add, &t);
    const size_t len = t.len - (t.len ? HEAD : 0);
    if (status == MWL_OK && len > MWL_STORE_SECRETS) status = MWL_E_TOO_BIG;
    for (int i = 0; status == MWL_OK && i < 4; i++) t.at[8 + i] = (char)(len >> (8 * i));
    if (status == MWL_OK && len && size) status = mwl__driver_text_add(&t, snapshot, size);
    if (status != MWL_OK || !len) {
        free(t.at);
        return status == MWL_OK;
    }
    *row = t.at;
    *row_size = t.len;
    return true;
}
