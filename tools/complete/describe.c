/* describe.c: see describe.h. */
#include "tools/complete/describe.h"

#include "assembler/source/diag.h"
#include "tools/new/new.h"
#include "tools/words/function_words.h"
#include "tools/host/io_host.h"
#include "tools/words/members.h"
#include "stdlib/documents.h"

#include <stdlib.h>
#include <string.h>

static void visit(void *ctx, const struct command_line *line) {
    struct describe_command *c = ctx;
    c->head = line->head;
    c->foot = line->foot;
    for (size_t t = 0; t < OPTIONS_TABLES; t++)
        for (size_t i = 0; i < line->tables[t].n_rows; i++)
            if (line->tables[t].rows[i].kind != OPTION_TITLE &&
                c->n_options < sizeof c->options / sizeof *c->options)
                c->options[c->n_options++] = &line->tables[t].rows[i];
}

int describe_all(struct describe *d, const struct command *rows, size_t n) {
    memset(d, 0, sizeof *d);
    d->commands = calloc(n, sizeof *d->commands);
    if (!d->commands) return cmd_no_memory();
    for (size_t i = 0; i < n; i++) {
        struct describe_command *c = &d->commands[d->n_commands++];
        const struct options_visitor visitor = {visit, c};
        char name[16] = "";
        char *argv[] = {name, NULL};
        *c = (struct describe_command){
            .name = rows[i].name, .operands = rows[i].operands, .text = rows[i].text};
        options_visit(&visitor);
        rows[i].run(1, argv);
        options_visit(NULL);
        if (!c->head) return cmd_fail("%s does not describe itself", c->name);
    }
    return CMD_OK;
}

void describe_free(struct describe *d) { free(d->commands); }

void describe_end(mwl__buf *part, mwl__buf *out) {
    out->failed |= part->failed;
    mwl__buf_free(part);
}

/* ---- what completes a word ------------------------------------------------------------------- */

bool describe_is_file(const char *operand) {
    return strstr(operand, "FILE") || strstr(operand, "FOLDER") || strstr(operand, "PATH") ||
           strstr(operand, "OUT") || strstr(operand, "DIR");
}

static void put_word(mwl__buf *out, const char *word, size_t len) {
    mwl__buf_putc(out, ' ');
    mwl__buf_put(out, word, len);
}

/* Values that an option's table has only in its text. The first row that fits counts. */
static const struct {
    const char *command, *option, *words;
} values[] = {
    {"", "--color", " auto always never"},
    {"graph", "--format", " svg mermaid dot"},
    {"", "--format", " human json sarif"},
    {"run", "--trace", " full json"},
};

void describe_values(const struct describe_command *c, const struct option *o, mwl__buf *out) {
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (strcmp(values[i].option, o->name) != 0) continue;
        if (*values[i].command && strcmp(values[i].command, c->name) != 0) continue;
        mwl__buf_puts(out, values[i].words);
        return;
    }
}

/* "http" of "mwl:provider.call/mwlvm/http/v1". */
static void put_provider(mwl__buf *out, const char *uri) {
    const char *slash = strchr(uri, '/');
    const char *name = slash ? strchr(slash + 1, '/') : NULL;
    if (name) put_word(out, name + 1, strcspn(name + 1, "/"));
}

static void put_providers(mwl__buf *out) {
    const mwl__std_document *d;
    for (size_t i = 0; (d = mwl__std_document_at(i)); i++) put_provider(out, d->uri);
    for (const mwl_asm_document *io = io_host_documents(); io && io->uri; io++)
        put_provider(out, io->uri);
}

static void put_codes(mwl__buf *out) {
    size_t n;
    const mwl__diag_info *codes = mwl__diag_rows(&n);
    for (size_t i = 0; i < n; i++) put_word(out, codes[i].name, strlen(codes[i].name));
}

void describe_operands(const struct describe_command *c, mwl__buf *out) {
    const char *word;
    if (strcmp(c->name, "new") == 0)
        for (size_t i = 0; (word = cmd_new_pattern(i)); i++) put_word(out, word, strlen(word));
    if (strcmp(c->name, "actions") == 0)
        for (size_t i = 0; i < MEMBER_ACTIONS; i++)
            put_word(out, member_actions[i].name, strlen(member_actions[i].name));
    if (strcmp(c->name, "functions") == 0)
        for (size_t i = 0; i < n_function_words; i++)
            put_word(out, function_words[i].name, strlen(function_words[i].name));
    if (strcmp(c->name, "providers") == 0) put_providers(out);
    if (strcmp(c->name, "explain") == 0) put_codes(out);
    if (strcmp(c->name, "completion") == 0) mwl__buf_puts(out, " bash zsh fish");
}
