/* definition.c: see definition.h. */
#include "tools/host/definition.h"

#include "tools/base/cmd.h"
#include "tools/words/guide.h"
#include "tools/host/io_host.h"
#include "tools/base/term.h"
#include "vm/base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- options --------------------------------------------------------------------------------- */

/* One more place at the end of a list, which stays NULL-terminated. */
static bool grow(void *list, size_t n, size_t size) {
    void *old;
    memcpy(&old, list, sizeof old);
    void *grown = realloc(old, (n + 2) * size);
    if (!grown) return false;
    memset((char *)grown + n * size, 0, 2 * size);
    memcpy(list, &grown, sizeof grown);
    return true;
}

static int no_warning(const char *name) {
    size_t n;
    const mwl__diag_info *rows = mwl__diag_rows(&n);
    mwl__suggest s = mwl__suggest_make(name, strlen(name));
    for (size_t i = 0; i < n; i++)
        if (rows[i].severity == MWL_DIAG_WARNING)
            mwl__suggest_offer(&s, rows[i].name, strlen(rows[i].name));
    mwl__suggest_offer(&s, "warnings", 8);
    if (s.best)
        return cmd_usage("there is no warning '%s'; did you mean '%.*s'?", name, (int)s.best_len,
                         s.best);
    return cmd_usage("there is no warning '%s'; `mwlvm explain` lists them", name);
}

static int take_level(const char ***list, size_t *n, const char *name, bool allow) {
    const mwl__diag_info *row = mwl__diag_find(name);
    if (strcmp(name, "warnings") != 0 && !row) return no_warning(name);
    if (allow && row && row->severity == MWL_DIAG_ERROR)
        return cmd_usage("'%s' is an error and cannot be ignored", name);
    if (!grow(list, *n, sizeof **list)) return cmd_no_memory();
    (*list)[(*n)++] = name;
    return CMD_OK;
}

static int take_ignore(void *base, const char *name) {
    struct definition *d = base;
    return take_level(&d->allow, &d->n_allow, name, true);
}

static int take_deny(void *base, const char *name) {
    struct definition *d = base;
    return take_level(&d->deny, &d->n_deny, name, false);
}

static int take_provider(void *base, const char *path) {
    struct definition *d = base;
    if (!grow(&d->providers, d->n_providers, sizeof *d->providers) ||
        !grow(&d->texts, d->n_providers, sizeof *d->texts))
        return cmd_no_memory();
    struct file_text *text = &d->texts[d->n_providers];
    int status = file_in(&d->limits, path, text);
    if (status != CMD_OK) return status;
    d->providers[d->n_providers] =
        (mwl_asm_provider){.file = file_in_name(path), .text = text->data, .len = text->size};
    d->n_providers++;
    return CMD_OK;
}

static int add_library(struct definition *d, mwl_asm_document document) {
    if (!grow(&d->library, d->n_library, sizeof *d->library)) return cmd_no_memory();
    d->library[d->n_library++] = document;
    return CMD_OK;
}

int definition_add_library(struct definition *d, const char *uri, const char *text) {
    int status = CMD_OK;
    const mwl_asm_document *own = d->library ? NULL : io_host_documents();
    for (; own && own->uri && status == CMD_OK; own++) status = add_library(d, *own);
    if (status != CMD_OK) return status;
    return add_library(d, (mwl_asm_document){.uri = uri, .text = text, .stands_in = true});
}

static int take_format(void *base, const char *name) {
    static const char *const names[] = {"human", "json", "sarif"};
    static const mwl_asm_format formats[] = {MWL_ASM_HUMAN, MWL_ASM_JSON, MWL_ASM_SARIF};
    struct definition *d = base;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            d->options.format = formats[i];
            return CMD_OK;
        }
    return cmd_usage("--format is human, json or sarif, not '%s'", name);
}

const struct option definition_options[DEFINITION_OPTIONS] = {
    {"Definitions and their diagnostics", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--provider", OPTION_CALL, 0, "FILE", "a provider definition document; may be repeated",
     take_provider},
    {"--ignore", OPTION_CALL, 0, "NAME",
     "leave out a warning, by its name or code; may be repeated", take_ignore},
    {"--deny", OPTION_CALL, 0, "NAME", "make a warning an error; `warnings` means all of them",
     take_deny},
    {"--format", OPTION_CALL, 0, "FORM", "of the diagnostics: human, json or sarif", take_format},
    {"--color", OPTION_CALL, 0, "WHEN",
     "auto (on a terminal, unless NO_COLOR is set), always or never", term_colour_option},
};

int definition_operand(void *ctx, const char *word) {
    struct definition *d = ctx;
    if (d->path) return cmd_usage("one FILE is wanted, not '%s' and '%s'", d->path, word);
    d->path = word;
    return CMD_OK;
}

void definition_init(struct definition *d) {
    memset(d, 0, sizeof *d);
    d->limits = limits_default();
}

void definition_free(struct definition *d) {
    for (size_t i = 0; i < d->n_providers; i++) file_in_free(&d->limits, &d->texts[i]);
    free(d->providers);
    free(d->texts);
    free(d->library);
    free(d->allow);
    free(d->deny);
    memset(d, 0, sizeof *d);
}

/* ---- assembling and loading ------------------------------------------------------------------ */

bool definition_is_program(const char *text, size_t len) {
    return len >= 4 && memcmp(text, "MWLB", 4) == 0;
}

