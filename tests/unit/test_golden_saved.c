/* test_golden_saved.c: runs that an earlier build has saved: tests/golden/saved has each as bytes,
 * with its definition. They load into today's program, have the same bytes again, and go on to
 * their Results. If this fails, runs in somebody's store do not load any more either: keep the
 * format and the tables as they are, or raise the version of the format (vm/snapshot/FORMAT.md).
 * With MWL_GOLDEN_UPDATE set, it writes the bytes again. */
#include "utest.h"

#include "mwl_asm.h"
#include "mwl_std.h"
#include "vm/snapshot/header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S INT64_C(1000000000)
#define SLOW_URI "mwl:provider.call/test/slow/v1"

static const char slow_document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" SLOW_URI
    "\",\"codePrefix\":\"Slow\",\"description\":\"d\",\"parameters\":{\"type\":\"object\","
    "\"properties\":{}},\"failureCatalog\":{\"closed\":[],\"open\":[]}}";

static void slow_start(mwl_call *c, void *user) { (void)c, (void)user; }
static const mwl_call_provider slow = {
    .uri = SLOW_URI, .document = slow_document, .start = slow_start};

static void read_clock(void *ctx, mwl_instant *out) { *out = *(const mwl_instant *)ctx; }

static mwl_vm *make_vm(mwl_instant *now) {
    mwl_config c = mwl_config_default();
    mwl_vm *vm = NULL;
    c.clock = (mwl_clock){read_clock, now};
    c.seed = 7;
    if (mwl_vm_new(&c, &vm) == MWL_OK && mwl_std_add(vm, MWL_STD_ALL, NULL) == MWL_OK &&
        mwl_vm_provide(vm, &slow, 1, NULL, NULL) == MWL_OK)
        return vm;
    mwl_vm_free(vm);
    return NULL;
}

typedef struct blob {
    char bytes[8192]; /* and a NUL */
    size_t size;
} blob;

static bool read_blob(blob *b, const char *name, const char *end) {
    char path[512];
    snprintf(path, sizeof path, MWL_SOURCE_DIR "/tests/golden/saved/%s.%s", name, end);
    FILE *file = fopen(path, "rb");
    b->size = file ? fread(b->bytes, 1, sizeof b->bytes - 1, file) : 0;
    b->bytes[b->size] = '\0';
    if (file) fclose(file);
    return b->size > 0 && b->size < sizeof b->bytes - 1;
}

static mwl_program *assemble(const char *name) {
    const mwl_asm_provider document = {"slow", slow_document, sizeof slow_document - 1};
    blob text;
    mwl_asm_options options;
    memset(&options, 0, sizeof options);
    options.providers = &document;
    options.n_providers = 1;
    mwl_asm_result out;
    mwl_program *program = NULL;
    if (!read_blob(&text, name, "json")) return NULL;
    if (mwl_assemble(text.bytes, text.size, &options, &out) == MWL_OK)
        (void)mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &program, NULL);
    else
        fprintf(stderr, "%s\n", out.diagnostics);
    mwl_asm_free(&out);
    return program;
}

/* ---- the runs -------------------------------------------------------------------------------- */

