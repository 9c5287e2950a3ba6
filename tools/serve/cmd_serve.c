/* cmd_serve.c: `mwlvm serve`: the runs of a store are driven, and an HTTP server is there for them.
 */
#include "tools/base/cmd.h"
#include "tools/durable/store.h"
#include "tools/base/file_in.h"
#include "tools/base/interrupt.h"
#include "tools/run/run_options.h"
#include "tools/serve/serve.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECTIONS = 10000, IDLE_S = 60 };
#define LEASE_LEAST INT64_C(100000000)
#define LISTEN "127.0.0.1:7441"

static const char head[] =
    "usage: mwlvm serve --store FILE|URL [DEFINITION...] [OPTIONS]\n\n"
    "Drives the runs of a store, and serves HTTP for them: start, list, look at, answer, cancel;\n"
    "events as they happen; a page for people at /. Each DEFINITION is a program that can be\n"
    "started, under the name of its file without .json. tools/SERVE.md has every endpoint.\n\n";

static const char foot[] =
    "\nA token is needed: Authorization: Bearer TOKEN. The owner's token is in FILE-token (without a\n"
    "file: mwlvm-serve-token), which is made at the first start. On the unix socket, FILE-sock, no\n"
    "token is needed: only the owner can open it.\n\n"
    "Ctrl-C and SIGTERM end the server; the runs stay in the store. With --store it drains first, as\n"
    "a worker does: calls at work may finish (--drain), and other workers take the runs; once more\n"
    "ends it at once. A run that asks for something which the server may not do (--allow-...) is\n"
    "stuck; POST /v1/runs/ID/resume tries again.\n\n"
    "Example:\n"
    "  mwlvm serve --store runs.db tools/examples/approval.json --listen 127.0.0.1:0 & sleep 2 && \\\n"
    "    curl -s --unix-socket runs.db-sock http://mwlvm/v1/runs -d '{\"program\": \"approval\"}' && \\\n"
    "    kill $!\n" CMD_STATUSES;

static const struct option options[] = {
#define AT(field) offsetof(struct serve_options, field)
    {"Used most", OPTION_TITLE, 0, NULL, NULL, NULL},
    STORE_OPTION(AT(run.durable), "the store of the runs, made if it is new: " STORE_WHERE),
    {"--listen", OPTION_WORD, AT(listen), "HOST:PORT",
     "where to listen; " LISTEN " without it; `none`: the unix socket alone", NULL},
    {"--url", OPTION_WORD, AT(url), "URL",
     "how people reach the server, for example by a proxy: links begin with it", NULL},
    {"--schedule", OPTION_WORD, AT(schedule), "PATH",
     "start runs by the clock: a JSON file of schedules", NULL},
    {"Who may connect", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--unix", OPTION_WORD, AT(unix_path), "PATH",
     "the unix socket; FILE-sock without it; `none`: there is none", NULL},
    {"--token-file", OPTION_WORD, AT(token_file), "PATH",
     "the owner's token, made if it is new; FILE-token without it", NULL},
    {"--tokens", OPTION_WORD, AT(tokens), "PATH", "more tokens: a hash and scopes on each line",
     NULL},
    {"--new-token", OPTION_WORD, AT(new_token), "SCOPES",
     "make a token with these scopes, add it to --tokens, print it, and end; "
     "scopes: read, start, answer, work, admin, with commas",
     NULL},
    {"--connections", OPTION_WORD, AT(connections_word), "N", "open at most so many; 10000", NULL},
    {"--idle", OPTION_WORD, AT(idle_word), "SECONDS",
     "close a connection that sends no whole request for so long, or fetches nothing of its "
     "answer for twice as long; 60",
     NULL},
    {"The runs of the store", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--keep", OPTION_WORD, AT(keep_word), "DURATION",
     "how long runs that are done stay in the store; for ever unless given", NULL},
    {"--keep-failed", OPTION_WORD, AT(keep_failed_word), "DURATION",
     "how long failed ones stay; P30D with --keep, else for ever", NULL},
    {"--lease", OPTION_WORD, AT(lease_word), "DURATION",
     "with a database: others take its runs when it was not heard of for this long; PT4S", NULL},
    {"--drain", OPTION_WORD, AT(drain_word), "DURATION",
     "at the end, how long calls at work may take to finish; PT10S with a database, else PT0S",
     NULL},
    {"Providers", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--bind", OPTION_LIST, AT(run.bind_words), "URI=TARGET", "as for `mwlvm run`", NULL},
    {"--remote", OPTION_LIST, AT(run.remote_words), "URI",
     "calls of the provider URI are for workers outside (GET /v1/calls)", NULL},
#undef AT
};

static int operand(void *ctx, const char *word) {
    return word_list_add(&((struct serve_options *)ctx)->files, word);
}

/* ---- options --------------------------------------------------------------------------------- */

static int read_number(const char *name, const char *word, unsigned most, unsigned *out) {
    uint64_t n = *out;
    int status = word ? option_number(name, word, 1, most, &n) : CMD_OK;
    *out = (unsigned)n;
    return status;
}

static int read_duration(const char *name, const char *word, int64_t least, int64_t *ns) {
    return word ? option_duration(name, word, least, ns) : CMD_OK;
}

static int check_times(struct serve_options *o) {
    bool shared = store_is_shared(o->run.durable);
    if (o->lease_word && !shared)
        return cmd_usage("--lease is for a database: a file has one worker");
    if (shared && !o->drain_word) o->drain_word = "PT10S";
    if (o->keep_word && !o->keep_failed_word) o->keep_failed_word = "P30D";
    o->keep_ns = o->keep_failed_ns = -1;
    int status = read_duration("--lease", o->lease_word, LEASE_LEAST, &o->lease_ns);
    if (status == CMD_OK) status = read_duration("--drain", o->drain_word, 0, &o->drain_ns);
    if (status == CMD_OK) status = read_duration("--keep", o->keep_word, 0, &o->keep_ns);
    if (status == CMD_OK)
        status = read_duration("--keep-failed", o->keep_failed_word, 0, &o->keep_failed_ns);
    return status;
}

/* Without slashes at the end, in place. */
static int check_url(struct serve_options *o) {
    static const char *const begins[] = {"http://", "https://"};
    if (!o->url) return CMD_OK;
    size_t len = strlen(o->url);
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t n = strlen(begins[i]);
        if (strncmp(o->url, begins[i], n) == 0 && len > n && o->url[len - 1] != '/' &&
            !strpbrk(o->url, " \"<>\\"))
            return CMD_OK;
    }
    return cmd_usage(
        "--url is http:// or https:// and a host, without a slash at its end, not '%s'", o->url);
}

