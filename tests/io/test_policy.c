/* test_policy.c: what a policy allows, files inside allowed folders, and secrets. */
#include "utest.h"

#include "mwl_io.h"
#include "mwl_std.h"
#include "stdlib/io/io.h"
#include "stdlib/io/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ----------------------------------------------------------------------------------- */

static mwl_io_policy *with(mwl_io_right right, const char *list) {
    mwl_io_policy *p = NULL;
    mwl_error error;
    if (mwl_io_policy_new(&p) < 0 || mwl_io_policy_allow(p, right, list, &error) < 0) abort();
    return p;
}

UTEST(policy, a_new_one_allows_nothing) {
    mwl_io_policy *p = NULL;
    ASSERT_EQ(mwl_io_policy_new(&p), MWL_OK);
    for (int r = 0; r < MWL_IO_N_RIGHTS; r++) {
        EXPECT_FALSE(mwl_io_policy_any(p, (mwl_io_right)r));
        EXPECT_FALSE(mwl_io_policy_allows(p, (mwl_io_right)r, "x"));
    }
    mwl_io_policy_allow_all(p);
    for (int r = 0; r < MWL_IO_N_RIGHTS; r++)
        EXPECT_TRUE(mwl_io_policy_allows(p, (mwl_io_right)r, "x"));
    mwl_io_policy_free(p);
}

