/* fuzz_program.c: the machine. A valid program is assembled, changed in a few places and given a
 * new checksum. If the loader accepts it, it is run with small limits, cancelled on the way, and
 * run to its end. The VM must survive any code: the run has a Result or a status, and no memory is
 * left.
 *
 * The first byte chooses the program, the second where the run is cancelled; then come changes of
 * four bytes: a section, a place in it (two bytes), and a value; or an instruction, and the opcode
 * it gets. */
#include "mwl_asm.h"
#include "mwl_std.h"
#include "vm/machine/invariant.h"
#include "vm/machine/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition) {
    if (!condition) abort();
}

#define HEAD "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\","
#define MOCK "\"provider\":\"mwl:provider.call/mwl/mock/v1\""
#define MW(name) "\"provider\":\"mwl:provider.middleware/mwl/" name "/v1\""
#define DONE "\"z\":{\"action\":\"Return\",\"value\":\"{{ vars }}\"}"
#define FAILS "{" MOCK ",\"with\":{\"failure\":{\"code\":\"A.B\"},\"delay\":\"PT1S\"}}"
#define WORKS "{" MOCK ",\"with\":{\"value\":[1,{\"k\":2}],\"delay\":\"PT1S\"}}"
#define ANY "\"match\":{\"codes\":[\"*\"]}"

