/* schedule.c: see schedule.h.
 *
 * The value "schedule/NAME" of the store is the last instant that was handled and the run that it
 * started. An instant is handled in this order: the run is started, the value is set. A crash
 * between them repeats the start, under the same id; a server that comes second finds the run
 * there, and its comparison fails. */
#include "tools/serve/schedule.h"

#include "tools/base/member.h"
#include "tools/base/cmd.h"
#include "tools/serve/cron.h"
#include "tools/durable/store.h"
#include "tools/base/file_in.h"
#include "vm/value/temporal.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
enum { GRACE_S = 60, AGAIN_S = 1, LATER_S = 60, MOST = 1000, NAME_MOST = 200, RUN_MOST = 260 };

enum overlap { SKIP, QUEUE, ALLOW };
enum catch_up { LAST, ALL, NONE };
static const char *const overlaps[] = {"skip", "queue", "allow", NULL};
static const char *const catch_ups[] = {"last", "all", "none", NULL};

struct item {
    const char *name, *program, *zone; /* in the value */
    mwl_value value;
    struct cron cron;
    int64_t every_s, from_s; /* every_s 0: cron */
    int overlap, catch_up;
    int64_t next_s; /* when to look at it */
    bool noted;     /* a problem was reported */
};

struct schedule {
    struct desk_job job;
    mwl_heap *heap;
    mwl_value all;
    struct item *items;
    size_t n;
    mwl__zones zones;
    bool busy, changed;
    struct serve *serve;
};

/* ---- reading --------------------------------------------------------------------------------- */

static int wrong(const struct serve *s, const char *name, const char *what, const char *why) {
    return cmd_fail("%s: schedule '%s': %s%s", s->options->schedule, name, what, why);
}

static int word_of(mwl_value v, const char *member, const char *const *words) {
    const char *text = text_member(v, member);
    if (!text) return mwl_is_absent(mwl_get(v, member)) ? 0 : -1;
    for (int i = 0; words[i]; i++)
        if (strcmp(text, words[i]) == 0) return i;
    return -1;
}

/* The instant of 1970-01-01T00:00 local time, or `from`. */
static bool read_from(struct item *i, mwl__zones *zones) {
    const char *from = text_member(i->value, "from");
    mwl__instant at = {0, 0};
    int32_t offset = 0;
    if (from && mwl__temporal_parse_instant(from, strlen(from), &at) != MWL_OK) return false;
    if (!from && mwl__zone_offset(zones, i->zone, strlen(i->zone), 0, &offset) != MWL_OK)
        return false;
    i->from_s = from ? at.sec : -(int64_t)offset;
    return true;
}

static int check_members(const struct serve *s, const struct item *i) {
    static const char *const known[] = {"name", "program", "cron",      "every",   "from",
                                        "zone", "input",   "arguments", "overlap", "catchUp"};
    size_t n = 0;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        n += !mwl_is_absent(mwl_get(i->value, known[k]));
    if (n == mwl_count(i->value)) return CMD_OK;
    return wrong(s, i->name, "it has a member that is not known; ",
                 "known are name, program, cron, every, from, zone, input, arguments, overlap and "
                 "catchUp");
}

static int read_when(const struct serve *s, struct item *i, mwl__zones *zones) {
    const char *cron = text_member(i->value, "cron"), *every = text_member(i->value, "every");
    char why[200] = "";
    int32_t offset;
    int64_t next_s;
    i->zone = text_member(i->value, "zone");
    if (!i->zone) i->zone = "UTC";
    if (mwl__zone_offset(zones, i->zone, strlen(i->zone), 0, &offset) != MWL_OK)
        return wrong(s, i->name, "there is no time zone ", i->zone);
    if (!cron == !every) return wrong(s, i->name, "it needs either `cron` or `every`", "");
    if (cron && !cron_read(&i->cron, cron, why, sizeof why))
        return wrong(s, i->name, "cron: ", why);
    if (cron &&
        cron_next(&i->cron, zones, i->zone, store_now() / SECOND, &next_s) == MWL_E_NOT_FOUND)
        return wrong(s, i->name, "cron: it is never due: ", cron);
    if (every && !(i->every_s = cron_seconds(every)))
        return wrong(s, i->name,
                     "every: not a duration such as 90s, 15m, 1h, 1d or PT15M: ", every);
    if (every && !read_from(i, zones))
        return wrong(s, i->name, "from: not a timestamp such as 2026-01-01T00:00:00Z", "");
    return CMD_OK;
}

static int read_item(struct serve *s, struct item *i, mwl_value v) {
    i->value = v;
    i->name = text_member(v, "name");
    i->program = text_member(v, "program");
    if (!i->name || !*i->name || strlen(i->name) > NAME_MOST)
        return wrong(s, i->name ? i->name : "", "it needs a `name` of 1 to 200 bytes", "");
    if (!i->program) return wrong(s, i->name, "it needs a `program`", "");
    for (const struct item *other = s->schedule->items; other < i; other++)
        if (strcmp(other->name, i->name) == 0) return wrong(s, i->name, "it is there twice", "");
    i->overlap = word_of(v, "overlap", overlaps);
    i->catch_up = word_of(v, "catchUp", catch_ups);
    if (i->overlap < 0) return wrong(s, i->name, "overlap is skip, queue or allow", "");
    if (i->catch_up < 0) return wrong(s, i->name, "catchUp is last, all or none", "");
    int status = check_members(s, i);
    return status == CMD_OK ? read_when(s, i, &s->schedule->zones) : status;
}

