/* check_call.c: call objects, middleware entries and their phases. See check.h. */
#include "assembler/check/check.h"
#include "assembler/check/members.h"

#include "vm/base/suggest.h"

#include <stdio.h>

static const mwl__form_field call_fields[] = {MWL__MEMBERS_CALL(MWL__MEMBER_FIELD)};
static const mwl__form_field success_arm_fields[] = {MWL__MEMBERS_SUCCESS_ARM(MWL__MEMBER_FIELD)};
static const mwl__form_field failure_arm_fields[] = {MWL__MEMBERS_FAILURE_ARM(MWL__MEMBER_FIELD)};
static const mwl__form_field entry_fields[] = {MWL__MEMBERS_ENTRY(MWL__MEMBER_FIELD)};
static const mwl__form_field on_entry_fields[] = {MWL__MEMBERS_ON_ENTRY(MWL__MEMBER_FIELD)};
static const mwl__form_field on_success_fields[] = {MWL__MEMBERS_ON_SUCCESS(MWL__MEMBER_FIELD)};
static const mwl__form_field on_failure_fields[] = {MWL__MEMBERS_ON_FAILURE(MWL__MEMBER_FIELD)};
static const mwl__form_field on_always_fields[] = {MWL__MEMBERS_ON_ALWAYS(MWL__MEMBER_FIELD)};
/* Of a failure, in the order of mwl__check_envelope. */
static const mwl__form_field failure_fields[] = {MWL__MEMBERS_FAILURE(MWL__MEMBER_FIELD)};

static const mwl__form call_form = MWL__FORM_WORDS("a call", call_fields, MWL__WORDS_CALL);
static const mwl__form success_arm_form =
    MWL__FORM_WORDS("the success arm of a call", success_arm_fields, MWL__WORDS_ARM);
static const mwl__form failure_arm_form =
    MWL__FORM_WORDS("the failure arm of a call", failure_arm_fields, MWL__WORDS_ARM);
static const mwl__form entry_form =
    MWL__FORM_WORDS("a middleware entry", entry_fields, MWL__WORDS_ENTRY);
static const mwl__form phase_forms[4] = {
    MWL__FORM_WORDS("an onEntry block", on_entry_fields, MWL__WORDS_ON_ENTRY),
    MWL__FORM_WORDS("an onSuccess block", on_success_fields, MWL__WORDS_PHASE),
    MWL__FORM_WORDS("an onFailure block", on_failure_fields, MWL__WORDS_PHASE),
    MWL__FORM_WORDS("an onAlways block", on_always_fields, MWL__WORDS_PHASE)};

static const char *const phase_names[4] = {"onEntry", "onSuccess", "onFailure", "onAlways"};

/* ---- providers ------------------------------------------------------------------------------- */

bool mwl__contract_is(const mwl__contract *p, const char *name) {
    char uri[64];
    int len = snprintf(uri, sizeof uri, "mwl:provider.middleware/mwl/%s/v1", name);
    return p && len > 0 && p->uri_len == (size_t)len && memcmp(p->uri, uri, (size_t)len) == 0;
}

/* Returns the part of a URI after "mwl:<type>/", which its author chose. */
static const char *own_part(const char *uri, size_t len, size_t *own_len) {
    const char *slash = memchr(uri, '/', len);
    *own_len = slash ? len - (size_t)(slash + 1 - uri) : 0;
    return slash ? slash + 1 : uri;
}

/* Returns "mock" for "mwl:provider.call/mwl/mock/v1", and NULL if the provider is not one of the
 * language. */
static const char *short_name(const char *uri, size_t len, size_t *name_len) {
    size_t n;
    const char *own = own_part(uri, len, &n);
    if (n < 4 || memcmp(own, "mwl/", 4) != 0) return NULL;
    const char *end = memchr(own + 4, '/', n - 4);
    *name_len = end ? (size_t)(end - own) - 4 : n - 4;
    return own + 4;
}

/* Adds a note with the providers that are built in: "mock", or "retry, timeout, loop and finally".
 */
