/* acme.h: middleware of a host, written with mwl_provider.h alone: cache, notify, translate-error,
 * decrypt and stale-on-slow, in the namespace `acme`. Together they use every phase, every kind of
 * action and every verdict except those of Retry and Loop. */
#ifndef ACME_H
#define ACME_H

#include "mwl_provider.h"

#include <stdio.h>
#include <string.h>

typedef struct acme {
    mwl_heap *heap;
    char log[4096];       /* a word per event, each after a blank */
    mwl_value cached;     /* {key: value} */
    mwl_value remembered; /* stale-on-slow's last success; absent: none yet */
} acme;

static void acme_log(acme *a, const char *word) {
    size_t n = strlen(a->log);
    snprintf(a->log + n, sizeof a->log - n, " %s", word);
}

static inline void acme_done(acme *a) {
    mwl_value_drop(a->heap, a->cached);
    mwl_value_drop(a->heap, a->remembered);
}

static mwl_value acme_argument(mwl_phase *phase, const char *name) {
    return mwl_get(mwl_phase_arguments(phase), name);
}

#define ACME_URI(name) "mwl:provider.middleware/acme/" name "/v1"
#define ACME_DOC(name, prefix, phases, more) ACME_DOC_OPEN(name, prefix, phases, more, "")
#define ACME_DOC_OPEN(name, prefix, phases, more, open)                                            \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" ACME_URI(              \
        name) "\",\"codePrefix\":\"" prefix                                                        \
              "\",\"description\":\"A test.\",\"attachment\":[\"step\",\"flow\"],"                 \
              "\"phases\":{" phases "}" more ",\"failureCatalog\":{\"closed\":["                   \
              "\"Provider.Middleware." prefix ".Failed\"],\"open\":[" open "]}}"
#define ACME_PHASE(name, kind, more)                                                               \
    "\"" name "\":{\"action\":{\"kind\":\"" kind "\",\"description\":\"Acts.\"" more
#define ACME_PARAMETERS(properties)                                                                \
    ",\"parameters\":{\"type\":\"object\",\"properties\":{" properties "}}"

/* ---- cache: control at onEntry, side-effect at onSuccess ------------------------------------- */

static const char acme_cache_doc[] =
    ACME_DOC("cache", "Cache",
             ACME_PHASE("onEntry", "control", "}") ACME_PARAMETERS(
                 "\"key\":{\"type\":\"string\"}") "}," ACME_PHASE("onSuccess", "side-effect", "}}"),
             ",\"metadata\":{\"type\":\"object\",\"properties\":{\"hit\":{\"type\":\"boolean\"}}}");

static void acme_cache_entry(mwl_phase *phase, void *user) {
    acme *a = user;
    mwl_value key = acme_argument(phase, "key"), found = mwl_object_find(a->cached, key);
    bool hit = !mwl_is_absent(found);
    mwl_phase_contribute(phase, "hit", mwl_bool(hit));
    if (hit)
        mwl_phase_substitute(phase, true, mwl_value_keep(found));
    else
        mwl_phase_set_state(phase, mwl_value_keep(key));
}

static void acme_cache_success(mwl_phase *phase, void *user) {
    acme *a = user;
    a->cached = mwl_object_put(a->heap, a->cached, mwl_value_keep(mwl_phase_state(phase)),
                               mwl_value_keep(mwl_phase_result_value(phase)));
}

/* ---- notify: side-effects everywhere --------------------------------------------------------- */

#define ACME_NOTE(name)                                                                            \
    ACME_PHASE(name, "side-effect", "}") ACME_PARAMETERS("\"fail\":{\"type\":\"boolean\"}") "}"
static const char acme_notify_doc[] =
    ACME_DOC("notify", "Notify",
             ACME_NOTE("onEntry") "," ACME_NOTE("onSuccess") "," ACME_NOTE(
                 "onFailure") "," ACME_NOTE("onAlways"),
             "");

static void acme_note(mwl_phase *phase, acme *a, const char *word) {
    acme_log(a, word);
    if (mwl_as_bool(acme_argument(phase, "fail")))
        mwl_phase_fail(phase, NULL, "Provider.Middleware.Notify.Failed", "nobody answers",
                       mwl_absent());
}
static void acme_notify_entry(mwl_phase *phase, void *user) { acme_note(phase, user, "entry"); }
static void acme_notify_success(mwl_phase *phase, void *user) { acme_note(phase, user, "success"); }
static void acme_notify_failure(mwl_phase *phase, void *user) { acme_note(phase, user, "failure"); }
static void acme_notify_always(mwl_phase *phase, void *user) {
    acme_note(phase, user, mwl_phase_succeeded(phase) ? "always+" : "always-");
}

/* ---- translate-error: a failure for a failure ------------------------------------------------ */

