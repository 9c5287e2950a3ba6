/* options.h: what a session needs to know of a command line: the struct that `mwlvm run` and its
 * kin fill in (tools/run/run_options.h). */
#ifndef MWL_TOOLS_SESSION_OPTIONS_H
#define MWL_TOOLS_SESSION_OPTIONS_H

#include "tools/host/bind.h"
#include "tools/host/definition.h"
#include "tools/host/permissions.h"
#include "tools/host/remote.h"
#include "tools/show/trace.h"

#include <stdbool.h>
#include <stdint.h>

/* Where runs are kept: the one row of every command that has it. */
#define STORE_WHERE "a file, or a database, postgresql://USER@HOST/DATABASE"
#define STORE_OPTION(at, text)                                                                     \
    { "--store", OPTION_WORD, at, "FILE|URL", text, NULL }

struct run_options {
    struct definition definition; /* FILE; how to assemble; limits */
    const char *input, *arguments, *id, *trace_file, *record, *report;
    const char *save, *save_at; /* FILE; a Step */
    const char *durable;        /* the store */
    bool unfinished;            /* of resume: every run of the store that is not over */
    bool detach;                /* with durable: accept the run, and end */
    struct word_list args, bind_words;
    struct binds binds; /* of bind_words, when they are read */
    struct word_list remote_words;
    struct remotes remotes; /* the same */
    struct permissions permissions;
    uint64_t seed;
    int64_t virtual_start_ns; /* when virtual time begins, wall; 0: the default of the VM */
    enum trace_form trace;
    bool stdin_taken; /* something reads standard input: the input does not, unasked */
    bool virtual_time, whole_result, pretty, compact, verbose, quiet;
    /* --each */
    bool each, unordered, numbered, fail_fast;
    uint64_t from;                  /* the first line that is run; 0: all */
    const char *each_file, *second; /* NULL: standard input; second: the word behind FILE */
    uint32_t jobs, concurrency;     /* 0: the defaults */
};

#endif
