/* image.c: see image.h. Reads nothing that it has not bounded first; writes one canonical form, and
 * accepts only that form. */
#include "image.h"

#include "utf8.h"
#include "value.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "program images are used in place, which needs a little-endian machine"
#endif

typedef struct header {
    char magic[4];
    uint16_t format, flags;
    uint32_t isa, n_sections;
    uint64_t size, hash; /* the hash is of everything after this header */
} header;

typedef struct dir_entry {
    uint32_t id, reserved;
    uint64_t offset, size;
} dir_entry;

static const char magic[4] = {'M', 'W', 'L', 'B'};

static const struct {
    const char *name;
    size_t record;
} known[MWL_SECTION_LIMIT] = {
#define X(name, id, size) [id] = {#name, size},
    MWL_IMAGE_SECTIONS(X)
#undef X
};

const char *mwl__image_section_name(unsigned id) {
    return id < MWL_SECTION_LIMIT ? known[id].name : NULL;
}

size_t mwl__image_record_size(unsigned id) { return id < MWL_SECTION_LIMIT ? known[id].record : 0; }

static uint64_t padded(uint64_t n) { return (n + 7u) & ~(uint64_t)7u; }

static bool all_zero(const unsigned char *p, uint64_t n) {
    while (n--)
        if (*p++) return false;
    return true;
}

