/* lsp.h: what the files of the language server agree on.
 *
 *   server.c     the messages: which function answers which method
 *   open.c       documents that are open; what is known about each after an edit
 *   diagnose.c   diagnostics and their repairs
 *   complete.c   completion of names and values; complete_expr.c inside expressions
 *   hover.c      what is under the cursor
 *   navigate.c   definitions, references, rename
 *   symbols.c    the Steps and Flows of a document
 *   layout.c     formatting
 *
 * A function that answers a request appends the JSON of the result to `out`. */
#ifndef MWL_TOOLS_LSP_LSP_H
#define MWL_TOOLS_LSP_LSP_H

#include "tools/host/definition.h"
#include "tools/base/rpc.h"
#include "tools/lsp/document.h"
#include "tools/lsp/names.h"
#include "vm/cel/functions.h"

/* A document that is open. What is known about it is made when it is first asked for after an
 * edit. */
struct open_document {
    struct document doc;
    bool ours;        /* a definition or a provider document of this language */
    bool is_provider; /* a provider document */
    bool named;       /* by its language id or its file name, whatever it contains */
    bool unpublished; /* its diagnostics were not sent since the last edit */
    bool has_outline, has_names, has_check;
    struct outline outline;
    struct names names;
    /* of the assembler */
    mwl__diags sink;
    mwl__source source;
    mwl__tree tree;
    struct open_document *next;
};

struct lsp {
    struct rpc rpc;
    mwl_heap *heap; /* of messages */
    mwl_alloc alloc;
    struct definition how; /* --provider, --ignore, --deny */
    mwl__functions functions;
    mwl__catalog *catalog;
    mwl__diags library;     /* reports about documents of the library; there are none */
    mwl__source *providers; /* of how */
    enum units units;
    bool snippets;                            /* the editor fills in places of a completed text */
    bool initialized, shut_down, exits, lost; /* lost: the editor cannot be reached */
    struct open_document *documents;
};

/* open.c */
struct open_document *open_find(struct lsp *s, const char *uri);
mwl_status open_add(struct lsp *s, mwl_value item); /* a TextDocumentItem */
void open_close(struct lsp *s, struct open_document *d);
mwl_status open_change(struct lsp *s, struct open_document *d, mwl_value params);
/* Returns what is known of the text now. */
const struct outline *open_outline(struct lsp *s, struct open_document *d);
const struct names *open_names(struct lsp *s, struct open_document *d);
mwl__diags *open_check(struct lsp *s, struct open_document *d);
/* The byte of params.position. */
uint32_t open_offset(const struct lsp *s, const struct open_document *d, mwl_value params);
void put_range(const struct lsp *s, const struct open_document *d, uint32_t begin, uint32_t end,
               mwl__buf *out);

/* diagnose.c */
void lsp_publish(struct lsp *s, struct open_document *d);
void lsp_actions(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);
/* The others, by their request. */
void lsp_complete(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);
void lsp_hover(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);
void lsp_definition(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);
void lsp_references(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);
void lsp_highlight(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);
void lsp_prepare_rename(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);
/* Returns NULL, or why it cannot be renamed. */
const char *lsp_rename(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);
void lsp_symbols(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);
void lsp_format(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out);

/* server.c: answers messages until the editor ends. Returns an exit status. */
int lsp_serve(struct lsp *s);

#endif
