/* fuzz_read.c: any bytes as a definition. The reader must accept them or report why not. Then the
 * position of every node must be right, and the diagnostics must render in all forms. */
#include "assembler/source/read.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                          \
    if (!(condition)) abort()

static const mwl__node *next_node(const mwl__node *n) {
    if (mwl__node_first(n)) return mwl__node_first(n);
    while (n && !n->next) n = n->parent;
    return n ? n->next : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl__source source;
    if (mwl__source_init(&source, alloc, "fuzz.json", (const char *)data, size) < 0) return 0;
    mwl__diags sink;
    mwl__diags_init(&sink, alloc);
    mwl__tree tree;
    mwl_status status = mwl__tree_read(&tree, alloc, &source, &sink);
    DEMAND(status == MWL_OK ? tree.root != NULL && sink.n_errors == 0 : sink.n_errors > 0);
    for (const mwl__node *n = tree.root; n; n = next_node(n)) {
        DEMAND(n->offset < n->end && n->end <= size);
        if (n->parent) DEMAND(n->offset > n->parent->offset && n->end < n->parent->end);
        if (n->key) DEMAND(mwl__node_find(n->parent, n->key, n->key_len) != NULL);
        if (n->kind == MWL_NODE_STRING)
            for (uint32_t i = 0; i <= n->count && i < 64; i++) {
                uint32_t at = mwl__node_text_offset(&tree, n, i);
                DEMAND(at > n->offset && at < n->end);
            }
        if (tree.n_nodes < 200) (void)mwl__node_report(&tree, n, MWL_DIAG_WRONG_TYPE, "here");
    }
    mwl__buf out = mwl__buf_make(alloc);
    for (int format = MWL_DIAG_HUMAN; format <= MWL_DIAG_SARIF; format++)
        mwl__diags_render(&sink, (mwl__diag_format)format, false, &out);
    DEMAND(!out.failed);
    mwl__buf_free(&out);
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    return 0;
}
