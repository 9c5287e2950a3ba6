/* suite.h: what the mwl-suite runner and its kinds share.
 *
 * A kind is in suite_<kind>.c. It defines `int suite_<kind>(struct suite *s, const char *dir)` and,
 * if it skips cases, `const char suite_<kind>_skips[]`: what it skips and why, for --help. It has a
 * row in SUITE_KINDS. */
#ifndef MWL_SUITE_H
#define MWL_SUITE_H

#include <stdbool.h>
#include <stddef.h>

/* identifier, name on the command line, what DIR contains */
#define SUITE_KINDS(X)                                                                             \
    X(json, "json", "JSON texts: y_* accepted, n_* rejected, i_* either, no crash")                \
    X(jcs, "jcs", "RFC 8785: input/X canonical is output/X byte for byte")                         \
    X(json_schema, "json-schema", "JSON Schema 2020-12 groups: schema, tests[]")                   \
    X(mwl_schemas, "mwl-schemas", "MWL's meta-schemas (spec/) over documents (schemas/)")          \
    X(cel, "cel", "CEL conformance tests")                                                         \
    X(mwl, "mwl", "MWL conformance cases, or meta-schema examples (valid/, invalid/)")

struct suite {
    unsigned long passed, failed, skipped;
    bool verbose;       /* a line for passed and skipped cases too */
    bool quiet;         /* no line per failing case */
    const char *filter; /* run only cases whose name contains this; NULL: all */
    bool real_time;     /* mwl: use the clock of the system */
    bool resave;        /* mwl: move the run through bytes whenever it is at rest: resave.h */
    const char *images; /* mwl: folder of programs that were assembled elsewhere; images.h */
    const char *saves;  /* mwl: folder of runs that were saved elsewhere; images.h */
    bool swap;          /* mwl: programs are loaded with records of the other byte order */
    const char *reader; /* json: "data" or "definition"; NULL: data */
};

/* The function of a kind: runs every case under dir with the functions below. Returns 0; or -1,
 * after a message, if dir does not have the layout of the kind. Failing cases are only counted. */
#define SUITE_X(id, name, text) int suite_##id(struct suite *s, const char *dir);
SUITE_KINDS(SUITE_X)
#undef SUITE_X

/* Returns whether the filter selects the case. Call it before running the case. */
bool suite_wants(const struct suite *s, const char *name);

/* Call exactly one of these for each case. The text after `name` is the reason. */
void suite_pass(struct suite *s, const char *name);
void suite_fail(struct suite *s, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void suite_skip(struct suite *s, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The names in a folder, sorted by byte, without those that begin with a dot. */
struct suite_list {
    char **names;
    size_t count;
};
bool suite_list_dir(const char *dir, struct suite_list *out); /* false: a message was printed */
void suite_list_free(struct suite_list *list);

/* Calls visit(user, path, relative) for every regular file under dir, folders depth first, sorted.
 * If visit returns false the walk ends. Returns false if a folder could not be read. */
bool suite_walk(const char *dir, bool (*visit)(void *user, const char *path, const char *relative),
                void *user);

bool suite_is_dir(const char *path);
bool suite_exists(const char *path);

/* Returns the whole file with a NUL after it, malloc'd; NULL if it cannot be read (no message). */
char *suite_read(const char *path, size_t *size);

/* Returns "dir/name" in malloc'd memory. These two end the program if out of memory. */
char *suite_path(const char *dir, const char *name);
void *suite_alloc(size_t size);

#endif
