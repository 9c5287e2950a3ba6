/* writer.h: values and the things that are shared in a saved run, written. */
#ifndef MWL_WRITER_H
#define MWL_WRITER_H

#include "vm/base/table.h"
#include "vm/machine/state.h"
#include "vm/snapshot/cbor.h"

/* Something that may be used more than once: an array or object, by its buffer; a text, by its
 * content. */
typedef struct mwl__shared {
    const void *p;
    uint32_t uses;
    uint32_t longest; /* of an array or object: the longest version that is used */
    uint32_t number;  /* in the bytes; MWL_NONE: not written yet */
    bool text;
} mwl__shared;

/* Writes in two passes over the same records in the same order. The first one counts uses and
 * writes nothing. A few shared things are searched for one by one; more have a table. */
enum { MWL_SHARED_FEW = 12 };
typedef struct mwl__writer {
    mwl__link *link;
    mwl__buf out;
    bool counting;
    bool same_texts; /* the first pass has found a text a second time */
    mwl_status status;
    mwl__table table;
    mwl__shared *shared; /* `few`, or more of them */
    size_t n_shared, cap_shared;
    mwl__shared few[MWL_SHARED_FEW];
    uint32_t n_numbers;
} mwl__writer;

void mwl__writer_open(mwl__writer *w, mwl__link *link);
void mwl__writer_free(mwl__writer *w); /* all but `out` */
void mwl__writer_fail(mwl__writer *w, mwl_status status);
void mwl__writer_scalar(mwl__writer *w, mwl_value v); /* in the second pass */
void mwl__writer_walk(mwl__writer *w, mwl_value v);
static inline void mwl__writer_value(mwl__writer *w, mwl_value v) {
    if (mwl_value_kind(v) >= MWL_KIND_STRING)
        mwl__writer_walk(w, v);
    else if (!w->counting)
        mwl__writer_scalar(w, v);
}
/* The number of an array or object that both passes have written and that is shared, or MWL_NONE.
 */
uint32_t mwl__writer_number(mwl__writer *w, const void *buffer);

static inline void mwl__writer_uint(mwl__writer *w, uint64_t n) {
    if (!w->counting) mwl__cbor_head(&w->out, MWL_CBOR_UINT, n);
}
static inline void mwl__writer_int(mwl__writer *w, int64_t n) {
    if (!w->counting) mwl__cbor_int(&w->out, n);
}
static inline void mwl__writer_array(mwl__writer *w, uint64_t n) {
    if (!w->counting) mwl__cbor_head(&w->out, MWL_CBOR_ARRAY, n);
}
static inline void mwl__writer_null(mwl__writer *w) {
    if (!w->counting) mwl__cbor_simple(&w->out, MWL_CBOR_NULL);
}

#endif
