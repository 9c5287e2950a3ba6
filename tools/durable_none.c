/* durable_none.c: the durable commands of a build without stdlib/durable: they report that. */
#include "tools/base/cmd.h"
#include "tools/durable/durable.h"
#include "tools/base/options.h"

static int none(void) { return cmd_usage(CMD_NO_DURABLE); }

int durable_run(const struct run_options *o, const mwl_program *program, mwl_heap *heap,
                const mwl_start *start) {
    (void)o, (void)program, (void)heap, (void)start;
    return none();
}
int durable_resume(const struct run_options *o) {
    (void)o;
    return none();
}
int durable_saved(const char *path, const char *run, bool json, struct saved *out, void **bytes) {
    (void)path, (void)run, (void)json;
    *out = (struct saved){.size = 0};
    *bytes = NULL;
    return none();
}

#define NONE(name)                                                                                 \
    int cmd_##name(int argc, char **argv) {                                                        \
        return options_absent("usage: mwlvm " #name "\n\nThis build has no durable runs.\n\n",     \
                              CMD_NO_DURABLE, argc, argv);                                         \
    }
NONE(worker)
NONE(ps)
NONE(logs)
NONE(answer)
NONE(cancel)
NONE(prune)
NONE(backup)
