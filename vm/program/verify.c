/* verify.c: see verify.h. The checks of operands come from the opcode table, so a new row is
 * checked without a change here. */
#include "vm/program/verify.h"

#include "vm/value/temporal.h"

#define REFUSE(message, at) return mwl__image_refuse(&p->image, error, MWL_E_IMAGE, message, at)

/* ---- constants ------------------------------------------------------------------------------- */

static const mwl__const_rec *const_records(const mwl_program *p) {
    return p->image.section[MWL_SECTION_CONSTS].data;
}

static bool is_key_kind(uint32_t kind) {
    return kind == MWL_KIND_STRING || kind == MWL_KIND_INT || kind == MWL_KIND_UINT ||
           kind == MWL_KIND_BOOL;
}

static mwl_status check_tree(const mwl_program *p, uint32_t k, size_t *next, mwl_error *error) {
    const mwl__const_rec *recs = const_records(p), *rec = &recs[k];
    const uint32_t *words = p->image.section[MWL_SECTION_TREES].data;
    size_t n_words = p->image.section[MWL_SECTION_TREES].size / sizeof *words;
    bool object = rec->kind == MWL_KIND_OBJECT;
    if (rec->payload != *next || *next >= n_words)
        REFUSE("a container is not where it must be", rec);
    const uint32_t *list = words + *next;
    uint64_t n = object ? (uint64_t)*list * 2 : *list;
    if (n > n_words - *next - 1) REFUSE("a container's length does not fit", list);
    for (uint32_t i = 1; i <= n; i++) {
        if (list[i] >= k) REFUSE("a container holds a constant that is not before it", &list[i]);
        if (object && i % 2 && !is_key_kind(recs[list[i]].kind))
            REFUSE("an object's key is not a string, int, uint or bool", &list[i]);
    }
    *next += 1 + (size_t)n;
    return MWL_OK;
}

static mwl_status check_scalar(const mwl_program *p, const mwl__const_rec *rec, mwl_error *error) {
    switch (rec->kind) {
    case MWL_KIND_NULL:
        if (rec->payload != 0) REFUSE("a null with a payload", rec);
        return MWL_OK;
    case MWL_KIND_BOOL:
        if (rec->payload > 1) REFUSE("a boolean is neither true nor false", rec);
        return MWL_OK;
    case MWL_KIND_NUMBER:
    case MWL_KIND_INT:
    case MWL_KIND_UINT:
    case MWL_KIND_DURATION: return MWL_OK;
    case MWL_KIND_TIMESTAMP: {
        mwl__instant t = {(int64_t)rec->payload, rec->aux};
        if (!mwl__temporal_in_range(t)) REFUSE("a timestamp is out of range", rec);
        return MWL_OK;
    }
    default: REFUSE("a constant of an unknown kind", rec);
    }
}

