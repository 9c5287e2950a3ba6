/* cmd_providers.c: `mwlvm providers [NAME]`: the providers that this command has.
 *
 * Everything is read from their documents: a table, one page as Markdown, or JSON. The pages in
 * stdlib/io are made by `mwlvm providers --pages`. */
#include "tools/base/cmd.h"
#include "tools/host/durable_providers.h"
#include "tools/host/io_host.h"
#include "tools/base/options.h"
#include "stdlib/documents.h"
#include "tools/base/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(MWL_HAVE_IO)
#include "mwl_io.h"
#endif

struct providers {
    const char *name;  /* the operand, or NULL */
    const char *pages; /* folder */
    bool json;
    mwl_heap *heap;
    int shown; /* how many the operand has matched */
};

/* One provider, with its document. */
struct provider {
    const char *uri, *text;
    unsigned rights;
    mwl_value document;
};

/* ---- names ----------------------------------------------------------------------------------- */

/* "http" of "mwl:provider.call/mwlvm/http/v1". */
static void short_name(const char *uri, char *out, size_t cap) {
    const char *slash = strchr(uri, '/');
    const char *name = slash ? strchr(slash + 1, '/') : NULL;
    snprintf(out, cap, "%.*s", name ? (int)strcspn(name + 1, "/") : 0, name ? name + 1 : "");
}

static bool is_middleware(const struct provider *p) {
    return strncmp(p->uri, "mwl:provider.middleware/", 24) == 0;
}

static const char *text_of(mwl_value v) {
    const char *text = mwl_as_text(v, NULL);
    return text ? text : "";
}

/* The rights as flags: "--allow-http, --allow-read". */
static void flags_of(const struct provider *p, char *out, size_t cap) {
    out[0] = '\0';
#if defined(MWL_HAVE_IO)
    for (int r = 0; r < MWL_IO_N_RIGHTS; r++) {
        size_t n = strlen(out);
        if (p->rights & 1u << r)
            snprintf(out + n, cap - n, "%s--allow-%s", n ? ", " : "",
                     mwl_io_right_name((mwl_io_right)r));
    }
#else
    (void)p, (void)cap;
#endif
}

/* ---- a page ---------------------------------------------------------------------------------- */

/* A text inside a table: '|' would end its cell, a line break the row. */
static void put_cell(FILE *to, const char *text) {
    for (; *text; text++) {
        if (*text == '|') fputc('\\', to);
        fputc(*text == '\n' ? ' ' : *text, to);
    }
}

static void put_json(FILE *to, mwl_heap *heap, mwl_value v) {
    char *text;
    size_t len;
    if (mwl_json_write(heap, v, MWL_JSON_COMPACT, &text, &len) != MWL_OK) return;
    fputc('`', to);
    put_cell(to, text);
    fputc('`', to);
    mwl_text_free(heap, text, len);
}

/* "string", "string or null", or the values of an enum. */
static void put_type(FILE *to, mwl_heap *heap, mwl_value schema) {
    mwl_value type = mwl_get(schema, "type"), choices = mwl_get(schema, "enum");
    for (size_t i = 0; i < mwl_count(choices); i++) {
        if (i) fputs(", ", to);
        put_json(to, heap, mwl_array_at(choices, i));
    }
    if (!mwl_is_absent(choices)) return;
    if (mwl_value_kind(type) == MWL_KIND_ARRAY)
        for (size_t i = 0; i < mwl_count(type); i++)
            fprintf(to, "%s%s", i ? " or " : "", text_of(mwl_array_at(type, i)));
    else if (strcmp(text_of(mwl_get(schema, "format")), "duration") == 0)
        fputs("duration", to);
    else
        fputs(mwl_is_absent(type) ? "any" : text_of(type), to);
}

static bool is_required(mwl_value schema, const char *name) {
    mwl_value list = mwl_get(schema, "required");
    for (size_t i = 0; i < mwl_count(list); i++)
        if (strcmp(text_of(mwl_array_at(list, i)), name) == 0) return true;
    return false;
}

