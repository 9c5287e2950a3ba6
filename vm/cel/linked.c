/* linked.c: see linked.h.
 *
 * Owns: the block of a linked form, how operands are decoded, and which instructions are joined.
 * Refuses to know: what an instruction does (exec.c) and where a frame keeps its values (the
 * caller's table). */
#include "vm/cel/linked.h"
#include "vm/cel/linked_op.h"
#include "vm/value/shape.h"

#include <math.h>
#include <stdlib.h>

/* ---- names ----------------------------------------------------------------------------------- */

static void own_name(mwl_heap *h, mwl_value *name) {
    const mwl__str *s = mwl__as_str(*name);
    const mwl__str *atom = mwl__atom(h, s->s, s->len, s->hash, false);
    if (atom) name->as.p = (void *)(uintptr_t)atom;
}

static void own_run(mwl_heap *h, const mwl_program *p, mwl_value *consts, uint32_t first,
                    uint32_t n) {
    for (uint32_t i = 0; i < n; i++) own_name(h, &consts[p->keys[first + i]]);
}

static void own_names(mwl_heap *h, const mwl_program *p, mwl_value *consts) {
    for (uint32_t i = 0; i < p->n_paths; i++)
        own_run(h, p, consts, p->paths[i].first_key, p->paths[i].n_keys);
    for (uint32_t i = 0; i < p->n_shapes; i++)
        own_run(h, p, consts, p->shapes[i].first_key, p->shapes[i].n_keys);
    for (uint32_t i = 0; i < p->n_code; i++)
        if (mwl__op_get(p->code[i].op)->kind[2] == MWL_OPERAND_KEY)
            own_name(h, &consts[p->code[i].c]);
}

/* ---- paths and shapes ------------------------------------------------------------------------ */

static uint32_t slot_of(mwl__slot_fn *slot, uint32_t base) {
    if (slot) return slot(base);
    return base >= MWL_BASE_ENV ? (base - MWL_BASE_ENV) * (uint32_t)sizeof(mwl_value) : MWL_NONE;
}

static uint32_t bytes_to(const mwl__linked *l, const void *part) {
    return (uint32_t)((const char *)part - (const char *)l->code);
}

static mwl__linked_key key_of(const mwl__linked *l, uint32_t k) {
    const mwl__str *name = mwl__as_str(l->consts[k]);
    return (mwl__linked_key){name, NULL, name->hash, 0};
}

static size_t path_size(const mwl__path_rec *rec) {
    return sizeof(mwl__linked_path) + rec->n_keys * sizeof(mwl__linked_key);
}

static void fill_paths(const mwl__linked *l, uint32_t *places, char *to, mwl__slot_fn *slot) {
    const mwl_program *p = l->program;
    for (uint32_t i = 0; i < p->n_paths; i++) {
        const mwl__path_rec *rec = &p->paths[i];
        places[i] = bytes_to(l, to);
        mwl__linked_path *path = (mwl__linked_path *)(void *)to;
        *path = (mwl__linked_path){slot_of(slot, rec->base), rec->n_keys, i, 0};
        for (uint32_t k = 0; k < rec->n_keys; k++)
            path->keys[k] = key_of(l, p->keys[rec->first_key + k]);
        to += path_size(rec);
    }
}

/* The shape of an object literal, or NULL: it has too many keys, or a bound is reached. */
static const mwl__keys *literal_shape(mwl_heap *h, const mwl__linked *l, const uint32_t *keys,
                                      uint32_t n) {
    mwl_value names[MWL_INDEX_FROM];
    if (n == 0 || n >= MWL_INDEX_FROM) return NULL;
    for (uint32_t i = 0; i < n; i++) names[i] = l->consts[keys[i]];
    return mwl__shape(h, names, n, 1, false);
}

static void fill_shapes(mwl_heap *h, const mwl__linked *l, mwl__linked_shape *shapes,
                        mwl__map *blanks) {
    const mwl_program *p = l->program;
    for (uint32_t i = 0; i < p->n_shapes; i++) {
        const uint32_t n = p->shapes[i].n_keys;
        const uint32_t *keys = n ? p->keys + p->shapes[i].first_key : NULL;
        const unsigned counted = n ? MWL_HEAP | MWL_OWNED : 0; /* {} is immortal */
        const mwl__keys *shape = literal_shape(h, l, keys, n);
        mwl__linked_shape *to = &shapes[i];
        *to = (mwl__linked_shape){NULL, keys, n, 0, (uint16_t)(MWL_KIND_OBJECT | counted)};
        if (!shape) continue;
        blanks[i] = (mwl__map){.rc = 1,
                               .used = n,
                               .cap = n,
                               .depth = 1,
                               .weight = (uint64_t)n + 1,
                               .keys = (mwl__keys *)(uintptr_t)shape};
        to->blank = &blanks[i];
        to->units = (uint16_t)mwl__map_units(n);
    }
}

