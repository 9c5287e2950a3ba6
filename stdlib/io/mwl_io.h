/* mwl_io.h: providers that do real work (http, exec, file, sqlite, ...) for a host with a libuv
 * loop, what they may touch, and which texts are secret.
 *
 * This is a library beside the core: link libmwlvm-io and libuv. libcurl, SQLite and libcrypto are
 * loaded when a provider first needs them. The words lent, given and taken over mean the same as in
 * mwl.h. Unless a comment says otherwise, call everything on the VM's thread, which is also the
 * thread of the loop, and not from a callback of the VM. */
#ifndef MWL_IO_H
#define MWL_IO_H

#include "mwl_asm.h"
#include "mwl_provider.h"

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t of <uv.h> */

/* ---- permissions ----------------------------------------------------------------------------- */

/* What a provider may touch. A new policy allows nothing. */
typedef struct mwl_io_policy mwl_io_policy;

/* The rights: name in flags and policy files, and what one entry of its list is. */
#define MWL_IO_RIGHTS(X)                                                                           \
    X(HTTP, "http", "host[:port]")                                                                 \
    X(EXEC, "exec", "program")                                                                     \
    X(READ, "read", "path")                                                                        \
    X(WRITE, "write", "path")                                                                      \
    X(ENV, "env", "NAME")                                                                          \
    X(SQLITE, "sqlite", "file")

typedef enum mwl_io_right {
#define MWL_X(id, name, what) MWL_IO_##id,
    MWL_IO_RIGHTS(MWL_X)
#undef MWL_X
        MWL_IO_N_RIGHTS
} mwl_io_right;

/* Creates a policy that allows nothing; *out is given. Returns MWL_OK or MWL_E_NOMEM. */
MWL_API mwl_status mwl_io_policy_new(mwl_io_policy **out);
MWL_API void mwl_io_policy_free(mwl_io_policy *policy); /* NULL is ignored */
/* Allows a right: for the entries of a list that commas separate, or for everything if list is
 * NULL. A path with a comma can be given in a policy file. Entries:
 *   http         "host" or "host:port"; "*.example.org" stands for all names below it; an IPv6
 *                address is written in brackets. Without a port, all ports.
 *   exec         a program as the call names it: "git" or "/usr/bin/git"
 *   read, write  a file or a folder with everything below it; relative to the current folder
 *   env          the name of a variable; "AWS_*" stands for all that begin so
 *   sqlite       a database file, or a folder
 * Returns MWL_OK, MWL_E_NOMEM, or MWL_E_SYNTAX with error->message (until the next call by this
 * thread) about the entry at error->offset in the list. */
MWL_API mwl_status mwl_io_policy_allow(mwl_io_policy *policy, mwl_io_right right, const char *list,
                                       mwl_error *error);
/* Allows everything, and lets http reach addresses of this machine and of private networks. */
MWL_API void mwl_io_policy_allow_all(mwl_io_policy *policy);
/* Adds what a policy file allows: {"allow": {"http": ["example.org"], "env": true}} or
 * {"allow": "all"}. Relative paths in it are relative to `folder`. Returns MWL_OK, MWL_E_NOMEM, or
 * an error of mwl_json_parse(), or MWL_E_SYNTAX with error->message, as above. */
MWL_API mwl_status mwl_io_policy_read(mwl_io_policy *policy, const char *json, size_t len,
                                      const char *folder, mwl_error *error);
/* Returns whether the policy allows something of this right. */
MWL_API bool mwl_io_policy_any(const mwl_io_policy *policy, mwl_io_right right);
/* Returns whether the policy allows this: "host:port", a program, a path or a name. Checks only the
 * text of a path; links are checked when the file is opened. Addresses of hosts are checked when a
 * connection is made. */
MWL_API bool mwl_io_policy_allows(const mwl_io_policy *policy, mwl_io_right right,
                                  const char *what);
/* Returns "http" and so on. Constant. */
MWL_API const char *mwl_io_right_name(mwl_io_right right);

/* ---- the providers --------------------------------------------------------------------------- */

/* One of the providers. */
typedef struct mwl_io_provider {
    const char *uri, *document; /* constant */
    unsigned rights;            /* bit (1 << right) for each right that a call may ask for */
} mwl_io_provider;
/* Returns provider i, or NULL after the last one. Constant. Any thread. */
MWL_API const mwl_io_provider *mwl_io_provider_at(size_t i);
/* Finds out what a use of a provider in a definition asks for. `member` is the JSON object of a
 * call or of a middleware entry: {"provider": URI, "with": {...}}. Calls ask(ctx, right, what) for
 * each thing; what is NULL if it is known only when the program runs. Does nothing for other
 * objects. */