/* ---- on the desk's thread -------------------------------------------------------------------- */

static mwl_status next_of(struct schedule *all, const struct item *i, int64_t after_s,
                          int64_t *out_s) {
    if (!i->every_s) return cron_next(&i->cron, &all->zones, i->zone, after_s, out_s);
    int64_t past = after_s - i->from_s;
    int64_t n = past < 0 ? 0 : past / i->every_s + 1;
    *out_s = i->from_s + n * i->every_s;
    return MWL_OK;
}

struct cursor {
    const char *key;
    char value[RUN_MOST + 30];
    bool there;
    int64_t at_s;
    char run[RUN_MOST]; /* the last one that was started; "" */
};

static bool see_cursor(void *ctx, const char *key, const char *value) {
    struct cursor *c = ctx;
    if (strcmp(key, c->key) != 0) return true;
    c->there = true;
    snprintf(c->value, sizeof c->value, "%s", value);
    const char *blank = strchr(value, ' ');
    c->at_s = strtoll(value, NULL, 10);
    snprintf(c->run, sizeof c->run, "%s", blank ? blank + 1 : "");
    return false;
}

static mwl_status move(struct desk_tools *t, struct cursor *c, int64_t at_s, const char *run) {
    char value[sizeof c->value];
    snprintf(value, sizeof value, "%lld %s", (long long)at_s, run);
    mwl_status status =
        t->store->ops->set_value(t->store, c->key, c->there ? c->value : NULL, value);
    if (status != MWL_OK) return status;
    c->there = true;
    c->at_s = at_s;
    snprintf(c->value, sizeof c->value, "%s", value);
    if (run != c->run) snprintf(c->run, sizeof c->run, "%s", run);
    return MWL_OK;
}

static bool see_over(void *ctx, const mwl_store_row *row) {
    *(bool *)ctx = row->state >= MWL_STORE_DONE && row->state != MWL_STORE_STUCK;
    return false;
}

/* Whether the last run of the schedule goes on. */
static bool goes_on(struct desk_tools *t, const struct cursor *c) {
    const mwl_store_query query = {.id = c->run};
    bool over = true;
    if (!*c->run) return false;
    return t->store->ops->list(t->store, &query, see_over, &over) != MWL_OK || !over;
}

static void note(struct item *i, const char *format, const char *why) {
    if (!i->noted) cmd_note(format, i->name, why);
    i->noted = true;
}

/* Makes the request of `POST /v1/runs` that starts the run. */
static char *start_text(struct schedule *all, struct desk_tools *t, const struct item *i,
                        const char *instant, size_t *len) {
    mwl_value request = mwl_absent(), input;
    char *text = NULL, *start = NULL;
    size_t size = 0;
    if (mwl_json_write(all->heap, i->value, MWL_JSON_COMPACT, &text, &size) == MWL_OK &&
        mwl_json_parse(t->heap, text, size, &request, NULL) == MWL_OK) {
        if (mwl_is_absent(mwl_get(request, "input"))) {
            input = mwl_object(t->heap, 2);
            input = member_set(t->heap, input, "schedule",
                               mwl_string(t->heap, i->name, strlen(i->name)));
            input = member_set(t->heap, input, "at", mwl_string(t->heap, instant, strlen(instant)));
            request = member_set(t->heap, request, "input", input);
        }
        start = run_start_text(t, request, len);
    }
    mwl_text_free(all->heap, text, size);
    mwl_value_drop(t->heap, request);
    return start;
}

static mwl_status start(struct schedule *all, struct desk_tools *t, struct item *i, int64_t at_s,
                        char run[RUN_MOST]) {
    char instant[MWL__INSTANT_TEXT_MAX + 1];
    uint8_t program[16];
    size_t len = 0;
    const mwl__instant at = {at_s, 0};
    instant[mwl__temporal_write_instant(at, instant)] = '\0';
    snprintf(run, RUN_MOST, "%s@%s", i->name, instant);
    mwl_status status = program_id(t, i->program, program);
    if (status == MWL_E_NOT_FOUND) note(i, "schedule '%s': there is no program '%s'", i->program);
    if (status != MWL_OK) return status;
    char *text = start_text(all, t, i, instant, &len);
    const mwl_store_start row = {run, program, i->program, {text, len}, store_now()};
    status = text ? t->store->ops->start(t->store, &row) : MWL_E_NOMEM;
    free(text);
    if (status == MWL_E_DUPLICATE) return MWL_OK; /* another server has started it */
    all->changed |= status == MWL_OK;
    return status;
}

