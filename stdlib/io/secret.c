/* secret.c: texts that must not be shown, and redactors that replace them.
 *
 * A secret has several forms: as it is, as JSON writes it, percent-encoded, as base64 at each of
 * the three positions that its bytes can have in a base64 text. A redactor looks at each position
 * of its text once: a table by the first three bytes has the forms that can begin there. */
#include "stdlib/io/secret.h"

#include "stdlib/io/io_impl.h"

#include <stdlib.h>

enum {
    KEY = 3,
    BUCKETS = MWL__SECRET_BUCKETS,
    WHOLE = 4, /* shorter ones are found with quotes */
    LONG = 8   /* so much is also found in base64, as a line, and inside a number */
};

typedef struct mwl__secret_form {
    struct mwl__secret_form *next; /* in the bucket, longer ones first */
    size_t len;
    bool number; /* could be a JSON number */
    char text[];
} form;

mwl_status mwl_io_secrets_new(mwl_io_secrets **out) {
    *out = calloc(1, sizeof **out);
    if (!*out) return MWL_E_NOMEM;
    pthread_mutex_init(&(*out)->lock, NULL);
    return MWL_OK;
}

void mwl_io_secrets_free(mwl_io_secrets *s) {
    if (!s) return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (form *f = s->buckets[i], *next; f; f = next) {
            next = f->next;
            free(f);
        }
    while (s->texts) {
        mwl__secret_text *t = s->texts;
        s->texts = t->next;
        free(t);
    }
    mwl__secrets_free_paths(s);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

bool mwl_io_secrets_any(const mwl_io_secrets *s) { return atomic_load(&s->count) != 0; }
size_t mwl_io_secrets_count(const mwl_io_secrets *s) { return atomic_load(&s->count); }
mwl_io_secrets *mwl_io_secrets_of(mwl_io *io) { return io->secrets; }

static unsigned bucket_of(const char *p) {
    const unsigned char *b = (const unsigned char *)p;
    return (b[0] * 31u * 31u + b[1] * 31u + b[2] * 7u) % BUCKETS;
}

/* ---- forms ----------------------------------------------------------------------------------- */

static mwl_status add_form(mwl_io_secrets *s, const char *text, size_t len) {
    if (len < KEY) return MWL_OK;
    form **at = &s->buckets[bucket_of(text)];
    for (; *at && (*at)->len >= len; at = &(*at)->next)
        if ((*at)->len == len && memcmp((*at)->text, text, len) == 0) return MWL_OK;
    form *f = malloc(sizeof *f + len);
    if (!f) return MWL_E_NOMEM;
    f->len = len;
    f->number = true;
    for (size_t i = 0; i < len; i++)
        if (!strchr("0123456789+-.eE", text[i]) || !text[i]) f->number = false;
    memcpy(f->text, text, len);
    f->next = *at;
    *at = f;
    if (len > s->longest) s->longest = len;
    return MWL_OK;
}

static mwl_status add_json(mwl_io_secrets *s, mwl_heap *heap, const char *text, size_t len) {
    mwl_value v = mwl__io_text(heap, text, len);
    char *json = NULL;
    size_t n = 0;
    mwl_status status =
        mwl_is_absent(v) ? MWL_E_NOMEM : mwl_json_write(heap, v, MWL_JSON_COMPACT, &json, &n);
    if (status == MWL_OK)
        status = len < WHOLE ? add_form(s, json, n) : add_form(s, json + 1, n - 2);
    mwl_text_free(heap, json, n);
    mwl_value_drop(heap, v);
    return status;
}

static mwl_status add_percent(mwl_io_secrets *s, const char *text, size_t len, const char *digits) {
    char *out = malloc(len * 3 + 1);
    size_t n = 0;
    if (!out) return MWL_E_NOMEM;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                     (c && strchr("-._~", c));
        if (plain) {
            out[n++] = (char)c;
        } else {
            out[n++] = '%';
            out[n++] = digits[c >> 4];
            out[n++] = digits[c & 15];
        }
    }
    mwl_status status = add_form(s, out, n);
    free(out);
    return status;
}

/* The base64 text that the secret has with `skip` bytes before it, without the characters at both
 * ends that depend on its neighbours. */
