/* cel.c: expressions outside a Flow. See cel.h. */
#include "assembler/cel/cel.h"

#include "assembler/cel/cel_lower.h"
#include "vm/machine/exec.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const type_names[] = {
    "bool",   "bytes", "double", "int",           "list",   "map",      "null_type",
    "string", "type",  "uint",   "optional_type", "net.IP", "net.CIDR",
};

/* The messages that can be written as literals; Timestamp and Duration are types of values too. */
static const char *const message_names[] = {
    "Any",        "BoolValue",  "BytesValue",  "DoubleValue", "Duration",
    "FloatValue", "Int32Value", "Int64Value",  "ListValue",   "StringValue",
    "Struct",     "Timestamp",  "UInt32Value", "UInt64Value", "Value",
};

static bool is_one_of(const char *const *names, size_t n, const char *name, size_t len) {
    for (size_t i = 0; i < n; i++)
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) return true;
    return false;
}
#define COUNT(a) (sizeof(a) / sizeof *(a))

bool mwl__cel_is_message(void *ctx, const char *name, size_t len) {
    static const char prefix[] = "google.protobuf.";
    const size_t n = sizeof prefix - 1;
    (void)ctx;
    return len > n && memcmp(name, prefix, n) == 0 &&
           is_one_of(message_names, COUNT(message_names), name + n, len - n);
}

unsigned mwl__cel_standard_name(const mwl__functions *functions, const char *name, size_t len,
                                mwl__cel_lit *lit) {
    static const char null_value[] = "google.protobuf.NullValue.NULL_VALUE";
    unsigned is = 0;
    if (is_one_of(type_names, COUNT(type_names), name, len) || mwl__cel_is_message(NULL, name, len))
        is |= MWL__CEL_NAME_TYPE;
    if (functions && (mwl__functions_styles(functions, name, len) & MWL_FN_GLOBAL))
        is |= MWL__CEL_NAME_FUNCTION;
    if (len == sizeof null_value - 1 && memcmp(name, null_value, len) == 0) {
        is |= MWL__CEL_NAME_CONST;
        if (lit) {
            lit->kind = MWL__CEL_INT;
            lit->as.i = 0;
        }
    }
    return is;
}

static const char *pattern_fault(void *ctx, const char *pattern, size_t len) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl__regex *re = NULL;
    mwl_error error = {MWL_OK, NULL, 0};
    (void)ctx;
    mwl_status status = mwl__regex_compile(&alloc, pattern, len, 0, NULL, &re, &error);
    mwl__regex_free(re);
    if (status == MWL_OK || status == MWL_E_NOMEM) return NULL;
    return error.message ? error.message : mwl_status_text(status);
}

/* ---- compiling ------------------------------------------------------------------------------- */

#define MARK 128u /* bytes between positions that are stored */
typedef struct place {
    uint32_t line, column;
} place;

typedef struct compiler {
    const mwl__cel_env *env;
    const char *text;
    size_t len;
    place *marks; /* the position of every MARK-th byte */
} compiler;

static bool find_variable(const compiler *c, const char *name, size_t len, unsigned *slot) {
    for (size_t i = 0; i < c->env->n_vars; i++)
        if (strlen(c->env->vars[i]) == len && memcmp(c->env->vars[i], name, len) == 0) {
            *slot = (unsigned)i;
            return true;
        }
    return false;
}

static unsigned lookup(void *ctx, const char *name, size_t len, mwl__cel_lit *lit) {
    const compiler *c = ctx;
    unsigned slot, is = mwl__cel_standard_name(c->env->functions, name, len, lit);
    return find_variable(c, name, len, &slot) ? is | MWL__CEL_NAME_VARIABLE : is;
}

static bool resolve(void *ctx, const mwl__cel_node *variable, const mwl__cel_text *members,
                    size_t n_members, unsigned *base, size_t *used) {
    unsigned slot;
    (void)members;
    (void)n_members;
    if (!find_variable(ctx, variable->name.data, variable->name.len, &slot)) return false;
    *base = MWL_BASE_ENV + slot;
    *used = 0;
    return true;
}

static bool is_lead(char c) { return ((unsigned char)c & 0xc0u) != 0x80u; }

/* Steps over one byte. */
static void count(place *p, char c) {
    if (c == '\n') {
        p->line++;
        p->column = 1;
    } else if (is_lead(c)) {
        p->column++;
    }
}

static bool mark_places(compiler *c, mwl__arena *arena) {
    place p = {1, 1};
    c->marks = mwl__arena_new(arena, (c->len / MARK + 1) * sizeof *c->marks);
    if (!c->marks) return false;
    for (size_t i = 0; i <= c->len; i++) {
        if (i % MARK == 0) c->marks[i / MARK] = p;
        if (i < c->len) count(&p, c->text[i]);
    }
    return true;
}

static mwl__where where(void *ctx, uint32_t begin, uint32_t end, uint32_t at) {
    const compiler *c = ctx;
    if (at > c->len) at = (uint32_t)c->len;
    place p = c->marks[at / MARK];
    for (uint32_t i = at - at % MARK; i < at; i++) count(&p, c->text[i]);
    mwl__where w = {p.line, p.column, begin, end - begin};
    return w;
}

