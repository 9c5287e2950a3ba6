/* serve.h: the parts of `mwlvm serve`.
 *
 *     cmd_serve.c     the command line, and the life of the parts
 *     serve.c         from a request to its endpoint: scopes, the desk, answers that wait
 *     endpoints.h     every endpoint, with its scope
 *     api_*.c         what the endpoints do, on the desk's thread
 *     answer.c        the body of an answer, with a limit; cut.c: long values in it
 *     stream.c        events as they are committed
 *     schedule.c      runs that start by the clock; cron.c: when
 *     keep.c          runs that are over are removed
 *     http.h, desk.h, auth.h */
#ifndef MWL_TOOLS_SERVE_SERVE_H
#define MWL_TOOLS_SERVE_SERVE_H

#include "tools/serve/answer.h"
#include "tools/serve/auth.h"
#include "tools/serve/desk.h"
#include "tools/durable/drive.h"
#include "tools/durable/store.h"
#include "tools/serve/http.h"
#include "tools/serve/pictures.h"

#include <stdio.h>

enum {
    SERVE_BODY = 1 << 20,
    SERVE_LINK_BODY = 1 << 16, /* of people without a token */
    SERVE_KEY = STORE_ID,      /* bytes of an Idempotency-Key, which may be the id of a run */
    SERVE_WAIT_S = 300,
    SERVE_LINK_S = 7 * 24 * 3600,
    SERVE_POLICY = 300
};

/* Where the work is done: so a picture that takes long stands before no start and no answer. */
enum serve_desk {
    SERVE_FIRST, /* one thread: what changes runs, events, schedules */
    SERVE_ANSWERS,
    SERVE_READERS,
    SERVE_DESKS
};

struct serve_options {
    struct run_options run; /* the store, providers, permissions, limits */
    struct word_list files; /* definitions to begin with */
    const char *listen, *unix_path, *token_file, *tokens, *new_token, *schedule;
    const char *connections_word, *idle_word, *url;
    const char *lease_word, *drain_word, *keep_word, *keep_failed_word;
    unsigned connections, idle_s;
    int64_t lease_ns, drain_ns;
    int64_t keep_ns, keep_failed_ns; /* -1: for ever */
};

/* What metrics report of this process. */
struct serve_numbers {
    mwl_durable_counts driver;
    size_t runs, queued, held, connections, streams, waiting, desk;
    uint64_t requests, too_large, commit_last_ns, commit_all_ns;
    unsigned refused; /* how often the store refused the present work */
    int64_t late_ns;  /* for how long runs were due, and the store did not give them out */
    int64_t poll_ns;  /* since the store has answered the last poll */
};

struct serve {
    const struct serve_options *options;
    struct drive_view view;
    struct http *http;
    struct auth *auth;
    struct desk *desk[SERVE_DESKS];
    struct schedule *schedule;
    struct keep *keep;
    struct ask *waiting; /* answers that are not there yet */
    struct streams *streams;
    struct pictures *pictures;
    char policy[SERVE_POLICY];    /* of the page, see page_policy */
    char secret[AUTH_TOKEN];      /* links are signed with it */
    uint64_t requests, too_large; /* too_large: answers that were */
    int64_t late_since;           /* of the monotonic clock; 0: nothing is late */
    int heeded;                   /* requests to end, see interrupt.h */
    bool closing;
    struct probe *probe; /* while the store refuses what the desk writes: see serve.c */
    char refused[300];   /* why; "": it does not */
};

/* ---- one request ----------------------------------------------------------------------------- */

struct ask {
    struct desk_job job;
    struct serve *serve;
    struct http_request *request;
    const struct endpoint *endpoint;
    const char *words[HTTP_SEGMENTS]; /* what the path has for each `*` */
    FILE *out;                        /* the body of the answer, into: */
    struct answer answer;
    struct serve_numbers numbers;
    /* An endpoint that has no answer yet sets `again` and `on`, unless `last` is set: it is asked
     * again when an event of that name comes, or when its time is over. */
    bool again, last;
    bool changed;      /* there is work for the driver */
    char refused[300]; /* why the store has refused it; "": it has not */
    char on[600];      /* "run ID" or "call URI" */
    int64_t until_ns, look_ns;
    struct ask *next, *prev;
    bool listed;
    /* An endpoint that answers with events sets these instead of writing. */
    bool streams;
    int64_t seq;    /* of the run; 0: all */
    uint64_t after; /* events behind this one */
    struct stream *stream;
};

