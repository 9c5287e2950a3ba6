/* test_misuse.c: wrong use by a host is reported: by a status and, in builds without NDEBUG, by an
 * assertion with a message where it would be dangerous to continue. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"
#include "tests/api/told.h"

#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

#define URI STYLES_URI("wrong")
#define ONE                                                                                        \
    FLOW("'a':{'action':'Call','call':{'provider':'" URI "'},'next':'z'},'z':{'action':'Return'}")

typedef struct host {
    flow f;
    mwl_call *call;
    mwl_status status;
    int64_t due;
} host;

static bool open_host(host *h, void (*start)(mwl_call *call, void *user)) {
    static const char document[] = STYLES_DOC("wrong");
    static const mwl_asm_provider documents[] = {{"wrong", document, sizeof document - 1}};
    const mwl_call_provider p = {.uri = URI, .document = document, .start = start};
    memset(h, 0, sizeof *h);
    if (!flow_vm(&h->f, 1)) return false;
    h->f.documents = documents;
    h->f.n_documents = 1;
    return mwl_vm_provide(h->f.vm, &p, 1, h, NULL) == MWL_OK && flow_load(&h->f, ONE) &&
           flow_start(&h->f, "5");
}

#ifndef NDEBUG
struct wrong {
    host *h;
    void (*start)(mwl_call *call, void *user);
    void (*then)(host *h);
};
static void go_wrong(void *ctx) {
    struct wrong *w = ctx;
    if (open_host(w->h, w->start)) mwl_vm_pump(w->h->f.vm, MWL_NO_BUDGET);
    if (w->then) w->then(w->h);
}
#endif

/* What a wrong host does: the status in builds with NDEBUG, the message of the assertion in
 * others. */
