/* call_hash.c: hash: hashes and HMACs by libcrypto, on a pool thread. */
#include "stdlib/io/codec.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PREFIX "Provider.Call.Hash"

/* ---- libcrypto ------------------------------------------------------------------------------- */

#define FUNCTIONS(X)                                                                               \
    X(EVP_Digest)                                                                                  \
    X(HMAC)                                                                                        \
    X(EVP_md5)                                                                                     \
    X(EVP_sha1)                                                                                    \
    X(EVP_sha256)                                                                                  \
    X(EVP_sha384)                                                                                  \
    X(EVP_sha512)

static struct {
#define MWL_X(name) __typeof__(&name) name;
    FUNCTIONS(MWL_X)
#undef MWL_X
} crypto;
static const char *crypto_why;

static void load(void) {
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so", NULL};
    static const char *const functions[] = {
#define MWL_X(name) #name,
        FUNCTIONS(MWL_X)
#undef MWL_X
    };
    enum { N = sizeof functions / sizeof *functions };
    void *table[N];
    _Static_assert(sizeof table == sizeof crypto, "one pointer for each function");
    crypto_why = mwl__io_load(names, functions, N, table);
    if (!crypto_why) memcpy(&crypto, table, sizeof crypto);
}

static const EVP_MD *algorithm(const char *name) {
    return strcmp(name, "md5") == 0      ? crypto.EVP_md5()
           : strcmp(name, "sha1") == 0   ? crypto.EVP_sha1()
           : strcmp(name, "sha384") == 0 ? crypto.EVP_sha384()
           : strcmp(name, "sha512") == 0 ? crypto.EVP_sha512()
                                         : crypto.EVP_sha256();
}

/* ---- the work -------------------------------------------------------------------------------- */

typedef struct call_hash {
    mwl__io_job job;
    mwl__payer payer;
    mwl__bytes data, key;
    bool has_key, ok;
    char name[16];
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned n;
} call_hash;

static void hash_work(mwl__io_job *job) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    call_hash *h = (call_hash *)job;
    pthread_once(&once, load);
    if (crypto_why) return;
    const EVP_MD *md = algorithm(h->name);
    const void *data = h->data.data ? h->data.data : "";
    if (h->has_key)
        h->ok = crypto.HMAC(md, h->key.data ? h->key.data : "", (int)h->key.len, data, h->data.len,
                            h->out, &h->n);
    else
        h->ok = crypto.EVP_Digest(data, h->data.len, h->out, &h->n, md, NULL) == 1;
}

/* ---- the call -------------------------------------------------------------------------------- */

static void hash_free(call_hash *h) {
    if (h->key.data) memset(h->key.data, 0, h->key.len);
    mwl__bytes_free(&h->data);
    mwl__bytes_free(&h->key);
    mwl__payer_close(&h->payer);
    free(h);
}

static bool put_hex(mwl__bytes *text, const unsigned char *data, size_t n) {
    static const char digits[] = "0123456789abcdef";
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        const char two[] = {digits[data[i] >> 4], digits[data[i] & 15]};
        ok = mwl__bytes_add(text, two, 2);
    }
    return ok;
}

static mwl_value written(mwl_call *call, const call_hash *h, const char *as) {
    mwl__bytes text = {0};
    bool hex = strcmp(as, "hex") == 0;
    bool ok = hex ? put_hex(&text, h->out, h->n) : mwl__bytes_base64(&text, h->out, h->n);
    if (ok && strcmp(as, "base64url") == 0) {
        while (text.len && text.data[text.len - 1] == '=') text.len--;
        for (size_t i = 0; i < text.len; i++) {
            if (text.data[i] == '+') text.data[i] = '-';
            if (text.data[i] == '/') text.data[i] = '_';
        }
    }
    mwl_value v = ok ? mwl_string(mwl_call_heap(call), text.data, text.len) : mwl_absent();
    mwl__bytes_free(&text);
    return v;
}

static void hash_done(mwl__io_job *job) {
    call_hash *h = (call_hash *)job;
    mwl_call *call = job->op.call;
    mwl_value v = mwl_absent();
    if (h->ok) v = written(call, h, mwl__io_arg_text(mwl_call_arguments(call), "as", "hex"));
    if (!mwl_is_absent(v))
        mwl_call_succeed(call, v);
    else if (h->ok)
        mwl__io_fail(call, PREFIX ".OutOfMemory", true, mwl_absent(), "out of memory");
    else
        mwl__io_fail(call, PREFIX ".Unavailable", false, mwl_absent(), "%s",
                     crypto_why ? crypto_why : "libcrypto does not offer this algorithm");
    hash_free(h);
}

/* Adds the bytes of a text or of a value. */
static mwl_status take(mwl_heap *heap, mwl_value v, bool base64, mwl__bytes *out) {
    size_t len = 0;
    if (mwl_value_kind(v) != MWL_KIND_STRING) {
        if (base64) return MWL_E_SYNTAX;
        return mwl_json_write_to(heap, v, MWL_JSON_CANONICAL, mwl__bytes_sink, out);
    }
    const char *text = mwl_as_text(v, &len);
    if (base64) return mwl__base64_decode(out, text, len);
    return mwl__bytes_add(out, text, len) ? MWL_OK : MWL_E_NOMEM;
}

static void hash_start(mwl_call *call, void *user) {
    mwl_value args = mwl_call_arguments(call);
    mwl_value v = mwl_get(args, "value"), key = mwl_get(args, "key");
    call_hash *h = calloc(1, sizeof *h);
    mwl_heap *heap = mwl_call_heap(call);
    mwl_status status = h && mwl__payer_open(&h->payer, call) ? MWL_OK : MWL_E_NOMEM;
    bool base64 = strcmp(mwl__io_arg_text(args, "from", "value"), "base64") == 0;
    if (mwl_is_absent(v)) v = mwl_call_input(call);
    if (h) h->data.payer = h->key.payer = &h->payer;
    if (status == MWL_OK) status = take(heap, v, base64, &h->data);
    base64 = strcmp(mwl__io_arg_text(args, "keyFrom", "text"), "base64") == 0;
    if (status == MWL_OK && !mwl_is_absent(key)) {
        h->has_key = true;
        status = take(heap, key, base64, &h->key);
    }
    if (status != MWL_OK) {
        bool memory = status == MWL_E_NOMEM || status == MWL_E_TOO_BIG;
        mwl__io_fail(call, memory ? PREFIX ".OutOfMemory" : PREFIX ".InvalidValue", memory,
                     mwl_absent(), "%s", memory ? "out of memory" : "not a base64 text");
        if (h) hash_free(h);
        return;
    }
    mwl__payer_pool(&h->payer);
    snprintf(h->name, sizeof h->name, "%s", mwl__io_arg_text(args, "algorithm", "sha256"));
    h->job.work = hash_work;
    h->job.done = hash_done;
    mwl__io_job_start(&h->job, user, call);
}

const mwl_call_provider mwl__io_call_hash = {MWL__IO_CALL(hash, "hash"), .start = hash_start,
                                             .cancel = mwl__io_op_cancel};
const mwl__io_life mwl__io_call_hash_life = {NULL};
