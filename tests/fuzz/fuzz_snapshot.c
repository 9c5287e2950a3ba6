/* Any bytes as a saved run, with the checksum mended: loading refuses them or makes a run that ends
 * within its fuel; nothing is left in memory. What loads can be saved, and those bytes load again
 * and are written again to the letter.
 *
 * The first byte says what the rest is: a whole body; or, with 0x80, changes of a real one. Then
 * the second byte chooses the run, and each change has four bytes: what is done, the item (two
 * bytes, its place in the tree), and with what. */
#include "mwl_asm.h"
#include "mwl_std.h"
#include "tests/unit/cbor_tree.h"

#include <stdio.h>

#define S INT64_C(1000000000)
#define FLOW(more, steps)                                                                          \
    "{'$schema':'https://mwl.dev/v0.1/flow/schema.json'," more "'entrypoint':'a','steps':{" steps  \
    "'z':{'action':'Return'}}}"
#define MOCK "'provider':'mwl:provider.call/mwl/mock/v1'"
#define MIDDLEWARE(name) "'provider':'mwl:provider.middleware/mwl/" name "/v1'"
#define SLOW_URI "mwl:provider.call/test/slow/v1"
#define SLOW "'provider':'" SLOW_URI "'"
#define TIMEOUT "{" MIDDLEWARE("timeout") ",'onEntry':{'with':{'duration':'PT30S'}}}"
#define RETRY                                                                                      \
    "{" MIDDLEWARE("retry") ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},"            \
                            "'attempts':3,'backoff':{'initial':'PT9S'}}]}}}"
#define FINALLY(call) "{" MIDDLEWARE("finally") ",'onAlways':{'with':{'call':{" call "}}}}"
#define FAILS "'with':{'delay':'PT1S','failure':{'code':'X.Y'}}"
#define INNER "'flow':{'entrypoint':'b','steps':{'b':{'action':'Sleep','for':'PT1H','next':'c'},"

static const char *const definitions[] = {
    FLOW("", "'a':{'action':'Sleep','for':'PT1H','next':'z'},"),
    FLOW("'parameters':{'type':'object','properties':{'x':{'default':0}}},",
         "'a':{'action':'Call','middleware':[" TIMEOUT "," RETRY "],'call':{" MOCK
         ",'with':{'delay':'PT5S'},'onSuccess':{'assign':{'x':'{{ call.result.value }}'}}},"
         "'next':'z'},"),
    FLOW("", "'a':{'action':'Call','middleware':[" TIMEOUT
             "," FINALLY(MOCK ",'with':{'delay':'PT1S'}") "],'call':{" SLOW "},'next':'z'},"),
    FLOW("'middleware':[" FINALLY(MOCK "," FAILS) "," FINALLY(SLOW) "],",
         "'a':{'action':'Call','middleware':[" RETRY "],'call':{" MOCK "," FAILS
         "},'catch':[{'match':{'codes':['X.Y']},'next':'b'}],'next':'z'},"
         "'b':{'action':'Call','middleware':[" TIMEOUT "],'call':{" SLOW "},'next':'z'},"),
    FLOW("", "'a':{'action':'Gather','over':'{{ [1, 2, 3] }}','concurrency':2,'call':{" INNER
             "'c':{'action':'Return'}}},'onSuccess':{'value':'{{ flow.input }}'}},'next':'z'},"),
    FLOW("'middleware':[" TIMEOUT "],",
         "'a':{'action':'Gather','calls':[{" SLOW "},{" MOCK "," FAILS "},{" INNER
         "'c':{'action':'Call','middleware':[" FINALLY(
             SLOW) "],'call':{" MOCK "," FAILS "},'next':'d'},'d':{'action':'Return'}}}}],"
                   "'next':'z'},"),
    FLOW("'parameters':{'type':'object','properties':{'n':{'default':0}}},",
         "'a':{'action':'Call','middleware':[{" MIDDLEWARE(
             "loop") ",'onEntry':{'with':{'delay':'PT1S'}},'onSuccess':{'when':'{{ vars.n < 3.0 "
                     "}}','assign':{'n':'{{ vars.n + 1.0 }}'}}}],'call':{" MOCK "},'next':'z'},"),
};
enum { N = sizeof definitions / sizeof *definitions, MOMENTS = 6, N_VALUES = 2000 };

static const char document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" SLOW_URI
    "\",\"codePrefix\":\"Slow\",\"description\":\"d\",\"parameters\":{\"type\":\"object\","
    "\"properties\":{}},\"failureCatalog\":{\"closed\":[],\"open\":[\"Provider.Call.Slow.*\"]}}";

/* Settles when the host says so; asked to stop, it takes its time. */
static void slow_start(mwl_call *c, void *user) { (void)c, (void)user; }
static const mwl_call_provider slow = {
    .uri = SLOW_URI, .document = document, .start = slow_start, .cancel = slow_start};

static const mwl_limits limits = {.fuel = 100000,
                                  .memory_bytes = 1 << 20,
                                  .frame_depth = 64,
                                  .entry_depth = 64,
                                  .fan_out = 1000,
                                  .chain_depth = 64};

