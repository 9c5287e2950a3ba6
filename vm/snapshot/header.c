/* header.c: see header.h. The checksum finds accidents. Safety does not rest on it: load.c checks
 * what it reads. */
#include "vm/snapshot/header.h"

#include "vm/snapshot/cbor.h"
#include "vm/snapshot/fields.h"

static void put(unsigned char *at, uint64_t n, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) at[i] = (unsigned char)(n >> (8 * i));
}

static uint64_t get(const unsigned char *at, unsigned bytes) {
    uint64_t n = 0;
    for (unsigned i = bytes; i-- > 0;) n = n << 8 | at[i];
    return n;
}

void mwl__saved_reseal(unsigned char *bytes, size_t size) {
    if (size >= MWL_SAVED_HEADER) put(bytes + 8, mwl__str_hash64(bytes + 16, size - 16, 0), 8);
}

void mwl__saved_seal(unsigned char *bytes, size_t size, const mwl__saved_header *h) {
    memcpy(bytes, "MWLS", 4);
    put(bytes + 4, MWL_SAVED_FORMAT, 2);
    put(bytes + 6, h->flags, 2);
    put(bytes + 16, size - MWL_SAVED_HEADER, 8);
    memcpy(bytes + 24, h->program, 16);
    put(bytes + 40, h->shape, 8);
    put(bytes + 48, (uint64_t)h->at.mono_ns, 8);
    put(bytes + 56, (uint64_t)h->at.wall_ns, 8);
    mwl__saved_reseal(bytes, size);
}

mwl_status mwl__saved_open(const unsigned char *bytes, size_t size, mwl__saved_header *h,
                           const char **why) {
    *why = "this is not a saved run";
    if (size < MWL_SAVED_HEADER || memcmp(bytes, "MWLS", 4) != 0) return MWL_E_SNAPSHOT;
    *why = "the saved run has another version of the format";
    if (get(bytes + 4, 2) != MWL_SAVED_FORMAT) return MWL_E_VERSION;
    *why = "the saved run is not complete";
    h->flags = (uint16_t)get(bytes + 6, 2);
    h->body = get(bytes + 16, 8);
    if (h->body != size - MWL_SAVED_HEADER) return MWL_E_SNAPSHOT;
    *why = "the checksum of the saved run is wrong";
    if (get(bytes + 8, 8) != mwl__str_hash64(bytes + 16, size - 16, 0)) return MWL_E_SNAPSHOT;
    *why = "the saved run has flags that are not known";
    if (h->flags & ~MWL_SAVED_DONE) return MWL_E_SNAPSHOT;
    memcpy(h->program, bytes + 24, 16);
    h->shape = get(bytes + 40, 8);
    h->at.mono_ns = (int64_t)get(bytes + 48, 8);
    h->at.wall_ns = (int64_t)get(bytes + 56, 8);
    return MWL_OK;
}

/* The run's record begins with DUE, COUNT and HELD (fields.h). */
mwl_status mwl_saved_read(const void *bytes, size_t size, mwl_saved *out) {
    mwl__saved_header h;
    const char *why;
    mwl__major major;
    uint64_t n, due, calls, held;
    if (!bytes || !out) return MWL_E_USAGE;
    mwl_status st = mwl__saved_open(bytes, size, &h, &why);
    if (st < 0) return st;
    mwl__cbor c = {(const unsigned char *)bytes + MWL_SAVED_HEADER,
                   (const unsigned char *)bytes + size};
    memset(out, 0, sizeof *out);
    memcpy(out->program, h.program, sizeof out->program);
    out->at = h.at;
    out->done = h.flags & MWL_SAVED_DONE;
    out->due_wall_ns = MWL_NEVER;
    if (!mwl__cbor_next(&c, &major, &n) || major != MWL_CBOR_ARRAY) return MWL_E_SNAPSHOT;
    if (!mwl__cbor_next(&c, &major, &due)) return MWL_E_SNAPSHOT;
    if (major == MWL_CBOR_UINT || major == MWL_CBOR_NEGATIVE) {
        int64_t at = (int64_t)(major == MWL_CBOR_UINT ? due : ~due), to;
        if (!__builtin_sub_overflow(at, h.at.mono_ns, &to) &&
            !__builtin_add_overflow(to, h.at.wall_ns, &to))
            out->due_wall_ns = to;
    } else if (major != MWL_CBOR_SIMPLE) {
        return MWL_E_SNAPSHOT;
    }
    if (!mwl__cbor_next(&c, &major, &calls) || major != MWL_CBOR_UINT || calls > UINT32_MAX ||
        !mwl__cbor_next(&c, &major, &held) || major != MWL_CBOR_UINT || held > calls)
        return MWL_E_SNAPSHOT;
    out->n_calls = (uint32_t)calls;
    out->n_held = (uint32_t)held;
    return MWL_OK;
}
