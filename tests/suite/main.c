/* main.c: `mwl-suite KIND DIR`: runs test data of other projects against this build.
 *
 * Owns: the command line, the last line, the exit status. A kind that never skips does not define
 * suite_<kind>_skips, so that is a weak reference. */
#include "tests/suite/suite.h"

#include <stdio.h>
#include <string.h>

#define SUITE_X(id, name, text) extern const char suite_##id##_skips[] __attribute__((weak));
SUITE_KINDS(SUITE_X)
#undef SUITE_X

static const struct kind {
    const char *name, *text;
    int (*run)(struct suite *, const char *);
    const char *skips;
} kinds[] = {
#define SUITE_X(id, name, text) {name, text, suite_##id, suite_##id##_skips},
    SUITE_KINDS(SUITE_X)
#undef SUITE_X
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static int print_help(void) {
    printf(
        "usage: mwl-suite [-v] [-q] [--filter TEXT] [--reader=NAME] [--real-time]\n"
        "                 [--resave] [--saves=DIR] [--images=DIR] [--swap] KIND DIR\n"
        "       mwl-suite --help\n\n"
        "Runs the test data in DIR. Prints a line per failing case and closes with\n"
        "'N passed, N failed, N skipped'. Exit status: 0 none failed, 1 some failed,\n"
        "2 wrong usage or DIR has not the kind's shape.\n\n"
        "  -v             a line for passed and skipped cases too\n"
        "  -q             no line per failing case\n"
        "  --filter TEXT  only cases whose name contains TEXT\n"
        "  --reader=NAME  json: data (the default), or definition, which also refuses\n"
        "                 repeated member names; for that alone it fails no case\n"
        "  --real-time    mwl: under the system's clock; else waits cost no time\n"
        "  --resave       mwl: whenever a run is at rest it is saved and goes on in another\n"
        "                 VM, where saving it again gives the same bytes; a listener hears the\n"
        "                 same events; always in a stress build, under virtual time\n"
        "  --saves=DIR    mwl: --resave, and the first saves of each scenario are compared with\n"
        "                 those in DIR byte by byte, and the ones in DIR go on; one that is\n"
        "                 not there is written\n"
        "  --images=DIR   mwl: programs are compared with those in DIR byte by byte, and the\n"
        "                 ones in DIR are run; one that is not there is written\n"
        "  --swap         mwl: programs are loaded with records of the other byte order\n\n"
        "KIND is one of:\n");
    for (size_t i = 0; i < N_KINDS; i++) printf("  %-12s %s\n", kinds[i].name, kinds[i].text);
    printf("\nWhat is skipped, and why:\n");
    bool any = false;
    for (size_t i = 0; i < N_KINDS; i++) {
        if (!kinds[i].skips) continue;
        printf("  %s: %s\n", kinds[i].name, kinds[i].skips);
        any = true;
    }
    if (!any) printf("  nothing\n");
    return EXIT_OK;
}

static int wrong_usage(const char *what, const char *word) {
    fprintf(stderr, "mwl-suite: %s%s; 'mwl-suite --help' prints the usage\n", what, word);
    return EXIT_USAGE;
}

static const struct kind *find_kind(const char *name) {
    for (size_t i = 0; i < N_KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
    return NULL;
}

int main(int argc, char **argv) {
    struct suite s = {0};
    const char *operand[2] = {NULL, NULL};
    int n = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return print_help();
        if (strcmp(argv[i], "-v") == 0)
            s.verbose = true;
        else if (strcmp(argv[i], "-q") == 0)
            s.quiet = true;
        else if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc)
            s.filter = argv[++i];
        else if (strcmp(argv[i], "--real-time") == 0)
            s.real_time = true;
        else if (strcmp(argv[i], "--resave") == 0)
            s.resave = true;
        else if (strcmp(argv[i], "--swap") == 0)
            s.swap = true;
        else if (strncmp(argv[i], "--images=", 9) == 0)
            s.images = argv[i] + 9;
        else if (strncmp(argv[i], "--saves=", 8) == 0)
            s.resave = true, s.saves = argv[i] + 8;
        else if (strcmp(argv[i], "--reader=data") == 0 ||
                 strcmp(argv[i], "--reader=definition") == 0)
            s.reader = strchr(argv[i], '=') + 1;
        else if (argv[i][0] == '-')
            return wrong_usage("unknown option ", argv[i]);
        else if (n == 2)
            return wrong_usage("more than KIND and DIR: ", argv[i]);
        else
            operand[n++] = argv[i];
    }
    if (n != 2) return wrong_usage("KIND and DIR are needed", "");
    const struct kind *kind = find_kind(operand[0]);
    if (!kind) return wrong_usage("no such kind: ", operand[0]);
    if (!suite_is_dir(operand[1])) return wrong_usage("not a folder: ", operand[1]);
    setvbuf(stdout, NULL, _IOLBF, 0); /* earlier lines must not get lost in a crash */
    if (kind->run(&s, operand[1]) < 0) return EXIT_USAGE;
    if (s.passed + s.failed + s.skipped == 0) return wrong_usage("no cases in ", operand[1]);
    printf("%lu passed, %lu failed, %lu skipped\n", s.passed, s.failed, s.skipped);
    return s.failed ? EXIT_FAILED : EXIT_OK;
}
