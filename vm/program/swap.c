/* swap.c: see swap.h. */
#include "vm/program/swap.h"

#include "vm/base/order.h"
#include "vm/value/value.h"

/* The bytes of each field of a record; NULL: the section has no records. STRINGS is a case of its
 * own. */
static const char *fields_of(unsigned id) {
    switch (id) {
    case MWL_SECTION_CONSTS: return "448";
    case MWL_SECTION_CODE: return "2222";
    case MWL_SECTION_PATHS: return "224";
    case MWL_SECTION_FUNCS: return "422";
    case MWL_SECTION_HANDLERS: return "444422";
    case MWL_SECTION_POSITIONS:
    case MWL_SECTION_SOURCE: return NULL;
    default: return "4";
    }
}

static void turn(unsigned char *p, size_t width) {
    for (size_t i = 0; i < width / 2; i++) {
        unsigned char kept = p[i];
        p[i] = p[width - 1 - i];
        p[width - 1 - i] = kept;
    }
}

static void turn_records(unsigned char *p, size_t size, const char *fields) {
    for (size_t at = 0; at < size;)
        for (const char *f = fields; *f && at < size; f++) {
            size_t width = (size_t)(*f - '0');
            turn(p + at, width);
            at += width;
        }
}

/* The length of the next record is read in the order in which it is before. */
static void turn_strings(unsigned char *p, size_t size, bool big) {
    const size_t head = sizeof(mwl__str);
    for (size_t at = 0; size - at >= head;) {
        uint32_t len = mwl__load_32(p + at + 4);
        if (big) len = mwl__turned_32(len);
        turn_records(p + at, head, "4");
        uint64_t record = ((uint64_t)head + len + 1 + 7) & ~UINT64_C(7);
        if (record > size - at) return;
        at += (size_t)record;
    }
}

void mwl__section_swap(unsigned id, void *data, size_t size, bool big) {
    if (id == MWL_SECTION_STRINGS)
        turn_strings(data, size, big);
    else if (fields_of(id))
        turn_records(data, size, fields_of(id));
}

void mwl__image_swap(void *bytes, const mwl__image *view) {
    unsigned char *b = bytes;
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
        if (!view->section[id].data) continue;
        unsigned char *p = b + ((const unsigned char *)view->section[id].data - view->bytes);
        mwl__section_swap(id, p, view->section[id].size, view->big);
    }
    b[6] ^= MWL_IMAGE_BIG;
    mwl__image_reseal(b, view->size);
}

mwl_status mwl__image_to_native(const mwl_alloc *alloc, mwl__image *image, void **own,
                                mwl_error *error) {
    *own = NULL;
    if (image->big == MWL__BIG_ENDIAN) return MWL_OK;
    *own = mwl__mem_new(alloc, image->size);
    if (!*own) return mwl__image_refuse(NULL, error, MWL_E_NOMEM, "out of memory", NULL);
    memcpy(*own, image->bytes, image->size);
    mwl__image_swap(*own, image);
    return mwl__image_open(*own, image->size, image, error);
}
