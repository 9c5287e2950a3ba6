/* resume.c: see resume.h. Owns: the identity of a program for saved runs, and the indexes of its
 * constants. */
#include "vm/snapshot/resume.h"

#include "vm/base/hash.h"
#include "vm/base/order.h"

/* ---- identity -------------------------------------------------------------------------------- */

#define SECOND_SEED UINT64_C(0x6d776c76)

/* Two hashes of 64 bits: the 128 bits of XXH3 would be a second large function. */
static void hash_id(const void *data, size_t size, uint8_t id[16]) {
    const uint64_t h[2] = {mwl__str_hash64(data, size, 0),
                           mwl__str_hash64(data, size, SECOND_SEED)};
    for (unsigned i = 0; i < 16; i++) id[i] = (uint8_t)(h[i / 8] >> (i % 8 * 8));
}

void mwl_program_id(const mwl_program *program, uint8_t id[16]) {
    hash_id(program->bytes, program->size, id);
}

static uint64_t mix(uint64_t h, const void *data, size_t size) {
    return mwl__str_hash64(data, size, h + size);
}

/* Mixes words in the byte order of files, so that every machine computes the same. */
static uint64_t mix_words(uint64_t h, uint32_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) words[i] = mwl__little_32(words[i]);
    return mix(h, words, n * sizeof *words);
}
#define MIX_WORDS(h, ...)                                                                          \
    mix_words((h), (uint32_t[]){__VA_ARGS__}, sizeof(uint32_t[]){__VA_ARGS__} / sizeof(uint32_t))

static uint64_t mix_section(uint64_t h, const mwl_program *p, unsigned id) {
    const unsigned char *data = p->image.section[id].data;
    if (!data) return mix(h, "", 0);
    return mix(h, (const unsigned char *)p->bytes + (data - p->image.bytes),
               p->image.section[id].size);
}

/* The tables without their pcs, in the members that a saved run depends on. It does not depend on
 * RISES, which earlier assemblers did not write. */
static uint64_t mix_tables(uint64_t h, const mwl__flow_tables *t) {
    for (uint32_t i = 0; i < t->n_flows; i++) {
        const mwl__flow_rec *f = &t->flows[i];
        h = MIX_WORDS(h, f->name_k, f->schema, f->defaults_k, f->flags);
    }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const mwl__step_rec *s = &t->steps[i];
        h = MIX_WORDS(h, s->name_k, s->flow, s->action, s->flags, s->n_catch);
    }
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const mwl__entry_rec *e = &t->entries[i];
        h = MIX_WORDS(h, e->import, e->flags & ~(uint32_t)MWL_ENTRY_RISES, e->with_k[0],
                      e->with_k[1], e->with_k[2], e->with_k[3]);
        for (int k = 0; k < 4; k++) h = MIX_WORDS(h, e->struct_pc[k] == MWL_NONE);
    }
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const mwl__call_rec *c = &t->calls[i];
        h = MIX_WORDS(h, c->import, c->flow, c->flags & ~(uint32_t)MWL_CALL_RISES, c->with_k,
                      c->gather);
    }
    for (uint32_t i = 0; i < t->n_gathers; i++) {
        const mwl__gather_rec *g = &t->gathers[i];
        h = MIX_WORDS(h, g->step, g->n_calls, g->concurrency, g->flags);
    }
    for (uint32_t i = 0; i < t->n_imports; i++) {
        h = MIX_WORDS(h, t->imports[i].uri_k);
        h = MIX_WORDS(h, t->imports[i].kind);
    }
    return MIX_WORDS(h, t->root_flow);
}

static uint64_t shape_of(const mwl_program *p) {
    if (!p->source_size) return 0;
    uint64_t h = mix_tables(mix(1, p->source, p->source_size), &p->tables);
    h = mix_section(h, p, MWL_SECTION_CONSTS);
    h = mix_section(h, p, MWL_SECTION_STRINGS);
    h = mix_section(h, p, MWL_SECTION_TREES);
    return h ? h : 1;
}

/* ---- constants ------------------------------------------------------------------------------- */

bool mwl__resume_is_constant(mwl_value v) {
    if (v.tag & MWL_HEAP) return false;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES: return true;
    case MWL_KIND_ARRAY:
    case MWL_KIND_OBJECT: return v.aux > 0;
    default: return false;
    }
}

static bool index_constants(mwl__resume *r, const mwl_program *p, mwl__arena *memory) {
    const mwl_alloc alloc = mwl__arena_alloc(memory);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_consts; i++) n += mwl__resume_is_constant(p->consts[i]);
    r->constant = mwl__arena_new(memory, (n + 1) * sizeof *r->constant);
    if (!r->constant || mwl__table_reserve(&r->constants, &alloc, n + 1) < 0) return false;
    for (uint32_t i = 0, at = 0; i < p->n_consts; i++) {
        if (!mwl__resume_is_constant(p->consts[i])) continue;
        mwl__probe probe = mwl__probe_make(&r->constants, mwl__hash_address(p->consts[i].as.p));
        for (uint32_t other; mwl__table_next(&r->constants, &probe, &other);) continue;
        uintptr_t place = (uintptr_t)p->consts[i].as.p;
        if (at == 0 || place < r->first) r->first = place;
        if (place > r->last) r->last = place;
        r->constant[at] = i;
        mwl__table_put(&r->constants, &probe, at++);
    }
    return true;
}

uint32_t mwl__resume_constant(const mwl__link *link, mwl_value v) {
    const mwl__resume *r = link->resume;
    mwl__probe probe = mwl__probe_make(&r->constants, mwl__hash_address(v.as.p));
    for (uint32_t at; mwl__table_next(&r->constants, &probe, &at);)
        if (link->program->consts[r->constant[at]].as.p == v.as.p) return r->constant[at];
    return MWL_NONE;
}

/* ---- both ------------------------------------------------------------------------------------ */

const mwl__resume *mwl__resume_of(mwl__link *link) {
    const mwl_program *p = link->program;
    mwl__arena *memory = &link->resume_memory;
    if (link->resume) return link->resume;
    mwl__resume *r = mwl__arena_new(memory, sizeof *r);
    if (!r || !index_constants(r, p, memory)) {
        mwl__arena_free(memory);
        *memory = mwl__arena_make(link->vm->config.alloc);
        return NULL;
    }
    hash_id(p->bytes, p->size, r->id);
    r->shape = shape_of(p);
    return link->resume = r;
}
