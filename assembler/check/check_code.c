/* check_code.c: failure codes: who can emit them, and which matchers can meet them. See check.h.
 *
 * A set of codes is an upper bound: exact codes and open prefixes, or everything. It is what rises
 * at one place: from a target, through a stack, out of a Flow. The engine's codes can rise anywhere
 * and are never in a set. */
#include "assembler/check/check.h"

#include "vm/base/suggest.h"

#include <stdio.h>

#define COMPARED_MAX 4096 /* pairs of two lists; of longer ones nothing is known */
#define CODES_MAX 256     /* a larger set counts as everything, so that time stays linear */

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
                                           "System.FailureChainTruncated"};
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

/* A pattern: an exact code, or the segments before `.*`. */
typedef struct pattern {
    const char *text;
    size_t len;
    bool open;
} pattern;

static pattern pattern_of(const mwl__node *n) {
    pattern p = {n->as.text, n->count, false};
    p.open = p.len >= 2 && memcmp(p.text + p.len - 2, ".*", 2) == 0;
    if (p.open) p.len -= 2;
    return p;
}

static bool matches(pattern p, const char *code, size_t len) {
    return p.open ? begins(code, len, p.text, p.len)
                  : len == p.len && memcmp(code, p.text, len) == 0;
}

static bool matches_engine(pattern p) {
    /* this engine's own codes are an open set */
    if (p.len >= 5 && memcmp(p.text, "Mwlvm", 5) == 0 && (p.len == 5 || p.text[5] == '.'))
        return true;
    for (size_t i = 0; i < N_ENGINE; i++)
        if (matches(p, engine_codes[i], strlen(engine_codes[i]))) return true;
    return false;
}

/* Whether the pattern can match a code that the set names. */
static bool matches_named(const codes *s, pattern p) {
    for (uint32_t i = 0; i < s->n; i++) {
        const char *t = s->item[i].text;
        size_t n = s->item[i].len;
        bool equal = n == p.len && memcmp(t, p.text, n) == 0;
        if (!s->item[i].open && matches(p, t, n)) return true;
        if (s->item[i].open &&
            (begins(p.text, p.len, t, n) || (p.open && (equal || begins(t, n, p.text, p.len)))))
            return true;
    }
    return false;
}

/* The provider to whose closed catalog the pattern belongs by its prefix, although nothing there
 * matches it; or NULL. */
static const mwl__contract *closed_owner(mwl__checker *c, pattern p) {
    size_t n_providers = mwl__catalog_count(c->catalog);
    if (!begins(p.text, p.len, "Provider", 8)) return NULL;
    for (size_t i = 0; i < n_providers; i++) {
        const mwl__provider_name *name = mwl__catalog_at(c->catalog, i);
        const mwl__contract *o;
        char prefix[96];
        mwl_status found = mwl__catalog_find(c->catalog, name->uri, name->uri_len, &o);
        if (found == MWL_E_NOT_FOUND) continue; /* its document was refused */
        if (found < 0) {
            c->status = MWL_E_NOMEM;
            return NULL;
        }
        int n = snprintf(prefix, sizeof prefix, "Provider.%s.%.*s",
                         o->is_middleware ? "Middleware" : "Call", (int)o->code_prefix_len,
                         o->code_prefix);
        if (n <= 0 || (size_t)n >= sizeof prefix || (o->open && o->open->count) || !o->closed ||
            !begins(p.text, p.len, prefix, (size_t)n))
            continue;
        for (const mwl__node *k = mwl__node_first(o->closed); k; k = k->next)
            if (matches(p, k->as.text, k->count)) return NULL;
        return o;
    }
    return NULL;
}

/* ---- matchers -------------------------------------------------------------------------------- */

static void suggest_code(mwl__diag *d, const codes *s, const mwl__contract *owner,
                         const mwl__node *n) {
    mwl__suggest near = mwl__suggest_make(n->as.text, n->count);
    for (const mwl__node *k = owner ? mwl__node_first(owner->closed) : NULL; k; k = k->next)
        mwl__suggest_offer(&near, k->as.text, k->count);
    for (uint32_t i = 0; i < s->n; i++) mwl__suggest_offer(&near, s->item[i].text, s->item[i].len);
    for (size_t i = 0; i < N_ENGINE; i++)
        mwl__suggest_offer(&near, engine_codes[i], strlen(engine_codes[i]));
    if (near.best) {
        mwl__diag_help(d, "did you mean '%.*s'?", (int)near.best_len, near.best);
        mwl__diag_fix_string(d, mwl__node_span(n), near.best, near.best_len);
    }
}

