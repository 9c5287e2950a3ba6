/* diag_export.c: diagnostics for programs: a JSON array, and SARIF 2.1.0.
 *
 * In both forms lines and columns count from 1, columns count code points, and ends are exclusive.
 */
#include "assembler/source/diag.h"
#include "vm/value/value.h"
#include "vm/base/ascii.h"

static void put_bytes(mwl__buf *out, const char *s, size_t len) {
    mwl__buf_putc(out, '"');
    mwl__json_escape(out, s, len);
    mwl__buf_putc(out, '"');
}

static void put_string(mwl__buf *out, const char *s) { put_bytes(out, s, strlen(s)); }

static void put_optional(mwl__buf *out, const char *s) {
    if (s)
        put_string(out, s);
    else
        mwl__buf_puts(out, "null");
}

static void put_code(mwl__buf *out, const mwl__diag_info *row) {
    mwl__buf_printf(out, "\"MWL%04d\"", (int)row->code);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_region(mwl__buf *out, mwl__source *src, mwl__span span,
                       const char *const names[4]) {
    mwl__place from = mwl__source_place(src, span.begin), to = mwl__source_place(src, span.end);
    mwl__buf_printf(out, "\"%s\": %u, \"%s\": %u, \"%s\": %u, \"%s\": %u", names[0], from.line,
                    names[1], from.column, names[2], to.line, names[3], to.column);
}

static const char *const JSON_REGION[4] = {"line", "column", "endLine", "endColumn"};
static const char *const SARIF_REGION[4] = {"startLine", "startColumn", "endLine", "endColumn"};

static void put_json_diag(mwl__buf *out, const mwl__diag *d) {
    mwl__buf_puts(out, "  {\"code\": ");
    put_code(out, d->row);
    mwl__buf_printf(out, ", \"name\": \"%s\", \"severity\": \"%s\", \"message\": ", d->row->name,
                    mwl__severity_name(d->severity));
    put_string(out, d->message);
    mwl__buf_puts(out, ",\n   \"file\": ");
    put_string(out, d->source->name);
    mwl__buf_puts(out, ", ");
    put_region(out, d->source, d->span, JSON_REGION);
    mwl__buf_puts(out, ",\n   \"pointer\": ");
    put_optional(out, d->pointer);
    mwl__buf_puts(out, ", \"label\": ");
    put_optional(out, d->text);
    mwl__buf_puts(out, ", \"labels\": [");
    for (const mwl__diag_mark *m = d->labels; m; m = m->next) {
        mwl__buf_puts(out, m == d->labels ? "{" : ", {");
        put_region(out, d->source, m->span, JSON_REGION);
        mwl__buf_puts(out, ", \"text\": ");
        put_string(out, m->text);
        mwl__buf_putc(out, '}');
    }
    mwl__buf_puts(out, "],\n   \"notes\": [");
    for (const mwl__diag_line *l = d->notes; l; l = l->next) {
        if (l != d->notes) mwl__buf_puts(out, ", ");
        put_string(out, l->text);
    }
    mwl__buf_puts(out, "], \"suggestion\": ");
    put_optional(out, d->help);
    mwl__buf_puts(out, ", \"fix\": [");
    for (const mwl__diag_edit *e = d->edits; e; e = e->next) {
        mwl__buf_puts(out, e == d->edits ? "{" : ", {");
        put_region(out, d->source, e->span, JSON_REGION);
        mwl__buf_puts(out, ", \"text\": ");
        put_bytes(out, e->text, e->len);
        mwl__buf_putc(out, '}');
    }
    mwl__buf_puts(out, "]}");
}

void mwl__diags_json(mwl__diags *sink, mwl__buf *out) {
    mwl__buf_putc(out, '[');
    for (size_t i = 0; i < sink->n_items; i++) {
        mwl__buf_puts(out, i ? ",\n" : "\n");
        put_json_diag(out, sink->items[i]);
    }
    mwl__buf_puts(out, sink->n_items ? "\n]\n" : "]\n");
}

/* ---- SARIF ----------------------------------------------------------------------------------- */

/* Writes a relative reference (RFC 3986). What is not allowed in a path is escaped. */
static void put_uri(mwl__buf *out, const char *name) {
    mwl__buf_putc(out, '"');
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        bool plain = mwl__is_alnum(c) || strchr("-._~/", c) != NULL;
        if (plain)
            mwl__buf_putc(out, (char)c);
        else
            mwl__buf_printf(out, "%%%02X", c);
    }
    mwl__buf_putc(out, '"');
}

