/* postgres_run.c: statements on a connection of libpq: parameters and results in the binary form,
 * prepared statements, and what is done when the connection is lost.
 *
 * A reply that does not come is the same as a connection that is lost: the outcome is not known,
 * the caller gets MWL_E_IO and repeats, on a new connection. */
#include "stdlib/durable/postgres_impl.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONFLICT_TRIES = 8 };
#define CLOCK_NS INT64_C(20000000) /* by how much a clock is not set again */
enum { PARAMETERS = 24, REPLY_MS = 30000, ARRAY_HEAD = 20, BINARY = 1 };
/* Bytes of all parameters of a statement. The server ends the connection if a message is larger
 * than 1 GiB, and while it works it has more than one copy below that bound. */
#define MESSAGE_MOST ((size_t)1 << 29)

int64_t mwl__pg_mono_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

mwl_status mwl__pg_refuse(mwl__pg_store *s, mwl_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
    return status;
}

/* ---- numbers in the order of the network ----------------------------------------------------- */

static void put_bytes(char *out, uint64_t v, size_t n) {
    for (size_t i = n; i-- > 0; v >>= 8) out[i] = (char)(v & 0xff);
}

static int64_t get_bytes(const char *at, size_t n) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) v = v << 8 | (unsigned char)at[i];
    unsigned shift = (unsigned)(64 - 8 * n);
    return n ? (int64_t)(v << shift) >> shift : 0;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static char *room(mwl__pg_array *a, size_t more) {
    size_t len = a->len ? a->len : ARRAY_HEAD;
    if (a->failed) return NULL;
    if (len + more > a->cap) {
        size_t cap = a->cap ? a->cap : 256;
        while (cap < len + more) cap *= 2;
        char *grown = realloc(a->at, cap);
        a->failed = !grown;
        if (!grown) return NULL;
        a->at = grown;
        a->cap = cap;
    }
    a->len = len + more;
    return a->at + len;
}

static char *element(mwl__pg_array *a, size_t len) {
    char *at = room(a, 4 + len);
    if (!at) return NULL;
    a->n++;
    put_bytes(at, len, 4);
    return at + 4;
}

void mwl__pg_array_int(mwl__pg_array *a, int64_t v) {
    char *at = element(a, 8);
    if (at) put_bytes(at, (uint64_t)v, 8);
}

void mwl__pg_array_bool(mwl__pg_array *a, bool v) {
    char *at = element(a, 1);
    if (at) *at = v;
}

void mwl__pg_array_bytes(mwl__pg_array *a, const void *bytes, size_t len) {
    char *at = bytes ? element(a, len) : room(a, 4);
    if (!at) return;
    if (bytes) {
        memcpy(at, bytes, len);
    } else {
        put_bytes(at, UINT32_MAX, 4);
        a->n++;
    }
}

void mwl__pg_array_free(mwl__pg_array *a) {
    free(a->at);
    memset(a, 0, sizeof *a);
}

/* Its head: dimensions, whether there may be nulls, type, length, first index. */
static void finish_array(const mwl__pg_array *a) {
    put_bytes(a->at, 1, 4);
    put_bytes(a->at + 4, 1, 4);
    put_bytes(a->at + 8, a->type, 4);
    put_bytes(a->at + 12, a->n, 4);
    put_bytes(a->at + 16, 1, 4);
}

static mwl_status get_reply(mwl__pg_store *s, PGresult **out);

/* ---- the connection -------------------------------------------------------------------------- */

void mwl__pg_drop(mwl__pg_store *s) {
    if (s->conn) s->lib->finish(s->conn);
    s->conn = NULL;
    memset(s->prepared, 0, sizeof s->prepared);
}

/* A warning may say that what was committed has not reached the standby that it is to reach. What a
 * trigger has to say is no such thing. */