static mwl_vm *make_vm(void) {
    mwl_config c = mwl_config_default();
    mwl_vm *vm = NULL;
    c.virtual_time = true;
    c.limits = limits;
    if (mwl_vm_new(&c, &vm) < 0 || mwl_std_add(vm, MWL_STD_ALL, NULL) < 0 ||
        mwl_vm_provide(vm, &slow, 1, NULL, NULL) < 0)
        abort();
    return vm;
}

/* ---- real runs ------------------------------------------------------------------------------- */

static mwl_program *program_of(unsigned i) {
    static mwl_program *programs[N];
    if (programs[i]) return programs[i];
    static const mwl_asm_provider known = {"slow", document, sizeof document - 1};
    const mwl_asm_options options = {.providers = &known, .n_providers = 1};
    mwl_asm_result image;
    char *text = strdup(definitions[i]);
    for (char *p = text; *p; p++)
        if (*p == '\'') *p = '"';
    if (mwl_assemble(text, strlen(text), &options, &image) != MWL_OK ||
        mwl_program_load(NULL, image.image, image.image_size, MWL_COPY, &programs[i], NULL) < 0) {
        fprintf(stderr, "%u: %s\n", i, image.diagnostics ? image.diagnostics : "");
        abort();
    }
    mwl_asm_free(&image);
    free(text);
    return programs[i];
}

/* Ends the first call that waits for the host. */
static bool answer(mwl_run *run, bool ok) {
    mwl_wait wait;
    for (uint32_t i = 0; mwl_run_waits(run, i, &wait); i++)
        if (strcmp(wait.provider, SLOW_URI) == 0 && !wait.cancelled)
            return mwl_run_answer(run, wait.number, ok, mwl_null()) == MWL_OK;
    return false;
}

typedef struct saved {
    unsigned char *bytes;
    size_t size;
} saved;

/* The bytes of a run of this program: where it first waits, later, and while it is unwound. */
static saved saved_of(unsigned i, unsigned moment) {
    static saved all[N][MOMENTS];
    saved *s = &all[i][moment];
    if (s->bytes) return *s;
    mwl_vm *vm = make_vm();
    mwl_run *run = NULL;
    void *bytes = NULL;
    if (mwl_run_start(vm, program_of(i), NULL, &run, NULL) < 0) abort();
    while (mwl_vm_pump(vm, 0) == 0) continue;
    static const int64_t later[MOMENTS] = {0, 2 * S, 11 * S, 35 * S, 0, 2 * S};
    if (later[moment]) mwl_vm_pump(vm, later[moment]);
    if (moment >= 4) mwl_run_cancel(run, "enough");
    while (mwl_vm_pump(vm, 0) == 0) continue;
    if (mwl_run_save(run, &bytes, &s->size, NULL) < 0) abort();
    s->bytes = malloc(s->size);
    memcpy(s->bytes, bytes, s->size);
    mwl_bytes_free(vm, bytes, s->size);
    mwl_run_free(run);
    mwl_vm_free(vm);
    return *s;
}

/* ---- changes --------------------------------------------------------------------------------- */

static size_t count(const node *t) {
    size_t n = 1;
    for (size_t i = 0; i < t->n_kids; i++) n += count(&t->kid[i]);
    return n;
}

static node *nth(node *t, size_t *at) {
    if ((*at)-- == 0) return t;
    for (size_t i = 0; i < t->n_kids; i++) {
        node *found = nth(&t->kid[i], at);
        if (found) return found;
    }
    return NULL;
}

static node copy(const node *t, mwl__arena *memory) {
    node out = *t;
    if (!t->n_kids) return out;
    out.kid = mwl__arena_new(memory, t->n_kids * sizeof *out.kid);
    for (size_t i = 0; i < t->n_kids; i++) out.kid[i] = copy(&t->kid[i], memory);
    return out;
}

static void append(node *to, node kid, mwl__arena *memory) {
    if (to->major != MWL_CBOR_ARRAY) return;
    node *all = mwl__arena_new(memory, (to->n_kids + 1) * sizeof *all);
    if (to->n_kids) memcpy(all, to->kid, to->n_kids * sizeof *all);
    all[to->n_kids++] = kid;
    to->kid = all;
}

