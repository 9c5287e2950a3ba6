/* secret.c: texts that must not be shown, and redactors that replace them.
 *
 * A secret has several forms: as it is, as JSON writes it, percent-encoded, as base64 at each of
 * the three positions that its bytes can have in a base64 text. The forms are in a tree by their
 * bytes: a new one costs its length, and a redactor walks from each position of its text as far as
 * a form agrees with it, however many there are. */
#include "stdlib/io/secret.h"

#include "stdlib/io/io_impl.h"

#include <stdlib.h>

enum {
    SHORT = 3, /* no shorter form is looked for */
    WHOLE = 4, /* shorter ones are found with quotes */
    LONG = 8   /* so much is also found in base64, as a line, and inside a number */
};

typedef struct mwl__secret_form {
    size_t len;
    size_t n_texts;           /* of which it is a form */
    bool number;              /* could be a JSON number */
    mwl__secret_text *marked; /* the text that was marked, if this is not another form of it */
    char text[];
} form;

/* A piece that some forms have in common. Siblings differ in their first byte. One without a form
 * has two children or more. */
typedef struct mwl__secret_node {
    struct mwl__secret_node *next, *child;
    const char *text; /* in the form, or in one below */
    size_t len;
    form *form; /* that ends here, or NULL */
} node;

mwl_status mwl_io_secrets_new(mwl_io_secrets **out) {
    *out = calloc(1, sizeof **out);
    if (!*out) return MWL_E_NOMEM;
    pthread_mutex_init(&(*out)->lock, NULL);
    return MWL_OK;
}

