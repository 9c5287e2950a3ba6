/* schema_load.c: checks a compiled schema and makes it ready to run.
 *
 * Owns: every check that evaluation relies on. It also compiles the patterns and finds the
 * constants. The words are untrusted: each offset must be the beginning of an item of the expected
 * kind, and each index must lie in its table. It makes two passes over the words; the first one
 * finds where items begin. */
#include "vm/schema/format.h"
#include "vm/schema/schema_code.h"

#include <math.h>

const char *const mwl__schema_operands[MWL__N_SCHEMA_OPS] = {
#define MWL_X(name, types, operands) operands,
    MWL__SCHEMA_OPS(MWL_X)
#undef MWL_X
};
const uint8_t mwl__schema_types[MWL__N_SCHEMA_OPS] = {
#define MWL_X(name, types, operands) MWL__TYPE_##types,
    MWL__SCHEMA_OPS(MWL_X)
#undef MWL_X
};

struct loader {
    const uint32_t *words; /* of this schema */
    uint32_t n_words;
    uint8_t *starts; /* for each word: the kind of the item that begins there, or 0 */
    const mwl__schema *schema;
    const char *why;
    uint32_t at; /* the word that is wrong */
};

static bool refuse(struct loader *l, const char *why, uint32_t at) {
    l->why = why;
    l->at = at;
    return false;
}

static bool is_item(const struct loader *l, uint32_t at, unsigned kind) {
    return at < l->n_words && l->starts[at] == kind;
}
static bool is_node(const struct loader *l, uint32_t at) { return is_item(l, at, MWL__ITEM_NODE); }
static bool is_node_or_none(const struct loader *l, uint32_t at) {
    return at == MWL__SCHEMA_NONE || is_node(l, at);
}
static bool is_string(const struct loader *l, uint32_t k) {
    return k < l->schema->n_consts && mwl_value_kind(l->schema->consts[k]) == MWL_KIND_STRING;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static bool operand_fits(const struct loader *l, char letter, uint32_t x) {
    static const char tables[] = "eliprws";
    const char *t;
    switch (letter) {
    case 'N': return is_node(l, x);
    case 'M': return is_node_or_none(l, x);
    case 'K': return x < l->schema->n_consts;
    case 'D':
        return x < l->schema->n_consts && mwl_value_kind(l->schema->consts[x]) == MWL_KIND_NUMBER &&
               isfinite(l->schema->consts[x].as.d);
    case 'P': return x < l->schema->n_patterns;
    case 'U': return true;
    case 'F': return x < MWL__N_FORMATS;
    case 'B': return x <= 1;
    default:
        t = strchr(tables, letter);
        return is_item(l, x, MWL__ITEM_ENUM + (unsigned)(t - tables));
    }
}

static bool check_node(struct loader *l, uint32_t at, uint32_t end) {
    if (l->words[at] >> 16) return refuse(l, "a schema's node has unknown bits", at);
    for (uint32_t p = at + 2; p < end;) {
        uint32_t op = l->words[p] & 0xff;
        if (op >= MWL__N_SCHEMA_OPS || l->words[p] != mwl__schema_head((mwl__schema_op)op))
            return refuse(l, "a schema has an unknown instruction", p);
        const char *letters = mwl__schema_operands[op];
        uint32_t n = (uint32_t)strlen(letters);
        if (n >= end - p) return refuse(l, "a schema's instruction is cut off", p);
        if (op == MWL__SCHEMA_END) {
            if (p + 1 != end) return refuse(l, "a schema's node goes on after its end", p);
            return true;
        }
        for (uint32_t i = 0; i < n; i++)
            if (!operand_fits(l, letters[i], l->words[p + 1 + i]))
                return refuse(l, "a schema's operand is out of bounds", p + 1 + i);
        p += 1 + n;
    }
    return refuse(l, "a schema's node has no end", at);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool check_enum(struct loader *l, uint32_t at, uint32_t end) {
    const uint32_t *w = l->words;
    if (end - at < 4 || w[at + 2] > l->n_words || w[at + 3] > l->n_words ||
        (uint64_t)end - at != 4 + 2 * (uint64_t)w[at + 2] + w[at + 3])
        return refuse(l, "a schema's enumeration has a wrong length", at);
    uint32_t n = w[at + 2], hash = at + 4, key = hash + n;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_string(l, w[key + i]) || l->schema->consts[w[key + i]].aux != w[hash + i])
            return refuse(l, "a schema's enumeration has a wrong string", key + i);
        if (i && mwl__schema_name_order(l->schema->consts[w[key + i - 1]],
                                        l->schema->consts[w[key + i]]) > 0)
            return refuse(l, "a schema's enumeration is not in order", hash + i);
    }
    for (uint32_t i = key + n; i < end; i++)
        if (w[i] >= l->schema->n_consts) return refuse(l, "a schema's constant is not there", i);
    return true;
}

