/* The image's door: any bytes are refused or give a view whose sections lie inside them. The checksum is
 * put right first, so that the fuzzer gets past it; the sections of what is accepted, written again,
 * are the same bytes. */
#include "image.h"
#include "value.h"

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
        must(p >= bytes && p <= bytes + size && image->section[id].size <= (size_t)(bytes + size - p));
        must(mwl__image_section_name(id) != NULL);
        mwl__image_add(&w, id, p, image->section[id].size);
    }
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    must(mwl__image_finish(&w, image->isa, &out) == MWL_OK);
    must(out.len == size && memcmp(out.data, bytes, size) == 0);
    mwl__buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *bytes = malloc(size ? size : 1);
    mwl_error error = {MWL_OK, NULL, 0};
    mwl__image image;
    must(bytes != NULL);
    if (size) memcpy(bytes, data, size);
    mwl__image_reseal(bytes, size);
    mwl_status status = mwl__image_open(bytes, size, &image, &error);
    if (status == MWL_OK) {
        check_view(&image, bytes, size);
        if (mwl__image_strings(&image, &error) == MWL_OK) {
            size_t n = image.section[MWL_SECTION_STRINGS].size / 64 + 1;
            unsigned char *bits = calloc(1, n);
            must(bits != NULL);
            mwl__image_string_starts(&image, bits);
            free(bits);
        } else {
            must(error.message != NULL && error.offset <= size);
        }
    } else {
        must(error.status == status && error.message != NULL && error.offset <= size);
    }
    free(bytes);
    return 0;
}
