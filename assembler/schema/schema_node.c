/* schema_node.c: translates one schema into one node of code.
 *
 * Owns: which instruction a keyword becomes. The schema has been checked, so values have the right
 * kinds. Tables are written before the node that uses them. Instructions have the order of
 * MWL__SCHEMA_OPS. */
#include "assembler/schema/schema_build.h"
#include "vm/base/hash.h"
#include "vm/schema/format.h"

#define NONE MWL__SCHEMA_NONE

struct writer {
    mwl__schema_build *b;
    const mwl__schema_place *place; /* a copy, because places may move */
    const mwl__node *node;
    uint32_t resource, vocabularies;
    uint32_t lengths; /* a bit for each length of a member's name: most keywords are not there */
    bool top;         /* of a `parameters` schema */
};

/* Returns the value of the keyword; NULL if it does not exist, or if its vocabulary is not in
 * use. */
static const mwl__node *get(const struct writer *w, const char *name) {
    size_t len = strlen(name);
    if (!(w->lengths >> (len & 31u) & 1u)) return NULL;
    const mwl__node *v = mwl__node_find(w->node, name, len);
    if (!v) return NULL;
    return mwl__keyword_find(name, len)->vocabulary & w->vocabularies ? v : NULL;
}

static uint32_t count_of(double d) { return d >= 4294967295.0 ? NONE : (uint32_t)d; }

/* ---- scalars --------------------------------------------------------------------------------- */

static uint32_t type_bit(const mwl__node *name) {
    static const struct {
        const char *name;
        uint32_t bits;
    } types[] = {
        {"null", MWL__TYPE_NULL},       {"boolean", MWL__TYPE_BOOL},
        {"string", MWL__TYPE_STRING},   {"number", MWL__TYPE_NUMBER | MWL__TYPE_INTEGER},
        {"array", MWL__TYPE_ARRAY},     {"object", MWL__TYPE_OBJECT},
        {"integer", MWL__TYPE_INTEGER},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (mwl__node_is(name, types[i].name)) return types[i].bits;
    return 0;
}

static uint32_t type_mask(const struct writer *w) {
    const mwl__node *type = get(w, "type");
    uint32_t mask = 0;
    if (!type) return MWL__TYPE_ANY;
    if (type->kind == MWL_NODE_STRING) return type_bit(type);
    for (const mwl__node *c = mwl__node_first(type); c; c = c->next) mask |= type_bit(c);
    return mask;
}

/* ---- names in order -------------------------------------------------------------------------- */

struct named {
    uint32_t k;      /* constant, a string */
    uint32_t number; /* of what has this name */
};

static bool before(const mwl__schema_build *b, struct named x, struct named y) {
    return mwl__schema_name_order(b->consts.at[x.k], b->consts.at[y.k]) < 0;
}

static void sink(const mwl__schema_build *b, struct named *a, size_t i, size_t n) {
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(b, a[child], a[child + 1])) child++;
        if (!before(b, a[i], a[child])) return;
        struct named t = a[i];
        a[i] = a[child];
        a[child] = t;
    }
}

/* By mwl__schema_name_order. Heap sort: in place, and not quadratic whatever the names are. */
static void sort_names(const mwl__schema_build *b, struct named *a, size_t n) {
    for (size_t i = n / 2; i-- > 0;) sink(b, a, i, n);
    for (size_t end = n; end-- > 1;) {
        struct named t = a[0];
        a[0] = a[end];
        a[end] = t;
        sink(b, a, 0, end);
    }
}

/* Room for n. NULL, and the build has stopped, if out of memory. */
static struct named *make_names(mwl__schema_build *b, size_t n) {
    struct named *a = mwl__arena_new(&b->arena, (n + 1) * sizeof *a);
    if (!a) (void)mwl__schema_stop(b, MWL_E_NOMEM);
    return a;
}

