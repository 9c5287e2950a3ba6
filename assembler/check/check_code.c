/* check_code.c: failure codes: who can emit them, and which matchers can meet them. See check.h.
 *
 * A set of codes is an upper bound: exact codes and open prefixes, or everything. It is what rises
 * at one place: from a target, through a stack, out of a Flow. The engine's codes can rise anywhere
 * and are never in a set. */
#include "assembler/check/check.h"

#include "vm/base/suggest.h"

#define CODES_MAX 256 /* a larger set counts as everything, so that time stays linear */

struct code {
    const char *text; /* without the `.*` of an open one */
    size_t len;
    bool open;
};

struct mwl__codes {
    bool any;
    uint32_t n;
    struct code *item; /* room for CODES_MAX while the set is being made */
};
typedef struct mwl__codes codes;

static const char *const engine_codes[] = {"System.Cancelled",
                                           "System.GatherDispatchCancelled",
                                           "System.GatherDispatchSkipped",
                                           "System.GatherCompletionUnmet",
                                           "System.ExpressionEvaluationError",
                                           "System.ParameterValidationFailed",
                                           "System.UnrepresentableValue",
                                           "System.EmptyRaise",
                                           "System.FailureChainTruncated",
                                           "Mwlvm.FanOutLimit"};
#define N_ENGINE (sizeof engine_codes / sizeof *engine_codes)

/* ---- sets ------------------------------------------------------------------------------------ */

static void add(codes *s, const char *text, size_t len, bool open) {
    for (uint32_t i = 0; i < s->n && !s->any; i++)
        if (s->item[i].len == len && s->item[i].open == open &&
            memcmp(s->item[i].text, text, len) == 0)
            return;
    if (s->any || s->n == CODES_MAX) {
        s->any = true;
        return;
    }
    s->item[s->n].text = text;
    s->item[s->n].len = len;
    s->item[s->n++].open = open;
}

static void add_all(codes *s, const codes *from) {
    if (from->any) s->any = true;
    for (uint32_t i = 0; i < from->n && !s->any; i++)
        add(s, from->item[i].text, from->item[i].len, from->item[i].open);
}

static void add_contract(codes *s, const mwl__contract *p) {
    for (const mwl__node *c = p->closed ? mwl__node_first(p->closed) : NULL; c; c = c->next)
        add(s, c->as.text, c->count, false);
    for (const mwl__node *c = p->open ? mwl__node_first(p->open) : NULL; c; c = c->next) {
        if (c->count < 3)
            s->any = true;
        else
            add(s, c->as.text, c->count - 2, true);
    }
}

/* A code as a Raise or an onFailure writes it; not written it is inherited. */
static void add_written(codes *s, const mwl__checker *c, const mwl__node *n) {
    if (!n) return;
    if (mwl__model_expr(c->m, n) || n->kind != MWL_NODE_STRING)
        s->any = true;
    else
        add(s, n->as.text, n->count, false);
}

static void add_call(codes *s, const mwl__m_call *call) {
    if (call->provider) add_contract(s, call->provider);
    if (call->flow && mwl__flow_of(call->flow)->codes) add_all(s, mwl__flow_of(call->flow)->codes);
}

static bool begins(const char *text, size_t len, const char *prefix, size_t n) {
    return len > n && memcmp(text, prefix, n) == 0 && text[n] == '.';
}

/* Whether the pattern can match a code of the set, or of the engine. */
static bool can_match(const codes *s, const char *p, size_t len) {
    bool open = len >= 2 && memcmp(p + len - 2, ".*", 2) == 0;
    if (s->any || (len == 1 && p[0] == '*')) return true;
    if (open) len -= 2;
    for (size_t i = 0; i < N_ENGINE; i++) {
        size_t n = strlen(engine_codes[i]);
        if (open ? begins(engine_codes[i], n, p, len)
                 : n == len && memcmp(engine_codes[i], p, n) == 0)
            return true;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const char *t = s->item[i].text;
        size_t n = s->item[i].len;
        bool equal = n == len && memcmp(t, p, n) == 0;
        if (!s->item[i].open && (open ? begins(t, n, p, len) : equal)) return true;
        if (s->item[i].open && (begins(p, len, t, n) || (open && (equal || begins(t, n, p, len)))))
            return true;
    }
    return false;
}

/* ---- matchers -------------------------------------------------------------------------------- */

static void check_patterns(mwl__checker *c, const codes *s, const mwl__node *list) {
    for (const mwl__node *p = list && list->kind == MWL_NODE_ARRAY ? mwl__node_first(list) : NULL;
         p; p = p->next) {
        if (p->kind != MWL_NODE_STRING || mwl__model_expr(c->m, p) ||
            can_match(s, p->as.text, p->count))
            continue;
        mwl__diag *d = mwl__node_report(c->tree, p, MWL_DIAG_UNDECLARED_CODE,
                                        "nothing here can fail with '%.*s'", MWL__NODE_TEXT(p));
        if (!d) continue;
        mwl__suggest near = mwl__suggest_make(p->as.text, p->count);
        for (uint32_t i = 0; i < s->n; i++)
            mwl__suggest_offer(&near, s->item[i].text, s->item[i].len);
        for (size_t i = 0; i < N_ENGINE; i++)
            mwl__suggest_offer(&near, engine_codes[i], strlen(engine_codes[i]));
        mwl__diag_note(d, "no provider or middleware that is involved declares such a code, and "
                          "nothing raises it");
        if (near.best) mwl__diag_help(d, "did you mean '%.*s'?", (int)near.best_len, near.best);
    }
}