static void on_notice(void *ctx, const PGresult *notice) {
    mwl__pg_store *s = ctx;
    const char *severity = s->lib->resultErrorField(notice, 'V');
    const char *from = s->lib->resultErrorField(notice, 'R');
    if (!severity || strcmp(severity, "WARNING") != 0) return;
    s->warned = s->warned || !from || strcmp(from, "exec_stmt_raise") != 0;
}

struct cancelling {
    const mwl__postgres_lib *lib;
    PGcancel *what;
};

static void *cancel(void *ctx) {
    struct cancelling *c = ctx;
    char why[256];
    (void)c->lib->cancel(c->what, why, sizeof why);
    c->lib->freeCancel(c->what);
    free(c);
    return NULL;
}

/* Asks the server to give up a statement whose reply does not come: else a process of the server
 * waits on, for a standby for example, while the next connection has another one. On a thread of
 * its own, because the server may not be reached for long. */
static void give_up(mwl__pg_store *s) {
    pthread_t thread;
    struct cancelling *c = malloc(sizeof *c);
    if (!c) return;
    *c = (struct cancelling){s->lib, s->lib->getCancel(s->conn)};
    if (c->what && pthread_create(&thread, NULL, cancel, c) == 0) {
        pthread_detach(thread);
        return;
    }
    if (c->what) s->lib->freeCancel(c->what);
    free(c);
}

/* Says what libpq reports, without its line breaks. */
static mwl_status lost(mwl__pg_store *s) {
    const char *text = s->conn ? s->lib->errorMessage(s->conn) : "out of memory";
    mwl_status status = mwl__pg_refuse(s, MWL_E_IO, "PostgreSQL: %s", *text ? text : "no reply");
    for (char *at = s->why; *at; at++)
        if (*at == '\n' || *at == '\t') *at = at[1] ? ' ' : '\0';
    *s->state = '\0';
    s->doubt = true;
    mwl__pg_drop(s);
    return status;
}

/* Settings that an engine may not know: they help, and nothing depends on them. */
static void set_up(mwl__pg_store *s) {
    (void)mwl__pg_text(s, "set idle_in_transaction_session_timeout = '5s'");
    (void)mwl__pg_text(s, "set jit = off");
    (void)mwl__pg_text(s, "set default_transaction_isolation = 'read committed'");
}

void mwl__pg_clock(mwl__pg_store *s, int64_t wall_ns, int64_t before_ns, int64_t after_ns) {
    int64_t trip = after_ns - before_ns, base = wall_ns - before_ns - trip / 2;
    int64_t change = base - s->clock_base_ns, least = trip > CLOCK_NS ? trip : CLOCK_NS;
    if (!s->clock_base_ns || change > least || change < -least) s->clock_base_ns = base;
}

/* Not every handle has a lease, which tells it. */
static void read_clock(mwl__pg_store *s) {
    PGresult *r = NULL;
    int64_t before = mwl__pg_mono_ns();
    static const char text[] = "select (extract(epoch from clock_timestamp()) * 1000000)::int8";
    if (!s->lib->sendQuery(s->conn, text) || get_reply(s, &r) != MWL_OK) return;
    if (s->lib->ntuples(r) == 1)
        mwl__pg_clock(s, strtoll(s->lib->getvalue(r, 0, 0), NULL, 10) * 1000, before,
                      mwl__pg_mono_ns());
    s->lib->clear(r);
}

static mwl_status connect_to(mwl__pg_store *s) {
    const char *const keywords[] = {
        "connect_timeout",  "tcp_user_timeout", "keepalives_idle",           "client_encoding",
        "application_name", "dbname",           "fallback_application_name", NULL};
    const char *const values[] = {"5", "10000", "10", "UTF8", "", s->uri, "mwlvm", NULL};
    s->conn = s->lib->connectdbParams(keywords, values, 1);
    if (!s->conn || s->lib->status(s->conn) != MWL__PG_CONNECTED) return lost(s);
    (void)s->lib->setNoticeReceiver(s->conn, on_notice, s);
    set_up(s);
    if (s->conn && !s->clock_base_ns) read_clock(s);
    return s->conn ? MWL_OK : MWL_E_IO;
}