static void write_enum(const struct writer *w, const mwl__node *list) {
    mwl__schema_build *b = w->b;
    struct named *strings = make_names(b, list->count);
    uint32_t n = 0;
    if (!strings) return;
    for (const mwl__node *c = mwl__node_first(list); c; c = c->next)
        if (c->kind == MWL_NODE_STRING) strings[n++].k = mwl__schema_const(b, c);
    if (b->status != MWL_OK) return;
    sort_names(b, strings, n);
    uint32_t table = mwl__schema_begin(b, MWL__ITEM_ENUM);
    mwl__schema_put(b, n);
    mwl__schema_put(b, list->count - n);
    for (uint32_t i = 0; i < n; i++) mwl__schema_put(b, b->consts.at[strings[i].k].aux);
    for (uint32_t i = 0; i < n; i++) mwl__schema_put(b, strings[i].k);
    for (const mwl__node *c = mwl__node_first(list); c; c = c->next)
        if (c->kind != MWL_NODE_STRING) mwl__schema_put(b, mwl__schema_const(b, c));
    mwl__schema_end(b, table);
    mwl__schema_ins(b, MWL__SCHEMA_ENUM);
    mwl__schema_arg(b, table);
}

static void write_bound(const struct writer *w, const char *keyword, mwl__schema_op op,
                        bool excluded) {
    const mwl__node *v = get(w, keyword);
    if (!v) return;
    uint32_t k = mwl__schema_number(w->b, v->as.number);
    mwl__schema_ins(w->b, op);
    mwl__schema_arg(w->b, k);
    mwl__schema_arg(w->b, excluded);
}

static void write_counts(const struct writer *w, const char *least, const char *most,
                         mwl__schema_op op) {
    const mwl__node *lo = get(w, least), *hi = get(w, most);
    if (!lo && !hi) return;
    mwl__schema_ins(w->b, op);
    mwl__schema_arg(w->b, lo ? count_of(lo->as.number) : 0);
    mwl__schema_arg(w->b, hi ? count_of(hi->as.number) : NONE);
}

static void write_scalars(const struct writer *w) {
    mwl__schema_build *b = w->b;
    const mwl__node *v;
    if ((v = get(w, "const"))) {
        uint32_t k = mwl__schema_const(b, v);
        mwl__schema_ins(b, MWL__SCHEMA_CONST);
        mwl__schema_arg(b, k);
    }
    if ((v = get(w, "enum"))) write_enum(w, v);
    write_bound(w, "minimum", MWL__SCHEMA_MIN, false);
    write_bound(w, "exclusiveMinimum", MWL__SCHEMA_MIN, true);
    write_bound(w, "maximum", MWL__SCHEMA_MAX, false);
    write_bound(w, "exclusiveMaximum", MWL__SCHEMA_MAX, true);
    if ((v = get(w, "multipleOf"))) {
        uint32_t k = mwl__schema_number(b, v->as.number);
        mwl__schema_ins(b, MWL__SCHEMA_MULTIPLE);
        mwl__schema_arg(b, k);
    }
    write_counts(w, "minLength", "maxLength", MWL__SCHEMA_LENGTH);
    write_counts(w, "minItems", "maxItems", MWL__SCHEMA_COUNT);
    write_counts(w, "minProperties", "maxProperties", MWL__SCHEMA_MEMBERS);
    if ((v = get(w, "pattern"))) {
        uint32_t p = mwl__schema_pattern(b, v->as.text, v->count);
        mwl__schema_ins(b, MWL__SCHEMA_PATTERN);
        mwl__schema_arg(b, p);
    }
    v = get(w, "format");
    bool asserted = b->options->assert_formats || (w->vocabularies & MWL__VOC_ASSERT_FORMAT);
    int format = v && asserted ? mwl__format_find(v->as.text, v->count) : -1;
    if (format >= 0) {
        mwl__schema_ins(b, MWL__SCHEMA_FORMAT);
        mwl__schema_arg(b, (uint32_t)format);
    }
}

/* ---- members --------------------------------------------------------------------------------- */

struct entry {
    uint32_t hash, key;
    const mwl__node *schema; /* NULL: only required */
    bool required;
};