MWL_API void mwl_io_asks(mwl_value member,
                         void (*ask)(void *ctx, mwl_io_right right, const char *what), void *ctx);
/* Returns all documents, for mwl_asm_options.library. Constant. Any thread. */
MWL_API const mwl_asm_document *mwl_io_documents(void);

/* A set of secrets; see below. */
typedef struct mwl_io_secrets mwl_io_secrets;

/* ---- one VM's providers ---------------------------------------------------------------------- */

typedef struct mwl_io mwl_io;

/* How serious a line of the log is. */
typedef enum mwl_io_level { MWL_IO_DEBUG, MWL_IO_INFO, MWL_IO_WARN, MWL_IO_ERROR } mwl_io_level;

/* Options. All zero is valid: nothing is allowed, and the log goes to standard error. */
typedef struct mwl_io_options {
    /* Lent until the providers are closed; must not change meanwhile. NULL: nothing is allowed. */
    const mwl_io_policy *policy;
    /* The set of secrets, lent until the providers are closed; several VMs may share one. NULL:
     * they have their own. */
    mwl_io_secrets *secrets;
    /* Leaves out a provider for which it returns true: the host has another one with this URI. */
    bool (*without)(const void *ctx, const char *uri);
    const void *without_ctx;
    /* Called when a call has settled in a callback of the loop: pump the VM soon. NULL: uv_stop()
     * is called, so that uv_run() returns before it waits again. */
    void (*settled)(void *ctx);
    void *settled_ctx;
    /* Gets each line of the providers log: a JSON object without a line break. Secrets have been
     * replaced. NULL: the lines go to standard error. */
    void (*log)(void *ctx, mwl_io_level level, const char *line, size_t len);
    void *log_ctx;
    /* Loads a program for the provider run: a definition or a program file, whose text is given in
     * `text`. *out is given to the library, which releases it. Returns MWL_OK, or a status and a
     * message in `why`. NULL: the provider assembles definitions with the documents of this library
     * alone. */
    mwl_status (*load)(void *ctx, const char *path, const char *text, size_t len, mwl_program **out,
                       char *why, size_t why_cap);
    void *load_ctx;
    /* The terminal that prompt uses, for reading and writing. NULL: "/dev/tty". */
    const char *terminal;
    /* What cache, circuit-breaker, rate-limit and concurrency may keep, in bytes, for all runs of
     * the VM together. 0: 64 MiB. Half is for the values of cache, an eighth for each other one.
     * What is used least goes first: a value is made again, a breaker closes, a bucket is full. As
     * much again is for what redact, env and prompt mark as secret, which stays until
     * mwl_io_secrets_end(): a scope that cannot mark fails. */
    size_t table_bytes;
    /* What one run may mark as secret, in bytes; each mark counts for 256 at least. For runs whose
     * marks a store keeps. 0: no limit but the one above. */
    size_t run_secrets;
} mwl_io_options;

/* Adds all providers to a VM, before its first run; *out is given: close it. The loop is lent until
 * it is closed, and must run on the VM's thread. Providers settle their calls in callbacks of the
 * loop: pump the VM after each uv_run(), or see `settled`. options is copied; NULL means all zero.
 * The host ignores SIGPIPE and SIGXFSZ. The VM must not have been freed when the providers are
 * closed. Returns MWL_OK or an error of mwl_vm_provide(). */
MWL_API mwl_status mwl_io_open(mwl_vm *vm, struct uv_loop_s *loop, const mwl_io_options *options,
                               mwl_io **out, mwl_error *error);
/* Stops everything that is in progress, and closes what is open. Runs that still wait for a call
 * get failures. No run may be inside a middleware of this library: end or abort such runs first.
 * `closed` is called with ctx when all of it has ended, perhaps before this returns, otherwise by
 * the loop; then `io` has been freed. NULL: no call. The loop must run until then. io may be NULL.
 */
MWL_API void mwl_io_close(mwl_io *io, void (*closed)(void *ctx), void *ctx);
/* Returns how many calls are in progress. While there are some, a host under virtual time should
 * wait for the loop and not let time skip. */
MWL_API size_t mwl_io_pending(const mwl_io *io);

/* ---- secrets --------------------------------------------------------------------------------- */