static void note_built_in(mwl__diag *d, const mwl__catalog *catalog, bool middleware) {
    char text[240];
    size_t len = 0, name_len, n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < mwl__catalog_count(catalog); i++) {
        const mwl__provider_name *p = mwl__catalog_at(catalog, i);
        const char *name =
            p->is_middleware == middleware ? short_name(p->uri, p->uri_len, &name_len) : NULL;
        if (!name || len + name_len + 8 > sizeof text) continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", n++ ? ", " : "",
                                (int)name_len, name);
    }
    mwl__diag_note(d, "built in under mwl:provider.%s/mwl/: %s", middleware ? "middleware" : "call",
                   text);
}

/* Reports an unknown provider, with one of a similar namespace and name. The parts that all URIs
 * share are not compared. */
static void unknown_provider(mwl__checker *c, const mwl__node *n, const mwl__uri *uri) {
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_UNKNOWN_PROVIDER,
                                    "the catalog has no provider '%.*s'", MWL__NODE_TEXT(n));
    if (!d) return;
    size_t len;
    const char *own = own_part(n->as.text, n->count, &len);
    mwl__suggest s = mwl__suggest_make(own, len);
    const mwl__provider_name *near = NULL;
    for (size_t i = 0; i < mwl__catalog_count(c->catalog); i++) {
        const mwl__provider_name *p = mwl__catalog_at(c->catalog, i);
        if (p->is_middleware != uri->is_middleware) continue;
        own = own_part(p->uri, p->uri_len, &len);
        mwl__suggest_offer(&s, own, len);
        if (s.best == own) near = p;
    }
    if (uri->ns_len == 7 && memcmp(uri->ns, "example", 7) == 0) {
        mwl__diag_note(
            d, "the namespace 'example' is for documentation and never holds a real provider");
    } else if (near) {
        mwl__diag_help(d, "did you mean '%.*s'?", (int)near->uri_len, near->uri);
        mwl__diag_fix_string(d, mwl__node_span(n), near->uri, near->uri_len);
        return;
    } else if (uri->ns_len == 3 && memcmp(uri->ns, "mwl", 3) == 0) {
        mwl__diag_help(d, "'mwl' holds the language's own providers; name one of yours in a "
                          "namespace of yours, and give its document with --provider FILE");
    } else {
        mwl__diag_help(d, "give its document with --provider FILE");
    }
    note_built_in(d, c->catalog, uri->is_middleware);
}

/* Reports a short name in the place of a URI: "mock", "retry", "mwl/retry". Returns false if it is
 * not one. */
static bool short_provider(mwl__checker *c, const mwl__node *n, bool middleware) {
    const char *text = n->as.text, *last = text;
    size_t len = n->count;
    if (memchr(text, ':', len)) return false;
    if (len > 4 && memcmp(text, "mwl/", 4) == 0) last += 4, len -= 4;
    if (len > 3 && memcmp(last + len - 3, "/v1", 3) == 0) len -= 3;
    mwl__suggest s = mwl__suggest_make(last, len);
    const mwl__provider_name *near = NULL;
    for (size_t i = 0; i < mwl__catalog_count(c->catalog); i++) {
        const mwl__provider_name *p = mwl__catalog_at(c->catalog, i);
        size_t name_len;
        const char *name = short_name(p->uri, p->uri_len, &name_len);
        if (!name || p->is_middleware != middleware) continue;
        mwl__suggest_offer(&s, name, name_len);
        if (s.best == name) near = p;
    }
    if (!near) return false;
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_MALFORMED_PROVIDER_URI,
                                    "a provider is named by its whole URI");
    mwl__diag_help(d, "write \"%.*s\"", (int)near->uri_len, near->uri);
    mwl__diag_fix_string(d, mwl__node_span(n), near->uri, near->uri_len);
    return true;
}