static void expect_told(int *utest_result, void (*start)(mwl_call *call, void *user),
                        void (*then)(host *h), mwl_status status, const char *words) {
    host h;
#ifdef NDEBUG
    (void)words;
    ASSERT_TRUE(open_host(&h, start));
    mwl_vm_pump(h.f.vm, MWL_NO_BUDGET);
    if (then) then(&h);
    EXPECT_EQ((int)h.status, (int)status);
    flow_close(&h.f);
#else
    (void)status;
    struct wrong w = {&h, start, then};
    char text[512];
    if (!TOLD_HERE) UTEST_SKIP("nothing can be stopped here but the test itself");
    EXPECT_TRUE(told(go_wrong, &w, text, sizeof text));
    if (!strstr(text, words)) EXPECT_STREQ(text, words);
#endif
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void settles_twice(mwl_call *call, void *user) {
    host *h = user;
    mwl_call_succeed(call, mwl_number(1));
    h->status =
        mwl_call_fail(call, NULL, "Acme.Late", NULL, mwl_string(mwl_call_heap(call), "dropped", 7));
}
UTEST(misuse, settling_twice) {
    expect_told(utest_result, settles_twice, NULL, MWL_E_STATE, "settled twice");
}

static void waits_without_a_stack(mwl_call *call, void *user) {
    host *h = user;
    mwl_value answer;
    h->status = mwl_sleep(call, 1) == mwl_await(call, &answer) ? MWL_E_USAGE : MWL_OK;
    mwl_call_succeed(call, mwl_null());
}
UTEST(misuse, waiting_without_a_stack) {
    expect_told(utest_result, waits_without_a_stack, NULL, MWL_E_USAGE,
                "outside the provider's blocking function");
}

static void pumps_inside(mwl_call *call, void *user) {
    host *h = user;
    h->status = mwl_vm_pump(h->f.vm, 0) == 0 ? MWL_E_USAGE : MWL_OK;
    mwl_call_succeed(call, mwl_null());
}
UTEST(misuse, pumping_from_a_callback) {
    expect_told(utest_result, pumps_inside, NULL, MWL_E_USAGE,
                "mwl_vm_pump: from inside a callback");
}

static void fails_without_a_code(mwl_call *call, void *user) {
    host *h = user;
    h->status =
        mwl_call_fail(call, NULL, NULL, "why", mwl_string(mwl_call_heap(call), "dropped", 7));
    if (mwl_call_failf(call, NULL, "%d", 1) != MWL_E_USAGE) h->status = MWL_OK;
    mwl_call_succeed(call, mwl_null());
}
UTEST(misuse, failing_without_a_code) {
    expect_told(utest_result, fails_without_a_code, NULL, MWL_E_USAGE, "code is NULL");
}

static void keeps(mwl_call *call, void *user) { ((host *)user)->call = call; }

#ifndef NDEBUG
static void *settle_elsewhere(void *arg) {
    mwl_call_succeed(((host *)arg)->call, mwl_null());
    return NULL;
}
static void settles_elsewhere(host *h) {
    pthread_t t;
    if (pthread_create(&t, NULL, settle_elsewhere, h) == 0) pthread_join(t, NULL);
}
UTEST(misuse, settling_on_another_thread) {
    expect_told(utest_result, keeps, settles_elsewhere, MWL_OK,
                "settled on another thread than the VM's");
}

static void settles_when_gone(host *h) {
    mwl_call *call = h->call;
    mwl_call_succeed(call, mwl_null());
    mwl_call_succeed(call, mwl_null());
}
UTEST(misuse, settling_a_call_that_is_gone) {
    expect_told(utest_result, keeps, settles_when_gone, MWL_OK,
                "used after it has settled and was freed");
}
#endif

#ifndef NDEBUG
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

static mwl_value held; /* after its heap was freed */
static void frees_the_heap_of_a_value(host *h) {
    mwl_heap *heap = NULL;
    (void)h;
    if (mwl_heap_new(NULL, &heap) == MWL_OK) held = mwl_string(heap, "held", 4);
    mwl_heap_free(heap);
}
static void frees_the_vm_of_a_value(host *h) {
    held = mwl_string(mwl_vm_heap(h->f.vm), "held", 4);
    mwl_vm_free(h->f.vm);
}
UTEST(misuse, freeing_in_the_wrong_order) {
    expect_told(utest_result, keeps, frees_the_heap_of_a_value, MWL_OK,
                "mwl_heap_free: values of the heap are still held");
    expect_told(utest_result, keeps, frees_the_vm_of_a_value, MWL_OK,
                "mwl_vm_free: values of its heap are still held");
}

#ifndef SANITIZED /* which reports it first, with its own message */
static void frees_a_run_twice(host *h) {
    mwl_run_free(h->f.run);
    mwl_run_free(h->f.run);
}
static void asks_a_freed_run(host *h) {
    mwl_run_free(h->f.run);
    (void)mwl_run_get_state(h->f.run);
}
static void frees_a_vm_twice(host *h) {
    mwl_vm_free(h->f.vm);
    mwl_vm_free(h->f.vm);
}
UTEST(misuse, using_what_was_freed) {
    expect_told(utest_result, keeps, frees_a_run_twice, MWL_OK, "the run was freed before");
    expect_told(utest_result, keeps, asks_a_freed_run, MWL_OK, "the run was freed");
    if (FREED_IS_READABLE) /* a run stays with its VM */
        expect_told(utest_result, keeps, frees_a_vm_twice, MWL_OK, "the VM was freed before");
}
#endif

static void *abort_elsewhere(void *arg) {
    mwl_run_abort(((host *)arg)->f.run);
    return NULL;
}
static void is_aborted_elsewhere(mwl_call *call, void *user) {
    pthread_t t;
    if (pthread_create(&t, NULL, abort_elsewhere, user) == 0) pthread_join(t, NULL);
    mwl_call_succeed(call, mwl_null());
}
UTEST(misuse, aborting_from_another_thread_than_the_one_that_pumps) {
    expect_told(utest_result, is_aborted_elsewhere, NULL, MWL_OK,
                "mwl_run_abort: while another thread pumps the VM");
}
#endif

static void asks_after_settling(mwl_call *call, void *user) {
    host *h = user;
    mwl_token *token = NULL;
    mwl_call_set_state(call, mwl_bool(true));
    mwl_call_wake_after(call, 5);
    mwl_call_succeed(call, mwl_value_keep(mwl_call_state(call)));
    h->status = mwl_call_token(call, &token);
}

UTEST(misuse, wrong_states_have_a_status) {
    host h;
    ASSERT_TRUE(open_host(&h, asks_after_settling));
    mwl_vm_pump(h.f.vm, 0);
    EXPECT_EQ((int)h.status, (int)MWL_E_STATE);
    mwl_call_provider late = {
        .uri = STYLES_URI("late"), .document = STYLES_DOC("late"), .start = keeps};
    EXPECT_EQ((int)mwl_vm_provide(h.f.vm, &late, 1, NULL, NULL), (int)MWL_OK);
    EXPECT_EQ((int)mwl_vm_provide(h.f.vm, &late, 1, NULL, NULL), (int)MWL_E_DUPLICATE);
    flow_close(&h.f);

    ASSERT_TRUE(open_host(&h, keeps));
    mwl_vm_pump(h.f.vm, 0);
    EXPECT_EQ((int)mwl_call_resume(h.call, mwl_null()),
              (int)MWL_E_USAGE); /* it is not a blocking one */
    EXPECT_EQ((int)mwl_run_get_state(h.f.run), (int)MWL_RUN_PARKED);
    EXPECT_TRUE(mwl_is_absent(mwl_run_result(h.f.run)));
    mwl_run_abort(h.f.run);
    mwl_run_abort(h.f.run);
    mwl_run_cancel(h.f.run, "too late");
    EXPECT_EQ((int)mwl_run_get_state(h.f.run), (int)MWL_RUN_ABORTED);
    flow_close(&h.f);
}

/* ---- freeing the VM while it is at work ------------------------------------------------------ */

/* Where the VM is freed. */
typedef enum place { START, WAKE, BLOCKING, CANCEL, DONE, LISTENER, PREPARE, LEFT, NOWHERE } place;
#define MW_URI "mwl:provider.middleware/acme/within/v1"
#define MW_DOC                                                                                     \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" MW_URI                 \
    "\",\"codePrefix\":\"Within\",\"description\":\"A test.\","                                    \
    "\"attachment\":[\"step\"],\"phases\":{\"onEntry\":{\"action\":{\"kind\":\"control\","         \
    "\"description\":\"A test.\"},\"parameters\":{\"type\":\"object\"}}},"                         \
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}"