UTEST(policy, what_entries_stand_for) {
    static const struct {
        mwl_io_right right;
        const char *list, *what;
        bool allowed;
    } rows[] = {
        {MWL_IO_HTTP, "example.org", "example.org", true},
        {MWL_IO_HTTP, "Example.ORG", "example.org:8080", true},
        {MWL_IO_HTTP, "example.org:443", "example.org:8080", false},
        {MWL_IO_HTTP, "example.org:8080", "example.org:8080", true},
        {MWL_IO_HTTP, "example.org", "a.example.org", false},
        {MWL_IO_HTTP, "*.example.org", "a.example.org", true},
        {MWL_IO_HTTP, "*.example.org", "a.b.example.org:1", true},
        {MWL_IO_HTTP, "*.example.org", "example.org", false},
        {MWL_IO_HTTP, "*.example.org", "badexample.org", false},
        {MWL_IO_HTTP, "[::1]:80", "[::1]:80", true},
        {MWL_IO_HTTP, "[::1]:80", "[::1]:81", false},
        {MWL_IO_HTTP, "a,b:1", "b:1", true},
        {MWL_IO_HTTP, "[0:0::0:1]", "[::1]:80", true},
        {MWL_IO_HTTP, "127.1", "127.0.0.1:80", true},
        {MWL_IO_HTTP, "127.0.0.1", "2130706433:80", true},
        {MWL_IO_HTTP, "127.0.0.1", "0x7f.1:80", true},
        {MWL_IO_HTTP, "127.0.0.1", "[::ffff:127.0.0.1]:80", false},
        {MWL_IO_HTTP, "example.org.", "example.org:80", true},
        {MWL_IO_HTTP, "example.org", "EXAMPLE.org.:80", true},
        {MWL_IO_EXEC, "git", "git", true},
        {MWL_IO_EXEC, "git", "/usr/bin/git", false},
        {MWL_IO_EXEC, "/usr/bin/git", "/usr/bin/../bin/git", true},
        {MWL_IO_EXEC, "git", "gitk", false},
        {MWL_IO_ENV, "HOME", "HOME", true},
        {MWL_IO_ENV, "HOME", "HOMER", false},
        {MWL_IO_ENV, "AWS_*", "AWS_KEY", true},
        {MWL_IO_ENV, "AWS_*", "AW", false},
        {MWL_IO_READ, "/a/b", "/a/b", true},
        {MWL_IO_READ, "/a/b", "/a/b/c/d", true},
        {MWL_IO_READ, "/a/b/", "/a/b/c", true},
        {MWL_IO_READ, "/a/b", "/a/bc", false},
        {MWL_IO_READ, "/a/b", "/a/b/../c", false},
        {MWL_IO_READ, "/", "/x", true},
        {MWL_IO_SQLITE, "/a/x.db", "/a/./x.db", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl_io_policy *p = with(rows[i].right, rows[i].list);
        EXPECT_EQ_MSG(mwl_io_policy_allows(p, rows[i].right, rows[i].what), rows[i].allowed,
                      rows[i].what);
        mwl_io_policy_free(p);
    }
}

UTEST(policy, entries_that_are_refused) {
    static const char *const hosts[] = {"a,,b", "http://x", "x/y",    "x:0", "x:70000",
                                        "x:1a", "[::1",     "a*.org", "*",   "*.*.x",
                                        ":80",  ",",        "",       "[x]", "::1"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        mwl_io_policy *p = NULL;
        mwl_error error = {MWL_OK, NULL, 0};
        ASSERT_EQ(mwl_io_policy_new(&p), MWL_OK);
        EXPECT_EQ_MSG(mwl_io_policy_allow(p, MWL_IO_HTTP, hosts[i], &error), MWL_E_SYNTAX,
                      hosts[i]);
        EXPECT_TRUE(error.message != NULL);
        mwl_io_policy_free(p);
    }
}

UTEST(policy, a_file_is_relative_to_its_folder) {
    static const char text[] = "{\"allow\": {\"read\": [\"data\", \"/etc/x\"], \"env\": true}}";
    mwl_io_policy *p = NULL;
    ASSERT_EQ(mwl_io_policy_new(&p), MWL_OK);
    EXPECT_EQ(mwl_io_policy_read(p, text, sizeof text - 1, "/srv/app/", NULL), MWL_OK);
    EXPECT_TRUE(mwl_io_policy_allows(p, MWL_IO_READ, "/srv/app/data/x"));
    EXPECT_TRUE(mwl_io_policy_allows(p, MWL_IO_READ, "/etc/x"));
    EXPECT_FALSE(mwl_io_policy_allows(p, MWL_IO_READ, "/srv/app/x"));
    EXPECT_FALSE(mwl_io_policy_allows(p, MWL_IO_WRITE, "/srv/app/data"));
    EXPECT_TRUE(mwl_io_policy_allows(p, MWL_IO_ENV, "ANY"));
    mwl_io_policy_free(p);
}

/* ---- a VM with providers --------------------------------------------------------------------- */

typedef struct host {
    uv_loop_t loop;
    mwl_vm *vm;
    mwl_io *io;
    mwl_io_policy *policy;
} host;

static void host_open(host *h, mwl_io_policy *take_policy) {
    memset(h, 0, sizeof *h);
    h->policy = take_policy;
    uv_loop_init(&h->loop);
    const mwl_io_options options = {.policy = take_policy};
    if (mwl_vm_new(NULL, &h->vm) < 0 || mwl_std_add(h->vm, MWL_STD_ALL, NULL) < 0 ||
        mwl_io_open(h->vm, &h->loop, &options, &h->io, NULL) < 0)
        abort();
}

static void on_closed(void *ctx) { *(bool *)ctx = true; }

static bool host_close(host *h) {
    bool closed = false;
    mwl_io_close(h->io, on_closed, &closed);
    while (!closed) uv_run(&h->loop, UV_RUN_ONCE);
    mwl_vm_free(h->vm);
    mwl_io_policy_free(h->policy);
    return uv_loop_close(&h->loop) == 0;
}

UTEST(io, opens_and_closes_without_a_call) {
    host h;
    host_open(&h, NULL);
    EXPECT_EQ(mwl_io_pending(h.io), 0u);
    EXPECT_TRUE(host_close(&h));
    mwl_io_close(NULL, NULL, NULL);
}

/* ---- files ----------------------------------------------------------------------------------- */

struct folder {
    char root[64];
    host h;
};

static void put(const char *root, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
}

static void make_link(const char *root, const char *name, const char *to) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (symlink(to, path) != 0) abort();
}

static void make_folder(const char *root, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (mkdir(path, 0700) != 0) abort();
}