/* Returns the provider that the URI names, or NULL after a report. */
static const mwl__contract *check_provider(mwl__checker *c, const mwl__node *n, bool middleware) {
    mwl__uri uri;
    if (short_provider(c, n, middleware) || !mwl__uri_check(c->tree, n, &uri)) return NULL;
    if (uri.is_middleware != middleware) {
        mwl__diag *d = mwl__node_report(
            c->tree, n, MWL_DIAG_WRONG_PROVIDER_TYPE,
            middleware ? "a middleware entry names a provider of type 'provider.middleware'"
                       : "a call names a provider of type 'provider.call'");
        mwl__diag_help(d, middleware
                              ? "a call provider goes into a call: \"call\": { \"provider\": ... }"
                              : "a middleware goes into the 'middleware' of a Call Step or a Flow");
        return NULL;
    }
    const mwl__contract *found;
    mwl_status status = mwl__catalog_find(c->catalog, n->as.text, n->count, &found);
    if (status == MWL_E_NOMEM)
        c->status = status;
    else if (!found && mwl__catalog_refused(c->catalog, n->as.text, n->count))
        c->refused = true;
    else if (!found)
        unknown_provider(c, n, &uri);
    return found;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Finds the Flow in the `flows` maps around the call, the nearest first. Returns NULL after a
 * report. */
static mwl__flow *find_flow(mwl__checker *c, mwl__flow *f, const mwl__node *n) {
    for (mwl__m_flow *o = &f->m; o; o = o->outer) {
        mwl__flow *at = mwl__flow_of(o);
        const mwl__node *found = mwl__node_find(at->flows, n->as.text, n->count);
        if (found) {
            at->named[found->index]->called = true;
            return at->named[found->index];
        }
    }
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_UNKNOWN_FLOW,
                                    "no Flow '%.*s' is in scope here", MWL__NODE_TEXT(n));
    if (!d) return NULL;
    mwl__suggest s = mwl__suggest_make(n->as.text, n->count);
    const mwl__node *some = NULL;
    for (mwl__m_flow *o = &f->m; o; o = o->outer) {
        mwl__flow *at = mwl__flow_of(o);
        if (!some) some = at->flows;
        for (const mwl__node *m = at->flows ? mwl__node_first(at->flows) : NULL; m; m = m->next)
            mwl__suggest_offer(&s, m->key, m->key_len);
    }
    if (s.best) {
        mwl__diag_help(d, "did you mean '%.*s'?", (int)s.best_len, s.best);
        mwl__diag_fix_string(d, mwl__node_span(n), s.best, s.best_len);
    } else if (some) {
        mwl__check_list_names(d, "the nearest 'flows' has ", some);
    } else {
        mwl__diag_help(d, "define it in \"flows\": { \"%.*s\": { ... } }", MWL__NODE_TEXT(n));
    }
    return NULL;
}

static void add_edge(mwl__checker *c, mwl__flow *f, mwl__flow *to, const mwl__node *at,
                     const mwl__m_call *call) {
    mwl__edge *e = mwl__check_new(c, 1, sizeof *e);
    if (!e) return;
    e->to = to;
    e->at = at;
    e->call = call;
    *f->last_edge = e;
    f->last_edge = &e->next;
}

static void check_target(mwl__checker *c, mwl__flow *f, mwl__m_call *call, uint32_t bad) {
    const mwl__node *n = call->node, *provider = mwl__node_get(n, "provider"),
                    *flow = mwl__node_get(n, "flow");
    if (provider && flow) {
        const mwl__node *at = flow->index > provider->index ? flow : provider;
        mwl__diag *d = mwl__node_report_key(c->tree, at, MWL_DIAG_CALL_WITH_TWO_TARGETS,
                                            "a call has one target, 'provider' or 'flow'");
        mwl__diag_label(d, mwl__node_key_span(at == flow ? provider : flow), "the other target");
        return;
    }
    if (!provider && !flow) {
        mwl__node_report(c->tree, n, MWL_DIAG_CALL_WITHOUT_TARGET,
                         "a call needs 'provider' or 'flow'");
        return;
    }
    provider = mwl__form_member(n, &call_form, bad, "provider");
    flow = mwl__form_member(n, &call_form, bad, "flow");
    if (provider) call->provider = check_provider(c, provider, false);
    if (!flow) return;
    mwl__flow *to =
        flow->kind == MWL_NODE_STRING ? find_flow(c, f, flow) : mwl__check_flow(c, flow, f, NULL);
    if (!to) return;
    call->flow = &to->m;
    add_edge(c, f, to, flow, call);
}

