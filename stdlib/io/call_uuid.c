/* call_uuid.c: uuid: a new identifier of RFC 9562, version 4 or 7.
 *
 * Its random bits come from the system and not from the seed of the run: two runs with one seed
 * must not make the same identifier for two things. */
#include "stdlib/io/io.h"

#include <stdio.h>

#define PREFIX "Provider.Call.Uuid"

/* Bytes 0 to 5 of version 7: the time in milliseconds. Two of the same millisecond are ordered by
 * chance. */
static void put_time(unsigned char *id, int64_t wall_ns) {
    uint64_t ms = (uint64_t)(wall_ns / 1000000);
    for (int i = 0; i < 6; i++) id[i] = (unsigned char)(ms >> (40 - 8 * i));
}

static void uuid_start(mwl_call *call, void *user) {
    mwl_io *io = user;
    unsigned char id[16];
    char text[37];
    int version = (int)mwl__io_arg_number(mwl_call_arguments(call), "version", 4);
    int failed = uv_random(NULL, NULL, id, sizeof id, 0, NULL);
    if (failed) {
        mwl__io_fail(call, PREFIX ".NoEntropy", true, mwl_absent(), "the system's generator: %s",
                     uv_strerror(failed));
        return;
    }
    if (version == 7) {
        mwl_instant now;
        mwl_vm_now(mwl__io_vm(io), &now);
        put_time(id, now.wall_ns);
    }
    id[6] = (unsigned char)((id[6] & 0x0f) | version << 4);
    id[8] = (unsigned char)((id[8] & 0x3f) | 0x80);
    size_t n = 0;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text[n++] = '-';
        n += (size_t)snprintf(text + n, sizeof text - n, "%02x", id[i]);
    }
    mwl_call_succeed(call, mwl_string(mwl_call_heap(call), text, n));
}

const mwl_call_provider mwl__io_call_uuid = {MWL__IO_CALL(uuid, "uuid"), .start = uuid_start};
const mwl__io_life mwl__io_call_uuid_life = {NULL};