UTEST_F_SETUP(folder) {
    struct folder *f = utest_fixture;
    char allowed[80];
    (void)utest_result;
    snprintf(f->root, sizeof f->root, "/tmp/mwl-policy-XXXXXX");
    ASSERT_TRUE(mkdtemp(f->root) != NULL);
    make_folder(f->root, "in");
    make_folder(f->root, "in/deep");
    make_folder(f->root, "out");
    put(f->root, "in/a", "inside");
    put(f->root, "in/deep/b", "inside");
    put(f->root, "out/secret", "outside");
    make_link(f->root, "in/good", "deep/b");
    make_link(f->root, "in/deep/up", "../a");
    make_link(f->root, "in/bad", "../out/secret");
    make_link(f->root, "in/worse", "../out");
    make_link(f->root, "in/root", "/etc");
    make_link(f->root, "in/self", "self");
    make_link(f->root, "in/around", "deep/../../in/a");
    snprintf(allowed, sizeof allowed, "%s/in", f->root);
    host_open(&f->h, with(MWL_IO_READ, allowed));
}

UTEST_F_TEARDOWN(folder) {
    struct folder *f = utest_fixture;
    char command[100];
    (void)utest_result;
    EXPECT_TRUE(host_close(&f->h));
    snprintf(command, sizeof command, "rm -r %s", f->root);
    EXPECT_EQ(system(command), 0);
}

static const struct {
    const char *path;
    int result; /* 0, or an errno */
} opens[] = {
    {"in/a", 0},         {"in/deep/b", 0},           {"in/deep/../a", 0},
    {"in/good", 0},      {"in/deep/up", 0},          {"in/missing", ENOENT},
    {"in/a/b", ENOTDIR}, {"out/secret", EPERM},      {"in/../out/secret", EPERM},
    {"in/bad", EXDEV},   {"in/worse/secret", EXDEV}, {"in/root/passwd", EXDEV},
    {"in/self", ELOOP},  {"in/around", EXDEV},       {"inside", EPERM},
};

UTEST_F(folder, what_opens) {
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        char path[256], text[16] = "";
        snprintf(path, sizeof path, "%s/%s", utest_fixture->root, opens[i].path);
        int fd = mwl__io_file_open(utest_fixture->h.io, MWL_IO_READ, path, O_RDONLY, 0);
        EXPECT_EQ_MSG(fd < 0 ? -fd : 0, opens[i].result, opens[i].path);
        if (fd < 0) continue;
        EXPECT_EQ(read(fd, text, sizeof text - 1), 6);
        EXPECT_STREQ(text, "inside");
        close(fd);
    }
}

/* Where the kernel has no openat2, the same by hand. */
UTEST_F(folder, the_walk_opens_the_same) {
    char in[100];
    snprintf(in, sizeof in, "%s/in", utest_fixture->root);
    int root = open(in, O_PATH | O_DIRECTORY);
    for (size_t i = 0; i < sizeof opens / sizeof *opens; i++) {
        if (strncmp(opens[i].path, "in/", 3) != 0 || opens[i].result == EPERM) continue;
        int fd = mwl__confine_walk(root, opens[i].path + 3, O_RDONLY, 0);
        EXPECT_EQ_MSG(fd < 0 ? -fd : 0, opens[i].result, opens[i].path);
        if (fd >= 0) close(fd);
    }
    close(root);
}

UTEST_F(folder, another_right_is_not_this_one) {
    char path[256];
    const char *name;
    snprintf(path, sizeof path, "%s/in/a", utest_fixture->root);
    EXPECT_EQ(mwl__io_file_open(utest_fixture->h.io, MWL_IO_WRITE, path, O_WRONLY, 0), -EPERM);
    EXPECT_EQ(mwl__io_file_parent(utest_fixture->h.io, MWL_IO_WRITE, path, &name), -EPERM);
}

