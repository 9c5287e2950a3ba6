/* linked.c: see linked.h.
 *
 * Owns: the block of a linked form, and which instructions are rewritten. Refuses to know: what an
 * instruction does (exec.c) and where a frame keeps its values (the caller's table). */
#include "vm/cel/linked.h"
#include "vm/cel/linked_op.h"

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

static void fill_paths(const mwl__linked *l, mwl__linked_path *paths, mwl__linked_key *keys,
                       mwl__slot_fn *slot) {
    const mwl_program *p = l->program;
    for (uint32_t i = 0; i < p->n_paths; i++) {
        const mwl__path_rec *rec = &p->paths[i];
        paths[i] = (mwl__linked_path){slot_of(slot, rec->base), rec->n_keys, keys};
        for (uint32_t k = 0; k < rec->n_keys; k++, keys++) {
            const mwl__str *name = mwl__as_str(l->consts[p->keys[rec->first_key + k]]);
            *keys = (mwl__linked_key){name, name->hash, 0};
        }
    }
}

static bool is_small(const mwl__shape_rec *s) {
    return s->n_keys && s->n_keys < MWL_INDEX_FROM && s->n_keys <= MWL_COUNT_LIMIT;
}

static size_t blank_size(const mwl__shape_rec *s) {
    return is_small(s) ? sizeof(mwl__map) + s->n_keys * sizeof(mwl__member) : 0;
}

static void fill_blank(const mwl__linked *l, const uint32_t *keys, uint32_t n, mwl__map *m) {
    *m = (mwl__map){.rc = 1, .used = n, .cap = n, .depth = 1, .weight = (uint64_t)n + 1};
    for (uint32_t i = 0; i < n; i++) m->member[i] = (mwl__member){l->consts[keys[i]], mwl_null()};
}

static void fill_shapes(const mwl__linked *l, mwl__linked_shape *shapes, char *blanks) {
    const mwl_program *p = l->program;
    for (uint32_t i = 0; i < p->n_shapes; i++) {
        const mwl__shape_rec *rec = &p->shapes[i];
        size_t size = blank_size(rec);
        mwl__map *blank = size ? (mwl__map *)(void *)blanks : NULL;
        const uint32_t *keys = rec->n_keys ? p->keys + rec->first_key : NULL;
        shapes[i] = (mwl__linked_shape){blank, keys, rec->n_keys, (uint32_t)size};
        if (blank) fill_blank(l, keys, rec->n_keys, blank);
        blanks += size;
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

/* What a row asks for beyond its opcodes. */
static bool suits(const mwl__linked *l, uint32_t pc, unsigned op) {
    const mwl__ins *at = &l->program->code[pc];
    switch (op) {
    case MWL_OP_LOAD_SLOT:
    case MWL_OP_HAS_SLOT: {
        const mwl__linked_path *path = &l->paths[mwl__ins_x(*at)];
        return path->slot != MWL_NONE && (path->n_keys > 0 || op == MWL_OP_LOAD_SLOT);
    }
    case MWL_OP_LOAD_COUNT: {
        const mwl__path_rec *path = &l->program->paths[mwl__ins_x(*at)];
        return l->in_frames && path->base == MWL_BASE_MW_CONTRIBUTED && path->n_keys == 1;
    }
    case MWL_OP_MAP_DATA: return at[0].a == at[1].a;
    default: return true;
    }
}

static void rewrite(const mwl__linked *l, mwl__ins *code) {
    const mwl_program *p = l->program;
    for (uint32_t pc = 0; pc < p->n_code; pc++)
        for (uint32_t i = 0; i < N_ROWS; i++)
            if (begins(p, pc, &rows[i]) && suits(l, pc, rows[i].op)) {
                code[pc].op = rows[i].op;
                break;
            }
}

/* ---- life ------------------------------------------------------------------------------------ */

/* The parts of the block, one behind the other. Called once to measure and once to place them. */
static size_t lay_out(const mwl_program *p, char *block, void *part[7]) {
    size_t n_keys = 0, blanks = 0;
    for (uint32_t i = 0; i < p->n_paths; i++) n_keys += p->paths[i].n_keys;
    for (uint32_t i = 0; i < p->n_shapes; i++) blanks += blank_size(&p->shapes[i]);
    const size_t sizes[7] = {p->n_consts * sizeof(mwl_value),
                             p->n_paths * sizeof(mwl__linked_path),
                             n_keys * sizeof(mwl__linked_key),
                             p->n_shapes * sizeof(mwl__linked_shape),
                             blanks,
                             p->n_env * sizeof(mwl_value),
                             p->n_code * sizeof(mwl__ins) + p->n_consts * sizeof(uint32_t)};
    size_t at = (sizeof(mwl__linked) + 15u) & ~(size_t)15u;
    for (int i = 0; i < 7; i++) {
        part[i] = block ? block + at : NULL;
        at += (sizes[i] + 15u) & ~(size_t)15u;
    }
    return at;
}

mwl__linked *mwl__linked_new(mwl_heap *h, const mwl_program *program, mwl__slot_fn *slot) {
    const mwl_program *p = program;
    void *part[7];
    size_t size = lay_out(p, NULL, part);
    mwl__linked *l = mwl__mem_zero(&h->alloc, 1, size);
    if (!l) return NULL;
    (void)lay_out(p, (char *)l, part);
    l->program = mwl__program_keep((mwl_program *)(uintptr_t)p);
    l->size = size;
    l->in_frames = slot != NULL;
    mwl_value *consts = part[0];
    mwl__ins *code = part[6];
    if (p->n_consts) memcpy(consts, p->consts, p->n_consts * sizeof *consts);
    if (p->n_code) memcpy(code, p->code, p->n_code * sizeof *code);
    own_names(h, p, consts);
    l->consts = consts;
    l->code = code;
    l->paths = part[1];
    l->shapes = part[3];
    l->env = part[5];
    l->seen = (uint32_t *)(void *)(code + p->n_code);
    fill_paths(l, part[1], part[2], slot);
    fill_shapes(l, part[3], part[4]);
    rewrite(l, code);
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

static bool same_instruction(const mwl__linked *l, uint32_t pc) {
    const mwl__ins a = l->code[pc], b = l->program->code[pc];
    if (a.a != b.a || a.b != b.b || a.c != b.c) return false;
    if (a.op < MWL_OP_COUNT) return a.op == b.op;
    return a.op < MWL_OP_ALL && begins(l->program, pc, &rows[a.op - MWL_OP_COUNT]) &&
           suits(l, pc, a.op);
}

static bool same_path(const mwl__linked *l, uint32_t i) {
    const mwl_program *p = l->program;
    const mwl__path_rec *rec = &p->paths[i];
    const mwl__linked_path *path = &l->paths[i];
    if (path->n_keys != rec->n_keys) return false;
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
    if (shape->n_keys != rec->n_keys || (shape->blank != NULL) != is_small(rec)) return false;
    for (uint32_t k = 0; shape->blank && k < rec->n_keys; k++)
        if (!same_constant(shape->blank->member[k].key, p->consts[p->keys[rec->first_key + k]]))
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