/* Values that providers have read as secret (env, prompt), and what redact names, are kept in a
 * set. The host passes every value that people or files may keep (traces, reports, logs, messages)
 * through mwl_io_shown() and its text through a redactor, which replace them by "[secret]". Secrets
 * are found in plain text, in JSON text, percent-encoded and as base64. A text of less than four
 * bytes is found only as a whole JSON string.
 *
 * The functions with a set may be called by any thread, also several at the same time. */

/* Creates a set; *out is given. Returns MWL_OK or MWL_E_NOMEM. */
MWL_API mwl_status mwl_io_secrets_new(mwl_io_secrets **out);
MWL_API void mwl_io_secrets_free(mwl_io_secrets *secrets); /* NULL is ignored */
/* Returns whether there is a secret. If not, texts need no redactor. */
MWL_API bool mwl_io_secrets_any(const mwl_io_secrets *secrets);
/* Returns a number that grows with each text and each path that is marked. */
MWL_API size_t mwl_io_secrets_count(const mwl_io_secrets *secrets);
/* Returns the set of a VM's providers: that of the options, or their own. Lent by `io`. */
MWL_API mwl_io_secrets *mwl_io_secrets_of(mwl_io *io);
/* What is marked belongs to runs, by their ids, and to the host, as the run NULL. It is secret
 * until none of them has it any more. What a run that another one has started marks is that one's.
 */

/* Marks a text as secret, from now on; each long line of it, too. Returns MWL_OK or MWL_E_NOMEM. */
MWL_API mwl_status mwl_io_secrets_add(mwl_io_secrets *secrets, const char *run, const char *text,
                                      size_t len);
/* The same for the set of a VM's providers, on behalf of a definition. MWL_E_TOO_BIG: a limit of
 * mwl_io_options is reached. */
MWL_API mwl_status mwl_io_secret(mwl_io *io, mwl_run *run, const char *text, size_t len);
/* Ends the marks of a run: call it when nothing of the run is shown any more. */
MWL_API void mwl_io_secrets_end(mwl_io_secrets *secrets, const char *run);

/* Marks a path: what it leads to, in any value and at any depth, is not shown from now on, whatever
 * it is. "user.password" is the member password of a member user; "cards.*.number" that of each
 * element of cards. What stands before the first name (* and numbers) does not count; a path
 * without a name is ignored. Returns MWL_OK, MWL_E_NOMEM, or MWL_E_TOO_BIG: there are 4,096. */
MWL_API mwl_status mwl_io_secrets_path(mwl_io_secrets *secrets, const char *run, const char *path,
                                       size_t len);
/* Returns the value with "[secret]" in the place of what marked paths lead to; given. Texts that
 * are secret are still in it: a redactor replaces them. Absent if out of memory. */
MWL_API mwl_value mwl_io_shown(const mwl_io_secrets *secrets, mwl_heap *heap, mwl_value v);

/* Writes what a run has marked as JSON text, so that it can go on elsewhere with its secrets, or
 * all of a set (NULL); nothing if there is none. Keep the text as secret as they are. Returns
 * MWL_OK, MWL_E_NOMEM or what the sink returned. */
MWL_API mwl_status mwl_io_secrets_write(const mwl_io_secrets *secrets, const char *run,
                                        mwl_json_sink *sink, void *ctx);
/* Marks what mwl_io_secrets_write() wrote, for this run. Returns MWL_OK, MWL_E_NOMEM, MWL_E_SYNTAX,
 * or another error of mwl_json_parse(). */
MWL_API mwl_status mwl_io_secrets_read(mwl_io_secrets *secrets, const char *run, const char *json,
                                       size_t len);

/* Replaces secrets in a text that comes in pieces. One thread at a time. */
typedef struct mwl_io_redactor mwl_io_redactor;
/* Creates one; *out is given. The text goes on to sink, with ctx. The set is lent until the
 * redactor is freed. Returns MWL_OK or MWL_E_NOMEM. */
MWL_API mwl_status mwl_io_redactor_new(const mwl_io_secrets *secrets, mwl_json_sink *sink,
                                       void *ctx, mwl_io_redactor **out);
/* Takes a piece of text. Returns MWL_OK, MWL_E_NOMEM or what the sink returned. */
MWL_API mwl_status mwl_io_redactor_write(mwl_io_redactor *r, const char *text, size_t len);
/* Passes on what was held back because a secret could have begun there. */
MWL_API mwl_status mwl_io_redactor_flush(mwl_io_redactor *r);
MWL_API void mwl_io_redactor_free(mwl_io_redactor *r); /* does not flush; NULL is ignored */

#ifdef __cplusplus
}
#endif
#endif
