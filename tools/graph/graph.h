/* graph.h: a definition as a picture: what is drawn, before and after it has a place.
 *
 * Owns: the tree of boxes and groups, and the edges between them. graph_build.c makes it of the
 * assembler's checked model, because there every reference is resolved, every rule was reported
 * with the usual diagnostics, and `reachable` is known. layout.c gives everything a place. svg.c,
 * mermaid.c and dot.c write it; the last two need no places.
 *
 * Edges never leave the Flow that they are written in, and a catch belongs to the outside of a
 * Step's middleware. So each Flow's Steps are laid out alone, innermost first, and a Step that
 * contains other things is one box for the Flow around it.
 *
 * Everything lies in one arena. Texts are NUL-terminated UTF-8, cut to what is shown; `tip` is the
 * whole text. */
#ifndef MWL_TOOLS_GRAPH_H
#define MWL_TOOLS_GRAPH_H

#include "assembler/check/model.h"

enum graph_kind {
    GRAPH_FLOW,  /* a Flow that is drawn by itself: the root, and those called more than once */
    GRAPH_BODY,  /* the Steps of a Flow with their edges; has no border */
    GRAPH_FRAME, /* a middleware around its first child; calls of its phases follow */
    GRAPH_STEP,  /* a Step: a box, or a group around what it calls */
    GRAPH_CALL,  /* one dispatch of a Gather, or a phase's call */
    GRAPH_START  /* the mark that leads to the entrypoint */
};

enum graph_edge_kind { GRAPH_ENTRY, GRAPH_NEXT, GRAPH_MATCH, GRAPH_CATCH };
enum { GRAPH_EDGE_KINDS = 4 };

/* Where a Step is drawn in its Flow: each lane lies beside the one before. */
enum graph_lane { GRAPH_HAPPY, GRAPH_HANDLER, GRAPH_UNREACHED, GRAPH_LANES };

enum { GRAPH_LINES = 3 };
/* What a coverage file says. */
enum graph_taken { GRAPH_UNKNOWN, GRAPH_TAKEN, GRAPH_NOT_TAKEN };
enum graph_font { GRAPH_BOLD, GRAPH_PLAIN, GRAPH_MONO };

struct graph_text { /* one or a few lines in one font */
    const char *line[GRAPH_LINES];
    uint32_t n_lines;
};

struct graph_point {
    double x, y;
};

struct graph_rect {
    double x, y, w, h;
};

struct graph_node {
    enum graph_kind kind;
    mwl__action action; /* of a Step */
    uint32_t id;        /* in the order of drawing, from 0 */
    enum graph_lane lane;
    const mwl__node *node;     /* where it is written, or NULL */
    const char *title;         /* or NULL */
    struct graph_text details; /* below the title */
    const char *tip;
    struct graph_node *parent, *first, *last, *next;
    struct graph_edge *edges;       /* of a BODY, in the order written */
    const struct graph_node *calls; /* the FLOW that is drawn elsewhere, or NULL */
    struct graph_rect at;
    uint32_t mark; /* for the function that walks the tree */
    enum graph_taken taken;
};

struct graph_edge {
    enum graph_edge_kind kind;
    uint32_t id;
    struct graph_node *from, *to; /* children of one BODY */
    struct graph_text label;      /* no line: none */
    const char *tip;
    struct graph_edge *next;
    struct graph_point *points; /* from the border of `from` to that of `to`, at right angles */
    uint32_t n_points;
    struct graph_rect label_at;
    enum graph_taken taken;
};

struct graph {
    mwl__arena arena;
    struct graph_node *first, *last; /* the FLOWs; the first is the root */
    uint32_t n_nodes, n_edges;
    const char *name;        /* of the definition; lent */
    const mwl__model *model; /* while it is built */
    double width, height;
    uint64_t fuel;   /* for the layout; without a limit unless it is set */
    uint32_t pieces; /* of edges that were laid out */
    bool failed;     /* out of memory */
    bool spent;      /* the fuel is used up */
};

void graph_init(struct graph *g, mwl_alloc alloc, const char *name);
void graph_free(struct graph *g);

/* Arena memory, zeroed; NULL sets `failed`. */
void *graph_new(struct graph *g, size_t n, size_t size);

/* Makes the tree and the edges. The model must have no errors; its `ix` fields are used. It is lent
 * as long as `node` is read. MWL_OK or MWL_E_NOMEM. */
mwl_status graph_build(struct graph *g, mwl__model *model);

/* An edge has a piece in each rank that it passes, so they may be the square of what is written.
 * Flows beyond so many are drawn in rows, with straight lines. */
enum { GRAPH_PIECES = 20000 };

/* Gives everything a place; `g` was built. MWL_OK, MWL_E_NOMEM or MWL_E_FUEL. */
mwl_status graph_layout(struct graph *g);

/* Marks Steps and edges as taken or not, by the array that `mwlvm test --coverage-file` writes.
 * False if it says nothing about a definition of this name. */
bool graph_mark(struct graph *g, mwl__source *source, mwl_value coverage);

/* Size of a node's own text: title and details. */
void graph_text_size(const struct graph_node *n, double *w, double *h);

/* The next node in the order of drawing, or NULL: parents before children. */
const struct graph_node *graph_walk(const struct graph_node *n);

#define GRAPH_TITLE_PX 13.0
#define GRAPH_DETAIL_PX 11.0
#define GRAPH_LINE 16.0 /* from line to line */

/* Writers. A failure is `out->failed`. */
void graph_svg(const struct graph *g, mwl__buf *out); /* a file of its own */
void graph_mermaid(const struct graph *g, mwl__buf *out);
void graph_dot(const struct graph *g, mwl__buf *out);

#endif
