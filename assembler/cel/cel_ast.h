/* cel_ast.h: the tree of a CEL expression, which the parser makes and later stages read.
 *
 * Owns: node kinds, their children and what each field means. Refuses to know: text (cel_lex.c),
 * grammar (cel_parse.c), names of the environment (cel_resolve.c) and bytecode (cel_lower.c).
 *
 * Invariants of a tree that mwl__cel_parse made:
 * - It is a tree: no node is shared, and `parent` and `ix` of every child are right.
 * - All of it, with names and constants, is in one arena; a NUL follows the `len` bytes of a text,
 *   which may contain NUL bytes.
 * - `begin` .. `end` is the node's span in the source, in bytes; parentheses around an expression
 *   do not belong to it. `at` is where a fault of the node points: the operator, the member's name,
 *   the function's name, the bracket.
 * - Macros are expanded: has() is a SELECT with MWL__CEL_TEST, the others have kinds of their own.
 *
 * How to walk a tree without exhausting the C stack: `a + b + c ...`, `x.f().g()[0] ...` and
 * chained macros are left-deep and may have thousands of links. mwl__cel_spine() returns the child
 * that continues such a chain. A walk goes down the spine in a loop and back by `parent`, and
 * recurses only into the other children. So it recurses at most `root->height` times, and the
 * parser's depth limit applies to that. && and || are flat: one node with any number of
 * operands. */
#ifndef MWL_CEL_AST_H
#define MWL_CEL_AST_H

#include "vm/base/mem.h"

/* name, text. The text is the operator, or a word for diagnostics. `kids` of each kind:
 *   LIT            none; `lit`
 *   IDENT          none; `name`, `ref`, `slot`
 *   SELECT         operand; `name` is the field. Flags TEST (has), OPTIONAL (.?)
 *   INDEX          operand, index. Flag OPTIONAL ([?)
 *   CALL           the arguments; `name` is qualified: "size", "math.greatest"
 *   MEMBER         target, the arguments; `name`
 *   NOT NEG        operand
 *   MUL .. IN      left, right
 *   AND OR         two or more operands
 *   COND           condition, then, else
 *   LIST           the elements; flag OPTIONAL: some of them are `optional`
 *   MAP            key, value, key, value ...; flag OPTIONAL: some keys are `optional`
 *   MESSAGE        the fields' values; `name` is the type, `fields[i]` the field of kid i; flag
 *                  OPTIONAL: some values are `optional`
 *   ALL EXISTS EXISTS_ONE FILTER        range, predicate
 *   TRANSFORM_LIST (map, transformList) range, transform; with FILTERED: range, filter, transform
 *   TRANSFORM_MAP                       range, value;     with FILTERED: range, filter, value
 *   TRANSFORM_ENTRY                     range, entry;     with FILTERED: range, filter, entry
 *       All of these bind `vars`: one variable takes an element of a list or a key of a map, two
 *       take index and element, or key and value. The range is outside of their scope.
 *   SORT_BY        list, key; one variable
 *   OPT_MAP OPT_FLAT_MAP                optional, body; one variable
 *   BIND           initialiser, body; one variable
 *   BLOCK          initialisers, then the body; one variable per initialiser, and initialiser i
 *                  sees those before it */
#define MWL__CEL_KIND_LIST(X)                                                                      \
    X(LIT, "literal")                                                                              \
    X(IDENT, "name")                                                                               \
    X(SELECT, "field selection")                                                                   \
    X(INDEX, "[]")                                                                                 \
    X(CALL, "function call")                                                                       \
    X(MEMBER, "member call")                                                                       \
    X(NOT, "!")                                                                                    \
    X(NEG, "-")                                                                                    \
    X(MUL, "*")                                                                                    \
    X(DIV, "/")                                                                                    \
    X(MOD, "%")                                                                                    \
    X(ADD, "+")                                                                                    \
    X(SUB, "-")                                                                                    \
    X(LT, "<")                                                                                     \
    X(LE, "<=")                                                                                    \
    X(GT, ">")                                                                                     \
    X(GE, ">=")                                                                                    \
    X(EQ, "==")                                                                                    \
    X(NE, "!=")                                                                                    \
    X(IN, "in")                                                                                    \
    X(AND, "&&")                                                                                   \
    X(OR, "||")                                                                                    \
    X(COND, "?:")                                                                                  \
    X(LIST, "list")                                                                                \
    X(MAP, "map")                                                                                  \
    X(MESSAGE, "message")                                                                          \
    X(ALL, "all")                                                                                  \
    X(EXISTS, "exists")                                                                            \
    X(EXISTS_ONE, "exists_one")                                                                    \
    X(FILTER, "filter")                                                                            \
    X(TRANSFORM_LIST, "map")                                                                       \
    X(TRANSFORM_MAP, "transformMap")                                                               \
    X(TRANSFORM_ENTRY, "transformMapEntry")                                                        \
    X(SORT_BY, "sortBy")                                                                           \
    X(OPT_MAP, "optMap")                                                                           \
    X(OPT_FLAT_MAP, "optFlatMap")                                                                  \
    X(BIND, "cel.bind")                                                                            \
    X(BLOCK, "cel.block")

