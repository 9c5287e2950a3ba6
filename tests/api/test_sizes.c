/* test_sizes.c: structs of hosts that were compiled with another version of the headers: a size
 * that ends behind a member is completed with zeros, one that ends inside a member is refused. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

typedef struct member {
    const char *name;
    size_t from, to;
} member;
#define M(type, name)                                                                              \
    { #name, offsetof(type, name), offsetof(type, name) + sizeof(((type *)0)->name) }
#define COUNT(list) (sizeof(list) / sizeof *(list))

typedef struct sizes {
    flow f;
    char *definition;
} sizes;

/* Passes a struct of this size to its function. */
typedef mwl_status pass(sizes *s, size_t size);

/* Every size that ends inside a member is refused, and one that ends behind it has `behind`. */
static void expect_sizes(int *utest_result, sizes *s, pass *give, const member *members, size_t n,
                         size_t whole) {
    size_t end = 0;
    for (size_t i = 0; i < n; i++) {
        EXPECT_TRUE(members[i].from >= end && members[i].from - end < 8); /* the list is complete */
        end = members[i].to;
        for (size_t size = members[i].from + 1; size < end; size++)
            if (give(s, size) != MWL_E_USAGE) EXPECT_STREQ(members[i].name, "cut, and accepted");
    }
    EXPECT_TRUE(whole >= end && whole - end < 8);
    EXPECT_EQ((int)give(s, whole), (int)MWL_OK);
}

static mwl_status give_config(sizes *s, size_t size) {
    const mwl_config config = {.virtual_time = true};
    mwl_vm *vm = NULL;
    (void)s;
    mwl_status st = mwl_vm_new_sized(&config, size, &vm);
    mwl_vm_free(vm);
    return st;
}

static mwl_status give_start(sizes *s, size_t size) {
    const mwl_start start = {.id = "x", .input = mwl_number(1)};
    mwl_run *run = NULL;
    mwl_status st = mwl_run_start_sized(s->f.vm, s->f.program, &start, size, &run, NULL);
    mwl_run_free(run);
    return st;
}

static mwl_status give_load(sizes *s, size_t size) {
    void *bytes = NULL;
    size_t n = 0;
    mwl_run *run = NULL, *loaded = NULL;
    const mwl_load how = {.program = s->f.program};
    mwl_status st = mwl_run_start(s->f.vm, s->f.program, NULL, &run, NULL);
    if (st == MWL_OK) st = mwl_run_save(run, &bytes, &n, NULL);
    if (st == MWL_OK) st = mwl_run_load_sized(s->f.vm, bytes, n, &how, size, &loaded, NULL);
    mwl_bytes_free(s->f.vm, bytes, n);
    mwl_run_free(run);
    mwl_run_free(loaded);
    return st;
}

static void never_called(mwl_call *call, void *user) { (void)user, (void)call; }
static void never_entered(mwl_phase *phase, void *user) { (void)phase, (void)user; }

static mwl_status give_call(sizes *s, size_t size) {
    const mwl_call_provider p = {
        .uri = STYLES_URI("cut"), .document = STYLES_DOC("cut"), .start = never_called};
    mwl_status st = mwl_vm_provide_sized(s->f.vm, &p, size, 1, NULL, NULL);
    if (st == MWL_OK) st = mwl_vm_withdraw(s->f.vm, p.uri);
    return st;
}

static mwl_status give_middleware(sizes *s, size_t size) {
    const mwl_middleware m = {
        .uri = "mwl:provider.middleware/acme/cut/v1",
        .document = "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":"
                    "\"mwl:provider.middleware/acme/cut/v1\",\"codePrefix\":\"Cut\","
                    "\"description\":\"A test.\",\"attachment\":[\"step\"],\"phases\":{\"onEntry\":"
                    "{\"action\":{\"kind\":\"control\",\"description\":\"A test.\"},"
                    "\"parameters\":{\"type\":\"object\"}}},"
                    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}",
        .entry = never_entered};
    mwl_status st = mwl_vm_provide_middleware_sized(s->f.vm, &m, size, 1, NULL, NULL);
    if (st == MWL_OK) st = mwl_vm_withdraw(s->f.vm, m.uri);
    return st;
}

