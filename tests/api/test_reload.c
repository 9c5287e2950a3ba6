/* test_reload.c: new programs for new runs while old runs finish; a VM does not grow with reloads.
 */
#include "utest.h"

#include "run_flow.h"
#include "styles.h"

#define VERSION(n)                                                                                 \
    FLOW("'a':{'action':'Sleep','for':'PT1H','next':'z'},'z':{'action':'Return','value':{'"        \
         "version':" n "}}")

UTEST(reload, old_runs_finish_on_the_old_program) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    mwl_run *old[2];
    for (int i = 0; i < 2; i++) {
        ASSERT_TRUE(flow_load(&f, i ? VERSION("2") : VERSION("1")));
        ASSERT_EQ((int)mwl_run_start(f.vm, f.program, NULL, &old[i], NULL), (int)MWL_OK);
        ASSERT_EQ((int)mwl_vm_forget(f.vm, f.program), (int)MWL_OK); /* when its run is freed */
        mwl_program_release(f.program);
        f.program = NULL;
        mwl_vm_pump(f.vm, 0);
    }
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    for (int i = 0; i < 2; i++) {
        EXPECT_EQ(mwl_as_number(mwl_object_get(mwl_run_value(old[i]), "version", 7)), i + 1);
        mwl_run_free(old[i]);
    }
    flow_close(&f);
}

/* What the VM holds after n reloads, each with a run; the program is forgotten before or after its
 * last run. */
static size_t held_after(int n, bool before) {
    counted memory = {0, 0};
    flow f;
    memset(&f, 0, sizeof f);
    mwl_config c = mwl_config_default();
    c.alloc = (mwl_alloc){counted_fn, &memory};
    c.virtual_time = true;
    if (mwl_vm_new(&c, &f.vm) < 0 || mwl_std_register(f.vm, NULL) < 0) return 0;
    for (int i = 0; i < n; i++) {
        if (!flow_load(&f, VERSION("1")) || !flow_start(&f, "null")) return 0;
        if (before && mwl_vm_forget(f.vm, f.program) < 0) return 0;
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        mwl_run_free(f.run);
        f.run = NULL;
        if (!before && mwl_vm_forget(f.vm, f.program) < 0) return 0;
        if (mwl_vm_forget(f.vm, f.program) != MWL_E_NOT_FOUND) return 0;
        mwl_program_release(f.program);
        f.program = NULL;
    }
    size_t held = memory.bytes;
    flow_close(&f);
    return memory.bytes ? 0 : held;
}

UTEST(reload, a_vm_does_not_grow) {
    for (int before = 0; before < 2; before++) {
        size_t few = held_after(3, before), many = held_after(40, before);
        EXPECT_NE(few, 0u);
        EXPECT_EQ(few, many);
    }
}

UTEST(reload, a_program_that_is_started_again_is_not_forgotten) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(&f, VERSION("7")));
    ASSERT_TRUE(flow_start(&f, "null"));
    EXPECT_EQ((int)mwl_vm_forget(f.vm, f.program), (int)MWL_OK);
    mwl_run *second;
    ASSERT_EQ((int)mwl_run_start(f.vm, f.program, NULL, &second, NULL), (int)MWL_OK);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_run_free(second);
    flow_finish(&f);
    EXPECT_EQ((int)mwl_vm_forget(f.vm, f.program), (int)MWL_OK); /* it was still held */
    mwl_program *other = mwl_program_keep(f.program);
    mwl_program_release(other);
    flow_close(&f);
}

UTEST(reload, a_copy_outlives_its_program) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    mwl_heap *h = mwl_vm_heap(f.vm);
    ASSERT_TRUE(flow_load(
        &f,
        FLOW("'a':{'action':'Return','value':{'k':['text',{'n':[null,true,1.5,{}]}],'e':[]}}")));
    ASSERT_TRUE(flow_start(&f, "null"));
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_value kept = mwl_value_copy(h, mwl_run_value(f.run));
    EXPECT_TRUE(mwl_value_equal(kept, mwl_run_value(f.run)));
    mwl_run_free(f.run);
    mwl_vm_forget(f.vm, f.program);
    mwl_program_release(f.program);
    f.run = NULL;
    f.program = NULL;
    char *text;
    size_t len;
    ASSERT_EQ((int)mwl_json_write(h, kept, MWL_JSON_COMPACT, &text, &len), (int)MWL_OK);
    EXPECT_STREQ(text, "{\"k\":[\"text\",{\"n\":[null,true,1.5,{}]}],\"e\":[]}");
    mwl_text_free(h, text, len);
    mwl_value_drop(h, kept);
    mwl_value some = mwl_optional(h, mwl_bytes(h, "ab", 2)), again = mwl_value_copy(h, some);
    EXPECT_TRUE(mwl_value_equal(some, again));
    mwl_value_drop(h, some);
    mwl_value_drop(h, again);
    flow_close(&f);
}

UTEST_MAIN()
