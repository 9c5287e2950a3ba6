/* test_stack_overflow.c: a blocking provider needs more stack than it has. A little too much is a
 * failure of its call; more is a fault, and a message names the provider. Faults happen in child
 * processes. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK 32768
#define URI STYLES_URI("deep")
#define FLOW_OF_ONE                                                                                \
    FLOW("'a':{'action':'Call','call':{'provider':'" URI "'},'next':'z'},'z':{'action':'Return'}")
#define WORDS                                                                                      \
    "the provider " URI " overflowed its native stack of 32768 bytes (mwl_config.stack_bytes)"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

/* Goes down until `bytes` of stack are in use, and writes to each frame on the way. */
static unsigned dig(const volatile char *top, size_t bytes) {
    volatile char frame[256];
    for (size_t i = 0; i < sizeof frame; i += 32) frame[i] = 1;
    size_t used = (size_t)((uintptr_t)top - (uintptr_t)frame);
    return used >= bytes ? 1 : 1 + dig(top, bytes) + (unsigned)frame[0];
}

static bool settles = true, sleeps;

static void deep(mwl_call *call, void *user) {
    volatile char top = 0;
    (void)dig(&top, *(size_t *)user);
    if (sleeps && mwl_sleep(call, 5) < 0) return;
    if (settles) mwl_call_succeed(call, mwl_bool(true));
}

/* The Result of one call that uses so many bytes of its stack. */
static const char *result_of(flow *f, size_t bytes) {
    static const char document[] = STYLES_DOC("deep");
    mwl_asm_provider documents[] = {{"deep", document, sizeof document - 1}};
    const mwl_call_provider p = {.uri = URI, .document = document, .blocking = deep};
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    c.stack_bytes = STACK;
    memset(f, 0, sizeof *f);
    f->documents = documents;
    f->n_documents = 1;
    bool ok = mwl_vm_new(&c, &f->vm) == MWL_OK &&
              mwl_vm_provide(f->vm, &p, 1, &bytes, NULL) == MWL_OK && flow_load(f, FLOW_OF_ONE);
    if (ok) flow_again(f, "null");
    if (ok && strstr(f->result, "StackOverflow")) { /* its stack is not used for the next one */
        char first[sizeof f->result];
        memcpy(first, f->result, sizeof first);
        bytes = 1000;
        if (!settles || strcmp(flow_again(f, "null"), "{'type':'success','value':true}") == 0)
            memcpy(f->result, first, sizeof first);
    }
    flow_close(f);
    return f->result;
}

/* ---- in a process of its own ----------------------------------------------------------------- */

typedef struct ending {
    int how; /* as waitpid returns it */
    char text[4096];
} ending;

static void in_a_child(ending *e, void (*what)(void)) {
    int ends[2];
    memset(e, 0, sizeof *e);
    if (pipe(ends) != 0) return;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 2);
        close(ends[0]);
        what();
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    char rest[512];
    for (ssize_t got;
         (got = read(ends[0], n < sizeof e->text - 1 ? e->text + n : rest,
                     n < sizeof e->text - 1 ? sizeof e->text - 1 - n : sizeof rest)) > 0;)
        if (n < sizeof e->text - 1) n += (size_t)got;
    close(ends[0]);
    waitpid(child, &e->how, 0);
}

static bool ended_by_fault(const ending *e) {
#ifdef SANITIZED /* its own handler comes after ours, reports too and exits */
    return WIFEXITED(e->how) && WEXITSTATUS(e->how) != 0 && strstr(e->text, "Sanitizer");
#else
    return WIFSIGNALED(e->how) && (WTERMSIG(e->how) == SIGSEGV || WTERMSIG(e->how) == SIGBUS);
#endif
}

static void overflows(void) {
    flow f;
    if (mwl_stack_watch() < 0 || mwl_stack_watch() < 0) _exit(3); /* a second call has no effect */
    result_of(&f, STACK + (64 << 10));
}

