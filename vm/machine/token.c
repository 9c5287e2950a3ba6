/* token.c: what other threads post: answers to provider executions and to entries that wait, and
 * cancellations of runs.
 *
 * Owns: mwl_token, and the VM's mailbox. Refuses to know: what an answer does to its
 * execution (execution.c, blocking.c). The mailbox outlives the VM as long as a token is held, so
 * posting is safe at any time.
 *
 * Who touches what: `call`, `next_of_call`, `frame` and `arrived` belong to the VM's thread; refs
 * are atomic; everything else of a token and of the mailbox is under the mailbox's lock. The host's
 * wake hook is called under it too: once the mailbox is closed no call of the hook is under way.
 *
 *   open --post--> answered, in the mailbox --adopted by the pump--> its call settles or its await
 * returns
 *    \---its call is freed---> gone: posts are refused, and an answer in the mailbox is dropped */
#include "vm/machine/token.h"

#include "vm/base/usage.h"
#include "vm/cel/ops.h"
#include "vm/machine/account.h"
#include "vm/machine/blocking.h"
#include "vm/machine/execution.h"
#include "vm/machine/host_value.h"
#include "vm/machine/run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct mwl__mail {
    mwl_alloc alloc;
    atomic_uint refs; /* the VM's and each token's */
    pthread_mutex_t lock;
    mwl_token *first, *last;
    struct cancellation *cancels, **cancels_end;
    atomic_uint n_cancels; /* readable without the lock */
    atomic_bool filled;    /* there is something; readable without the lock */
    bool closed;
    void (*wake)(void *ctx);
    void *wake_ctx;
} mwl__mail;

/* A run that another thread wants cancelled. */
typedef struct cancellation {
    struct cancellation *next;
    mwl_run *run;
    size_t size; /* of the record */
    bool reasoned;
    char reason[];
} cancellation;

struct mwl_token {
    mwl__mail *mail;
    atomic_uint refs; /* the holder's, the call's, the mailbox's */
    mwl_call *call;   /* NULL: freed, or the answer was adopted */
    mwl_token *next_of_call;
    mwl__frame *frame; /* of an entry that waits, which is its innermost one; or NULL */
    bool arrived;      /* its answer is there, for mwl_phase_answer */
    mwl_token *next;   /* in the mailbox */
    bool answered, gone, unwanted;
    bool ok;
    char *block; /* the texts below, in one piece */
    size_t block_size;
    const char *type, *code, *message, *json; /* NULL: none */
    size_t json_len;
};

/* ---- life ------------------------------------------------------------------------------------ */

static void mail_release(mwl__mail *m) {
    if (atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel) != 1) return;
    pthread_mutex_destroy(&m->lock);
    mwl_alloc alloc = m->alloc;
    mwl__mem_free(&alloc, m, sizeof *m);
}

