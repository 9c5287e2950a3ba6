/* fuzz_image.c: program images. Any bytes are refused, or give a view whose sections lie inside
 * them, and a program whose functions work. The checksum and the instruction set are corrected
 * first, so that the fuzzer gets past them. If the sections of an accepted image are written again,
 * the bytes are the same.
 *
 * The first byte chooses: even, the rest is the image; odd, the rest is a list of changes (two
 * bytes of place, one of value) to a valid image, which reaches the deeper checks sooner. */
#include "assembler/emit/emit.h"
#include "vm/program/verify.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition) {
    if (!condition) abort();
}

static void check_view(const mwl__image *image, const unsigned char *bytes, size_t size) {
    mwl__image_writer w;
    memset(&w, 0, sizeof w);
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
        const unsigned char *p = image->section[id].data;
        if (!p) continue;
        must(p >= bytes && p <= bytes + size &&
             image->section[id].size <= (size_t)(bytes + size - p));
        must(mwl__image_section_name(id) != NULL);
        mwl__image_add(&w, id, p, image->section[id].size);
    }
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    must(mwl__image_finish(&w, image->isa, &out) == MWL_OK);
    if (image->big && out.len > 6)
        out.data[6] ^= MWL_IMAGE_BIG, mwl__image_reseal(out.data, out.len);
    must(out.len == size && memcmp(out.data, bytes, size) == 0);
    mwl__buf_free(&out);
}

/* Checks what loading guarantees, for every instruction. */
static void check_program(const mwl_program *p) {
    for (uint32_t pc = 0; pc < p->n_code; pc++) {
        mwl__where w;
        const mwl__handler_rec *h = mwl__program_handler(p, pc);
        must(!h || (h->begin <= pc && pc < h->end && h->target < p->n_code));
        (void)mwl__program_where(p, pc, pc % 3, &w);
    }
    for (uint32_t i = 0; i < p->n_consts; i++) {
        bool equal;
        must((p->consts[i].tag & (MWL_HEAP | MWL_OWNED)) == 0);
        uint64_t fuel = 10000;
        (void)mwl__value_equal(p->consts[i], p->consts[0], &fuel, &equal);
    }
}

static void emit_sample(mwl__emit *e) {
    mwl_heap *h = NULL;
    mwl_value v = mwl_absent();
    static const char json[] = "{\"a\":[1,null,\"x\"],\"b\":{\"c\":{}},\"d\":true}";
    must(mwl_heap_new(NULL, &h) == MWL_OK);
    must(mwl_json_parse(h, json, sizeof json - 1, &v, NULL) == MWL_OK);
    uint32_t k = mwl__emit_const(e, v), key = mwl__emit_string(e, "key", 3);
    mwl__drop(h, v);
    mwl_heap_free(h);
    mwl__emit_regs(e, 8);
    mwl__emit_ax(e, MWL_OP_LOAD_PATH, 0, mwl__emit_path(e, MWL_BASE_ENV, &key, 1));
    mwl__emit_ax(e, MWL_OP_LOAD_K, 1, k);
    mwl__emit_abc(e, MWL_OP_ITER, 2, 1, 0);
    uint32_t next = mwl__emit_ax(e, MWL_OP_NEXT, 2, 7);
    mwl__emit_abc(e, MWL_OP_SELECT, 0, 4, key);
    mwl__emit_ax(e, MWL_OP_MATCH, 0, mwl__emit_regex(e, mwl__emit_string(e, "a[bc]+", 6)));
    mwl__emit_ax(e, MWL_OP_JUMP, 0, next);
    mwl__emit_abc(e, MWL_OP_CALL_FN, 0, 0, mwl__emit_func(e, "size", 1, true));
    mwl__emit_abc(e, MWL_OP_MAP_OF, 0, 0, mwl__emit_shape(e, &key, 1));
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
    mwl__emit_handler(e, 0, 7, 8, 1, MWL_HANDLER_EXPR);
    mwl__emit_handler(e, 4, 6, 6, 1, MWL_HANDLER_EXPR);
    for (uint32_t pc = 0; pc < 10; pc++) mwl__emit_where(e, pc, 0, (mwl__where){1, pc, pc, 2});
}

static unsigned char *changed_sample(const uint8_t *data, size_t size, size_t *out_size) {
    mwl__buf image = mwl__buf_make(mwl_alloc_default());
    mwl__emit *e = mwl__emit_new(NULL);
    must(e != NULL);
    emit_sample(e);
    must(mwl__emit_finish(e, 0, &image) == MWL_OK);
    mwl__emit_free(e);
    unsigned char *bytes = malloc(image.len);
    must(bytes != NULL);
    memcpy(bytes, image.data, image.len);
    *out_size = image.len;
    mwl__buf_free(&image);
    for (size_t i = 0; i + 3 <= size; i += 3)
        bytes[((size_t)data[i] | (size_t)data[i + 1] << 8) % *out_size] = data[i + 2];
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *bytes;
    if (size && data[0] & 1) {
        bytes = changed_sample(data + 1, size - 1, &size);
    } else {
        if (size) data++, size--;
        bytes = malloc(size ? size : 1);
        must(bytes != NULL);
        if (size) memcpy(bytes, data, size);
    }
    mwl_error error = {MWL_OK, NULL, 0};
    mwl__image image;
    uint32_t isa = mwl__op_isa();
    if (size >= MWL_IMAGE_HEADER) memcpy(bytes + 8, &isa, sizeof isa);
    mwl__image_reseal(bytes, size);
    mwl_status status = mwl__image_open(bytes, size, &image, &error);
    if (status == MWL_OK)
        check_view(&image, bytes, size);
    else
        must(error.status == status && error.message != NULL && error.offset <= size);
    mwl_program *p = NULL;
    error = (mwl_error){MWL_OK, NULL, 0};
    mwl_status loaded = mwl__program_load(NULL, bytes, size, false, &p, &error);
    must(status == MWL_OK || loaded < 0);
    if (loaded == MWL_OK)
        check_program(p);
    else
        must(error.status == loaded && error.message != NULL && error.offset <= size);
    mwl__program_release(p);
    free(bytes);
    return 0;
}
