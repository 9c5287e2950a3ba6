/* utest.h: unit tests in one header, with the macro names of sheredom's utest.h.
 *
 * Owns: registration, assertions, the runner and its report. It is the fallback for a machine where
 * that header is not given, not installed and cannot be downloaded. So a test file must compile
 * with both: tests use only macros that both have.
 * Refuses to know: threads, C++, compilers other than gcc and clang.
 * Invariant: a case that ends early (ASSERT_*) still runs its fixture's teardown. */
#ifndef MWL_UTEST_H
#define MWL_UTEST_H
#if defined(__GNUC__)
#pragma GCC system_header /* tests may compare values of different signedness */
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct utest_case {
    const char *name; /* "set.name" */
    void (*run)(int *result);
    struct utest_case *next;
};

struct utest_state_s {
    struct utest_case *first, **last;
};
extern struct utest_state_s utest_state;

/* The result of a case, with the numbers of sheredom's header. */
enum { UTEST_TEST_PASSED = 0, UTEST_TEST_FAILURE = 1, UTEST_TEST_SKIPPED = 2 };

static inline void utest_register(struct utest_case *c) {
    if (!utest_state.last) utest_state.last = &utest_state.first;
    *utest_state.last = c;
    utest_state.last = &c->next;
}

/* ---- declaring cases ------------------------------------------------------------------------- */

#define UTEST_REGISTER_(ID, NAME, RUN)                                                             \
    static struct utest_case utest_case_##ID = {NAME, RUN, NULL};                                  \
    __attribute__((constructor)) static void utest_register_##ID(void) {                           \
        utest_register(&utest_case_##ID);                                                          \
    }

