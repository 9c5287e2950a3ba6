/* graph_build.c: the checked model of a definition to the tree of boxes. See graph.h.
 *
 * A Flow that is written inside a call, or that one call alone names, is drawn inside that call;
 * every other one is drawn once, by itself, and its callers name it. So the picture is as large as
 * the definition, however often its Flows are called. */
#include "tools/graph/graph.h"

#include "tools/base/path.h"
#include "tools/graph/words.h"

enum { NEST = 8 }; /* groups inside each other until a Flow with a name is drawn by itself */

struct flow_use {
    uint32_t calls;           /* how many calls name it */
    struct graph_node *drawn; /* its FLOW when it is drawn by itself */
};

struct builder {
    struct graph *g;
    mwl__model *m;
    struct flow_use *use;      /* by the index of the Flow */
    const mwl__m_flow **queue; /* those drawn by themselves, in the order of their FLOWs */
    uint32_t n_queue;
    struct graph_node **steps; /* the outermost box of each Step of the Flow that is built */
};

/* ---- the graph itself ------------------------------------------------------------------------ */

void graph_init(struct graph *g, mwl_alloc alloc, const char *name) {
    memset(g, 0, sizeof *g);
    g->arena = mwl__arena_make(alloc);
    g->name = name;
    g->fuel = UINT64_MAX;
}

void graph_free(struct graph *g) { mwl__arena_free(&g->arena); }

void *graph_new(struct graph *g, size_t n, size_t size) {
    void *p = NULL;
    if (!n) n = 1;
    if (n <= SIZE_MAX / 2 / size) p = mwl__arena_new(&g->arena, n * size);
    if (!p) g->failed = true;
    return p;
}

const struct graph_node *graph_walk(const struct graph_node *n) {
    if (n->first) return n->first;
    while (n && !n->next) n = n->parent;
    return n ? n->next : NULL;
}

