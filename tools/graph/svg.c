/* svg.c: the picture as SVG, for light and dark pages. See graph.h.
 *
 * Elements are in one flat list, groups before their members, each with ids in data attributes, so
 * that a script or a test finds them. Colours are plain rules, once for light and once for dark,
 * because not every viewer knows variables. Every text states its width (textLength), so that it
 * fits its box in any font. */
#include "tools/graph/graph.h"
#include "tools/graph/text_width.h"

#include <math.h>

#define RADIUS 6.0 /* of the corners of lines */
#define DASH 8.0   /* one period of a dashed line */

/* ---- colours --------------------------------------------------------------------------------- */

static const struct colour {
    const char *rule, *light, *dark;
} colours[] = {
    {".bg{fill:%s}", "#ffffff", "#14181d"},
    {".b rect{fill:%s}", "#ffffff", "#1e252d"},
    {".b rect,.g rect{stroke:%s}", "#8793a1", "#657383"},
    {".flow rect{fill:%s}", "#f7f8fa", "#181d23"},
    {".flow rect{stroke:%s}", "#c9d0d8", "#38424d"},
    {".frame rect{fill:%s}", "#f0ecfa", "#262238"},
    {".frame rect{stroke:%s}", "#8b74c9", "#8d7bc4"},
    {".g.step rect,.g.call rect{fill:%s}", "#eef4fb", "#1a2532"},
    {".g.step rect,.g.call rect{stroke:%s}", "#6f93bd", "#5d7fa8"},
    {".step.return rect{fill:%s}", "#e8f5ec", "#16291e"},
    {".step.return rect{stroke:%s}", "#3f9a60", "#4aa56c"},
    {".step.raise rect{fill:%s}", "#fdecea", "#321c1c"},
    {".step.raise rect{stroke:%s}", "#c4473a", "#d96a5d"},
    {".step.match rect{fill:%s}", "#fff7e3", "#2d2715"},
    {".step.match rect{stroke:%s}", "#b98a16", "#b9953c"},
    {".t{fill:%s}", "#1b2129", "#e8edf2"},
    {".d{fill:%s}", "#56616d", "#a6b1bc"},
    {".line{stroke:%s}", "#56616d", "#97a3af"},
    {".tip,.start circle{fill:%s}", "#56616d", "#97a3af"},
    {".catch .line{stroke:%s}", "#c4473a", "#e57a6d"},
    {".catch .tip{fill:%s}", "#c4473a", "#e57a6d"},
    {".lb{fill:%s}", "#ffffff", "#14181d"},
    {".l{fill:%s}", "#3c4652", "#c3ccd5"},
    {".catch .l{fill:%s}", "#a8352a", "#f0968b"},
    {".unreached rect{stroke:%s}", "#b5bdc6", "#4a545f"},
    {".step.taken rect{stroke:%s}", "#2e9e4f", "#4cc26f"},
    {".step.missed rect{fill:%s}", "#fde3cf", "#4a2a12"},
    {".step.missed rect{stroke:%s}", "#d9480f", "#ff8a4c"},
    {".e.taken .line{stroke:%s}", "#2e9e4f", "#4cc26f"},
    {".e.taken .tip{fill:%s}", "#2e9e4f", "#4cc26f"},
    {".e.missed .line{stroke:%s}", "#d9480f", "#ff8a4c"},
    {".e.missed .tip{fill:%s}", "#d9480f", "#ff8a4c"},
};

static void put_colours(mwl__buf *out, bool dark) {
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        const char *hole = strstr(colours[i].rule, "%s");
        mwl__buf_puts(out, ".mwl ");
        /* a rule for several selectors needs the scope before each */
        for (const char *c = colours[i].rule; c < hole; c++) {
            mwl__buf_putc(out, *c);
            if (*c == ',') mwl__buf_puts(out, ".mwl ");
        }
        mwl__buf_puts(out, dark ? colours[i].dark : colours[i].light);
        mwl__buf_puts(out, hole + 2);
    }
}