/* A connection that the server has closed meanwhile is made again. Inside a transaction it is not:
 * what was done before is lost with it. */
static mwl_status ready(mwl__pg_store *s) {
    if (s->conn && !s->in_transaction) {
        struct pollfd fd = {.fd = s->lib->socket(s->conn), .events = POLLIN};
        if (poll(&fd, 1, 0) > 0 &&
            (!s->lib->consumeInput(s->conn) || s->lib->status(s->conn) != MWL__PG_CONNECTED))
            mwl__pg_drop(s);
    }
    if (s->conn) return MWL_OK;
    return s->in_transaction ? MWL_E_IO : connect_to(s);
}

/* ---- replies --------------------------------------------------------------------------------- */

static bool wait_for_reply(mwl__pg_store *s) {
    int64_t until = mwl__pg_mono_ns() + (int64_t)(s->reply_ms ? s->reply_ms : REPLY_MS) * 1000000;
    while (s->lib->isBusy(s->conn)) {
        struct pollfd fd = {.fd = s->lib->socket(s->conn), .events = POLLIN};
        int64_t left = (until - mwl__pg_mono_ns()) / 1000000;
        int n = left > 0 ? poll(&fd, 1, (int)left) : 0;
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) give_up(s);
        if (n <= 0 || !s->lib->consumeInput(s->conn)) return false;
    }
    return true;
}

/* The class of an error. Nothing was done in any case. */
static mwl_status class_of(const char *state) {
    static const char *const content[] = {"21", "22", "23", "44", "54", "42804"};
    if (strcmp(state, "53200") == 0) return MWL_E_NOMEM;
    if (strncmp(state, "XX0", 3) == 0) return MWL_E_SNAPSHOT;
    for (size_t i = 0; i < sizeof content / sizeof *content; i++)
        if (strncmp(state, content[i], strlen(content[i])) == 0) return MWL_E_REFUSED;
    return MWL_E_IO;
}

/* Returns the status of a refusal by the server. A repetition is as safe as after a lost
 * connection: nothing was done. */
static mwl_status refused(mwl__pg_store *s, const PGresult *r) {
    const char *code = s->lib->resultErrorField(r, 'C');
    const char *text = s->lib->resultErrorField(r, 'M');
    snprintf(s->state, sizeof s->state, "%s", code ? code : "");
    (void)mwl__pg_refuse(s, MWL_E_IO, "PostgreSQL: %s", text ? text : "the statement failed");
    if (strcmp(s->state, "26000") == 0 || strcmp(s->state, "0A000") == 0)
        mwl__pg_drop(s); /* the prepared statements are gone, or of another schema */
    return class_of(s->state);
}

/* Reads the reply to one statement; of several statements in a text, the last. */
static mwl_status get_reply(mwl__pg_store *s, PGresult **out) {
    PGresult *last = NULL;
    for (;;) {
        if (!wait_for_reply(s)) {
            s->lib->clear(last);
            return lost(s);
        }
        PGresult *next = s->lib->getResult(s->conn);
        if (!next) break;
        s->lib->clear(last);
        last = next;
    }
    int kind = last ? s->lib->resultStatus(last) : -1;
    if (kind == MWL__PG_COMMAND_OK || kind == MWL__PG_TUPLES_OK) {
        *s->state = '\0';
        if (out)
            *out = last;
        else
            s->lib->clear(last);
        return MWL_OK;
    }
    mwl_status status =
        last && s->lib->status(s->conn) == MWL__PG_CONNECTED ? refused(s, last) : lost(s);
    s->lib->clear(last);
    return status;
}

mwl_status mwl__pg_text(mwl__pg_store *s, const char *text) {
    mwl_status status = ready(s);
    if (status != MWL_OK) return status;
    return s->lib->sendQuery(s->conn, text) ? get_reply(s, NULL) : lost(s);
}