static void put_location(mwl__buf *out, mwl__source *src, mwl__span span) {
    mwl__buf_puts(out, "\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
    put_uri(out, src->name);
    mwl__buf_puts(out, "}, \"region\": {");
    put_region(out, src, span, SARIF_REGION);
    mwl__buf_puts(out, "}}");
}

static void put_rule(mwl__buf *out, const mwl__diag_info *row, const char *text) {
    mwl__buf_puts(out, "          {\"id\": ");
    put_code(out, row);
    mwl__buf_printf(out, ", \"name\": \"%s\", \"shortDescription\": {\"text\": ", row->name);
    put_string(out, row->title);
    if (text) {
        mwl__buf_puts(out, "},\n           \"fullDescription\": {\"text\": ");
        put_string(out, text);
    }
    mwl__buf_printf(out, "},\n           \"defaultConfiguration\": {\"level\": \"%s\"}}",
                    mwl__severity_name(row->severity));
}

/* Viewers show one text, so the notes and the suggestion are part of it. */
static void put_message(mwl__buf *out, const mwl__diag *d) {
    mwl__buf text = mwl__buf_make(out->alloc);
    mwl__buf_puts(&text, d->message);
    if (d->text) mwl__buf_printf(&text, ": %s", d->text);
    for (const mwl__diag_line *l = d->notes; l; l = l->next)
        mwl__buf_printf(&text, "\nnote: %s", l->text);
    if (d->help) mwl__buf_printf(&text, "\nhelp: %s", d->help);
    put_string(out, mwl__buf_cstr(&text));
    out->failed |= text.failed;
    mwl__buf_free(&text);
}

static void put_fix(mwl__buf *out, const mwl__diag *d) {
    mwl__buf_puts(out, ",\n         \"fixes\": [{\"description\": {\"text\": ");
    put_string(out, d->help ? d->help : d->row->title);
    mwl__buf_puts(out, "},\n           \"artifactChanges\": [{\"artifactLocation\": {\"uri\": ");
    put_uri(out, d->source->name);
    mwl__buf_puts(out, "}, \"replacements\": [");
    for (const mwl__diag_edit *e = d->edits; e; e = e->next) {
        mwl__buf_puts(out, e == d->edits ? "{\"deletedRegion\": {" : ", {\"deletedRegion\": {");
        put_region(out, d->source, e->span, SARIF_REGION);
        mwl__buf_puts(out, "}, \"insertedContent\": {\"text\": ");
        put_bytes(out, e->text, e->len);
        mwl__buf_puts(out, "}}");
    }
    mwl__buf_puts(out, "]}]}]");
}

static void put_result(mwl__buf *out, const mwl__diag *d, size_t rule) {
    mwl__buf_puts(out, "        {\"ruleId\": ");
    put_code(out, d->row);
    mwl__buf_printf(
        out, ", \"ruleIndex\": %zu, \"level\": \"%s\",\n         \"message\": {\"text\": ", rule,
        mwl__severity_name(d->severity));
    put_message(out, d);
    mwl__buf_puts(out, "},\n         \"locations\": [{");
    put_location(out, d->source, d->span);
    if (d->pointer) {
        mwl__buf_puts(out, ",\n           \"logicalLocations\": [{\"fullyQualifiedName\": ");
        put_string(out, d->pointer);
        mwl__buf_puts(out, "}]");
    }
    mwl__buf_puts(out, "}]");
    unsigned id = 0;
    for (const mwl__diag_mark *m = d->labels; m; m = m->next) {
        mwl__buf_puts(out, id ? ",\n           {" : ",\n         \"relatedLocations\": [{");
        mwl__buf_printf(out, "\"id\": %u, \"message\": {\"text\": ", ++id);
        put_string(out, m->text);
        mwl__buf_puts(out, "}, ");
        put_location(out, d->source, m->span);
        mwl__buf_putc(out, '}');
    }
    if (id) mwl__buf_putc(out, ']');
    if (d->edits) put_fix(out, d);
    mwl__buf_putc(out, '}');
}

void mwl__diags_sarif(mwl__diags *sink, mwl__buf *out) {
    size_t count, n_rules = 0;
    const mwl__diag_info *rows = mwl__diag_rows(&count);
    size_t rule_of[MWL__DIAG_COUNT];
    bool used[MWL__DIAG_COUNT] = {false};
    for (size_t i = 0; i < sink->n_items; i++) used[sink->items[i]->row - rows] = true;

    mwl__buf_puts(out,
                  "{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n"
                  "  \"version\": \"2.1.0\",\n  \"runs\": [\n    {\n"
                  "      \"tool\": {\"driver\": {\"name\": \"mwlvm\", \"version\": \"" MWL_VERSION
                  "\",\n        \"rules\": [");
    for (size_t i = 0; i < count; i++) {
        if (!used[i]) continue;
        mwl__buf_puts(out, n_rules ? ",\n" : "\n");
        put_rule(out, &rows[i], sink->guide ? sink->guide->texts[i] : NULL);
        rule_of[i] = n_rules++;
    }
    mwl__buf_puts(out, "]}},\n      \"columnKind\": \"unicodeCodePoints\",\n      \"results\": [");
    for (size_t i = 0; i < sink->n_items; i++) {
        mwl__buf_puts(out, i ? ",\n" : "\n");
        put_result(out, sink->items[i], rule_of[sink->items[i]->row - rows]);
    }
    mwl__buf_puts(out, "]\n    }\n  ]\n}\n");
}