int definition_expect(const char *path, const char *text, size_t len) {
    if (len >= 4 && memcmp(text, "MWLR", 4) == 0) {
        cmd_fail(
            "%s: this is a saved run; `mwlvm resume` goes on with it, `mwlvm show` describes it",
            file_in_name(path));
        return CMD_REJECTED;
    }
    if (!definition_is_program(text, len)) return CMD_OK;
    cmd_fail("%s: this is a program file, and a definition is wanted; `mwlvm decompile` prints the "
             "definition that it was made of",
             file_in_name(path));
    return CMD_REJECTED;
}

int definition_pay(struct definition *d, const char *path, size_t len) {
    enum { PER_BYTE = 16 }; /* measured: tools/COMMAND.md */
    uint64_t fuel = d->limits.fuel, cost = (uint64_t)len * PER_BYTE;
    if (d->runs && fuel < LIMITS_FUEL) fuel = LIMITS_FUEL;
    if (cost <= fuel - d->paid) {
        d->paid += cost;
        return CMD_OK;
    }
    char where[300];
    snprintf(where, sizeof where, " by the length of %s", file_in_name(path));
    limits_report(&d->limits, MWL_E_FUEL, where);
    return CMD_LIMIT;
}

/* Units of the assembler: about one for each byte, node and instruction. */
static uint64_t work_left(const struct definition *d) {
    uint64_t fuel = d->limits.fuel;
    if (d->runs && fuel < LIMITS_FUEL) fuel = LIMITS_FUEL;
    return fuel > d->paid ? fuel - d->paid : 1;
}

void definition_begin(struct definition *d, mwl__diags *sink) {
    d->quota = &sink->quota;
    sink->quota.work = sink->quota.given = work_left(d);
}

/* A limit was reached; the place is known while a check is under way. */
static int report_limit(const struct definition *d, const char *path, mwl_status why) {
    char where[400];
    const mwl__quota *q = d->quota;
    if (q && q->source) {
        mwl__place place = mwl__source_place(q->source, q->at);
        snprintf(where, sizeof where, " at %.300s:%u:%u", q->source->name, place.line,
                 place.column);
    } else {
        snprintf(where, sizeof where, " by %.300s", file_in_name(path));
    }
    limits_report(&d->limits, why, where);
    return CMD_LIMIT;
}

int definition_spent(const struct definition *d, const char *path) {
    return d->quota && d->quota->spent ? report_limit(d, path, MWL_E_FUEL) : CMD_OK;
}

int definition_failed(const struct definition *d, const char *path, mwl_status status) {
    if (status == MWL_E_FUEL || (status == MWL_E_NOMEM && d->limits.refused))
        return report_limit(d, path, status);
    cmd_fail("%s: %s", file_in_name(path), mwl_status_text(status));
    return status == MWL_E_NOMEM ? CMD_LIMIT : CMD_FAILED;
}

int definition_assemble(struct definition *d, const char *path, const char *text, size_t len,
                        mwl_asm_result *out) {
    int expected = definition_expect(path, text, len);
    if (expected == CMD_OK) expected = definition_pay(d, path, len);
    if (expected != CMD_OK) return expected;
    d->options.file = file_in_name(path);
    d->options.providers = d->providers;
    d->options.n_providers = d->n_providers;
    d->options.allow = d->allow;
    d->options.deny = d->deny;
    d->options.colour = term_colour(STDERR_FILENO);
    d->options.alloc = limits_alloc(&d->limits);
    d->options.guide = cmd_guide;
    d->options.max_work = work_left(d);
    /* Less than there is, so that the assembler refuses and reports the place, and its message has
     * room. */
    size_t left = d->limits.memory - d->limits.used;
    d->options.max_memory = left - left / 16 ? left - left / 16 : 1;
    d->options.library = d->library ? d->library : io_host_documents();
    mwl_status status = mwl_assemble(text, len, &d->options, out);
    if (out->diagnostics_len) fwrite(out->diagnostics, 1, out->diagnostics_len, stderr);
    if (status == MWL_OK) return CMD_OK;
    mwl_status limit = out->limit;
    mwl_asm_free(out);
    if (limit != MWL_OK) return report_limit(d, path, limit);
    if (status == MWL_E_REJECTED) return CMD_REJECTED; /* the diagnostics have said why */
    return definition_failed(d, path, status);
}

static int load(struct definition *d, const char *path, const void *image, size_t size,
                mwl_program **out) {
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_alloc alloc = limits_alloc(&d->limits);
    mwl_status status =
        mwl_program_load_within(&alloc, image, size, MWL_COPY, SIZE_MAX, out, &error);
    if (status == MWL_OK) return CMD_OK;
    if (status == MWL_E_NOMEM) return definition_failed(d, path, status);
    if (size == 0)
        cmd_fail("%s: the file is empty", file_in_name(path));
    else
        cmd_fail("%s: %s, at byte %zu", file_in_name(path),
                 error.message ? error.message : mwl_status_text(status), error.offset);
    if (status == MWL_E_VERSION) cmd_note("assemble its definition again with this mwlvm");
    return CMD_REJECTED;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int load_text(struct definition *d, const char *path, const struct file_text *text,
                     mwl_program **out) {
    if (definition_is_program(text->data, text->size) || ends_with(path, ".mwlb")) {
        int status = definition_pay(d, path, text->size);
        return status == CMD_OK ? load(d, path, text->data, text->size, out) : status;
    }
    mwl_asm_result result;
    int status = definition_assemble(d, path, text->data, text->size, &result);
    if (status != CMD_OK) return status;
    status = load(d, path, result.image, result.image_size, out);
    mwl_asm_free(&result);
    return status;
}

int definition_load(struct definition *d, const char *path, mwl_program **out) {
    struct file_text text;
    int status = file_in(&d->limits, path, &text);
    if (status != CMD_OK) return status;
    status = load_text(d, path, &text, out);
    file_in_free(&d->limits, &text);
    return status;
}