typedef struct freer {
    flow f;
    place place;
    int freed; /* how often the VM was freed there */
} freer;

static void free_at(freer *h, place here) {
    if (h->place != here) return;
    mwl_vm_free(h->f.vm);
    h->freed++;
}
static void freer_start(mwl_call *call, void *user) {
    free_at(user, START);
    if (((freer *)user)->place == CANCEL || ((freer *)user)->place == LEFT) return; /* it waits */
    mwl_call_wake_after(call, 1);
}
static void freer_wake(mwl_call *call, void *user) {
    free_at(user, WAKE);
    mwl_call_succeed(call, mwl_null());
}
static void freer_cancel(mwl_call *call, void *user) {
    free_at(user, CANCEL);
    mwl_call_succeed(call, mwl_null());
}
static void freer_blocking(mwl_call *call, void *user) {
    free_at(user, BLOCKING);
    mwl_call_succeed(call, mwl_null());
}
static void freer_done(void *ctx, mwl_run *run) {
    (void)run;
    free_at(ctx, DONE);
}
static void freer_hears(void *ctx, const mwl_trace_event *event) {
    if (event->kind == MWL_TRACE_RUN_STARTED) free_at(ctx, LISTENER);
}
static mwl_value freer_prepare(mwl_heap *heap, mwl_value arguments, void *user) {
    (void)heap, (void)arguments;
    free_at(user, PREPARE);
    return mwl_null();
}
static void freer_entry(mwl_phase *phase, void *user) {
    (void)user;
    (void)mwl_phase_set_state(phase, mwl_bool(true));
}
static void freer_left(mwl_value state, void *user) {
    (void)state;
    free_at(user, LEFT);
}

/* The VM is freed at a place, once by wrong use and at last rightly. */
static void free_wrongly(void *ctx) {
    freer *h = ctx;
    const mwl_call_provider p = {.uri = URI,
                                 .document = STYLES_DOC("wrong"),
                                 .start = h->place == BLOCKING ? NULL : freer_start,
                                 .wake = h->place == BLOCKING ? NULL : freer_wake,
                                 .cancel = h->place == BLOCKING ? NULL : freer_cancel,
                                 .blocking = h->place == BLOCKING ? freer_blocking : NULL};
    const mwl_middleware m = {.uri = MW_URI,
                              .document = MW_DOC,
                              .entry = freer_entry,
                              .prepare = freer_prepare,
                              .left = freer_left};
    char *definition = flow_quoted(
        FLOW("'a':{'action':'Call','middleware':[{'provider':'" MW_URI "','onEntry':{'with':{}}}],"
             "'call':{'provider':'" URI "'},'next':'z'},'z':{'action':'Return'}"));
    const mwl_start start = {.done = freer_done, .done_ctx = h};
    if (mwl_vm_provide(h->f.vm, &p, 1, h, NULL) == MWL_OK &&
        mwl_vm_provide_middleware(h->f.vm, &m, 1, h, NULL) == MWL_OK &&
        mwl_assemble_for(h->f.vm, definition, strlen(definition), NULL, &h->f.program) == MWL_OK) {
        mwl_vm_trace(h->f.vm, freer_hears, h);
        if (mwl_run_start(h->f.vm, h->f.program, &start, &h->f.run, NULL) == MWL_OK)
            mwl_vm_pump(h->f.vm, MWL_NO_BUDGET);
        if (h->place == CANCEL) mwl_run_cancel(h->f.run, NULL); /* not in a pump */
        if (h->place == LEFT) mwl_run_abort(h->f.run);
    }
    free(definition);
}