static const char acme_translate_doc[] = ACME_DOC_OPEN(
    "translate-error", "Translate",
    ACME_PHASE("onFailure", "transform", "}")
        ACME_PARAMETERS("\"code\":{\"type\":\"string\"},\"keep\":{\"type\":\"boolean\"}") "}",
    "", "\"*\"");

/* With `keep` the old failure becomes `previous` of the new one, otherwise its code is replaced.
 * The author chooses the codes, so the catalog is open. */
static void acme_translate_failure(mwl_phase *phase, void *user) {
    (void)user;
    mwl_heap *h = mwl_phase_heap(phase);
    size_t len;
    const char *code = mwl_as_text(acme_argument(phase, "code"), &len);
    if (mwl_as_bool(acme_argument(phase, "keep")))
        mwl_phase_transform(phase, mwl_failure(h, NULL, code, NULL, mwl_absent(),
                                               mwl_value_keep(mwl_phase_result_value(phase))));
    else
        mwl_phase_transform(phase,
                            mwl_object_set(h, mwl_value_keep(mwl_phase_result_value(phase)), "code",
                                           4, mwl_value_keep(acme_argument(phase, "code"))));
}

/* ---- decrypt: transforms on the way down and on the way up ----------------------------------- */

static const char acme_decrypt_doc[] = ACME_DOC(
    "decrypt", "Decrypt",
    ACME_PHASE("onEntry", "transform", "}}") "," ACME_PHASE("onSuccess", "transform", "}}"), "");

/* The cipher is simple: the text backwards. */
static void acme_turn(mwl_phase *phase, mwl_value text) {
    size_t len = 0;
    const char *s = mwl_as_text(text, &len);
    char out[64];
    if (!s || len > sizeof out) {
        mwl_phase_fail(phase, NULL, "Provider.Middleware.Decrypt.Failed", "not a short text",
                       mwl_absent());
        return;
    }
    for (size_t i = 0; i < len; i++) out[i] = s[len - 1 - i];
    mwl_phase_transform(phase, mwl_string(mwl_phase_heap(phase), out, len));
}
static void acme_decrypt_entry(mwl_phase *phase, void *user) {
    (void)user;
    acme_turn(phase, mwl_phase_input(phase));
}
static void acme_decrypt_success(mwl_phase *phase, void *user) {
    (void)user;
    acme_turn(phase, mwl_phase_result_value(phase));
}

/* ---- stale-on-slow: races the inner scope, and tells what it remembers ----------------------- */

static const char acme_stale_doc[] = ACME_DOC(
    "stale-on-slow", "Stale",
    ACME_PHASE(
        "onEntry", "control",
        ",\"acceptance\":\"A Result is accepted when it rises at the entry's position.\"}") ",\"parameters\":{\"type\":\"object\",\"required\":[\"after\"],\"properties\":{"
                                                                                            "\"after\":{\"type\":\"string\",\"format\":\"duration\"}}}}," ACME_PHASE(
                                                                                                "onSuccess",
                                                                                                "side-effect",
                                                                                                "}}"),
    "");

static void acme_stale_entry(mwl_phase *phase, void *user) {
    (void)user;
    size_t len;
    const char *text = mwl_as_text(acme_argument(phase, "after"), &len);
    int64_t ns = 0;
    (void)mwl_duration_parse(text, len, &ns);
    mwl_instant now;
    mwl_phase_now(phase, &now);
    mwl_phase_arm(phase, now.mono_ns + ns);
}

static void acme_stale_success(mwl_phase *phase, void *user) {
    acme *a = user;
    mwl_value_drop(a->heap, a->remembered);
    a->remembered = mwl_value_keep(mwl_phase_result_value(phase));
}

static void acme_stale_elapsed(mwl_phase *phase, void *user) {
    acme *a = user;
    acme_log(a, "elapsed");
    mwl_phase_interrupt(phase, mwl_failure(mwl_phase_heap(phase), "timeout",
                                           "Provider.Middleware.Stale.Failed", NULL,
                                           mwl_value_keep(a->remembered), mwl_absent()));
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const mwl_middleware acme_middleware[] = {
    {.uri = ACME_URI("cache"),
     .document = acme_cache_doc,
     .entry = acme_cache_entry,
     .success = acme_cache_success},
    {.uri = ACME_URI("notify"),
     .document = acme_notify_doc,
     .entry = acme_notify_entry,
     .success = acme_notify_success,
     .failure = acme_notify_failure,
     .always = acme_notify_always},
    {.uri = ACME_URI("translate-error"),
     .document = acme_translate_doc,
     .failure = acme_translate_failure},
    {.uri = ACME_URI("decrypt"),
     .document = acme_decrypt_doc,
     .entry = acme_decrypt_entry,
     .success = acme_decrypt_success},
    {.uri = ACME_URI("stale-on-slow"),
     .document = acme_stale_doc,
     .entry = acme_stale_entry,
     .success = acme_stale_success,
     .elapsed = acme_stale_elapsed},
};
#define ACME_COUNT (sizeof acme_middleware / sizeof *acme_middleware)

#endif