/* Reports the name of a type among codes. Returns whether it is one. */
static bool is_type_name(mwl__checker *c, const mwl__node *n) {
    static const char *const types[] = {"error", "cancellation", "timeout", "skipped"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!mwl__node_is(n, types[i])) continue;
        mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_UNDECLARED_CODE,
                                        "'%s' is a type of failures, not a code", types[i]);
        mwl__diag_help(d, "write \"types\": [\"%s\"]", types[i]);
        return true;
    }
    return false;
}

/* The codes of the engine and of a closed catalog are known, whatever else may fail here. */
static void check_patterns(mwl__checker *c, const codes *s, const mwl__node *list) {
    for (const mwl__node *n = list && list->kind == MWL_NODE_ARRAY ? mwl__node_first(list) : NULL;
         n; n = n->next) {
        if (n->kind != MWL_NODE_STRING || mwl__model_expr(c->m, n) || mwl__node_is(n, "*"))
            continue;
        pattern p = pattern_of(n);
        if (matches_engine(p) || matches_named(s, p) || is_type_name(c, n)) continue;
        bool system = begins(p.text, p.len, "System", 6);
        const mwl__contract *owner = system ? NULL : closed_owner(c, p);
        if (s->any && !system && !owner) continue;
        mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_UNDECLARED_CODE,
                                        "nothing here can fail with '%.*s'", MWL__NODE_TEXT(n));
        if (!d) continue;
        if (system)
            mwl__diag_note(d, "the engine has no such code");
        else if (owner)
            mwl__diag_note(d, "the document of %.*s lists its codes, and this is not one of them",
                           (int)owner->uri_len, owner->uri);
        else
            mwl__diag_note(d, "no provider or middleware that is involved declares such a code, "
                              "and nothing raises it");
        suggest_code(d, s, owner, n);
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
    if (list && (uint64_t)by->count * list->count > COMPARED_MAX) return false;
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

/* Adds to the codes that an operation lets rise those that the stack around it adds. Checks the
 * matchers of Retry on the way. */
static void add_stack(mwl__checker *c, scratch *level, mwl__m_entry *const *stack, uint32_t n) {
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
        const mwl__node **fields = e->phase[MWL_ON_FAILURE].fields;
        if (fields) add_written(s, c, fields[1]);
        for (int i = 0; i < 4; i++) {
            if (!e->phase[i].call) continue;
            scratch *inner = clear(c, &level->deeper);
            if (!inner) return;
            add_call(&inner->set, e->phase[i].call);
            add_stack(c, inner, e->phase[i].stack, e->phase[i].n_stack);
            add_all(s, &inner->set);
        }
    }
}

static void check_flow_codes(mwl__checker *c, mwl__flow *f, scratch *whole, scratch *one) {
    for (uint32_t i = 0; i < f->m.n_steps && c->status == MWL_OK; i++) {
        const mwl__m_step *s = f->m.steps[i];
        /* Without a stack the set of a Flow that is called is its own, which need not be copied,
         * and needs to be added once. */
        mwl__flow *callee =
            s->action == MWL_ACTION_CALL && s->n_calls && s->calls[0]->flow && s->n_stack == 0
                ? mwl__flow_of(s->calls[0]->flow)
                : NULL;
        const codes *set = callee && callee->codes ? callee->codes : &one->set;
        bool added = set != &one->set && callee->caller == f;
        clear(c, &one);
        if (set != &one->set) {
            callee->caller = f;
        } else if (s->action == MWL_ACTION_CALL && s->n_calls) {
            add_call(&one->set, s->calls[0]);
            add_stack(c, one, s->stack, s->n_stack);
        } else if (s->action == MWL_ACTION_RAISE && s->result) {
            add_written(&one->set, c, mwl__node_get(s->result, "code"));
        }
        for (uint32_t k = 0; k < s->n_catches; k++) check_patterns(c, set, s->catches[k].codes);
        check_reached(c, s);
        if (!added) add_all(&whole->set, set);
        uint64_t n = added ? 0 : set->n;
        if (!mwl__check_work(c, s->node, 16 + n * n / 8)) return;
    }
    add_stack(c, whole, f->m.stack, f->m.n_stack);
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