static bool is_local(const char *listen) {
    static const char *const hosts[] = {"127.0.0.1:", "localhost:", "[::1]:"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (strncmp(listen, hosts[i], strlen(hosts[i])) == 0) return true;
    return false;
}

/* FILE with an ending: what belongs to the store. A store that is not a file has none. */
static char *beside(const char *store, const char *end) {
    size_t len = strlen(store) + strlen(end) + 1;
    char *path = strstr(store, "://") ? NULL : malloc(len);
    if (path) snprintf(path, len, "%s%s", store, end);
    return path;
}

static int check(struct serve_options *o) {
    o->connections = CONNECTIONS;
    o->idle_s = IDLE_S;
    int status = read_number("--connections", o->connections_word, 1000000, &o->connections);
    if (status == CMD_OK) status = read_number("--idle", o->idle_word, 86400, &o->idle_s);
    if (status != CMD_OK || o->new_token) return status;
    if (!o->run.durable) return cmd_usage("--store FILE|URL says where the runs are");
    status = check_times(o);
    if (status == CMD_OK) status = check_url(o);
    if (status != CMD_OK) return status;
    if (!o->listen) o->listen = LISTEN;
    if (strcmp(o->listen, "none") == 0) o->listen = NULL;
    if (o->listen && !is_local(o->listen) && !o->token_file && !o->tokens)
        return cmd_usage("--listen %s can be reached from outside: name --token-file or --tokens",
                         o->listen);
    if (o->unix_path && strcmp(o->unix_path, "none") == 0) o->unix_path = "";
    if (!o->listen && o->unix_path && !*o->unix_path)
        return cmd_usage("--listen none and --unix none leave nothing to listen to");
    return CMD_OK;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int on_open(void *ctx, const struct drive_view *view) {
    struct serve *s = ctx;
    const struct serve_options *o = s->options;
    s->view = *view;
    int status = serve_open(s);
    if (status != CMD_OK) return status;
    if (*http_url(s->http)) cmd_note("%s/ (the token is in %s)", http_url(s->http), o->token_file);
    if (o->unix_path) cmd_note("unix socket %s", o->unix_path);
    if (*http_url(s->http) && !*serve_url(s)) cmd_note("links do not have an address: name --url");
    return CMD_OK;
}

/* Signals are acted on by drive.c, in this thread: it drains. */
static void wake(void *ctx) { (void)ctx; }
static void heed(struct serve *s) {
    int requests = interrupt_requests();
    if (requests > s->heeded && s->heeded == 0)
        cmd_note(store_is_shared(s->options->run.durable)
                     ? "%s: the runs go back to the store; a second signal ends it at once"
                     : "%s: the runs stay in the store",
                 interrupt_words());
    s->heeded = requests;
    interrupt_answered(requests);
}
static void on_turn(void *ctx) {
    heed(ctx);
    serve_turn(ctx);
}
static void on_close(void *ctx) {
    heed(ctx);
    serve_close(ctx);
}

static bool on_allowed(void *ctx, const mwl_program *program, const char *name) {
    const struct run_options *o = &((struct serve *)ctx)->options->run;
    return permissions_check(&o->permissions, name, program, &o->binds) == CMD_OK;
}

static bool on_ended(void *ctx, mwl_heap *heap, const mwl_durable_ended *run) {
    (void)ctx, (void)heap, (void)run;
    return false;
}

/* "dir/order.json" is the program order. */
static char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = strdup(slash ? slash + 1 : path);
    char *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot != name) *dot = '\0';
    return name;
}

