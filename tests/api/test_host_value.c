/* test_host_value.c: what a host gives to a run is checked as the result of an expression is. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"
#include "tests/api/told.h"

#include <math.h>

#define ODD STYLES_URI("odd")
#define ODD_BLOCKING STYLES_URI("odd-blocking")
#define CALL(uri)                                                                                  \
    FLOW("'a':{'action':'Call','call':{'provider':'" uri "'},'next':'z'},'z':{'action':'Return'}")

/* What the provider settles with. */
static void (*settle)(mwl_call *call);

static void odd(mwl_call *call, void *user) {
    (void)user;
    settle(call);
}

static const mwl_call_provider providers[] = {
    {.uri = ODD, .document = STYLES_DOC("odd"), .start = odd},
    {.uri = ODD_BLOCKING, .document = STYLES_DOC("odd-blocking"), .blocking = odd},
};

static bool open_with(flow *f, size_t stack_bytes) {
    memset(f, 0, sizeof *f);
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    c.stack_bytes = stack_bytes;
    static mwl_asm_provider documents[2];
    for (size_t i = 0; i < 2; i++)
        documents[i] = (mwl_asm_provider){providers[i].uri, providers[i].document,
                                          strlen(providers[i].document)};
    f->documents = documents;
    f->n_documents = 2;
    return mwl_vm_new(&c, &f->vm) == MWL_OK && mwl_std_add(f->vm, MWL_STD_ALL, NULL) == MWL_OK &&
           mwl_vm_provide(f->vm, providers, 2, NULL, NULL) == MWL_OK;
}

/* ---- successes ------------------------------------------------------------------------------- */

static void gives_int(mwl_call *c) { mwl_call_succeed(c, mwl_int(5)); }
static void gives_uint(mwl_call *c) { mwl_call_succeed(c, mwl_uint(UINT64_C(1) << 53)); }
static void gives_big_int(mwl_call *c) { mwl_call_succeed(c, mwl_int((INT64_C(1) << 53) + 1)); }
static void gives_nan(mwl_call *c) { mwl_call_succeed(c, mwl_number((double)NAN)); }
static void gives_bytes(mwl_call *c) { mwl_call_succeed(c, mwl_bytes(mwl_call_heap(c), "x", 1)); }
static void gives_timestamp(mwl_call *c) { mwl_call_succeed(c, mwl_timestamp(0, 0)); }
static void gives_nested(mwl_call *c) {
    mwl_heap *h = mwl_call_heap(c);
    mwl_value list = mwl_array_push(h, mwl_array(h, 1), mwl_int(-7));
    mwl_call_succeed(c, mwl_object_set(h, mwl_object(h, 1), "list", 4, list));
}
static void gives_nested_bytes(mwl_call *c) {
    mwl_heap *h = mwl_call_heap(c);
    mwl_value list = mwl_array_push(h, mwl_array(h, 1), mwl_bytes(h, "x", 1));
    mwl_call_succeed(c, mwl_object_set(h, mwl_object(h, 1), "list", 4, list));
}
static void gives_duration(mwl_call *c) { mwl_call_succeed(c, mwl_duration(1)); }
static void gives_nested_nan(mwl_call *c) {
    mwl_heap *h = mwl_call_heap(c);
    mwl_call_succeed(c, mwl_array_push(h, mwl_array(h, 1), mwl_number((double)NAN)));
}
static void gives_int_key(mwl_call *c) {
    mwl_heap *h = mwl_call_heap(c);
    mwl_call_succeed(c, mwl_object_put(h, mwl_object(h, 1), mwl_int(1), mwl_null()));
}
static void gives_deep(mwl_call *c) {
    mwl_heap *h = mwl_call_heap(c);
    mwl_value v = mwl_null();
    for (int i = 0; i < 2000; i++) v = mwl_array_push(h, mwl_array(h, 1), v);
    mwl_call_succeed(c, v);
}
static void gives_latin1(mwl_call *c) {
    mwl_call_succeed(c, mwl_string(mwl_call_heap(c), "caf\xE9", 4));
}

/* ---- failures -------------------------------------------------------------------------------- */

static void fails_latin1(mwl_call *c) {
    mwl_call_fail(c, NULL, "Acme.No", "caf\xE9 \xE2\x82", mwl_absent());
}
static void fails_latin1_code(mwl_call *c) { mwl_call_fail(c, NULL, "\xE9", NULL, mwl_absent()); }
static void fails_without_code(mwl_call *c) { /* a mistake of the host: the call is not settled */
#ifdef NDEBUG                                 /* other builds stop the process: test_misuse.c */
    if (mwl_call_fail(c, NULL, NULL, NULL, mwl_null()) != MWL_E_USAGE) return;
#endif
    mwl_call_fail(c, NULL, "Acme.No", NULL, mwl_absent());
}
static void fails_as_success(mwl_call *c) {
    mwl_call_fail(c, "success", "Acme.No", NULL, mwl_absent());
}
static void fails_with_int(mwl_call *c) { mwl_call_fail(c, NULL, "Acme.No", NULL, mwl_int(3)); }
static void fails_with_bytes(mwl_call *c) {
    mwl_call_fail(c, NULL, "Acme.No", NULL, mwl_bytes(mwl_call_heap(c), "x", 1));
}

