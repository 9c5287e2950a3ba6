/* pattern.c: compiles and searches patterns of JSON Schema. The only file that uses PCRE2.
 *
 * Owns: which matcher a pattern gets, and the limits of the one that backtracks. Refuses to know:
 * syntax (pattern_syntax.h). PCRE2 uses the host's allocator. The memory that a search needs is
 * kept in the scratch, so a search allocates only while that memory still grows. */
#include "vm/regex/pattern.h"

#include "vm/base/mem.h"
#include "vm/regex/pattern_syntax.h"

#include "mwl_config.h"

#if MWL_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct mwl__pattern {
    mwl_alloc alloc; /* PCRE2 keeps a pointer to it */
    mwl__regex *linear;
    pcre2_code *code;
    bool has_references;
};

/* ---- memory of PCRE2 ------------------------------------------------------------------------- */

/* PCRE2 does not pass the size when it frees a block, so each block begins with its size. */
typedef union block {
    size_t size;
    max_align_t align;
} block;

static void *pcre_malloc(size_t size, void *ctx) {
    const mwl_alloc *a = ctx;
    if (size > SIZE_MAX - sizeof(block)) return NULL;
    block *b = mwl__mem_new(a, sizeof *b + size);
    if (!b) return NULL;
    b->size = sizeof *b + size;
    return b + 1;
}

static void pcre_free(void *p, void *ctx) {
    const mwl_alloc *a = ctx;
    if (!p) return;
    block *b = (block *)p - 1;
    mwl__mem_free(a, b, b->size);
}

/* ---- compiling ------------------------------------------------------------------------------- */

static mwl_status pcre_status(int code, mwl_error *err) {
    mwl_error e = {MWL_E_UNSUPPORTED, "the pattern needs what the matcher does not have", 0};
    switch (code) {
    case PCRE2_ERROR_HEAP_FAILED:
        e = (mwl_error){MWL_E_NOMEM, mwl_status_text(MWL_E_NOMEM), 0};
        break;
    case PCRE2_ERROR_PATTERN_TOO_LARGE:
    case PCRE2_ERROR_PATTERN_STRING_TOO_LONG:
    case PCRE2_ERROR_QUANTIFIER_TOO_BIG:
    case PCRE2_ERROR_PARENTHESES_NEST_TOO_DEEP:
    case PCRE2_ERROR_PATTERN_TOO_COMPLICATED:
    case PCRE2_ERROR_LOOKBEHIND_TOO_COMPLICATED:
        e = (mwl_error){MWL_E_TOO_BIG, "the pattern is too large", 0};
        break;
    case PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH:
        e.message = "a look-behind must have a fixed length";
        break;
    default: break;
    }
    if (err) *err = e;
    return e.status;
}

static mwl_status compile_beyond(mwl__pattern *p, const char *text, size_t len, mwl_error *err) {
    const uint32_t options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_UNSET_BACKREF |
                             PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT;
    int code = PCRE2_ERROR_HEAP_FAILED;
    PCRE2_SIZE at = 0;
    pcre2_general_context *g = pcre2_general_context_create(pcre_malloc, pcre_free, &p->alloc);
    pcre2_compile_context *c = g ? pcre2_compile_context_create(g) : NULL;
    if (c) {
        pcre2_set_parens_nest_limit(c, MWL_PATTERN_NEST);
        p->code = pcre2_compile((PCRE2_SPTR)text, len, options, &code, &at, c);
    }
    uint32_t highest = 0;
    if (p->code) (void)pcre2_pattern_info(p->code, PCRE2_INFO_BACKREFMAX, &highest);
    p->has_references = highest > 0;
    pcre2_compile_context_free(c);
    pcre2_general_context_free(g);
    return p->code ? MWL_OK : pcre_status(code, err);
}

static void free_beyond(mwl__pattern *p) { pcre2_code_free(p->code); }

/* ---- searching with PCRE2
 * ------------------------------------------------------------------------------- */

