/* show.c: a run of a store for `mwlvm show --store FILE RUN`. */
#include "tools/durable/durable.h"

#include "tools/base/cmd.h"
#include "tools/base/redact.h"
#include "tools/durable/store.h"
#include "tools/base/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shown {
    bool json, there, no_memory;
    struct saved *out;
    void **bytes;
    uint8_t program[16];
    char why[200];
};

static void print_end(const struct shown *s, const mwl_store_row *row) {
    char ended[STORE_TIME];
    bool has_result = row->state == MWL_STORE_DONE || row->state == MWL_STORE_FAILED;
    if (s->json) {
        putchar('{');
        store_put_text("id", row->id, true);
        store_put_text("state", mwl_store_state_name(row->state), false);
        store_put_time("ended", row->ended_wall_ns);
        if (has_result)
            store_put_json("result", row->result);
        else if (row->result.at)
            store_put_text("why", row->result.at, false);
        puts("}");
        return;
    }
    term_printf(stdout, "run %s is %s", row->id, mwl_store_state_name(row->state));
    if (row->ended_wall_ns) printf(" since %s", store_time(row->ended_wall_ns, ended));
    putchar('\n');
    if (!row->result.at) return;
    size_t len = row->result.len;
    char *hidden = has_result ? redact_json_text(row->result.at, len, &len)
                              : redact_text(row->result.at, len, &len);
    printf("  %s: ", has_result ? "result" : "why");
    term_text(stdout, hidden ? hidden : row->result.at, len);
    putchar('\n');
    free(hidden);
}

static bool see_row(void *ctx, const mwl_store_row *row) {
    struct shown *s = ctx;
    s->there = true;
    memcpy(s->program, row->program, sizeof s->program);
    bool goes_on = row->state < MWL_STORE_DONE || row->state == MWL_STORE_STUCK;
    if (!goes_on || !row->bytes || row->state == MWL_STORE_STUCK) print_end(s, row);
    if (!goes_on || !row->bytes) return false;
    *s->bytes = malloc(row->size);
    s->no_memory = !*s->bytes;
    if (s->no_memory) return false;
    memcpy(*s->bytes, row->bytes, row->size);
    s->out->run = *s->bytes;
    s->out->size = row->size;
    return false;
}

static void see_image(void *ctx, const char *name, const void *image, size_t size) {
    struct shown *s = ctx;
    mwl_error error = {MWL_OK, "", 0};
    if (mwl_program_load(NULL, image, size, MWL_COPY, &s->out->program, &error) != MWL_OK)
        snprintf(s->why, sizeof s->why, "%s: %s", name, error.message);
}

int durable_saved(const char *path, const char *run, bool json, struct saved *out, void **bytes) {
    struct shown s = {.json = json, .out = out, .bytes = bytes};
    const mwl_store_query query = {.id = run, .snapshots = true};
    mwl_store *store = NULL;
    memset(out, 0, sizeof *out);
    *bytes = NULL;
    int status = store_open(path, false, &store);
    if (status != CMD_OK) return status;
    mwl_status got = store_list(store, NULL, &query, see_row, &s);
    if (got == MWL_OK && !s.there) status = cmd_fail("there is no run '%s'", run);
    if (got == MWL_OK && out->run) got = store->ops->get_program(store, s.program, see_image, &s);
    if (got != MWL_OK) status = store_fail(store, got);
    if (s.no_memory) status = store_fail(NULL, MWL_E_NOMEM);
    if (status == CMD_OK && out->run && !out->program) {
        cmd_fail("%s", s.why);
        status = CMD_REJECTED;
    }
    mwl_store_close(store);
    return status;
}