/* ---- statements ------------------------------------------------------------------------------ */

struct parameters {
    const char *values[PARAMETERS];
    int lengths[PARAMETERS], formats[PARAMETERS];
    char numbers[PARAMETERS][8];
    int n;
    size_t size; /* of all */
    bool failed;
};

static void add(struct parameters *p, const void *at, size_t len) {
    p->size = len < SIZE_MAX - p->size ? p->size + len : SIZE_MAX;
    p->values[p->n] = at;
    p->lengths[p->n] = (int)len;
    p->formats[p->n++] = BINARY;
}

/* No dimensions, no nulls, the type. */
static const char *empty_array(mwl__pg_type type) {
#define EMPTY(type)                                                                                \
    { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, type }
    static const char bools[12] = EMPTY(MWL__PG_BOOL), bytes[12] = EMPTY(MWL__PG_BYTEA),
                      ints[12] = EMPTY(MWL__PG_INT8), texts[12] = EMPTY(MWL__PG_TEXT);
    return type == MWL__PG_BOOL    ? bools
           : type == MWL__PG_BYTEA ? bytes
           : type == MWL__PG_INT8  ? ints
                                   : texts;
}

static void add_array(struct parameters *p, const mwl__pg_array *a) {
    if (!a) {
        add(p, NULL, 0);
        return;
    }
    p->failed |= a->failed;
    if (a->n && !a->failed) {
        finish_array(a);
        add(p, a->at, a->len);
    } else {
        add(p, empty_array(a->type), 12);
    }
}

static void add_all(struct parameters *p, const char *form, va_list *args) {
    const char *text;
    mwl_store_text part;
    const void *bytes;
    for (; *form; form++) switch (*form) {
        case 'i':
            put_bytes(p->numbers[p->n], (uint64_t)va_arg(*args, int64_t), 8);
            add(p, p->numbers[p->n], 8);
            break;
        case 't':
            text = va_arg(*args, const char *);
            add(p, text, text ? strlen(text) : 0);
            break;
        case 'x':
            part = va_arg(*args, mwl_store_text);
            add(p, part.at, part.len);
            break;
        case 'a': add_array(p, va_arg(*args, const mwl__pg_array *)); break;
        default: bytes = va_arg(*args, const void *); add(p, bytes, va_arg(*args, size_t));
        }
}

static const char *const texts[] = {
#define MWL_X(name, text) text,
    MWL__PG_STATEMENTS(MWL_X)
#undef MWL_X
};

static mwl_status prepare(mwl__pg_store *s, mwl__pg_statement which, const char *name) {
    if (s->prepared[which]) return MWL_OK;
    if (!s->lib->sendPrepare(s->conn, name, texts[which], 0, NULL)) return lost(s);
    mwl_status status = get_reply(s, NULL);
    s->prepared[which] = status == MWL_OK;
    return status;
}

/* A commit is safe if the server has replied without a warning. A commit that it warns of, or whose
 * reply was lost, may be seen by others and yet be gone after a failover: the wait for the standby
 * was given up. A repetition would find it and take it for safe. So a small write comes first
 * (BARRIER): when that is safe, so is all that was committed before. */
static mwl_status check_safe(mwl__pg_store *s, mwl_status status, PGresult **out) {
    if (!s->conn) return status; /* lost */
    if (status == MWL_OK && s->warned) {
        if (out) mwl__pg_clear(s, *out);
        if (out) *out = NULL;
        return mwl__pg_refuse(s, MWL_E_IO,
                              "PostgreSQL: a warning at commit: the outcome is not "
                              "known");
    }
    s->unsure = false;
    return status;
}