static bool check_nodes(struct loader *l, uint32_t from, uint32_t end) {
    for (uint32_t i = from; i < end; i++)
        if (!is_node(l, l->words[i])) return refuse(l, "a schema's list has no node", i);
    return true;
}

/* The slots of a PROPS table, whose entries were checked: a search must end soon. */
static bool check_slots(struct loader *l, uint32_t at) {
    const uint32_t *t = l->words + at, *slots = t + MWL__PROPS_SLOTS;
    uint32_t n_slots = 1u << (32 - t[MWL__PROPS_SHIFT]), n = t[MWL__PROPS_ENTRIES];
    const uint32_t *entries = slots + n_slots;
    if (t[MWL__PROPS_FACTOR] == 0) {
        if (n > n_slots) return refuse(l, "a schema's slots are too few", at);
        for (uint32_t i = 0; i < n; i++) {
            if (slots[i] == 0) return refuse(l, "a schema's slot is empty", at);
            if (i == 0) continue;
            const uint32_t *a = entries + (size_t)(slots[i - 1] - 1) * MWL__ENTRY_SIZE;
            const uint32_t *b = entries + (size_t)(slots[i] - 1) * MWL__ENTRY_SIZE;
            if (mwl__schema_name_order(l->schema->consts[a[MWL__ENTRY_KEY]],
                                       l->schema->consts[b[MWL__ENTRY_KEY]]) >= 0)
                return refuse(l, "a schema's names are not in order", at);
        }
        return true;
    }
    uint32_t run = 0; /* twice around, because the last slots are followed by the first */
    for (uint64_t i = 0; i < 2 * (uint64_t)n_slots; i++) {
        run = slots[i & (n_slots - 1)] ? run + 1 : 0;
        if (run > MWL__PROPS_RUN || run > n_slots)
            return refuse(l, "a schema's slots are too full", at);
    }
    return true;
}

static bool check_props(struct loader *l, uint32_t at, uint32_t end) {
    const uint32_t *w = l->words;
    const uint32_t *t = w + at;
    if (end - at < MWL__PROPS_SLOTS || t[MWL__PROPS_SHIFT] < 1 || t[MWL__PROPS_SHIFT] > 31)
        return refuse(l, "a schema's members are cut off", at);
    uint64_t n_slots = 1ull << (32 - t[MWL__PROPS_SHIFT]), n = t[MWL__PROPS_ENTRIES];
    uint64_t need =
        MWL__PROPS_SLOTS + n_slots + n * MWL__ENTRY_SIZE + 2 * (uint64_t)t[MWL__PROPS_PATTERNS];
    if (need != end - at) return refuse(l, "a schema's members have a wrong length", at);
    if (!is_node_or_none(l, t[MWL__PROPS_REST]))
        return refuse(l, "a schema's operand is out of bounds", at + MWL__PROPS_REST);
    uint32_t p = at + MWL__PROPS_SLOTS, required = 0;
    for (; n_slots; n_slots--, p++)
        if (w[p] > n) return refuse(l, "a schema's slot is out of bounds", p);
    for (; n; n--, p += MWL__ENTRY_SIZE) {
        if (!is_string(l, w[p + MWL__ENTRY_KEY]) ||
            l->schema->consts[w[p + MWL__ENTRY_KEY]].aux != w[p + MWL__ENTRY_HASH] ||
            !is_node_or_none(l, w[p + MWL__ENTRY_NODE]) || w[p + MWL__ENTRY_REQUIRED] > 1)
            return refuse(l, "a schema's member is wrong", p);
        required += w[p + MWL__ENTRY_REQUIRED];
    }
    if (required != t[MWL__PROPS_REQUIRED])
        return refuse(l, "a schema counts its required members wrongly", at);
    if (!check_slots(l, at)) return false;
    for (; p < end; p += 2)
        if (w[p] >= l->schema->n_patterns || !is_node(l, w[p + 1]))
            return refuse(l, "a schema's pattern is not there", p);
    return true;
}