mwl_status mwl__image_refuse(const mwl__image *image, mwl_error *error, mwl_status status,
                             const char *message, const void *at) {
    if (error) {
        error->status = status;
        error->message = message;
        error->offset = at ? (size_t)((const unsigned char *)at - image->bytes) : 0;
    }
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------- */

#define REFUSE(message, at) return mwl__image_refuse(image, error, MWL_E_IMAGE, message, at)

static mwl_status open_header(mwl__image *image, header *h, mwl_error *error) {
    const unsigned char *b = image->bytes;
    if (image->size < sizeof *h) REFUSE("too short for a program's header", NULL);
    memcpy(h, b, sizeof *h);
    if (memcmp(h->magic, magic, sizeof magic) != 0) REFUSE("not a program: no MWLB at the start", b);
    if (h->format != MWL_IMAGE_FORMAT)
        return mwl__image_refuse(image, error, MWL_E_VERSION,
                                 "the program file has another format version; assemble it again",
                                 b + offsetof(header, format));
    if (h->flags) REFUSE("unknown flags in the header", b + offsetof(header, flags));
    if (h->size > image->size) REFUSE("the program file is cut short", b + offsetof(header, size));
    if (h->size < image->size)
        REFUSE("there are bytes after the program's end", b + offsetof(header, size));
    if (h->n_sections >= MWL_SECTION_LIMIT ||
        h->n_sections * sizeof(dir_entry) > image->size - sizeof *h)
        REFUSE("the section directory does not fit", b + offsetof(header, n_sections));
    if (XXH3_64bits(b + sizeof *h, image->size - sizeof *h) != h->hash)
        REFUSE("the checksum does not match: the program file is damaged", b + offsetof(header, hash));
    image->isa = h->isa;
    return MWL_OK;
}

static mwl_status open_section(mwl__image *image, const dir_entry *at, uint32_t *last_id,
                               uint64_t *end, mwl_error *error) {
    dir_entry d;
    memcpy(&d, at, sizeof d);
    if (d.id >= MWL_SECTION_LIMIT || !known[d.id].name) REFUSE("an unknown section", at);
    if (d.id <= *last_id) REFUSE("sections are out of order or twice there", at);
    if (d.reserved) REFUSE("a reserved field of the directory is used", &at->reserved);
    if (d.offset != padded(*end)) REFUSE("a section is not where it must be", &at->offset);
    if (d.offset > image->size || d.size > image->size - d.offset || d.size == 0)
        REFUSE("a section does not fit in the file, or is empty", &at->size);
    if (d.size % known[d.id].record) REFUSE("a section holds a broken record", &at->size);
    if (!all_zero(image->bytes + *end, d.offset - *end))
        REFUSE("padding is not zero", image->bytes + *end);
    image->section[d.id].data = image->bytes + d.offset;
    image->section[d.id].size = (size_t)d.size;
    *last_id = d.id;
    *end = d.offset + d.size;
    return MWL_OK;
}

mwl_status mwl__image_open(const void *bytes, size_t size, mwl__image *out, mwl_error *error) {
    mwl__image view, *image = &view;
    memset(image, 0, sizeof *image);
    image->bytes = bytes;
    image->size = size;
    if (!bytes || (uintptr_t)bytes % 8)
        return mwl__image_refuse(image, error, MWL_E_USAGE, "the image is not aligned", NULL);
    header h;
    mwl_status status = open_header(image, &h, error);
    if (status < 0) return status;
    const dir_entry *dir = (const dir_entry *)(const void *)(image->bytes + sizeof h);
    uint64_t end = sizeof h + h.n_sections * sizeof *dir;
    uint32_t last_id = 0;
    for (uint32_t i = 0; i < h.n_sections; i++) {
        status = open_section(image, &dir[i], &last_id, &end, error);
        if (status < 0) return status;
    }
    if (padded(end) != size) REFUSE("there are bytes after the last section", image->bytes + end);
    if (!all_zero(image->bytes + end, size - end)) REFUSE("padding is not zero", image->bytes + end);
    *out = view;
    return MWL_OK;
}

mwl_status mwl__image_array(const mwl__image *image, unsigned id, size_t record, const void **data,
                            uint32_t *count, mwl_error *error) {
    size_t size = image->section[id].size;
    const void *at = image->section[id].data;
    if (size % record || size / record >= UINT32_MAX)
        REFUSE("a section's size is not that of its records", at);
    *data = at;
    *count = (uint32_t)(size / record);
    return MWL_OK;
}

mwl_status mwl__image_string(const mwl__image *image, uint64_t offset, bool text, uint64_t *next,
                             mwl_error *error) {
    size_t size = image->section[MWL_SECTION_STRINGS].size;
    const unsigned char *base = image->section[MWL_SECTION_STRINGS].data;
    if (offset % 8 || offset >= size || size - offset < sizeof(mwl__str) + 1)
        REFUSE("a string lies outside its section", base);
    const mwl__str *s = (const mwl__str *)(const void *)(base + offset);
    uint64_t used = sizeof *s + (uint64_t)s->len + 1, end = padded(used);
    if (s->len > MWL_STRING_LIMIT || end > size - offset) REFUSE("a string's length does not fit", s);
    if (s->rc != 0) REFUSE("a string in a program is counted", s);
    if (!all_zero((const unsigned char *)s + used - 1, end - used + 1))
        REFUSE("a string does not end in zeros", s);
    if ((uint32_t)XXH3_64bits(s->s, s->len) != s->hash) REFUSE("a string's hash is wrong", s);
    size_t n_cp = 0;
    if (text && !mwl__utf8_valid(s->s, s->len, &n_cp)) REFUSE("a string is not UTF-8", s);
    if (s->n_cp != n_cp) REFUSE("a string's number of code points is wrong", s);
    *next = offset + end;
    return MWL_OK;
}

/* ---- writing ----------------------------------------------------------------------------------------- */

void mwl__image_add(mwl__image_writer *w, unsigned id, const void *data, size_t size) {
    if (id >= MWL_SECTION_LIMIT || size == 0) return; /* an empty section is an absent one */
    w->section[id].data = data;
    w->section[id].size = size;
    w->section[id].present = true;
}

static void put_zeros(mwl__buf *out, uint64_t n) {
    while (n--) mwl__buf_putc(out, 0);
}

mwl_status mwl__image_finish(const mwl__image_writer *w, uint32_t isa, mwl__buf *out) {
    header h = {{0}, MWL_IMAGE_FORMAT, 0, isa, 0, 0, 0};
    memcpy(h.magic, magic, sizeof magic);
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
        if (!w->section[id].present) continue;
        if (!known[id].name || w->section[id].size % known[id].record) return MWL_E_USAGE;
        h.n_sections++;
    }
    uint64_t at = sizeof h + h.n_sections * sizeof(dir_entry);
    size_t start = out->len;
    mwl__buf_put(out, &h, sizeof h);
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
        if (!w->section[id].present) continue;
        dir_entry d = {id, 0, padded(at), w->section[id].size};
        mwl__buf_put(out, &d, sizeof d);
        at = d.offset + d.size;
    }
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
        if (!w->section[id].present) continue;
        put_zeros(out, padded(out->len - start) - (out->len - start));
        mwl__buf_put(out, w->section[id].data, w->section[id].size);
    }
    put_zeros(out, padded(out->len - start) - (out->len - start));
    if (out->failed) return MWL_E_NOMEM;
    h.size = out->len - start;
    memcpy(out->data + start, &h, sizeof h);
    mwl__image_reseal(out->data + start, out->len - start);
    return MWL_OK;
}

void mwl__image_reseal(void *bytes, size_t size) {
    if (size < sizeof(header)) return;
    uint64_t hash = XXH3_64bits((unsigned char *)bytes + sizeof(header), size - sizeof(header));
    memcpy((unsigned char *)bytes + offsetof(header, hash), &hash, sizeof hash);
}