/* One instant that is due. *again: look at this schedule in a second. */
static mwl_status handle(struct schedule *all, struct desk_tools *t, struct item *i,
                         struct cursor *c, int64_t at_s, bool *again) {
    char run[RUN_MOST];
    if (i->overlap != ALLOW && goes_on(t, c)) {
        if (i->overlap == SKIP) return move(t, c, at_s, c->run);
        *again = true;
        return MWL_OK;
    }
    mwl_status status = start(all, t, i, at_s, run);
    if (status != MWL_OK) return status;
    i->noted = false;
    return move(t, c, at_s, run);
}

/* An instant that is long over is left out if the policy says so. */
static bool is_left_out(struct schedule *all, const struct item *i, int64_t at_s, int64_t now_s) {
    int64_t after;
    if (now_s - at_s <= GRACE_S || i->catch_up == ALL) return false;
    if (i->catch_up == NONE) return true;
    return next_of(all, i, at_s, &after) == MWL_OK && after <= now_s;
}

static void look(struct schedule *all, struct desk_tools *t, struct item *i, int64_t now_s) {
    char key[NAME_MOST + 20];
    snprintf(key, sizeof key, "schedule/%s", i->name);
    struct cursor c = {.key = key};
    mwl_status status = t->store->ops->values(t->store, key, see_cursor, &c);
    if (status == MWL_OK && !c.there) status = move(t, &c, now_s, ""); /* it begins now */
    bool again = false;
    int64_t at_s = now_s, left_s = c.at_s; /* left_s: the last one that was left out */
    for (int n = 0; status == MWL_OK && !again && n < MOST; n++) {
        status = next_of(all, i, left_s > c.at_s ? left_s : c.at_s, &at_s);
        if (status != MWL_OK || at_s > now_s) break;
        if (is_left_out(all, i, at_s, now_s))
            left_s = at_s;
        else
            status = handle(all, t, i, &c, at_s, &again);
    }
    if (status == MWL_OK && left_s > c.at_s) status = move(t, &c, left_s, c.run);
    i->next_s = at_s > now_s ? at_s : now_s + AGAIN_S;
    if (status == MWL_OK) return;
    if (status == MWL_E_STATE) return; /* another server was first: look again */
    if (status != MWL_E_NOT_FOUND) note(i, "schedule '%s': %s", mwl_store_why(t->store));
    i->next_s = now_s + (status == MWL_E_NOT_FOUND ? LATER_S : AGAIN_S);
}

static void on_work(struct desk_job *job, struct desk_tools *t) {
    struct schedule *all = (struct schedule *)job;
    int64_t now_s = store_now() / SECOND;
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].next_s <= now_s) look(all, t, &all->items[i], now_s);
}

static void on_done(struct desk_job *job) {
    struct schedule *all = (struct schedule *)job;
    all->busy = false;
    if (all->changed) drive_poll_soon(all->serve->view.drive);
    all->changed = false;
}

/* ---- on the loop's thread -------------------------------------------------------------------- */

void schedule_turn(struct serve *s) {
    struct schedule *all = s->schedule;
    if (!all || all->busy || s->closing) return;
    int64_t now_s = store_now() / SECOND;
    size_t due = 0;
    while (due < all->n && all->items[due].next_s > now_s) due++;
    if (due == all->n) return;
    all->busy = true;
    desk_give(s->desk[SERVE_FIRST], &all->job);
}

int schedule_open(struct serve *s) {
    const char *path = s->options->schedule;
    struct limits limits = limits_default();
    struct file_text text = {NULL, 0, 0};
    mwl_error error = {MWL_OK, "", 0};
    struct schedule *all = calloc(1, sizeof *all);
    s->schedule = all;
    if (!all || mwl_heap_new(NULL, &all->heap) != MWL_OK) return cmd_no_memory();
    all->serve = s;
    all->job.work = on_work;
    all->job.done = on_done;
    all->all = mwl_absent();
    mwl__zones_init(&all->zones, mwl_alloc_default(), NULL, NULL);
    int status = file_in(&limits, path, &text);
    if (status != CMD_OK) return status;
    if (mwl_json_parse(all->heap, text.data, text.size, &all->all, &error) != MWL_OK)
        status = cmd_fail("%s: not JSON: %s, at byte %zu", path, error.message, error.offset);
    file_in_free(&limits, &text);
    if (status != CMD_OK) return status;
    mwl_value list = mwl_get(all->all, "schedules");
    if (mwl_is_absent(list)) list = all->all;
    if (mwl_value_kind(list) != MWL_KIND_ARRAY)
        return cmd_fail("%s: an array of schedules is expected", path);
    all->items = calloc(mwl_count(list) + 1, sizeof *all->items);
    if (!all->items) return cmd_no_memory();
    for (size_t i = 0; i < mwl_count(list) && status == CMD_OK; i++, all->n++)
        status = read_item(s, &all->items[i], mwl_array_at(list, i));
    return status;
}

void schedule_close(struct serve *s) {
    struct schedule *all = s->schedule;
    if (!all) return;
    mwl__zones_free(&all->zones);
    if (all->heap) mwl_value_drop(all->heap, all->all);
    mwl_heap_free(all->heap);
    free(all->items);
    free(all);
    s->schedule = NULL;
}
