/* schema_words.c: writes the words of a compiled schema.
 *
 * Owns: lists that grow, interned constants, tables and nodes as items, and the places whose code
 * is not written yet (fixups). Refuses to know: keywords. */
#include "assembler/schema/schema_build.h"
#include "vm/base/hash.h"

bool mwl__schema_stop(mwl__schema_build *b, mwl_status why) {
    if (b->status == MWL_OK) b->status = why;
    return false;
}

bool mwl__schema_room(mwl__schema_build *b, void **p, size_t *cap, size_t need, size_t size) {
    if (b->status == MWL_E_NOMEM) return false;
    if (need <= *cap) return true;
    if (need > 0x10000000u) return mwl__schema_stop(b, MWL_E_TOO_BIG); /* offsets have 32 bits */
    if (mwl__mem_grow(&b->alloc, p, cap, need, size) < 0) return mwl__schema_stop(b, MWL_E_NOMEM);
    return true;
}

/* ---- constants ------------------------------------------------------------------------------- */

/* Takes over v, which may be absent. */
static uint32_t add_const(mwl__schema_build *b, mwl_value v) {
    if (mwl_is_absent(v)) {
        (void)mwl__schema_stop(b, mwl_heap_why(b->heap));
        return 0;
    }
    if (!MWL__ROOM(b, b->consts)) {
        mwl_value_drop(b->heap, v);
        return 0;
    }
    b->consts.at[b->consts.n] = v;
    return (uint32_t)b->consts.n++;
}

uint32_t mwl__schema_string(mwl__schema_build *b, const char *text, size_t len) {
    mwl_status st = mwl__table_reserve(&b->const_table, &b->alloc, b->consts.n + 1);
    if (st < 0) {
        (void)mwl__schema_stop(b, st);
        return 0;
    }
    mwl__probe probe = mwl__probe_make(&b->const_table, mwl__hash_key(text, len));
    for (uint32_t i; mwl__table_next(&b->const_table, &probe, &i);) {
        const mwl__str *s = mwl__as_str(b->consts.at[i]);
        if (s->len == len && memcmp(s->s, text, len) == 0) return i;
    }
    size_t before = b->consts.n;
    uint32_t k = add_const(b, mwl__str_new(b->heap, text, len));
    if (b->consts.n > before) mwl__table_put(&b->const_table, &probe, k);
    return k;
}

uint32_t mwl__schema_number(mwl__schema_build *b, double d) { return add_const(b, mwl_number(d)); }

uint32_t mwl__schema_const(mwl__schema_build *b, const mwl__node *value) {
    if (value->kind == MWL_NODE_STRING) return mwl__schema_string(b, value->as.text, value->count);
    return add_const(b, mwl__node_value(b->heap, value));
}

uint32_t mwl__schema_pattern(mwl__schema_build *b, const char *text, size_t len) {
    uint32_t k = mwl__schema_string(b, text, len);
    for (size_t i = 0; i < b->patterns.n; i++)
        if (b->patterns.at[i] == k) return (uint32_t)i;
    if (!MWL__ROOM(b, b->patterns)) return 0;
    b->patterns.at[b->patterns.n] = k;
    return (uint32_t)b->patterns.n++;
}

/* ---- tables ---------------------------------------------------------------------------------- */

void mwl__schema_put(mwl__schema_build *b, uint32_t word) {
    if (MWL__ROOM(b, b->words)) b->words.at[b->words.n++] = word;
}

uint32_t mwl__schema_begin(mwl__schema_build *b, uint32_t kind) {
    uint32_t at = (uint32_t)b->words.n;
    mwl__schema_put(b, kind);
    mwl__schema_put(b, 0);
    return at;
}

void mwl__schema_end(mwl__schema_build *b, uint32_t table) {
    if (b->status == MWL_OK) b->words.at[table + 1] = (uint32_t)b->words.n - table;
}

/* Returns whether dynamic references must know that evaluation moved from one resource to a
 * place. */
static bool crosses(const mwl__schema_build *b, uint32_t from_resource, uint32_t place) {
    return b->dynamic && b->places.at[place].resource != from_resource;
}

static void add_fixup(mwl__schema_build *b, uint32_t at, uint32_t place, bool scoped,
                      bool in_node) {
    if (place == MWL__SCHEMA_NONE || !MWL__ROOM(b, b->fixups) || !MWL__ROOM(b, b->queue)) return;
    mwl__schema_fixup f = {at, place, scoped, in_node};
    b->fixups.at[b->fixups.n++] = f;
    mwl__schema_place *p = &b->places.at[place];
    if (!p->queued) {
        p->queued = true;
        b->queue.at[b->queue.n++] = place;
    }
    p->queued_scoped = p->queued_scoped || scoped;
}

void mwl__schema_put_target(mwl__schema_build *b, uint32_t from_resource, uint32_t place) {
    uint32_t at = (uint32_t)b->words.n;
    mwl__schema_put(b, 0);
    if (place != MWL__SCHEMA_NONE) add_fixup(b, at, place, crosses(b, from_resource, place), false);
}

/* true and false have one node each, and need no place. */
void mwl__schema_put_place(mwl__schema_build *b, uint32_t from_resource, const mwl__node *schema) {
    if (schema->kind == MWL_NODE_BOOL)
        mwl__schema_put(b, schema->boolean ? b->node_true : b->node_false);
    else
        mwl__schema_put_target(b, from_resource, mwl__schema_place_of(b, schema));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

void mwl__schema_arg(mwl__schema_build *b, uint32_t word) {
    if (MWL__ROOM(b, b->node)) b->node.at[b->node.n++] = word;
}

void mwl__schema_ins(mwl__schema_build *b, mwl__schema_op op) {
    mwl__schema_arg(b, mwl__schema_head(op));
}

void mwl__schema_arg_target(mwl__schema_build *b, uint32_t from_resource, uint32_t place) {
    uint32_t at = (uint32_t)b->node.n;
    mwl__schema_arg(b, 0);
    if (place != MWL__SCHEMA_NONE) add_fixup(b, at, place, crosses(b, from_resource, place), true);
}

void mwl__schema_arg_place(mwl__schema_build *b, uint32_t from_resource, const mwl__node *schema) {
    if (schema->kind == MWL_NODE_BOOL)
        mwl__schema_arg(b, schema->boolean ? b->node_true : b->node_false);
    else
        mwl__schema_arg_target(b, from_resource, mwl__schema_place_of(b, schema));
}

uint32_t mwl__schema_close(mwl__schema_build *b, uint32_t mask) {
    uint32_t at = mwl__schema_begin(b, MWL__ITEM_NODE | mask << 8);
    for (size_t i = b->node_fixups; i < b->fixups.n; i++) {
        if (!b->fixups.at[i].in_node) continue;
        b->fixups.at[i].in_node = false;
        b->fixups.at[i].at += at + 2;
    }
    b->node_fixups = b->fixups.n;
    for (size_t i = 0; i < b->node.n; i++) mwl__schema_put(b, b->node.at[i]);
    mwl__schema_put(b, mwl__schema_head(MWL__SCHEMA_END));
    mwl__schema_end(b, at);
    b->node.n = 0;
    return at;
}
