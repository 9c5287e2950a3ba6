/* Any bytes as a saved run, with the checksum mended: loading refuses them or makes a run that ends
 * within its fuel; nothing is left in memory. The first byte chooses the program, and whether the
 * rest is a body, or changes of a real one: offset (two bytes) and what is there then. */
#include "mwl_asm.h"
#include "mwl_std.h"
#include "vm/snapshot/header.h"

#include <stdlib.h>
#include <string.h>

static const char *const definitions[] = {
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{\"a\":{"
    "\"action\":\"Sleep\",\"for\":\"PT1H\",\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}",
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{\"a\":{"
    "\"action\":\"Call\",\"middleware\":[{\"provider\":\"mwl:provider.middleware/mwl/timeout/v1\","
    "\"onEntry\":{\"with\":{\"duration\":\"PT30S\"}}},{\"provider\":"
    "\"mwl:provider.middleware/mwl/finally/v1\",\"onAlways\":{\"with\":{\"call\":{\"provider\":"
    "\"mwl:provider.call/mwl/mock/v1\",\"with\":{\"delay\":\"PT1S\"}}}}}],\"call\":{\"provider\":"
    "\"mwl:provider.call/mwl/mock/v1\",\"with\":{\"delay\":\"PT5S\"}},\"next\":\"z\"},\"z\":{"
    "\"action\":\"Return\"}}}",
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{\"a\":{"
    "\"action\":\"Gather\",\"over\":\"{{ [1, 2, 3] }}\",\"concurrency\":2,\"call\":{\"flow\":{"
    "\"entrypoint\":\"b\",\"steps\":{\"b\":{\"action\":\"Sleep\",\"for\":\"PT1H\",\"next\":\"c\"},"
    "\"c\":{\"action\":\"Return\"}}}},\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}"};
enum { N = sizeof definitions / sizeof *definitions };

static mwl_program *program_of(unsigned i) {
    static mwl_program *programs[N];
    if (programs[i]) return programs[i];
    mwl_asm_result image;
    if (mwl_assemble(definitions[i], strlen(definitions[i]), NULL, &image) != MWL_OK ||
        mwl_program_load(NULL, image.image, image.image_size, MWL_COPY, &programs[i], NULL) < 0)
        abort();
    mwl_asm_free(&image);
    return programs[i];
}

static mwl_vm *make_vm(void) {
    mwl_config c = mwl_config_default();
    mwl_vm *vm = NULL;
    c.virtual_time = true;
    c.limits.fuel = 100000;
    c.limits.memory_bytes = 1 << 20;
    if (mwl_vm_new(&c, &vm) < 0 || mwl_std_register(vm, NULL) < 0) abort();
    return vm;
}

static void run_out(mwl_vm *vm, mwl_run *run) {
    for (int i = 0; i < 100 && mwl_run_get_state(run) < MWL_RUN_DONE; i++)
        if (mwl_vm_pump(vm, INT64_C(3600000000000)) == MWL_NEVER) break;
    void *bytes = NULL;
    size_t size = 0;
    if (mwl_run_save(run, &bytes, &size, NULL) == MWL_OK) mwl_bytes_free(vm, bytes, size);
    mwl_run_free(run);
}

/* The bytes of a run that has parked (cancelled or not), changed as the data says; given. */
static unsigned char *changed(mwl_vm *vm, mwl_program *program, bool cancelled, const uint8_t *data,
                              size_t size, size_t *total) {
    mwl_run *run = NULL;
    void *bytes = NULL;
    if (mwl_run_start(vm, program, NULL, &run, NULL) < 0) abort();
    while (mwl_vm_pump(vm, 0) == 0) continue;
    if (cancelled) mwl_run_cancel(run, "enough");
    if (mwl_run_save(run, &bytes, total, NULL) < 0) abort();
    unsigned char *out = malloc(*total);
    memcpy(out, bytes, *total);
    mwl_bytes_free(vm, bytes, *total);
    mwl_run_free(run);
    size_t body = *total - MWL_SAVED_HEADER;
    for (size_t i = 0; i + 3 <= size && i < 30; i += 3)
        out[MWL_SAVED_HEADER + (data[i] + data[i + 1] * 256u) % body] = data[i + 2];
    mwl__saved_reseal(out, *total);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    mwl_program *program = program_of(data[0] % N);
    mwl_vm *vm = make_vm();
    size_t total;
    mwl_run *run = NULL;
    unsigned char *bytes = data[0] & 0x40
                               ? changed(vm, program, data[0] & 0x20, data + 1, size - 1, &total)
                               : whole(program, data[0] >> 7, data + 1, size - 1, &total);
    const mwl_load how = {.program = program};
    if (mwl_run_load(vm, bytes, total, &how, &run, NULL) == MWL_OK) run_out(vm, run);
    free(bytes);
    mwl_vm_free(vm);
    return 0;
}
