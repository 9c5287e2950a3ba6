/* asm.c: the assembler's public face: read, check, lower, emit; diagnostics as text. See mwl_asm.h.
 */
#include "mwl_asm.h"
#include "mwl_config.h"
#include "mwl_std.h"

#include "assembler/lower/lower.h"
#include "assembler/provider/provide.h"
#include "vm/base/host_struct.h"
#include "vm/cel/cel_lib.h"
#include "vm/program/pack.h"

/* The host's allocator, as far as the limit allows. */
typedef struct account {
    mwl_alloc inner;
    size_t used, limit;
    bool refused;
} account;

/* Everything that one assembly holds. */
typedef struct job {
    const mwl_asm_options *options;
    const mwl__offer *offer; /* of the VM that it is for, or NULL */
    account account;
    mwl_alloc alloc; /* through the account */
    mwl__diags sink;
    mwl__catalog *catalog;
    mwl__source *sources; /* of the providers' documents */
    mwl__functions functions;
    mwl__source source;
    mwl__tree tree;
    mwl__model model;
} job;

static void *take(void *ctx, void *p, size_t old_size, size_t new_size) {
    account *a = ctx;
    if (new_size > old_size && new_size - old_size > a->limit - a->used) {
        a->refused = true;
        return NULL;
    }
    void *block = a->inner.fn(a->inner.ctx, p, old_size, new_size);
    if (block || new_size == 0) a->used = a->used - old_size + new_size;
    return block;
}

static mwl_status set_levels(job *j) {
    const char *const *name;
    mwl_status status = MWL_OK;
    for (name = j->options->allow; name && *name && status == MWL_OK; name++)
        status = mwl__diags_allow(&j->sink, *name);
    for (name = j->options->deny; name && *name && status == MWL_OK; name++)
        status = mwl__diags_deny(&j->sink, *name);
    return status == MWL_E_NOT_FOUND ? MWL_E_USAGE : status;
}

static mwl_status collect_functions(job *j) {
    mwl_status status = MWL_OK;
    const mwl_function_def *table;
    const mwl_function_def *const *own = j->options->functions;
    size_t n = 0, n_offered = j->offer ? j->offer->n_functions : 0;
    for (size_t i = 0; status == MWL_OK && i < n_offered; i++)
        status = mwl__functions_add(&j->functions, j->offer->functions[i], 1);
    for (size_t i = 0; !j->offer && status == MWL_OK && (table = mwl__cel_table(i, &n)); i++)
        status = mwl__functions_add(&j->functions, table, n);
    for (size_t i = 0; !j->offer && status == MWL_OK && (table = mwl_std_functions(i, &n)); i++)
        status = mwl__functions_add(&j->functions, table, n);
    for (; status == MWL_OK && own && *own; own++)
        status = mwl__functions_add(&j->functions, *own, 1);
    return status;
}

/* Documents that are refused do not keep the definition from being looked at. */
static mwl_status collect_providers(job *j) {
    size_t n = j->options->n_providers;
    mwl_status status = MWL_OK;
    j->catalog = mwl__catalog_new(&j->alloc);
    if (!j->catalog) return MWL_E_NOMEM;
    status = mwl__catalog_library(j->catalog, j->offer ? j->offer->documents : j->options->library,
                                  &j->sink);
    if (status < 0 || n == 0) return status;
    j->sources = mwl__mem_zero(&j->alloc, n, sizeof *j->sources);
    if (!j->sources) return MWL_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        const mwl_asm_provider *p = &j->options->providers[i];
        mwl_status one = mwl__source_init(&j->sources[i], j->alloc, p->file ? p->file : "provider",
                                          p->text, p->len);
        if (one == MWL_OK) one = mwl__catalog_add(j->catalog, &j->sources[i], &j->sink);
        if (one == MWL_E_NOMEM) return one;
        if (one < 0) status = one;
    }
    return status;
}

static mwl_status emit_image(job *j, mwl_asm_result *out) {
    mwl__emit *emit = mwl__emit_new(&j->alloc);
    if (!emit) return MWL_E_NOMEM;
    mwl__buf image = mwl__buf_make(j->alloc);
    mwl_status status = mwl__lower(&j->model, &j->functions, emit);
    if (status == MWL_OK) { /* the tables have all of it: make room for the image */
        mwl__model_free(&j->model);
        mwl__tree_free(&j->tree);
    }
    if (status == MWL_OK)
        status = mwl__emit_finish(emit, j->options->flags & MWL_ASM_STRIP, &image);
    if (status == MWL_OK && (j->options->flags & MWL_ASM_PACK)) {
        mwl__buf packed = mwl__buf_make(j->alloc);
        status = mwl__pack(image.data, image.len, &packed);
        mwl__buf_free(&image);
        image = packed;
    }
    /* the image alone, in a block of its size */
    if (status == MWL_OK) {
        out->image = mwl__mem_new(&j->alloc, image.len);
        if (!out->image)
            status = MWL_E_NOMEM;
        else
            memcpy(out->image, image.data, out->image_size = image.len);
    }
    mwl__buf_free(&image);
    mwl__emit_free(emit);
    return status;
}

