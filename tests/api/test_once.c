/* test_once.c: every field with an expression is evaluated exactly once per execution of its
 * construct. A function of the host counts: once('name=2', v) returns v and must have been called
 * twice when the run of once.json has ended. */
#include "utest.h"

#include "tests/unit/run_flow.h"

enum { LABELS = 128, LABEL_SIZE = 40 };
static struct {
    char name[LABEL_SIZE];
    int count;
} seen[LABELS];
static int n_seen;

static mwl_value once(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)fn;
    (void)n_args;
    size_t len;
    const char *name = mwl_as_text(args[0], &len);
    int at = 0;
    while (at < n_seen && strcmp(seen[at].name, name) != 0) at++;
    if (at == n_seen && n_seen < LABELS) snprintf(seen[n_seen++].name, LABEL_SIZE, "%s", name);
    seen[at].count++;
    return mwl_value_keep(args[1]);
}
static const mwl_function_def counter = {
    "once", once, 2, 2, MWL_FN_GLOBAL | MWL_FN_IMPURE, "once(string, any) -> any"};

/* How many labels the definition has with a count above 0. */
static int labels_of(const char *text) {
    int n = 0;
    for (const char *p = text; (p = strstr(p, "{{ once(")); p++) {
        const char *end = strchr(p, '=');
        n += end[1] != '0';
    }
    return n;
}

static const char *run_once(uint32_t slice, const char *text) {
    static char wrong[400];
    const mwl_function_def *const functions[] = {&counter, NULL};
    const mwl_asm_options options = {.functions = functions};
    mwl_config c = mwl_config_default();
    mwl_asm_result out;
    flow f;
    memset(&f, 0, sizeof f);
    memset(seen, 0, sizeof seen);
    n_seen = 0;
    wrong[0] = 0;
    c.virtual_time = true;
    c.slice = slice;
    if (mwl_vm_new(&c, &f.vm) < 0 || mwl_std_add(f.vm, MWL_STD_ALL, NULL) < 0 ||
        mwl_vm_functions(f.vm, &counter, 1) < 0)
        return "no VM";
    mwl_status st = mwl_assemble(text, strlen(text), &options, &out);
    if (st == MWL_OK)
        st = mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &f.program, NULL);
    else
        snprintf(wrong, sizeof wrong, "%.390s", out.diagnostics);
    mwl_asm_free(&out);
    if (st == MWL_OK && flow_start(&f, "1")) {
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        if (mwl_run_get_state(f.run) != MWL_RUN_DONE)
            snprintf(wrong, sizeof wrong, "it does not end");
        flow_finish(&f);
    }
    flow_close(&f);
    for (int i = 0; i < n_seen && !wrong[0]; i++)
        if (seen[i].count != atoi(strchr(seen[i].name, '=') + 1))
            snprintf(wrong, sizeof wrong, "%.40s: evaluated %d times", seen[i].name, seen[i].count);
    if (!wrong[0] && n_seen != labels_of(text))
        snprintf(wrong, sizeof wrong, "%d fields evaluated of %d; %.200s", n_seen, labels_of(text),
                 f.result);
    return wrong;
}

UTEST(once, every_field) {
    static char text[20000];
    FILE *f = fopen(MWL_SOURCE_DIR "/tests/api/once.json", "rb");
    ASSERT_TRUE(f != NULL);
    size_t len = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    ASSERT_TRUE(len > 0 && len < sizeof text - 1);
    EXPECT_GT(labels_of(text), 60);
    EXPECT_STREQ(run_once(100000, text), "");
    EXPECT_STREQ(run_once(1, text), ""); /* a yield in the middle evaluates nothing again */
}

UTEST_MAIN()
