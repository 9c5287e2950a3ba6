/* lower_impl.h: what the files of the lowering share. */
#ifndef MWL_LOWER_IMPL_H
#define MWL_LOWER_IMPL_H

#include "assembler/cel/cel_lower.h"
#include "assembler/check/model.h"
#include "assembler/emit/emit.h"

/* A literal with at most this many elements has a register for each. A longer one is built element
 * by element. */
#define MWL__LOWER_SPREAD 32u
/* Rows of registers end here. What is nested deeper is built element by element, with two registers
 * for each level. The reader limits the levels, so an expression always has at least MWL_REGS_LIMIT
 * / 4 registers. */
#define MWL__LOWER_ROWS (MWL_REGS_LIMIT / 2)

/* The instruction that faults of a construct lead to. It is behind the construct's code, and is
 * written only if it is used. */
typedef struct mwl__lower_stub {
    mwl__op op;
    uint32_t x;
    const mwl__node *node;
    uint32_t pc; /* MWL_NONE until emitted */
    bool used;
} mwl__lower_stub;

typedef struct mwl__lower_guard {
    uint32_t begin, end, stub;
} mwl__lower_guard;

/* A structural call whose code is not written yet. */
typedef struct mwl__lower_later {
    mwl__m_entry *entry;
    unsigned phase;
    mwl__m_step *step; /* around it, or NULL at Flow level */
} mwl__lower_later;

/* The constructs around the expression that is being lowered: it can read their records, and now()
 * is the entry instant of one of them. */
typedef struct mwl__lower_site {
    mwl__m_flow *flow;
    mwl__m_step *step;
    mwl__m_entry *entry;
    unsigned phase;
    mwl__m_call *call;
    uint32_t gather; /* of the Step, or NONE */
} mwl__lower_site;

typedef struct mwl__lowerer {
    mwl__model *model;
    const mwl__functions *functions;
    mwl__emit *e;
    mwl_alloc alloc;
    mwl_heap heap;     /* of constants until they are emitted */
    mwl_status status; /* E_REJECTED or E_NOMEM; the emitter has its own */
    unsigned top;      /* the first free register */
    mwl__lower_site site;
    const mwl__m_expr *expr; /* being lowered */
    mwl__m_flow **flows;     /* by ix, in the order they were found */
    size_t n_flows, cap_flows;
    const mwl__contract **imports;
    size_t n_imports, cap_imports;
    mwl__lower_stub *stubs;
    size_t n_stubs, cap_stubs;
    mwl__lower_guard *guards;
    size_t n_guards, cap_guards;
    mwl__lower_later *later;
    size_t n_later, cap_later;
} mwl__lowerer;

/* lower.c */
bool mwl__lower_room(mwl__lowerer *l, void *array, size_t *cap, size_t need, size_t size);
void mwl__lower_fail(mwl__lowerer *l, mwl_status why);
/* Reports at the node that something is too large, and fails. */
void mwl__lower_too_big(mwl__lowerer *l, const mwl__node *n, const char *message);
uint32_t mwl__lower_ax(mwl__lowerer *l, const mwl__node *n, mwl__op op, unsigned a, uint32_t x);
uint32_t mwl__lower_abc(mwl__lowerer *l, const mwl__node *n, mwl__op op, unsigned a, unsigned b,
                        unsigned c);
static inline uint32_t mwl__lower_here(const mwl__lowerer *l) { return mwl__emit_here(l->e); }
/* Sends the faults of [begin, here) to a stub, if an instruction there can fault. */
uint32_t mwl__lower_stub_new(mwl__lowerer *l, const mwl__node *n, mwl__op op, uint32_t x);
void mwl__lower_guard_from(mwl__lowerer *l, uint32_t begin, uint32_t stub);
void mwl__lower_flush(mwl__lowerer *l); /* writes the stubs; control must not continue here */
uint32_t mwl__lower_import(mwl__lowerer *l, const mwl__contract *c, const mwl__node *user);
uint32_t mwl__lower_flow_ix(mwl__lowerer *l, mwl__m_flow *flow);
uint32_t mwl__lower_name(mwl__lowerer *l, const mwl__node *member); /* its key as a constant */
/* Returns a record that was added before; NULL only if the emitter has failed. */
#define mwl__lower_rec(l, section, type, ix)                                                       \
    ((type *)mwl__emit_record_at((l)->e, MWL_SECTION_##section, ix, sizeof(type)))

/* lower_value.c: values into registers. d is below top. */
void mwl__lower_value(mwl__lowerer *l, const mwl__node *n, unsigned d);
/* Writes code for the value, and the instruction that takes it: OUT, CALL_INPUT ... */
void mwl__lower_field(mwl__lowerer *l, const mwl__node *n, mwl__op op);
/* Writes code for a condition, without conversion to data, and the jump that tests it. Returns the
 * pc of the jump; the caller sets its target. */
uint32_t mwl__lower_condition(mwl__lowerer *l, const mwl__node *n, mwl__op jump);
uint32_t mwl__lower_const(mwl__lowerer *l, const mwl__node *n); /* a subtree without expressions */
/* Writes code for the members of an object, in a row of registers from *first on, and makes a shape
 * of their keys. Members in `skip` are left out (NULL-terminated; NULL: none). Returns false if the
 * object is too large, which is reported. The caller frees the registers by restoring top. */
bool mwl__lower_row(mwl__lowerer *l, const mwl__node *object, const char *const *skip,
                    unsigned *first, uint32_t *shape);
void mwl__lower_assign(mwl__lowerer *l, const mwl__node *assign); /* NULL or {}: nothing */
/* Returns 1 if a condition is literally true, 0 if it is literally false, else -1. */
int mwl__lower_known(const mwl__lowerer *l, const mwl__node *n);

/* lower_scope.c: names and what they reach. */
bool mwl__lower_resolve(void *ctx, const mwl__cel_node *variable, const mwl__cel_text *members,
                        size_t n_members, unsigned *base, size_t *used);
mwl__where mwl__lower_where(void *ctx, uint32_t begin, uint32_t end, uint32_t at);
mwl__where mwl__lower_node_where(const mwl__lowerer *l, const mwl__node *n);
/* Mark what the expression, or every expression in the subtree (may be NULL), can read. */
void mwl__lower_reach(mwl__lowerer *l, const mwl__m_expr *x);
void mwl__lower_reach_all(mwl__lowerer *l, const mwl__node *n);

/* lower_entry.c */
void mwl__lower_descent(mwl__lowerer *l, mwl__m_entry **stack, uint32_t n, bool around_call);
void mwl__lower_ascent(mwl__lowerer *l, mwl__m_entry **stack, uint32_t n);
void mwl__lower_structural(mwl__lowerer *l); /* the code of the structural calls that wait */

/* lower_call.c */
uint32_t mwl__lower_call_new(mwl__lowerer *l, mwl__m_call *c, uint32_t gather); /* its record */
/* rises: the ascent of an entry follows. */
void mwl__lower_call(mwl__lowerer *l, mwl__m_call *c, bool rises);
void mwl__lower_gather(mwl__lowerer *l, mwl__m_step *s, uint32_t fault);

/* lower_step.c */
void mwl__lower_step(mwl__lowerer *l, mwl__m_step *s);

#endif
