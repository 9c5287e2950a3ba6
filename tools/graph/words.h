/* words.h: the texts in a picture: names, kinds, providers, labels of edges, cut to fit. */
#ifndef MWL_TOOLS_GRAPH_WORDS_H
#define MWL_TOOLS_GRAPH_WORDS_H

#include "tools/graph/graph.h"

/* A copy in one line: control characters become blanks, runs of blanks one; text that is longer
 * than `most` characters is cut and ends with an ellipsis. most 0: no bound. */
const char *words_cut(struct graph *g, const char *text, size_t len, size_t most);

/* "mock", "example/http", "example/http v2" for a provider's URI. */
void words_provider(mwl__buf *out, const char *uri, size_t len);

/* Writes the lines below the title of a Step: "Call · mock", "Match", and more lines for Gathers.
 * */
void words_step(struct graph *g, const mwl__m_step *s, struct graph_node *out);
/* A middleware's name and what it was given: "retry", "attempts 3 · initial PT1S". */
void words_entry(struct graph *g, const mwl__m_entry *e, struct graph_node *out);
/* Returns the target of a call in words: "mock", "Flow Name". */
const char *words_call(struct graph *g, const mwl__m_call *c);

void words_catch(struct graph *g, const mwl__m_catch *c, struct graph_edge *out);
void words_clause(struct graph *g, const mwl__m_clause *c, struct graph_edge *out);

#endif