/* ---- Results --------------------------------------------------------------------------------- */

static const char *result_text;
static void settles_text(mwl_call *c) {
    mwl_value v = mwl_absent();
    char *text = flow_quoted(result_text);
    (void)mwl_json_parse(mwl_call_heap(c), text, strlen(text), &v, NULL);
    free(text);
    mwl_call_settle(c, v);
}

#define REFUSED(reason) "{'code':'Mwlvm.ResultRefused','message':'" reason "','type':'error'}"

#define MEMBERS                                                                                    \
    "a failure has only `type`, `code`, `message`, `details`, `retryable` and `previous`"

UTEST(given, what_a_call_settles_with) {
    static const struct {
        void (*settle)(mwl_call *call);
        const char *text, *result;
    } rows[] = {
        {gives_int, NULL, "{'type':'success','value':5}"},
        {gives_uint, NULL, "{'type':'success','value':9007199254740992}"},
        {gives_nested, NULL, "{'type':'success','value':{'list':[-7]}}"},
        {gives_big_int, NULL,
         REFUSED("the value is the int 9007199254740993, beyond 2^53, which has no JSON form")},
        {gives_nan, NULL, REFUSED("the value is NaN, which has no JSON form")},
        {gives_bytes, NULL, REFUSED("the value is bytes, which has no JSON form")},
        {gives_timestamp, NULL, REFUSED("the value is a timestamp, which has no JSON form")},
        {gives_nested_bytes, NULL,
         REFUSED("the value at ['list'][0] is bytes, which has no JSON form")},
        {gives_duration, NULL, REFUSED("the value is a duration, which has no JSON form")},
        {gives_nested_nan, NULL, REFUSED("the value at [0] is NaN, which has no JSON form")},
        {gives_int_key, NULL,
         REFUSED("the value is a map with a key of type int, which has no JSON form")},
        {gives_deep, NULL, REFUSED("the value could not be made: nested too deeply")},
        {gives_latin1, NULL, REFUSED("the value could not be made: the text is not valid UTF-8")},
        {fails_latin1, NULL,
         "{'code':'Acme.No','message':'caf\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD','type':'error'}"},
        {fails_latin1_code, NULL,
         REFUSED("the value could not be made: the text is not valid UTF-8")},
        {fails_without_code, NULL, "{'code':'Acme.No','type':'error'}"},
        {fails_as_success, NULL, REFUSED("a failure's `type` must not be 'success'")},
        {fails_with_int, NULL, "{'code':'Acme.No','details':3,'type':'error'}"},
        {fails_with_bytes, NULL,
         REFUSED("the failure at ['details'] is bytes, which has no JSON form")},
        {settles_text, "5", REFUSED("a failure must be an object")},
        {settles_text, "{}", REFUSED("a failure's `type` must be a string")},
        {settles_text, "{'type':5,'code':'A'}", REFUSED("a failure's `type` must be a string")},
        {settles_text, "{'type':'error'}", REFUSED("a failure's `code` must be a string")},
        {settles_text, "{'type':'error','code':'A','previous':7}",
         REFUSED("a failure's `previous` must be a non-success Result or null")},
        {settles_text, "{'type':'error','code':'A','extra':1}", REFUSED(MEMBERS)},
        {settles_text, "{'type':'error','code':'A','message':null}",
         REFUSED("a failure's `message` must be a string")},
        {settles_text,
         "{'type':'error','code':'A','previous':{'type':'error','code':'B','previous':"
         "{'type':'error','code':'C','value':1}}}",
         REFUSED(MEMBERS)},
        {settles_text,
         "{'type':'error','code':'A','previous':{'type':'error','code':'B','previous':"
         "{'type':'success','code':'C'}}}",
         REFUSED("a failure's `previous` must be a non-success Result or null")},
        {settles_text,
         "{'type':'error','code':'A','previous':{'type':'error','code':'B','retryable':1}}",
         REFUSED("a failure's `retryable` must be a boolean or null")},
        {settles_text,
         "{'type':'error','code':'A','previous':{'type':'error','code':'B','details':[1],'message':"
         "'m','previous':null,'retryable':null}}",
         "{'code':'A','previous':{'code':'B','details':[1],'message':'m','previous':null,"
         "'retryable':null,'type':'error'},'type':'error'}"},
        {settles_text, "{'type':'error','code':'A','previous':null}",
         "{'code':'A','previous':null,'type':'error'}"},
        {settles_text, "{'type':'success','value':[1]}", "{'type':'success','value':[1]}"},
        {settles_text, "{'type':'success'}", "{'type':'success','value':null}"},
    };
    static const char *const flows[] = {CALL(ODD), CALL(ODD_BLOCKING)};
    for (size_t k = 0; k < 2; k++) {
        flow f;
        ASSERT_TRUE(open_with(&f, 0));
        ASSERT_TRUE(flow_load(&f, flows[k]));
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            settle = rows[i].settle;
            result_text = rows[i].text;
            const char *result = flow_again(&f, "null");
            EXPECT_STREQ(result, rows[i].result);
        }
        flow_close(&f);
    }
}

/* ---- ids ------------------------------------------------------------------------------------- */

static char ids[8][64];
static size_t n_ids;

