/* names.c: see names.h. */
#include "tools/host/names.h"

#include "vm/base/suggest.h"
#include "vm/program/view.h"

#include <stdio.h>
#include <string.h>

bool names_step(const char *name, const char *flow, const char *step) {
    size_t len = strlen(flow);
    if (strcmp(name, step) == 0) return true;
    return len && strncmp(name, flow, len) == 0 && name[len] == '/' &&
           strcmp(name + len + 1, step) == 0;
}

bool names_whole(const char *name, const char *whole) {
    size_t len = strlen(name), all = strlen(whole);
    if (all > len && whole[all - len - 1] != '/') return false;
    return all >= len && strcmp(whole + all - len, name) == 0;
}

static bool has_step(const mwl_program *p, const char *name) {
    for (uint32_t i = 0; i < mwl__view_n_steps(p); i++) {
        const mwl__view_step s = mwl__view_step_of(p, i);
        if (names_step(name, s.flow_name, s.name)) return true;
    }
    return false;
}

/* The nearest name, in `near`; "" if none is near. The Step's part of a name may be right with
 * another Flow, so it is offered with each Flow's name as well. */
static void suggest(const mwl_program *p, unsigned kinds, const char *name, char *near,
                    size_t size) {
    mwl__suggest s = mwl__suggest_make(name, strlen(name));
    bool whole = strchr(name, '/') != NULL && strncmp(name, "mwl:", 4) != 0;
    char offered[600];
    unsigned best = s.distance;
    *near = '\0';
    for (uint32_t i = 0; (kinds & NAMES_STEP) && i < mwl__view_n_steps(p); i++) {
        const mwl__view_step step = mwl__view_step_of(p, i);
        const char *flow = whole ? step.flow_name : "";
        int n = snprintf(offered, sizeof offered, "%s%s%s", flow, *flow ? "/" : "", step.name);
        s.best = NULL;
        if (n > 0 && (size_t)n < sizeof offered) mwl__suggest_offer(&s, offered, (size_t)n);
        if (!s.best || (*near && s.distance >= best)) continue;
        best = s.distance;
        snprintf(near, size, "%s", offered);
    }
    for (uint32_t i = 0; (kinds & NAMES_URI) && i < mwl__view_n_imports(p); i++) {
        const char *uri = mwl__view_uri(p, i);
        s.best = NULL;
        mwl__suggest_offer(&s, uri, strlen(uri));
        if (!s.best || (*near && s.distance >= best)) continue;
        best = s.distance;
        snprintf(near, size, "%s", uri);
    }
}

bool names_check(const mwl_program *p, unsigned kinds, const char *name, char *why, size_t size) {
    char near[600];
    if ((kinds & NAMES_STEP) && has_step(p, name)) return true;
    if ((kinds & NAMES_URI) && mwl__view_names(p, name)) return true;
    const char *what = !(kinds & NAMES_URI)            ? "Step"
                       : !(kinds & NAMES_STEP)         ? "provider"
                       : strncmp(name, "mwl:", 4) == 0 ? "provider"
                                                       : "Step";
    suggest(p, kinds, name, near, sizeof near);
    snprintf(why, size, "the definition has no %s '%s'%s%s%s", what, name,
             *near ? "; did you mean '" : "", near, *near ? "'?" : "");
    return false;
}
