/* store.h: the store that `--store FILE|URL` names, as the commands use it. */
#ifndef MWL_TOOLS_DURABLE_STORE_H
#define MWL_TOOLS_DURABLE_STORE_H

#include "mwl_durable.h"
#include "tools/base/options.h"

/* Bytes of the id of a run, at most: it is a part of keys, paths and links. */
enum { STORE_ID = 500 };

/* Opens it. CMD_OK and *out, given; or an exit status with a message. `create`: a new file is made
 * if there is none. */
int store_open(const char *path, bool create, mwl_store **out);
/* Whether it is a database with a fleet of workers: a URL, not a file. */
bool store_is_shared(const char *path);
/* The same for a worker of one, with its lease; 0: the default. */
/* Waits for the database, with a note, until it is there or a signal comes. */
int store_open_shared(const char *url, int64_t lease_ns, mwl_store **out);
/* How messages name it: a URL may have a password in it. */
const char *store_shown(const char *path);
/* The exit status that an error of a store means. */
int store_exit(mwl_status status);
/* Says what a store refused; returns an exit status. */
int store_fail(const mwl_store *s, mwl_status status);
/* The time of the wall clock that decides: the store's own, if a store of this process has one (the
 * clock of its database). Several machines then agree on what is due. Any thread. */
int64_t store_now(void);
/* The same for a VM. */
mwl_clock store_clock(void);
/* Takes over what a store knows of its clock; and by how much that is ahead of this machine's. */
void store_clock_set(const mwl_store *s);
int64_t store_clock_offset(void);
/* --keep and --keep-failed, whose words may be NULL: P7D and P30D. */
int store_keep_read(const char *done, const char *failed, mwl_durable_keep *out);

/* Lists runs as mwl_store_ops does. `see` gets their snapshots without more, and what they have
 * marked as secret is hidden from then on: until redact_end(shown), or always if that is NULL. What
 * cannot be hidden, as memory ran out or the row is damaged, has neither a Result nor a start; it
 * has the reason why it is stuck. */
mwl_status store_list(mwl_store *s, const char *shown, const mwl_store_query *query,
                      bool (*see)(void *ctx, const mwl_store_row *row), void *ctx);
/* Whether it could; if not, no question of the run may be shown either. */
bool store_row_hidden(const mwl_store_row *row);
/* Does that for the rows of these runs; those that it cannot hide are taken out. */
struct store_runs {
    char **ids;        /* each once */
    size_t n, cap, at; /* at: the last one that was found */
    bool failed;
};
void store_runs_add(struct store_runs *r, const char *run);
bool store_runs_has(struct store_runs *r, const char *run); /* in the order of store_runs_add() */
mwl_status store_runs_hide(mwl_store *s, const char *shown, struct store_runs *r);
void store_runs_free(struct store_runs *r);

/* The seq of a run; 0 and *status after a message if there is none. */
int64_t store_find(mwl_store *s, const char *run, int *status);

/* "2026-01-31 12:00:05", in UTC; "" for 0 and MWL_NEVER. */
enum { STORE_TIME = 24 };
const char *store_time(int64_t wall_ns, char out[STORE_TIME]);
/* The text of an event, from malloc; NULL: it has none, or out of memory. *flow: of a `step` its
 * Flow, inside the text; NULL: it is not known. */
char *store_event_text(const mwl_store_event *e, const char **flow);
/* Members of a line of JSON: `"name":"text"` with a comma before it if it is not the first. */
void store_put_text(const char *name, const char *text, bool first);
void store_put_json(const char *name, mwl_store_text json); /* nothing if there is none */
void store_put_time(const char *name, int64_t wall_ns);     /* nothing for 0 and MWL_NEVER */

/* What most of the commands have: --store, --json, and operands by position. */
struct store_line {
    const char *path;
    bool json;
    const char *words[3];
    size_t n_words, most;
};
#define STORE_PLACE 1   /* where it is */
#define STORE_OPTIONS 2 /* and --json */
extern const struct option store_options[STORE_OPTIONS];
int store_operand(void *ctx, const char *word);
/* CMD_OK, or a usage error: the store is missing, or a word. `names` are those of the operands. */
int store_line_check(const struct store_line *l, size_t least, const char *const *names);

#endif