mwl_status mwl__pg_run(mwl__pg_store *s, PGresult **out, mwl__pg_statement which, const char *form,
                       ...) {
    struct parameters p = {.n = 0};
    char name[16];
    va_list args;
    if (out) *out = NULL;
    va_start(args, form);
    add_all(&p, form, &args);
    va_end(args);
    if (p.failed) return mwl__pg_refuse(s, MWL_E_NOMEM, "out of memory");
    if (p.size > MESSAGE_MOST)
        return mwl__pg_refuse(s, MWL_E_REFUSED, "PostgreSQL: %zu bytes in one statement", p.size);
    snprintf(name, sizeof name, "mwl%d", (int)which);
    mwl_status status = ready(s);
    if (status == MWL_OK && s->unsure && !s->in_transaction && which != MWL__PG_BARRIER)
        status = mwl__pg_run(s, NULL, MWL__PG_BARRIER, "");
    if (status == MWL_OK) status = prepare(s, which, name);
    if (status != MWL_OK) return status;
    bool writes = strncmp(texts[which], "select", 6) != 0 && which != MWL__PG_BEGIN &&
                  (!s->in_transaction || which == MWL__PG_COMMIT);
    s->warned = false;
    s->unsure = s->unsure || writes; /* until the reply has come, without a warning */
    if (!s->lib->sendQueryPrepared(s->conn, name, p.n, p.values, p.lengths, p.formats, BINARY))
        return lost(s);
    status = get_reply(s, out);
    if (status == MWL_OK && which == MWL__PG_BEGIN) s->in_transaction = true;
    return writes ? check_safe(s, status, out) : status;
}

mwl_status mwl__pg_finish(mwl__pg_store *s, mwl_status status) {
    if (status == MWL_OK) status = mwl__pg_run(s, NULL, MWL__PG_COMMIT, "");
    if (s->conn && s->lib->transactionStatus(s->conn) != MWL__PG_IDLE) {
        char why[sizeof s->why], state[sizeof s->state];
        memcpy(why, s->why, sizeof why);
        memcpy(state, s->state, sizeof state);
        if (mwl__pg_text(s, "rollback") != MWL_OK) mwl__pg_drop(s);
        memcpy(s->why, why, sizeof why);
        memcpy(s->state, state, sizeof state);
    }
    s->in_transaction = false;
    return status;
}

/* Another one is not in the way any more when the transaction is repeated. */
bool mwl__pg_again(const mwl__pg_store *s, mwl_status status, unsigned *tries) {
    bool conflict = strcmp(s->state, "40001") == 0 || strcmp(s->state, "40P01") == 0;
    if (status != MWL_E_IO || !conflict || *tries == CONFLICT_TRIES) return false;
    long ms = 1L << (*tries)++;
    ms += mwl__pg_mono_ns() / 1000 % ms; /* two of them do not meet again */
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    return true;
}

/* ---- results --------------------------------------------------------------------------------- */

void mwl__pg_clear(mwl__pg_store *s, PGresult *r) {
    if (r) s->lib->clear(r);
}
int mwl__pg_rows(const mwl__pg_store *s, const PGresult *r) { return s->lib->ntuples(r); }
bool mwl__pg_null(const mwl__pg_store *s, const PGresult *r, int row, int column) {
    return s->lib->getisnull(r, row, column);
}
int64_t mwl__pg_int(const mwl__pg_store *s, const PGresult *r, int row, int column) {
    return get_bytes(s->lib->getvalue(r, row, column), (size_t)s->lib->getlength(r, row, column));
}
const char *mwl__pg_word(const mwl__pg_store *s, const PGresult *r, int row, int column) {
    return s->lib->getvalue(r, row, column);
}
mwl_store_text mwl__pg_text_at(const mwl__pg_store *s, const PGresult *r, int row, int column) {
    mwl_store_text t = {NULL, 0};
    if (mwl__pg_null(s, r, row, column)) return t;
    t.at = s->lib->getvalue(r, row, column);
    t.len = (size_t)s->lib->getlength(r, row, column);
    return t;
}
const void *mwl__pg_blob(const mwl__pg_store *s, const PGresult *r, int row, int column,
                         size_t *size) {
    mwl_store_text t = mwl__pg_text_at(s, r, row, column);
    *size = t.len;
    return t.at;
}
