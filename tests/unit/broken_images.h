/* broken_images.h: three definitions that have every construct, as images which a test changes,
 * loads and runs. */
#ifndef BROKEN_IMAGES_H
#define BROKEN_IMAGES_H

#include "mwl_asm.h"
#include "mwl_std.h"
#include "vm/machine/invariant.h"
#include "vm/machine/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\","
#define MOCK "\"provider\":\"mwl:provider.call/mwl/mock/v1\""
#define MW(name) "\"provider\":\"mwl:provider.middleware/mwl/" name "/v1\""
#define DONE "\"z\":{\"action\":\"Return\",\"value\":\"{{ vars }}\"}"
#define WORKS "{" MOCK ",\"with\":{\"value\":[1,{\"k\":2}]}}"
#define ANY "\"match\":{\"codes\":[\"*\"]}"

static const char *const definitions[] = {
    HEAD
    "\"steps\":{\"a\":{\"action\":\"Call\",\"call\":{" MOCK
    ",\"with\":{\"failure\":{\"code\":\"A.B\"}},"
    "\"input\":\"{{ step.input }}\",\"onSuccess\":{\"value\":\"{{ 1 }}\"},"
    "\"onFailure\":{\"assign\":{\"f\":\"{{ call.result }}\"}}},\"middleware\":["
    "{" MW(
        "finally") ",\"onAlways\":{\"with\":{\"call\":" WORKS "},\"assign\":{\"c\":\"{{ 1 }}\"}}},"
                   "{" MW(
                       "timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT5S\"},\"output\":\"{{ middleware.input }}\"}},"
                                  "{" MW(
                                      "retry") ",\"onEntry\":{\"with\":{\"policies\":[{" ANY
                                               ",\"attempts\":3}]}},"
                                               "\"onSuccess\":{\"value\":\"{{ middleware.result.value }}\"},"
                                               "\"onFailure\":{\"message\":\"{{ 'x' }}\",\"assign\":{\"n\":\"{{ middleware.metadata.attempt }}\"}}}],"
                                               "\"catch\":[{" ANY
                                               ",\"assign\":{\"e\":\"{{ failure.code }}\"},\"next\":\"z\"}],\"next\":\"z\"}," DONE
                                               "}}",
    HEAD
    "\"steps\":{\"a\":{\"action\":\"Gather\",\"over\":\"{{ [1,2,3] }}\",\"concurrency\":2,\"call\":{" MOCK
    ",\"with\":{\"value\":\"{{ [call.input] }}\"},"
    "\"onSuccess\":{\"assign\":{\"last\":\"{{ call.index }}\"}}},\"assign\":{\"all\":\"{{ step.results }}\"},"
    "\"completion\":{\"successes\":\"{{ 2 }}\",\"wait\":false},\"next\":\"g\"},"
    "\"g\":{\"action\":\"Gather\",\"calls\":[" WORKS "," WORKS "],\"next\":\"b\"},"
    "\"b\":{\"action\":\"Match\",\"cases\":[{\"when\":\"{{ size(match.input) > 2 }}\",\"next\":\"z\"}],"
    "\"default\":{\"next\":\"z\"}}," DONE "}}",
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
                               "\"p\":{\"action\":\"Pass\",\"output\":\"{{ [1,2].map(x, x + 1).filter(y, y > 1 && [y].all(q, q > y)) }}\","
                               "\"assign\":{\"v\":\"{{ step.name + 'x' }}\"},\"next\":\"z\"}," DONE
                               "}}",
};
enum { N_DEFINITIONS = sizeof definitions / sizeof *definitions };

struct image {
    mwl_asm_result made;
    unsigned char *bytes;
    mwl__image view; /* of bytes */
};

static inline struct image image_new(int which) {
    struct image i;
    memset(&i, 0, sizeof i);
    if (mwl_assemble(definitions[which], strlen(definitions[which]), NULL, &i.made) < 0) {
        fprintf(stderr, "%s\n", i.made.diagnostics);
        abort();
    }
    i.bytes = malloc(i.made.image_size);
    if (!i.bytes) abort();
    memcpy(i.bytes, i.made.image, i.made.image_size);
    if (mwl__image_open(i.bytes, i.made.image_size, &i.view, NULL) < 0) abort();
    return i;
}

static inline void image_reset(struct image *i) {
    memcpy(i->bytes, i->made.image, i->made.image_size);
}

static inline void image_free(struct image *i) {
    free(i->bytes);
    mwl_asm_free(&i->made);
}

static inline void *section(struct image *i, unsigned id) {
    return (void *)(uintptr_t)i->view.section[id].data;
}

static inline uint32_t n_code(const struct image *i) {
    return (uint32_t)(i->view.section[MWL_SECTION_CODE].size / sizeof(mwl__ins));
}

/* A few turns of a run with small limits. The VM must survive any code. */
static inline void run_it(mwl_program *p) {
    mwl_config config = mwl_config_default();
    mwl_vm *vm = NULL;
    mwl_run *r = NULL;
    config.virtual_time = true;
    config.limits.fuel = 3000;
    config.limits.memory_bytes = 1 << 18;
    config.limits.frame_depth = 8;
    config.limits.entry_depth = 16;
    config.limits.fan_out = 100;
    config.slice = 64;
    if (mwl_vm_new(&config, &vm) < 0 || mwl_std_add(vm, MWL_STD_ALL, NULL) < 0) abort();
    if (mwl_run_start(vm, p, NULL, &r, NULL) == MWL_OK) {
        for (int64_t due = 0, n = 0; n < 500 && due != MWL_NEVER; n++) {
            mwl_run_state s = mwl_run_get_state(r);
            if (s == MWL_RUN_DONE || s == MWL_RUN_ABORTED) break;
            due = mwl_vm_pump(vm, 0);
            mwl_instant now;
            mwl_vm_now(vm, &now);
            if (due > now.mono_ns && due != MWL_NEVER) (void)mwl_vm_pump(vm, due - now.mono_ns);
        }
        mwl_run_abort(r);
        if (mwl__invariant_broken(r)) abort();
        mwl_run_free(r);
    }
    mwl_vm_free(vm);
}

/* Loads the changed image and, if it is accepted, runs it. Then undoes the change. */
static inline mwl_status try_it(struct image *i, mwl_error *error) {
    mwl_program *p = NULL;
    *error = (mwl_error){MWL_OK, "", 0};
    mwl__image_reseal(i->bytes, i->made.image_size);
    mwl_status status = mwl_program_load(NULL, i->bytes, i->made.image_size, MWL_COPY, &p, error);
    if (status == MWL_OK) run_it(p);
    mwl_program_release(p);
    image_reset(i);
    return status;
}

static inline uint32_t first_of(struct image *i, unsigned op) {
    const mwl__ins *code = section(i, MWL_SECTION_CODE);
    for (uint32_t pc = 0; pc < n_code(i); pc++)
        if (code[pc].op == op) return pc;
    return MWL_NONE;
}

#endif