static void put_style(mwl__buf *out) {
    mwl__buf_puts(
        out, "<style>"
             ".mwl text{font-family:Helvetica,Arial,\"Liberation Sans\",sans-serif;white-space:pre}"
             ".mwl .t{font-size:13px;font-weight:bold}.mwl .d{font-size:11px}"
             ".mwl .l{font-size:11px;font-family:ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,"
             "monospace}"
             ".mwl .line{fill:none;stroke-width:1.5}.mwl .catch .line{stroke-dasharray:5 3}"
             ".mwl .call.phase rect{stroke-dasharray:6 2}"
             ".mwl .frame rect{stroke-dasharray:2 2}.mwl .unreached rect{stroke-dasharray:4 4}"
             ".mwl .b rect,.mwl .g rect{stroke-width:1.25}.mwl .raise rect,.mwl .return "
             "rect{stroke-width:1.75}");
    put_colours(out, false);
    mwl__buf_puts(out, "@media (prefers-color-scheme:dark){");
    put_colours(out, true);
    mwl__buf_puts(out, "}</style>\n");
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void put_escaped(mwl__buf *out, const char *text) {
    for (; *text; text++) switch (*text) {
        case '&': mwl__buf_puts(out, "&amp;"); break;
        case '<': mwl__buf_puts(out, "&lt;"); break;
        case '>': mwl__buf_puts(out, "&gt;"); break;
        case '"': mwl__buf_puts(out, "&quot;"); break;
        default: mwl__buf_putc(out, *text);
        }
}

static void put_number(mwl__buf *out, double v) {
    double tenth = round(v * 10) / 10;
    mwl__buf_printf(out, tenth == round(tenth) ? "%.0f" : "%.1f", tenth + 0.0);
}

static void put_attribute(mwl__buf *out, const char *name, double v) {
    mwl__buf_printf(out, " %s=\"", name);
    put_number(out, v);
    mwl__buf_putc(out, '"');
}

static void put_text(mwl__buf *out, const char *class, double x, double y, const char *text,
                     enum graph_font font, double px) {
    mwl__buf_printf(out, "<text class=\"%s\"", class);
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    put_attribute(out, "textLength", text_width(text, strlen(text), font, px));
    mwl__buf_puts(out, " lengthAdjust=\"spacingAndGlyphs\">");
    put_escaped(out, text);
    mwl__buf_puts(out, "</text>");
}

static void put_rect(mwl__buf *out, const char *class, const struct graph_rect *r, double round) {
    mwl__buf_puts(out, "<rect");
    if (class) mwl__buf_printf(out, " class=\"%s\"", class);
    put_attribute(out, "x", r->x);
    put_attribute(out, "y", r->y);
    put_attribute(out, "width", r->w);
    put_attribute(out, "height", r->h);
    if (round > 0) put_attribute(out, "rx", round);
    mwl__buf_puts(out, "/>");
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const char *const taken_class[] = {"", " taken", " missed"};
static const char *const kinds[] = {"flow", "body", "frame", "step", "call", "start"};
static const char *const actions[] = {"call-step", "gather", "match", "pass",
                                      "sleep",     "return", "raise"};

/* A group's texts begin at its corner; those of a box are in its middle. */
static void put_texts(mwl__buf *out, const struct graph_node *n) {
    double w, h, y;
    graph_text_size(n, &w, &h);
    y = n->first ? n->at.y + 10 : n->at.y + (n->at.h - h) / 2;
    if (n->title) {
        w = text_width(n->title, strlen(n->title), GRAPH_BOLD, GRAPH_TITLE_PX);
        put_text(out, "t", n->first ? n->at.x + 12 : n->at.x + (n->at.w - w) / 2, y + 12, n->title,
                 GRAPH_BOLD, GRAPH_TITLE_PX);
        y += GRAPH_LINE;
    }
    for (uint32_t i = 0; i < n->details.n_lines; i++) {
        const char *line = n->details.line[i];
        w = text_width(line, strlen(line), GRAPH_PLAIN, GRAPH_DETAIL_PX);
        put_text(out, "d", n->first ? n->at.x + 12 : n->at.x + (n->at.w - w) / 2, y + 12, line,
                 GRAPH_PLAIN, GRAPH_DETAIL_PX);
        y += GRAPH_LINE;
    }
}

static void put_node(mwl__buf *out, const struct graph_node *n) {
    if (n->kind == GRAPH_BODY) return;
    bool ends = n->kind == GRAPH_STEP && !n->first &&
                (n->action == MWL_ACTION_RETURN || n->action == MWL_ACTION_RAISE);
    bool phase = n->kind == GRAPH_CALL && n->parent->kind == GRAPH_FRAME; /* no edge leads to it */
    mwl__buf_printf(out, "<g id=\"n%u\" class=\"%s %s%s%s%s%s\" data-in=\"n%u\">", n->id,
                    n->kind == GRAPH_START ? "s"
                    : n->first             ? "g"
                                           : "b",
                    kinds[n->kind],
                    n->kind == GRAPH_STEP ? " "
                    : phase               ? " phase"
                                          : "",
                    n->kind == GRAPH_STEP ? actions[n->action] : "",
                    n->lane == GRAPH_UNREACHED ? " unreached"
                    : n->lane == GRAPH_HANDLER ? " handler"
                                               : "",
                    taken_class[n->taken],
                    n->parent && n->parent->kind == GRAPH_BODY ? n->parent->parent->id
                    : n->parent                                ? n->parent->id
                                                               : n->id);
    if (n->tip) {
        mwl__buf_puts(out, "<title>");
        put_escaped(out, n->tip);
        mwl__buf_puts(out, "</title>");
    }
    if (n->kind == GRAPH_START) {
        mwl__buf_puts(out, "<circle");
        put_attribute(out, "cx", n->at.x + n->at.w / 2);
        put_attribute(out, "cy", n->at.y + n->at.h / 2);
        put_attribute(out, "r", n->at.w / 2);
        mwl__buf_puts(out, "/>");
    } else {
        put_rect(out, NULL, &n->at,
                 ends                 ? n->at.h / 2
                 : phase && !n->first ? 12
                 : n->first           ? 8
                                      : 5);
        if (n->calls) mwl__buf_printf(out, "<a href=\"#n%u\">", n->calls->id);
        put_texts(out, n);
        if (n->calls) mwl__buf_puts(out, "</a>");
    }
    mwl__buf_puts(out, "</g>\n");
}

/* ---- edges ----------------------------------------------------------------------------------- */

static double leg(const struct graph_point *a, const struct graph_point *b) {
    return fabs(a->x - b->x) + fabs(a->y - b->y);
}

/* The line with round corners; returns its length. */
static double put_path(mwl__buf *out, const struct graph_point *p, uint32_t n) {
    double length = 0;
    mwl__buf_puts(out, "M");
    for (uint32_t i = 0; i < n; i++) {
        double r = RADIUS;
        bool corner = i > 0 && i + 1 < n;
        if (i) length += leg(&p[i - 1], &p[i]);
        if (corner) {
            double before = leg(&p[i - 1], &p[i]) / 2, after = leg(&p[i], &p[i + 1]) / 2;
            if (before < r) r = before;
            if (after < r) r = after;
        }
        if (i) mwl__buf_puts(out, "L");
        if (!corner) {
            put_number(out, p[i].x);
            mwl__buf_putc(out, ' ');
            put_number(out, p[i].y);
            continue;
        }
        double in = leg(&p[i - 1], &p[i]), on = leg(&p[i], &p[i + 1]);
        double x1 = p[i].x + (p[i - 1].x - p[i].x) / in * r;
        double y1 = p[i].y + (p[i - 1].y - p[i].y) / in * r;
        put_number(out, x1);
        mwl__buf_putc(out, ' ');
        put_number(out, y1);
        mwl__buf_puts(out, "Q");
        put_number(out, p[i].x);
        mwl__buf_putc(out, ' ');
        put_number(out, p[i].y);
        mwl__buf_putc(out, ' ');
        put_number(out, p[i].x + (p[i + 1].x - p[i].x) / on * r);
        mwl__buf_putc(out, ' ');
        put_number(out, p[i].y + (p[i + 1].y - p[i].y) / on * r);
        length -= (2 - 1.6232) * r; /* of this curve */
    }
    return length;
}

static const char *const edge_kinds[] = {"entry", "next", "match", "catch"};

static void put_edge(mwl__buf *out, const struct graph_edge *e) {
    const struct graph_point *end = &e->points[e->n_points - 1];
    struct graph_point last = *end;
    mwl__buf_printf(out, "<g id=\"e%u\" class=\"e %s%s\" data-from=\"n%u\" data-to=\"n%u\">", e->id,
                    edge_kinds[e->kind], taken_class[e->taken], e->from->id, e->to->id);
    if (e->tip) {
        mwl__buf_puts(out, "<title>");
        put_escaped(out, e->tip);
        mwl__buf_puts(out, "</title>");
    }
    mwl__buf_puts(out, "<path class=\"line\" d=\"");
    double length = put_path(out, e->points, e->n_points);
    mwl__buf_putc(out, '"');
    /* dashes count from the end, so that lines that lie on each other have the same ones */
    if (e->kind == GRAPH_CATCH) put_attribute(out, "stroke-dashoffset", DASH - fmod(length, DASH));
    mwl__buf_puts(out, "/><path class=\"tip\" d=\"M");
    put_number(out, last.x);
    mwl__buf_putc(out, ' ');
    put_number(out, last.y);
    mwl__buf_puts(out, "l-4 -8h8z\"/></g>\n");
}

static void put_label(mwl__buf *out, const struct graph_edge *e) {
    if (!e->label.n_lines) return;
    mwl__buf_printf(out, "<g class=\"label %s\" data-of=\"e%u\">", edge_kinds[e->kind], e->id);
    put_rect(out, "lb", &e->label_at, 3);
    for (uint32_t i = 0; i < e->label.n_lines; i++) {
        const char *line = e->label.line[i];
        double w = text_width(line, strlen(line), GRAPH_MONO, GRAPH_DETAIL_PX);
        put_text(out, "l", e->label_at.x + (e->label_at.w - w) / 2,
                 e->label_at.y + 12 + i * (GRAPH_LINE - 2), line, GRAPH_MONO, GRAPH_DETAIL_PX);
    }
    mwl__buf_puts(out, "</g>\n");
}

/* ---- words for those who do not see it ------------------------------------------------------- */

/* The Step inside the frames around it. */
static const struct graph_node *step_of(const struct graph_node *n) {
    while (n->kind == GRAPH_FRAME && n->first) n = n->first;
    return n;
}

static void put_description(mwl__buf *out, const struct graph *g) {
    enum { MOST = 8000 };
    size_t begin = out->len;
    for (const struct graph_node *n = g->first; n && out->len - begin < MOST; n = graph_walk(n)) {
        if (n->kind == GRAPH_FLOW) put_escaped(out, n->title), mwl__buf_puts(out, ". ");
        for (const struct graph_edge *e = n->edges; e; e = e->next) {
            const struct graph_node *from = step_of(e->from), *to = step_of(e->to);
            if (!to->title || out->len - begin > MOST) continue;
            if (e->kind == GRAPH_ENTRY)
                mwl__buf_puts(out, "Starts at ");
            else
                put_escaped(out, from->title ? from->title : "");
            if (e->kind == GRAPH_CATCH) mwl__buf_puts(out, ", on ");
            if (e->kind == GRAPH_MATCH) mwl__buf_puts(out, ", if ");
            if (e->label.n_lines) put_escaped(out, e->tip);
            if (e->kind != GRAPH_ENTRY) mwl__buf_puts(out, e->label.n_lines ? ": " : " to ");
            put_escaped(out, to->title);
            mwl__buf_puts(out, ". ");
        }
    }
}

void graph_svg(const struct graph *g, mwl__buf *out) {
    const struct graph_rect all = {0, 0, g->width, g->height};
    mwl__buf_puts(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mwl\" role=\"img\" "
                       "aria-labelledby=\"mwl-title mwl-desc\"");
    put_attribute(out, "width", g->width);
    put_attribute(out, "height", g->height);
    mwl__buf_puts(out, " viewBox=\"0 0 ");
    put_number(out, g->width);
    mwl__buf_putc(out, ' ');
    put_number(out, g->height);
    mwl__buf_puts(out, "\">\n<title id=\"mwl-title\">");
    put_escaped(out, g->first->title);
    mwl__buf_puts(out, "</title>\n<desc id=\"mwl-desc\">");
    put_description(out, g);
    mwl__buf_puts(out, "</desc>\n");
    put_style(out);
    put_rect(out, "bg", &all, 0);
    mwl__buf_putc(out, '\n');
    for (const struct graph_node *n = g->first; n; n = graph_walk(n)) put_node(out, n);
    for (const struct graph_node *n = g->first; n; n = graph_walk(n))
        for (const struct graph_edge *e = n->edges; e; e = e->next) put_edge(out, e);
    for (const struct graph_node *n = g->first; n; n = graph_walk(n))
        for (const struct graph_edge *e = n->edges; e; e = e->next) put_label(out, e);
    mwl__buf_puts(out, "</svg>\n");
}
