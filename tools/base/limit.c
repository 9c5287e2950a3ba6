/* limit.c: see limit.h. */
#include "tools/base/limit.h"

#include "tools/base/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct limits limits_default(void) {
    struct limits l = {.fuel = LIMITS_FUEL, .memory = LIMITS_MEMORY};
    return l;
}

/* ---- options --------------------------------------------------------------------------------- */

/* Reads a number, perhaps with K, M or G behind it (powers of `kilo`), or "unlimited". */
static int parse(const char *name, const char *word, uint64_t kilo, uint64_t most, uint64_t *out) {
    static const char units[] = "KMG";
    if (strcmp(word, "unlimited") == 0) {
        *out = most;
        return CMD_OK;
    }
    char *end;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    bool overflow = errno == ERANGE;
    const char *u = *end ? strchr(units, *end) : NULL;
    if (u) end++;
    if (*word < '0' || *word > '9' || *end)
        return cmd_usage("%s needs a number such as 64M, or `unlimited`, not '%s'", name, word);
    for (; u && u >= units; u--) {
        overflow = overflow || n > UINT64_MAX / kilo;
        n *= kilo;
    }
    if (overflow || n >= most)
        return cmd_usage("%s: %s is too large; `unlimited` sets no limit", name, word);
    if (n == 0) return cmd_usage("%s must not be 0", name);
    *out = n;
    return CMD_OK;
}

static int take_fuel(void *base, const char *word) {
    struct limits *l = base;
    l->fuel_word = word;
    return parse("--fuel", word, 1000, UINT64_MAX, &l->fuel);
}

static int take_memory(void *base, const char *word) {
    struct limits *l = base;
    uint64_t n = l->memory;
    int status = parse("--memory", word, 1024, SIZE_MAX, &n);
    l->memory = (size_t)n;
    l->memory_word = word;
    return status;
}

const struct option limits_options[LIMITS_OPTIONS] = {
    {"Limits", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--fuel", OPTION_CALL, 0, "N",
     "at most N units of work, about one for each instruction and element; K, M "
     "and G (thousands) may follow; `unlimited`; " LIMITS_FUEL_WORD " unless given",
     take_fuel},
    {"--memory", OPTION_CALL, 0, "SIZE",
     "at most so many bytes; K, M and G (1024) may follow; `unlimited`; " LIMITS_MEMORY_WORD
     " unless given",
     take_memory},
};

/* ---- memory ---------------------------------------------------------------------------------- */

static void *resize(void *ctx, void *p, size_t old_size, size_t new_size) {
    struct limits *l = ctx;
    if (new_size > old_size && new_size - old_size > l->memory - l->used) {
        l->refused = true;
        return NULL;
    }
    void *block = NULL;
    if (new_size)
        block = realloc(p, new_size);
    else
        free(p);
    if (new_size && !block) return NULL;
    l->used = l->used - old_size + new_size;
    return block;
}

mwl_alloc limits_alloc(struct limits *l) {
    mwl_alloc alloc = {resize, l};
    return alloc;
}

void limits_report(const struct limits *l, mwl_status why, const char *where) {
    bool fuel = why == MWL_E_FUEL;
    const char *name = fuel ? "--fuel" : "--memory", *word = fuel ? l->fuel_word : l->memory_word;
    if (word)
        cmd_note("%s %s was used up%s", name, word, where);
    else
        cmd_note("%s %s, the default, was used up%s; `%s %s` or `%s unlimited` allows more", name,
                 fuel ? LIMITS_FUEL_WORD : LIMITS_MEMORY_WORD, where, name, fuel ? "N" : "SIZE",
                 name);
}