mwl_status mwl__verify_consts(const mwl_program *p, mwl_error *error) {
    const mwl__const_rec *recs = const_records(p);
    uint64_t next_string = 0;
    size_t next_tree = 0;
    for (uint32_t k = 0; k < p->n_consts; k++) {
        const mwl__const_rec *rec = &recs[k];
        if (rec->aux && rec->kind != MWL_KIND_TIMESTAMP) REFUSE("a reserved field is used", rec);
        mwl_status status;
        switch (rec->kind) {
        case MWL_KIND_STRING:
        case MWL_KIND_BYTES:
        case MWL_KIND_TYPE:
            if (rec->payload != next_string) REFUSE("a string is not where it must be", rec);
            status = mwl__image_string(&p->image, next_string, rec->kind != MWL_KIND_BYTES,
                                       &next_string, error);
            break;
        case MWL_KIND_ARRAY:
        case MWL_KIND_OBJECT: status = check_tree(p, k, &next_tree, error); break;
        default: status = check_scalar(p, rec, error); break;
        }
        if (status < 0) return status;
    }
    if (next_string != p->image.section[MWL_SECTION_STRINGS].size)
        REFUSE("strings that belong to no constant", p->image.section[MWL_SECTION_STRINGS].data);
    if (next_tree * sizeof(uint32_t) != p->image.section[MWL_SECTION_TREES].size)
        REFUSE("lists that belong to no constant", p->image.section[MWL_SECTION_TREES].data);
    return MWL_OK;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool is_string(const mwl_program *p, uint32_t k) {
    return k < p->n_consts && mwl_value_kind(p->consts[k]) == MWL_KIND_STRING;
}

/* A run in KEYS of string constants, after the last one of the same table. */
static bool key_run(const mwl_program *p, uint32_t first, uint32_t n, uint32_t *last_end) {
    if (first < *last_end || first > p->n_keys || n > p->n_keys - first) return false;
    *last_end = first + n;
    for (uint32_t i = first; i < first + n; i++)
        if (!is_string(p, p->keys[i])) return false;
    return true;
}

/* Does a shape have each key once? Texts are compared, because a hostile image can have one text as
 * two constants. */
static mwl_status distinct(mwl_program *p, const mwl__shape_rec *shape, mwl_error *error) {
    mwl_value map = mwl__map_new(&p->trees, shape->n_keys);
    for (uint32_t i = 0; i < shape->n_keys; i++)
        map = mwl__map_put(&p->trees, map, p->consts[p->keys[shape->first_key + i]], mwl_null());
    if (mwl_is_absent(map))
        return mwl__image_refuse(&p->image, error,
                                 p->trees.why == MWL_E_NOMEM ? MWL_E_NOMEM : MWL_E_IMAGE,
                                 mwl_status_text(p->trees.why), shape);
    bool all = map.aux == shape->n_keys;
    mwl__drop(&p->trees, map);
    if (!all) REFUSE("a shape has a key twice", shape);
    return MWL_OK;
}

mwl_status mwl__verify_tables(mwl_program *p, mwl_error *error) {
    uint32_t end = 0;
    p->n_env = 0;
    for (uint32_t i = 0; i < p->n_paths; i++) {
        const mwl__path_rec *path = &p->paths[i];
        if (path->base >= MWL_BASE_COUNT && path->base < MWL_BASE_ENV)
            REFUSE("a path begins with an unknown base", path);
        if (path->base >= MWL_BASE_ENV && path->base - MWL_BASE_ENV >= (int)p->n_env)
            p->n_env = (uint32_t)path->base - MWL_BASE_ENV + 1;
        if (!key_run(p, path->first_key, path->n_keys, &end))
            REFUSE("a path's keys are not a run of strings after the last path's", path);
    }
    end = 0;
    for (uint32_t i = 0; i < p->n_shapes; i++) {
        const mwl__shape_rec *shape = &p->shapes[i];
        if (!key_run(p, shape->first_key, shape->n_keys, &end))
            REFUSE("a shape's keys are not a run of strings after the last shape's", shape);
        mwl_status status = distinct(p, shape, error);
        if (status < 0) return status;
    }
    for (uint32_t i = 0; i < p->n_funcs; i++) {
        const mwl__func_rec *f = &p->funcs[i];
        if (!is_string(p, f->name_k)) REFUSE("a function's name is not a string", f);
        if (f->member > 1 || (f->member && f->n_args == 0))
            REFUSE("a function's call style is unknown or lacks a receiver", f);
    }
    const uint32_t *patterns = p->image.section[MWL_SECTION_REGEXES].data;
    for (uint32_t i = 0; i < p->n_regexes; i++)
        if (!is_string(p, patterns[i])) REFUSE("a pattern is not a string", &patterns[i]);
    return MWL_OK;
}

/* ---- code ------------------------------------------------------------------------------------ */

uint32_t mwl__verify_bound(const mwl_program *p, unsigned kind) {
    switch ((mwl__operand)kind) {
    case MWL_OPERAND_NONE: return 1;
    case MWL_OPERAND_REG:
    case MWL_OPERAND_OUT:
    case MWL_OPERAND_INOUT:
    case MWL_OPERAND_TAKEN:
    case MWL_OPERAND_REGS:
    case MWL_OPERAND_TAKENS:
    case MWL_OPERAND_ITER: return p->n_regs;
    case MWL_OPERAND_IMM:
    case MWL_OPERAND_IMMX: return MWL_NONE;
    case MWL_OPERAND_K:
    case MWL_OPERAND_KEY:
    case MWL_OPERAND_KX: return p->n_consts;
    case MWL_OPERAND_FN: return p->n_funcs;
    case MWL_OPERAND_SHAPE: return p->n_shapes;
    case MWL_OPERAND_PHASE: return MWL_ON_ALWAYS + 1;
    case MWL_OPERAND_PATHX: return p->n_paths;
    case MWL_OPERAND_JUMPX: return p->n_code;
    case MWL_OPERAND_REGEXX: return p->n_regexes;
    case MWL_OPERAND_FLOWX: return p->tables.n_flows;
    case MWL_OPERAND_STEPX: return p->tables.n_steps;
    case MWL_OPERAND_ENTRYX: return p->tables.n_entries;
    case MWL_OPERAND_CALLX: return p->tables.n_calls;
    case MWL_OPERAND_GATHERX: return p->tables.n_gathers;
    case MWL_OPERAND_COUNT: break;
    }
    return 0;
}

static const char *const operand_messages[] = {
#define X(name, letter, n_regs, use, bound) "operand " #name " is not as it must be: " bound,
    MWL_OPERAND_KINDS(X)
#undef X
};

uint32_t mwl__verify_regs_of(const mwl_program *p, mwl__ins ins, int place) {
    const mwl__op_info *info = mwl__op_get(ins.op);
    uint32_t n = info->n_regs[place];
    for (int i = 0; i < 3 && n == MWL_RUN; i++) {
        uint32_t v = mwl__op_operand(ins, i);
        if (info->kind[i] == MWL_OPERAND_SHAPE) return p->shapes[v].n_keys;
        if (info->kind[i] == MWL_OPERAND_FN) return p->funcs[v].n_args;
        if (info->kind[i] == MWL_OPERAND_IMM) return v;
    }
    return n;
}

static mwl_status check_operands(const mwl_program *p, uint32_t pc, mwl_error *error) {
    mwl__ins ins = p->code[pc];
    const mwl__op_info *info = mwl__op_get(ins.op);
    const uint16_t values[3] = {ins.a, ins.b, ins.c};
    for (int i = 0; i < 3; i++) {
        unsigned kind = info->kind[i];
        bool wide = mwl__operand_get(kind)->wide;
        uint32_t v = wide ? mwl__ins_x(ins) : values[i], bound = mwl__verify_bound(p, kind);
        /* a run may be empty and then begin right after the last register */
        bool inside = bound == MWL_NONE || v < bound || (info->n_regs[i] == MWL_RUN && v == bound);
        if (!inside || (kind == MWL_OPERAND_KEY && !is_string(p, v)))
            REFUSE(operand_messages[kind], &p->code[pc]);
        if (wide) break; /* it holds c too */
    }
    return MWL_OK;
}

/* After all opcodes and operands were checked: runs of registers, and arms. */
static mwl_status check_flow_of(const mwl_program *p, uint32_t pc, mwl_error *error) {
    mwl__ins ins = p->code[pc];
    const mwl__op_info *info = mwl__op_get(ins.op);
    for (int i = 0; i < 3; i++)
        if (info->n_regs[i] > 1 &&
            mwl__verify_regs_of(p, ins, i) > p->n_regs - mwl__op_operand(ins, i))
            REFUSE(operand_messages[info->kind[i]], &p->code[pc]);
    if (ins.op == MWL_OP_ARMS) {
        const mwl__call_rec *c = &p->tables.calls[mwl__ins_x(ins)];
        if (c->success_pc == MWL_NONE || c->failure_pc == MWL_NONE)
            REFUSE("a call has no arms to go to", &p->code[pc]);
    }
    return MWL_OK;
}

static mwl_status check_handlers(const mwl_program *p, mwl_error *error) {
    for (uint32_t i = p->n_handlers; i-- > 0;) {
        const mwl__handler_rec *h = &p->handlers[i], *after = h + 1;
        bool last = i + 1 == p->n_handlers;
        if (h->begin >= h->end || h->end > p->n_code || h->target >= p->n_code)
            REFUSE("a handler's range or target is outside the code", h);
        if (h->target < h->end) REFUSE("a handler goes back", h);
        if (h->kind > MWL_HANDLER_SITE || (h->kind == MWL_HANDLER_EXPR && h->reg >= p->n_regs))
            REFUSE("a handler's kind or register is unknown", h);
        if (!last && (h->end > after->end || (h->end == after->end && h->begin < after->begin)))
            REFUSE("handlers are out of order", h);
        uint32_t parent = last ? MWL_NONE : i + 1;
        while (parent != MWL_NONE && p->handlers[parent].begin >= h->end)
            parent = p->handlers[parent].parent;
        if (parent != MWL_NONE && p->handlers[parent].begin > h->begin)
            REFUSE("handler ranges cross", h);
        if (h->parent != parent) REFUSE("a handler's parent is not the one that encloses it", h);
    }
    return MWL_OK;
}

mwl_status mwl__verify_code(const mwl_program *p, mwl_error *error) {
    if (p->image.section[MWL_SECTION_INFO].size > MWL_INFO_WORDS * sizeof(uint32_t))
        REFUSE("words of INFO that are not known", p->image.section[MWL_SECTION_INFO].data);
    if (p->n_regs > MWL_REGS_LIMIT)
        REFUSE("the register count is missing or above the limit", NULL);
    if (p->n_code == 0) REFUSE("a program without code", NULL);
    for (uint32_t pc = 0; pc < p->n_code; pc++) {
        if (!mwl__op_get(p->code[pc].op)) REFUSE("an unknown opcode", &p->code[pc]);
        if (p->code[pc].op >= MWL_OP_MACHINE && p->tables.root_flow == MWL_NONE)
            REFUSE("an expression holds an instruction of the machine", &p->code[pc]);
        mwl_status status = check_operands(p, pc, error);
        if (status < 0) return status;
    }
    for (uint32_t pc = 0; pc < p->n_code; pc++) {
        mwl_status status = check_flow_of(p, pc, error);
        if (status < 0) return status;
    }
    const mwl__ins *last = &p->code[p->n_code - 1];
    if (!(mwl__op_get(last->op)->flags & MWL_OPF_END)) REFUSE("the code runs over its end", last);
    return check_handlers(p, error);
}