/* ---- code ------------------------------------------------------------------------------------ */

typedef struct linked_op {
    uint16_t op, from[3]; /* the instructions that it stands for; NOP: no further one */
} linked_op;

static const linked_op rows[] = {
#define X(name, first, second, third, text)                                                        \
    {MWL_OP_##name, {MWL_OP_##first, MWL_OP_##second, MWL_OP_##third}},
    MWL_LINKED_OPCODES(X)
#undef X
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* Returns whether the instructions from pc on are those of the row. */
static bool begins(const mwl_program *p, uint32_t pc, const linked_op *row) {
    for (uint32_t i = 0; i < 3 && row->from[i] != MWL_OP_NOP; i++)
        if (pc + i >= p->n_code || p->code[pc + i].op != row->from[i]) return false;
    return true;
}

/* Has the base of the instruction's path a place of its own, and the path so many keys? */
static bool has_slot(const mwl__linked *l, const mwl__ins *at, uint32_t least, uint32_t most) {
    const mwl__linked_path *path = mwl__linked_path_at(l, mwl__ins_x(*at));
    return path->slot != MWL_NONE && path->n_keys >= least && path->n_keys <= most;
}

/* Is the instruction's path one key of what a middleware contributes? */
static bool is_count(const mwl__linked *l, const mwl__ins *at) {
    const mwl__path_rec *path = &l->program->paths[mwl__ins_x(*at)];
    return l->in_frames && path->base == MWL_BASE_MW_CONTRIBUTED && path->n_keys == 1;
}

/* Returns whether the instructions have what a row asks for beyond its opcodes. */
static bool suits(const mwl__linked *l, uint32_t pc, unsigned op) {
    const mwl__ins *at = &l->program->code[pc];
    switch (op) {
    case MWL_OP_LOAD_BASE: return has_slot(l, at, 0, 0);
    case MWL_OP_LOAD_MEMBER: return has_slot(l, at, 1, 1);
    case MWL_OP_LOAD_SLOT:
    case MWL_OP_HAS_SLOT: return has_slot(l, at, 1, UINT32_MAX);
    case MWL_OP_COUNT_GATE: {
        if (at[0].a != at[1].b || at[1].a != at[2].a) return false;
        const uint32_t kind = mwl_value_kind(l->program->consts[at[1].c]);
        return is_count(l, at) && (kind == MWL_KIND_NUMBER || kind == MWL_KIND_INT);
    }
    case MWL_OP_LOAD_COUNT: return is_count(l, at);
    case MWL_OP_MAP_DATA: return at[0].a == at[1].a;
    default: return true;
    }
}

static unsigned choose(const mwl__linked *l, uint32_t pc) {
    for (uint32_t i = 0; i < N_ROWS; i++)
        if (begins(l->program, pc, &rows[i]) && suits(l, pc, rows[i].op)) return rows[i].op;
    return l->program->code[pc].op;
}

static const void *handler_of(const mwl__linked *l, unsigned op) {
    return l->labels ? l->labels[op] : (const void *)(uintptr_t)op;
}

/* An operand of the program as the handler needs it. */
static uint32_t decoded(const mwl__linked *l, uint32_t pc, int place) {
    const mwl__ins ins = l->program->code[pc];
    const unsigned kind = mwl__op_get(ins.op)->kind[place];
    const uint32_t v = mwl__op_operand(ins, place);
    if (mwl__operand_get(kind)->n_regs) return v * (uint32_t)sizeof(mwl_value);
    switch (kind) {
    case MWL_OPERAND_K:
    case MWL_OPERAND_KEY:
    case MWL_OPERAND_KX: return bytes_to(l, &l->consts[v]);
    case MWL_OPERAND_PATHX: return l->paths[v];
    case MWL_OPERAND_SHAPE: return place == 2 ? bytes_to(l, &l->shapes[v]) : v;
    case MWL_OPERAND_STEPX:
        if (ins.op != MWL_OP_TO) return v;
        return (l->program->tables.steps[v].pc - pc) * (uint32_t)sizeof(mwl__linked_ins);
    case MWL_OPERAND_JUMPX: return (v - pc) * (uint32_t)sizeof(mwl__linked_ins);
    default: return v;
    }
}

/* keys: for the instructions SELECT, one for each. */
static void fill_code(mwl__linked *l, mwl__linked_key *keys) {
    const mwl_program *p = l->program;
    for (uint32_t pc = 0; pc < p->n_code; pc++) {
        const mwl__ins ins = p->code[pc];
        const mwl__op_info *info = mwl__op_get(ins.op);
        mwl__linked_ins *to = &l->code[pc];
        to->go = handler_of(l, choose(l, pc));
        to->a = (uint16_t)decoded(l, pc, 0);
        if (mwl__operand_get(info->kind[1])->wide) {
            to->x = decoded(l, pc, 1);
        } else {
            to->b = (uint16_t)decoded(l, pc, 1);
            to->x = decoded(l, pc, 2);
        }
        if (ins.op == MWL_OP_STEP) to->a = (uint16_t)p->tables.steps[to->x].flags;
        if (ins.op != MWL_OP_SELECT) continue;
        *keys = key_of(l, ins.c);
        to->x = bytes_to(l, keys++);
    }
}

uint64_t mwl__linked_repeats(const mwl__linked *l, uint32_t pc, const mwl__str *name) {
    const double exact = 0x1p53; /* up to here, integers are numbers and compare as such */
    if (choose(l, pc) != MWL_OP_COUNT_GATE || choose(l, pc + 3) != MWL_OP_ACT_REENTER) return 0;
    const mwl__ins *at = &l->program->code[pc];
    if (mwl__linked_path_at(l, mwl__ins_x(at[0]))->keys->name != name) return 0;
    const mwl_value most = l->consts[at[1].c];
    const double n = mwl_value_kind(most) == MWL_KIND_INT ? (double)most.as.i : most.as.d;
    return n > 0 ? (uint64_t)(n < exact ? ceil(n) : exact) : 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

/* The parts of the block behind the code. */
enum { CONSTS, PLACES, PATHS, SHAPES, BLANKS, ENV, SELECTED, N_PARTS };

/* Called once to measure and once to place them. */
static size_t lay_out(const mwl_program *p, char *block, void *part[N_PARTS]) {
    size_t paths = 0, selects = 0;
    for (uint32_t i = 0; i < p->n_paths; i++) paths += path_size(&p->paths[i]);
    for (uint32_t i = 0; i < p->n_code; i++) selects += p->code[i].op == MWL_OP_SELECT;
    const size_t sizes[N_PARTS] = {[CONSTS] = p->n_consts * sizeof(mwl_value),
                                   [PLACES] = p->n_paths * sizeof(uint32_t),
                                   [PATHS] = paths,
                                   [SHAPES] = p->n_shapes * sizeof(mwl__linked_shape),
                                   [BLANKS] = p->n_shapes * sizeof(mwl__map),
                                   [ENV] = p->n_env * sizeof(mwl_value),
                                   [SELECTED] = selects * sizeof(mwl__linked_key)};
    size_t at = sizeof(mwl__linked) + p->n_code * sizeof(mwl__linked_ins);
    for (int i = 0; i < N_PARTS; i++) {
        part[i] = block ? block + at : NULL;
        at += (sizes[i] + 15u) & ~(size_t)15u;
    }
    return at;
}

mwl__linked *mwl__linked_new(mwl_heap *h, const mwl_program *program, mwl__slot_fn *slot,
                             mwl__labels_fn *labels) {
    const mwl_program *p = program;
    void *part[N_PARTS];
    size_t size = lay_out(p, NULL, part);
    mwl__linked *l = size <= INT32_MAX ? mwl__mem_zero(&h->alloc, 1, size) : NULL;
    if (!l) return NULL;
    (void)lay_out(p, (char *)l, part);
    l->program = mwl__program_keep((mwl_program *)(uintptr_t)p);
    l->size = size;
    l->in_frames = slot != NULL;
    l->labels = labels ? labels() : NULL;
    mwl_value *consts = part[CONSTS];
    if (p->n_consts) memcpy(consts, p->consts, p->n_consts * sizeof *consts);
    own_names(h, p, consts);
    l->consts = consts;
    l->paths = part[PLACES];
    l->shapes = part[SHAPES];
    l->env = part[ENV];
    fill_paths(l, part[PLACES], part[PATHS], slot);
    fill_shapes(h, l, part[SHAPES], part[BLANKS]);
    fill_code(l, part[SELECTED]);
    if (MWL_CHECKED && !mwl__linked_check(l)) abort();
    return l;
}

void mwl__linked_free(mwl_heap *h, mwl__linked *take) {
    if (!take) return;
    mwl__program_release(take->program);
    mwl__mem_free(&h->alloc, take, take->size);
}

/* ---- checking -------------------------------------------------------------------------------- */

static bool same_constant(mwl_value a, mwl_value b) {
    if (a.tag != b.tag || a.aux != b.aux) return false;
    return a.as.p == b.as.p || (mwl_value_kind(a) == MWL_KIND_STRING && mwl__str_same(a, b));
}

static const mwl__linked_ins *jump_to(const mwl__linked *l, uint32_t pc, uint32_t bytes) {
    return (const void *)((const char *)&l->code[pc] + (int32_t)bytes);
}

/* Is the operand what the program's leads to? */
static bool same_operand(const mwl__linked *l, uint32_t pc, int place, uint32_t got) {
    const mwl__ins ins = l->program->code[pc];
    const unsigned kind = mwl__op_get(ins.op)->kind[place];
    uint32_t v = mwl__op_operand(ins, place);
    if (ins.op == MWL_OP_STEP && place == 0) v = l->program->tables.steps[mwl__ins_x(ins)].flags;
    const char *const at = (const char *)l->code + got;
    if (mwl__operand_get(kind)->n_regs) return got == v * sizeof(mwl_value);
    switch (kind) {
    case MWL_OPERAND_KEY:
        if (ins.op == MWL_OP_SELECT) {
            const mwl__linked_key *key = (const void *)at;
            if (at + sizeof *key > (const char *)l + l->size) return false;
            return key->name == mwl__as_str(l->consts[v]) && key->hash == key->name->hash;
        }
        return at == (const char *)&l->consts[v];
    case MWL_OPERAND_K:
    case MWL_OPERAND_KX: return at == (const char *)&l->consts[v];
    case MWL_OPERAND_PATHX: return got == l->paths[v];
    case MWL_OPERAND_SHAPE: return place == 2 ? at == (const char *)&l->shapes[v] : got == v;
    case MWL_OPERAND_STEPX:
        if (ins.op != MWL_OP_TO) return got == v;
        return jump_to(l, pc, got) == &l->code[l->program->tables.steps[v].pc];
    case MWL_OPERAND_JUMPX: return jump_to(l, pc, got) == &l->code[v];
    default: return got == v;
    }
}

/* Is its handler that of the program's opcode, or of a row that fits? Labels may be equal. */
static bool same_handler(const mwl__linked *l, uint32_t pc) {
    const void *go = l->code[pc].go;
    bool same = go == handler_of(l, l->program->code[pc].op);
    for (uint32_t i = 0; !same && i < N_ROWS; i++)
        same = go == handler_of(l, rows[i].op) && begins(l->program, pc, &rows[i]) &&
               suits(l, pc, rows[i].op);
    return same;
}

static bool same_instruction(const mwl__linked *l, uint32_t pc) {
    const mwl__linked_ins *a = &l->code[pc];
    const mwl__op_info *info = mwl__op_get(l->program->code[pc].op);
    const bool wide = mwl__operand_get(info->kind[1])->wide;
    return same_handler(l, pc) && same_operand(l, pc, 0, a->a) &&
           same_operand(l, pc, 1, wide ? a->x : a->b) && (wide || same_operand(l, pc, 2, a->x));
}

static bool same_path(const mwl__linked *l, uint32_t i) {
    const mwl_program *p = l->program;
    const mwl__path_rec *rec = &p->paths[i];
    const mwl__linked_path *path = mwl__linked_path_at(l, i);
    if (path->n_keys != rec->n_keys || path->ix != i) return false;
    for (uint32_t k = 0; k < rec->n_keys; k++)
        if (path->keys[k].name != mwl__as_str(l->consts[p->keys[rec->first_key + k]]) ||
            path->keys[k].hash != path->keys[k].name->hash)
            return false;
    return true;
}

static bool same_shape(const mwl__linked *l, uint32_t i) {
    const mwl_program *p = l->program;
    const mwl__shape_rec *rec = &p->shapes[i];
    const mwl__linked_shape *shape = &l->shapes[i];
    if (shape->n_keys != rec->n_keys || (shape->blank && shape->blank->used != rec->n_keys))
        return false;
    for (uint32_t k = 0; shape->blank && k < rec->n_keys; k++)
        if (!same_constant(shape->blank->keys->key[k], p->consts[p->keys[rec->first_key + k]]))
            return false;
    return true;
}

bool mwl__linked_check(const mwl__linked *l) {
    const mwl_program *p = l->program;
    bool same = true;
    for (uint32_t i = 0; same && i < p->n_consts; i++)
        same = same_constant(l->consts[i], p->consts[i]);
    for (uint32_t i = 0; same && i < p->n_code; i++) same = same_instruction(l, i);
    for (uint32_t i = 0; same && i < p->n_paths; i++) same = same_path(l, i);
    for (uint32_t i = 0; same && i < p->n_shapes; i++) same = same_shape(l, i);
    return same;
}