static mwl_status add_base64(mwl_io_secrets *s, const char *text, size_t len, size_t skip,
                             const char *last_two) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    size_t bits = (skip + len) * 8, n = 0;
    char *out = malloc(bits / 6 + 1);
    if (!out) return MWL_E_NOMEM;
    for (size_t at = 0; at + 6 <= bits; at += 6) {
        if (at < skip * 8) continue; /* holds bits of the bytes before */
        unsigned v = 0;
        for (size_t b = at; b < at + 6; b++) {
            unsigned char c = (unsigned char)text[b / 8 - skip];
            v = v << 1 | (c >> (7 - b % 8) & 1);
        }
        out[n++] = v < 62 ? letters[v] : last_two[v - 62];
    }
    mwl_status status = add_form(s, out, n);
    free(out);
    return status;
}

static mwl_status add_all(mwl_io_secrets *s, mwl_heap *heap, const char *text, size_t len) {
    mwl_status status = add_json(s, heap, text, len);
    if (len < WHOLE || status < 0) return status;
    status = add_form(s, text, len);
    if (status == MWL_OK) status = add_percent(s, text, len, "0123456789ABCDEF");
    if (status == MWL_OK) status = add_percent(s, text, len, "0123456789abcdef");
    for (size_t skip = 0; skip < 3 && status == MWL_OK && len >= LONG; skip++) {
        status = add_base64(s, text, len, skip, "+/");
        if (status == MWL_OK) status = add_base64(s, text, len, skip, "-_");
    }
    return status;
}

/* The lines of a secret that has several, a key for example, may be shown one by one. */
static mwl_status add_lines(mwl_io_secrets *s, mwl_heap *heap, const char *text, size_t len) {
    mwl_status status = MWL_OK;
    for (size_t at = 0; at < len && status == MWL_OK;) {
        const char *nl = memchr(text + at, '\n', len - at);
        size_t n = nl ? (size_t)(nl - (text + at)) : len - at, next = at + n + 1;
        while (n && strchr("\r\t ", text[at + n - 1])) n--;
        if (n >= LONG && n < len) status = add_all(s, heap, text + at, n);
        at = next;
    }
    return status;
}

/* Keeps the text itself; *old: it is there already. */
static mwl_status keep_text(mwl_io_secrets *s, const char *text, size_t len, bool *old) {
    const form *first = len >= WHOLE ? s->buckets[bucket_of(text)] : NULL;
    *old = false;
    for (const form *f = first; f && !*old; f = f->next) /* most marks are repeated */
        *old = f->len == len && memcmp(f->text, text, len) == 0;
    for (mwl__secret_text *t = *old || len < WHOLE ? s->texts : NULL; t; t = t->next)
        if (t->len == len && memcmp(t->text, text, len) == 0) {
            *old = true;
            return MWL_OK;
        }
    *old = false;
    mwl__secret_text *t = malloc(sizeof *t + len);
    if (!t) return MWL_E_NOMEM;
    t->len = len;
    memcpy(t->text, text, len);
    t->next = s->texts;
    s->texts = t;
    return MWL_OK;
}

mwl_status mwl_io_secrets_add(mwl_io_secrets *s, const char *text, size_t len) {
    mwl_heap *heap;
    bool old;
    if (len == 0) return MWL_OK;
    mwl__secrets_lock(s);
    mwl_status status = keep_text(s, text, len, &old);
    if (status == MWL_OK && !old) {
        status = mwl_heap_new(NULL, &heap);
        if (status == MWL_OK) {
            status = add_all(s, heap, text, len);
            if (status == MWL_OK) status = add_lines(s, heap, text, len);
            mwl_heap_free(heap);
        }
        atomic_fetch_add(&s->count, 1);
    }
    mwl__secrets_unlock(s);
    return status;
}

mwl_status mwl_io_secret(mwl_io *io, const char *text, size_t len) {
    return mwl_io_secrets_add(io->secrets, text, len);
}

/* ---- redactors ------------------------------------------------------------------------------- */

struct mwl_io_redactor {
    const mwl_io_secrets *secrets;
    mwl_json_sink *sink;
    void *ctx;
    char *held; /* a secret may begin here */
    size_t n_held, cap;
    char *out; /* what is passed on */
    size_t n_out, out_cap;
    char before; /* the last byte that was passed on */
};

mwl_status mwl_io_redactor_new(const mwl_io_secrets *secrets, mwl_json_sink *sink, void *ctx,
                               mwl_io_redactor **out) {
    mwl_io_redactor *r = *out = calloc(1, sizeof *r);
    if (!r) return MWL_E_NOMEM;
    r->secrets = secrets;
    r->sink = sink;
    r->ctx = ctx;
    r->before = ' ';
    return MWL_OK;
}

void mwl_io_redactor_free(mwl_io_redactor *r) {
    if (!r) return;
    free(r->held);
    free(r->out);
    free(r);
}