static mwl_status assemble(job *j, const char *definition, size_t len, mwl_asm_result *out) {
    /* of a text that is too large no more is looked at than shows that */
    size_t most = (size_t)j->sink.quota.bytes;
    mwl_status providers = MWL_OK;
    mwl_status status =
        mwl__source_init(&j->source, j->alloc, j->options->file ? j->options->file : "definition",
                         definition, len > most ? most + 1 : len);
    if (status == MWL_OK) status = set_levels(j);
    if (status == MWL_OK) status = collect_functions(j);
    if (status == MWL_OK) providers = collect_providers(j);
    if (providers == MWL_E_NOMEM) return providers;
    if (status == MWL_OK) status = mwl__tree_read(&j->tree, j->alloc, &j->source, &j->sink);
    if (status != MWL_OK && !(status == MWL_E_REJECTED && j->tree.root)) return status;
    mwl_status checked =
        mwl__model_check(&j->model, &j->tree, j->catalog, j->functions.defs, j->functions.n_defs);
    if (status == MWL_OK) status = checked;
    if (status == MWL_OK) status = providers;
    if (status == MWL_OK && j->sink.n_errors > 0) status = MWL_E_REJECTED;
    if (status == MWL_OK && !(j->options->flags & MWL_ASM_CHECK_ONLY)) status = emit_image(j, out);
    return status == MWL_OK ? j->sink.status : status;
}

static void start_sink(job *j) {
    mwl__diags_init(&j->sink, j->alloc);
    mwl__quota *q = &j->sink.quota;
    j->sink.guide = j->options->guide;
    if (j->options->max_bytes) q->bytes = j->options->max_bytes;
    if (q->bytes >= MWL__SOURCE_MAX) q->bytes = MWL__SOURCE_MAX - 1;
    if (j->options->max_work) q->work = q->given = j->options->max_work;
}

/* The limit of memory was reached: free what there is, so that there is room to say so. */
static mwl_status report_memory(job *j) {
    mwl__quota q = j->sink.quota;
    size_t limit = j->account.limit;
    mwl__model_free(&j->model);
    mwl__tree_free(&j->tree);
    mwl__diags_free(&j->sink);
    start_sink(j);
    j->account.limit = SIZE_MAX;
    mwl__source *source = q.source ? q.source : &j->source;
    mwl__diag *d =
        mwl__diag_report(&j->sink, MWL_DIAG_ASSEMBLY_LIMIT, source, mwl__span_make(q.at, q.at),
                         "the memory of the assembler is used up here");
    mwl__diag_note(d, "its limit is %zu bytes", limit);
    mwl__diag_help(d, "split the definition, or allow more memory");
    return d ? MWL_E_REJECTED : MWL_E_NOMEM;
}

/* The sink's words, as a block of their size. */
static mwl_status render(job *j, mwl_asm_result *out) {
    static const mwl__diag_format formats[] = {MWL_DIAG_HUMAN, MWL_DIAG_JSON, MWL_DIAG_SARIF};
    mwl__buf text = mwl__buf_make(j->alloc);
    j->account.limit = SIZE_MAX; /* the number of diagnostics and their length are limited */
    mwl__diags_render(&j->sink, formats[j->options->format], j->options->colour, &text);
    mwl_status status = text.failed ? MWL_E_NOMEM : MWL_OK;
    if (status == MWL_OK) {
        out->diagnostics = mwl__mem_new(&j->alloc, text.len + 1);
        if (!out->diagnostics) status = MWL_E_NOMEM;
    }
    if (status == MWL_OK) {
        if (text.len) memcpy(out->diagnostics, text.data, text.len);
        out->diagnostics[out->diagnostics_len = text.len] = '\0';
    }
    mwl__buf_free(&text);
    return status;
}

static void release(job *j) {
    mwl__model_free(&j->model);
    mwl__tree_free(&j->tree);
    mwl__source_free(&j->source);
    mwl__catalog_free(j->catalog);
    for (size_t i = 0; j->sources && i < j->options->n_providers; i++)
        mwl__source_free(&j->sources[i]);
    mwl__mem_free(&j->alloc, j->sources, j->options->n_providers * sizeof *j->sources);
    mwl__functions_done(&j->functions);
    mwl__diags_free(&j->sink);
}

