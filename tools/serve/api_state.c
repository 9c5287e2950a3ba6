/* api_state.c: the page, how the server is, and metrics for Prometheus. */
#include "tools/serve/serve.h"

#include "tools/durable/store.h"
#include "tools/serve/endpoints.h"
#include "tools/base/interrupt.h"
#include "tools/serve/sha256.h"
#include "serve_page.h" /* made from page.html, page.css and page.js */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void base64(const uint8_t *bytes, size_t n, char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        if (i + 1 < n) three |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < n) three |= bytes[i + 2];
        *out++ = digits[three >> 18];
        *out++ = digits[three >> 12 & 63];
        *out++ = i + 1 < n ? digits[three >> 6 & 63] : '=';
        *out++ = i + 2 < n ? digits[three & 63] : '=';
    }
    *out = '\0';
}

/* A position in the page behind a word; the page has it. */
static size_t find_behind(const char *word, size_t from) {
    size_t len = strlen(word);
    while (from + len < sizeof serve_page && memcmp(serve_page + from, word, len) != 0) from++;
    return from + len;
}

void page_policy(char out[SERVE_POLICY]) {
    uint8_t hash[SHA256_BYTES];
    char text[50];
    size_t begin = find_behind("<script>", 0),
           end = find_behind("</script>", begin) - strlen("</script>");
    sha256(serve_page + begin, end - begin, hash);
    base64(hash, sizeof hash, text);
    snprintf(out, SERVE_POLICY,
             "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'; connect-src "
             "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
             text);
}

/* The page has no part from anywhere else, and asks this server only. */
void api_page(struct ask *a) {
    a->request->type = "text/html; charset=utf-8";
    a->request->header[0] = "Content-Security-Policy";
    a->request->header[1] = a->serve->policy;
    fwrite(serve_page, 1, sizeof serve_page, a->out);
}

void api_health(struct ask *a) { fputs("{\"status\":\"alive\"}\n", a->out); }

void api_ready(struct ask *a) {
    char why[300];
    if (interrupt_requests() > 0)
        ask_problem(a, 503, "the server stops");
    else if (mwl_durable_writer_trouble(a->serve->view.writer, why, sizeof why))
        ask_problem(a, 503, "%s", why);
    else if (*a->serve->refused)
        ask_problem(a, 503, "%s", a->serve->refused);
    else
        fputs("{\"status\":\"ready\"}\n", a->out);
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void metric(FILE *to, const char *name, const char *type, const char *help, double value) {
    fprintf(to, "# HELP mwlvm_%s %s\n# TYPE mwlvm_%s %s\nmwlvm_%s %.17g\n", name, help, name, type,
            name, value);
}

static double resident(void) {
    char line[200];
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    const char *second = file && fgets(line, sizeof line, file) ? strchr(line, ' ') : NULL;
    if (second) pages = strtol(second, NULL, 10);
    if (file) fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* A run that a message has woken, or that was given back, is due at 0: since when is not stored. */
static double late_s(const mwl_store_counts *n, const struct serve_numbers *of_driver) {
    int64_t now = store_now(), ns = 0;
    if (n->due_wall_ns == MWL_NEVER || n->due_wall_ns > now) return 0;
    if (n->due_wall_ns > 0) ns = now - n->due_wall_ns;
    if (ns < of_driver->late_ns) ns = of_driver->late_ns;
    return (double)ns / 1e9;
}

static void of_store(FILE *to, const mwl_store_counts *n, const struct serve_numbers *of_driver) {
    fputs("# HELP mwlvm_runs Runs of the store by state.\n# TYPE mwlvm_runs gauge\n", to);
    for (int i = 0; i <= MWL_STORE_STUCK; i++)
        fprintf(to, "mwlvm_runs{state=\"%s\"} %llu\n", mwl_store_state_name((mwl_store_state)i),
                (unsigned long long)n->runs[i]);
    metric(to, "waits_open", "gauge", "Calls that wait for an answer from outside.",
           (double)n->waits);
    metric(to, "messages_waiting", "gauge", "Answers and cancellations that no run has taken.",
           (double)n->messages);
    metric(to, "oldest_due_seconds", "gauge", "How late the run is that is due the longest.",
           late_s(n, of_driver));
    metric(to, "events_total", "counter", "Number of the last event.", (double)n->last_event);
}

static void of_process(FILE *to, const struct serve_numbers *n) {
    metric(to, "commits_total", "counter", "Transactions with changes of runs.",
           (double)n->driver.commits);
    metric(to, "transitions_total", "counter", "Changes of runs that were committed.",
           (double)n->driver.changes);
    metric(to, "commit_seconds_total", "counter", "Time that the store was at work.",
           (double)n->commit_all_ns / 1e9);
    metric(to, "commit_last_seconds", "gauge", "The last work of the store.",
           (double)n->commit_last_ns / 1e9);
    metric(to, "runs_loaded_total", "counter", "Runs that were started or loaded.",
           (double)n->driver.started);
    metric(to, "runs_ended_total", "counter", "Runs that are over or stuck.",
           (double)n->driver.ended);
    metric(to, "messages_taken_total", "counter", "Messages that runs have taken.",
           (double)n->driver.answers);
    metric(to, "runs_in_memory", "gauge", "Runs in the memory of this process.", (double)n->runs);
    metric(to, "calls_held", "gauge", "Calls that start when the store has their run.",
           (double)n->held);
    metric(to, "poll_age_seconds", "gauge", "Since the store has answered the last poll.",
           (double)n->poll_ns / 1e9);
    metric(to, "changes_waiting", "gauge", "Changes of runs that are not committed yet.",
           (double)n->queued);
    metric(to, "store_refusals", "gauge", "How often the store has refused the present work.",
           n->refused);
    metric(to, "http_requests_total", "counter", "Requests.", (double)n->requests);
    metric(to, "http_answers_too_large_total", "counter",
           "Answers that would have had more than 32 MiB.", (double)n->too_large);
    metric(to, "http_connections", "gauge", "Open connections.", (double)n->connections);
    metric(to, "http_streams", "gauge", "Listeners to events.", (double)n->streams);
    metric(to, "http_waiting", "gauge", "Requests that wait for a Result or a call.",
           (double)n->waiting);
    metric(to, "desk_waiting", "gauge", "Requests that wait for the store.", (double)n->desk);
    metric(to, "clock_offset_seconds", "gauge",
           "By how much the clock of the database, which decides, is ahead of this machine's.",
           (double)store_clock_offset() / 1e9);
    metric(to, "resident_bytes", "gauge", "Memory of this process.", resident());
}

void api_metrics(struct ask *a, struct desk_tools *t) {
    mwl_store_counts n;
    mwl_status status = t->store->ops->count(t->store, &n);
    if (status != MWL_OK) {
        ask_refused(a, t, status);
        return;
    }
    a->request->type = "text/plain; version=0.0.4; charset=utf-8";
    of_store(a->out, &n, &a->numbers);
    of_process(a->out, &a->numbers);
}
