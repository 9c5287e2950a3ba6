/* each_worker.c: one thread of `run --each`: a VM, its loop, and its runs in flight.
 *
 * Takes some lines, starts a run for each, pumps the VM, writes the Results of what has ended, and
 * again. How many lines it takes at once grows as long as that is quick, so that runs of a
 * microsecond cost little and runs of a minute are spread over the threads. While runs end at once
 * it takes more lines than it may have in flight, and starts them in several passes; those that it
 * cannot start soon it gives back, so that another thread can have them. */
#include "tools/run/each.h"

#include "assembler/source/diag.h"
#include "tools/base/cmd.h"
#include "tools/base/input.h"
#include "tools/base/redact.h"
#include "tools/session/values.h"
#include "vm/base/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    QUICK_NS = 500000, /* lines that took less than this: the next time twice as many */
    SLOW_NS = 4 * QUICK_NS,
    PASS = 100 /* runs that are started before the VM has a turn, and their Results written */
};

/* A run in flight, or a free place for one. */
struct each_slot {
    struct each_slot *next; /* of those that are free */
    struct each_worker *worker;
    mwl_run *run; /* NULL: free */
    struct each_block *block;
    uint64_t line;
    bool stuck; /* it was ended because nothing could come for it */
};

/* ---- Results --------------------------------------------------------------------------------- */