static void token_release(mwl_token *t) {
    if (atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
    mwl__mail *m = t->mail;
    mwl__mem_free(&m->alloc, t->block, t->block_size);
    mwl__mem_free(&m->alloc, t, sizeof *t);
    mail_release(m);
}

mwl_status mwl__mail_open(mwl_vm *vm) {
    const mwl_alloc *a = &vm->config.post_alloc;
    mwl__mail *m = mwl__mem_zero(a, 1, sizeof *m);
    if (!m) return MWL_E_NOMEM;
    if (pthread_mutex_init(&m->lock, NULL) != 0) {
        mwl__mem_free(a, m, sizeof *m);
        return MWL_E_NOMEM;
    }
    m->cancels_end = &m->cancels;
    m->alloc = *a;
    atomic_init(&m->refs, 1);
    atomic_init(&m->filled, false);
    m->wake = vm->config.wake;
    m->wake_ctx = vm->config.wake_ctx;
    vm->mail = m;
    return MWL_OK;
}

/* For its holder and for the execution or the entry. NULL: out of memory. */
static mwl_token *new_token(mwl_vm *vm) {
    mwl__mail *m = vm->mail;
    mwl_token *t = mwl__mem_zero(&m->alloc, 1, sizeof *t);
    if (!t) return NULL;
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    atomic_init(&t->refs, 2);
    t->mail = m;
    return t;
}

mwl_status mwl_call_token(mwl_call *call, mwl_token **out) {
    mwl__usage(call->alive, "mwl_call_token: the call has settled and was freed");
    if (call->settled) return MWL_E_STATE;
    mwl_token *t = new_token(call->vm);
    if (!t) return MWL_E_NOMEM;
    t->call = call;
    t->unwanted = call->cancelled;
    t->next_of_call = call->tokens;
    call->tokens = t;
    *out = t;
    return MWL_OK;
}

void mwl_token_release(mwl_token *token) {
    if (token) token_release(token);
}

/* ---- any thread ------------------------------------------------------------------------------ */

static char *copy_text(char *to, const char *text, const char **place) {
    if (!text) return to;
    size_t n = strlen(text) + 1;
    memcpy(to, text, n);
    *place = to;
    return to + n;
}

static size_t text_size(const char *text) { return text ? strlen(text) + 1 : 0; }

/* Under the lock: something was put into the mailbox. */
static void ring(mwl__mail *m) {
    bool first = !atomic_exchange_explicit(&m->filled, true, memory_order_release);
    if (first && m->wake) m->wake(m->wake_ctx);
}

static mwl_status enter(mwl__mail *m, mwl_token *t, const mwl_token *answer) {
    if (t->answered) return MWL_E_STATE;
    if (t->gone || m->closed) return MWL_E_NOT_FOUND;
    t->answered = true;
    t->ok = answer->ok;
    t->block = answer->block;
    t->block_size = answer->block_size;
    t->type = answer->type;
    t->code = answer->code;
    t->message = answer->message;
    t->json = answer->json;
    t->json_len = answer->json_len;
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    if (m->last)
        m->last->next = t;
    else
        m->first = t;
    m->last = t;
    ring(m);
    return MWL_OK;
}

/* `answer` carries the texts, lent. */
static mwl_status post(mwl_token *t, mwl_token answer) {
    mwl__mail *m = t->mail;
    size_t fixed = text_size(answer.type) + text_size(answer.code) + text_size(answer.message) + 1;
    if (answer.json_len > SIZE_MAX - fixed) return MWL_E_TOO_BIG;
    answer.block_size = fixed + answer.json_len;
    char *at = answer.block = mwl__mem_new(&m->alloc, answer.block_size);
    if (!at) return MWL_E_NOMEM;
    at = copy_text(at, answer.type, &answer.type);
    at = copy_text(at, answer.code, &answer.code);
    at = copy_text(at, answer.message, &answer.message);
    if (answer.json) {
        memcpy(at, answer.json, answer.json_len);
        answer.json = at;
    }
    pthread_mutex_lock(&m->lock);
    mwl_status st = enter(m, t, &answer);
    pthread_mutex_unlock(&m->lock);
    if (st < 0) mwl__mem_free(&m->alloc, answer.block, answer.block_size);
    return st;
}

mwl_status mwl_token_succeed(mwl_token *token, const char *json, size_t len) {
    if (!token || !json) return MWL_E_USAGE;
    mwl_token answer;
    memset(&answer, 0, sizeof answer);
    answer.ok = true;
    answer.json = json;
    answer.json_len = len;
    return post(token, answer);
}

mwl_status mwl_token_fail(mwl_token *token, const char *type, const char *code, const char *message,
                          const char *details_json, size_t len) {
    if (!token || !code) return MWL_E_USAGE;
    mwl_token answer;
    memset(&answer, 0, sizeof answer);
    answer.type = type;
    answer.code = code;
    answer.message = message;
    answer.json = details_json;
    answer.json_len = details_json ? len : 0;
    return post(token, answer);
}

mwl_status mwl__mail_cancel(mwl_run *run, const char *reason) {
    mwl__mail *m = run->link->vm->mail;
    size_t len = reason ? strlen(reason) : 0, size = sizeof(cancellation) + len + 1;
    cancellation *c = mwl__mem_new(&m->alloc, size);
    if (!c) return MWL_E_NOMEM;
    *c = (cancellation){.run = run, .size = size, .reasoned = reason != NULL};
    memcpy(c->reason, reason ? reason : "", len + 1);
    pthread_mutex_lock(&m->lock);
    *m->cancels_end = c;
    m->cancels_end = &c->next;
    atomic_fetch_add_explicit(&m->n_cancels, 1, memory_order_relaxed);
    ring(m);
    pthread_mutex_unlock(&m->lock);
    return MWL_OK;
}

bool mwl_token_wanted(mwl_token *token) {
    mwl__mail *m = token->mail;
    pthread_mutex_lock(&m->lock);
    bool wanted = !token->answered && !token->gone && !token->unwanted && !m->closed;
    pthread_mutex_unlock(&m->lock);
    return wanted;
}

/* ---- the VM's thread ------------------------------------------------------------------------- */

void mwl__tokens_unwanted(mwl_call *c) {
    if (!c->tokens) return;
    mwl__mail *m = c->tokens->mail;
    pthread_mutex_lock(&m->lock);
    for (mwl_token *t = c->tokens; t; t = t->next_of_call) t->unwanted = true;
    pthread_mutex_unlock(&m->lock);
}

void mwl__tokens_free(mwl_call *c) {
    while (c->tokens) {
        mwl_token *t = c->tokens;
        c->tokens = t->next_of_call;
        t->call = NULL;
        pthread_mutex_lock(&t->mail->lock);
        t->gone = true;
        pthread_mutex_unlock(&t->mail->lock);
        token_release(t);
    }
}

/* Takes out the first cancellation; of this run, if it is not NULL. */
static cancellation *take_cancellation(mwl__mail *m, const mwl_run *run) {
    pthread_mutex_lock(&m->lock);
    cancellation **at = &m->cancels;
    while (*at && run && (*at)->run != run) at = &(*at)->next;
    cancellation *c = *at;
    if (c) *at = c->next;
    if (c && !*at) m->cancels_end = at;
    if (c) atomic_fetch_sub_explicit(&m->n_cancels, 1, memory_order_relaxed);
    pthread_mutex_unlock(&m->lock);
    return c;
}

static void free_cancellation(mwl__mail *m, cancellation *c) {
    mwl__mem_free(&m->alloc, c, c->size);
}

MWL__OUTLINE static void forget(mwl__mail *m, const mwl_run *run) {
    for (cancellation *c; (c = take_cancellation(m, run));) free_cancellation(m, c);
}

void mwl__mail_forget(const mwl_run *run, mwl_vm *vm) {
    mwl__mail *m = vm->mail;
    if (atomic_load_explicit(&m->n_cancels, memory_order_relaxed)) forget(m, run);
}

static void end_entry(mwl_token *t) {
    t->frame = NULL;
    pthread_mutex_lock(&t->mail->lock);
    t->gone = true;
    pthread_mutex_unlock(&t->mail->lock);
    token_release(t);
}

void mwl__token_left(mwl__entry *e) {
    mwl_token *t = e->token;
    e->token = NULL;
    if (t) end_entry(t);
}

mwl_status mwl__token_for_entry(mwl__frame *f, mwl_token **out) {
    mwl_token *t = new_token(mwl__vm_of(f));
    if (!t) return MWL_E_NOMEM;
    mwl__token_left(f->entries);
    t->frame = f;
    f->entries->token = t;
    *out = t;
    return MWL_OK;
}

static void detach(mwl_token *t) {
    mwl_token **at = &t->call->tokens;
    while (*at != t) at = &(*at)->next_of_call;
    *at = t->next_of_call;
    t->call = NULL;
    token_release(t); /* the mailbox's reference is still held */
}

/* Returns what was posted, as a value of the VM; *ok false: an envelope. *refused: that of
 * Mwlvm.ResultRefused, because the text is not JSON. Absent: out of memory, or the constructor's
 * reason. */
static mwl_value answer_of(mwl_heap *h, const mwl_token *t, bool *ok, bool *refused) {
    mwl_value v = mwl_absent();
    mwl_error error = {MWL_OK, "", 0};
    *ok = t->ok;
    *refused = false;
    if (t->json && mwl_json_parse(h, t->json, t->json_len, &v, &error) < 0) {
        *ok = false;
        if (!mwl__host_value_wrong(error.status)) return mwl_absent();
        char text[160];
        snprintf(text, sizeof text, "the text that was posted is not JSON: %s, at byte %zu",
                 error.message, error.offset);
        *refused = true;
        return mwl__host_value_refused(h, text);
    }
    return t->ok ? v : mwl_failure(h, t->type, t->code, t->message, v, mwl_absent());
}

static void answer_blocking(mwl_call *c, bool ok, bool refused, mwl_value take) {
    mwl__result res = {.v = take, .ok = ok};
    if (!refused) mwl__host_value_result(&c->vm->heap, NULL, ok, take, &res);
    mwl__blocking_answer(c, res.ok, res.v);
}

mwl_status mwl__token_answer(mwl__frame *f, mwl_value *out) {
    const mwl_token *t = f->entries->token;
    bool ok = false, refused = false;
    *out = mwl_absent();
    if (!t || !t->arrived) return MWL_E_NOT_FOUND;
    *out = answer_of(mwl__heap_of(f), t, &ok, &refused);
    mwl__token_left(f->entries);
    if (mwl_is_absent(*out)) return mwl__heap_of(f)->why;
    return ok ? MWL_OK : MWL_E_FAILED;
}

static void adopt(mwl_token *t) {
    mwl_call *c = t->call;
    mwl_vm *vm = c->vm;
    mwl_run *run = c->frame ? c->frame->run : NULL;
    if (run) mwl__run_enter(run); /* what the answer leads to may free the run */
    mwl_run *was = run ? mwl__run_open(run, vm) : NULL;
    detach(t);
    bool ok, refused;
    mwl_value v = answer_of(&vm->heap, t, &ok, &refused);
    if (c->native)
        answer_blocking(c, ok, refused, v);
    else if (refused)
        mwl__execution_fail(c, v);
    else
        (void)mwl__execution_settle(c, ok, v);
    if (!run) return;
    mwl__run_close(run, vm, was);
    mwl__run_leave(run);
}

bool mwl__mail_filled(const mwl_vm *vm) {
    return atomic_load_explicit(&vm->mail->filled, memory_order_acquire);
}

void mwl__mail_adopt(mwl_vm *vm) {
    mwl__mail *m = vm->mail;
    pthread_mutex_lock(&m->lock);
    mwl_token *t = m->first;
    m->first = m->last = NULL;
    atomic_store_explicit(&m->filled, false, memory_order_relaxed);
    pthread_mutex_unlock(&m->lock);
    while (t) {
        mwl_token *next = t->next;
        if (t->call) {
            adopt(t);
        } else if (t->frame) {
            t->arrived = true;
            mwl_waiter_wake((mwl_waiter *)(void *)t->frame);
        }
        token_release(t);
        t = next;
    }
    for (cancellation *c; (c = take_cancellation(m, NULL));) { /* one by one: a callback may free */
        (void)mwl_run_cancel(c->run, c->reasoned ? c->reason : NULL);
        free_cancellation(m, c);
    }
}

void mwl__mail_close(mwl_vm *vm) {
    mwl__mail *m = vm->mail;
    if (!m) return;
    pthread_mutex_lock(&m->lock);
    m->closed = true;
    mwl_token *t = m->first;
    m->first = m->last = NULL;
    pthread_mutex_unlock(&m->lock);
    while (t) {
        mwl_token *next = t->next;
        token_release(t);
        t = next;
    }
    for (cancellation *c; (c = take_cancellation(m, NULL));) free_cancellation(m, c);
    vm->mail = NULL;
    mail_release(m);
}