/* The entry of a constant that only `required` names; a new one, the last, unless it is there. */
static uint32_t required_entry(mwl__schema_build *b, mwl__table *known, const struct entry *entry,
                               uint32_t key, uint32_t n) {
    mwl_alloc alloc = mwl__arena_alloc(&b->arena);
    mwl_status st = mwl__table_reserve(known, &alloc, (size_t)known->n + 1);
    if (st < 0) {
        (void)mwl__schema_stop(b, st);
        return n;
    }
    mwl__probe probe = mwl__probe_make(known, mwl__hash_word(mwl__hash_secret(), key, 0));
    for (uint32_t i; mwl__table_next(known, &probe, &i);)
        if (entry[i].key == key) return i; /* constants are interned */
    mwl__table_put(known, &probe, n);
    return n;
}

/* Returns the members that `properties` and `required` name, each once. NULL if out of memory. */
static struct entry *list_entries(const struct writer *w, const mwl__node *properties,
                                  const mwl__node *required, uint32_t *count) {
    mwl__schema_build *b = w->b;
    size_t most = (properties ? properties->count : 0u) + (required ? required->count : 0u);
    struct entry *entry = mwl__arena_new(&b->arena, (most + 1) * sizeof *entry);
    mwl__table known = {0};
    uint32_t n = 0;
    if (!entry) (void)mwl__schema_stop(b, MWL_E_NOMEM);
    if (b->status != MWL_OK) return NULL;
    for (const mwl__node *c = properties ? mwl__node_first(properties) : NULL; c;
         c = c->next, n++) {
        entry[n].key = mwl__schema_string(b, c->key, c->key_len);
        entry[n].schema = c;
    }
    for (const mwl__node *c = required ? mwl__node_first(required) : NULL; c; c = c->next) {
        const mwl__node *p = mwl__node_find(properties, c->as.text, c->count);
        uint32_t key = mwl__schema_const(b, c);
        uint32_t at = p ? p->index : required_entry(b, &known, entry, key, n);
        if (at == n) entry[n++].key = key;
        entry[at].required = true;
    }
    if (b->status != MWL_OK) return NULL;
    for (uint32_t i = 0; i < n; i++) entry[i].hash = b->consts.at[entry[i].key].aux;
    *count = n;
    return entry;
}

/* Fills the slots. Returns how many entries are not at their own place; UINT32_MAX if there are
 * more than MWL__PROPS_RUN in a row. */
static uint32_t fill_slots(const struct entry *entry, uint32_t n, uint32_t *slots, uint32_t bits,
                           uint32_t factor) {
    uint32_t mask = (1u << bits) - 1, displaced = 0, run = 0;
    memset(slots, 0, ((size_t)mask + 1) * sizeof *slots);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = entry[i].hash * factor >> (32 - bits), steps = 0;
        displaced += slots[place] != 0;
        for (; slots[place]; place = (place + 1) & mask)
            if (++steps > MWL__PROPS_RUN) return UINT32_MAX;
        slots[place] = i + 1;
    }
    for (uint64_t i = 0; i < 2 * ((uint64_t)mask + 1); i++) { /* twice around: the run of the end */
        run = slots[i & mask] ? run + 1 : 0;
        if (run > MWL__PROPS_RUN) return UINT32_MAX;
    }
    return displaced;
}

/* Finds a factor that gives (nearly) every name its own slot; tries a few. 0 if there is none. */
static uint32_t choose_factor(const struct entry *entry, uint32_t n, uint32_t *slots,
                              uint32_t bits) {
    uint32_t best = 0, least = UINT32_MAX, tries = n > 256 ? 4 : 64;
    uint32_t factor = 0x9E3779B1u;
    for (uint32_t i = 0; i < tries && least; i++, factor = factor * 0x85EBCA6Bu + 0xC2B2AE36u) {
        uint32_t displaced = fill_slots(entry, n, slots, bits, factor | 1);
        if (displaced < least) {
            least = displaced;
            best = factor | 1;
        }
    }
    if (best) (void)fill_slots(entry, n, slots, bits, best);
    return best;
}