/* Fails twice, then succeeds: each attempt notes the id of the call. */
static void gives_id(mwl_call *c) {
    size_t len = mwl_call_id(c, ids[n_ids], sizeof ids[0]);
    if (len != strlen(ids[n_ids])) abort();
    if (n_ids++ % 3 < 2)
        mwl_call_fail(c, NULL, "Acme.No", NULL, mwl_absent());
    else
        mwl_call_succeed(c, mwl_null());
}

UTEST(given, the_id_of_a_call_is_that_of_its_Step) {
    flow f;
    settle = gives_id;
    n_ids = 0;
    ASSERT_TRUE(open_with(&f, 0));
    ASSERT_TRUE(flow_load(
        &f, FLOW("'a':{'action':'Call','call':{'provider':'" ODD "'},'middleware':[{'provider':"
                 "'mwl:provider.middleware/mwl/retry/v1','onEntry':{'with':{'policies':[{'match':"
                 "{'codes':['*']},'attempts':3}]}}}],'next':'g'},'g':{'action':'Gather','over':'{{"
                 "[1,2,3]}}','completion':{'successes':0},'call':{'provider':'" ODD
                 "'},'next':'z'},'z':{'action':'Return'}")));
    flow_again(&f, "null");
    ASSERT_EQ(n_ids, 6u);
    EXPECT_STREQ(ids[0], ids[1]);
    EXPECT_STREQ(ids[0], ids[2]);
    for (size_t i = 3; i < 6; i++)
        for (size_t k = 0; k < i; k++)
            if (k == 0 || k > 2) {
                EXPECT_STRNE(ids[i], ids[k]);
            }
    EXPECT_STREQ(strrchr(ids[5], '/'), "/2");
    flow_close(&f);
}

static double drawn[3];

static void draws(mwl_call *c) {
    for (size_t i = 0; i < 3; i++) drawn[i] = mwl_call_random(c);
    mwl_call_succeed(c, mwl_null());
}

UTEST(given, random_numbers_of_a_call_come_from_the_seed_of_the_run) {
    double first[3] = {0, 0, 0};
    for (int round = 0; round < 2; round++) {
        flow f;
        settle = draws;
        ASSERT_TRUE(open_with(&f, 0));
        ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Call','call':{'provider':'" ODD
                                       "'},'next':'z'},'z':{'action':'Return'}")));
        flow_again(&f, "null");
        for (size_t i = 0; i < 3; i++) {
            EXPECT_TRUE(drawn[i] >= 0 && drawn[i] < 1);
            if (round)
                EXPECT_EQ(drawn[i], first[i]);
            else
                first[i] = drawn[i];
        }
        EXPECT_NE(drawn[0], drawn[1]);
        flow_close(&f);
    }
}

UTEST(given, a_refused_value_can_be_caught) {
    flow f;
    settle = gives_bytes;
    ASSERT_TRUE(open_with(&f, 0));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Call','call':{'provider':'" ODD
                                   "'},'next':'z','catch':[{'match':{'codes':['Mwlvm.*']},"
                                   "'output':'caught','next':'z'}]},'z':{'action':'Return'}")));
    EXPECT_STREQ(flow_again(&f, "null"), "{'type':'success','value':'caught'}");
    flow_close(&f);
}

/* ---- the start of a run ---------------------------------------------------------------------- */

UTEST(given, what_a_run_starts_with) {
    flow f;
    ASSERT_TRUE(open_with(&f, 0));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Return'}")));
    mwl_heap *h = mwl_vm_heap(f.vm);
    mwl_error error = {MWL_OK, "", 0};
    mwl_start start = {.input = mwl_int(5)};
    ASSERT_EQ((int)mwl_run_start(f.vm, f.program, &start, &f.run, &error), (int)MWL_OK);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    flow_finish(&f);
    EXPECT_STREQ(f.result, "{\"type\":\"success\",\"value\":5}");

    start.input = mwl_bytes(h, "x", 1);
    EXPECT_EQ((int)mwl_run_start(f.vm, f.program, &start, &f.run, &error), (int)MWL_E_NOT_JSON);
    EXPECT_STREQ(error.message, "the input is bytes, which has no JSON form");
    mwl_value_drop(h, start.input);

    start.input = mwl_null();
    start.arguments = mwl_object_set(h, mwl_object(h, 1), "n", 1, mwl_number((double)INFINITY));
    EXPECT_EQ((int)mwl_run_start(f.vm, f.program, &start, &f.run, &error), (int)MWL_E_NOT_JSON);
    EXPECT_STREQ(error.message, "the arguments at ['n'] is infinity, which has no JSON form");
    mwl_value_drop(h, start.arguments);

    mwl_start named = {.id = "caf\xE9"};
    EXPECT_EQ((int)mwl_run_start(f.vm, f.program, &named, &f.run, &error), (int)MWL_E_UTF8);
    flow_close(&f);
}

static void waits(mwl_call *c) { (void)c; }

UTEST(given, a_reason_that_is_not_utf8_is_repaired) {
    flow f;
    settle = waits;
    ASSERT_TRUE(open_with(&f, 0));
    ASSERT_TRUE(flow_load(&f, CALL(ODD)) && flow_start(&f, "null"));
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_run_cancel(f.run, "\xE9");
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    flow_finish(&f);
    EXPECT_TRUE(strstr(f.result, "\"details\":{\"reason\":\"\xEF\xBF\xBD\"}") != NULL);
    flow_close(&f);
}