#define UTEST(SET, NAME)                                                                           \
    static void utest_run_##SET##_##NAME(int *utest_result);                                       \
    UTEST_REGISTER_(SET##_##NAME, #SET "." #NAME, utest_run_##SET##_##NAME)                        \
    static void utest_run_##SET##_##NAME(int *utest_result)

#define UTEST_F_SETUP(FIXTURE)                                                                     \
    static void utest_f_setup_##FIXTURE(int *utest_result, struct FIXTURE *utest_fixture)

#define UTEST_F_TEARDOWN(FIXTURE)                                                                  \
    static void utest_f_teardown_##FIXTURE(int *utest_result, struct FIXTURE *utest_fixture)

#define UTEST_F(FIXTURE, NAME)                                                                     \
    static void utest_f_setup_##FIXTURE(int *, struct FIXTURE *);                                  \
    static void utest_f_teardown_##FIXTURE(int *, struct FIXTURE *);                               \
    static void utest_body_##FIXTURE##_##NAME(int *, struct FIXTURE *);                            \
    static void utest_run_##FIXTURE##_##NAME(int *utest_result) {                                  \
        struct FIXTURE fixture;                                                                    \
        memset(&fixture, 0, sizeof fixture);                                                       \
        utest_f_setup_##FIXTURE(utest_result, &fixture);                                           \
        if (*utest_result != UTEST_TEST_PASSED) return;                                            \
        utest_body_##FIXTURE##_##NAME(utest_result, &fixture);                                     \
        utest_f_teardown_##FIXTURE(utest_result, &fixture);                                        \
    }                                                                                              \
    UTEST_REGISTER_(FIXTURE##_##NAME, #FIXTURE "." #NAME, utest_run_##FIXTURE##_##NAME)            \
    static void utest_body_##FIXTURE##_##NAME(int *utest_result, struct FIXTURE *utest_fixture)

#define UTEST_SKIP(msg)                                                                            \
    do {                                                                                           \
        printf("   Skipped : '%s'\n", (msg));                                                      \
        *utest_result = UTEST_TEST_SKIPPED;                                                        \
        return;                                                                                    \
    } while (0)

/* ---- printing values ------------------------------------------------------------------------- */

static inline void utest_put_i(long long v) { printf("%lld", v); }
static inline void utest_put_u(unsigned long long v) { printf("%llu (0x%llx)", v, v); }
static inline void utest_put_d(double v) { printf("%.17g", v); }
static inline void utest_put_p(const volatile void *v) { printf("%p", (const void *)v); }

#define UTEST_PUT_(v)                                                                              \
    _Generic((v), int                                                                              \
             : utest_put_i, long                                                                   \
             : utest_put_i, long long                                                              \
             : utest_put_i, unsigned                                                               \
             : utest_put_u, unsigned long                                                          \
             : utest_put_u, unsigned long long                                                     \
             : utest_put_u, float                                                                  \
             : utest_put_d, double                                                                 \
             : utest_put_d, default                                                                \
             : utest_put_p)(v)

/* ---- assertions ------------------------------------------------------------------------------ */

#define UTEST_FAIL_HEAD_(what) printf("%s:%d: Failure\n  Expected : %s\n", __FILE__, __LINE__, what)
/* stop: the token 0 or 1; an EXPECT has no `return`, so that functions with a value may use it */
#define UTEST_STOP_0 (void)0
#define UTEST_STOP_1 return
#define UTEST_FAIL_TAIL_(msg, stop)                                                                \
    if ((msg) != NULL) printf("   Message : %s\n", (const char *)(msg));                           \
    *utest_result = UTEST_TEST_FAILURE;                                                            \
    UTEST_STOP_##stop

#ifdef __clang__ /* for the "+ 0" below, when a test compares pointers */
#define UTEST_QUIET_                                                                               \
    _Pragma("clang diagnostic push")                                                               \
        _Pragma("clang diagnostic ignored \"-Wnull-pointer-arithmetic\"")                          \
            _Pragma("clang diagnostic ignored \"-Wpointer-arith\"")
#define UTEST_LOUD_ _Pragma("clang diagnostic pop")
#else
#define UTEST_QUIET_
#define UTEST_LOUD_
#endif

/* Each operand is evaluated once; "+ 0" lets arrays, bit-fields and small integers decay. No
 * parentheses there, because sheredom's has none: what compiles with one compiles with the other.
 */
#define UTEST_COND_(x, y, op, msg, stop)                                                           \
    do {                                                                                           \
        UTEST_QUIET_                                                                               \
        const __typeof__(x + 0) utest_x = (x);                                                     \
        const __typeof__(y + 0) utest_y = (y);                                                     \
        UTEST_LOUD_                                                                                \
        if (!(utest_x op utest_y)) {                                                               \
            UTEST_FAIL_HEAD_("(" #x ") " #op " (" #y ")");                                         \
            printf("    Actual : ");                                                               \
            UTEST_PUT_(utest_x);                                                                   \
            printf(" vs ");                                                                        \
            UTEST_PUT_(utest_y);                                                                   \
            printf("\n");                                                                          \
            UTEST_FAIL_TAIL_(msg, stop);                                                           \
        }                                                                                          \
    } while (0)

#define UTEST_BOOL_(x, want, msg, stop)                                                            \
    do {                                                                                           \
        const int utest_x = !!(x);                                                                 \
        if (utest_x != (want)) {                                                                   \
            UTEST_FAIL_HEAD_(#x);                                                                  \
            printf("    Actual : %s\n", utest_x ? "true" : "false");                               \
            UTEST_FAIL_TAIL_(msg, stop);                                                           \
        }                                                                                          \
    } while (0)

/* compare: an expression over utest_x and utest_y that is true when the assertion holds */
#define UTEST_STR_(x, y, compare, what, msg, stop)                                                 \
    do {                                                                                           \
        const char *utest_x = (x);                                                                 \
        const char *utest_y = (y);                                                                 \
        if (!utest_x || !utest_y || !(compare)) {                                                  \
            UTEST_FAIL_HEAD_(what);                                                                \
            printf("    Actual : \"%s\" vs \"%s\"\n", utest_x ? utest_x : "(null)",                \
                   utest_y ? utest_y : "(null)");                                                  \
            UTEST_FAIL_TAIL_(msg, stop);                                                           \
        }                                                                                          \
    } while (0)
#define UTEST_STREQ_(x, y, m, s)                                                                   \
    UTEST_STR_(x, y, strcmp(utest_x, utest_y) == 0, #x " equals " #y, m, s)
#define UTEST_STRNE_(x, y, m, s)                                                                   \
    UTEST_STR_(x, y, strcmp(utest_x, utest_y) != 0, #x " differs from " #y, m, s)
#define UTEST_STRNEQ_(x, y, n, m, s)                                                               \
    UTEST_STR_(x, y, strncmp(utest_x, utest_y, n) == 0, #x " begins as " #y, m, s)
#define UTEST_STRNNE_(x, y, n, m, s)                                                               \
    UTEST_STR_(x, y, strncmp(utest_x, utest_y, n) != 0, #x " begins unlike " #y, m, s)

#define UTEST_NEAR_(x, y, epsilon, msg, stop)                                                      \
    do {                                                                                           \
        const double utest_x = (double)(x), utest_y = (double)(y);                                 \
        const double utest_off = utest_x < utest_y ? utest_y - utest_x : utest_x - utest_y;        \
        if (!(utest_off <= (double)(epsilon))) {                                                   \
            UTEST_FAIL_HEAD_(#x " near " #y);                                                      \
            printf("    Actual : %.17g vs %.17g\n", utest_x, utest_y);                             \
            UTEST_FAIL_TAIL_(msg, stop);                                                           \
        }                                                                                          \
    } while (0)

#define EXPECT_TRUE(x) UTEST_BOOL_(x, 1, NULL, 0)
#define EXPECT_FALSE(x) UTEST_BOOL_(x, 0, NULL, 0)
#define EXPECT_EQ(x, y) UTEST_COND_(x, y, ==, NULL, 0)
#define EXPECT_NE(x, y) UTEST_COND_(x, y, !=, NULL, 0)
#define EXPECT_LT(x, y) UTEST_COND_(x, y, <, NULL, 0)
#define EXPECT_LE(x, y) UTEST_COND_(x, y, <=, NULL, 0)
#define EXPECT_GT(x, y) UTEST_COND_(x, y, >, NULL, 0)
#define EXPECT_GE(x, y) UTEST_COND_(x, y, >=, NULL, 0)
#define EXPECT_STREQ(x, y) UTEST_STREQ_(x, y, NULL, 0)
#define EXPECT_STRNE(x, y) UTEST_STRNE_(x, y, NULL, 0)
#define EXPECT_STRNEQ(x, y, n) UTEST_STRNEQ_(x, y, n, NULL, 0)
#define EXPECT_STRNNE(x, y, n) UTEST_STRNNE_(x, y, n, NULL, 0)
#define EXPECT_NEAR(x, y, epsilon) UTEST_NEAR_(x, y, epsilon, NULL, 0)

#define ASSERT_TRUE(x) UTEST_BOOL_(x, 1, NULL, 1)
#define ASSERT_FALSE(x) UTEST_BOOL_(x, 0, NULL, 1)
#define ASSERT_EQ(x, y) UTEST_COND_(x, y, ==, NULL, 1)
#define ASSERT_NE(x, y) UTEST_COND_(x, y, !=, NULL, 1)
#define ASSERT_LT(x, y) UTEST_COND_(x, y, <, NULL, 1)
#define ASSERT_LE(x, y) UTEST_COND_(x, y, <=, NULL, 1)
#define ASSERT_GT(x, y) UTEST_COND_(x, y, >, NULL, 1)
#define ASSERT_GE(x, y) UTEST_COND_(x, y, >=, NULL, 1)
#define ASSERT_STREQ(x, y) UTEST_STREQ_(x, y, NULL, 1)
#define ASSERT_STRNE(x, y) UTEST_STRNE_(x, y, NULL, 1)
#define ASSERT_STRNEQ(x, y, n) UTEST_STRNEQ_(x, y, n, NULL, 1)
#define ASSERT_STRNNE(x, y, n) UTEST_STRNNE_(x, y, n, NULL, 1)
#define ASSERT_NEAR(x, y, epsilon) UTEST_NEAR_(x, y, epsilon, NULL, 1)

#define EXPECT_TRUE_MSG(x, msg) UTEST_BOOL_(x, 1, msg, 0)
#define EXPECT_FALSE_MSG(x, msg) UTEST_BOOL_(x, 0, msg, 0)
#define EXPECT_EQ_MSG(x, y, msg) UTEST_COND_(x, y, ==, msg, 0)
#define EXPECT_NE_MSG(x, y, msg) UTEST_COND_(x, y, !=, msg, 0)
#define EXPECT_LT_MSG(x, y, msg) UTEST_COND_(x, y, <, msg, 0)
#define EXPECT_LE_MSG(x, y, msg) UTEST_COND_(x, y, <=, msg, 0)
#define EXPECT_GT_MSG(x, y, msg) UTEST_COND_(x, y, >, msg, 0)
#define EXPECT_GE_MSG(x, y, msg) UTEST_COND_(x, y, >=, msg, 0)
#define EXPECT_STREQ_MSG(x, y, msg) UTEST_STREQ_(x, y, msg, 0)
#define EXPECT_STRNE_MSG(x, y, msg) UTEST_STRNE_(x, y, msg, 0)
#define EXPECT_NEAR_MSG(x, y, epsilon, msg) UTEST_NEAR_(x, y, epsilon, msg, 0)

#define ASSERT_TRUE_MSG(x, msg) UTEST_BOOL_(x, 1, msg, 1)
#define ASSERT_FALSE_MSG(x, msg) UTEST_BOOL_(x, 0, msg, 1)
#define ASSERT_EQ_MSG(x, y, msg) UTEST_COND_(x, y, ==, msg, 1)
#define ASSERT_NE_MSG(x, y, msg) UTEST_COND_(x, y, !=, msg, 1)
#define ASSERT_LT_MSG(x, y, msg) UTEST_COND_(x, y, <, msg, 1)
#define ASSERT_LE_MSG(x, y, msg) UTEST_COND_(x, y, <=, msg, 1)
#define ASSERT_GT_MSG(x, y, msg) UTEST_COND_(x, y, >, msg, 1)
#define ASSERT_GE_MSG(x, y, msg) UTEST_COND_(x, y, >=, msg, 1)
#define ASSERT_STREQ_MSG(x, y, msg) UTEST_STREQ_(x, y, msg, 1)
#define ASSERT_STRNE_MSG(x, y, msg) UTEST_STRNE_(x, y, msg, 1)
#define ASSERT_NEAR_MSG(x, y, epsilon, msg) UTEST_NEAR_(x, y, epsilon, msg, 1)

/* ---- the runner ------------------------------------------------------------------------------ */

/* `*` in the pattern matches any number of characters. */
static inline int utest_matches(const char *pattern, const char *name) {
    const char *star = NULL, *resume = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            resume = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++resume;
        } else {
            return 0;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

static inline long long utest_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000ll + t.tv_nsec;
}

static inline int utest_main(int argc, const char *const argv[]) {
    static const char *const word[] = {"[       OK ]", "[  FAILED  ]", "[  SKIPPED ]"};
    const char *filter = "*";
    size_t count[3] = {0, 0, 0}, ran = 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* the name of the case must not get lost in a crash */
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--filter=", 9) == 0) {
            filter = argv[i] + 9;
        } else if (strcmp(argv[i], "--list-tests") == 0) {
            for (struct utest_case *c = utest_state.first; c; c = c->next) printf("%s\n", c->name);
            return 0;
        } else {
            printf("usage: %s [--list-tests] [--filter=PATTERN]   (* stands for anything)\n",
                   argv[0]);
            return strcmp(argv[i], "--help") != 0;
        }
    }
    for (struct utest_case *c = utest_state.first; c; c = c->next) {
        if (!utest_matches(filter, c->name)) continue;
        int result = UTEST_TEST_PASSED;
        printf("[ RUN      ] %s\n", c->name);
        long long start = utest_now_ns();
        c->run(&result);
        printf("%s %s (%lldns)\n", word[result], c->name, utest_now_ns() - start);
        count[result]++;
        ran++;
    }
    printf("[==========] %zu test cases ran.\n", ran);
    if (count[2]) printf("[  SKIPPED ] %zu tests.\n", count[2]);
    printf("[  PASSED  ] %zu tests.\n", count[0]);
    if (count[1]) printf("[  FAILED  ] %zu tests.\n", count[1]);
    return count[1] != 0;
}

#define UTEST_STATE() struct utest_state_s utest_state = {NULL, NULL}
#define UTEST_MAIN()                                                                               \
    UTEST_STATE();                                                                                 \
    int main(int argc, const char *const argv[]) { return utest_main(argc, argv); }

#endif