void mwl_io_secrets_free(mwl_io_secrets *s) {
    if (!s) return;
    mwl__secrets_free_runs(s);
    while (s->texts) mwl__secrets_free_text(s, s->texts);
    mwl__secrets_free_paths(s);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

bool mwl_io_secrets_any(const mwl_io_secrets *s) { return atomic_load(&s->n) != 0; }
size_t mwl_io_secrets_count(const mwl_io_secrets *s) { return atomic_load(&s->count); }
mwl_io_secrets *mwl_io_secrets_of(mwl_io *io) { return io->secrets; }

/* ---- the tree -------------------------------------------------------------------------------- */

static size_t in_common(const node *n, const char *text, size_t len) {
    size_t k = 0;
    while (k < n->len && k < len && n->text[k] == text[k]) k++;
    return k;
}

static node **place(node **at, char first) {
    while (*at && (*at)->text[0] != first) at = &(*at)->next;
    return at;
}

static node **root(const mwl_io_secrets *s, char first) {
    return (node **)&s->roots[(unsigned char)first];
}

static node *new_node(mwl_io_secrets *s, const char *text, size_t len, form *f) {
    node *n = malloc(sizeof *n);
    if (!n) return NULL;
    atomic_fetch_add(&s->bytes, sizeof *n);
    *n = (node){.text = text, .len = len, .form = f};
    return n;
}

static void free_node(mwl_io_secrets *s, node *n) {
    if (n) atomic_fetch_sub(&s->bytes, sizeof *n);
    free(n);
}

/* The longest form that the text begins with, or NULL; `whole`: that the text is. */
static form *match(const mwl_io_secrets *s, const char *p, size_t left, bool whole) {
    form *best = NULL;
    if (left < SHORT) return NULL;
    for (const node *n = *root(s, *p); n; n = *place((node **)&n->child, *p)) {
        if (in_common(n, p, left) < n->len) break;
        p += n->len;
        left -= n->len;
        if (n->form && (!whole || left == 0)) best = n->form;
        if (left == 0) break;
    }
    return best;
}

/* Divides the node behind its first k bytes. Returns the first part, or NULL: out of memory. */
static node *divide(mwl_io_secrets *s, node **at, size_t k) {
    node *n = *at, *before = new_node(s, n->text, k, NULL);
    if (!before) return NULL;
    before->next = n->next;
    before->child = n;
    n->next = NULL;
    n->text += k;
    n->len -= k;
    return *at = before;
}

/* Puts a form that is not there into the tree; false: out of memory, and the tree is as before. */
static bool insert(mwl_io_secrets *s, form *f) {
    const char *p = f->text;
    size_t left = f->len;
    node **at = root(s, *p);
    for (;;) {
        node *n = *(at = place(at, *p));
        const size_t k = n ? in_common(n, p, left) : 0;
        if (!n || k < n->len) {
            node *leaf = k < left ? new_node(s, p + k, left - k, f) : NULL;
            if (k < left && !leaf) return false;
            if (n && !(n = divide(s, at, k))) {
                free_node(s, leaf);
                return false;
            }
            if (!n)
                *at = leaf;
            else if (leaf)
                n->child->next = leaf;
            else
                n->form = f;
            return true;
        }
        p += k;
        left -= k;
        if (left == 0) {
            n->form = f;
            return true;
        }
        at = &n->child;
    }
}

/* A form at the node or below it. */
static const form *below(const node *n) {
    while (!n->form) n = n->child;
    return n->form;
}

/* A node that has lost its form or a child: it goes, or becomes one with its only child. `end`:
 * where its text ends in each form below. */
static void tidy(mwl_io_secrets *s, node **at, size_t end) {
    node *n = *at, *only = n->child;
    if (n->form || (only && only->next)) return;
    if (!only) {
        *at = n->next;
    } else {
        only->len += n->len;
        only->text = below(only)->text + (end - n->len);
        only->next = n->next;
        *at = only;
    }
    free_node(s, n);
}

/* Takes a form out of the tree. The nodes on its way may have their text in it. */
static void take_out(mwl_io_secrets *s, const form *f) {
    node **parent = NULL, **at = place(root(s, *f->text), *f->text);
    size_t end = (*at)->len;
    while ((*at)->form != f) {
        parent = at;
        at = place(&(*at)->child, f->text[end]);
        end += (*at)->len;
    }
    const size_t parent_end = end - (*at)->len;
    (*at)->form = NULL;
    tidy(s, at, end);
    if (parent) tidy(s, parent, parent_end);
    size_t from = 0;
    for (node *n = *place(root(s, *f->text), *f->text); n && from < f->len;) {
        n->text = below(n)->text + from;
        from += n->len;
        n = from < f->len ? *place(&n->child, f->text[from]) : NULL;
    }
}

/* ---- forms ----------------------------------------------------------------------------------- */

static unsigned size_class(size_t len) {
    unsigned k = 0;
    while (len >>= 1) k++;
    return k;
}

/* Counts a form less. What is held back for the longest one is not more than twice as long. */
static void less_long(mwl_io_secrets *s, size_t len) {
    unsigned k = size_class(len);
    if (--s->by_size[k] || k != size_class(s->longest)) return;
    while (k && !s->by_size[k]) k--;
    s->longest = s->by_size[k] ? ((size_t)2 << k) - 1 : 0;
}

static void drop_form(mwl_io_secrets *s, form *f) {
    if (--f->n_texts) return;
    take_out(s, f);
    less_long(s, f->len);
    atomic_fetch_sub(&s->bytes, sizeof *f + f->len);
    free(f);
}

static form *new_form(mwl_io_secrets *s, const char *text, size_t len) {
    form *f = malloc(sizeof *f + len);
    if (!f) return NULL;
    *f = (form){.len = len, .number = true};
    for (size_t i = 0; i < len; i++)
        if (!strchr("0123456789+-.eE", text[i]) || !text[i]) f->number = false;
    memcpy(f->text, text, len);
    if (!insert(s, f)) {
        free(f);
        return NULL;
    }
    atomic_fetch_add(&s->bytes, sizeof *f + len);
    s->by_size[size_class(len)]++;
    if (len > s->longest) s->longest = len;
    return f;
}

static bool has_form(const mwl__secret_text *t, const form *f) {
    for (size_t i = 0; i < t->n_forms; i++)
        if (t->forms[i] == f) return true;
    return false;
}

/* The text that is being marked. Its forms are few, but for those of its lines. */
struct marking {
    mwl_io_secrets *s;
    mwl__secret_text *text;
    size_t cap;
};

static mwl_status add_form(struct marking *m, const char *text, size_t len) {
    enum { FEW = 64 };
    mwl__secret_text *t = m->text;
    if (len < SHORT) return MWL_OK;
    form *f = match(m->s, text, len, true);
    if (f && t->n_forms < FEW && has_form(t, f)) return MWL_OK;
    if (t->n_forms == m->cap) {
        size_t cap = m->cap ? 2 * m->cap : 12;
        form **grown = realloc(t->forms, cap * sizeof(form *));
        if (!grown) return MWL_E_NOMEM;
        atomic_fetch_add(&m->s->bytes, (cap - m->cap) * sizeof(form *));
        t->forms = grown;
        t->cap = m->cap = cap;
    }
    if (!f && !(f = new_form(m->s, text, len))) return MWL_E_NOMEM;
    f->n_texts++;
    t->forms[t->n_forms++] = f;
    return MWL_OK;
}

/* A text as JSON writes it, given: mwl_text_free(). */
static mwl_status json_of(mwl_heap *heap, const char *text, size_t len, char **json, size_t *n) {
    mwl_value v = mwl__io_text(heap, text, len);
    mwl_status status =
        mwl_is_absent(v) ? MWL_E_NOMEM : mwl_json_write(heap, v, MWL_JSON_COMPACT, json, n);
    mwl_value_drop(heap, v);
    return status;
}

static mwl_status add_json(struct marking *m, mwl_heap *heap, const char *text, size_t len) {
    char *json = NULL;
    size_t n = 0;
    mwl_status status = json_of(heap, text, len, &json, &n);
    if (status == MWL_OK)
        status = len < WHOLE ? add_form(m, json, n) : add_form(m, json + 1, n - 2);
    mwl_text_free(heap, json, n);
    return status;
}

static mwl_status add_percent(struct marking *m, const char *text, size_t len, const char *digits) {
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
    mwl_status status = add_form(m, out, n);
    free(out);
    return status;
}

/* The base64 text that the secret has with `skip` bytes before it, without the characters at both
 * ends that depend on its neighbours. */
static mwl_status add_base64(struct marking *m, const char *text, size_t len, size_t skip,
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
    mwl_status status = add_form(m, out, n);
    free(out);
    return status;
}

static mwl_status add_all(struct marking *m, mwl_heap *heap, const char *text, size_t len) {
    mwl_status status = add_json(m, heap, text, len);
    if (len < WHOLE || status < 0) return status;
    status = add_form(m, text, len);
    if (status == MWL_OK) status = add_percent(m, text, len, "0123456789ABCDEF");
    if (status == MWL_OK) status = add_percent(m, text, len, "0123456789abcdef");
    for (size_t skip = 0; skip < 3 && status == MWL_OK && len >= LONG; skip++) {
        status = add_base64(m, text, len, skip, "+/");
        if (status == MWL_OK) status = add_base64(m, text, len, skip, "-_");
    }
    return status;
}

/* The lines of a secret that has several, a key for example, may be shown one by one. */
static mwl_status add_lines(struct marking *m, mwl_heap *heap, const char *text, size_t len) {
    mwl_status status = MWL_OK;
    for (size_t at = 0; at < len && status == MWL_OK;) {
        const char *nl = memchr(text + at, '\n', len - at);
        size_t n = nl ? (size_t)(nl - (text + at)) : len - at, next = at + n + 1;
        while (n && strchr("\r\t ", text[at + n - 1])) n--;
        if (n >= LONG && n < len) status = add_all(m, heap, text + at, n);
        at = next;
    }
    return status;
}

/* ---- texts ----------------------------------------------------------------------------------- */

void mwl__secrets_free_text(mwl_io_secrets *s, mwl__secret_text *t) {
    for (size_t i = 0; i < t->n_forms; i++) {
        if (t->forms[i]->marked == t) t->forms[i]->marked = NULL;
        drop_form(s, t->forms[i]);
    }
    *t->at = t->next;
    if (t->next) t->next->at = t->at;
    atomic_fetch_sub(&s->bytes, sizeof *t + t->mark.len + t->cap * sizeof *t->forms);
    atomic_fetch_sub(&s->n, 1);
    free(t->forms);
    free(t);
}

/* Keeps the text itself. */
static mwl__secret_text *new_text(mwl_io_secrets *s, const char *text, size_t len) {
    mwl__secret_text *t = calloc(1, sizeof *t + len);
    if (!t) return NULL;
    atomic_fetch_add(&s->bytes, sizeof *t + len);
    atomic_fetch_add(&s->n, 1);
    memcpy(t->text, text, len);
    t->mark = (mwl__secret_mark){.text = t->text, .len = len};
    t->next = s->texts;
    if (t->next) t->next->at = &t->next;
    t->at = &s->texts;
    s->texts = t;
    return t;
}

/* The form that a text has in any case: a short one as a whole JSON string. NULL: there is none
 * yet, or memory ran out. */
static form *form_of(const mwl_io_secrets *s, mwl_heap *heap, const char *text, size_t len) {
    char *json = NULL;
    size_t n = 0;
    if (len >= WHOLE) return match(s, text, len, true);
    form *f = json_of(heap, text, len, &json, &n) == MWL_OK ? match(s, json, n, true) : NULL;
    mwl_text_free(heap, json, n);
    return f;
}

/* Marks a text that was not marked; NULL: out of memory. */
static mwl__secret_text *add_text(mwl_io_secrets *s, mwl_heap *heap, const char *text, size_t len) {
    struct marking m = {.s = s, .text = new_text(s, text, len)};
    if (!m.text) return NULL;
    mwl_status status = add_all(&m, heap, text, len);
    if (status == MWL_OK) status = add_lines(&m, heap, text, len);
    form *f = status == MWL_OK ? form_of(s, heap, text, len) : NULL;
    if (!f) {
        mwl__secrets_free_text(s, m.text);
        return NULL;
    }
    f->marked = m.text;
    atomic_fetch_add(&s->count, 1);
    return m.text;
}

/* The text, which is marked now; NULL: out of memory. Short ones are found as JSON. */
static mwl__secret_text *text_of(mwl_io_secrets *s, const char *text, size_t len) {
    mwl_heap *heap = NULL;
    const form *f = len < WHOLE ? NULL : match(s, text, len, true);
    if (f && f->marked) return f->marked;
    if (mwl_heap_new(NULL, &heap) != MWL_OK) return NULL;
    f = form_of(s, heap, text, len);
    mwl__secret_text *t = f && f->marked ? f->marked : add_text(s, heap, text, len);
    mwl_heap_free(heap);
    return t;
}

mwl_status mwl_io_secrets_add(mwl_io_secrets *s, const char *run, const char *text, size_t len) {
    if (len == 0) return MWL_OK;
    mwl__secrets_lock(s);
    mwl__secret_text *t = text_of(s, text, len);
    mwl_status status = t ? mwl__secrets_own(s, run, &t->mark) : MWL_E_NOMEM;
    if (t && !t->mark.owners) mwl__secrets_free_text(s, t);
    mwl__secrets_unlock(s);
    return status;
}

/* Marks for a definition: with limits. */
mwl_status mwl_io_secret(mwl_io *io, mwl_run *run, const char *text, size_t len) {
    enum { DEFAULT = 64 << 20, FORMS = 12 };
    const size_t most = io->options.table_bytes ? io->options.table_bytes : DEFAULT;
    const char *id = run ? mwl__io_owner(io, run) : NULL;
    if (len > most / FORMS || atomic_load(&io->secrets->bytes) > most - FORMS * len ||
        !mwl__secrets_room(io->secrets, id, len, io->options.run_secrets))
        return MWL_E_TOO_BIG;
    return mwl_io_secrets_add(io->secrets, id, text, len);
}

mwl_status mwl__io_secret_path(mwl_io *io, mwl_run *run, const char *path, size_t len) {
    const char *id = run ? mwl__io_owner(io, run) : NULL;
    if (!mwl__secrets_room(io->secrets, id, len, io->options.run_secrets)) return MWL_E_TOO_BIG;
    return mwl_io_secrets_path(io->secrets, id, path, len);
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

bool mwl__io_has_secret(const mwl_io *io, const char *text, size_t len) {
    const mwl_io_secrets *s = io->secrets;
    bool found = false;
    mwl__secrets_lock(s);
    for (size_t at = 0; at < len && !found; at++)
        found = match(s, text + at, len - at, false) != NULL;
    mwl__secrets_unlock(s);
    return found;
}

size_t mwl__io_cut(const mwl_io *io, const char *text, size_t len, size_t most) {
    const mwl_io_secrets *s = io->secrets;
    if (len <= most) return len;
    mwl__secrets_lock(s);
    size_t at = most > s->longest ? most - s->longest : 0;
    while (at < most) {
        const form *f = match(s, text + at, len - at, false);
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
        const form *f = match(s, r->held + at, r->n_held - at, false);
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