static mwl_status run_job(const char *definition, size_t len, const mwl_asm_options *options,
                          const mwl__offer *offer, mwl_asm_result *out) {
    job j;
    memset(&j, 0, sizeof j);
    j.options = options;
    j.offer = offer;
    out->alloc = j.options->alloc.fn ? j.options->alloc : mwl_alloc_default();
    j.account.inner = out->alloc;
    j.account.limit = j.options->max_memory ? j.options->max_memory : MWL_ASM_MEMORY;
    j.alloc = (mwl_alloc){take, &j.account};
    j.source.alloc = j.tree.arena.alloc = j.model.arena.alloc = j.alloc;
    start_sink(&j);
    mwl__functions_init(&j.functions, &j.alloc);
    mwl_status status = assemble(&j, definition, len, out);
    if (j.sink.quota.spent) out->limit = MWL_E_FUEL;
    if (status == MWL_E_NOMEM && j.account.refused) {
        status = report_memory(&j);
        out->limit = MWL_E_TOO_BIG;
    }
    mwl_status said = status == MWL_E_NOMEM ? MWL_OK : render(&j, out);
    if (said < 0) status = said;
    out->n_errors = (unsigned)j.sink.n_errors;
    out->n_warnings = (unsigned)j.sink.n_others;
    if (status < 0 && out->image) {
        mwl__mem_free(&j.alloc, out->image, out->image_size);
        out->image = NULL;
        out->image_size = 0;
    }
    release(&j);
    return status;
}

static const mwl__member option_members[] = {
    MWL__MEMBER(mwl_asm_options, alloc),     MWL__MEMBER(mwl_asm_options, file),
    MWL__MEMBER(mwl_asm_options, providers), MWL__MEMBER(mwl_asm_options, n_providers),
    MWL__MEMBER(mwl_asm_options, library),   MWL__MEMBER(mwl_asm_options, functions),
    MWL__MEMBER(mwl_asm_options, allow),     MWL__MEMBER(mwl_asm_options, deny),
    MWL__MEMBER(mwl_asm_options, flags),     MWL__MEMBER(mwl_asm_options, format),
    MWL__MEMBER(mwl_asm_options, colour),    MWL__MEMBER(mwl_asm_options, max_bytes),
    MWL__MEMBER(mwl_asm_options, max_work),  MWL__MEMBER(mwl_asm_options, max_memory),
    MWL__MEMBER(mwl_asm_options, guide),
};
static const mwl__host_struct options_struct = MWL__HOST_STRUCT(mwl_asm_options, option_members);

/* The size of the first version's, which mwl_asm_free writes. */
#define FIRST_RESULT (offsetof(mwl_asm_result, alloc) + sizeof(mwl_alloc))
static const mwl__member result_members[] = {
    MWL__MEMBER(mwl_asm_result, image),       MWL__MEMBER(mwl_asm_result, image_size),
    MWL__MEMBER(mwl_asm_result, diagnostics), MWL__MEMBER(mwl_asm_result, diagnostics_len),
    MWL__MEMBER(mwl_asm_result, n_errors),    MWL__MEMBER(mwl_asm_result, n_warnings),
    MWL__MEMBER(mwl_asm_result, limit),       MWL__MEMBER(mwl_asm_result, alloc),
};
static const mwl__host_struct result_struct = MWL__HOST_STRUCT(mwl_asm_result, result_members);

mwl_status mwl_assemble_sized(const char *definition, size_t len, const mwl_asm_options *options,
                              size_t options_size, mwl_asm_result *out, size_t out_size) {
    mwl_asm_options known;
    mwl_asm_result result;
    if (!out || out_size < FIRST_RESULT || mwl__host_struct_cuts(&result_struct, out_size))
        return MWL_E_USAGE;
    memset(&result, 0, sizeof result);
    memset(out, 0, out_size);
    mwl_status st = mwl__host_struct_read(&known, &options_struct, options, options_size);
    if (st == MWL_OK) st = run_job(definition, len, &known, NULL, &result);
    memcpy(out, &result, out_size < sizeof result ? out_size : sizeof result);
    return st;
}

mwl_status mwl_assemble_for_sized(mwl_vm *vm, const char *definition, size_t len,
                                  const mwl_asm_options *options, size_t options_size,
                                  mwl_program **out) {
    mwl_asm_options known;
    mwl_asm_result result;
    mwl__offer offer;
    mwl_error error = {MWL_OK, "", 0};
    memset(&result, 0, sizeof result);
    mwl_status st = mwl__host_struct_read(&known, &options_struct, options, options_size);
    if (st < 0) return st;
    st = mwl__offer_make(vm, known.library, &offer);
    if (st < 0) return st;
    st = run_job(definition, len, &known, &offer, &result);
    mwl__offer_free(vm, &offer);
    mwl__offer_say(vm, result.diagnostics ? result.diagnostics : mwl_status_text(st));
    if (st == MWL_OK && result.image)
        st = mwl_program_load_within(&result.alloc, result.image, result.image_size, MWL_COPY,
                                     known.max_memory, out, &error);
    if (error.status < 0) mwl__offer_say(vm, error.message);
    mwl_asm_free(&result);
    return st;
}

/* Writes the members of the first version alone: the host's struct may be shorter than ours. */
void mwl_asm_free(mwl_asm_result *result) {
    if (!result || !result->alloc.fn) return;
    mwl__mem_free(&result->alloc, result->image, result->image_size);
    if (result->diagnostics)
        mwl__mem_free(&result->alloc, result->diagnostics, result->diagnostics_len + 1);
    memset(result, 0, FIRST_RESULT);
}