/* PCRE2's part of the scratch. */
typedef struct bench {
    mwl_alloc alloc;
    pcre2_match_data *data;
    pcre2_match_context *context;
} bench;

static void bench_free(void *data) {
    bench *b = data;
    mwl_alloc a = b->alloc;
    pcre2_match_data_free(b->data);
    pcre2_match_context_free(b->context);
    mwl__mem_free(&a, b, sizeof *b);
}

static mwl_status find_bench(mwl__regex_scratch *scratch, bench **out) {
    mwl__regex_guest *guest = mwl__regex_scratch_guest(scratch);
    if (guest->data) {
        *out = guest->data;
        return MWL_OK;
    }
    bench *b = mwl__mem_zero(&guest->alloc, 1, sizeof *b);
    if (!b) return MWL_E_NOMEM;
    b->alloc = guest->alloc;
    pcre2_general_context *g = pcre2_general_context_create(pcre_malloc, pcre_free, &b->alloc);
    if (g) {
        b->data = pcre2_match_data_create(1, g);
        b->context = pcre2_match_context_create(g);
    }
    pcre2_general_context_free(g);
    if (!b->data || !b->context) {
        bench_free(b);
        return MWL_E_NOMEM;
    }
    pcre2_set_heap_limit(b->context, MWL_PATTERN_HEAP_KIB);
    pcre2_set_match_limit(b->context, MWL_PATTERN_WORK_LIMIT);
    pcre2_set_depth_limit(b->context, MWL_PATTERN_WORK_LIMIT);
    guest->data = b;
    guest->release = bench_free;
    *out = b;
    return MWL_OK;
}

static bool charge(uint64_t *fuel, uint64_t cost) {
    if (!fuel) return true;
    if (*fuel < cost) {
        *fuel = 0;
        return false;
    }
    *fuel -= cost;
    return true;
}

/* The work that one search has done and may do. PCRE2 calls back before every item of the pattern
 * that it tries (PCRE2_AUTO_CALLOUT). The work of an item is how far the position in the subject
 * has moved since the last call. A back reference may read the whole subject and fail, so it counts
 * with that length. */
typedef struct effort {
    uint64_t done, limit, per_item;
    size_t at;
} effort;

#define WORK_PER_UNIT 4u /* one unit of fuel pays for this many items, or for 64 bytes */

static int count_item(pcre2_callout_block *item, void *ctx) {
    effort *w = ctx;
    size_t at = item->current_position;
    w->done += w->per_item + (at > w->at ? at - w->at : w->at - at) / 16;
    w->at = at;
    return w->done > w->limit ? PCRE2_ERROR_CALLOUT : 0;
}

static mwl_status search_beyond(const mwl__pattern *p, mwl__regex_scratch *scratch,
                                const char *subject, size_t len, uint64_t *fuel, bool *matched) {
    bench *b;
    mwl_status st = find_bench(scratch, &b);
    if (st < 0) return st;
    if (!charge(fuel, 1 + len / 8)) return MWL_E_FUEL;
    effort w = {.limit = MWL_PATTERN_WORK_LIMIT,
                .per_item = 1 + (p->has_references ? len / 64 : 0)};
    if (fuel && *fuel < w.limit / WORK_PER_UNIT) w.limit = *fuel * WORK_PER_UNIT;
    pcre2_set_callout(b->context, count_item, &w);
    int rc = pcre2_match(p->code, (PCRE2_SPTR)(len ? subject : ""), len, 0, 0, b->data, b->context);
    bool paid = charge(fuel, w.done / WORK_PER_UNIT);
    if (rc <= PCRE2_ERROR_UTF8_ERR1 && rc >= PCRE2_ERROR_UTF8_ERR21) return MWL_E_UTF8;
    if (rc == PCRE2_ERROR_NOMEMORY) return MWL_E_NOMEM;
    if (!paid || (rc < 0 && rc != PCRE2_ERROR_NOMATCH)) return MWL_E_FUEL;
    *matched = rc >= 0;
    return MWL_OK;
}

#else /* without PCRE2 */