static mwl_status give_options(sizes *s, size_t size) {
    const mwl_asm_options options = {.file = "here"};
    mwl_asm_result out;
    mwl_program *program = NULL;
    size_t len = strlen(s->definition);
    mwl_status st = mwl_assemble_sized(s->definition, len, &options, size, &out, sizeof out);
    mwl_asm_free(&out);
    mwl_status other =
        mwl_assemble_for_sized(s->f.vm, s->definition, len, &options, size, &program);
    mwl_program_release(program);
    return st == other ? st : MWL_E_IO;
}

static mwl_status give_result(sizes *s, size_t size) {
    mwl_asm_result out;
    memset(&out, 0, sizeof out);
    mwl_status st = mwl_assemble_sized(s->definition, strlen(s->definition), NULL, 0, &out, size);
    mwl_asm_free(&out);
    return st;
}

static mwl_status give_where(sizes *s, size_t size) {
    mwl_where where, before;
    mwl_run *run = NULL;
    memset(&where, 7, sizeof where);
    before = where;
    if (mwl_run_start(s->f.vm, s->f.program, NULL, &run, NULL) < 0) return MWL_E_IO;
    bool there = mwl_run_where_sized(run, &where, size);
    mwl_run_free(run);
    if (there) return MWL_OK;
    return memcmp(&where, &before, sizeof where) == 0 ? MWL_E_USAGE : MWL_E_IO;
}