static bool check_needs(struct loader *l, uint32_t at, uint32_t end) {
    for (uint32_t p = at + 2; p < end;) {
        if (end - p < 2 || l->words[p + 1] > end - p - 2)
            return refuse(l, "a schema's dependent members are cut off", p);
        uint32_t n = l->words[p + 1];
        if (!is_string(l, l->words[p])) return refuse(l, "a schema's name is not a string", p);
        for (uint32_t i = 0; i < n; i++)
            if (!is_string(l, l->words[p + 2 + i]))
                return refuse(l, "a schema's name is not a string", p + 2 + i);
        p += 2 + n;
    }
    return true;
}

static bool check_pairs(struct loader *l, uint32_t from, uint32_t end, bool named) {
    if ((end - from) % 2) return refuse(l, "a schema's table has a wrong length", from);
    for (uint32_t p = from; p < end; p += 2) {
        if (named && !is_string(l, l->words[p]))
            return refuse(l, "a schema's name is not a string", p);
        if (!is_node(l, l->words[p + 1])) return refuse(l, "a schema's list has no node", p + 1);
    }
    return true;
}

static bool check_item(struct loader *l, uint32_t at) {
    uint32_t kind = l->starts[at], end = at + l->words[at + 1], n = end - at;
    if (kind != MWL__ITEM_NODE && l->words[at] != kind)
        return refuse(l, "a schema's table has unknown bits", at);
    switch (kind) {
    case MWL__ITEM_NODE: return check_node(l, at, end);
    case MWL__ITEM_ENUM: return check_enum(l, at, end);
    case MWL__ITEM_LIST:
        if (n < 3) return refuse(l, "a schema's list is empty", at);
        return check_nodes(l, at + 2, end);
    case MWL__ITEM_ITEMS:
        if (n < 3 || !is_node_or_none(l, l->words[at + 2]))
            return refuse(l, "a schema's items are wrong", at);
        return check_nodes(l, at + 3, end);
    case MWL__ITEM_PROPS: return check_props(l, at, end);
    case MWL__ITEM_NEEDS: return check_needs(l, at, end);
    case MWL__ITEM_WHENS: return check_pairs(l, at + 2, end, true);
    default:
        if (n < 3 || !is_node(l, l->words[at + 2]))
            return refuse(l, "a schema's dynamic reference is wrong", at);
        return check_pairs(l, at + 3, end, false);
    }
}

static bool check_all(struct loader *l) {
    const uint32_t first = MWL__SCHEMA_H_SIZE;
    for (uint32_t at = first; at < l->n_words; at += l->words[at + 1]) {
        uint32_t kind = l->words[at] & 0xff;
        if (l->n_words - at < 2 || l->words[at + 1] < 2 || l->words[at + 1] > l->n_words - at)
            return refuse(l, "a schema's item is cut off", at);
        if (kind == 0 || kind >= MWL__N_ITEMS) return refuse(l, "a schema's item is unknown", at);
        l->starts[at] = (uint8_t)kind;
    }
    for (uint32_t at = first; at < l->n_words; at += l->words[at + 1])
        if (!check_item(l, at)) return false;
    if (!is_node(l, l->words[MWL__SCHEMA_H_ROOT]))
        return refuse(l, "a schema has no root", MWL__SCHEMA_H_ROOT);
    return true;
}

/* ---- making ---------------------------------------------------------------------------------- */