struct mwl__pattern {
    mwl_alloc alloc;
    mwl__regex *linear;
};

static mwl_status compile_beyond(mwl__pattern *p, const char *text, size_t len, mwl_error *err) {
    (void)p, (void)text, (void)len;
    if (err)
        *err = (mwl_error){MWL_E_UNSUPPORTED,
                           "the pattern needs PCRE2, which this build does not have", 0};
    return MWL_E_UNSUPPORTED;
}

static void free_beyond(mwl__pattern *p) { (void)p; }

static mwl_status search_beyond(const mwl__pattern *p, mwl__regex_scratch *scratch,
                                const char *subject, size_t len, uint64_t *fuel, bool *matched) {
    (void)p, (void)scratch, (void)subject, (void)len, (void)fuel, (void)matched;
    return MWL_E_UNSUPPORTED; /* there is no such pattern */
}

#endif

/* ---- either matcher -------------------------------------------------------------------------- */

static mwl_status compile_linear(mwl__pattern *p, const char *text, size_t len, uint64_t *work,
                                 bool *beyond, mwl_error *err) {
    mwl__buf out = mwl__buf_make(p->alloc);
    mwl_status st =
        mwl__pattern_translate(&p->alloc, text, len, MWL__PATTERN_FOR_REGEX, &out, beyond, err);
    if (st == MWL_OK && !*beyond) {
        st = mwl__regex_compile(&p->alloc, out.data ? out.data : "", out.len, MWL__REGEX_UNASSIGNED,
                                work, &p->linear, err);
        /* A pattern beyond the limits of the linear matcher (for example a count above 1000) may
         * still run in the other one. */
        if (st == MWL_E_SYNTAX || st == MWL_E_TOO_BIG) {
            *beyond = true;
            st = MWL_OK;
        }
    }
    mwl__buf_free(&out);
    return st;
}

mwl_status mwl__pattern_compile(const mwl_alloc *a, const char *text, size_t len, uint64_t *work,
                                mwl__pattern **out, mwl_error *err) {
    mwl__pattern *p = mwl__mem_zero(a, 1, sizeof *p);
    if (!p) {
        if (err) *err = (mwl_error){MWL_E_NOMEM, mwl_status_text(MWL_E_NOMEM), 0};
        return MWL_E_NOMEM;
    }
    p->alloc = *a;
    bool beyond = false;
    mwl_status st = compile_linear(p, text, len, work, &beyond, err);
    if (st == MWL_OK && beyond) {
        mwl__buf buf = mwl__buf_make(*a);
        st = mwl__pattern_translate(a, text, len, MWL__PATTERN_FOR_PCRE, &buf, &beyond, err);
        if (work) *work += 16 * (uint64_t)buf.len; /* about what PCRE2 takes */
        if (st == MWL_OK) st = compile_beyond(p, buf.data ? buf.data : "", buf.len, err);
        mwl__buf_free(&buf);
    }
    if (st != MWL_OK) {
        mwl__pattern_free(p);
        return st;
    }
    *out = p;
    return MWL_OK;
}

void mwl__pattern_free(mwl__pattern *p) {
    if (!p) return;
    mwl_alloc a = p->alloc;
    mwl__regex_free(p->linear);
    free_beyond(p);
    mwl__mem_free(&a, p, sizeof *p);
}

bool mwl__pattern_valid(const mwl_alloc *a, const char *text, size_t len) {
    mwl__buf out = mwl__buf_make(*a);
    bool beyond;
    mwl_status st =
        mwl__pattern_translate(a, text, len, MWL__PATTERN_FOR_REGEX, &out, &beyond, NULL);
    mwl__buf_free(&out);
    return st == MWL_OK;
}

mwl_status mwl__pattern_search(const mwl__pattern *p, mwl__regex_scratch *scratch,
                               const char *subject, size_t len, uint64_t *fuel, bool *matched) {
    return p->linear ? mwl__regex_search(p->linear, scratch, subject, len, fuel, matched)
                     : search_beyond(p, scratch, subject, len, fuel, matched);
}
