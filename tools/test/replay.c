/* replay.c: one case, run and shown; see test_replay. */
#include "tools/base/cmd.h"
#include "tools/base/term.h"
#include "tools/test/test_case.h"

#include <stdio.h>
#include <string.h>

int test_replay(const char *file) {
    struct test_list list;
    struct test_outcome o;
    memset(&list, 0, sizeof list);
    int status = test_find(&list, file);
    struct test_programs *programs = test_programs_new(NULL, 0, false);
    if (status == CMD_OK && list.count != 1)
        status = cmd_usage("%s is a folder of %zu cases; one file is wanted", file, list.count);
    if (status == CMD_OK && programs) {
        const struct test_run how = {.programs = programs, .seed = 1, .story = true};
        test_run_case(&how, &list.cases[0], &o);
        if (o.story.len) term_lines(stdout, o.story.data, o.story.len);
        if (o.text.len) term_lines(stdout, o.text.data, o.text.len);
        status = o.status == TEST_PASSED ? CMD_OK : CMD_FAILED;
        test_outcome_free(&o);
    }
    test_programs_free(programs);
    test_list_free(&list);
    return programs ? status : CMD_LIMIT;
}