/* Only this thread writes it. */
static void add_one(_Atomic uint64_t *n) {
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void count(struct each_worker *w, bool failed) {
    add_one(&w->counts.done);
    if (!failed) return;
    add_one(&w->counts.failed);
    if (w->each->options->fail_fast) each_stop(w->each, EACH_CANCEL, EACH_FAIL_FAST);
}

/* How a Result begins: without order, or if it was asked for, with the number of its line. */
static void open_result(struct each_worker *w, mwl__buf *to, uint64_t line) {
    if (w->each->options->unordered || w->each->options->numbered)
        mwl__buf_printf(to, "{\"line\":%" PRIu64 ",", line);
    else
        mwl__buf_putc(to, '{');
}

/* A failure that the command makes itself. */
static void put_failure(struct each_worker *w, mwl__buf *to, uint64_t line, const char *type,
                        const char *code, const char *message, size_t column) {
    open_result(w, to, line);
    mwl__buf_printf(to, "\"type\":\"%s\",\"code\":\"%s\",\"message\":\"line %" PRIu64 ": ", type,
                    code, line);
    mwl__json_escape(to, message, strlen(message));
    mwl__buf_printf(to, "\",\"details\":{\"line\":%" PRIu64, line);
    if (column) mwl__buf_printf(to, ",\"column\":%zu", column);
    mwl__buf_puts(to, "}}\n");
}

static void count_failure(struct each_worker *w, const char *code, size_t len) {
    each_codes_add(&w->codes, code, len, 1);
    count(w, true);
}

/* A failure is written as it is: its first brace takes the place of the last byte of the head,
 * which is put back then. */
static mwl_status put_whole(mwl__buf *to, mwl_heap *heap, mwl_value result, uint64_t *fuel) {
    mwl_value whole = redact_value(heap, result);
    if (to->failed || mwl_is_absent(whole)) {
        mwl_value_drop(heap, whole);
        return MWL_E_NOMEM;
    }
    size_t at = --to->len;
    char last = to->data[at];
    mwl_status status = mwl__json_write(whole, MWL_JSON_COMPACT, to, fuel);
    mwl_value_drop(heap, whole);
    size_t len = 0;
    char *shown =
        status == MWL_OK && !to->failed ? redact_text(to->data + at, to->len - at, &len) : NULL;
    if (shown) { /* secrets are replaced in failures */
        to->len = at;
        mwl__buf_put(to, shown, len);
        free(shown);
    }
    if (status == MWL_OK) to->data[at] = last;
    mwl__buf_putc(to, '\n');
    return status;
}

/* The text of a Result may be far larger than the Result, whose parts can be shared: fuel, which
 * counts nodes and bytes, limits it. */
static mwl_status put_done(struct each_worker *w, mwl__buf *to, const struct each_slot *slot) {
    static const char head[] = "\"type\":\"success\",\"value\":";
    uint64_t fuel = w->each->limits.memory_bytes;
    open_result(w, to, slot->line);
    if (!mwl_run_succeeded(slot->run))
        return put_whole(to, w->heap, mwl_run_result(slot->run), &fuel);
    mwl__buf_put(to, head, sizeof head - 1);
    mwl_status status = mwl__json_write(mwl_run_value(slot->run), MWL_JSON_COMPACT, to, &fuel);
    mwl__buf_put(to, "}\n", 2);
    return status;
}

static void put_aborted(struct each_worker *w, mwl__buf *to, const struct each_slot *slot) {
    static const char limit[] = "Mwlvm.Limit", stuck[] = "Mwlvm.NeverEnds";
    mwl_status why = mwl_run_why(slot->run);
    if (slot->stuck) {
        put_failure(w, to, slot->line, "error", stuck,
                    "the run waits for something that never comes", 0);
        count_failure(w, stuck, sizeof stuck - 1);
        return;
    }
    if (why < 0) {
        put_failure(w, to, slot->line, "error", limit, mwl_status_text(why), 0);
        count_failure(w, limit, sizeof limit - 1);
        return;
    }
    put_failure(w, to, slot->line, "cancellation", "Mwlvm.Aborted",
                "the run was ended without cleanup", 0);
    add_one(&w->counts.cancelled);
}

static void put_ended(struct each_worker *w, mwl__buf *to, const struct each_slot *slot) {
    static const char not_written[] = "Mwlvm.NotWritten";
    size_t began = to->len, len = 0;
    if (mwl_run_get_state(slot->run) == MWL_RUN_ABORTED) {
        put_aborted(w, to, slot);
        return;
    }
    mwl_status status = put_done(w, to, slot);
    if (status < 0) {
        to->len = began;
        put_failure(w, to, slot->line, "error", not_written, mwl_status_text(status), 0);
        count_failure(w, not_written, sizeof not_written - 1);
        return;
    }
    if (mwl_run_succeeded(slot->run)) {
        count(w, false);
        return;
    }
    mwl_value result = mwl_run_result(slot->run);
    const char *type = mwl_as_text(mwl_get(result, "type"), NULL);
    if (w->stopped != EACH_GO && type && strcmp(type, "cancellation") == 0) {
        add_one(&w->counts.cancelled);
        return;
    }
    const char *code = mwl_as_text(mwl_get(result, "code"), &len);
    count_failure(w, code ? code : "", len);
}

/* Writes what has ended since the last time. Returns whether there was something. */
static bool finish_ended(struct each_worker *w) {
    struct each_block *held = NULL;
    bool any = false;
    mwl__buf *to = NULL;
    for (mwl_run *run; (run = mwl_vm_next_done(w->session->vm));) {
        struct each_slot *slot = mwl_run_user(run);
        any = true;
        if (slot->block != held) {
            if (held) each_out_unlock(w->each->out, held);
            held = slot->block;
            to = each_out_lock(held);
        }
        put_ended(w, to, slot);
        each_out_done(w->each->out, held, slot->line);
        session_forget(w->session, slot->run);
        redact_end(mwl_run_id(slot->run));
        mwl_run_free(slot->run);
        slot->run = NULL;
        slot->next = w->free_slots;
        w->free_slots = slot;
        w->n_active--;
    }
    if (held) each_out_unlock(w->each->out, held);
    return any;
}

/* ---- starting -------------------------------------------------------------------------------- */

/* A number that depends on the seed and the line alone, never 0. */
static uint64_t mix(uint64_t seed, uint64_t line) {
    uint64_t z = mwl__random_nth(seed, line);
    return z ? z : 1;
}

static mwl_status start(struct each_worker *w, struct each_slot *slot, mwl_value input,
                        mwl_error *error) {
    const struct run_options *o = w->each->options;
    char id[300];
    mwl_start how = {.input = input, .arguments = w->arguments};
    if (o->seed) how.seed = mix(o->seed, slot->line);
    if (o->id)
        snprintf(id, sizeof id, "%.250s-%" PRIu64, o->id, slot->line);
    else if (o->seed || o->virtual_time) /* the same in every order of runs */
        snprintf(id, sizeof id, "%016" PRIx64, mix(o->seed, slot->line));
    if (o->id || o->seed || o->virtual_time) how.id = id;
    mwl_status status = mwl_run_start(w->session->vm, w->each->program, &how, &slot->run, error);
    if (status == MWL_OK) mwl_run_set_user(slot->run, slot);
    return status;
}

static void refuse(struct each_worker *w, struct each_block *block, uint64_t line, const char *code,
                   const char *message, size_t column) {
    put_failure(w, each_out_lock(block), line, "error", code, message, column);
    count_failure(w, code, strlen(code));
    each_out_done(w->each->out, block, line);
    each_out_unlock(w->each->out, block);
}

static bool is_blank(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n') return false;
    return true;
}

/* A line without a Result. */
static void pass_over(struct each_worker *w, struct each_block *block, uint64_t line) {
    each_out_lock(block);
    each_out_done(w->each->out, block, line);
    each_out_unlock(w->each->out, block);
}

/* Some lines are shown with what their values do not keep; the others are counted. */
static void note_differences(struct each_worker *w, uint64_t line, const char *text, size_t len) {
    char name[40];
    snprintf(name, sizeof name, "line %" PRIu64, line);
    if (atomic_load(&w->each->n_noted) >= EACH_NOTED) {
        atomic_fetch_add(&w->each->n_noted, 1);
        return;
    }
    flockfile(stderr);
    if (input_note(w->heap, name, text, len)) atomic_fetch_add(&w->each->n_noted, 1);
    funlockfile(stderr);
}

static void start_line(struct each_worker *w, struct each_block *block, uint64_t line,
                       const char *text, size_t len, mwl__json_before *before) {
    mwl_value input = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    if (is_blank(text, len < 2 ? len : 2) && is_blank(text, len)) {
        pass_over(w, block, line);
        return;
    }
    if (line == 1 && len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        refuse(w, block, line, "Mwlvm.InvalidInput",
               "the text begins with a byte order mark; save it as UTF-8 without one", 1);
        return;
    }
    mwl_heap_limit(w->heap, w->each->limits.memory_bytes);
    mwl_status status = mwl__json_read_next(w->heap, text, len, before, &input, &error);
    mwl_heap_limit(w->heap, 0);
    if (status < 0) {
        refuse(w, block, line, "Mwlvm.InvalidInput",
               error.message ? error.message : mwl_status_text(status), error.offset + 1);
        return;
    }
    if (before->differs) note_differences(w, line, text, len);
    struct each_slot *slot = w->free_slots;
    slot->block = block;
    slot->line = line;
    slot->stuck = false;
    status = start(w, slot, input, &error);
    mwl_value_drop(w->heap, input);
    if (status == MWL_OK) {
        w->free_slots = slot->next;
        w->n_active++;
        return;
    }
    if (status == MWL_E_NOT_FOUND) {
        if (atomic_load(&w->each->stop) == EACH_GO)
            cmd_fail("%s needs '%s', which this command does not have",
                     w->each->options->definition.path, error.message);
        w->status = CMD_REJECTED;
        each_stop(w->each, EACH_CANCEL, EACH_BROKEN);
    }
    refuse(w, block, line, "Mwlvm.NotStarted", mwl_status_text(status), 0);
}

struct opening {
    struct each_worker *worker;
    struct each_block *block;
};

static void open_block(void *ctx, const struct each_piece *piece) {
    struct opening *o = ctx;
    struct each_worker *w = o->worker;
    o->block =
        each_out_open(w->each->out, &w->shelf, piece->first_line, piece->n_lines, piece->size);
}

/* Starts the next line of those in hand. */
static void start_next(struct each_worker *w) {
    struct each_hand *h = &w->hand;
    const char *end = h->piece.text + h->piece.size;
    uint64_t line = h->piece.first_line + h->n_started++;
    if (h->n_started == h->piece.n_lines) each_out_started(h->block);
    bool passed = line < w->each->options->from;
    if (h->piece.too_long && !passed) {
        w->last_line = line;
        refuse(w, h->block, line, "Mwlvm.InvalidInput", "the line is too long (--memory)", 0);
    }
    if (h->piece.too_long && passed) pass_over(w, h->block, line);
    if (h->piece.too_long) return;
    const char *text = h->at, *newline = memchr(text, '\n', (size_t)(end - text));
    size_t len = newline ? (size_t)(newline - text) : (size_t)(end - text);
    h->at += len + (newline ? 1 : 0);
    if (passed) {
        pass_over(w, h->block, line);
    } else if (atomic_load_explicit(&w->each->stop, memory_order_relaxed) == EACH_GO) {
        w->last_line = line;
        start_line(w, h->block, line, text, len, &h->before);
    } else {
        each_out_skip(w->each->out, h->block, line);
    }
}

static bool has_lines(const struct each_worker *w) { return w->hand.piece.chunk != NULL; }

static void forget_names(struct each_worker *w) {
    mwl_value_drop(w->heap, w->hand.before.value);
    w->hand.before = (mwl__json_before){.value = mwl_absent()};
}

/* Starts lines of those in hand, as far as there are places for their runs. Lines that are not run,
 * because all is to stop, need none. */
static void start_lines(struct each_worker *w) {
    struct each_hand *h = &w->hand;
    for (uint32_t i = 0; i < PASS && h->n_started < h->piece.n_lines; i++) {
        if (!w->free_slots && atomic_load(&w->each->stop) == EACH_GO) return;
        start_next(w);
    }
    if (h->n_started < h->piece.n_lines) return;
    each_in_release(w->each->in, &h->piece);
    forget_names(w);
}

static void shrink_block(void *ctx) {
    struct each_worker *w = ctx;
    each_out_shrink(w->each->out, w->hand.block, w->hand.n_started);
}

/* Gives the lines in hand that were not started to other workers. */
static void give_back(struct each_worker *w) {
    struct each_hand *h = &w->hand;
    each_in_give_back(w->each->in, &h->piece, h->n_started, h->at, shrink_block, w);
    if (has_lines(w)) return; /* out of memory */
    forget_names(w);
    w->grab = h->n_started > 1 ? h->n_started / 2 : 1;
}

/* Takes lines. While some runs wait, they are no more than there are places for. */
static enum each_take take_lines(struct each_worker *w) {
    struct each *e = w->each;
    struct each_hand *h = &w->hand;
    struct opening opening = {w, NULL};
    uint32_t room = e->concurrency - w->n_active;
    struct each_want want = {w->n_active && w->grab > room ? room : w->grab,
                             each_out_has_room(e->out)};
    enum each_take answer = each_in_take(e->in, &want, &h->piece, open_block, &opening);
    if (answer != EACH_TAKEN) return answer;
    h->block = opening.block;
    h->n_started = 0;
    h->at = h->piece.text;
    h->taken_ns = session_now_ns();
    if (h->block) return answer;
    w->status = cmd_no_memory();
    each_stop(e, EACH_CANCEL, EACH_BROKEN);
    each_in_release(e->in, &h->piece);
    return answer;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* Cancels or ends what is in flight, as far as it was not done yet. */
static void obey(struct each_worker *w) {
    int stop = atomic_load(&w->each->stop);
    if (stop == w->stopped) return;
    const char *reason =
        atomic_load(&w->each->reason) == EACH_FAIL_FAST ? "another run failed" : "interrupted";
    for (uint32_t i = 0; i < w->each->concurrency; i++) {
        mwl_run *run = w->slots[i].run;
        if (run && stop == EACH_CANCEL) mwl_run_cancel(run, reason);
        if (run && stop == EACH_ABORT) mwl_run_abort(run);
    }
    w->stopped = stop;
}

/* Nothing can come for the runs in flight: they end, each with a failure that says so. A run of a
 * later line changes nothing for them. */
static void end_stuck(struct each_worker *w) {
    for (uint32_t i = 0; i < w->each->concurrency; i++) {
        mwl_run *run = w->slots[i].run;
        if (!run || session_is_over(run)) continue;
        w->slots[i].stuck = true;
        mwl_run_abort(run);
    }
}

/* Takes lines if it has none, and starts some. Returns EACH_END if there are no more. */
static enum each_take feed(struct each_worker *w) {
    enum each_take got = has_lines(w) ? EACH_TAKEN : EACH_NONE_YET;
    if (got != EACH_TAKEN && w->free_slots && atomic_load(&w->each->stop) == EACH_GO) {
        atomic_store(&w->waits, true); /* before it looks: what comes later wakes it */
        got = take_lines(w);
    }
    if (has_lines(w)) start_lines(w);
    return got;
}

/* Decides after a pass how many lines it takes at once, and whether others get those in hand. */
static void adapt(struct each_worker *w) {
    int64_t took = session_now_ns() - w->hand.taken_ns;
    if (has_lines(w)) {
        bool going = atomic_load(&w->each->stop) == EACH_GO;
        if (going && (!w->free_slots || took > SLOW_NS)) give_back(w);
        return;
    }
    if (took < QUICK_NS && w->hand.piece.n_lines == w->grab && w->grab < EACH_GRAB_MOST)
        w->grab *= 2;
    if (took > SLOW_NS && w->grab > 1) w->grab /= 2;
}

static void work(struct each_worker *w) {
    struct each *e = w->each;
    enum each_take got = EACH_NONE_YET;
    for (;;) {
        int64_t due;
        obey(w);
        if (got != EACH_END) got = feed(w);
        bool over = got == EACH_END || atomic_load(&e->stop) != EACH_GO;
        if (over && !w->n_active && !has_lines(w)) break;
        enum session_next next = session_turn(&w->session->turns, NULL, &due);
        if (next == SESSION_STUCK && w->n_active) {
            end_stuck(w);
            next = SESSION_AGAIN;
        }
        bool any = finish_ended(w);
        if (got == EACH_TAKEN) adapt(w);
        if (has_lines(w)) continue;
        if (any) each_out_try(e->out);
        if (each_out_error(e->out)) each_stop(e, EACH_CANCEL, EACH_NOT_WRITTEN);
        if (got == EACH_TAKEN ? w->n_active > 0 : next == SESSION_AGAIN) {
            session_look(&w->session->loop);
        } else if (got != EACH_TAKEN && !any) { /* for lines or room too */
            each_out_flush(e->out);
            session_wait(&w->session->loop, due);
        }
    }
    each_out_flush(e->out);
}

void *each_worker_run(void *ctx) {
    struct each_worker *w = ctx;
    work(w);
    atomic_fetch_sub(&w->each->n_working, 1);
    char c = 0;
    if (write(w->each->bell[1], &c, 1) < 0) return NULL; /* the main thread looks again anyway */
    return NULL;
}

/* ---- its life -------------------------------------------------------------------------------- */

int each_worker_open(struct each_worker *w, struct each *each, bool first) {
    w->each = each;
    w->arguments = mwl_absent();
    w->hand.before.value = mwl_absent();
    w->grab = 1;
    int failed = uv_loop_init(&w->loop);
    w->looped = !failed;
    if (failed) {
        cmd_fail("event loop: %s", uv_strerror(failed));
        return CMD_USAGE;
    }
    const struct session_host host = {.loop = &w->loop, .silent = !first, .limits = &each->limits};
    int status = session_open(each->options, each->program, &host, &w->session);
    if (status != CMD_OK) return status;
    w->heap = w->session->heap;
    bool some = mwl_count(each->arguments) > 0; /* none need no look at each start */
    if (some) w->arguments = mwl_value_copy(w->heap, each->arguments);
    w->slots = calloc(each->concurrency, sizeof *w->slots);
    if (!w->slots || (some && mwl_is_absent(w->arguments))) return cmd_no_memory();
    for (uint32_t i = each->concurrency; i-- > 0;) {
        w->slots[i].next = w->free_slots;
        w->free_slots = &w->slots[i];
    }
    return CMD_OK;
}

void each_worker_close(struct each_worker *w) {
    if (w->heap) mwl_value_drop(w->heap, w->arguments);
    session_close(w->session);
    if (w->looped) uv_loop_close(&w->loop);
    each_in_forget(&w->hand.piece);
    each_shelf_free(&w->shelf);
    free(w->slots);
}
