/* fuzz_check.c: definitions. Any text is read and checked as a definition and as a provider
 * document. The diagnostics can be rendered in every form, and every reference in the model of an
 * accepted definition has a target. */
#include "assembler/check/model.h"
#include "tools/base/tool_functions.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition) {
    if (!condition) abort();
}

static void walk(const mwl__model *m) {
    for (uint32_t i = 0; i < m->n_flows; i++) {
        const mwl__m_flow *f = m->flows[i];
        must(f->entrypoint && f->n_steps > 0);
        for (uint32_t k = 0; k < f->n_steps; k++) {
            const mwl__m_step *s = f->steps[k];
            bool ends = s->action == MWL_ACTION_RETURN || s->action == MWL_ACTION_RAISE;
            must(ends || s->action == MWL_ACTION_MATCH || s->next);
            for (uint32_t j = 0; j < s->n_clauses; j++) must(s->clauses[j].next != NULL);
            for (uint32_t j = 0; j < s->n_catches; j++) must(s->catches[j].next != NULL);
            for (uint32_t j = 0; j < s->n_calls; j++)
                must((s->calls[j]->provider == NULL) != (s->calls[j]->flow == NULL));
            for (uint32_t j = 0; j < s->n_stack; j++) must(s->stack[j]->provider != NULL);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static mwl__functions functions;
    static mwl__catalog *catalog;
    mwl_alloc alloc = mwl_alloc_default();
    if (!catalog) {
        mwl__functions_init(&functions, NULL);
        must(tool_add_functions(&functions) == MWL_OK);
        catalog = mwl__catalog_new(&alloc);
    }
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    mwl__model model;
    mwl__diags_init(&sink, alloc);
    must(mwl__source_init(&source, alloc, "fuzz", (const char *)data, size) == MWL_OK);
    mwl_status status = mwl__tree_read(&tree, alloc, &source, &sink);
    if (tree.root) {
        mwl_status checked =
            mwl__model_check(&model, &tree, catalog, functions.defs, functions.n_defs);
        must((checked == MWL_OK && status == MWL_OK) == (sink.n_errors == 0));
        if (checked == MWL_OK && status == MWL_OK) walk(&model);
        mwl__model_free(&model);
    }
    mwl__tree_free(&tree);
    (void)mwl__catalog_judge(catalog, &source, &sink);
    for (int format = 0; format < 3; format++) {
        mwl__buf out = mwl__buf_make(alloc);
        mwl__diags_render(&sink, (mwl__diag_format)format, format == 0, &out);
        must(!out.failed);
        mwl__buf_free(&out);
    }
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    return 0;
}