/* Names that collide under every factor: the slots have them in order instead. */
static void sort_slots(mwl__schema_build *b, const struct entry *entry, uint32_t n, uint32_t *slots,
                       uint32_t bits) {
    struct named *names = make_names(b, n);
    if (!names) return;
    for (uint32_t i = 0; i < n; i++) names[i] = (struct named){entry[i].key, i};
    sort_names(b, names, n);
    memset(slots, 0, sizeof *slots << bits);
    for (uint32_t i = 0; i < n; i++) slots[i] = names[i].number + 1;
}

static void write_entries(const struct writer *w, const struct entry *entry, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        mwl__schema_put(w->b, entry[i].hash);
        mwl__schema_put(w->b, entry[i].key);
        if (entry[i].schema)
            mwl__schema_put_place(w->b, w->resource, entry[i].schema);
        else
            mwl__schema_put(w->b, NONE);
        mwl__schema_put(w->b, entry[i].required);
    }
}

static void write_props(const struct writer *w) {
    mwl__schema_build *b = w->b;
    const mwl__node *properties = get(w, "properties"), *required = get(w, "required");
    const mwl__node *patterns = get(w, "patternProperties");
    const mwl__node *rest = get(w, "additionalProperties");
    bool closed = w->top && b->options->parameters && !rest;
    if (!properties && !required && !patterns && !rest && !closed) return;
    uint32_t n = 0, bits = 1, n_required = 0;
    const struct entry *entry = list_entries(w, properties, required, &n);
    if (!entry) return;
    while (bits < 30 && (1u << bits) < 2 * (n + 1)) bits++;
    uint32_t *slots = mwl__arena_new(&b->arena, sizeof *slots << bits);
    if (!slots) {
        (void)mwl__schema_stop(b, MWL_E_NOMEM);
        return;
    }
    uint32_t factor = choose_factor(entry, n, slots, bits);
    if (factor == 0) sort_slots(b, entry, n, slots, bits);
    for (uint32_t i = 0; i < n; i++) n_required += entry[i].required;
    for (const mwl__node *c = patterns ? mwl__node_first(patterns) : NULL; c; c = c->next)
        (void)mwl__schema_pattern(b, c->key, c->key_len);
    uint32_t table = mwl__schema_begin(b, MWL__ITEM_PROPS);
    mwl__schema_put(b, n);
    mwl__schema_put(b, 32 - bits);
    mwl__schema_put(b, factor);
    mwl__schema_put(b, n_required);
    mwl__schema_put(b, patterns ? patterns->count : 0);
    if (rest)
        mwl__schema_put_place(b, w->resource, rest);
    else
        mwl__schema_put(b, closed ? b->node_false : NONE);
    for (size_t i = 0; i < (size_t)1 << bits; i++) mwl__schema_put(b, slots[i]);
    write_entries(w, entry, n);
    for (const mwl__node *c = patterns ? mwl__node_first(patterns) : NULL; c; c = c->next) {
        mwl__schema_put(b, mwl__schema_pattern(b, c->key, c->key_len));
        mwl__schema_put_place(b, w->resource, c);
    }
    mwl__schema_end(b, table);
    mwl__schema_ins(b, MWL__SCHEMA_PROPS);
    mwl__schema_arg(b, table);
}

/* dependentRequired, and the members of `dependencies` that are arrays of names. */
static void write_needs(const struct writer *w, const mwl__node *map) {
    mwl__schema_build *b = w->b;
    uint32_t table = mwl__schema_begin(b, MWL__ITEM_NEEDS);
    for (const mwl__node *c = mwl__node_first(map); c; c = c->next) {
        if (c->kind != MWL_NODE_ARRAY) continue;
        mwl__schema_put(b, mwl__schema_string(b, c->key, c->key_len));
        mwl__schema_put(b, c->count);
        for (const mwl__node *name = mwl__node_first(c); name; name = name->next)
            mwl__schema_put(b, mwl__schema_const(b, name));
    }
    mwl__schema_end(b, table);
    mwl__schema_ins(b, MWL__SCHEMA_NEEDS);
    mwl__schema_arg(b, table);
}