static const form *match(const mwl_io_secrets *s, const char *p, size_t left) {
    if (left < KEY) return NULL;
    for (const form *f = s->buckets[bucket_of(p)]; f; f = f->next)
        if (f->len <= left && memcmp(f->text, p, f->len) == 0) return f;
    return NULL;
}

bool mwl__io_has_secret(const mwl_io *io, const char *text, size_t len) {
    const mwl_io_secrets *s = io->secrets;
    bool found = false;
    mwl__secrets_lock(s);
    for (size_t at = 0; at < len && !found; at++) found = match(s, text + at, len - at) != NULL;
    mwl__secrets_unlock(s);
    return found;
}

size_t mwl__io_cut(const mwl_io *io, const char *text, size_t len, size_t most) {
    const mwl_io_secrets *s = io->secrets;
    if (len <= most) return len;
    mwl__secrets_lock(s);
    size_t at = most > s->longest ? most - s->longest : 0;
    while (at < most) {
        const form *f = match(s, text + at, len - at);
        if (f && at + f->len > most) break;
        at += f ? f->len : 1;
    }
    mwl__secrets_unlock(s);
    return at < most ? at : most;
}

/* A number in JSON text gets quotes, so that the text stays JSON. */
static const char *instead(const form *f, char before, char after) {
    bool quoted = f->text[0] == '"' && f->text[f->len - 1] == '"' && f->len < WHOLE + 2;
    bool number = f->number && strchr(":,[ ", before) && strchr(",}] \n", after);
    return quoted || number ? "\"[secret]\"" : "[secret]";
}

/* A short number inside a longer one is another number; and the text would not stay JSON. */
static bool is_part_of_number(const form *f, char before, char after) {
    bool digit = (before >= '0' && before <= '9') || (after >= '0' && after <= '9');
    return f->number && f->len < LONG && digit;
}

static bool reserve(char **text, size_t *cap, size_t wanted) {
    if (wanted <= *cap) return true;
    char *grown = realloc(*text, wanted * 2);
    if (!grown) return false;
    *text = grown;
    *cap = wanted * 2;
    return true;
}

static bool add_out(mwl_io_redactor *r, const char *text, size_t len) {
    if (!reserve(&r->out, &r->out_cap, r->n_out + len)) return false;
    if (len) memcpy(r->out + r->n_out, text, len);
    r->n_out += len;
    return true;
}

/* Decides about everything at the end, otherwise about all but the last bytes. Returns false if out
 * of memory. */
static bool decide(mwl_io_redactor *r, bool end) {
    const mwl_io_secrets *s = r->secrets;
    size_t from = 0, at = 0, keep = end ? 0 : s->longest + 1;
    bool good = true;
    while (good && at < r->n_held && r->n_held - at > keep) {
        const form *f = match(s, r->held + at, r->n_held - at);
        char before = at ? r->held[at - 1] : r->before;
        char after = f && at + f->len < r->n_held ? r->held[at + f->len] : '\n';
        if (!f || is_part_of_number(f, before, after)) {
            at++;
            continue;
        }
        const char *text = instead(f, before, after);
        good = add_out(r, r->held + from, at - from) && add_out(r, text, strlen(text));
        from = at += f->len;
    }
    good = good && add_out(r, r->held + from, at - from);
    if (at) r->before = r->held[at - 1];
    memmove(r->held, r->held + at, r->n_held - at);
    r->n_held -= at;
    return good;
}

/* The set is not locked while the sink is called, because the sink may use it. */
static mwl_status pass(mwl_io_redactor *r, bool end) {
    r->n_out = 0;
    mwl__secrets_lock(r->secrets);
    bool good = decide(r, end);
    mwl__secrets_unlock(r->secrets);
    if (!good) return MWL_E_NOMEM;
    return r->n_out ? r->sink(r->ctx, r->out, r->n_out) : MWL_OK;
}

mwl_status mwl_io_redactor_write(mwl_io_redactor *r, const char *text, size_t len) {
    if (len == 0) return MWL_OK;
    if (!mwl_io_secrets_any(r->secrets) && r->n_held == 0) return r->sink(r->ctx, text, len);
    if (!reserve(&r->held, &r->cap, r->n_held + len)) return MWL_E_NOMEM;
    memcpy(r->held + r->n_held, text, len);
    r->n_held += len;
    return pass(r, false);
}

mwl_status mwl_io_redactor_flush(mwl_io_redactor *r) { return r->n_held ? pass(r, true) : MWL_OK; }
