/* record.h: what the report keeps of a run; between record.c and write.c. */
#ifndef MWL_TOOLS_REPORT_RECORD_H
#define MWL_TOOLS_REPORT_RECORD_H

#include "tools/report/report.h"
#include "vm/base/mem.h"
#include "vm/base/table.h"

#define RECORD_NONE UINT32_MAX

enum {
    RECORD_SPANS = 200000,   /* so many spans are kept; of more, the number */
    RECORD_VALUE = 64 << 10, /* bytes of one value; a longer one is cut */
    RECORD_TEXTS = 128 << 20 /* bytes of all values; further ones are left out */
};

/* Texts that occur again are kept once: a value passes many scopes unchanged. */
struct record_text {
    size_t at, len; /* in `texts` */
    bool cut;
};

struct record_span {
    uint32_t parent; /* by index, RECORD_NONE: none */
    uint8_t kind, status;
    uint32_t track;
    uint32_t flow, step, provider, phase; /* texts */
    int64_t number, begin_ns, end_ns;
    uint32_t begin_order, end_order; /* in the order in which things happened */
    uint32_t total, line, column;
    uint32_t input, arguments, result, before, after; /* texts, or RECORD_NONE */
    uint32_t caught;                                  /* the failure that a catch clause handles */
};

struct report {
    mwl_heap *heap;
    mwl_alloc alloc;
    mwl__buf texts;
    struct record_text *text;
    size_t n_text, cap_text;
    mwl__table table; /* of texts */
    struct record_span *spans;
    size_t n_spans, cap_spans;
    uint64_t left_out; /* spans beyond RECORD_SPANS */
    bool values_left_out, failed;
    uint32_t order;
    mwl_instant start;
};

/* The index of a text, with secrets replaced; RECORD_NONE if there is no room for it. This is the
 * one place that every text of a run passes on its way into the page. */
uint32_t record_text(struct report *r, const char *text, size_t len, bool cut);
/* The same for a value as JSON; absent: RECORD_NONE. */
uint32_t record_value(struct report *r, mwl_value v);

#endif