static void check_arms(mwl__checker *c, mwl__m_call *call, const mwl__node *ok,
                       const mwl__node *failed, const mwl__site *fields) {
    mwl__site site = *fields;
    uint32_t bad;
    const mwl__node *n = call->node;
    site.roots |= MWL_SITE_ARM;
    site.inner = true;
    if (mwl__node_get(n, "provider")) site.roots |= MWL_SITE_WINDOW_PROVIDER;
    if (mwl__node_get(n, "flow")) site.roots |= MWL_SITE_WINDOW_FLOW;
    if (ok) {
        site.settled = 1;
        mwl__form_check(c->tree, ok, &success_arm_form, &bad);
        call->on_success = ok;
        call->success_value = mwl__form_member(ok, &success_arm_form, bad, "value");
        call->success_assign = mwl__form_member(ok, &success_arm_form, bad, "assign");
        if (call->success_value) mwl__check_value(c, call->success_value, &site);
        if (call->success_assign) mwl__check_assign(c, call->success_assign, &site);
    }
    if (failed) {
        site.settled = -1;
        mwl__form_check(c->tree, failed, &failure_arm_form, &bad);
        call->on_failure = failed;
        call->failure_assign = mwl__form_member(failed, &failure_arm_form, bad, "assign");
        if (call->failure_assign) mwl__check_assign(c, call->failure_assign, &site);
    }
}

mwl__m_call *mwl__check_call(mwl__checker *c, mwl__flow *f, const mwl__node *n,
                             const mwl__site *around, bool gathered) {
    mwl__m_call *call = mwl__check_new(c, 1, sizeof *call);
    uint32_t bad;
    if (!call) return NULL;
    size_t before = c->sink->n_broken;
    call->node = n;
    call->gathered = gathered;
    mwl__form_check(c->tree, n, &call_form, &bad);
    if (n->kind != MWL_NODE_OBJECT) return NULL;
    check_target(c, f, call, bad);
    mwl__site site = *around;
    site.roots |= MWL_SITE_CALL | (gathered ? (unsigned)MWL_SITE_INDEX : 0u);
    site.call = call;
    call->input = mwl__form_member(n, &call_form, bad, "input");
    call->with = mwl__form_member(n, &call_form, bad, "with");
    if (call->input) mwl__check_value(c, call->input, &site);
    if (call->with) mwl__check_value(c, call->with, &site);
    check_arms(c, call, mwl__form_member(n, &call_form, bad, "onSuccess"),
               mwl__form_member(n, &call_form, bad, "onFailure"), &site);
    if (!call->provider && !call->flow) return NULL;
    if (c->sink->n_broken == before) mwl__check_list(c, call, NULL);
    return call;
}

/* ---- phases ---------------------------------------------------------------------------------- */

static bool is_structural(const mwl__node *names, const mwl__node *member) {
    for (const mwl__node *s = names ? mwl__node_first(names) : NULL; s; s = s->next)
        if (s->count == member->key_len && memcmp(s->as.text, member->key, s->count) == 0)
            return true;
    return false;
}

/* Checks a `with` in which some members are definitions (of a cleanup). Expressions of the cleanup
 * can read what those of the phase can read; its `call` and its stack add more. */
