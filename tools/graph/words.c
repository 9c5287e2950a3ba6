/* words.c: see words.h. */
#include "tools/graph/words.h"

#include "vm/base/utf8.h"

enum { TITLE = 30, DETAIL = 36, LABEL = 28 };

static mwl__buf scratch(struct graph *g) { return mwl__buf_make(g->arena.alloc); }

/* Ends a scratch text: a copy of it in the arena, at most `most` characters. */
static const char *keep(struct graph *g, mwl__buf *b, size_t most) {
    const char *text = b->failed ? "" : words_cut(g, b->data, b->len, most);
    if (b->failed) g->failed = true;
    mwl__buf_free(b);
    return text;
}

static bool moves(uint32_t c) { /* what would break a line or reorder it */
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029 || c == 0xFFFE || c == 0xFFFF;
}

const char *words_cut(struct graph *g, const char *text, size_t len, size_t most) {
    char *out = graph_new(g, 3 * len + 4, 1); /* a byte may become U+FFFD */
    size_t n = 0, chars = 0, last = 0; /* `last`: where the last character that may stay begins */
    bool blank = true;
    if (!out) return "";
    for (size_t at = 0; at < len;) {
        uint32_t c = 0xFFFD;
        size_t width = mwl__utf8_decode(text + at, len - at, &c);
        at += width ? width : 1;
        if (moves(c)) c = ' ';
        if (c == ' ' && blank) continue;
        blank = c == ' ';
        if (most && chars == most) { /* one too many: it and the one before become the ellipsis */
            n = last;
            while (n && out[n - 1] == ' ') n--;
            memcpy(out + n, "\xE2\x80\xA6", 4);
            return out;
        }
        last = n;
        n += mwl__utf8_encode(c, out + n);
        chars++;
    }
    while (n && out[n - 1] == ' ') n--;
    out[n] = 0;
    return out;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The text inside {{ }}, without it; otherwise the value. */
static void put_condition(const mwl__node *n, const mwl__tree *tree, mwl__buf *out) {
    if (n->kind != MWL_NODE_STRING) {
        mwl__buf_put(out, tree->source->text + n->offset, n->end - n->offset);
        return;
    }
    const char *text = n->as.text;
    size_t len = n->count;
    bool whole = len >= 4 && memcmp(text, "{{", 2) == 0 && memcmp(text + len - 2, "}}", 2) == 0;
    for (size_t i = 2; whole && i + 2 < len; i++) /* "{{ a }} {{ b }}" is a text with two */
        whole = memcmp(text + i, "{{", 2) != 0;
    if (whole) {
        text += 2;
        len -= 4;
    }
    mwl__buf_put(out, text, len);
}

static const char separator[] = " \xC2\xB7 ";

static void put_item(mwl__buf *out, const mwl__node *name, const char *text, size_t len) {
    if (out->len) mwl__buf_puts(out, separator);
    if (name) mwl__buf_printf(out, "%.*s ", MWL__NODE_KEY(name));
    mwl__buf_put(out, text, len);
}

static bool is_scalar(const mwl__node *n) { return n->kind < MWL_NODE_ARRAY; }

static bool all_scalars(const mwl__node *n) {
    for (const mwl__node *c = mwl__node_first(n); c; c = c->next)
        if (!is_scalar(c)) return false;
    return n->count != 0;
}

/* The scalars in a value with the names of their members, in the order written: arguments in as few
 * words as show what they are. Stops when there is more than fits. */
static void put_leaves(const mwl__tree *tree, const mwl__node *n, mwl__buf *out) {
    enum { ENOUGH = 400 };
    if (out->len > ENOUGH) return;
    const char *source = tree->source->text;
    if (n->kind == MWL_NODE_STRING) {
        put_item(out, n->key ? n : NULL, n->as.text, n->count);
    } else if (is_scalar(n)) {
        put_item(out, n->key ? n : NULL, source + n->offset, n->end - n->offset);
    } else if (n->kind == MWL_NODE_ARRAY && n->key && all_scalars(n)) {
        put_item(out, n, "", 0);
        out->len--; /* the blank behind the name; each entry brings its own */
        for (const mwl__node *c = mwl__node_first(n); c; c = c->next) {
            mwl__buf_putc(out, ' ');
            if (c->kind == MWL_NODE_STRING)
                mwl__buf_put(out, c->as.text, c->count);
            else
                mwl__buf_put(out, source + c->offset, c->end - c->offset);
        }
    } else {
        for (const mwl__node *c = mwl__node_first(n); c; c = c->next) put_leaves(tree, c, out);
    }
}

void words_provider(mwl__buf *out, const char *uri, size_t len) {
    const char *slash = memchr(uri, '/', len);
    const char *text = slash ? slash + 1 : uri;
    size_t rest = len - (size_t)(text - uri);
    const char *version = text + rest;
    while (version > text && version[-1] != '/') version--;
    size_t tail = rest - (size_t)(version - text);
    if (rest > 4 && memcmp(text, "mwl/", 4) == 0) {
        text += 4;
        rest -= 4;
    }
    if (version > text) rest -= tail + 1;
    mwl__buf_put(out, text, rest);
    if (version > text && !(tail == 2 && memcmp(version, "v1", 2) == 0))
        mwl__buf_printf(out, " %.*s", (int)tail, version);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void put_flow(mwl__buf *out, const mwl__m_flow *flow) {
    mwl__buf_puts(out, "Flow");
    if (flow->name) mwl__buf_printf(out, " %.*s", (int)flow->name_len, flow->name);
}

const char *words_call(struct graph *g, const mwl__m_call *c) {
    mwl__buf b = scratch(g);
    if (c->flow)
        put_flow(&b, c->flow);
    else if (c->provider)
        words_provider(&b, c->provider->uri, c->provider->uri_len);
    return keep(g, &b, DETAIL);
}

static const char *const actions[] = {"Call",  "Gather", "Match", "Pass",
                                      "Sleep", "Return", "Raise"};

static void add_line(struct graph *g, struct graph_node *out, mwl__buf *b, size_t most) {
    const char *line = keep(g, b, most);
    if (out->details.n_lines < GRAPH_LINES && *line)
        out->details.line[out->details.n_lines++] = line;
}

/* Returns the one value that the action is about: the time of a Sleep, the code of a Raise. */
static const mwl__node *subject(const mwl__m_step *s) {
    switch (s->action) {
    case MWL_ACTION_SLEEP: return s->sleep_for ? s->sleep_for : s->sleep_until;
    case MWL_ACTION_RAISE: return s->result ? mwl__node_get(s->result, "code") : NULL;
    default: return NULL;
    }
}

static void add_gather(struct graph *g, const mwl__m_step *s, const mwl__tree *tree,
                       struct graph_node *out) {
    mwl__buf b = scratch(g);
    if (s->over) {
        mwl__buf_puts(&b, "each of ");
        put_condition(s->over, tree, &b);
    } else {
        mwl__buf_printf(&b, "%u call%s", s->n_calls, s->n_calls == 1 ? "" : "s");
    }
    add_line(g, out, &b, DETAIL);
    b = scratch(g);
    if (s->concurrency != MWL_NONE) mwl__buf_printf(&b, "%u at a time", s->concurrency);
    if (s->successes) {
        if (b.len) mwl__buf_puts(&b, separator);
        mwl__buf_puts(&b, "needs ");
        put_condition(s->successes, tree, &b);
    }
    add_line(g, out, &b, DETAIL);
}

void words_step(struct graph *g, const mwl__m_step *s, struct graph_node *out) {
    const mwl__model *m = g->model;
    mwl__buf b = scratch(g);
    const mwl__node *about = subject(s);
    mwl__buf_puts(&b, actions[s->action]);
    if (s->action == MWL_ACTION_CALL && s->n_calls && s->calls[0]) {
        mwl__buf_puts(&b, separator);
        mwl__buf_puts(&b, words_call(g, s->calls[0]));
    } else if (about) {
        mwl__buf_puts(&b, separator);
        put_condition(about, m->tree, &b);
    } else if (s->action == MWL_ACTION_RAISE && !s->result) {
        mwl__buf_puts(&b, " again");
    }
    out->title = words_cut(g, s->node->key, s->node->key_len, TITLE);
    out->tip = words_cut(g, s->node->key, s->node->key_len, 0);
    add_line(g, out, &b, DETAIL);
    if (s->action == MWL_ACTION_GATHER) add_gather(g, s, m->tree, out);
}

void words_entry(struct graph *g, const mwl__m_entry *e, struct graph_node *out) {
    mwl__buf b = scratch(g);
    if (e->provider) words_provider(&b, e->provider->uri, e->provider->uri_len);
    out->title = keep(g, &b, TITLE);
    b = scratch(g);
    const mwl__node *with = e->phase[MWL_ON_ENTRY].with;
    if (with) put_leaves(g->model->tree, with, &b);
    for (size_t i = 0; i < 4; i++) {
        const mwl__node *when = e->phase[i].when;
        if (!when) continue;
        mwl__buf_puts(&b, b.len ? " \xC2\xB7 when " : "when ");
        put_condition(when, g->model->tree, &b);
    }
    out->tip = b.failed || !b.len ? NULL : words_cut(g, b.data, b.len, 0);
    add_line(g, out, &b, DETAIL);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Breaks a text into lines of at most LABEL characters, at blanks or dots where there are some; the
 * last line is cut. */
static void set_label(struct graph *g, mwl__buf *b, struct graph_edge *out) {
    const char *text = keep(g, b, 0);
    size_t len = strlen(text);
    out->tip = text;
    while (len && out->label.n_lines < GRAPH_LINES) {
        size_t most = mwl__utf8_offset(text, len, LABEL), end = most;
        if (out->label.n_lines == GRAPH_LINES - 1) end = most = len;
        if (most < len)
            while (end && text[end] != ' ') end--;
        if (!end) /* behind a dot, or anywhere */
            for (end = most; end > 1 && text[end - 1] != '.';) end--;
        if (end <= 1) end = most;
        out->label.line[out->label.n_lines++] = words_cut(g, text, end, LABEL);
        text += end;
        len -= end;
        while (len && *text == ' ') text++, len--;
    }
}

/* The end of a text that is too long for a line: codes differ there. It begins behind a dot if it
 * can. */
static const char *keep_end(struct graph *g, const char *text, size_t len) {
    size_t chars = mwl__utf8_count(text, len);
    if (chars <= LABEL) return words_cut(g, text, len, LABEL);
    size_t at = mwl__utf8_offset(text, len, chars - (LABEL - 1)), dot = at;
    while (dot < len && text[dot - 1] != '.') dot++;
    if (dot < len) at = dot;
    mwl__buf b = scratch(g);
    mwl__buf_puts(&b, "\xE2\x80\xA6");
    mwl__buf_put(&b, text + at, len - at);
    return keep(g, &b, LABEL);
}

/* What a catch matches: a line for each, as far as there are lines. */
struct matched {
    struct graph *g;
    mwl__buf all; /* with commas */
    struct graph_text lines;
    size_t n;
};

static void add_matched(struct matched *m, const char *text, size_t len) {
    if (m->n++) mwl__buf_puts(&m->all, ", ");
    mwl__buf_put(&m->all, text, len);
    if (m->n <= GRAPH_LINES) m->lines.line[m->lines.n_lines++] = keep_end(m->g, text, len);
}

static void add_matched_list(struct matched *m, const mwl__node *list) {
    if (!list) return;
    for (const mwl__node *c = mwl__node_first(list); c; c = c->next)
        if (c->kind == MWL_NODE_STRING) add_matched(m, c->as.text, c->count);
}

void words_catch(struct graph *g, const mwl__m_catch *c, struct graph_edge *out) {
    struct matched m = {.g = g, .all = scratch(g)};
    add_matched_list(&m, c->codes);
    add_matched_list(&m, c->types);
    if (c->retryable) {
        const char *word = c->retryable->boolean ? "retryable" : "not retryable";
        add_matched(&m, word, strlen(word));
    }
    if (!m.n || (m.all.len == 1 && *m.all.data == '*')) {
        m.n = m.all.len = 0;
        add_matched(&m, "any failure", 11);
    }
    if (m.n < 2) { /* one may take all lines */
        set_label(g, &m.all, out);
        return;
    }
    if (m.n > GRAPH_LINES) {
        mwl__buf b = scratch(g);
        mwl__buf_printf(&b, "and %zu more", m.n - (GRAPH_LINES - 1));
        m.lines.line[GRAPH_LINES - 1] = keep(g, &b, LABEL);
    }
    out->label = m.lines;
    out->tip = keep(g, &m.all, 0);
}

void words_clause(struct graph *g, const mwl__m_clause *c, struct graph_edge *out) {
    mwl__buf b = scratch(g);
    if (c->when)
        put_condition(c->when, g->model->tree, &b);
    else
        mwl__buf_puts(&b, "default");
    set_label(g, &b, out);
}
