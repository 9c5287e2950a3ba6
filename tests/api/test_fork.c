/* test_fork.c: processes that fork() made of one do not generate the same ids, and so not the same
 * keys of calls. */
#include "utest.h"

#include "tests/unit/run_flow.h"

#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3, ID = 64 };

/* Starts a run in this process, and writes its id. A host's clock may stand still. */
static void still(void *ctx, mwl_instant *out) { (void)ctx, *out = (mwl_instant){1, 1}; }
static mwl_vm *new_vm(void) {
    const mwl_config config = {.clock = {still, NULL}};
    mwl_vm *vm = NULL;
    return mwl_vm_new(&config, &vm) == MWL_OK ? vm : NULL;
}
static void start_and_tell(mwl_vm *vm, mwl_program *program, int to) {
    char id[ID] = "";
    mwl_run *run = NULL;
    if (mwl_run_start(vm, program, NULL, &run, NULL) == MWL_OK)
        snprintf(id, sizeof id, "%s", mwl_run_id(run));
    ssize_t n = write(to, id, sizeof id);
    _exit(n == (ssize_t)sizeof id ? 0 : 1);
}

/* The ids that forked workers generate: with the VM of their parent, or NULL: each with its own. */
static bool ids_of_workers(mwl_vm *vm, mwl_program *program, char ids[WORKERS][ID]) {
    bool good = true;
    for (int i = 0; i < WORKERS && good; i++) {
        int ends[2], how = 1;
        if (pipe(ends) != 0) return false;
        pid_t child = fork();
        if (child == 0) start_and_tell(vm ? vm : new_vm(), program, ends[1]);
        close(ends[1]);
        good = child > 0 && read(ends[0], ids[i], ID) == ID && strlen(ids[i]) > 8;
        close(ends[0]);
        if (child > 0) waitpid(child, &how, 0);
    }
    return good;
}

UTEST(fork, workers_do_not_generate_the_same_ids) {
    flow f;
    char ids[2 * WORKERS + 1][ID];
    mwl_run *run = NULL;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Return'}")));
    mwl_vm *vm = new_vm();
    ASSERT_TRUE(ids_of_workers(vm, f.program, ids));
    ASSERT_TRUE(ids_of_workers(NULL, f.program, ids + WORKERS));
    ASSERT_EQ((int)mwl_run_start(vm, f.program, NULL, &run, NULL), (int)MWL_OK);
    snprintf(ids[2 * WORKERS], ID, "%s", mwl_run_id(run));
    for (int i = 0; i <= 2 * WORKERS; i++)
        for (int j = 0; j < i; j++) EXPECT_STRNE(ids[i], ids[j]);
    mwl_vm_free(vm);
    flow_close(&f);
}

/* Under virtual time a seed repeats its ids, wherever it is. */
UTEST(fork, virtual_time_repeats_them) {
    flow f;
    char ids[WORKERS][ID];
    ASSERT_TRUE(flow_vm(&f, 7));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Return'}")));
    ASSERT_TRUE(ids_of_workers(f.vm, f.program, ids));
    for (int i = 1; i < WORKERS; i++) EXPECT_STREQ(ids[i], ids[0]);
    flow_close(&f);
}

UTEST_MAIN()