static bool covers_pattern(const mwl__node *by, const mwl__node *p) {
    if (mwl__node_is(by, "*")) return true;
    if (by->count == p->count && memcmp(by->as.text, p->as.text, p->count) == 0) return true;
    return by->count > 2 && memcmp(by->as.text + by->count - 2, ".*", 2) == 0 &&
           begins(p->as.text, p->count, by->as.text, by->count - 2);
}

/* Whether every entry of `list` (NULL: anything) is covered by one of `by` (NULL: everything). */
static bool covers_list(const mwl__node *by, const mwl__node *list, bool patterns) {
    if (!by) return true;
    for (const mwl__node *b = mwl__node_first(by); b && patterns; b = b->next)
        if (mwl__node_is(b, "*")) return true;
    if (!list) return false;
    for (const mwl__node *p = mwl__node_first(list); p; p = p->next) {
        bool found = false;
        for (const mwl__node *b = mwl__node_first(by); b && !found; b = b->next)
            found = patterns
                        ? covers_pattern(b, p)
                        : b->count == p->count && memcmp(b->as.text, p->as.text, p->count) == 0;
        if (!found) return false;
    }
    return true;
}

/* An earlier clause that matches all that a later one could. Only the latest few are looked at, so
 * that the time stays linear. */
static void check_reached(mwl__checker *c, const mwl__m_step *s) {
    for (uint32_t i = 1; i < s->n_catches; i++) {
        const mwl__m_catch *k = &s->catches[i];
        for (uint32_t j = i > 32 ? i - 32 : 0; j < i; j++) {
            const mwl__m_catch *e = &s->catches[j];
            bool retryable =
                !e->retryable || (k->retryable && k->retryable->boolean == e->retryable->boolean);
            if (!retryable || !covers_list(e->codes, k->codes, true) ||
                !covers_list(e->types, k->types, false))
                continue;
            mwl__diag *d = mwl__node_report(c->tree, k->node, MWL_DIAG_UNREACHABLE_CATCH,
                                            "this clause is never chosen");
            mwl__diag_label(d, mwl__node_span(e->node), "matches everything that it could");
            mwl__diag_help(d, "put the narrower clause first");
            break;
        }
    }
}

/* ---- stacks and Flows ------------------------------------------------------------------------ */

/* Sets in the making, one per level of cleanups inside cleanups. */
typedef struct scratch {
    struct scratch *deeper;
    codes set;
} scratch;

static scratch *clear(mwl__checker *c, scratch **at) {
    if (!*at) {
        *at = mwl__check_new(c, 1, sizeof **at);
        if (*at) (*at)->set.item = mwl__check_new(c, CODES_MAX, sizeof(struct code));
        if (c->status < 0) return *at = NULL;
    }
    (*at)->set.any = false;
    (*at)->set.n = 0;
    return *at;
}

/* The set that rises out of a stack whose operation lets `s` rise; matchers of Retry on the way. */
static void rise(mwl__checker *c, scratch *level, mwl__m_entry *const *stack, uint32_t n) {
    codes *s = &level->set;
    while (n-- > 0) {
        const mwl__m_entry *e = stack[n];
        if (mwl__contract_is(e->provider, "retry")) {
            const mwl__node *with = e->phase[MWL_ON_ENTRY].with,
                            *list = mwl__node_get(with, "policies");
            for (const mwl__node *p = list ? mwl__node_first(list) : NULL; p; p = p->next)
                check_patterns(c, s, mwl__node_get(mwl__node_get(p, "match"), "codes"));
        }
        add_contract(s, e->provider);
        add_written(s, c, e->phase[MWL_ON_FAILURE].fields[1]);
        for (int i = 0; i < 4; i++) {
            if (!e->phase[i].call) continue;
            scratch *inner = clear(c, &level->deeper);
            if (!inner) return;
            add_call(&inner->set, e->phase[i].call);
            rise(c, inner, e->phase[i].stack, e->phase[i].n_stack);
            add_all(s, &inner->set);
        }
    }
}

static void check_flow_codes(mwl__checker *c, mwl__flow *f, scratch *whole, scratch *one) {
    for (uint32_t i = 0; i < f->m.n_steps && c->status == MWL_OK; i++) {
        const mwl__m_step *s = f->m.steps[i];
        clear(c, &one);
        if (s->action == MWL_ACTION_CALL && s->n_calls) {
            add_call(&one->set, s->calls[0]);
            rise(c, one, s->stack, s->n_stack);
        } else if (s->action == MWL_ACTION_RAISE && s->result) {
            add_written(&one->set, c, mwl__node_get(s->result, "code"));
        }
        for (uint32_t k = 0; k < s->n_catches; k++)
            check_patterns(c, &one->set, s->catches[k].codes);
        check_reached(c, s);
        add_all(&whole->set, &one->set);
    }
    rise(c, whole, f->m.stack, f->m.n_stack);
    f->codes = mwl__check_new(c, 1, sizeof *f->codes);
    if (!f->codes) return;
    f->codes->any = whole->set.any;
    if (whole->set.any || !whole->set.n) return;
    f->codes->item = mwl__check_new(c, whole->set.n, sizeof(struct code));
    if (!f->codes->item) return;
    f->codes->n = whole->set.n;
    memcpy(f->codes->item, whole->set.item, whole->set.n * sizeof(struct code));
}

void mwl__check_codes(mwl__checker *c, mwl__flow **order) {
    scratch *whole = NULL, *one = NULL;
    for (uint32_t i = 0; i < c->m->n_flows && c->status == MWL_OK; i++)
        if (clear(c, &whole) && clear(c, &one)) check_flow_codes(c, order[i], whole, one);
}