static mwl_status check(const compiler *c, mwl__arena *arena, const mwl__cel_tree *tree) {
    const mwl__cel_env *env = c->env;
    mwl__cel_root *roots = mwl__arena_new(arena, (env->n_vars + 1) * sizeof *roots);
    if (!roots) return MWL_E_NOMEM;
    for (size_t i = 0; i < env->n_vars; i++) roots[i].name = env->vars[i];
    const mwl__cel_check_options options = {
        .arena = arena,
        .roots = roots,
        .n_roots = env->n_vars,
        .functions = env->functions ? env->functions->defs : NULL,
        .n_functions = env->functions ? env->functions->n_defs : 0,
        .is_message = mwl__cel_is_message,
        .pattern_fault = pattern_fault,
        .function_words = env->function_words,
        .name_words = env->name_words,
        .sink = env->sink,
    };
    return mwl__cel_check(tree, &options);
}

/* Makes an image from the instructions, the tables and the source text. */
static mwl_status make_image(compiler *c, const mwl_alloc *alloc, const mwl__cel_tree *tree,
                             mwl__buf *out) {
    mwl__emit *emit = mwl__emit_new(alloc);
    if (!emit) return MWL_E_NOMEM;
    const mwl__cel_lowering options = {
        .alloc = alloc,
        .emit = emit,
        .functions = c->env->functions,
        .resolve = resolve,
        .where = where,
        .ctx = c,
        .dest = 0,
        .first = 1,
        .sink = c->env->sink,
    };
    mwl_status status = mwl__cel_lower(&options, tree);
    if (status == MWL_OK) {
        const mwl__cel_node *root = tree->root;
        if (c->env->as_data)
            mwl__emit_where(emit, mwl__emit_abc(emit, MWL_OP_DATA, 0, 0, 0), 0,
                            where(c, root->begin, root->end, root->begin));
        mwl__emit_abc(emit, MWL_OP_END, 0, 0, 0);
        mwl__emit_source(emit, c->text, c->len);
        status = mwl__emit_finish(emit, 0, out);
    }
    mwl__emit_free(emit);
    return status;
}

static mwl_status load(const mwl__cel_env *env, const mwl__buf *image, mwl__cel_code *out) {
    mwl_status status =
        mwl__program_load(&out->alloc, image->data, image->len, true, &out->program, NULL);
    if (status != MWL_OK) return status;
    const char *missing = NULL;
    status =
        mwl__functions_link(env->functions, &out->alloc, out->program, &out->functions, &missing);
    if (status == MWL_OK) return status;
    if (missing && env->sink.report) {
        const mwl__cel_problem problem = {.severity = MWL__CEL_ERROR,
                                          .message = "unknown function",
                                          .note = missing,
                                          .why = MWL__CEL_WHY_FUNCTION};
        env->sink.report(env->sink.ctx, &problem);
    }
    mwl__program_release(out->program);
    out->program = NULL;
    return status;
}

mwl_status mwl__cel_compile(const mwl__cel_env *env, const char *text, size_t len,
                            mwl__cel_code *out) {
    mwl_alloc alloc = env->alloc ? *env->alloc : mwl_alloc_default();
    mwl__arena arena = mwl__arena_make(alloc);
    mwl__buf image = mwl__buf_make(alloc);
    compiler c = {env, text, len, NULL};
    mwl__cel_tree tree;
    memset(out, 0, sizeof *out);
    out->alloc = alloc;
    const mwl__cel_options parse = {
        .arena = &arena,
        .source = text,
        .len = len,
        .no_macros = env->no_macros,
        .macros = env->macros,
        .sink = env->sink,
    };
    const mwl__cel_names names = {lookup, &c, env->container};
    mwl_status status = mwl__cel_parse(&parse, &tree);
    if (status == MWL_OK) status = mwl__cel_resolve(&arena, &tree, &names);
    if (status == MWL_OK && !env->no_check) status = check(&c, &arena, &tree);
    if (status == MWL_OK && !mark_places(&c, &arena)) status = MWL_E_NOMEM;
    if (status == MWL_OK) status = make_image(&c, &alloc, &tree, &image);
    if (status == MWL_OK) status = load(env, &image, out);
    mwl__buf_free(&image);
    mwl__arena_free(&arena);
    return status;
}

void mwl__cel_free(mwl__cel_code *code) {
    if (code->program)
        mwl__mem_free(&code->alloc, code->functions,
                      code->program->n_funcs * sizeof *code->functions);
    mwl__program_release(code->program);
    memset(code, 0, sizeof *code);
}

/* ---- evaluating ------------------------------------------------------------------------------ */

mwl__outcome mwl__cel_resume(mwl__exec *x, mwl_value *out) {
    mwl__outcome outcome = mwl__exec_run(x);
    if (outcome == MWL_EXEC_END) {
        mwl__move(out, &x->product);
        x->product.tag = MWL_KIND_ABSENT;
    }
    if (outcome != MWL_EXEC_YIELD) mwl__exec_clear(x, x->program->n_regs);
    return outcome;
}

mwl__outcome mwl__cel_eval(const mwl__cel_code *code, mwl__exec *x, const mwl_value *values,
                           size_t n_values, mwl_value *out) {
    x->program = code->program;
    x->functions = code->functions;
    x->env = values;
    x->n_env = (uint32_t)n_values;
    x->pc = 0;
    if (mwl__exec_reserve(x, code->program->n_regs) != MWL_OK ||
        mwl__exec_link(x, mwl__exec_labels) != MWL_OK)
        return MWL_EXEC_NOMEM;
    return mwl__cel_resume(x, out);
}
