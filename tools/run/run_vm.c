/* run_vm.c: see run_vm.h. */
#include "tools/run/run_vm.h"

#include "tools/base/cmd.h"
#include "tools/host/durable_providers.h"
#include "tools/run/host_uv.h"
#include "mwl_std.h"
#include "tools/host/stub_provider.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HIDDEN_MOST = 20 };

static const char *text_of(mwl_value failure, const char *name) {
    const char *text = mwl_as_text(mwl_get(failure, name), NULL);
    return text ? text : "";
}

static mwl_status make_vm(const struct run_options *o, const struct run_vm_host *host, mwl_vm **out,
                          mwl_error *error) {
    mwl_config config = mwl_config_default();
    config.clock = host->clock.read ? host->clock : host_clock();
    config.virtual_time = o->virtual_time;
    config.virtual_start_ns = o->virtual_start_ns;
    config.seed = o->seed;
    config.wake = host->wake;
    config.wake_ctx = host->ctx;
    config.hold = host->hold;
    if (host->limits) config.limits = *host->limits;
    if (!config.seed && !config.virtual_time) { /* else ids and jitter would repeat, unasked */
        mwl_instant now;
        config.clock.read(config.clock.ctx, &now);
        config.seed = (uint64_t)now.wall_ns ^ (uint64_t)getpid() << 40 ^
                      (uint64_t)now.mono_ns << 20 ^ (uint64_t)(uintptr_t)host->ctx;
    }
    mwl_status status = mwl_vm_new(&config, out);
    return status == MWL_OK ? mwl_std_add(*out, MWL_STD_ALL, error) : status;
}

/* Prints a failure that no Result shows; of many the first ones. */
static void print_hidden(void *ctx, const mwl_trace_event *e) {
    struct run_vm *v = ctx;
    if (v->n_hidden++ < HIDDEN_MOST)
        cmd_note("run %s: the cleanup of dispatch #%" PRId64 " of Step '%s' failed too: %s: %s",
                 mwl_run_id((mwl_run *)(uintptr_t)e->run), e->index, e->step,
                 text_of(e->value, "code"), text_of(e->value, "message"));
    else if (v->n_hidden == HIDDEN_MOST + 1)
        cmd_note("more cleanups failed; they are not shown");
}

static int add_stubs(const struct run_options *o, mwl_vm *vm, bool silent) {
    const struct definition *d = &o->definition;
    int status = CMD_OK;
    for (size_t i = 0; i < d->n_providers && status == CMD_OK; i++)
        status = stub_provider_add(vm, &d->providers[i], &o->binds, &o->remotes, silent);
    return status;
}

int run_vm_new(const struct run_options *o, const mwl_program *program,
               const struct run_vm_host *host, struct run_vm **out) {
    mwl_error error = {MWL_OK, NULL, 0};
    struct run_vm *v = calloc(1, sizeof *v);
    mwl_status made = MWL_E_NOMEM;
    *out = v;
    if (v) {
        v->n_answers = o->binds.count;
        v->answers = calloc(v->n_answers + 1, sizeof *v->answers);
        made = v->answers ? make_vm(o, host, &v->vm, &error) : MWL_E_NOMEM;
    }
    if (made < 0) {
        cmd_fail("%s", error.message ? error.message : mwl_status_text(made));
        return CMD_LIMIT;
    }
    mwl_vm_trace_hidden(v->vm, print_hidden, v);
    const struct io_host_options how = {&o->binds, &o->permissions};
    int status = io_host_open(&v->io, v->vm, host->loop, program, &how);
    const char *answer = NULL;
    if (durable_document(&answer) && !binds_has(&o->binds, answer) && status == CMD_OK)
        status = durable_provide(v->vm);
    if (status == CMD_OK) status = add_stubs(o, v->vm, host->silent);
    if (status == CMD_OK) status = remotes_apply(&o->remotes, &o->definition, v->vm);
    if (status == CMD_OK) status = binds_apply(&o->binds, &o->definition, v->vm, v->answers);
    return status;
}

void run_vm_free(struct run_vm *v) {
    if (!v) return;
    io_host_close(&v->io);
    for (size_t i = 0; v->answers && i < v->n_answers; i++) answers_free(v->answers[i]);
    free(v->answers);
    mwl_vm_free(v->vm);
    free(v);
}

size_t run_vm_pending(const struct run_vm *v) { return io_host_pending(&v->io); }

void run_vm_ended(struct run_vm *v, const mwl_run *run) {
    for (size_t i = 0; i < v->n_answers; i++)
        if (v->answers[i]) answers_forget(v->answers[i], run);
}
