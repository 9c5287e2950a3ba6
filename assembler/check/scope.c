/* scope.c: see scope.h. */
#include "assembler/check/scope.h"

#include "assembler/cel/cel.h"
#include "assembler/check/model.h"
#include "vm/base/hash.h"

/* ---- sets of names --------------------------------------------------------------------------- */

/* Returns the name, or NULL; then the probe is where it can be added. */
static mwl__name *seek(const mwl__names *s, const char *text, size_t len, mwl__probe *probe) {
    *probe = mwl__probe_make(&s->table, mwl__hash_key(text, len));
    for (uint32_t i; mwl__table_next(&s->table, probe, &i);)
        if (s->at[i].len == len && memcmp(s->at[i].text, text, len) == 0) return &s->at[i];
    return NULL;
}

mwl__name *mwl__names_put(mwl__names *s, mwl__arena *arena, const char *text, size_t len,
                          unsigned flags) {
    mwl_alloc alloc = mwl__arena_alloc(arena);
    if (mwl__table_reserve(&s->table, &alloc, s->n + 1) < 0 ||
        mwl__mem_grow(&alloc, (void **)&s->at, &s->cap, s->n + 1, sizeof *s->at) < 0)
        return NULL;
    mwl__probe probe;
    mwl__name *e = seek(s, text, len, &probe);
    if (!e) {
        mwl__table_put(&s->table, &probe, (uint32_t)s->n);
        e = &s->at[s->n++];
        *e = (mwl__name){.text = text, .len = (uint32_t)len, .id = (uint32_t)s->n - 1};
    }
    e->flags |= flags;
    return e;
}

const mwl__name *mwl__names_find(const mwl__names *s, const char *text, size_t len) {
    mwl__probe probe;
    return seek(s, text, len, &probe);
}

/* ---- roots ----------------------------------------------------------------------------------- */

/* The bits of which one must be set; 0: the root always exists. */
static const struct {
    const char *name;
    unsigned needs;
    const char *absent;
} roots[MWL__N_ROOTS] = {
    {"vars", 0, NULL},
    {"execution", 0, NULL},
    {"frame", 0, NULL},
    {"failure", 0, NULL},
    {"step", MWL_SITE_STEP, "no Step is executing while a Flow's own middleware runs"},
    {"call", MWL_SITE_CALL, "it is there in the members of a call object, nowhere else"},
    {"flow", MWL_SITE_WINDOW_FLOW,
     "it is there in the arms (onSuccess, onFailure) of a call to a Flow"},
    {"provider", MWL_SITE_WINDOW_PROVIDER,
     "it is there in the arms (onSuccess, onFailure) of a call to a provider"},
    {"match", MWL_SITE_MATCH, "it is there in the clauses of a Match Step"},
    {"middleware", MWL_SITE_MIDDLEWARE, "it is there in the phases of a middleware entry"},
};

void mwl__scope_roots(unsigned site, mwl__cel_root out[MWL__N_ROOTS]) {
    for (int i = 0; i < MWL__N_ROOTS; i++) {
        out[i].name = roots[i].name;
        out[i].absent = roots[i].needs && !(site & roots[i].needs) ? roots[i].absent : NULL;
    }
}

unsigned mwl__scope_lookup(const mwl__names *functions, const char *name, size_t len,
                           mwl__cel_lit *lit) {
    unsigned is = mwl__cel_standard_name(NULL, name, len, lit);
    for (int i = 0; i < MWL__N_ROOTS; i++)
        if (strlen(roots[i].name) == len && memcmp(roots[i].name, name, len) == 0)
            is |= MWL__CEL_NAME_VARIABLE;
    const mwl__name *f = mwl__names_find(functions, name, len);
    if (f && (f->flags & MWL_FN_GLOBAL)) is |= MWL__CEL_NAME_FUNCTION;
    return is;
}