static int put_file(struct serve_options *o, struct desk_tools *t, const char *path) {
    struct definition *d = &o->run.definition;
    mwl_program *program = NULL;
    struct file_text text = {NULL, 0, 0};
    uint8_t id[16];
    char *why = NULL, *name = name_of(path);
    int status = definition_load(d, path, &program); /* its diagnostics, for people */
    if (status == CMD_OK)
        status = permissions_check(&o->run.permissions, path, program, &o->run.binds);
    if (status == CMD_OK) status = file_in(&d->limits, path, &text);
    if (status == CMD_OK && name) {
        mwl_status put = program_put(t, name, text.data, text.size, id, &why);
        if (put != MWL_OK) status = store_fail(t->store, put);
    }
    file_in_free(&d->limits, &text);
    mwl_program_release(program);
    free(why);
    free(name);
    return status;
}

static int put_files(struct serve_options *o, mwl_store *store) {
    struct desk_tools t = {.store = store, .options = &o->run};
    int status = mwl_heap_new(NULL, &t.heap) == MWL_OK ? CMD_OK : cmd_no_memory();
    for (size_t i = 0; i < o->files.count && status == CMD_OK; i++)
        status = put_file(o, &t, o->files.words[i]);
    mwl_heap_free(t.heap);
    return status;
}

static int open_store(const struct serve_options *o, mwl_store **store) {
    int status = store_is_shared(o->run.durable)
                     ? store_open_shared(o->run.durable, o->lease_ns, store)
                     : store_open(o->run.durable, true, store);
    if (status != CMD_OK) return status;
    mwl_status joined = (*store)->ops->join(*store, "mwlvm serve");
    return joined == MWL_OK ? CMD_OK : store_fail(*store, joined);
}

/* As a worker: it drains, and what a run may do is asked before it begins. */
static int drive_runs(struct serve *s, mwl_store *store) {
    const struct serve_options *o = s->options;
    const struct drive_part part = {on_open, on_turn, on_close, s};
    const struct drive_worker as = {o->drain_ns, on_allowed, s};
    const struct drive_how how = {.options = &o->run,
                                  .store = store,
                                  .ended = on_ended,
                                  .ctx = s,
                                  .worker = &as,
                                  .idle_ns = drive_idle_ns(o->run.durable, o->lease_ns),
                                  .part = &part};
    bool left = false;
    int why = interrupt_watch(wake, NULL);
    if (why) return cmd_fail("signals: %s", strerror(why));
    signal(SIGPIPE, SIG_IGN);
    int status = drive(&how, &left);
    interrupt_unwatch();
    if (interrupt_first() && !store_is_shared(o->run.durable)) cmd_end_by_signal(interrupt_first());
    return status;
}

static int run(struct serve_options *o) {
    struct serve s = {.options = o};
    mwl_store *store = NULL;
    char *token = beside(o->run.durable, "-token"), *sock = beside(o->run.durable, "-sock");
    if (!o->token_file) o->token_file = token ? token : "mwlvm-serve-token";
    if (!o->unix_path) o->unix_path = sock;
    if (o->unix_path && !*o->unix_path) o->unix_path = NULL;
    int status = open_store(o, &store);
    if (status == CMD_OK) status = put_files(o, store);
    if (status == CMD_OK) {
        mwl_status got = link_secret(store, s.secret);
        if (got != MWL_OK) status = store_fail(store, got);
    }
    if (status == CMD_OK) status = auth_open(&s.auth, o->token_file, o->tokens);
    if (status == CMD_OK) status = drive_runs(&s, store);
    auth_free(s.auth);
    mwl_store_close(store);
    free(token);
    free(sock);
    return status;
}

int cmd_serve(int argc, char **argv) {
    struct serve_options o;
    memset(&o, 0, sizeof o);
    struct run_options *r = &o.run;
    definition_init(&r->definition);
    r->definition.runs = true;
    const struct command_line line = {head,
                                      foot,
                                      {{options, sizeof options / sizeof *options, &o},
                                       {permission_options, n_permission_options, &r->permissions},
                                       DEFINITION_TABLES(&r->definition)},
                                      operand,
                                      &o,
                                      false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK) status = check(&o);
    if (status == CMD_OK && o.new_token)
        status = o.tokens ? auth_new_token(o.tokens, o.new_token)
                          : cmd_usage("--new-token needs --tokens FILE");
    else if (status == CMD_OK) {
        status = binds_read(&r->binds, &r->bind_words, &r->definition);
        if (status == CMD_OK) status = remotes_read(&r->remotes, &r->remote_words, &r->definition);
        if (status == CMD_OK) status = run(&o);
    }
    word_list_free(&o.files);
    run_options_free(r);
    return status;
}