typedef enum mwl__cel_kind {
#define MWL_X(name, text) MWL__CEL_##name,
    MWL__CEL_KIND_LIST(MWL_X)
#undef MWL_X
        MWL__CEL_KIND_COUNT
} mwl__cel_kind;

enum {
    MWL__CEL_TEST = 1,     /* SELECT: has(), presence and not the value */
    MWL__CEL_OPTIONAL = 2, /* SELECT, INDEX: `.?`, `[?`; LIST, MAP, MESSAGE: some kid has `?` */
    MWL__CEL_LEADING_DOT =
        4, /* IDENT, CALL, MESSAGE: written as `.name`; only the root scope is searched */
    MWL__CEL_FILTERED = 8, /* TRANSFORM_*: there is a filter between range and transform */
    MWL__CEL_QUOTED = 16   /* SELECT: the field was back-quoted, so it is never part of a name */
};

typedef enum mwl__cel_lit_kind {
    MWL__CEL_NULL,
    MWL__CEL_BOOL,
    MWL__CEL_INT,
    MWL__CEL_UINT,
    MWL__CEL_DOUBLE,
    MWL__CEL_STRING, /* decoded, valid UTF-8 */
    MWL__CEL_BYTES
} mwl__cel_lit_kind;

typedef struct mwl__cel_text {
    const char *data; /* with a NUL after len bytes; never NULL if the kind of the node has one */
    size_t len;
} mwl__cel_text;

typedef struct mwl__cel_lit {
    mwl__cel_lit_kind kind;
    uint32_t len; /* STRING, BYTES */
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double d;
        const char *text; /* STRING, BYTES: like mwl__cel_text.data */
    } as;
} mwl__cel_lit;

static inline mwl__cel_text mwl__cel_lit_text(const mwl__cel_lit *lit) {
    mwl__cel_text t = {lit->as.text, lit->len};
    return t;
}

/* What an IDENT means. The parser decides LOCAL, mwl__cel_resolve the others. */
typedef enum mwl__cel_ref {
    MWL__CEL_REF_NONE,     /* not declared; the checker reports it */
    MWL__CEL_REF_LOCAL,    /* a variable of a macro: `slot` */
    MWL__CEL_REF_VARIABLE, /* a variable of the environment, whose full name is `name` ("a.b.c") */
    MWL__CEL_REF_TYPE      /* a type as a value, whose full name is `name` */
} mwl__cel_ref;

/* A variable that a macro declares. Slots are numbered from 0 and never reused in an expression, so
 * two variables with the same name have different slots. */
typedef struct mwl__cel_var {
    mwl__cel_text name;
    uint32_t begin, end; /* where it is declared */
    uint32_t slot;
    uint32_t n_uses; /* number of IDENTs that mean it; if 0, lowering can leave it out */
} mwl__cel_var;

typedef struct mwl__cel_node mwl__cel_node;
struct mwl__cel_node {
    uint8_t kind;    /* mwl__cel_kind */
    uint8_t flags;   /* MWL__CEL_TEST ... */
    uint8_t ref;     /* IDENT: mwl__cel_ref */
    bool optional;   /* an element, a key or a field's value with `?` before it */
    uint16_t height; /* 1 for a leaf; the links of a spine do not count */
    uint32_t begin, end, at;
    union {
        uint32_t slot;   /* IDENT LOCAL: the variable's slot */
        uint32_t n_vars; /* nodes with kids */
    };
    uint32_t ix; /* its index among the kids of its parent */
    uint32_t n_kids;
    mwl__cel_node *parent; /* NULL for the root */
    mwl__cel_node **kids;
    union {
        mwl__cel_var *vars;    /* n_vars of them */
        mwl__cel_text *fields; /* MESSAGE, which has no vars */
    };
    union {
        mwl__cel_text name;
        mwl__cel_lit lit; /* LIT, which has no name */
    };
    void *note; /* for later stages; the front end leaves it NULL */
};

/* A whole expression. */
typedef struct mwl__cel_tree {
    mwl__cel_node *root;
    uint32_t n_slots; /* total number of local variables; slots are below this */
    uint32_t n_nodes; /* nodes made, with those that macros replaced */
    const char *source;
    size_t len;
} mwl__cel_tree;

static inline bool mwl__cel_is_binary(const mwl__cel_node *n) {
    return n->kind >= MWL__CEL_MUL && n->kind <= MWL__CEL_IN;
}
/* Returns the child that continues a left-deep chain, or NULL. It is always kids[0]. */
static inline mwl__cel_node *mwl__cel_spine(const mwl__cel_node *n) {
    bool chain = mwl__cel_is_binary(n) || n->kind == MWL__CEL_SELECT || n->kind == MWL__CEL_INDEX ||
                 n->kind == MWL__CEL_MEMBER ||
                 (n->kind >= MWL__CEL_ALL && n->kind <= MWL__CEL_OPT_FLAT_MAP);
    return chain ? n->kids[0] : NULL;
}

/* "+", "field selection", ... for diagnostics. */
const char *mwl__cel_kind_text(mwl__cel_kind kind);

#endif