static const struct row {
    const char *name;
    bool waits, cancel; /* it was saved before it began; it was cancelled */
    bool calls;         /* a call is dispatched again when it is loaded: its attempt differs */
    const char *result;
} rows[] = {
    {"sleep", false, false, false,
     "{\"type\":\"success\",\"value\":{\"text\":\"some words\",\"twice\":[7,7]}}"},
    {"call", false, false, true, "{\"type\":\"success\",\"value\":[\"X.Y\",8]}"},
    {"gather", false, false, false,
     "{\"type\":\"success\",\"value\":[[1,\"late\"],[2,\"late\"],[3,\"late\"]]}"},
    {"gap", false, false, false,
     "{\"type\":\"error\",\"code\":\"Provider.Middleware.Retry.Exhausted\",\"message\":\"gave up "
     "after 3 attempts\",\"details\":{\"attempts\":3,\"policy\":0},\"previous\":{\"type\":"
     "\"error\",\"code\":\"X.Y\"}}"},
    {"cleanup", false, true, false,
     "{\"type\":\"error\",\"code\":\"X.Z\",\"previous\":{\"type\":\"cancellation\",\"code\":"
     "\"System.Cancelled\",\"message\":\"enough\",\"details\":{\"reason\":\"enough\"}}}"},
    {"start", true, false, false, "{\"type\":\"success\",\"value\":7}"},
    {"done", false, false, false, "{\"type\":\"success\",\"value\":[7,1.5,null]}"},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* Saves the run again, for those who have raised the version of the format. */
static void update(const struct row *row, mwl_program *program) {
    mwl_instant now = {5 * S, INT64_C(1700000000) * S};
    mwl_vm *vm = make_vm(&now);
    const mwl_start how = {.id = "golden", .input = mwl_number(7)};
    mwl_run *run = NULL;
    void *bytes = NULL;
    size_t size = 0;
    if (mwl_run_start(vm, program, &how, &run, NULL) == MWL_OK && !row->waits)
        mwl_vm_pump(vm, MWL_NO_BUDGET);
    if (row->cancel) {
        mwl_run_cancel(run, "enough");
        mwl_vm_pump(vm, MWL_NO_BUDGET);
    }
    (void)mwl_run_save(run, &bytes, &size, NULL);
    char path[512];
    snprintf(path, sizeof path, MWL_SOURCE_DIR "/tests/golden/saved/%s.mwls", row->name);
    FILE *file = fopen(path, "wb");
    if (file) {
        fwrite(bytes, 1, size, file);
        fclose(file);
    }
    mwl_bytes_free(vm, bytes, size);
    mwl_run_free(run);
    mwl_vm_free(vm);
}

/* Saves the run again: how many bytes are different? The id of the program is that of the image,
 * which may be another one, and so may the checksum. -1: it cannot be compared. */
static int bytes_that_differ(mwl_vm *vm, mwl_run *run, const blob *b) {
    void *given = NULL;
    size_t size = 0;
    int n = 0;
    if (mwl_run_save(run, &given, &size, NULL) < 0 || size != b->size) n = -1;
    const unsigned char *bytes = given;
    for (size_t i = 0; n >= 0 && i < size; i++)
        if (i < 8 || i >= 40 || (i >= 16 && i < 24)) n += bytes[i] != (unsigned char)b->bytes[i];
    mwl_bytes_free(vm, given, size);
    return n;
}

/* Goes on with a run to its end: answers its calls, and lets time pass. */
static void finish(mwl_vm *vm, mwl_run *run, mwl_instant *now, char *out, size_t cap) {
    mwl_wait wait;
    for (int i = 0; i < 10 && mwl_run_get_state(run) != MWL_RUN_DONE; i++) {
        int64_t due = mwl_vm_pump(vm, MWL_NO_BUDGET);
        if (mwl_run_waits(run, 0, &wait) && strcmp(wait.provider, SLOW_URI) == 0)
            (void)mwl_run_answer(run, wait.number, true, mwl_number(8));
        else if (due != MWL_NEVER && due > now->mono_ns)
            now->wall_ns += due - now->mono_ns, now->mono_ns = due;
    }
    char *text = NULL;
    size_t len = 0;
    snprintf(out, cap, "state %d", (int)mwl_run_get_state(run));
    if (mwl_run_get_state(run) != MWL_RUN_DONE) return;
    if (mwl_json_write(mwl_vm_heap(vm), mwl_run_result(run), MWL_JSON_COMPACT, &text, &len) ==
        MWL_OK)
        snprintf(out, cap, "%s", text);
    mwl_text_free(mwl_vm_heap(vm), text, len);
}

static void go_on(int *utest_result, const struct row *row, mwl_program *program, const blob *b) {
    mwl_saved saved;
    ASSERT_EQ(MWL_OK, (int)mwl_saved_read(b->bytes, b->size, &saved));
    mwl_instant now = saved.at;
    mwl_vm *vm = make_vm(&now);
    ASSERT_TRUE(vm != NULL);
    const mwl_load how = {.program = program};
    mwl_error error = {MWL_OK, "", 0};
    mwl_run *run = NULL;
    char result[1024];
    EXPECT_EQ_MSG(MWL_OK, (int)mwl_run_load(vm, b->bytes, b->size, &how, &run, &error),
                  error.message);
    if (run) {
        EXPECT_STREQ("golden", mwl_run_id(run));
        EXPECT_EQ_MSG((int)row->calls, bytes_that_differ(vm, run, b), row->name);
        finish(vm, run, &now, result, sizeof result);
        EXPECT_STREQ(row->result, result);
    }
    mwl_run_free(run);
    mwl_vm_free(vm);
}

UTEST(golden_saved, runs_of_an_earlier_build_go_on) {
    for (size_t i = 0; i < N_ROWS; i++) {
        blob b;
        mwl_program *program = assemble(rows[i].name);
        ASSERT_TRUE(program != NULL);
        if (getenv("MWL_GOLDEN_UPDATE")) update(&rows[i], program);
        ASSERT_TRUE(read_blob(&b, rows[i].name, "mwls"));
        go_on(utest_result, &rows[i], program, &b);
        mwl_program_release(program);
    }
}

/* An earlier assembler has made another image of the definition, with another id. The shape is the
 * same, so the run goes on; with another shape it is refused. */
UTEST(golden_saved, of_the_image_of_an_earlier_assembler) {
    for (size_t i = 0; i < N_ROWS; i++) {
        blob b;
        mwl_program *program = assemble(rows[i].name);
        ASSERT_TRUE(program != NULL);
        ASSERT_TRUE(read_blob(&b, rows[i].name, "mwls"));
        for (int at = 24; at < 40; at++) b.bytes[at] ^= 0x55;
        mwl__saved_reseal((unsigned char *)b.bytes, b.size);
        go_on(utest_result, &rows[i], program, &b);
        b.bytes[40] ^= 1;
        mwl__saved_reseal((unsigned char *)b.bytes, b.size);
        mwl_instant now = {0, 0};
        mwl_vm *vm = make_vm(&now);
        const mwl_load how = {.program = program};
        mwl_run *run = NULL;
        EXPECT_EQ(MWL_E_SNAPSHOT, (int)mwl_run_load(vm, b.bytes, b.size, &how, &run, NULL));
        mwl_vm_free(vm);
        mwl_program_release(program);
    }
}

UTEST_MAIN()
