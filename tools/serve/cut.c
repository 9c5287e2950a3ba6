/* cut.c: see cut.h. */
#include "tools/serve/cut.h"

#include "tools/base/json_out.h"
#include "tools/base/redact.h"

#include <stdlib.h>
#include <string.h>

enum {
    VALUE = 64 << 10,
    ALL = 8 << 20,
    FULL = 16 << 20,
    LEAST = 400, /* a string that stands for a value fits */
    SHOWN = 200
};

struct cut cut_make(FILE *to, mwl_heap *heap, bool full) {
    return (struct cut){to, heap, full ? FULL : VALUE, full ? FULL : ALL, false};
}

static size_t room(const struct cut *c) {
    long at = ftell(c->to);
    size_t used = at < 0 ? 0 : (size_t)at, left = used < c->all ? c->all - used : 0;
    return left < c->value ? left : c->value;
}

bool cut_has_room(struct cut *c) {
    if (room(c) >= LEAST) return true;
    c->any = true;
    return false;
}

void cut_value(struct cut *c, mwl_value v) {
    if (!json_out_within(c->to, c->heap, v, room(c))) c->any = true;
}

/* A string in the place of a long text. */
static void put_beginning(struct cut *c, mwl_store_text json) {
    char text[SHOWN + 60];
    size_t n = json.len < SHOWN ? json.len : SHOWN;
    while (n > 0 && n < json.len && ((unsigned char)json.at[n] & 0xC0u) == 0x80u) n--;
    memcpy(text, json.at, n);
    snprintf(text + n, sizeof text - n, " ... (%zu bytes)", json.len);
    json_out_text(c->to, text);
    c->any = true;
}

void cut_json(struct cut *c, const char *name, mwl_store_text json) {
    if (!json.at) return;
    char *hidden = redact_json_text(json.at, json.len, &json.len);
    if (hidden) json.at = hidden;
    put_name(c->to, name, false);
    if (json.len <= room(c))
        fwrite(json.at, 1, json.len, c->to);
    else
        put_beginning(c, json);
    free(hidden);
}

/* Failures before this one are not deeper than the machine allows: it ends. */
static void put_members(struct cut *c, mwl_value result) {
    mwl_value key, value;
    putc('{', c->to);
    for (size_t i = 0; mwl_object_at(result, i, &key, &value); i++) {
        size_t len;
        const char *name = mwl_as_text(key, &len);
        if (i) putc(',', c->to);
        cut_value(c, key);
        putc(':', c->to);
        if (len == 8 && memcmp(name, "previous", len) == 0 &&
            mwl_value_kind(value) == MWL_KIND_OBJECT)
            put_members(c, value);
        else
            cut_value(c, value);
    }
    putc('}', c->to);
}

void cut_result(struct cut *c, const char *name, mwl_store_text json) {
    mwl_value result = mwl_absent();
    if (!json.at || json.len <= room(c) || json.len > ALL ||
        mwl_json_parse(c->heap, json.at, json.len, &result, NULL) != MWL_OK) {
        cut_json(c, name, json);
        return;
    }
    put_name(c->to, name, false);
    if (mwl_value_kind(result) == MWL_KIND_OBJECT)
        put_members(c, result);
    else
        cut_value(c, result);
    mwl_value_drop(c->heap, result);
}
