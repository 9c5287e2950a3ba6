/* definition.c: see definition.h. */
#include "definition.h"

#include "cmd.h"
#include "assembler/source/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- options --------------------------------------------------------------------------------- */

const char *definition_value(const char *name, int argc, char **argv, int *i) {
    size_t len = strlen(name);
    if (strncmp(argv[*i], name, len) != 0) return NULL;
    if (argv[*i][len] == '=') return argv[*i] + len + 1;
    if (argv[*i][len] != '\0' || *i + 1 == argc) return NULL;
    return argv[++*i];
}

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

static int no_memory(void) {
    cmd_fail("out of memory");
    return -1;
}

static int take_level(const char ***list, size_t *n, const char *name, bool allow) {
    const mwl__diag_info *row = mwl__diag_find(name);
    if (strcmp(name, "warnings") != 0 && !row) {
        cmd_usage("there is no warning '%s'; 'mwlvm explain' lists them", name);
        return -1;
    }
    if (allow && row && row->severity == MWL_DIAG_ERROR) {
        cmd_usage("'%s' is an error and cannot be allowed", name);
        return -1;
    }
    if (!grow(list, *n, sizeof **list)) return no_memory();
    (*list)[(*n)++] = name;
    return 1;
}

static int take_provider(struct definition *d, const char *path) {
    if (!grow(&d->providers, d->n_providers, sizeof *d->providers)) return no_memory();
    mwl_asm_provider *p = &d->providers[d->n_providers];
    p->text = cmd_read_file(path, &p->len);
    if (!p->text) return -1;
    p->file = path;
    d->n_providers++;
    return 1;
}

static int take_format(struct definition *d, const char *name) {
    static const char *const names[] = {"human", "json", "sarif"};
    static const mwl_asm_format formats[] = {MWL_ASM_HUMAN, MWL_ASM_JSON, MWL_ASM_SARIF};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            d->options.format = formats[i];
            return 1;
        }
    cmd_usage("--format is human, json or sarif, not '%s'", name);
    return -1;
}

int definition_option(struct definition *d, int argc, char **argv, int *i) {
    const char *v;
    if ((v = definition_value("--provider", argc, argv, i))) return take_provider(d, v);
    if ((v = definition_value("--allow", argc, argv, i)))
        return take_level(&d->allow, &d->n_allow, v, true);
    if ((v = definition_value("--deny", argc, argv, i)))
        return take_level(&d->deny, &d->n_deny, v, false);
    if ((v = definition_value("--format", argc, argv, i))) return take_format(d, v);
    return 0;
}

int definition_parse(struct definition *d, int argc, char **argv, const char **path,
                     int (*other)(void *ctx, int argc, char **argv, int *i), void *ctx) {
    *path = NULL;
    for (int i = 1; i < argc; i++) {
        int taken = definition_option(d, argc, argv, &i);
        if (taken == 0 && other) taken = other(ctx, argc, argv, &i);
        if (taken < 0) return CMD_USAGE;
        if (taken > 0) continue;
        if (argv[i][0] == '-' && argv[i][1])
            return cmd_usage("%s: '%s' is no option, or lacks its value", argv[0], argv[i]);
        if (*path) return cmd_usage("%s takes one FILE, not '%s' too", argv[0], argv[i]);
        *path = argv[i];
    }
    return *path ? CMD_OK : cmd_usage("%s takes one FILE", argv[0]);
}

void definition_free(struct definition *d) {
    for (size_t i = 0; i < d->n_providers; i++) free((void *)(uintptr_t)d->providers[i].text);
    free(d->providers);
    free(d->allow);
    free(d->deny);
    memset(d, 0, sizeof *d);
}

/* ---- assembling and loading ------------------------------------------------------------------ */

bool definition_colour(int stream) { return isatty(stream) && !getenv("NO_COLOR"); }

const char *definition_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

int definition_assemble(struct definition *d, const char *path, const char *text, size_t len,
                        mwl_asm_result *out) {
    d->options.file = definition_name(path);
    d->options.providers = d->providers;
    d->options.n_providers = d->n_providers;
    d->options.allow = d->allow;
    d->options.deny = d->deny;
    d->options.colour = definition_colour(STDERR_FILENO);
    mwl_status status = mwl_assemble(text, len, &d->options, out);
    if (out->diagnostics_len) fwrite(out->diagnostics, 1, out->diagnostics_len, stderr);
    if (status == MWL_OK) return CMD_OK;
    cmd_fail("%s: %s", d->options.file, mwl_status_text(status));
    mwl_asm_free(out);
    return status == MWL_E_REJECTED ? CMD_REJECTED : CMD_FAILED;
}

static int load(const char *path, const void *image, size_t size, mwl_program **out) {
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl_program_load(NULL, image, size, MWL_COPY, out, &error);
    if (status == MWL_OK) return CMD_OK;
    cmd_fail("%s: %s, at byte %zu", definition_name(path),
             error.message ? error.message : mwl_status_text(status), error.offset);
    if (status == MWL_E_VERSION) cmd_note("assemble its definition again with this mwlvm");
    return status == MWL_E_NOMEM ? CMD_FAILED : CMD_REJECTED;
}

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

int definition_load(struct definition *d, const char *path, mwl_program **out) {
    size_t size = 0;
    char *text = cmd_read_file(path, &size);
    if (!text) return CMD_USAGE;
    int status;
    if ((size >= 4 && memcmp(text, "MWLB", 4) == 0) || ends_with(path, ".mwlb")) {
        status = load(path, text, size, out);
    } else {
        mwl_asm_result result;
        status = definition_assemble(d, path, text, size, &result);
        if (status == CMD_OK) {
            status = load(path, result.image, result.image_size, out);
            mwl_asm_free(&result);
        }
    }
    free(text);
    return status;
}