/* A row for each member, and for the members of an object below it: "tls.ca". */
static void put_members(FILE *to, mwl_heap *heap, mwl_value schema, const char *before) {
    mwl_value properties = mwl_get(schema, "properties"), key, member;
    for (size_t i = 0; mwl_object_at(properties, i, &key, &member); i++) {
        char name[200];
        snprintf(name, sizeof name, "%s%s", before, text_of(key));
        fprintf(to, "| `%s` | ", name);
        put_type(to, heap, member);
        fputs(is_required(schema, text_of(key)) ? ", required" : "", to);
        if (!mwl_is_absent(mwl_get(member, "default"))) {
            fputs(", default ", to);
            put_json(to, heap, mwl_get(member, "default"));
        }
        fputs(" | ", to);
        put_cell(to, text_of(mwl_get(member, "description")));
        fputs(" |\n", to);
        strncat(name, ".", sizeof name - strlen(name) - 1);
        put_members(to, heap, member, name);
        if (!mwl_is_absent(mwl_get(member, "items"))) {
            name[strlen(name) - 1] = '\0';
            strncat(name, "[].", sizeof name - strlen(name) - 1);
            put_members(to, heap, mwl_get(member, "items"), name);
        }
    }
}

static void put_table(FILE *to, mwl_heap *heap, const char *title, mwl_value schema) {
    if (mwl_count(mwl_get(schema, "properties")) == 0) return;
    fprintf(to, "\n## %s\n\n| name | type | meaning |\n| --- | --- | --- |\n", title);
    put_members(to, heap, schema, "");
}

static void put_phases(FILE *to, const struct providers *s, const struct provider *p) {
    mwl_value phases = mwl_get(p->document, "phases"), key, block;
    for (size_t i = 0; mwl_object_at(phases, i, &key, &block); i++) {
        char title[64];
        mwl_value action = mwl_get(block, "action");
        fprintf(to, "\n`%s` (%s): %s\n", text_of(key), text_of(mwl_get(action, "kind")),
                text_of(mwl_get(action, "description")));
        snprintf(title, sizeof title, "Parameters of %s", text_of(key));
        put_table(to, s->heap, title, mwl_get(block, "parameters"));
    }
}

/* The lines "- Code: why" at the end of the description; a code without one stands alone. */
static void put_failures(FILE *to, const struct provider *p, const char *lines) {
    mwl_value closed = mwl_get(mwl_get(p->document, "failureCatalog"), "closed");
    if (mwl_count(closed) == 0) return;
    fputs("\n## Failures\n\n| code | why |\n| --- | --- |\n", to);
    for (size_t i = 0; i < mwl_count(closed); i++) {
        const char *code = text_of(mwl_array_at(closed, i)), *last = strrchr(code, '.');
        char begin[100], why[1000] = "";
        snprintf(begin, sizeof begin, "- %s: ", last ? last + 1 : code);
        const char *found = lines ? strstr(lines, begin) : NULL;
        if (found) {
            found += strlen(begin);
            snprintf(why, sizeof why, "%.*s", (int)strcspn(found, "\n"), found);
        }
        fprintf(to, "| `%s` | ", code);
        put_cell(to, why);
        fputs(" |\n", to);
    }
}

static void put_page(FILE *to, const struct providers *s, const struct provider *p) {
    char name[64], flags[200];
    const char *description = text_of(mwl_get(p->document, "description"));
    const char *failures = strstr(description, "\n\nFailures:\n");
    size_t n = failures ? (size_t)(failures - description) : strlen(description);
    short_name(p->uri, name, sizeof name);
    flags_of(p, flags, sizeof flags);
    fprintf(to, "# %s\n\n`%s`, a %s provider.", name, p->uri,
            is_middleware(p) ? "middleware" : "call");
    if (*flags) fprintf(to, " A call may ask for %s.", flags);
    fprintf(to, "\n\n%.*s\n", (int)n, description);
    if (is_middleware(p))
        put_phases(to, s, p);
    else
        put_table(to, s->heap, "Parameters", mwl_get(p->document, "parameters"));
    put_table(to, s->heap, "Metadata", mwl_get(p->document, "metadata"));
    put_failures(to, p, failures);
}

/* ---- the forms of the output ----------------------------------------------------------------- */

/* The first sentence. */
static int first_sentence(const char *text) {
    const char *stop = strstr(text, ". ");
    return stop ? (int)(stop - text) + 1 : (int)strcspn(text, "\n");
}

static void put_row(const struct provider *p) {
    char name[64];
    const char *description = text_of(mwl_get(p->document, "description"));
    short_name(p->uri, name, sizeof name);
    printf("%-16s %s\n%-16s %.*s\n", name, p->uri, "", first_sentence(description), description);
}

