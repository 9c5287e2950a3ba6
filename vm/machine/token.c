/* token.c: Results and answers that other threads post to provider executions.
 *
 * Owns: mwl_token, and the VM's mailbox. Refuses to know: what an answer does to its
 * execution (execution.c, blocking.c). The mailbox outlives the VM as long as a token is held, so
 * posting is safe at any time.
 *
 * Who touches what: `call` and `next_of_call` belong to the VM's thread; refs are atomic;
 * everything else of a token and of the mailbox is under the mailbox's lock. The host's wake hook
 * is called under it too: once the mailbox is closed no call of the hook is under way.
 *
 *   open --post--> answered, in the mailbox --adopted by the pump--> its call settles or its await
 * returns
 *    \---its call is freed---> gone: posts are refused, and an answer in the mailbox is dropped */
#include "vm/machine/token.h"

#include "vm/base/usage.h"
#include "vm/machine/blocking.h"
#include "vm/machine/execution.h"
#include "vm/machine/given.h"
#include "vm/machine/run.h"

#include <stdatomic.h>
#include <stdio.h>

typedef struct mwl__mail {
    mwl_alloc alloc;
    atomic_uint refs; /* the VM's and each token's */
    pthread_mutex_t lock;
    mwl_token *first, *last;
    atomic_bool filled; /* first is not NULL; readable without the lock */
    bool closed;
    void (*wake)(void *ctx);
    void *wake_ctx;
} mwl__mail;

struct mwl_token {
    mwl__mail *mail;
    atomic_uint refs; /* the holder's, the call's, the mailbox's */
    mwl_call *call;   /* NULL: freed, or the answer was adopted */
    mwl_token *next_of_call;
    mwl_token *next; /* in the mailbox */
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

static mwl__mail *mail_of(mwl_vm *vm) {
    if (vm->mail) return vm->mail;
    const mwl_alloc *a = &vm->config.post_alloc;
    mwl__mail *m = mwl__mem_zero(a, 1, sizeof *m);
    if (!m) return NULL;
    if (pthread_mutex_init(&m->lock, NULL) != 0) {
        mwl__mem_free(a, m, sizeof *m);
        return NULL;
    }
    m->alloc = *a;
    atomic_init(&m->refs, 1);
    atomic_init(&m->filled, false);
    m->wake = vm->config.wake;
    m->wake_ctx = vm->config.wake_ctx;
    vm->mail = m;
    return m;
}

mwl_status mwl_call_token(mwl_call *call, mwl_token **out) {
    mwl__usage(call->alive, "mwl_call_token: the call has settled and is gone");
    if (call->settled) return MWL_E_STATE;
    mwl__mail *m = mail_of(call->vm);
    mwl_token *t = m ? mwl__mem_zero(&m->alloc, 1, sizeof *t) : NULL;
    if (!t) return MWL_E_NOMEM;
    atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
    atomic_init(&t->refs, 2);
    t->mail = m;
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
    bool first = !atomic_exchange_explicit(&m->filled, true, memory_order_release);
    if (first && m->wake) m->wake(m->wake_ctx);
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

static void detach(mwl_token *t) {
    mwl_token **at = &t->call->tokens;
    while (*at != t) at = &(*at)->next_of_call;
    *at = t->next_of_call;
    t->call = NULL;
    token_release(t); /* the mailbox's reference is still held */
}

/* What was posted, as a value of the VM; *ok false: an envelope. *refused: that of
 * Mwlvm.ResultRefused, because the text is not JSON. Absent: out of memory, or the constructor's
 * reason. */
static mwl_value answer_of(mwl_heap *h, const mwl_token *t, bool *ok, bool *refused) {
    mwl_value v = mwl_absent();
    mwl_error error = {MWL_OK, "", 0};
    *ok = t->ok;
    *refused = false;
    if (t->json && mwl_json_parse(h, t->json, t->json_len, &v, &error) < 0) {
        *ok = false;
        if (!mwl__given_wrong(error.status)) return mwl_absent();
        char text[160];
        snprintf(text, sizeof text, "the text that was posted is not JSON: %s, at byte %zu",
                 error.message, error.offset);
        *refused = true;
        return mwl__given_refused(h, text);
    }
    return t->ok ? v : mwl_failure(h, t->type, t->code, t->message, v, mwl_absent());
}

static void answer_blocking(mwl_call *c, bool ok, bool refused, mwl_value take) {
    mwl__result res = {.v = take, .ok = ok};
    if (!refused) mwl__given_result(&c->vm->heap, NULL, ok, take, &res);
    mwl__blocking_answer(c, res.ok, res.v);
}

static void adopt(mwl_token *t) {
    mwl_call *c = t->call;
    mwl_vm *vm = c->vm;
    mwl_run *run = c->frame ? c->frame->run : NULL;
    size_t used = vm->heap.used;
    if (run) mwl__run_enter(run); /* what the answer leads to may free the run */
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
    mwl__run_used(run, used);
    mwl__run_leave(run);
}

bool mwl__mail_adopt(mwl_vm *vm) {
    mwl__mail *m = vm->mail;
    if (!m || !atomic_load_explicit(&m->filled, memory_order_acquire)) return false;
    pthread_mutex_lock(&m->lock);
    mwl_token *t = m->first;
    m->first = m->last = NULL;
    atomic_store_explicit(&m->filled, false, memory_order_relaxed);
    pthread_mutex_unlock(&m->lock);
    while (t) {
        mwl_token *next = t->next;
        if (t->call) adopt(t);
        token_release(t);
        t = next;
    }
    return true;
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
    vm->mail = NULL;
    mail_release(m);
}
