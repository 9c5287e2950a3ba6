/* program.c: see program.h. Loading an image: finds its tables, makes values of the constants,
 * compiles patterns. verify.h has the checks.
 *
 * Threads share constants, so they are never written after loading. Strings are used in the image.
 * Containers come from a heap of the program; their tags are stored without MWL_HEAP and MWL_OWNED,
 * so that they are not counted. `owned` has the counted references for release. */
#include "vm/program/program.h"

#include "mwl_config.h"
#include "vm/base/error_text.h"
#include "vm/program/pack.h"
#include "vm/program/swap.h"
#include "vm/program/verify.h"

#include <stdatomic.h>

/* ---- tables ---------------------------------------------------------------------------------- */

/* A table that the image does not have: nothing is read there, but adding 0 to NULL is undefined.
 */
static const uint64_t no_table[1];

#define TABLE(section, field, count)                                                               \
    do {                                                                                           \
        const void *at_;                                                                           \
        mwl_status st_ = mwl__image_array(&p->image, MWL_SECTION_##section, sizeof *(field), &at_, \
                                          &(count), error);                                        \
        if (st_ < 0) return st_;                                                                   \
        (field) = at_ ? at_ : (const void *)no_table;                                              \
    } while (0)

static mwl_status open_tables(mwl_program *p, mwl_error *error) {
    const mwl__const_rec *consts;
    const uint32_t *regexes;
    TABLE(CODE, p->code, p->n_code);
    TABLE(CONSTS, consts, p->n_consts);
    TABLE(PATHS, p->paths, p->n_paths);
    TABLE(KEYS, p->keys, p->n_keys);
    TABLE(SHAPES, p->shapes, p->n_shapes);
    TABLE(FUNCS, p->funcs, p->n_funcs);
    TABLE(HANDLERS, p->handlers, p->n_handlers);
    TABLE(REGEXES, regexes, p->n_regexes);
    (void)consts, (void)regexes;
    p->n_regs = mwl__program_info(p, MWL_INFO_REGS);
    p->positions = p->image.section[MWL_SECTION_POSITIONS].data;
    p->positions_size = p->image.section[MWL_SECTION_POSITIONS].size;
    p->source = p->image.section[MWL_SECTION_SOURCE].data;
    p->source_size = p->image.section[MWL_SECTION_SOURCE].size;
    return MWL_OK;
}

static mwl_status open_flow(mwl_program *p, mwl_error *error) {
    mwl__flow_tables *t = &p->tables;
    TABLE(FLOWS, t->flows, t->n_flows);
    TABLE(STEPS, t->steps, t->n_steps);
    TABLE(ENTRIES, t->entries, t->n_entries);
    TABLE(CALLS, t->calls, t->n_calls);
    TABLE(GATHERS, t->gathers, t->n_gathers);
    TABLE(CATCHES, t->catches, t->n_catches);
    TABLE(MATCHERS, t->matchers, t->n_matchers);
    TABLE(IMPORTS, t->imports, t->n_imports);
    TABLE(SCHEMAS, t->schemas, t->n_schema_words);
    t->root_flow = mwl__program_info(p, MWL_INFO_ROOT_FLOW);
    return MWL_OK;
}

uint32_t mwl__program_info(const mwl_program *p, unsigned word) {
    const uint32_t *words = p->image.section[MWL_SECTION_INFO].data;
    return word < p->image.section[MWL_SECTION_INFO].size / sizeof *words ? words[word] : MWL_NONE;
}

/* ---- constants ------------------------------------------------------------------------------- */

static mwl_value immortal(mwl_value v) {
    v.tag &= ~(MWL_HEAP | MWL_OWNED);
    return v;
}

static mwl_value build_container(mwl_program *p, const mwl__const_rec *rec) {
    const uint32_t *list =
        (const uint32_t *)p->image.section[MWL_SECTION_TREES].data + rec->payload;
    uint32_t n = *list++;
    mwl_value v;
    if (rec->kind == MWL_KIND_ARRAY) {
        v = mwl__list_new(&p->trees, n);
        for (uint32_t i = 0; i < n; i++) v = mwl__list_push(&p->trees, v, p->consts[list[i]]);
        return v;
    }
    v = mwl__map_new(&p->trees, n);
    for (uint32_t i = 0; i < n; i++)
        v = mwl__map_put(&p->trees, v, p->consts[list[(size_t)2 * i]],
                         p->consts[list[(size_t)2 * i + 1]]);
    if (!mwl_is_absent(v) && v.aux != n) {
        mwl__drop(&p->trees, v);
        return mwl__heap_fail(&p->trees, MWL_E_DUPLICATE);
    }
    return v;
}

