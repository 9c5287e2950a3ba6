/* test_reload.c: new programs for new runs while old runs finish; a VM does not grow with reloads.
 */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

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
        EXPECT_EQ(mwl_as_number(mwl_get(mwl_run_value(old[i]), "version")), i + 1);
        mwl_run_free(old[i]);
    }
    flow_close(&f);
}

/* Returns the memory of the VM after n reloads, each with a run; mwl_vm_forget is called before or
 * after the last run of a program. */
static size_t held_after(int n, bool before) {
    counted memory = {0, 0};
    flow f;
    memset(&f, 0, sizeof f);
    mwl_config c = mwl_config_default();
    c.alloc = (mwl_alloc){counted_fn, &memory};
    c.virtual_time = true;
    if (mwl_vm_new(&c, &f.vm) < 0 || mwl_std_add(f.vm, MWL_STD_ALL, NULL) < 0) return 0;
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

/* ---- a program in the very place of one that is gone ----------------------------------------- */

/* Returns the same addresses again, in the same order, after everything was freed. */
typedef struct places {
    size_t at, live;
    _Alignas(16) unsigned char bytes[1 << 18];
} places;

static void *places_fn(void *ctx, void *p, size_t old, size_t now) {
    places *s = ctx;
    void *to = NULL;
    if (now) {
        size_t size = (now + 15) / 16 * 16;
        if (s->at + size > sizeof s->bytes) return NULL;
        to = s->bytes + s->at;
        s->at += size;
        s->live++;
        if (p) memcpy(to, p, old < now ? old : now);
    }
    if (p && --s->live == 0) s->at = 0;
    return to;
}

static const char counts_doc[] =
    "{'$schema':'https://mwl.dev/v0.1/provider/schema.json','uri':'mwl:provider.middleware/acme/counts/v1',"
    "'codePrefix':'Counts','description':'A test.','attachment':['step','flow'],'phases':{'onEntry':{'action':{"
    "'kind':'side-effect','description':'Acts.'}}},'metadata':{'type':'object','properties':{'count':{'type':"
    "'number'},'other':{'type':'number'}}},'failureCatalog':{'closed':[],'open':[]}}";

static void counts_entry(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_contribute(phase, "other", mwl_number(42));
}

#define READS(name)                                                                                \
    FLOW(                                                                                          \
        "'a':{'action':'Call','call':{'provider':" MOCK ",'with':{'value':1}},"                    \
        "'middleware':[{'provider':'mwl:provider.middleware/acme/counts/v1','onSuccess':{'value':" \
        "'{{ middleware.metadata." name " }}'}}],'next':'z'},'z':{'action':'Return'}")

UTEST(reload, nothing_is_remembered_of_a_program_that_is_gone) {
    static places room;
    const mwl_alloc alloc = {places_fn, &room};
    char *document = flow_quoted(counts_doc);
    const mwl_asm_provider documents[] = {{"counts", document, strlen(document)}};
    const mwl_middleware m = {.uri = "mwl:provider.middleware/acme/counts/v1",
                              .document = document,
                              .run_count = "count",
                              .entry = counts_entry};
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_EQ((int)mwl_vm_provide_middleware(f.vm, &m, 1, NULL, NULL), (int)MWL_OK);
    const void *place[2];
    for (int i = 0; i < 2; i++) {
        char *text = flow_quoted(i ? READS("other") : READS("count"));
        mwl_asm_options options;
        memset(&options, 0, sizeof options);
        options.providers = documents;
        options.n_providers = 1;
        mwl_asm_result out;
        mwl_status st = mwl_assemble(text, strlen(text), &options, &out);
        ASSERT_EQ((int)st, (int)MWL_OK);
        ASSERT_EQ(
            (int)mwl_program_load(&alloc, out.image, out.image_size, MWL_COPY, &f.program, NULL),
            (int)MWL_OK);
        place[i] = f.program;
        mwl_asm_free(&out);
        free(text);
        EXPECT_STREQ(flow_again(&f, "null"),
                     i ? "{'type':'success','value':42}" : "{'type':'success','value':1}");
        EXPECT_EQ((int)mwl_vm_forget(f.vm, f.program), (int)MWL_OK);
        mwl_program_release(f.program);
        f.program = NULL;
    }
    EXPECT_TRUE(place[0] == place[1]); /* otherwise nothing was tested */
    flow_close(&f);
    free(document);
}

UTEST_MAIN()