/* ---- functions ------------------------------------------------------------------------------- */

static mwl_value fails_in_latin1(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)args, (void)n_args;
    return mwl_fn_fail(fn, "caf\xE9");
}
static mwl_value returns_latin1(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)args, (void)n_args;
    return mwl_string(mwl_fn_heap(fn), "caf\xE9", 4);
}
static const mwl_function_def odd_functions[] = {
    {"odd.fails", fails_in_latin1, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "odd.fails()"},
    {"odd.returns", returns_latin1, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "odd.returns()"}};

UTEST(given, texts_of_functions) {
    static const char *const definitions[] = {
        FLOW("'a':{'action':'Return','value':'{{ odd.fails() }}'}"),
        FLOW("'a':{'action':'Return','value':'{{ odd.returns() }}'}")};
    static const char *const messages[] = {
        "'message':'caf\xEF\xBF\xBD'",
        "'message':'odd.returns() has made no value: the text is not valid UTF-8'"};
    const mwl_function_def *functions[] = {&odd_functions[0], &odd_functions[1], NULL};
    const mwl_asm_options options = {.functions = functions};
    for (size_t i = 0; i < 2; i++) {
        flow f;
        ASSERT_TRUE(flow_vm(&f, 1));
        ASSERT_EQ((int)mwl_vm_functions(f.vm, odd_functions, 2), (int)MWL_OK);
        mwl_asm_result out;
        char *text = flow_quoted(definitions[i]);
        ASSERT_EQ((int)mwl_assemble(text, strlen(text), &options, &out), (int)MWL_OK);
        ASSERT_EQ(
            (int)mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &f.program, NULL),
            (int)MWL_OK);
        mwl_asm_free(&out);
        free(text);
        const char *result = flow_again(&f, "null");
        EXPECT_TRUE(strstr(result, "'code':'System.ExpressionEvaluationError'") != NULL);
        if (!strstr(result, messages[i])) EXPECT_STREQ(result, messages[i]);
        flow_close(&f);
    }
}

/* ---- no stack -------------------------------------------------------------------------------- */

UTEST(given, without_a_stack_the_call_fails_and_cleanup_runs) {
    flow f;
    if (SIZE_MAX <= UINT32_MAX) {
        UTEST_SKIP("with 32 bits, a system can give each stack that may be asked for");
    }
    settle = gives_int;
    ASSERT_TRUE(open_with(&f, SIZE_MAX / 16)); /* more than the system gives */
    ASSERT_TRUE(flow_load(
        &f,
        FLOW("'a':{'action':'Call','call':{'provider':'" ODD_BLOCKING
             "'},'middleware':[{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK
             ",'with':{'outcomes':[{'type':'error','code':'Cleanup.Ran'}]}}}}}],'next':'z'},"
             "'z':{'action':'Return'}")));
    const char *result = flow_again(&f, "null");
    EXPECT_TRUE(strstr(result, "Cleanup.Ran") != NULL);
    EXPECT_TRUE(strstr(result, "'code':'Mwlvm.NoStack'") != NULL);
    EXPECT_TRUE(strstr(result, "'retryable':true") != NULL);
    flow_close(&f);
}

/* ---- failure catalogs ------------------------------------------------------------------------ */