static mwl_value build_const(mwl_program *p, const mwl__const_rec *rec) {
    mwl_value v;
    v.tag = rec->kind;
    v.aux = rec->aux;
    v.as.u = rec->payload;
    switch (rec->kind) {
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE: {
        const char *strings = p->image.section[MWL_SECTION_STRINGS].data;
        const mwl__str *s = (const mwl__str *)(const void *)(strings + rec->payload);
        v.aux = s->hash;
        v.as.p = (void *)(uintptr_t)s; /* never written: with this tag it is not counted */
        return v;
    }
    case MWL_KIND_ARRAY:
    case MWL_KIND_OBJECT: return build_container(p, rec);
    default: return v;
    }
}

static mwl_status build_consts(mwl_program *p, mwl_error *error) {
    const mwl__const_rec *recs = p->image.section[MWL_SECTION_CONSTS].data;
    if (p->n_consts == 0) return MWL_OK;
    p->consts = mwl__mem_zero(&p->alloc, p->n_consts, sizeof *p->consts);
    if (!p->consts) return mwl__image_refuse(&p->image, error, MWL_E_NOMEM, "out of memory", NULL);
    for (uint32_t i = 0; i < p->n_consts; i++)
        p->cap_owned += recs[i].kind == MWL_KIND_ARRAY || recs[i].kind == MWL_KIND_OBJECT;
    if (p->cap_owned) p->owned = mwl__mem_zero(&p->alloc, p->cap_owned, sizeof *p->owned);
    if (p->cap_owned && !p->owned)
        return mwl__image_refuse(&p->image, error, MWL_E_NOMEM, "out of memory", NULL);
    for (uint32_t i = 0; i < p->n_consts; i++) {
        mwl_value v = build_const(p, &recs[i]);
        if (mwl_is_absent(v)) {
            mwl_status why = p->trees.why;
            return mwl__image_refuse(&p->image, error, why == MWL_E_NOMEM ? why : MWL_E_IMAGE,
                                     mwl_status_text(why), &recs[i]);
        }
        if (v.tag & MWL_OWNED) p->owned[p->n_owned++] = v;
        p->consts[i] = immortal(v);
    }
    return MWL_OK;
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* The program's allocator, counting, so that the patterns of a small image stay within a limit. */
static void *pattern_alloc(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    mwl_program *p = ctx;
    if (new_size > old_size && new_size - old_size > MWL_PATTERNS_LIMIT - p->patterns_used) {
        p->patterns_full = true;
        return NULL;
    }
    void *q = p->alloc.fn(p->alloc.ctx, ptr, old_size, new_size);
    if (q || new_size == 0) p->patterns_used = p->patterns_used - old_size + new_size;
    return q;
}

static mwl_status build_regexes(mwl_program *p, mwl_error *error) {
    const uint32_t *patterns = p->image.section[MWL_SECTION_REGEXES].data;
    if (p->n_regexes == 0) return MWL_OK;
    p->regexes = mwl__mem_zero(&p->alloc, p->n_regexes, sizeof *p->regexes);
    if (!p->regexes) return mwl__image_refuse(&p->image, error, MWL_E_NOMEM, "out of memory", NULL);
    mwl_alloc counted = {pattern_alloc, p};
    uint64_t work = 0;
    for (uint32_t i = 0; i < p->n_regexes; i++) {
        const mwl__str *s = mwl__as_str(p->consts[patterns[i]]);
        mwl_error why = {MWL_OK, "out of memory", 0};
        mwl_status status =
            mwl__regex_compile(&counted, s->s, s->len, 0, &work, &p->regexes[i], &why);
        if (work > MWL_PATTERNS_WORK)
            return mwl__image_refuse(&p->image, error, MWL_E_TOO_BIG,
                                     "the regular expressions take too long to compile",
                                     &patterns[i]);
        if (status == MWL_OK) continue;
        if (p->patterns_full)
            return mwl__image_refuse(&p->image, error, MWL_E_TOO_BIG,
                                     "the regular expressions need too much memory", &patterns[i]);
        return mwl__image_refuse(&p->image, error, status == MWL_E_NOMEM ? status : MWL_E_IMAGE,
                                 why.message, &patterns[i]);
    }
    return MWL_OK;
}

/* ---- handlers -------------------------------------------------------------------------------- */

const mwl__handler_rec *mwl__program_handler(const mwl_program *p, uint32_t pc) {
    uint32_t low = 0, high = p->n_handlers; /* the first row that ends after pc */
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (p->handlers[mid].end > pc)
            high = mid;
        else
            low = mid + 1;
    }
    if (low == p->n_handlers) return NULL;
    /* ranges are nested or apart, so the one around pc is this row or around it */
    while (p->handlers[low].begin > pc) {
        low = p->handlers[low].parent;
        if (low == MWL_NONE) return NULL;
    }
    return &p->handlers[low];
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Makes an image of a packed program. */
static mwl_status take_packed(mwl_program *p, const void *bytes, size_t size, mwl_error *error) {
    mwl__buf image = mwl__buf_make(p->alloc);
    mwl_status status = mwl__unpack(bytes, size, &image, error);
    void *own = status == MWL_OK ? mwl__mem_new(&p->alloc, image.len) : NULL;
    if (own) {
        memcpy(own, image.data, image.len);
        p->bytes = own;
        p->size = image.len;
        p->owns_bytes = true;
    } else if (status == MWL_OK) {
        status = mwl__image_refuse(NULL, error, MWL_E_NOMEM, "out of memory", NULL);
    }
    mwl__buf_free(&image);
    return status;
}

/* Copies the lent bytes. */
static mwl_status own_bytes(mwl_program *p, mwl_error *error) {
    void *own = mwl__mem_new(&p->alloc, p->size ? p->size : 1);
    if (!own) return mwl__image_refuse(NULL, error, MWL_E_NOMEM, "out of memory", NULL);
    memcpy(own, p->bytes, p->size);
    p->bytes = own;
    p->owns_bytes = true;
    return MWL_OK;
}

static mwl_status take_bytes(mwl_program *p, const void *bytes, size_t size, bool copy,
                             mwl_error *error) {
    if (!bytes) return mwl__image_refuse(&p->image, error, MWL_E_USAGE, "no image", NULL);
    if (mwl__pack_is(bytes, size)) return take_packed(p, bytes, size, error);
    p->bytes = bytes;
    p->size = size;
    return !copy && (uintptr_t)bytes % 8 == 0 ? MWL_OK : own_bytes(p, error);
}

/* The checks that follow control: loops, brackets, registers. */
static mwl_status verify_ways(mwl_program *p, mwl_error *error) {
    mwl__loops loops = {NULL, 0, 0, 0, NULL, NULL, NULL};
    mwl_status status = mwl__verify_loops(p, &loops, error);
    if (status == MWL_OK) status = mwl__verify_nest(p, &loops, error);
    if (status == MWL_OK) status = mwl__verify_regs(p, &loops, error);
    mwl__verify_loops_free(p, &loops);
    return status;
}

/* Opens the image. After that `bytes` are little-endian, and the view has this machine's order. */
static mwl_status open_image(mwl_program *p, mwl_error *error) {
    mwl_status status = mwl__image_open(p->bytes, p->size, &p->image, error);
    if (status == MWL_OK && p->image.big) {
        if (!p->owns_bytes && (status = own_bytes(p, error)) < 0) return status;
        mwl__image_swap((void *)(uintptr_t)p->bytes, &p->image);
        status = mwl__image_open(p->bytes, p->size, &p->image, error);
    }
    return status < 0 ? status : mwl__image_to_native(&p->alloc, &p->image, &p->native, error);
}

static mwl_status load(mwl_program *p, mwl_error *error) {
    mwl_status status = open_image(p, error);
    if (status < 0) return status;
    if (p->image.isa != mwl__op_isa())
        return mwl__image_refuse(&p->image, error, MWL_E_VERSION,
                                 "the program is for another instruction set; assemble it again",
                                 NULL);
    if ((status = open_tables(p, error)) < 0) return status;
    if ((status = open_flow(p, error)) < 0) return status;
    if ((status = mwl__verify_consts(p, error)) < 0) return status;
    if ((status = build_consts(p, error)) < 0) return status;
    if ((status = mwl__verify_tables(p, error)) < 0) return status;
    if ((status = mwl__verify_code(p, error)) < 0) return status;
    if ((status = mwl__verify_flow(p, error)) < 0) return status;
    if ((status = verify_ways(p, error)) < 0) return status;
    if ((status = mwl__verify_positions(p, error)) < 0) return status;
    return build_regexes(p, error);
}

/* The host's allocator, as far as the limit allows. */
static void *count(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    mwl_program *p = ctx;
    if (new_size > old_size && new_size - old_size > p->limit - p->used) {
        p->full = true;
        return NULL;
    }
    void *q = p->inner.fn(p->inner.ctx, ptr, old_size, new_size);
    if (q || new_size == 0) p->used = p->used - old_size + new_size;
    return q;
}

static mwl_program *new_program(mwl_alloc inner, size_t limit) {
    mwl_program *p = mwl__mem_zero(&inner, 1, sizeof *p);
    if (!p) return NULL;
    p->inner = inner;
    p->used = sizeof *p;
    p->limit = limit > p->used ? limit : p->used;
    p->alloc = (mwl_alloc){count, p};
    atomic_init(&p->refs, 1);
    return p;
}

/* Out of memory: the limit's, or the host's. */
static mwl_status no_memory(const mwl_program *p, mwl_error *why) {
    if (!p->full) return mwl__image_refuse(NULL, why, MWL_E_NOMEM, "out of memory", NULL);
    why->message =
        mwl__error_text_set("loading the program needs more than %zu bytes of memory", p->limit);
    return why->status = MWL_E_TOO_BIG;
}

mwl_status mwl__program_load_within(const mwl_alloc *alloc, const void *bytes, size_t size,
                                    bool copy, size_t max_memory, mwl_program **out,
                                    mwl_error *error) {
    mwl_error why = {MWL_OK, "", 0};
    mwl_program *p = new_program(alloc ? *alloc : mwl_alloc_default(),
                                 max_memory ? max_memory : (size_t)MWL_LOAD_MEMORY);
    if (!p) return mwl__image_refuse(NULL, error, MWL_E_NOMEM, "out of memory", NULL);
    mwl_status status = mwl__heap_init(&p->trees, &p->alloc);
    if (status == MWL_OK) status = take_bytes(p, bytes, size, copy, &why);
    if (status == MWL_OK) status = load(p, &why);
    if (status == MWL_OK) {
        *out = p;
        return status;
    }
    if (status == MWL_E_NOMEM) status = no_memory(p, &why);
    if (error) *error = why;
    mwl__program_release(p);
    return status;
}

mwl_status mwl__program_load(const mwl_alloc *alloc, const void *bytes, size_t size, bool copy,
                             mwl_program **out, mwl_error *error) {
    return mwl__program_load_within(alloc, bytes, size, copy, 0, out, error);
}

mwl_program *mwl__program_keep(mwl_program *p) {
    if (p) atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void mwl__program_release(mwl_program *p) {
    if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
    mwl_alloc a = p->alloc;
    for (uint32_t i = 0; i < p->n_regexes && p->regexes; i++) mwl__regex_free(p->regexes[i]);
    mwl__mem_free(&a, p->regexes, p->n_regexes * sizeof *p->regexes);
    for (uint32_t i = 0; i < p->n_owned; i++) mwl__drop(&p->trees, p->owned[i]);
    mwl__mem_free(&a, p->owned, p->cap_owned * sizeof *p->owned);
    mwl__mem_free(&a, p->consts, p->n_consts * sizeof *p->consts);
    mwl__heap_done(&p->trees);
    mwl__mem_free(&a, p->places.entries, p->tables.n_entries * sizeof *p->places.entries);
    mwl__mem_free(&a, p->places.calls, p->tables.n_calls * sizeof *p->places.calls);
    mwl__mem_free(&a, p->places.gathers, p->tables.n_gathers * sizeof *p->places.gathers);
    mwl__mem_free(&a, p->places.flows, p->tables.n_flows * sizeof *p->places.flows);
    mwl__mem_free(&a, p->places.sleeps, p->tables.n_steps * sizeof *p->places.sleeps);
    mwl__mem_free(&a, p->places.actions,
                  (size_t)p->tables.n_entries * 4 * sizeof *p->places.actions);
    if (p->native) mwl__mem_free(&a, p->native, p->size);
    if (p->owns_bytes) mwl__mem_free(&a, (void *)(uintptr_t)p->bytes, p->size ? p->size : 1);
    a = p->inner;
    mwl__mem_free(&a, p, sizeof *p);
}

/* ---- for hosts ------------------------------------------------------------------------------- */

mwl_status mwl_program_load(const mwl_alloc *alloc, const void *image, size_t size,
                            mwl_ownership ownership, mwl_program **out, mwl_error *error) {
    if (!out) return MWL_E_USAGE;
    return mwl__program_load(alloc, image, size, ownership == MWL_COPY, out, error);
}

mwl_status mwl_program_load_within(const mwl_alloc *alloc, const void *image, size_t size,
                                   mwl_ownership ownership, size_t max_memory, mwl_program **out,
                                   mwl_error *error) {
    if (!out) return MWL_E_USAGE;
    return mwl__program_load_within(alloc, image, size, ownership == MWL_COPY, max_memory, out,
                                    error);
}

mwl_program *mwl_program_keep(mwl_program *program) { return mwl__program_keep(program); }

void mwl_program_release(mwl_program *program) { mwl__program_release(program); }
