/* json_nodes.h: a part of a JSON text as a value: yyjson reads it into nodes, a walk over the nodes
 * makes values of them.
 *
 * Owns: yyjson; what values share: the names of the object before, recent short strings,
 * whole containers that repeat. Refuses to know: where a text comes from, how long it is, and what
 * a mistake is called (json.c). */
#ifndef MWL_JSON_NODES_H
#define MWL_JSON_NODES_H

#include "vm/value/value.h"

enum {
    MWL__JSON_TEXTS =
        128, /* recent short strings: kinds, states, units are the same in many records */
    MWL__JSON_FEW = 64, /* values that wait without memory of the heap */
    MWL__JSON_FEW_NODES = 128,
    MWL__JSON_PADDING = 8 /* bytes behind a text that can be read and written */
};

/* A container that is being made. */
typedef struct mwl__json_level {
    mwl_value box;  /* owned; absent: nothing is in it yet */
    mwl_value like; /* lent: a complete container that this one may resemble; absent: none */
    size_t base;    /* where its values begin among those that wait */
    bool object;
    bool foreign;            /* `like` is of another text: only its names are shared */
    uint32_t alike;          /* how many names are the first ones of `like` */
    uint32_t count;          /* in a walk: members or elements */
    struct yyjson_val *node; /* in a walk: of this container */
} mwl__json_level;

typedef struct mwl__json_nodes {
    mwl_heap *heap;
    bool differs; /* a name was there twice, or a number is larger than integers can be exact */
    bool sharing; /* the table is in use */
    void *block;  /* where yyjson has its nodes: `few_nodes`, or of the heap */
    size_t room;
    mwl_value *waiting; /* values of all containers that are not complete */
    size_t n, cap;
    size_t depth; /* levels that are in use */
    mwl_value texts[MWL__JSON_TEXTS];
    mwl_value few[MWL__JSON_FEW];
    mwl_value few_nodes[MWL__JSON_FEW_NODES]; /* a node is as large */
    mwl__json_level levels[MWL_DEPTH_LIMIT];
} mwl__json_nodes;

void mwl__json_nodes_init(mwl__json_nodes *j, mwl_heap *heap, bool sharing);
void mwl__json_nodes_free(mwl__json_nodes *j);

/* Makes room for n more values that wait. Returns false, with the reason in the heap, if that
 * fails. */
bool mwl__json_nodes_widen(mwl__json_nodes *j, size_t n);

typedef enum mwl__json_found {
    MWL__JSON_MADE,
    MWL__JSON_CUT,   /* the text ends inside the value */
    MWL__JSON_WRONG, /* a mistake at *used, or containers that are too deep */
    MWL__JSON_FAILED /* the heap has the reason */
} mwl__json_found;

/* Makes the value whose text begins at `text`, which is changed: up to `len` bytes, and the padding
 * behind them. What follows the value is not looked at. name: it is a string, and the name of a
 * member. like, foreign: as in a level. *used: the bytes of its text. */
mwl__json_found mwl__json_make(mwl__json_nodes *j, char *text, size_t len, bool name,
                               mwl_value like, bool foreign, mwl_value *out, size_t *used);

#endif