static int write_page(struct providers *s, const struct provider *p) {
    char path[4096], name[64];
    const char *kind = is_middleware(p) ? "mw" : "call";
    if (!strstr(p->uri, "/mwlvm/")) return CMD_OK; /* those of the language have no page */
    short_name(p->uri, name, sizeof name);
    for (char *c = name; *c; c++)
        if (*c == '-') *c = '_';
    snprintf(path, sizeof path, "%s/%s_%s.md", s->pages, kind, name);
    FILE *to = fopen(path, "w");
    if (!to) {
        cmd_fail("%s: cannot be written", path);
        return CMD_USAGE;
    }
    fputs(
        "<!-- Made by `mwlvm providers --pages` from the document beside it; do not edit. -->\n\n",
        to);
    put_page(to, s, p);
    if (fclose(to) == 0) return CMD_OK;
    cmd_fail("%s: cannot be written", path);
    return CMD_USAGE;
}

static void put_json_row(struct providers *s, const struct provider *p) {
    char flags[200];
    char *text;
    size_t len;
    flags_of(p, flags, sizeof flags);
    if (mwl_json_write(s->heap, p->document, MWL_JSON_COMPACT, &text, &len) != MWL_OK) return;
    printf("%s\n{\"uri\":\"%s\",\"permissions\":\"%s\",\"document\":%s}", s->shown ? "," : "",
           p->uri, flags, text);
    mwl_text_free(s->heap, text, len);
}

static int show(struct providers *s, struct provider *p) {
    char name[64];
    short_name(p->uri, name, sizeof name);
    if (s->name && strcmp(s->name, p->uri) != 0 && strcmp(s->name, name) != 0) return CMD_OK;
    int status = cmd_status(mwl_json_parse(s->heap, p->text, strlen(p->text), &p->document, NULL));
    if (status != CMD_OK) return status;
    if (s->pages) {
        status = write_page(s, p);
    } else if (s->json) {
        put_json_row(s, p);
    } else if (s->name) {
        if (s->shown) putchar('\n');
        put_page(stdout, s, p);
    } else {
        put_row(p);
    }
    s->shown++;
    mwl_value_drop(s->heap, p->document);
    return status;
}

static int show_all(struct providers *s) {
    int status = CMD_OK;
    const mwl__std_document *own;
    for (size_t i = 0; status == CMD_OK && (own = mwl__std_document_at(i)); i++)
        status = show(s, &(struct provider){own->uri, own->text, 0, mwl_absent()});
#if defined(MWL_HAVE_IO)
    const mwl_io_provider *p;
    for (size_t i = 0; status == CMD_OK && (p = mwl_io_provider_at(i)); i++)
        status = show(s, &(struct provider){p->uri, p->document, p->rights, mwl_absent()});
#endif
    const char *uri, *text = durable_document(&uri);
    if (text && !s->pages && status == CMD_OK)
        status = show(s, &(struct provider){uri, text, 0, mwl_absent()});
    if (status == CMD_OK && s->name && !s->shown)
        status = cmd_usage("there is no provider '%s'; `mwlvm providers` lists them", s->name);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const struct option options[] = {
#define AT(field) offsetof(struct providers, field)
    {"--json", OPTION_FLAG, AT(json), "", "print the documents as a JSON array", NULL},
    {"--pages", OPTION_WORD, AT(pages), "FOLDER", "write a page for each provider of stdlib/io",
     NULL},
#undef AT
};

static const char head[] = "usage: mwlvm providers [NAME|URI] [OPTIONS]\n\n"
                           "Lists the providers that this command has; with a NAME, shows one in\n"
                           "full: its parameters, metadata and failures.\n\n";

static const char foot[] = "\nExample:\n  mwlvm providers http\n" CMD_STATUSES;

static int operand(void *ctx, const char *word) {
    struct providers *s = ctx;
    if (s->name) return cmd_usage("one NAME is wanted, not '%s' and '%s'", s->name, word);
    s->name = word;
    return CMD_OK;
}

int cmd_providers(int argc, char **argv) {
    struct providers s;
    memset(&s, 0, sizeof s);
    const struct command_line line = {
        head, foot, {{options, sizeof options / sizeof *options, &s}}, operand, &s, false};
    int status = options_parse(&line, argc, argv);
    if (status != CMD_OK) return status;
    if (mwl_heap_new(NULL, &s.heap) != MWL_OK) return cmd_no_memory();
    if (s.json) putchar('[');
    status = show_all(&s);
    if (s.json) puts("\n]");
    mwl_heap_free(s.heap);
    return status;
}