static void write_whens(const struct writer *w, const mwl__node *map) {
    mwl__schema_build *b = w->b;
    uint32_t table = mwl__schema_begin(b, MWL__ITEM_WHENS);
    for (const mwl__node *c = mwl__node_first(map); c; c = c->next) {
        if (c->kind == MWL_NODE_ARRAY) continue;
        mwl__schema_put(b, mwl__schema_string(b, c->key, c->key_len));
        mwl__schema_put_place(b, w->resource, c);
    }
    mwl__schema_end(b, table);
    mwl__schema_ins(b, MWL__SCHEMA_WHENS);
    mwl__schema_arg(b, table);
}

static void write_objects(const struct writer *w) {
    bool dependent = w->vocabularies & MWL__VOC_DEPENDENT;
    const mwl__node *v, *old = get(w, "dependencies");
    write_props(w);
    if (dependent && (v = get(w, "dependentRequired"))) write_needs(w, v);
    if (old) write_needs(w, old);
    if ((v = get(w, "propertyNames"))) {
        mwl__schema_ins(w->b, MWL__SCHEMA_NAMES);
        mwl__schema_arg_place(w->b, w->resource, v);
    }
}

/* ---- elements -------------------------------------------------------------------------------- */

static void write_items(const struct writer *w) {
    mwl__schema_build *b = w->b;
    const mwl__node *prefix = w->vocabularies & MWL__VOC_PREFIX ? get(w, "prefixItems") : NULL;
    const mwl__node *rest = get(w, "items");
    if (rest && rest->kind == MWL_NODE_ARRAY) { /* before 2020-12 */
        prefix = rest;
        rest = mwl__node_get(w->node, "additionalItems");
        if (rest && rest->kind != MWL_NODE_BOOL) rest = NULL;
    }
    if (!prefix && !rest) return;
    uint32_t table = mwl__schema_begin(b, MWL__ITEM_ITEMS);
    if (rest)
        mwl__schema_put_place(b, w->resource, rest);
    else
        mwl__schema_put(b, NONE);
    for (const mwl__node *c = prefix ? mwl__node_first(prefix) : NULL; c; c = c->next)
        mwl__schema_put_place(b, w->resource, c);
    mwl__schema_end(b, table);
    mwl__schema_ins(b, MWL__SCHEMA_ITEMS);
    mwl__schema_arg(b, table);
}

static void write_arrays(const struct writer *w) {
    mwl__schema_build *b = w->b;
    const mwl__node *v;
    write_items(w);
    if ((v = get(w, "contains"))) {
        const mwl__node *least = get(w, "minContains"), *most = get(w, "maxContains");
        mwl__schema_ins(b, MWL__SCHEMA_CONTAINS);
        mwl__schema_arg_place(b, w->resource, v);
        mwl__schema_arg(b, least ? count_of(least->as.number) : 1);
        mwl__schema_arg(b, most ? count_of(most->as.number) : NONE);
    }
    v = get(w, "uniqueItems");
    if (v && v->boolean) mwl__schema_ins(b, MWL__SCHEMA_UNIQUE);
}

/* ---- several schemas, references ------------------------------------------------------------- */

static void write_list(const struct writer *w, const char *keyword, mwl__schema_op op) {
    mwl__schema_build *b = w->b;
    const mwl__node *list = get(w, keyword);
    if (!list) return;
    uint32_t table = mwl__schema_begin(b, MWL__ITEM_LIST);
    for (const mwl__node *c = mwl__node_first(list); c; c = c->next)
        mwl__schema_put_place(b, w->resource, c);
    mwl__schema_end(b, table);
    mwl__schema_ins(b, op);
    mwl__schema_arg(b, table);
}