UTEST(sizes, that_end_inside_a_member_are_refused) {
    static const member config[] = {M(mwl_config, alloc),        M(mwl_config, clock),
                                    M(mwl_config, virtual_time), M(mwl_config, virtual_start_ns),
                                    M(mwl_config, seed),         M(mwl_config, hash_secret),
                                    M(mwl_config, limits),       M(mwl_config, slice),
                                    M(mwl_config, stack_bytes),  M(mwl_config, wake),
                                    M(mwl_config, wake_ctx),     M(mwl_config, post_alloc),
                                    M(mwl_config, hold),         M(mwl_config, zone),
                                    M(mwl_config, zone_ctx)};
    static const member start[] = {
        M(mwl_start, id),     M(mwl_start, input), M(mwl_start, arguments), M(mwl_start, seed),
        M(mwl_start, limits), M(mwl_start, done),  M(mwl_start, done_ctx)};
    static const member load[] = {M(mwl_load, program),   M(mwl_load, lookup),
                                  M(mwl_load, ctx),       M(mwl_load, flags),
                                  M(mwl_load, max_bytes), M(mwl_load, limits)};
    static const member call[] = {M(mwl_call_provider, uri),      M(mwl_call_provider, document),
                                  M(mwl_call_provider, start),    M(mwl_call_provider, wake),
                                  M(mwl_call_provider, cancel),   M(mwl_call_provider, blocking),
                                  M(mwl_call_provider, deferred), M(mwl_call_provider, flags),
                                  M(mwl_call_provider, restore),  M(mwl_call_provider, replaces),
                                  M(mwl_call_provider, now)};
    static const member middleware[] = {
        M(mwl_middleware, uri),       M(mwl_middleware, document), M(mwl_middleware, flags),
        M(mwl_middleware, run_count), M(mwl_middleware, deadline), M(mwl_middleware, entry),
        M(mwl_middleware, success),   M(mwl_middleware, failure),  M(mwl_middleware, always),
        M(mwl_middleware, elapsed),   M(mwl_middleware, left),     M(mwl_middleware, prepare),
        M(mwl_middleware, deferred),  M(mwl_middleware, restore),  M(mwl_middleware, replaces)};
    static const member options[] = {M(mwl_asm_options, alloc),     M(mwl_asm_options, file),
                                     M(mwl_asm_options, providers), M(mwl_asm_options, n_providers),
                                     M(mwl_asm_options, library),   M(mwl_asm_options, functions),
                                     M(mwl_asm_options, allow),     M(mwl_asm_options, deny),
                                     M(mwl_asm_options, flags),     M(mwl_asm_options, format),
                                     M(mwl_asm_options, colour),    M(mwl_asm_options, max_bytes),
                                     M(mwl_asm_options, max_work),  M(mwl_asm_options, max_memory),
                                     M(mwl_asm_options, guide)};
    static const member result[] = {
        M(mwl_asm_result, image),       M(mwl_asm_result, image_size),
        M(mwl_asm_result, diagnostics), M(mwl_asm_result, diagnostics_len),
        M(mwl_asm_result, n_errors),    M(mwl_asm_result, n_warnings),
        M(mwl_asm_result, limit),       M(mwl_asm_result, alloc)};
    static const member where[] = {
        M(mwl_where, flow),     M(mwl_where, step),     M(mwl_where, line),  M(mwl_where, column),
        M(mwl_where, depth),    M(mwl_where, waiting),  M(mwl_where, phase), M(mwl_where, provider),
        M(mwl_where, until_ns), M(mwl_where, bound_ns), M(mwl_where, runs),  M(mwl_where, total),
        M(mwl_where, done),     M(mwl_where, active)};
    static const struct {
        pass *give;
        const member *members;
        size_t n, whole;
    } structs[] = {{give_config, config, COUNT(config), sizeof(mwl_config)},
                   {give_start, start, COUNT(start), sizeof(mwl_start)},
                   {give_load, load, COUNT(load), sizeof(mwl_load)},
                   {give_call, call, COUNT(call), sizeof(mwl_call_provider)},
                   {give_middleware, middleware, COUNT(middleware), sizeof(mwl_middleware)},
                   {give_options, options, COUNT(options), sizeof(mwl_asm_options)},
                   {give_result, result, COUNT(result), sizeof(mwl_asm_result)},
                   {give_where, where, COUNT(where), sizeof(mwl_where)}};
    sizes s;
    ASSERT_TRUE(flow_vm(&s.f, 1));
    s.definition = flow_quoted(FLOW("'a':{'action':'Return'}"));
    ASSERT_TRUE(flow_load(&s.f, FLOW("'a':{'action':'Return'}")));
    for (size_t i = 0; i < COUNT(structs); i++)
        expect_sizes(utest_result, &s, structs[i].give, structs[i].members, structs[i].n,
                     structs[i].whole);
    free(s.definition);
    flow_close(&s.f);
}

/* As a program in another language has it, which knows the first members only. */
UTEST(sizes, that_end_behind_a_member_are_completed_with_zeros) {
    sizes s;
    ASSERT_TRUE(flow_vm(&s.f, 1));
    ASSERT_TRUE(flow_load(&s.f, FLOW("'a':{'action':'Return'}")));
    EXPECT_EQ((int)give_config(&s, offsetof(mwl_config, virtual_start_ns)), (int)MWL_OK);
    EXPECT_EQ((int)give_start(&s, offsetof(mwl_start, arguments)), (int)MWL_OK);
    EXPECT_EQ((int)give_load(&s, offsetof(mwl_load, lookup)), (int)MWL_OK);
    EXPECT_EQ((int)give_call(&s, offsetof(mwl_call_provider, wake)), (int)MWL_OK);
    EXPECT_EQ((int)give_middleware(&s, offsetof(mwl_middleware, success)), (int)MWL_OK);
    EXPECT_EQ((int)give_where(&s, offsetof(mwl_where, line)), (int)MWL_OK);
    mwl_error error = {MWL_OK, "", 0};
    const mwl_call_provider p = {
        .uri = STYLES_URI("cut"), .document = STYLES_DOC("cut"), .start = never_called};
    EXPECT_EQ((int)mwl_vm_provide_sized(s.f.vm, &p, 20, 1, NULL, &error), (int)MWL_E_USAGE);
    EXPECT_STREQ(error.message, "the size of a struct ends inside a member");
    flow_close(&s.f);
}

UTEST_MAIN()