#define STRICT STYLES_URI("strict")
static const char strict_doc[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" STRICT "\","
    "\"codePrefix\":\"Strict\",\"description\":\"A test.\",\"parameters\":{\"type\":\"object\"},"
    "\"failureCatalog\":{\"closed\":[\"Provider.Call.Strict.No\",\"Provider.Call.Strict.Down\"],"
    "\"open\":[\"Provider.Call.Strict.Error.*\"]}}";

static const char *strict_code;
static mwl_token *strict_token;
static void strict(mwl_call *call, void *user) {
    (void)user;
    mwl_call_fail(call, NULL, strict_code, "why", mwl_absent());
}
static void strict_later(mwl_call *call, void *user) {
    (void)user;
    (void)mwl_call_token(call, &strict_token);
}

static bool open_strict(flow *f, void (*start)(mwl_call *call, void *user)) {
    static const mwl_asm_provider document = {STRICT, strict_doc, sizeof strict_doc - 1};
    const mwl_call_provider provider = {.uri = STRICT, .document = strict_doc, .start = start};
    if (!flow_vm(f, 1)) return false;
    f->documents = &document;
    f->n_documents = 1;
    return mwl_vm_provide(f->vm, &provider, 1, NULL, NULL) == MWL_OK && flow_load(f, CALL(STRICT));
}

#define WITH_CODE(code) "{'code':'" code "','message':'why','type':'error'}"
#define UNDECLARED(code)                                                                           \
    "{'code':'Mwlvm.ResultRefused','message':'the code '" code                                     \
    "' is not in the failure catalog of " STRICT                                                   \
    "','previous':" WITH_CODE(code) ",'type':'error'}"

/* spec: providers, the failure catalog. */
static const struct {
    const char *code, *result;
} strict_rows[] = {
    {"Provider.Call.Strict.No", WITH_CODE("Provider.Call.Strict.No")},
    {"Provider.Call.Strict.Down", WITH_CODE("Provider.Call.Strict.Down")},
    {"Provider.Call.Strict.Error.X", WITH_CODE("Provider.Call.Strict.Error.X")},
    {"Provider.Call.Strict.Error.X.Y", WITH_CODE("Provider.Call.Strict.Error.X.Y")},
    {"Provider.Call.Strict.Error", UNDECLARED("Provider.Call.Strict.Error")},
    {"Provider.Call.Strict.Error.", UNDECLARED("Provider.Call.Strict.Error.")},
    {"Provider.Call.Strict.Errors.X", UNDECLARED("Provider.Call.Strict.Errors.X")},
    {"Provider.Call.Strict.Not", UNDECLARED("Provider.Call.Strict.Not")},
    {"Acme.No", UNDECLARED("Acme.No")},
    {"", UNDECLARED("")},
    {"System.ParameterValidationFailed", WITH_CODE("System.ParameterValidationFailed")},
    {"System.Other", UNDECLARED("System.Other")},
    {"Mwlvm.NotImplemented", WITH_CODE("Mwlvm.NotImplemented")},
};
enum { STRICT_ROWS = sizeof strict_rows / sizeof *strict_rows };

UTEST(given, a_code_is_one_of_the_catalog) {
    flow f;
    ASSERT_TRUE(open_strict(&f, strict));
    for (size_t i = 0; i < STRICT_ROWS; i++) {
        strict_code = strict_rows[i].code;
        EXPECT_STREQ(flow_again(&f, "null"), strict_rows[i].result);
    }
    flow_close(&f);
}

UTEST(given, a_posted_code_is_one_of_the_catalog) {
    for (size_t i = 0; i < STRICT_ROWS; i++) {
        flow f;
        ASSERT_TRUE(open_strict(&f, strict_later) && flow_start(&f, "null"));
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        EXPECT_EQ((int)mwl_token_fail(strict_token, NULL, strict_rows[i].code, "why", NULL, 0),
                  (int)MWL_OK);
        mwl_token_release(strict_token);
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        flow_finish(&f);
        for (char *c = f.result; *c; c++)
            if (*c == '"') *c = '\'';
        EXPECT_STREQ(f.result, strict_rows[i].result);
        flow_close(&f);
    }
}

/* Many codes: each is found, and what is between them is not. */
UTEST(given, a_long_catalog) {
    enum { N = 300 };
    char *document = malloc(64 * N + 512), code[64];
    ASSERT_TRUE(document != NULL);
    size_t n =
        (size_t)snprintf(document, 512, "%.*s\"failureCatalog\":{\"closed\":[",
                         (int)(strstr(strict_doc, "\"failureCatalog\"") - strict_doc), strict_doc);
    for (int i = 0; i < N; i++) /* in an order that is not theirs */
        n += (size_t)snprintf(document + n, 64, "%s\"Provider.Call.Strict.C%d\"", i ? "," : "",
                              i * 7 % N * 2);
    snprintf(document + n, 64, "],\"open\":[]}}");
    const mwl_call_provider provider = {.uri = STRICT, .document = document, .start = strict};
    const mwl_asm_provider documents = {STRICT, document, strlen(document)};
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    f.documents = &documents;
    f.n_documents = 1;
    ASSERT_EQ((int)mwl_vm_provide(f.vm, &provider, 1, NULL, NULL), (int)MWL_OK);
    ASSERT_TRUE(flow_load(&f, CALL(STRICT)));
    for (int i = 0; i < 2 * N; i++) {
        snprintf(code, sizeof code, "Provider.Call.Strict.C%d", i);
        strict_code = code;
        bool refused = strstr(flow_again(&f, "null"), "Mwlvm.ResultRefused") != NULL;
        EXPECT_EQ((int)refused, i % 2);
    }
    flow_close(&f);
    free(document);
}

/* ---- the memory limit of the run ------------------------------------------------------------- */

static void gives_much(mwl_call *c) {
    mwl_heap *h = mwl_call_heap(c);
    mwl_value list = mwl_array(h, 1u << 20); /* 16 MiB */
    mwl_call_succeed(c, list);
}

UTEST(given, a_value_beyond_the_memory_limit_cancels_the_run) {
    flow f;
    settle = gives_much;
    ASSERT_TRUE(open_with(&f, 0));
    ASSERT_TRUE(flow_load(&f, CALL(ODD)));
    mwl_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.memory_bytes = 1u << 20;
    mwl_start start = {.limits = &limits};
    ASSERT_EQ((int)mwl_run_start(f.vm, f.program, &start, &f.run, NULL), (int)MWL_OK);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_EQ((int)mwl_run_get_state(f.run), (int)MWL_RUN_DONE);
    EXPECT_EQ((int)mwl_run_why(f.run), (int)MWL_E_TOO_BIG);
    flow_finish(&f);
    EXPECT_TRUE(strstr(f.result, "\"details\":{\"limit\":\"memory\"}") != NULL);
    flow_close(&f);
}

/* ---- middleware ------------------------------------------------------------------------------ */

#define MW "mwl:provider.middleware/acme/verdict/v1"
#define PHASE(name, kind)                                                                          \
    "\"" name "\":{\"action\":{\"kind\":\"" kind "\",\"description\":\"Acts.\"}}"
#define VERDICT_DOC(kind)                                                                          \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" MW "\","               \
    "\"codePrefix\":\"Verdict\",\"description\":\"A test.\",\"attachment\":[\"step\"],"            \
    "\"phases\":{" PHASE("onEntry", kind) "," PHASE("onSuccess", kind) "," PHASE(                  \
        "onFailure", kind) "," PHASE("onAlways", kind) "},"                                        \
                                                       "\"failureCatalog\":{\"closed\":["          \
                                                       "\"Provider.Middleware.Verdict.No\"],"      \
                                                       "\"open\":[]}}"
static const char *const verdict_docs[] = {VERDICT_DOC("control"), VERDICT_DOC("transform"),
                                           VERDICT_DOC("side-effect")};
enum { CONTROL, TRANSFORM, SIDE_EFFECT }; /* indices of these */

/* What the action of each phase does (4: `elapsed`), and the status that its verdict returned. */
typedef mwl_status verdict(mwl_phase *phase);
static verdict *verdicts[5];
static mwl_status said[5];

static void act(mwl_phase *phase, unsigned i) {
    if (verdicts[i]) said[i] = verdicts[i](phase);
}
static void on_entry(mwl_phase *p, void *user) {
    (void)user;
    act(p, 0);
}
static void on_success(mwl_phase *p, void *user) {
    (void)user;
    act(p, 1);
}
static void on_failure(mwl_phase *p, void *user) {
    (void)user;
    act(p, 2);
}
static void on_always(mwl_phase *p, void *user) {
    (void)user;
    act(p, 3);
}
static void on_elapsed(mwl_phase *p, void *user) {
    (void)user;
    act(p, 4);
}

static mwl_value some_bytes(mwl_phase *p) { return mwl_bytes(mwl_phase_heap(p), "x", 1); }
static mwl_value some_latin1(mwl_phase *p) { return mwl_string(mwl_phase_heap(p), "\xE9", 1); }
static mwl_value some_failure(mwl_phase *p, const char *code) {
    return mwl_failure(mwl_phase_heap(p), NULL, code, NULL, mwl_absent(), mwl_absent());
}
#define NO "Provider.Middleware.Verdict.No"

static mwl_status sub_int(mwl_phase *p) { return mwl_phase_substitute(p, true, mwl_int(5)); }
static mwl_status sub_bytes(mwl_phase *p) { return mwl_phase_substitute(p, true, some_bytes(p)); }
static mwl_status sub_latin1(mwl_phase *p) { return mwl_phase_substitute(p, true, some_latin1(p)); }
static mwl_status sub_text_as_failure(mwl_phase *p) {
    return mwl_phase_substitute(p, false, mwl_string(mwl_phase_heap(p), "no", 2));
}
static mwl_status sub_failure(mwl_phase *p) {
    return mwl_phase_substitute(p, false, some_failure(p, NO));
}
static mwl_status sub_other(mwl_phase *p) {
    return mwl_phase_substitute(p, false, some_failure(p, "Other"));
}
static mwl_status sub_risen(mwl_phase *p) {
    return mwl_phase_substitute(p, false, some_failure(p, "No"));
}
static mwl_status turn_int(mwl_phase *p) { return mwl_phase_transform(p, mwl_int(6)); }
static mwl_status turn_bytes(mwl_phase *p) { return mwl_phase_transform(p, some_bytes(p)); }
static mwl_status turn_other(mwl_phase *p) {
    return mwl_phase_transform(p, some_failure(p, "Other"));
}
static mwl_status turn_risen(mwl_phase *p) {
    mwl_heap *h = mwl_phase_heap(p);
    return mwl_phase_transform(p, mwl_object_set(h, mwl_value_keep(mwl_phase_result_value(p)),
                                                 "message", 7, mwl_string(h, "turned", 6)));
}
static mwl_status fail(mwl_phase *p) { return mwl_phase_fail(p, NULL, NO, NULL, mwl_absent()); }
static mwl_status fail_latin1(mwl_phase *p) {
    return mwl_phase_fail(p, NULL, NO, "\xE9", mwl_absent());
}
static mwl_status fail_as_success(mwl_phase *p) {
    return mwl_phase_fail(p, "success", NO, NULL, mwl_absent());
}
static mwl_status fail_other(mwl_phase *p) {
    return mwl_phase_fail(p, NULL, "Other", NULL, mwl_absent());
}
static mwl_status no_code(mwl_phase *p) {
    return mwl_phase_fail(p, NULL, NULL, NULL, some_bytes(p));
}
static mwl_status arm(mwl_phase *p) { return mwl_phase_arm_for(p, 1); }
static mwl_status interrupt(mwl_phase *p) { return mwl_phase_interrupt(p, some_failure(p, NO)); }
static mwl_status interrupt_bytes(mwl_phase *p) { return mwl_phase_interrupt(p, some_bytes(p)); }
static mwl_status interrupt_other(mwl_phase *p) {
    return mwl_phase_interrupt(p, some_failure(p, "Other"));
}
static mwl_status reenter(mwl_phase *p) { return mwl_phase_reenter(p, 0, 0); }
static mwl_status restore(mwl_phase *p) { return mwl_phase_reenter(p, MWL_REENTER_RESTORE, 0); }
static mwl_status odd_flag(mwl_phase *p) { return mwl_phase_reenter(p, 64, 0); }
static mwl_status twice(mwl_phase *p) {
    mwl_status first = sub_int(p);
    return first < 0 ? first : fail(p);
}
static mwl_status say_bytes(mwl_phase *p) { return mwl_phase_contribute(p, "a", some_bytes(p)); }
static mwl_status say_nothing(mwl_phase *p) { return mwl_phase_contribute(p, NULL, mwl_null()); }
static mwl_status keep_latin1(mwl_phase *p) { return mwl_phase_set_state(p, some_latin1(p)); }

#define AROUND(with)                                                                               \
    FLOW("'a':{'action':'Call','middleware':[{'provider':'" MW "'}],'call':{'provider':" MOCK      \
         ",'with':" with "},'next':'z'},'z':{'action':'Return'}")
#define PASSED "{'type':'success','value':1}"
#define FAILED "{'code':'No','type':'error'}"

enum { SUCCEEDS, FAILS, SLEEPS }; /* what the call inside does */
typedef struct verdict_row {
    verdict *give;
    unsigned kind, phase, call;
    mwl_status status;
    const char *result; /* or a part of it */
} verdict_row;

/* Runs a row. */
static void give_verdict(int *utest_result, const verdict_row *row) {
    static const char *const flows[] = {AROUND("{'value':1}"), AROUND("{'failure':{'code':'No'}}"),
                                        AROUND("{'delay':'PT5S','value':1}")};
    const char *text = verdict_docs[row->kind];
    const mwl_asm_provider document = {MW, text, strlen(text)};
    const mwl_middleware middleware = {.uri = MW,
                                       .document = text,
                                       .entry = on_entry,
                                       .success = on_success,
                                       .failure = on_failure,
                                       .always = on_always,
                                       .elapsed = on_elapsed};
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    f.documents = &document;
    f.n_documents = 1;
    ASSERT_EQ((int)mwl_vm_provide_middleware(f.vm, &middleware, 1, NULL, NULL), (int)MWL_OK);
    ASSERT_TRUE(flow_load(&f, flows[row->call]));
    memset(verdicts, 0, sizeof verdicts);
    if (row->phase == 4) verdicts[0] = arm;
    verdicts[row->phase] = row->give;
    said[row->phase] = MWL_E_NOT_FOUND;
    const char *result = flow_again(&f, "null");
    EXPECT_EQ((int)said[row->phase], (int)row->status);
    if (!strstr(result, row->result)) EXPECT_STREQ(result, row->result);
    flow_close(&f);
}

UTEST(given, what_a_verdict_brings) {
    static const verdict_row rows[] = {
        {sub_int, CONTROL, 0, SUCCEEDS, MWL_OK, "{'type':'success','value':5}"},
        {sub_int, CONTROL, 1, SUCCEEDS, MWL_OK, "{'type':'success','value':5}"},
        {sub_bytes, CONTROL, 0, SUCCEEDS, MWL_E_NOT_JSON, "'Mwlvm.ResultRefused'"},
        {sub_bytes, CONTROL, 1, SUCCEEDS, MWL_E_NOT_JSON, "'Mwlvm.ResultRefused'"},
        {sub_latin1, CONTROL, 1, SUCCEEDS, MWL_E_NOT_JSON, "the text is not valid UTF-8"},
        {sub_text_as_failure, CONTROL, 2, FAILS, MWL_E_NOT_JSON, "a failure must be an object"},
        {sub_failure, CONTROL, 0, SUCCEEDS, MWL_OK, "{'code':'" NO "','type':'error'}"},
        {sub_failure, CONTROL, 2, FAILS, MWL_OK,
         "{'code':'" NO "','previous':" FAILED ",'type':'error'}"},
        {sub_other, CONTROL, 0, SUCCEEDS, MWL_E_NOT_JSON, "is not in the failure catalog"},
        {sub_other, CONTROL, 2, FAILS, MWL_E_NOT_JSON, "is not in the failure catalog"},
        {sub_risen, CONTROL, 0, SUCCEEDS, MWL_E_NOT_JSON, "is not in the failure catalog"},
        {sub_risen, CONTROL, 2, FAILS, MWL_OK,
         "{'code':'No','previous':" FAILED ",'type':'error'}"},
        {turn_int, TRANSFORM, 0, SUCCEEDS, MWL_OK, PASSED},
        {turn_int, TRANSFORM, 1, SUCCEEDS, MWL_OK, "{'type':'success','value':6}"},
        {turn_int, TRANSFORM, 2, FAILS, MWL_E_NOT_JSON, "a failure must be an object"},
        {turn_bytes, TRANSFORM, 0, SUCCEEDS, MWL_E_NOT_JSON, "'Mwlvm.ResultRefused'"},
        {turn_bytes, TRANSFORM, 1, SUCCEEDS, MWL_E_NOT_JSON, "'Mwlvm.ResultRefused'"},
        {turn_other, TRANSFORM, 2, FAILS, MWL_E_NOT_JSON, "is not in the failure catalog"},
        {turn_risen, TRANSFORM, 2, FAILS, MWL_OK,
         "{'code':'No','message':'turned','type':'error'}"},
        {fail, SIDE_EFFECT, 0, SUCCEEDS, MWL_OK, "{'code':'" NO "','type':'error'}"},
        {fail, SIDE_EFFECT, 3, FAILS, MWL_OK,
         "{'code':'" NO "','previous':" FAILED ",'type':'error'}"},
        {fail_latin1, SIDE_EFFECT, 1, SUCCEEDS, MWL_OK,
         "{'code':'" NO "','message':'\xEF\xBF\xBD','type':'error'}"},
        {fail_as_success, SIDE_EFFECT, 1, SUCCEEDS, MWL_E_NOT_JSON, "must not be 'success'"},
        {fail_other, SIDE_EFFECT, 1, SUCCEEDS, MWL_E_NOT_JSON, "is not in the failure catalog"},
        {interrupt, CONTROL, 4, SLEEPS, MWL_OK, "{'code':'" NO "','type':'error'}"},
        {interrupt_bytes, CONTROL, 4, SLEEPS, MWL_E_NOT_JSON, "a failure must be an object"},
        {interrupt_other, CONTROL, 4, SLEEPS, MWL_E_NOT_JSON, "is not in the failure catalog"},
        {say_bytes, SIDE_EFFECT, 1, SUCCEEDS, MWL_E_NOT_JSON, PASSED},
        {keep_latin1, SIDE_EFFECT, 1, SUCCEEDS, MWL_E_UTF8, PASSED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) give_verdict(utest_result, &rows[i]);
}

#ifndef NDEBUG
static void give_wrong(void *ctx) {
    int result = 0;
    give_verdict(&result, ctx);
}
#endif

/* Nothing changes; builds without NDEBUG stop the process with the words. */
UTEST(given, verdicts_that_are_not_allowed) {
    static const char second[] = "a second verdict", place[] = "does not allow",
                      kind[] = "the kind of action that the document declares";
    static const struct {
        verdict_row row;
        const char *words;
    } rows[] = {
        {{sub_int, CONTROL, 3, SUCCEEDS, MWL_E_STATE, PASSED}, place},
        {{sub_int, CONTROL, 2, FAILS, MWL_E_STATE, FAILED}, place}, /* no success of a failure */
        {{sub_failure, CONTROL, 1, SUCCEEDS, MWL_E_STATE, PASSED}, place},
        {{sub_int, TRANSFORM, 1, SUCCEEDS, MWL_E_STATE, PASSED}, kind},
        {{sub_int, SIDE_EFFECT, 0, SUCCEEDS, MWL_E_STATE, PASSED}, kind},
        {{turn_int, TRANSFORM, 3, SUCCEEDS, MWL_E_STATE, PASSED}, place},
        {{turn_int, TRANSFORM, 3, FAILS, MWL_E_STATE, FAILED}, place},
        {{turn_int, CONTROL, 1, SUCCEEDS, MWL_E_STATE, PASSED}, kind},
        {{no_code, CONTROL, 0, SUCCEEDS, MWL_E_USAGE, PASSED}, "code is NULL"},
        {{no_code, CONTROL, 3, FAILS, MWL_E_USAGE, FAILED}, "code is NULL"},
        {{arm, CONTROL, 1, SUCCEEDS, MWL_E_STATE, PASSED}, place},
        {{arm, SIDE_EFFECT, 0, SUCCEEDS, MWL_E_STATE, PASSED}, kind},
        {{interrupt, CONTROL, 0, SUCCEEDS, MWL_E_STATE, PASSED}, place},
        {{fail, CONTROL, 4, SLEEPS, MWL_E_STATE, "'Mwlvm.BoundElapsed'"}, place},
        {{sub_int, CONTROL, 4, SLEEPS, MWL_E_STATE, "'Mwlvm.BoundElapsed'"}, place},
        {{reenter, CONTROL, 0, SUCCEEDS, MWL_E_STATE, PASSED}, place},
        {{reenter, CONTROL, 3, SUCCEEDS, MWL_E_STATE, PASSED}, place},
        {{reenter, SIDE_EFFECT, 2, FAILS, MWL_E_STATE, FAILED}, kind},
        {{restore, CONTROL, 2, FAILS, MWL_E_USAGE, FAILED}, "without MWL_MW_RESTORES"},
        {{odd_flag, CONTROL, 2, FAILS, MWL_E_USAGE, FAILED}, "an unknown flag"},
        {{twice, CONTROL, 1, SUCCEEDS, MWL_E_STATE, "{'type':'success','value':5}"}, second},
        {{say_nothing, CONTROL, 1, SUCCEEDS, MWL_E_USAGE, PASSED}, "name is NULL"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
#ifdef NDEBUG
        give_verdict(utest_result, &rows[i].row);
#else
        char text[512];
        verdict_row row = rows[i].row;
        if (!TOLD_HERE) UTEST_SKIP("nothing can be stopped here but the test itself");
        EXPECT_TRUE(told(give_wrong, &row, text, sizeof text));
        if (!strstr(text, rows[i].words)) EXPECT_STREQ(text, rows[i].words);
#endif
    }
}

UTEST_MAIN()
