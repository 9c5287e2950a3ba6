/* wasm.c: play.h for JavaScript: what the WebAssembly module exports and imports.
 *
 * JavaScript allocates a text, calls mwl_play, and reads the reply: an address and a length, as two
 * 32-bit numbers. */
#include "tools/playground/play.h"
#include "tools/playground/zone.h"

#include <emscripten/emscripten.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct play *play;
static uint32_t reply[2];

EMSCRIPTEN_KEEPALIVE void *mwl_play_alloc(size_t size) { return malloc(size); }

/* Serves a request, which is taken over. Returns the address of the reply's address and length. */
EMSCRIPTEN_KEEPALIVE const uint32_t *mwl_play(char *take_json, size_t len) {
    static const char no_memory[] = "{\"error\":\"out of memory\"}";
    size_t n = sizeof no_memory - 1;
    if (!play) play = play_new();
    const char *text = play ? play_request(play, take_json, len, &n) : no_memory;
    free(take_json);
    reply[0] = (uint32_t)(uintptr_t)text;
    reply[1] = (uint32_t)n;
    return reply;
}

/* Writes the TZif bytes of a zone to an address that it gets from mwl_play_alloc, and returns it;
 * 0 if there is no such zone. The first four bytes are the length of the rest. */
__attribute__((import_module("env"), import_name("mwl_zone"))) extern char *
mwl_zone(const char *name, size_t len);

mwl_status play_zone(void *ctx, const char *name,
                     void (*put)(void *to, const void *bytes, size_t n), void *to) {
    (void)ctx;
    uint32_t len;
    char *bytes = mwl_zone(name, strlen(name));
    if (!bytes) return MWL_E_NOT_FOUND;
    memcpy(&len, bytes, sizeof len);
    put(to, bytes + sizeof len, len);
    free(bytes);
    return MWL_OK;
}