static void check_structural(mwl__checker *c, mwl__flow *f, const mwl__m_entry *e,
                             mwl__m_phase *phase, const mwl__node *names, const mwl__site *site) {
    const mwl__node *with = phase->with;
    if (with->kind != MWL_NODE_OBJECT) {
        mwl__node_report(c->tree, with, MWL_DIAG_COMPUTED_STRUCTURE,
                         "this 'with' holds definitions and cannot be computed");
        return;
    }
    for (const mwl__node *m = mwl__node_first(with); m; m = m->next) {
        if (!is_structural(names, m)) {
            mwl__check_value(c, m, site);
        } else if (mwl__form_looks_computed(m)) {
            mwl__node_report(c->tree, m, MWL_DIAG_COMPUTED_STRUCTURE,
                             "'%.*s' is a definition and cannot be computed", MWL__NODE_KEY(m));
        } else if (mwl__node_key_is(m, "call")) {
            phase->call = mwl__check_call(c, f, m, site, false);
        } else if (mwl__node_key_is(m, "middleware")) {
            static const mwl__form_field field = {"middleware", MWL__FORM_ARRAY, 0};
            if (mwl__form_value(c->tree, m, &field, (mwl__diag_code)0))
                mwl__check_stack(c, f, m, site, e->flow_level, &phase->stack, &phase->n_stack);
        } /* other structural members are not checked */
    }
}

/* Adds a help with the phases in which the middleware acts. */
static void suggest_phase(mwl__diag *d, const mwl__m_entry *e) {
    char text[80] = "";
    size_t len = 0;
    for (int i = 0; i < 4; i++)
        if (e->provider->acts[i])
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len ? " and " : "",
                                    phase_names[i]);
    if (len) mwl__diag_help(d, "'when' belongs in %s of this middleware", text);
}