static mwl_status fail(mwl_error *error, mwl_status status, const char *why, size_t word) {
    if (error) {
        error->status = status;
        error->message = why;
        error->offset = word * sizeof(uint32_t);
    }
    return status;
}

static mwl_status take_consts(mwl__schema *s, const uint32_t *w, const mwl_value *consts,
                              uint32_t n_consts, mwl_error *error) {
    uint32_t n = w[MWL__SCHEMA_H_CONSTS];
    if (n == 0) return MWL_OK;
    s->consts = mwl__mem_zero(&s->alloc, n, sizeof *s->consts);
    if (!s->consts) return MWL_E_NOMEM;
    s->n_consts = n;
    for (uint32_t i = 0; i < n; i++) {
        size_t at = w[MWL__SCHEMA_H_WORDS] - w[MWL__SCHEMA_H_PATTERNS] - n + i;
        uint32_t k = w[at];
        if (k >= n_consts) return fail(error, MWL_E_IMAGE, "a schema's constant is not there", at);
        s->consts[i] = mwl__borrow(consts[k]);
    }
    return MWL_OK;
}

/* Counts the memory of the patterns. */
static void *pattern_alloc(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    mwl__schema *s = ctx;
    if (new_size > old_size && new_size - old_size > MWL_SCHEMA_PATTERNS_LIMIT - s->patterns_used) {
        s->patterns_full = true;
        return NULL;
    }
    void *q = s->alloc.fn(s->alloc.ctx, ptr, old_size, new_size);
    if (q || new_size == 0) s->patterns_used = s->patterns_used - old_size + new_size;
    return q;
}

static mwl_status take_patterns(mwl__schema *s, const uint32_t *w, mwl_error *error) {
    uint32_t n = w[MWL__SCHEMA_H_PATTERNS];
    const uint32_t *row = w + w[MWL__SCHEMA_H_WORDS] - n;
    if (n == 0) return MWL_OK;
    s->patterns = mwl__mem_zero(&s->alloc, n, sizeof *s->patterns);
    if (!s->patterns) return MWL_E_NOMEM;
    s->n_patterns = n;
    const mwl_alloc counted = {pattern_alloc, s};
    for (uint32_t i = 0; i < n; i++) {
        size_t at = (size_t)(row + i - w);
        if (row[i] >= s->n_consts || mwl_value_kind(s->consts[row[i]]) != MWL_KIND_STRING)
            return fail(error, MWL_E_IMAGE, "a schema's pattern is not a string", at);
        const mwl__str *text = mwl__as_str(s->consts[row[i]]);
        mwl_status st = mwl__pattern_compile(&counted, text->s, text->len, &s->patterns_work,
                                             &s->patterns[i], NULL);
        if (s->patterns_work > MWL_PATTERNS_WORK)
            return fail(error, MWL_E_TOO_BIG, "a schema's patterns take too long to compile", at);
        if (st == MWL_E_NOMEM && s->patterns_full)
            return fail(error, MWL_E_TOO_BIG, "a schema's patterns need too much memory", at);
        if (st == MWL_E_NOMEM) return st;
        if (st < 0) return fail(error, MWL_E_IMAGE, "a schema's pattern does not compile", at);
    }
    return MWL_OK;
}

/* Checks the header; everything after it relies on these bounds. */
static const char *check_header(const uint32_t *w, size_t n_words) {
    if (n_words < MWL__SCHEMA_H_SIZE || w[MWL__SCHEMA_H_MAGIC] != MWL__SCHEMA_MAGIC)
        return "there is no schema";
    if (w[MWL__SCHEMA_H_WORDS] > n_words || w[MWL__SCHEMA_H_WORDS] < MWL__SCHEMA_H_SIZE)
        return "a schema is cut off";
    if (w[MWL__SCHEMA_H_FLAGS] & ~(uint32_t)(MWL__SCHEMA_RFC3339_DURATION | MWL__SCHEMA_PARAMETERS))
        return "a schema has unknown flags";
    uint64_t tables = (uint64_t)w[MWL__SCHEMA_H_CONSTS] + w[MWL__SCHEMA_H_PATTERNS];
    if (tables > w[MWL__SCHEMA_H_WORDS] - MWL__SCHEMA_H_SIZE) return "a schema is cut off";
    return NULL;
}