static struct graph_node *new_node(struct builder *b, enum graph_kind kind,
                                   struct graph_node *parent) {
    struct graph_node *n = graph_new(b->g, 1, sizeof *n);
    if (!n) return NULL;
    n->kind = kind;
    n->parent = parent;
    struct graph_node **first = parent ? &parent->first : &b->g->first;
    struct graph_node **last = parent ? &parent->last : &b->g->last;
    if (*last)
        (*last)->next = n;
    else
        *first = n;
    *last = n;
    return n;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void build_inside(struct builder *b, const mwl__m_flow *flow, struct graph_node *in,
                         unsigned depth);

/* The last part of a path. */
static const char *file_of(const char *path) {
    const char *last = path_last(path);
    return *last ? last : path;
}

/* The FLOW node of a Flow that is drawn by itself; it is filled later (graph_build). */
static struct graph_node *drawn_flow(struct builder *b, const mwl__m_flow *flow) {
    struct flow_use *use = &b->use[flow->ix];
    if (!use->drawn && (use->drawn = new_node(b, GRAPH_FLOW, NULL))) {
        mwl__buf title = mwl__buf_make(b->g->arena.alloc);
        mwl__buf_puts(&title, "Flow ");
        if (flow->name) mwl__buf_put(&title, flow->name, flow->name_len);
        if (flow->ix == 0) mwl__buf_puts(&title, file_of(b->g->name));
        use->drawn->title = words_cut(b->g, title.data, title.failed ? 0 : title.len, 60);
        use->drawn->tip = words_cut(b->g, title.data, title.failed ? 0 : title.len, 0);
        use->drawn->node = flow->node;
        b->queue[b->n_queue++] = flow;
        if (title.failed) b->g->failed = true;
        mwl__buf_free(&title);
    }
    return use->drawn;
}

/* Builds what a call runs, inside the box of the call. */
static void build_target(struct builder *b, const mwl__m_call *call, struct graph_node *in,
                         unsigned depth) {
    if (!call || !call->flow || !in) return;
    if (!call->flow->name || (b->use[call->flow->ix].calls == 1 && depth < NEST))
        build_inside(b, call->flow, in, depth + 1);
    else
        in->calls = drawn_flow(b, call->flow);
}

static void build_phases(struct builder *b, const mwl__m_entry *e, struct graph_node *frame,
                         unsigned depth);

/* The frames of a stack; returns the node in which the wrapped thing belongs. The calls of phases
 * are added by close_stack, behind the wrapped thing. */
static struct graph_node *open_stack(struct builder *b, mwl__m_entry *const *stack, uint32_t n,
                                     struct graph_node *in) {
    for (uint32_t i = 0; i < n && in; i++) {
        in = new_node(b, GRAPH_FRAME, in);
        if (!in) return NULL;
        in->node = stack[i]->node;
        words_entry(b->g, stack[i], in);
    }
    return in;
}

static void close_stack(struct builder *b, mwl__m_entry *const *stack, uint32_t n,
                        struct graph_node *innermost, unsigned depth) {
    for (uint32_t i = n; i-- > 0 && innermost; innermost = innermost->parent)
        build_phases(b, stack[i], innermost, depth + 1);
}

static struct graph_node *build_call(struct builder *b, const mwl__m_call *call, const char *title,
                                     struct graph_node *in, unsigned depth) {
    struct graph_node *n = new_node(b, GRAPH_CALL, in);
    if (!n) return NULL;
    const char *target = words_call(b->g, call);
    n->node = call->node;
    n->title = title ? title : target;
    n->tip = target;
    if (title) n->details.line[n->details.n_lines++] = target;
    build_target(b, call, n, depth);
    return n;
}

static void build_phases(struct builder *b, const mwl__m_entry *e, struct graph_node *frame,
                         unsigned depth) {
    static const char *const names[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    for (size_t i = 0; i < 4; i++) {
        const mwl__m_phase *p = &e->phase[i];
        if (!p->call) continue;
        struct graph_node *in = open_stack(b, p->stack, p->n_stack, frame);
        if (!in) return;
        build_call(b, p->call, names[i], in, depth);
        close_stack(b, p->stack, p->n_stack, in, depth);
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static struct graph_node *build_step(struct builder *b, const mwl__m_step *s,
                                     struct graph_node *body, unsigned depth) {
    struct graph_node *in = open_stack(b, s->stack, s->n_stack, body);
    struct graph_node *n = in ? new_node(b, GRAPH_STEP, in) : NULL;
    if (!n) return NULL;
    n->action = s->action;
    n->node = s->node;
    words_step(b->g, s, n);
    if (s->action == MWL_ACTION_CALL && s->n_calls) build_target(b, s->calls[0], n, depth);
    if (s->action == MWL_ACTION_GATHER)
        for (uint32_t i = 0; i < s->n_calls; i++)
            if (s->calls[i]) build_call(b, s->calls[i], NULL, n, depth);
    close_stack(b, s->stack, s->n_stack, in, depth);
    while (n->parent != body) n = n->parent;
    return n;
}

static struct graph_edge *new_edge(struct builder *b, struct graph_edge ***last,
                                   enum graph_edge_kind kind, struct graph_node *from,
                                   const mwl__m_step *to) {
    struct graph_edge *e = graph_new(b->g, 1, sizeof *e);
    if (!e) return NULL;
    e->kind = kind;
    e->from = from;
    e->to = b->steps[to->ix];
    **last = e;
    *last = &e->next;
    return e;
}

static void build_edges(struct builder *b, const mwl__m_flow *flow, struct graph_node *body,
                        struct graph_node *start) {
    struct graph_edge **last = &body->edges, *e;
    new_edge(b, &last, GRAPH_ENTRY, start, flow->entrypoint);
    for (uint32_t i = 0; i < flow->n_steps; i++) {
        const mwl__m_step *s = flow->steps[i];
        struct graph_node *from = b->steps[i];
        if (s->next) new_edge(b, &last, GRAPH_NEXT, from, s->next);
        for (uint32_t k = 0; k < s->n_clauses; k++) {
            if (!s->clauses[k].next) continue;
            e = new_edge(b, &last, GRAPH_MATCH, from, s->clauses[k].next);
            if (e) words_clause(b->g, &s->clauses[k], e);
        }
        for (uint32_t k = 0; k < s->n_catches; k++) {
            if (!s->catches[k].next) continue;
            e = new_edge(b, &last, GRAPH_CATCH, from, s->catches[k].next);
            if (e) words_catch(b->g, &s->catches[k], e);
        }
    }
}

/* Everything that the Step leads to gets the lane, unless it has one; catches are followed only
 * for handlers. `todo` has room for all Steps. */
static void spread(const mwl__m_flow *flow, struct graph_node *const *steps, uint32_t *todo,
                   uint32_t from, enum graph_lane lane) {
    uint32_t n = 0;
    if (steps[from]->lane != GRAPH_UNREACHED) return;
    steps[from]->lane = lane;
    for (todo[n++] = from; n;) {
        const mwl__m_step *s = flow->steps[todo[--n]];
        uint32_t n_to = s->n_clauses + 1 + (lane == GRAPH_HANDLER ? s->n_catches : 0);
        for (uint32_t i = 0; i < n_to; i++) {
            const mwl__m_step *to = i < s->n_clauses    ? s->clauses[i].next
                                    : i == s->n_clauses ? s->next
                                                        : s->catches[i - s->n_clauses - 1].next;
            if (!to || steps[to->ix]->lane != GRAPH_UNREACHED) continue;
            steps[to->ix]->lane = lane;
            todo[n++] = to->ix;
        }
    }
}

static void assign_lanes(struct builder *b, const mwl__m_flow *flow) {
    uint32_t *todo = graph_new(b->g, flow->n_steps, sizeof *todo);
    if (!todo) return;
    for (uint32_t i = 0; i < flow->n_steps; i++) b->steps[i]->lane = GRAPH_UNREACHED;
    spread(flow, b->steps, todo, flow->entrypoint->ix, GRAPH_HAPPY);
    for (uint32_t i = 0; i < flow->n_steps; i++) {
        const mwl__m_step *s = flow->steps[i];
        for (uint32_t k = 0; k < s->n_catches && b->steps[i]->lane == GRAPH_HAPPY; k++)
            if (s->catches[k].next)
                spread(flow, b->steps, todo, s->catches[k].next->ix, GRAPH_HANDLER);
    }
}

/* ---- Flows ----------------------------------------------------------------------------------- */

/* The Flow's middleware and its Steps, in a node that has a border already. */
static void build_inside(struct builder *b, const mwl__m_flow *flow, struct graph_node *in,
                         unsigned depth) {
    struct graph_node *frame = open_stack(b, flow->stack, flow->n_stack, in);
    struct graph_node *body = frame ? new_node(b, GRAPH_BODY, frame) : NULL;
    struct graph_node *start = body ? new_node(b, GRAPH_START, body) : NULL;
    struct graph_node **outer = b->steps;
    struct graph_node **steps = graph_new(b->g, flow->n_steps, sizeof *steps);
    if (!start || !steps) return;
    for (uint32_t i = 0; i < flow->n_steps; i++) {
        flow->steps[i]->ix = i;
        steps[i] = build_step(b, flow->steps[i], body, depth);
        if (!steps[i]) return;
    }
    b->steps = steps;
    build_edges(b, flow, body, start);
    assign_lanes(b, flow);
    b->steps = outer;
    close_stack(b, flow->stack, flow->n_stack, frame, depth);
}

/* ---- counting calls -------------------------------------------------------------------------- */

static void count_call(struct builder *b, const mwl__m_call *call) {
    if (call && call->flow) b->use[call->flow->ix].calls++;
}

static void count_stack(struct builder *b, mwl__m_entry *const *stack, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        for (size_t p = 0; p < 4; p++) {
            count_call(b, stack[i]->phase[p].call);
            count_stack(b, stack[i]->phase[p].stack, stack[i]->phase[p].n_stack);
        }
}

static void count_flow(struct builder *b, const mwl__m_flow *flow) {
    count_stack(b, flow->stack, flow->n_stack);
    for (uint32_t i = 0; i < flow->n_steps; i++) {
        const mwl__m_step *s = flow->steps[i];
        count_stack(b, s->stack, s->n_stack);
        for (uint32_t k = 0; k < s->n_calls; k++) count_call(b, s->calls[k]);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void number(struct graph *g) {
    for (struct graph_node *n = g->first; n; n = (struct graph_node *)(uintptr_t)graph_walk(n)) {
        n->id = g->n_nodes++;
        for (struct graph_edge *e = n->edges; e; e = e->next) e->id = g->n_edges++;
    }
}

mwl_status graph_build(struct graph *g, mwl__model *model) {
    struct builder b = {.g = g, .m = model};
    g->model = model;
    b.use = graph_new(g, model->n_flows, sizeof *b.use);
    b.queue = graph_new(g, model->n_flows, sizeof *b.queue);
    if (!b.use || !b.queue) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < model->n_flows; i++) model->flows[i]->ix = i;
    for (uint32_t i = 0; i < model->n_flows; i++) count_flow(&b, model->flows[i]);
    for (uint32_t i = 0; i < model->n_flows; i++)
        if (i == 0 || (model->flows[i]->name && b.use[i].calls == 0))
            drawn_flow(&b, model->flows[i]);
    for (uint32_t i = 0; i < b.n_queue && !g->failed; i++)
        build_inside(&b, b.queue[i], b.use[b.queue[i]->ix].drawn, 0);
    number(g);
    return g->failed ? MWL_E_NOMEM : MWL_OK;
}
