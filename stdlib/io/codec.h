/* codec.h: bytes that grow, and the forms in which files and programs hold values: JSON, text,
 * lines, base64, NDJSON, CSV. */
#ifndef MWL_IO_CODEC_H
#define MWL_IO_CODEC_H

#include "stdlib/io/io.h"

/* ---- bytes that grow; any thread --------------------------------------------------------------*/

/* Who pays for bytes that are made for a run. Memory: `purse` for what lives longer than a
 * callback, or is made by another thread; `heap` for what is freed in the callback that makes it.
 * Fuel, a unit for each eight bytes that are added: `call` or `phase`, on the VM's thread alone. */
typedef struct mwl__payer {
    mwl_purse *purse;
    mwl_heap *heap;
    mwl_call *call;
    mwl_phase *phase;
    size_t unpaid; /* bytes */
} mwl__payer;

/* The payers of what is freed in the callback. */
#define MWL__PAID_BY_CALL(c)                                                                       \
    { .heap = mwl_call_heap(c), .call = (c) }
#define MWL__PAID_BY_PHASE(p)                                                                      \
    { .heap = mwl_phase_heap(p), .phase = (p) }
/* One with a purse. mwl__payer_pool: from here on it charges no fuel, because another thread adds,
 * or because the call has settled. */
bool mwl__payer_open(mwl__payer *p, mwl_call *call); /* false: out of memory */
static inline void mwl__payer_pool(mwl__payer *p) { p->call = NULL; }
void mwl__payer_close(mwl__payer *p); /* its bytes have been freed */

typedef struct mwl__bytes {
    char *data; /* NULL while it is empty */
    size_t len, cap;
    mwl__payer *payer; /* NULL: they belong to no run */
} mwl__bytes;

/* Each returns false if there is no memory, or if the run may have no more; the bytes stay as they
 * were. */
bool mwl__bytes_room(mwl__bytes *b, size_t n); /* room for n more, and for a NUL after them */
bool mwl__bytes_add(mwl__bytes *b, const void *data,
                    size_t len); /* and a NUL, which len does not count */
bool mwl__bytes_base64(mwl__bytes *b, const void *data, size_t len);
void mwl__bytes_free(mwl__bytes *b);
/* An mwl_json_sink that adds to the mwl__bytes ctx. */
mwl_status mwl__bytes_sink(void *ctx, const char *text, size_t len);
/* Adds the bytes of a base64 text, of either alphabet, with or without padding. Returns MWL_OK,
 * MWL_E_SYNTAX or MWL_E_NOMEM. */
mwl_status mwl__base64_decode(mwl__bytes *b, const char *text, size_t len);

/* ---- values; on the VM's thread -------------------------------------------------------------- */

typedef enum mwl__form {
    MWL__FORM_JSON,
    MWL__FORM_TEXT,
    MWL__FORM_LINES,
    MWL__FORM_BASE64,
    MWL__FORM_NDJSON,
    MWL__FORM_CSV,
    MWL__FORM_NONE
} mwl__form;

/* How a table in CSV looks. */
typedef struct mwl__csv {
    char separator;
    bool header; /* the first row has the names of the columns, and rows are objects */
} mwl__csv;

enum { MWL__WHY = 200 };

/* The form with this name: "json", "text", "lines", "base64", "ndjson", "csv", "none". */
mwl__form mwl__form_named(const char *name, mwl__form otherwise);
/* Makes a value of bytes; given. Absent if they do not have this form, with the reason in `why`; if
 * there is no memory, why is "". csv is read for CSV alone. */
mwl_value mwl__decode(mwl_heap *heap, mwl__form form, const char *data, size_t len,
                      const mwl__csv *csv, char why[MWL__WHY]);
/* Adds the form of a value to `out`. Returns MWL_OK, MWL_E_NOMEM, or MWL_E_NOT_JSON with the
 * reason in `why` if the value cannot have this form. */
mwl_status mwl__encode(mwl_heap *heap, mwl__form form, mwl_value v, const mwl__csv *csv,
                       mwl__bytes *out, char why[MWL__WHY]);
/* A text as it is, any other value as JSON. */
mwl_status mwl__encode_plain(mwl_heap *heap, mwl_value v, mwl__bytes *out);

/* csv.c */
mwl_value mwl__csv_decode(mwl_heap *heap, const char *data, size_t len, const mwl__csv *csv,
                          char why[MWL__WHY]);
mwl_status mwl__csv_encode(mwl_heap *heap, mwl_value rows, const mwl__csv *csv, mwl__bytes *out,
                           char why[MWL__WHY]);

#endif