UTEST_F(folder, parents) {
    static const struct {
        const char *path, *name;
        int result;
    } rows[] = {{"in/a", "a", 0},           {"in/new", "new", 0},
                {"in/deep/new", "new", 0},  {"in/worse/new", "", EXDEV},
                {"out/new", "", EPERM},     {"in/deep/..", "", EISDIR},
                {"in/none/new", "", ENOENT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[256];
        const char *name = "";
        snprintf(path, sizeof path, "%s/%s", utest_fixture->root, rows[i].path);
        int fd = mwl__io_file_parent(utest_fixture->h.io, MWL_IO_READ, path, &name);
        EXPECT_EQ_MSG(fd < 0 ? -fd : 0, rows[i].result, rows[i].path);
        if (fd < 0) continue;
        EXPECT_STREQ(name, rows[i].name);
        close(fd);
    }
}

/* ---- secrets --------------------------------------------------------------------------------- */

typedef struct out {
    char text[4096];
    size_t len;
} out;

static mwl_status keep(void *ctx, const char *text, size_t len) {
    out *o = ctx;
    if (o->len + len >= sizeof o->text) return MWL_E_TOO_BIG;
    memcpy(o->text + o->len, text, len);
    o->text[o->len += len] = '\0';
    return MWL_OK;
}

/* What a redactor makes of a text that comes in pieces of n bytes. */
static const char *redacted(mwl_io *io, const char *text, size_t n) {
    static out o;
    mwl_io_redactor *r;
    o.len = 0;
    o.text[0] = '\0';
    if (mwl_io_redactor_new(mwl_io_secrets_of(io), keep, &o, &r) < 0) abort();
    for (size_t at = 0, len = strlen(text); at < len; at += n)
        mwl_io_redactor_write(r, text + at, len - at < n ? len - at : n);
    mwl_io_redactor_flush(r);
    mwl_io_redactor_free(r);
    return o.text;
}

UTEST(secret, every_form_is_replaced) {
    static const char *const rows[][2] = {
        {"nothing here", "nothing here"},
        {"key=hunter2+hunter2;", "key=[secret];"},
        {"hunter2+hunter", "hunter2+hunter"},
        {"xhunter2+hunter2hunter2+hunter2y", "x[secret][secret]y"},
        {"?k=hunter2%2Bhunter2&", "?k=[secret]&"},
        {"?k=hunter2%2bhunter2&", "?k=[secret]&"},
        {"Basic aHVudGVyMitodW50ZXIy", "Basic [secret]"},
        {"line\\nbreak\\\"", "[secret]"},
        {"{\"a\":\"xy\"}", "{\"a\":\"[secret]\"}"},
        {"xyz", "xyz"},
        {"{\"pin\":123456,\"n\":[123456]}", "{\"pin\":\"[secret]\",\"n\":[\"[secret]\"]}"},
        {"{\"id\":1234567,\"n\":9123456}", "{\"id\":1234567,\"n\":9123456}"},
        {"the pin is 123456.", "the pin is [secret]."},
    };
    host h;
    host_open(&h, NULL);
    EXPECT_FALSE(mwl_io_secrets_any(mwl_io_secrets_of(h.io)));
    EXPECT_STREQ(redacted(h.io, "hunter2+hunter2", 4), "hunter2+hunter2");
    static const char *const secrets[] = {"hunter2+hunter2", "line\nbreak\"", "xy", "123456", ""};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        EXPECT_EQ(mwl_io_secret(h.io, NULL, secrets[i], strlen(secrets[i])), MWL_OK);
    EXPECT_TRUE(mwl_io_secrets_any(mwl_io_secrets_of(h.io)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t n = 1; n < 40; n += 3) {
            EXPECT_STREQ(redacted(h.io, rows[i][0], n), rows[i][1]);
        }
    EXPECT_TRUE(host_close(&h));
}

/* ---- paths ----------------------------------------------------------------------------------- */

static void expect_shown(int *utest_result, const char *path, const char *json, const char *shown) {
    host h;
    host_open(&h, NULL);
    mwl_heap *heap = mwl_vm_heap(h.vm);
    mwl_io_secrets *set = mwl_io_secrets_of(h.io);
    mwl_value v = mwl_absent();
    char *text = NULL;
    size_t len = 0;
    ASSERT_EQ(mwl_json_parse(heap, json, strlen(json), &v, NULL), MWL_OK);
    for (int twice = 0; twice < 2; twice++)
        EXPECT_EQ(mwl_io_secrets_path(set, NULL, path, strlen(path)), MWL_OK);
    EXPECT_LE(mwl_io_secrets_count(set), 1u);
    mwl_value safe = mwl_io_shown(set, heap, v);
    ASSERT_EQ(mwl_json_write(heap, safe, MWL_JSON_COMPACT, &text, &len), MWL_OK);
    EXPECT_STREQ(text, shown);
    mwl_text_free(heap, text, len);
    mwl_value_drop(heap, safe);
    ASSERT_EQ(mwl_json_write(heap, v, MWL_JSON_COMPACT, &text, &len), MWL_OK);
    EXPECT_STREQ(text, json); /* the value itself is unchanged */
    mwl_text_free(heap, text, len);
    mwl_value_drop(heap, v);
    EXPECT_TRUE(host_close(&h));
}

UTEST(secret, paths_at_every_depth) {
    static const char *const rows[][3] = {
        {"a", "{\"a\":1,\"b\":2}", "{\"a\":\"[secret]\",\"b\":2}"},
        {"a.b", "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}"},
        {"a.b", "[{\"a\":{\"b\":[1],\"c\":0}},3]", "[{\"a\":{\"b\":\"[secret]\",\"c\":0}},3]"},
        {"a.a", "{\"a\":{\"a\":{\"a\":1}}}", "{\"a\":{\"a\":\"[secret]\"}}"},
        {"a.*.b", "{\"a\":[{\"b\":null},{\"c\":1}]}", "{\"a\":[{\"b\":\"[secret]\"},{\"c\":1}]}"},
        {"a.1", "{\"a\":[1,2,3]}", "{\"a\":[1,\"[secret]\",3]}"},
        {"a.*", "{\"a\":{\"x\":1,\"y\":[2]},\"b\":3}",
         "{\"a\":{\"x\":\"[secret]\",\"y\":\"[secret]\"},\"b\":3}"},
        {"*.b", "[{\"b\":true}]", "[{\"b\":\"[secret]\"}]"},
        {"0.b", "[{\"b\":true}]", "[{\"b\":\"[secret]\"}]"},
        {"*", "{\"a\":1}", "{\"a\":1}"},
        {"", "{\"a\":1}", "{\"a\":1}"},
        {"a.b.c", "{\"a\":{\"b\":{\"a\":{\"b\":{\"c\":1}}}}}",
         "{\"a\":{\"b\":{\"a\":{\"b\":{\"c\":\"[secret]\"}}}}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_shown(utest_result, rows[i][0], rows[i][1], rows[i][2]);
}

static mwl_status into_text(void *ctx, const char *text, size_t len) {
    strncat(ctx, text, len);
    return MWL_OK;
}

UTEST(secret, a_set_can_be_written_and_read) {
    char text[400] = "", again[400] = "";
    mwl_io_secrets *one, *other;
    ASSERT_TRUE(mwl_io_secrets_new(&one) == MWL_OK && mwl_io_secrets_new(&other) == MWL_OK);
    EXPECT_EQ(mwl_io_secrets_add(one, NULL, "open\"sesame", 11), MWL_OK);
    EXPECT_EQ(mwl_io_secrets_path(one, NULL, "user.password", 13), MWL_OK);
    EXPECT_EQ(mwl_io_secrets_write(one, NULL, into_text, text), MWL_OK);
    EXPECT_EQ(mwl_io_secrets_read(other, NULL, text, strlen(text)), MWL_OK);
    EXPECT_EQ(mwl_io_secrets_write(other, NULL, into_text, again), MWL_OK);
    EXPECT_STREQ(again, text);
    EXPECT_EQ(mwl_io_secrets_count(other), 2u);
    static const char *const damaged[] = {"", "{", "{\"texts\":[1]}", "{\"paths\":[null]}"};
    for (size_t i = 0; i < 4; i++)
        EXPECT_LT(mwl_io_secrets_read(other, NULL, damaged[i], strlen(damaged[i])), 0);
    mwl_io_secrets_free(one);
    mwl_io_secrets_free(other);
}

/* Texts with much in common are marked by runs, which end in any order: what is left is what a new
 * set with the same texts hides. */
enum { RUNS = 5, WORDS = 40 };

static const char *word(unsigned n, char at[24]) {
    size_t len = 0;
    for (unsigned left = n * 2654435761u % 9973 + 9; left && len < 20; left /= 3)
        for (unsigned k = 0; k <= left % 3; k++) at[len++] = (char)('a' + left % 2);
    while (len < 4) at[len++] = 'x';
    at[len] = '\0';
    return at;
}

static void expect_same(int *utest_result, mwl_io_secrets *left, mwl_io_secrets *right,
                        const char *text) {
    out o[2] = {{{0}, 0}, {{0}, 0}};
    mwl_io_secrets *sets[] = {left, right};
    for (int i = 0; i < 2; i++) {
        mwl_io_redactor *r;
        ASSERT_EQ(mwl_io_redactor_new(sets[i], keep, &o[i], &r), MWL_OK);
        mwl_io_redactor_write(r, text, strlen(text));
        mwl_io_redactor_flush(r);
        mwl_io_redactor_free(r);
    }
    EXPECT_STREQ(o[0].text, o[1].text);
}

static void add_words(mwl_io_secrets *set, const char *run, unsigned seed) {
    char text[24];
    for (unsigned i = 0; i < WORDS; i++) {
        const char *w = word(seed * 31 + i % (WORDS - 5), text);
        if (mwl_io_secrets_add(set, run, w, strlen(w)) != MWL_OK) abort();
    }
    if (mwl_io_secrets_path(set, run, text, strlen(text)) != MWL_OK) abort();
}

UTEST(secret, the_marks_of_a_run_end_with_it) {
    static const char *const names[RUNS] = {"a", "b", "c", "d", "e"};
    char text[24], all[4000] = "";
    for (unsigned i = 0; i < 150; i++) strcat(strcat(all, word(i, text)), " ");
    for (unsigned turn = 0; turn < 200; turn++) {
        mwl_io_secrets *set;
        ASSERT_EQ(mwl_io_secrets_new(&set), MWL_OK);
        for (unsigned i = 0; i < RUNS; i++) add_words(set, names[i], turn + i / 2);
        for (unsigned gone = 1; gone <= RUNS; gone++) {
            mwl_io_secrets *left;
            mwl_io_secrets_end(set, names[(turn + gone * 3) % RUNS]);
            ASSERT_EQ(mwl_io_secrets_new(&left), MWL_OK);
            for (unsigned k = gone + 1; k <= RUNS; k++)
                add_words(left, NULL, turn + (turn + k * 3) % RUNS / 2);
            expect_same(utest_result, set, left, all);
            EXPECT_EQ(mwl_io_secrets_any(set), gone < RUNS);
            mwl_io_secrets_free(left);
        }
        mwl_io_secrets_free(set);
    }
}

UTEST(secret, what_the_host_has_marked_stays) {
    char text[200] = "";
    mwl_io_secrets *set;
    ASSERT_EQ(mwl_io_secrets_new(&set), MWL_OK);
    EXPECT_EQ(mwl_io_secrets_add(set, "run", "of both of them", 15), MWL_OK);
    EXPECT_EQ(mwl_io_secrets_add(set, NULL, "of both of them", 15), MWL_OK);
    EXPECT_EQ(mwl_io_secrets_add(set, "run", "of the run", 10), MWL_OK);
    EXPECT_EQ(mwl_io_secrets_add(set, "run", "of the run", 10), MWL_OK);
    EXPECT_EQ(mwl_io_secrets_write(set, "run", into_text, text), MWL_OK);
    EXPECT_STREQ(text, "{\"texts\":[\"of both of them\",\"of the run\"],\"paths\":[]}");
    mwl_io_secrets_end(set, "run");
    mwl_io_secrets_end(set, "run");
    *text = '\0';
    EXPECT_EQ(mwl_io_secrets_write(set, "run", into_text, text), MWL_OK);
    EXPECT_STREQ(text, "");
    EXPECT_EQ(mwl_io_secrets_write(set, NULL, into_text, text), MWL_OK);
    EXPECT_STREQ(text, "{\"texts\":[\"of both of them\"],\"paths\":[]}");
    mwl_io_secrets_free(set);
}

/* "user:" before the secret moves it inside the base64 text. */
UTEST(secret, base64_at_every_position) {
    static const char *const texts[] = {"b3BlbnNlc2FtZSE=", "eG9wZW5zZXNhbWUh",
                                        "eHhvcGVuc2VzYW1lIQ=="};
    host h;
    host_open(&h, NULL);
    ASSERT_EQ(mwl_io_secret(h.io, NULL, "opensesame!", 11), MWL_OK);
    for (size_t i = 0; i < 3; i++) {
        const char *text = redacted(h.io, texts[i], 5);
        EXPECT_TRUE_MSG(strstr(text, "[secret]") != NULL, text);
        EXPECT_TRUE_MSG(strlen(text) < 8 + 8, text);
    }
    EXPECT_TRUE(host_close(&h));
}

UTEST_MAIN()