UTEST(misuse, a_vm_is_not_freed_while_it_is_at_work) {
    for (int at = START; at <= LEFT; at++) {
        freer h;
        memset(&h, 0, sizeof h);
        ASSERT_TRUE(flow_vm(&h.f, 1));
        h.place = (place)at;
#ifdef NDEBUG
        free_wrongly(&h);
        if (at == CANCEL) mwl_vm_pump(h.f.vm, MWL_NO_BUDGET);
        EXPECT_EQ(h.freed, 1); /* it came back, and the run went on */
        if (at != LEFT) EXPECT_EQ((int)mwl_run_get_state(h.f.run), (int)MWL_RUN_DONE);
#else
        char text[512];
        if (TOLD_HERE && !told(free_wrongly, &h, text, sizeof text)) EXPECT_EQ(at, -1);
        if (TOLD_HERE) EXPECT_TRUE(strstr(text, "mwl_vm_free: from inside a callback") != NULL);
#endif
        h.place = NOWHERE;
        flow_close(&h.f);
    }
}

static jmp_buf out_of_the_callback;
static void jumps(mwl_call *call, void *user) {
    (void)call, (void)user;
    longjmp(out_of_the_callback, 1);
}
/* In a child: the VM cannot be freed, and its memory would be reported as a leak. */
static void free_after_a_jump(void *ctx) {
    host *h = ctx;
    if (!open_host(h, jumps)) _exit(2);
    if (setjmp(out_of_the_callback) == 0) mwl_vm_pump(h->f.vm, MWL_NO_BUDGET);
    mwl_run_free(h->f.run); /* which waits for the end of the callback */
    mwl_vm_free(h->f.vm);
    fputs("came back", stderr);
    _exit(0);
}
UTEST(misuse, freeing_comes_back_after_a_jump_out_of_a_callback) {
    host h;
    char text[512];
    if (!TOLD_HERE) UTEST_SKIP("nothing can be stopped here but the test itself");
    bool stopped = told(free_after_a_jump, &h, text, sizeof text);
#ifdef NDEBUG
    EXPECT_FALSE(stopped);
    EXPECT_STREQ(text, "came back");
#else
    EXPECT_TRUE(stopped);
    EXPECT_TRUE(strstr(text, "mwl_vm_free: from inside a callback") != NULL);
#endif
}

/* ---- arguments ------------------------------------------------------------------------------- */

UTEST(misuse, providers_need_one_way_to_run) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    mwl_error error = {MWL_OK, "", 0};
    mwl_call_provider p = {.uri = URI, .document = STYLES_DOC("wrong")};
    EXPECT_EQ((int)mwl_vm_provide(f.vm, &p, 1, NULL, &error), (int)MWL_E_USAGE);
    p.start = p.blocking = keeps;
    EXPECT_EQ((int)mwl_vm_provide(f.vm, &p, 1, NULL, &error), (int)MWL_E_USAGE);
    EXPECT_TRUE(strstr(error.message, "either `start` or `blocking`") != NULL);
    flow_close(&f);
}

UTEST(misuse, missing_and_wrong_arguments) {
    host h;
    ASSERT_TRUE(open_host(&h, keeps));
    mwl_error error = {MWL_OK, "", 0};
    mwl_run *run = NULL;
    mwl_start start = {.arguments = mwl_number(1)};
    EXPECT_EQ((int)mwl_run_start(NULL, h.f.program, NULL, &run, &error), (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_start(h.f.vm, NULL, NULL, &run, &error), (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_start(h.f.vm, h.f.program, NULL, NULL, &error), (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_start(h.f.vm, h.f.program, &start, &run, &error), (int)MWL_E_USAGE);
    EXPECT_STREQ(error.message, "arguments must be an object");
    flow_close(&h.f);
    mwl_run_free(NULL);
    mwl_run_cancel(NULL, NULL);
    mwl_program_release(NULL);
    mwl_token_release(NULL);
    mwl_heap_free(NULL);
    mwl_vm_free(NULL);
    EXPECT_EQ((int)mwl_token_succeed(NULL, "1", 1), (int)MWL_E_USAGE);
}

UTEST(misuse, a_program_that_wants_more_than_the_vm_has) {
    host h;
    ASSERT_TRUE(open_host(&h, keeps));
    mwl_vm *bare;
    ASSERT_EQ((int)mwl_vm_new(NULL, &bare), (int)MWL_OK);
    mwl_run *run = NULL;
    mwl_error error = {MWL_OK, "", 0};
    EXPECT_EQ((int)mwl_run_start(bare, h.f.program, NULL, &run, &error), (int)MWL_E_NOT_FOUND);
    EXPECT_STREQ(error.message, URI);
    mwl_vm_free(bare);
    flow_close(&h.f);
}

UTEST_MAIN()
