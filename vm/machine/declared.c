/* declared.c: see declared.h.
 *
 * Owns: the search of a code in a failure catalog. Refuses to know: provider documents. */
#include "vm/machine/declared.h"

#include "vm/cel/failure.h"

#include <stdlib.h>
#include <string.h>

/* Open prefixes and closed codes are two lists in one. */
static int compare(const void *a, const void *b) {
    const mwl__declared_code *l = a, *r = b;
    if (l->open != r->open) return l->open ? 1 : -1;
    size_t n = l->len < r->len ? l->len : r->len;
    int order = n ? memcmp(l->text, r->text, n) : 0;
    return order ? order : (l->len > r->len) - (l->len < r->len);
}

mwl__declared *mwl__declared_new(const mwl_alloc *alloc, mwl__declared_code *codes, size_t n) {
    size_t texts = 0;
    for (size_t i = 0; i < n; i++) texts += codes[i].len;
    size_t size = sizeof(mwl__declared) + n * sizeof *codes + texts;
    mwl__declared *d = mwl__mem_new(alloc, size);
    if (!d) return NULL;
    d->size = size;
    d->n = n;
    d->any = false;
    char *at = (char *)(d->code + n);
    for (size_t i = 0; i < n; i++) {
        mwl__declared_code *c = &d->code[i];
        *c = (mwl__declared_code){at, codes[i].len, false};
        memcpy(at, codes[i].text, c->len);
        at += c->len;
        if (c->len == 0 || c->text[c->len - 1] != '*') continue;
        c->open = true;
        c->len -= c->len > 1 ? 2 : 1;
        if (c->len == 0) d->any = true;
    }
    if (n) qsort(d->code, n, sizeof *d->code, compare);
    return d;
}

void mwl__declared_free(const mwl_alloc *alloc, mwl__declared *take) {
    if (take) mwl__mem_free(alloc, take, take->size);
}

static bool find(const mwl__declared *d, const char *text, size_t len, bool open) {
    mwl__declared_code key = {text, (uint32_t)len, open};
    return d->n && bsearch(&key, d->code, d->n, sizeof key, compare);
}

/* spec: call-interface, code namespaces: System. is the engine's. Its codes can come from anywhere,
 * so a provider may pass them on. */
static bool is_engines(const char *text, size_t len) {
    if (len > 6 && memcmp(text, "Mwlvm.", 6) == 0) return true;
    for (unsigned i = 0; i < MWL_FAILURE_COUNT; i++) {
        const char *code = mwl__failure_code_text((mwl__failure_code)i);
        if (strlen(code) == len && memcmp(code, text, len) == 0) return true;
    }
    return false;
}

bool mwl__declared_has(const mwl__declared *d, const char *code, size_t len) {
    if (d->any || find(d, code, len, false)) return true;
    for (size_t i = 0; i + 1 < len; i++)
        if (code[i] == '.' && find(d, code, i, true)) return true;
    return is_engines(code, len);
}