static const char *const definitions[] = {
    HEAD
    "\"steps\":{\"a\":{\"action\":\"Call\",\"call\":" FAILS ",\"middleware\":["
    "{" MW(
        "finally") ",\"onAlways\":{\"with\":{\"call\":" WORKS "},\"assign\":{\"c\":\"{{ 1 }}\"}}},"
                   "{" MW(
                       "timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT5S\"}}},"
                                  "{" MW(
                                      "retry") ",\"onEntry\":{\"with\":{\"policies\":[{" ANY
                                               ",\"attempts\":3}]}},"
                                               "\"onFailure\":{\"assign\":{\"n\":\"{{ middleware.metadata.attempt }}\"}}}],"
                                               "\"catch\":[{" ANY
                                               ",\"assign\":{\"e\":\"{{ failure.code }}\"},\"next\":\"z\"}],\"next\":\"z\"}," DONE
                                               "}}",
    HEAD
    "\"steps\":{\"a\":{\"action\":\"Gather\",\"over\":\"{{ [1,2,3] }}\",\"concurrency\":2,\"call\":{" MOCK
    ",\"with\":{\"value\":\"{{ [call.input] }}\",\"delay\":\"PT1S\"},"
    "\"onSuccess\":{\"assign\":{\"last\":\"{{ call.index }}\"}}},\"assign\":{\"all\":\"{{ step.results }}\"},"
    "\"completion\":{\"successes\":\"{{ 2 }}\",\"wait\":false},\"next\":\"b\"},"
    "\"b\":{\"action\":\"Match\",\"cases\":[{\"when\":\"{{ size(match.input) > 2 }}\",\"next\":\"a\"}],"
    "\"default\":{\"next\":\"z\"}}," DONE "}}",
    HEAD
    "\"steps\":{\"a\":{\"action\":\"Call\",\"call\":{" MOCK
    ",\"with\":{\"value\":\"{{ step.input }}\"},"
    "\"input\":\"{{ [step.input] }}\",\"onSuccess\":{\"value\":\"{{ [call.result.value].map(x, [x].filter(y, y != x)) }}\"},"
    "\"onFailure\":{\"assign\":{\"f\":\"{{ call.result }}\"}}},\"middleware\":["
    "{" MW(
        "timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT5S\"},\"output\":\"{{ middleware.input }}\"}},"
                   "{" MW(
                       "retry") ",\"onEntry\":{\"with\":{\"policies\":[{" ANY ",\"attempts\":3}]}},"
                                "\"onSuccess\":{\"value\":\"{{ middleware.result.value }}\"},"
                                "\"onFailure\":{\"message\":\"{{ 'x' }}\"}}],\"output\":\"{{ step.result.value }}\",\"next\":\"g\"},"
                                "\"g\":{\"action\":\"Gather\",\"calls\":[" WORKS "," FAILS
                                "],\"catch\":[{" ANY ",\"next\":\"z\"}],\"next\":\"z\"}," DONE "}}",
    HEAD "\"middleware\":[{" MW(
        "timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT9S\"}}},"
                   "{" MW(
                       "loop") ",\"onSuccess\":{\"when\":\"{{ middleware.metadata.iteration < 3.0 }}\","
                               "\"value\":\"{{ [middleware.result.value] }}\"}}],"
                               "\"flows\":{\"f\":{\"entrypoint\":\"s\",\"steps\":{\"s\":{\"action\":\"Sleep\",\"for\":\"PT1S\",\"next\":\"r\"},"
                               "\"r\":{\"action\":\"Raise\",\"result\":{\"code\":\"X.Y\",\"details\":\"{{ step.input }}\"}}}}},"
                               "\"steps\":{\"a\":{\"action\":\"Call\",\"call\":{\"flow\":\"f\",\"onFailure\":{\"assign\":"
                               "{\"w\":\"{{ flow.vars }}\"}}},\"catch\":[{" ANY
                               ",\"next\":\"p\"}],\"next\":\"z\"},"
                               "\"p\":{\"action\":\"Pass\",\"output\":\"{{ [1,2].map(x, x + 1) }}\",\"assign\":{\"v\":\"{{ step.name + 'x' }}\"},"
                               "\"next\":\"z\"}," DONE "}}",
};
enum { N_PROGRAMS = sizeof definitions / sizeof *definitions };

static mwl_asm_result images[N_PROGRAMS];

/* Which sections are changed: those the machine reads, the code most of all. */
static const unsigned sections[] = {
    MWL_SECTION_CODE,     MWL_SECTION_CODE,     MWL_SECTION_CODE,    MWL_SECTION_CODE,
    MWL_SECTION_ENTRIES,  MWL_SECTION_CALLS,    MWL_SECTION_GATHERS, MWL_SECTION_STEPS,
    MWL_SECTION_FLOWS,    MWL_SECTION_HANDLERS, MWL_SECTION_CATCHES, MWL_SECTION_KEYS,
    MWL_SECTION_MATCHERS, MWL_SECTION_PATHS,    MWL_SECTION_SHAPES,  MWL_SECTION_INFO};

static void change(unsigned char *bytes, size_t size, const uint8_t *by, size_t n) {
    mwl__image view;
    if (mwl__image_open(bytes, size, &view, NULL) < 0) return;
    for (size_t i = 0; i + 4 <= n; i += 4) {
        unsigned id = sections[by[i] % (sizeof sections / sizeof *sections)];
        size_t len = view.section[id].size;
        if (!len) continue;
        unsigned char *at = (unsigned char *)(uintptr_t)view.section[id].data;
        if (id == MWL_SECTION_CODE &&
            by[i] & 0x40) { /* another instruction with the same operands */
            size_t pc = ((size_t)by[i + 1] | (size_t)by[i + 2] << 8) % (len / sizeof(mwl__ins));
            ((mwl__ins *)(void *)at)[pc].op = by[i + 3] % MWL_OP_COUNT;
            continue;
        }
        size_t word = ((size_t)by[i + 1] | (size_t)by[i + 2] << 8) * 2 % len;
        at[word & ~(size_t)1] = by[i + 3];
        if (by[i + 3] == 0xff)
            at[(word & ~(size_t)1) + 1] = 0xff;
        else if (id != MWL_SECTION_CODE || by[i + 3] & 1)
            at[(word & ~(size_t)1) + 1] = 0;
    }
    mwl__image_reseal(bytes, size);
}

static void run(mwl_program *p, unsigned cancel_at) {
    mwl_config config = mwl_config_default();
    mwl_vm *vm = NULL;
    mwl_run *r = NULL;
    config.virtual_time = true;
    config.limits.fuel = 20000;
    config.limits.memory_bytes = 1 << 20;
    config.limits.frame_depth = 8;
    config.limits.entry_depth = 16;
    config.limits.fan_out = 100;
    config.slice = 16;
    must(mwl_vm_new(&config, &vm) == MWL_OK && mwl_std_add(vm, MWL_STD_ALL, NULL) == MWL_OK);
    if (mwl_run_start(vm, p, NULL, &r, NULL) == MWL_OK) {
        int64_t due = 0;
        for (unsigned n = 0; n < 20000 && due != MWL_NEVER; n++) {
            mwl_run_state s = mwl_run_get_state(r);
            if (s == MWL_RUN_DONE || s == MWL_RUN_ABORTED) break;
            if (n == cancel_at) mwl_run_cancel(r, "fuzz");
            due = mwl_vm_pump(vm, 0);
            mwl_instant now;
            mwl_vm_now(vm, &now);
            if (due > now.mono_ns && due != MWL_NEVER) (void)mwl_vm_pump(vm, due - now.mono_ns);
        }
        mwl_run_state s = mwl_run_get_state(r);
        if (s != MWL_RUN_DONE && s != MWL_RUN_ABORTED) mwl_run_abort(r);
        must(mwl__invariant_broken(r) == NULL);
        (void)mwl_run_result(r);
        mwl_run_free(r);
    }
    mwl_vm_free(vm);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    unsigned which = data[0] % N_PROGRAMS;
    mwl_asm_result *image = &images[which];
    if (!image->image) {
        if (mwl_assemble(definitions[which], strlen(definitions[which]), NULL, image) < 0) {
            fprintf(stderr, "%s\n", image->diagnostics);
            abort();
        }
    }
    unsigned char *bytes = malloc(image->image_size);
    must(bytes != NULL);
    memcpy(bytes, image->image, image->image_size);
    change(bytes, image->image_size, data + 2, size - 2);
    mwl_program *p = NULL;
    if (mwl_program_load(NULL, bytes, image->image_size, MWL_COPY, &p, NULL) == MWL_OK)
        run(p, data[1]);
    mwl_program_release(p);
    free(bytes);
    return 0;
}