struct endpoint {
    const char *method, *path; /* "v1/runs/?": ? stands for any segment */
    const char *query;         /* its parameters, with a space between them; NULL: any */
    enum auth_scope scope;
    size_t most;                                       /* bytes of the body */
    void (*work)(struct ask *a, struct desk_tools *t); /* on a thread of the desk; or */
    void (*now)(struct ask *a);                        /* on the loop's thread */
    enum serve_desk desk;
};

/* Reports an error as problem+json. */
void ask_problem(struct ask *a, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Answers that the store refused it. */
void ask_refused(struct ask *a, const struct desk_tools *t, mwl_status status);
/* Reads a parameter of seconds ("30", "0.5", "30s"); *out stays if there is none. False after a
 * problem. */
bool ask_seconds(struct ask *a, const char *name, double *out);
/* Sets how long the answer may wait: the parameter `wait`. On the loop's thread. False after a
 * problem. */
bool ask_waits(struct ask *a);
/* Reads a parameter of digits, from `least` on; *out stays if there is none. False after a problem.
 */
bool ask_count(struct ask *a, const char *name, uint64_t least, uint64_t *out);
/* False after a problem: the query has other parameters than those of the endpoint. */
bool ask_parameters(struct ask *a);
/* False after a problem: an object has other members than these. `what` is for the message. */
bool ask_members(struct ask *a, const char *what, mwl_value object, const char *const *names,
                 size_t n);
/* False after a problem: a member is there and is not a text that can be an id or a name: it is
 * empty, too long, or has a NUL. */
bool ask_text_member(struct ask *a, mwl_value object, const char *name, size_t most);
/* False after a problem: the name is the key of a call (RUN.NUMBER), which workers settle. An
 * answer of this name would settle the call, without the scope for it. */
bool ask_names_wait(struct ask *a, const char *run, const char *name);
/* Parses the body. False after a problem. */
bool ask_body(struct ask *a, struct desk_tools *t, mwl_value *out);

/* Members of JSON: each begins with a comma unless `first`. */
void put_name(FILE *to, const char *name, bool first);
void put_text(FILE *to, const char *name, const char *text, bool first);
void put_json(FILE *to, const char *name, mwl_store_text json); /* nothing if there is none */
void put_time(FILE *to, const char *name, int64_t wall_ns);     /* nothing for 0 and MWL_NEVER */
void put_count(FILE *to, const char *name, uint64_t n);
const char *text_member(mwl_value object, const char *name); /* or NULL */
void put_hex(const uint8_t id[16], char out[33]);

/* ---- between the parts ----------------------------------------------------------------------- */

/* serve.c */
int serve_open(struct serve *s);
void serve_turn(struct serve *s);
void serve_close(struct serve *s);
/* The address of the server for people, without a slash at the end: --url, or where it listens.
 * "": it is not known outside. */
const char *serve_url(const struct serve *s);
/* An event was committed: answers that wait for it are asked again. */
void serve_event(struct serve *s, const char *run, const char *kind, const char *text);

/* api_state.c. The Content-Security-Policy of the page: its one script is named by its hash. */
void page_policy(char out[SERVE_POLICY]);

/* api_links.c. Reads the secret of the store; made when it is first needed. */
mwl_status link_secret(mwl_store *store, char out[AUTH_TOKEN]);
/* Whether the path is a link that this store has signed, and its time is not over. False after a
 * problem. On any thread. */
bool link_is_signed(struct ask *a);

/* stream.c */
int streams_open(struct serve *s);
void streams_turn(struct serve *s);
void streams_close(struct serve *s);
size_t streams_count(const struct serve *s);
void streams_add(struct ask *a);
void streams_remove(struct ask *a); /* nothing if it has none */
/* The number of the last event of the store, on the desk's thread. */
mwl_status streams_last(mwl_store *s, uint64_t *out);

/* api_programs.c. Finds the program of a name or an id; false after a problem. */
bool program_find(struct ask *a, struct desk_tools *t, const char *name, uint8_t id[16]);
/* The same without a word: MWL_E_NOT_FOUND, or what the store refused. */
mwl_status program_id(struct desk_tools *t, const char *name, uint8_t id[16]);
/* Loads a program under the server's limit of memory. MWL_OK, or what the store refused; *out is
 * given, and NULL if it cannot be loaded. */
mwl_status program_load(struct desk_tools *t, const uint8_t id[16], mwl_program **out);
/* Stores a definition or a program under a name. MWL_OK; else `why` has the diagnostics as JSON, or
 * "" and the store has the reason. */
mwl_status program_put(struct desk_tools *t, const char *name, const char *text, size_t len,
                       uint8_t id[16], char **why);
/* api_runs.c. The text of mwl_store_start.start for a run; malloc, or NULL. */
char *run_start_text(struct desk_tools *t, mwl_value request, size_t *len);

#endif