UTEST(stack_overflow, far_too_much_is_a_fault_with_words) {
    ending e;
    in_a_child(&e, overflows);
    EXPECT_TRUE(ended_by_fault(&e));
    if (!strstr(e.text, "mwlvm: " WORDS "\n")) EXPECT_STREQ(e.text, "mwlvm: " WORDS "\n");
}

static void *on_a_thread(void *unused) {
    overflows();
    return unused;
}
static void overflows_elsewhere(void) {
    pthread_t t;
    if (pthread_create(&t, NULL, on_a_thread, NULL) == 0) pthread_join(t, NULL);
}
UTEST(stack_overflow, on_every_thread) {
    ending e;
    in_a_child(&e, overflows_elsewhere);
    EXPECT_TRUE(ended_by_fault(&e));
    EXPECT_TRUE(strstr(e.text, "mwlvm: " WORDS "\n") != NULL);
}

static void overflows_unasked(void) {
    flow f;
    result_of(&f, STACK + (64 << 10));
}
UTEST(stack_overflow, builds_without_ndebug_need_not_ask) {
    ending e;
    in_a_child(&e, overflows_unasked);
    EXPECT_TRUE(ended_by_fault(&e));
#ifdef NDEBUG
    EXPECT_TRUE(strstr(e.text, "mwlvm:") == NULL); /* no signal handler is installed */
#else
    EXPECT_TRUE(strstr(e.text, "mwlvm: " WORDS "\n") != NULL);
#endif
}

static void hosts_own(int sig, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    static const char text[] = "the host's handler\n";
    if (write(2, text, sizeof text - 1) > 0) _exit(sig == SIGSEGV || sig == SIGBUS ? 7 : 8);
}
static void hosts_simple(int sig) { hosts_own(sig, NULL, NULL); }

static bool simple, overflowing;

static void faults_under_a_handler(void) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_flags = SA_ONSTACK | (simple ? 0 : SA_SIGINFO);
    if (simple)
        a.sa_handler = hosts_simple;
    else
        a.sa_sigaction = hosts_own;
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGBUS, &a, NULL);
    if (overflowing) overflows();
    volatile char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mwl_stack_watch() == MWL_OK) *page = 1;
}

UTEST(stack_overflow, the_handler_that_was_there_comes_next) {
    ending e;
    for (int how = 0; how < 4; how++) {
        simple = how & 1;
        overflowing = how & 2;
        in_a_child(&e, faults_under_a_handler);
        EXPECT_TRUE(WIFEXITED(e.how) && WEXITSTATUS(e.how) == 7);
        EXPECT_TRUE(strstr(e.text, overflowing ? "mwlvm: " WORDS "\nthe host's handler\n"
                                               : "the host's handler\n"));
        EXPECT_EQ(strstr(e.text, "mwlvm:") != NULL, overflowing);
    }
}

static void is_sent_one(void) {
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    if (mwl_stack_watch() == MWL_OK) kill(getpid(), SIGBUS);
    _exit(0);
}
UTEST(stack_overflow, a_signal_that_was_sent_still_kills) {
    ending e;
    in_a_child(&e, is_sent_one);
    EXPECT_TRUE(WIFSIGNALED(e.how) && WTERMSIG(e.how) == SIGBUS);
    EXPECT_TRUE(strstr(e.text, "mwlvm") == NULL); /* an emulator writes a line of its own */
}

/* ---- in this one; last, because in builds without NDEBUG they install the handler here ------- */

UTEST(stack_overflow, what_fits_is_fine) {
    flow f;
    EXPECT_STREQ(result_of(&f, STACK - 4096), "{'type':'success','value':true}");
}

UTEST(stack_overflow, a_little_too_much_fails_the_call) {
    flow f;
    for (int how = 0; how < 4; how++) {
        settles = how & 1;
        sleeps = how & 2;
        const char *result = result_of(&f, STACK + 512);
        EXPECT_TRUE(strstr(result, "'code':'Mwlvm.StackOverflow'") != NULL);
        EXPECT_TRUE(strstr(result, WORDS) != NULL);
    }
    settles = true;
    sleeps = false;
}

UTEST_MAIN()
