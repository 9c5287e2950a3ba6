/* tool_config.c: a tool whose configuration is a Flow. It adds up the bytes of files as the
 * definition describes.
 *
 * Its provider `checksum` is a blocking one: a C function that waits in mwl_sleep() and mwl_await()
 * while other calls continue. Reading a file would block the VM's thread, so another thread does it
 * and sends the answer. The main loop sleeps until the VM is due or an answer wakes it.
 *
 *   tool_config CONFIG.json FILE... */
#define _POSIX_C_SOURCE 200809L /* clocks and threads, also with -std=c11 */

#include <mwl_asm.h>
#include <mwl_std.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char checksum_document[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\", \"uri\": "
    "\"mwl:provider.call/acme/checksum/v1\","
    " \"codePrefix\": \"Checksum\", \"description\": \"Adds up the bytes of the file that the "
    "input names.\","
    " \"parameters\": {\"type\": \"object\", \"properties\": {"
    "   \"pause\": {\"type\": \"string\", \"format\": \"duration\"}}},"
    " \"failureCatalog\": {\"closed\": [\"Provider.Call.Checksum.Unreadable\"], \"open\": []}}";

/* ---- the thread that blocks ------------------------------------------------------------------ */

typedef struct job {
    struct job *next;
    mwl_token *answer;
    char path[]; /* a copy: values belong to the VM's thread */
} job;

typedef struct tool {
    pthread_mutex_t lock;
    pthread_cond_t work, woken;
    job *jobs;
    bool stop, wake;
} tool;

static void read_file(const job *j) {
    char text[600];
    unsigned long sum = 0, size = 0;
    FILE *f = fopen(j->path, "rb");
    if (!f) {
        snprintf(text, sizeof text, "%.500s cannot be read", j->path);
        mwl_token_fail(j->answer, NULL, "Provider.Call.Checksum.Unreadable", text, NULL, 0);
        return;
    }
    for (int c; (c = getc(f)) != EOF; size++) sum = (sum * 31 + (unsigned long)c) & 0xffffffff;
    fclose(f);
    int n = snprintf(text, sizeof text, "{\"sum\": %lu, \"bytes\": %lu}", sum, size);
    /* an error status means that the call does not wait any more: nothing to do then */
    mwl_token_succeed(j->answer, text, (size_t)n);
}

static void *read_files(void *arg) {
    tool *t = arg;
    for (;;) {
        pthread_mutex_lock(&t->lock);
        while (!t->jobs && !t->stop) pthread_cond_wait(&t->work, &t->lock);
        job *j = t->jobs;
        if (j) t->jobs = j->next;
        pthread_mutex_unlock(&t->lock);
        if (!j) return NULL;
        if (mwl_token_wanted(j->answer)) read_file(j);
        mwl_token_release(j->answer);
        free(j);
    }
}

static bool give_out(tool *t, mwl_call *call, const char *path) {
    job *j = malloc(sizeof *j + strlen(path) + 1);
    if (!j || mwl_call_token(call, &j->answer) < 0) {
        free(j);
        return false;
    }
    strcpy(j->path, path);
    pthread_mutex_lock(&t->lock);
    j->next = t->jobs;
    t->jobs = j;
    pthread_cond_signal(&t->work);
    pthread_mutex_unlock(&t->lock);
    return true;
}

/* ---- the provider ---------------------------------------------------------------------------- */

static void checksum(mwl_call *call, void *user) {
    size_t len;
    const char *path = mwl_as_text(mwl_call_input(call), &len);
    const char *pause = mwl_as_text(mwl_get(mwl_call_arguments(call), "pause"), &len);
    int64_t ns = 0;
    mwl_value answer;
    if (!path || (pause && mwl_duration_parse(pause, len, &ns) < 0)) {
        mwl_call_fail(call, NULL, "Provider.Call.Checksum.Unreadable", "the input must name a file",
                      mwl_absent());
        return;
    }
    if (mwl_sleep(call, ns) < 0) return; /* cancelled: there is nothing to free */
    if (!give_out(user, call, path)) {
        mwl_call_fail(call, NULL, "Provider.Call.Checksum.Unreadable", "out of memory",
                      mwl_absent());
        return;
    }
    mwl_heap *h = mwl_call_heap(call);
    switch (mwl_await(call, &answer)) {
    case MWL_OK:
        mwl_call_succeed(
            call, mwl_object_set(h, answer, "file", 4, mwl_value_keep(mwl_call_input(call))));
        break;
    case MWL_E_FAILED: mwl_call_settle(call, answer); break;
    default: break; /* cancelled: the thread's answer will be refused */
    }
}