static mwl_status fill(mwl__schema *s, const mwl_value *consts, uint32_t n_consts,
                       mwl_error *error) {
    const uint32_t *w = s->words;
    mwl_status st = take_consts(s, w, consts, n_consts, error);
    if (st == MWL_OK) st = take_patterns(s, w, error);
    if (st < 0) return st;
    struct loader l = {.words = w, .schema = s};
    l.n_words = w[MWL__SCHEMA_H_WORDS] - s->n_consts - s->n_patterns;
    l.starts = mwl__mem_zero(&s->alloc, l.n_words, 1);
    if (!l.starts) return MWL_E_NOMEM;
    if (!check_all(&l)) st = fail(error, MWL_E_IMAGE, l.why, l.at);
    mwl__mem_free(&s->alloc, l.starts, l.n_words);
    return st;
}

static mwl__schema *new_schema(const mwl_alloc *alloc) {
    mwl__schema *s = mwl__mem_zero(alloc, 1, sizeof *s);
    if (s) s->alloc = *alloc;
    return s;
}

mwl_status mwl__schema_load(const mwl_alloc *alloc, const uint32_t *words, size_t n_words,
                            uint32_t offset, const mwl_value *consts, uint32_t n_consts,
                            mwl__schema **out, mwl_error *error) {
    if (offset > n_words) return fail(error, MWL_E_IMAGE, "there is no schema", n_words);
    const char *why = check_header(words + offset, n_words - offset);
    if (why) return fail(error, MWL_E_IMAGE, why, offset);
    mwl__schema *s = new_schema(alloc);
    mwl_status st = MWL_E_NOMEM;
    if (s) {
        s->words = words + offset;
        st = fill(s, consts, n_consts, error);
    }
    if (st < 0) {
        mwl__schema_free(s);
        if (st == MWL_E_NOMEM) return fail(error, st, "out of memory", offset);
        if (error) error->offset += (size_t)offset * sizeof(uint32_t);
        return st;
    }
    *out = s;
    return MWL_OK;
}

size_t mwl__schema_patterns_used(const mwl__schema *schema) { return schema->patterns_used; }
uint64_t mwl__schema_patterns_work(const mwl__schema *schema) { return schema->patterns_work; }

static void free_own(const mwl_alloc *alloc, struct mwl__schema_own *own) {
    for (uint32_t i = 0; i < own->n_consts; i++) mwl_value_drop(own->heap, own->consts[i]);
    mwl__mem_free(alloc, own->consts, own->n_consts * sizeof *own->consts);
    mwl__mem_free(alloc, own->words, own->n_words * sizeof *own->words);
    mwl_heap_free(own->heap);
}

mwl_status mwl__schema_make(const mwl_alloc *alloc, struct mwl__schema_own take_own,
                            mwl__schema **out, mwl_error *error) {
    const char *why = check_header(take_own.words, take_own.n_words);
    mwl__schema *s = why ? NULL : new_schema(alloc);
    if (!s) {
        free_own(alloc, &take_own);
        return why ? fail(error, MWL_E_IMAGE, why, 0)
                   : fail(error, MWL_E_NOMEM, "out of memory", 0);
    }
    s->words = take_own.words;
    s->own = take_own;
    mwl_status st = fill(s, take_own.consts, take_own.n_consts, error);
    if (st == MWL_OK)
        *out = s;
    else
        mwl__schema_free(s);
    return st;
}

void mwl__schema_free(mwl__schema *s) {
    if (!s) return;
    mwl_alloc alloc = s->alloc;
    for (uint32_t i = 0; i < s->n_patterns; i++) mwl__pattern_free(s->patterns[i]);
    mwl__mem_free(&alloc, s->patterns, s->n_patterns * sizeof *s->patterns);
    mwl__mem_free(&alloc, s->consts, s->n_consts * sizeof *s->consts);
    free_own(&alloc, &s->own);
    mwl__mem_free(&alloc, s, sizeof *s);
}