static void check_phase(mwl__checker *c, mwl__flow *f, mwl__m_entry *e, int ix,
                        const mwl__site *around) {
    mwl__m_phase *phase = &e->phase[ix];
    const mwl__form *form = &phase_forms[ix];
    const mwl__node *n = phase->node;
    uint32_t bad;
    mwl__site site = *around;
    /* in the stack of a cleanup, `around` is a phase of the outer entry */
    site.roots = (site.roots & ~(unsigned)MWL_SITE_ASCENT) | MWL_SITE_MIDDLEWARE;
    if (ix != MWL_ON_ENTRY) site.roots |= MWL_SITE_ASCENT;
    site.middleware = e->provider;
    site.inner = true;
    site.settled = 0;
    site.rising = ix == MWL_ON_SUCCESS ? 1 : ix == MWL_ON_FAILURE ? -1 : 0;
    mwl__form_check(c->tree, n, form, &bad);
    phase->when = mwl__form_member(n, form, bad, "when");
    phase->with = mwl__form_member(n, form, bad, "with");
    phase->assign = mwl__form_member(n, form, bad, "assign");
    phase->shape = mwl__form_member(n, form, bad, ix == MWL_ON_ENTRY ? "output" : "value");
    if (phase->when) mwl__check_condition(c, phase->when, &site);
    const mwl__node *names = e->provider ? e->provider->structural[ix] : NULL;
    if (phase->with && names && names->count)
        check_structural(c, f, e, phase, names, &site);
    else if (phase->with)
        mwl__check_value(c, phase->with, &site);
    if (phase->shape) mwl__check_value(c, phase->shape, &site);
    if (ix == MWL_ON_FAILURE && (phase->fields = mwl__check_new(c, 6, sizeof *phase->fields))) {
        for (int i = 0; i < 6; i++)
            phase->fields[i] = mwl__form_member(n, form, bad, failure_fields[i].name);
        mwl__check_envelope(c, phase->fields, &site);
    }
    if (phase->assign) mwl__check_assign(c, phase->assign, &site);
    if (!phase->when || !e->provider || e->provider->acts[ix]) return;
    mwl__diag *d = mwl__node_report_key(c->tree, phase->when, MWL_DIAG_WHEN_WITHOUT_ACTION,
                                        "this 'when' has no effect: the middleware does nothing "
                                        "in %s that it could gate",
                                        phase_names[ix]);
    mwl__diag_note(d, "it is not evaluated; what is shaped and assigned happens regardless");
    suggest_phase(d, e);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* spec: middleware-providers, attachment: the levels that a document lists. */
static void check_level(mwl__checker *c, const mwl__m_entry *e, const mwl__node *provider) {
    if (e->flow_level ? e->provider->at_flow : e->provider->at_step) return;
    mwl__diag *d = mwl__node_report(c->tree, provider, MWL_DIAG_MISPLACED_MIDDLEWARE,
                                    "this middleware does not attach to a %s",
                                    e->flow_level ? "Flow" : "Step");
    mwl__diag_note(d, "its document lets it attach to a %s alone", e->flow_level ? "Step" : "Flow");
}

static void check_loop(mwl__checker *c, const mwl__m_entry *e, const mwl__node *provider) {
    const mwl__node *when = mwl__node_get(e->phase[MWL_ON_SUCCESS].node, "when");
    if (!when) {
        const mwl__node *at = e->phase[MWL_ON_SUCCESS].node;
        mwl__diag *d =
            at ? mwl__node_report_key(c->tree, at, MWL_DIAG_LOOP_WITHOUT_WHEN,
                                      "a Loop needs 'when' in 'onSuccess': it is what ends it")
               : mwl__node_report(c->tree, provider, MWL_DIAG_LOOP_WITHOUT_WHEN,
                                  "a Loop needs 'onSuccess' with 'when': it is what ends it");
        mwl__diag_help(d, "for example \"when\": \"{{ middleware.metadata.iteration < 10.0 }}\"");
    } else if (mwl__check_constant(c, when) == 1) {
        mwl__node_report(c->tree, when, MWL_DIAG_ENDLESS_LOOP,
                         "the Loop goes on as long as its runs succeed");
    }
}

/* spec: one grammar of patterns for all matchers. Codes that are computed are known only at run
 * time. */
static void check_policy_codes(mwl__checker *c, const mwl__m_entry *e) {
    const mwl__node *policies = mwl__node_get(e->phase[MWL_ON_ENTRY].with, "policies");
    for (const mwl__node *p = policies ? mwl__node_first(policies) : NULL; p; p = p->next) {
        const mwl__node *codes = mwl__node_get(mwl__node_get(p, "match"), "codes");
        for (const mwl__node *k = codes ? mwl__node_first(codes) : NULL; k; k = k->next)
            if (k->kind == MWL_NODE_STRING && !mwl__form_looks_computed(k))
                mwl__check_pattern(c, k);
    }
}

static mwl__m_entry *check_entry(mwl__checker *c, mwl__flow *f, const mwl__node *n,
                                 const mwl__site *around, bool flow_level) {
    mwl__m_entry *e = mwl__check_new(c, 1, sizeof *e);
    uint32_t bad;
    if (!e) return NULL;
    size_t before = c->sink->n_broken;
    mwl__form_check(c->tree, n, &entry_form, &bad);
    if (n->kind != MWL_NODE_OBJECT) return NULL;
    e->node = n;
    e->flow_level = flow_level;
    const mwl__node *provider = mwl__form_member(n, &entry_form, bad, "provider");
    if (provider) e->provider = check_provider(c, provider, true);
    if (e->provider) check_level(c, e, provider);
    mwl__site site = *around;
    site.call = NULL; /* a cleanup's stack is outside of the cleanup's call */
    for (int i = 0; i < 4; i++) {
        e->phase[i].node = mwl__form_member(n, &entry_form, bad, phase_names[i]);
        if (e->phase[i].node) check_phase(c, f, e, i, &site);
    }
    if (!e->provider) return NULL;
    bool broken = mwl__node_get(n, "onSuccess") && !e->phase[MWL_ON_SUCCESS].node;
    if (mwl__contract_is(e->provider, "loop") && !broken) check_loop(c, e, provider);
    if (mwl__contract_is(e->provider, "retry")) check_policy_codes(c, e);
    if (c->sink->n_broken == before) mwl__check_list(c, NULL, e);
    return e;
}

void mwl__check_stack(mwl__checker *c, mwl__flow *f, const mwl__node *n, const mwl__site *around,
                      bool flow_level, mwl__m_entry ***out, uint32_t *n_out) {
    mwl__m_entry **list = mwl__check_new(c, n->count, sizeof *list);
    *out = list;
    *n_out = 0;
    for (const mwl__node *m = mwl__node_first(n); list && m; m = m->next) {
        mwl__m_entry *e = check_entry(c, f, m, around, flow_level);
        if (e) list[(*n_out)++] = e;
    }
}