static void change(node *tree, const uint8_t *how, mwl__arena *memory) {
    static const uint64_t large[] = {0xff,        0x10000,   0xfffffffe, 0xffffffff,
                                     0x100000000, INT64_MAX, UINT64_MAX, INT64_MAX - 5};
    size_t n = count(tree), at = (how[1] + how[2] * 256u) % n, from = (at + how[3]) % n;
    if (how[0] & 0x80) from = how[3] % n;
    node *t = nth(tree, &at), taken = copy(nth(tree, &from), memory);
    switch (how[0] % 10) {
    case 0: tree_uint(t, how[3]); break;
    case 1: tree_simple(t, MWL_CBOR_FALSE + how[3] % 4); break;
    case 2: *t = taken; break;
    case 3:
        if (t->n_kids) t->n_kids -= t->major == MWL_CBOR_MAP ? 2 : 1;
        break;
    case 4: append(t, taken, memory); break;
    case 5: t->n = t->text ? t->n / 2 : t->n ^ UINT64_C(1) << how[3] % 64; break;
    case 6: t->n = t->text ? t->n - (t->n > 0) : t->n + how[3]; break;
    case 7: tree_uint(t, large[how[3] % (sizeof large / sizeof *large)]); break;
    case 8: *t = (node){.major = MWL_CBOR_NEGATIVE, .n = large[how[3] % 6]}; break;
    default: *t = (node){.major = how[3] % 2 ? MWL_CBOR_ARRAY : MWL_CBOR_MAP}; break;
    }
}

static unsigned char *changed(saved from, const uint8_t *data, size_t size, size_t *total) {
    mwl__arena memory = mwl__arena_make(mwl_alloc_default());
    mwl__cbor c = {from.bytes + MWL_SAVED_HEADER, from.bytes + from.size};
    node tree;
    if (!tree_read(&c, &memory, &tree)) abort();
    for (size_t i = 0; i + 4 <= size && i < 48 && count(&tree) < N_VALUES; i += 4)
        change(&tree, data + i, &memory);
    unsigned char *out = tree_bytes(from.bytes, &tree, total);
    mwl__arena_free(&memory);
    return out;
}

static unsigned char *whole(mwl_program *program, unsigned flags, const uint8_t *data, size_t size,
                            size_t *total) {
    *total = MWL_SAVED_HEADER + size;
    unsigned char *bytes = malloc(*total);
    mwl__saved_header h;
    memset(&h, 0, sizeof h);
    h.flags = (uint16_t)flags;
    mwl_program_id(program, h.program);
    if (size) memcpy(bytes + MWL_SAVED_HEADER, data, size);
    mwl__saved_seal(bytes, *total, &h);
    return bytes;
}

/* ---- what loads ------------------------------------------------------------------------------ */

/* What was loaded and saved is loaded and saved once more: the same bytes. */
static void again(mwl_run *run, mwl_vm *vm, mwl_program *program) {
    void *bytes = NULL, *second = NULL;
    size_t size = 0, n = 0;
    mwl_run *copied = NULL;
    mwl_error error = {MWL_OK, "", 0};
    if (mwl_run_save(run, &bytes, &size, NULL) != MWL_OK) return;
    const mwl_load how = {.program = program, .flags = MWL_LOAD_TIME_STOOD};
    mwl_status st = mwl_run_load(vm, bytes, size, &how, &copied, &error);
    if (st < 0 && st != MWL_E_NOMEM && st != MWL_E_TOO_BIG) {
        fprintf(stderr, "it was loaded and saved, and then: %s\n", error.message);
        abort();
    }
    if (st == MWL_OK && mwl_run_save(copied, &second, &n, NULL) == MWL_OK) {
        mwl_wait wait;
        bool calls = mwl_run_waits(run, 0, &wait); /* they are dispatched once more */
        if (!calls && (n != size || memcmp(bytes, second, n) != 0)) {
            fprintf(stderr, "it is saved in another way when it was loaded\n");
            abort();
        }
    }
    mwl_bytes_free(vm, second, n);
    mwl_bytes_free(vm, bytes, size);
    mwl_run_free(copied);
}

static void run_out(mwl_vm *vm, mwl_run *run, mwl_program *program, bool cancel) {
    again(run, vm, program);
    if (cancel) mwl_run_cancel(run, "enough");
    for (int i = 0; i < 100 && mwl_run_get_state(run) < MWL_RUN_DONE; i++)
        if (mwl_vm_pump(vm, 3600 * S) == MWL_NEVER && !answer(run, i % 3)) break;
    again(run, vm, program);
    mwl_run_free(run);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    for (unsigned i = 0; i < N; i++)
        for (unsigned moment = 0; moment < MOMENTS; moment++) (void)saved_of(i, moment);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    unsigned which = data[1] % N, moment = data[1] / N % MOMENTS;
    mwl_program *program = program_of(which);
    size_t total;
    unsigned char *bytes = data[0] & 0x80
                               ? changed(saved_of(which, moment), data + 2, size - 2, &total)
                               : whole(program, data[0] >> 6, data + 2, size - 2, &total);
    if (data[0] & 0x10) { /* the clocks when it was saved, of which nothing is promised either */
        memset(bytes + 48 + (data[0] & 8), data[1] / 2 * 3, 8);
        mwl__saved_reseal(bytes, total);
    }
    mwl_vm *vm = make_vm();
    mwl_run *run = NULL;
    const mwl_load how = {.program = program, .flags = data[0] & 5u, .limits = &limits};
    if (mwl_run_load(vm, bytes, total, &how, &run, NULL) == MWL_OK)
        run_out(vm, run, program, data[0] & 0x20);
    free(bytes);
    mwl_vm_free(vm);
    return 0;
}