/* ---- the tool -------------------------------------------------------------------------------- */

static void wake(void *ctx) { /* called on the thread that sends the answer */
    tool *t = ctx;
    pthread_mutex_lock(&t->lock);
    t->wake = true;
    pthread_cond_signal(&t->woken);
    pthread_mutex_unlock(&t->lock);
}

static void wait_until(tool *t, int64_t delay_ns) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(delay_ns / 1000000000);
    until.tv_nsec += (long)(delay_ns % 1000000000);
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_mutex_lock(&t->lock);
    while (!t->wake && pthread_cond_timedwait(&t->woken, &t->lock, &until) == 0) continue;
    t->wake = false;
    pthread_mutex_unlock(&t->lock);
}

static mwl_program *load_config(const char *path) {
    static char text[1 << 16];
    FILE *f = fopen(path, "rb");
    size_t len = f ? fread(text, 1, sizeof text, f) : 0;
    if (f) fclose(f);
    mwl_asm_provider document = {"checksum.json", checksum_document, sizeof checksum_document - 1};
    mwl_asm_options options = {.file = path, .providers = &document, .n_providers = 1};
    mwl_asm_result out;
    mwl_program *program = NULL;
    if (mwl_assemble(text, len, &options, &out) == MWL_OK)
        mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &program, NULL);
    fputs(out.diagnostics, stderr); /* shows the users where their configuration is wrong */
    mwl_asm_free(&out);
    return program;
}

static int run_config(tool *t, mwl_vm *vm, mwl_program *program, char **files, int n) {
    mwl_heap *h = mwl_vm_heap(vm);
    mwl_value list = mwl_array(h, (size_t)n);
    for (int i = 0; i < n; i++)
        list = mwl_array_push(h, list, mwl_string(h, files[i], strlen(files[i])));
    mwl_start start = {.input = mwl_object_set(h, mwl_object(h, 1), "files", 5, list)};
    mwl_run *run = NULL;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status st = mwl_run_start(vm, program, &start, &run, &error);
    mwl_value_drop(h, start.input);
    if (st < 0) fprintf(stderr, "tool_config: %s: %s\n", mwl_status_text(st), error.message);
    while (run && mwl_run_get_state(run) < MWL_RUN_DONE) {
        int64_t due = mwl_vm_pump(vm, MWL_NO_BUDGET);
        mwl_instant now;
        mwl_vm_now(vm, &now);
        if (due != 0 && mwl_run_get_state(run) < MWL_RUN_DONE)
            wait_until(t, due == MWL_NEVER ? 1000000000 : due - now.mono_ns);
    }
    char *text;
    size_t len;
    int failed = !run || !mwl_run_succeeded(run);
    if (run && mwl_json_write(h, mwl_run_result(run), MWL_JSON_PRETTY, &text, &len) == MWL_OK) {
        puts(text);
        mwl_text_free(h, text, len);
    }
    mwl_run_free(run);
    return failed;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: tool_config CONFIG.json FILE...\n");
        return 2;
    }
    tool t = {.jobs = NULL};
    pthread_mutex_init(&t.lock, NULL);
    pthread_cond_init(&t.work, NULL);
    pthread_cond_init(&t.woken, NULL);
    mwl_config config = mwl_config_default();
    config.wake = wake;
    config.wake_ctx = &t;
    (void)mwl_stack_watch(); /* if checksum overflows its stack, a message says so */
    static const mwl_call_provider provider = {.uri = "mwl:provider.call/acme/checksum/v1",
                                               .document = checksum_document,
                                               .blocking = checksum};
    mwl_program *program = load_config(argv[1]);
    mwl_vm *vm = NULL;
    pthread_t reader;
    if (!program || mwl_vm_new(&config, &vm) < 0 || mwl_std_register(vm, NULL) < 0 ||
        mwl_vm_provide(vm, &provider, 1, &t, NULL) < 0 ||
        pthread_create(&reader, NULL, read_files, &t) != 0)
        return 1;
    int failed = run_config(&t, vm, program, argv + 2, argc - 2);
    pthread_mutex_lock(&t.lock);
    t.stop = true;
    pthread_cond_signal(&t.work);
    pthread_mutex_unlock(&t.lock);
    pthread_join(reader, NULL);
    mwl_program_release(program);
    mwl_vm_free(vm);
    return failed;
}