static void write_if(const struct writer *w) {
    const mwl__node *test = get(w, "if"), *yes = get(w, "then"), *no = get(w, "else");
    if (!test) return; /* even without a branch it records what was evaluated */
    mwl__schema_ins(w->b, MWL__SCHEMA_IF);
    mwl__schema_arg_place(w->b, w->resource, test);
    if (yes)
        mwl__schema_arg_place(w->b, w->resource, yes);
    else
        mwl__schema_arg(w->b, NONE);
    if (no)
        mwl__schema_arg_place(w->b, w->resource, no);
    else
        mwl__schema_arg(w->b, NONE);
}

/* spec: JSON Schema 2020-12, $dynamicRef: the outermost matching $dynamicAnchor at run time. */
static void write_dynamic(const struct writer *w) {
    mwl__schema_build *b = w->b;
    const mwl__node *target = b->places.at[w->place->dynamic].node;
    const mwl__node *name = mwl__node_get(target, "$dynamicAnchor");
    uint32_t table = mwl__schema_begin(b, MWL__ITEM_SCOPES);
    mwl__schema_put_target(b, w->resource, w->place->dynamic);
    for (size_t i = 0; i < b->anchors.n; i++) {
        const mwl__schema_anchor *a = &b->anchors.at[i];
        if (!a->dynamic || a->name_len != name->count ||
            memcmp(a->name, name->as.text, name->count) != 0)
            continue;
        mwl__schema_put(b, a->resource);
        mwl__schema_put_target(b, w->resource, mwl__schema_place_of(b, a->node));
    }
    mwl__schema_end(b, table);
    mwl__schema_ins(b, MWL__SCHEMA_DYNAMIC);
    mwl__schema_arg(b, table);
}

static void write_ref(const struct writer *w, uint32_t target) {
    mwl__schema_ins(w->b, MWL__SCHEMA_REF);
    mwl__schema_arg_target(w->b, w->resource, target);
}

static void write_in_place(const struct writer *w) {
    const mwl__node *v;
    bool dependent = w->vocabularies & MWL__VOC_DEPENDENT;
    if (dependent && (v = get(w, "dependentSchemas"))) write_whens(w, v);
    if ((v = get(w, "dependencies"))) write_whens(w, v);
    write_list(w, "allOf", MWL__SCHEMA_ALL);
    write_list(w, "anyOf", MWL__SCHEMA_ANY);
    write_list(w, "oneOf", MWL__SCHEMA_ONE);
    if ((v = get(w, "not"))) {
        mwl__schema_ins(w->b, MWL__SCHEMA_NOT);
        mwl__schema_arg_place(w->b, w->resource, v);
    }
    write_if(w);
    if (w->place->dynamic != NONE) {
        if (w->place->anchored)
            write_dynamic(w);
        else
            write_ref(w, w->place->dynamic);
    }
    if (w->place->ref != NONE) write_ref(w, w->place->ref);
}

static void write_unevaluated(const struct writer *w, const char *keyword, mwl__schema_op op) {
    const mwl__node *v = get(w, keyword);
    if (!v) return;
    mwl__schema_ins(w->b, op);
    mwl__schema_arg_place(w->b, w->resource, v);
}

uint32_t mwl__schema_write_node(mwl__schema_build *b, uint32_t place, bool top) {
    mwl__schema_place copy = b->places.at[place];
    struct writer w = {.b = b, .place = &copy, .node = copy.node, .resource = copy.resource};
    if (copy.node->kind == MWL_NODE_BOOL) return copy.node->boolean ? b->node_true : b->node_false;
    w.vocabularies = b->resources.at[copy.resource].vocabularies;
    w.top = top;
    for (const mwl__node *m = mwl__node_first(copy.node); m; m = m->next)
        w.lengths |= 1u << (m->key_len & 31u);
    uint32_t mask = type_mask(&w);
    write_scalars(&w);
    write_objects(&w);
    write_arrays(&w);
    write_in_place(&w);
    write_unevaluated(&w, "unevaluatedItems", MWL__SCHEMA_UNEVALUATED_ITEMS);
    write_unevaluated(&w, "unevaluatedProperties", MWL__SCHEMA_UNEVALUATED_PROPS);
    return mwl__schema_close(b, mask);
}
