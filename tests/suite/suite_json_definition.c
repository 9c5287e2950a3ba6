/* suite_json_definition.c: the json kind with the reader of definitions (--reader=definition).
 *
 * Definitions demand unique member names, which RFC 8259 only recommends. A text whose only fault
 * is a repeated name is refused by that rule and counts as JSON here; the test checks the
 * reason. */
#include "assembler/source/read.h"
#include "tests/suite/suite_json.h"

static bool only_duplicates(const mwl__diags *sink) {
    if (sink->n_errors != sink->kept_errors) return false;
    for (size_t i = 0; i < sink->n_items; i++) {
        const mwl__diag *d = sink->items[i];
        if (d->severity == MWL_DIAG_ERROR && d->row->code != MWL_DIAG_DUPLICATE_MEMBER)
            return false;
    }
    return true;
}

bool suite_json_read_definition(const char *text, size_t len, const char **why) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    *why = "larger than a definition can be";
    if (mwl__source_init(&source, alloc, "case", text, len) < 0) return false;
    mwl__diags_init(&sink, alloc);
    mwl_status status = mwl__tree_read(&tree, alloc, &source, &sink);
    bool accepted =
        status == MWL_OK || (status == MWL_E_REJECTED && tree.root && only_duplicates(&sink));
    mwl__diags_sort(&sink);
    *why = status == MWL_E_NOMEM ? "out of memory" : sink.n_items ? sink.items[0]->row->title : "";
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    return accepted;
}
