/* manual.c: the man page. See describe.h. */
#include "tools/complete/describe.h"
#include "mwl.h"

#include <string.h>

/* Text inside a line: what troff would read as its own is escaped. */
static void put_text(mwl__buf *out, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\\')
            mwl__buf_puts(out, "\\e");
        else if (text[i] == '-')
            mwl__buf_puts(out, "\\-");
        else
            mwl__buf_putc(out, text[i]);
    }
}

static void put_line(mwl__buf *out, const char *text, size_t len) {
    if (len && (*text == '.' || *text == '\'')) mwl__buf_puts(out, "\\&");
    put_text(out, text, len);
    mwl__buf_putc(out, '\n');
}

/* Text that is filled: in lines of a moderate length, as man pages are written. */
static void put_filled(mwl__buf *out, const char *text, size_t len) {
    enum { LONGEST = 68 };
    while (len > LONGEST) {
        size_t at = LONGEST;
        while (at && text[at] != ' ') at--;
        if (!at) break;
        put_line(out, text, at);
        text += at + 1;
        len -= at + 1;
    }
    put_line(out, text, len);
}

/* Lines of a help text: paragraphs; lines that begin with two spaces are shown as they are. */
static void put_prose(mwl__buf *out, const char *text) {
    bool shown = false, between = true;
    while (*text) {
        size_t len = strcspn(text, "\n");
        bool show = len > 1 && text[0] == ' ' && text[1] == ' ';
        if (show != shown && len) {
            if (show && between) mwl__buf_puts(out, ".PP\n");
            mwl__buf_puts(out, show ? ".nf\n" : ".fi\n");
            shown = show;
        }
        if (len && !show && between) mwl__buf_puts(out, ".PP\n");
        if (len && show)
            put_line(out, text, len);
        else if (len)
            put_filled(out, text, len);
        between = !len;
        text += len + (text[len] == '\n');
    }
    if (shown) mwl__buf_puts(out, ".fi\n");
}

/* The lines of "usage: ..." at the beginning of a help text. Returns what follows them. */
static const char *put_usage(mwl__buf *out, const char *head) {
    mwl__buf_puts(out, ".nf\n");
    while (*head && *head != '\n') {
        size_t len = strcspn(head, "\n"), skip = strncmp(head, "usage: ", 7) == 0 ? 7 : 0;
        if (!skip) skip = strspn(head, " ");
        put_line(out, head + skip, len - skip);
        head += len + (head[len] == '\n');
    }
    mwl__buf_puts(out, ".fi\n");
    return head;
}

static void put_option(mwl__buf *out, const struct option *o) {
    mwl__buf_puts(out, ".TP\n\\fB");
    put_text(out, o->name, strlen(o->name));
    mwl__buf_puts(out, "\\fR");
    if (*o->operand) {
        bool form = o->kind == OPTION_FORM;
        mwl__buf_puts(out, form ? "[" : " ");
        put_text(out, o->operand, strlen(o->operand));
        if (form) mwl__buf_putc(out, ']');
    }
    mwl__buf_putc(out, '\n');
    put_filled(out, o->text, strlen(o->text));
}

static void put_command(mwl__buf *out, const struct describe_command *c) {
    mwl__buf_printf(out, ".SS %s\n", c->name);
    put_prose(out, put_usage(out, c->head));
    for (size_t i = 0; i < c->n_options; i++) put_option(out, c->options[i]);
    if (c->foot) put_prose(out, c->foot);
}

void describe_manual(const struct describe *d, mwl__buf *out) {
    mwl__buf_printf(out, ".TH MWLVM 1 2026-11-17 \"mwlvm %s\"\n", mwl_version());
    mwl__buf_puts(out,
                  ".SH NAME\n"
                  "mwlvm \\- run and check workflows of the Metolia Workflow Language\n"
                  ".SH SYNOPSIS\n"
                  ".B mwlvm\n.I FILE\n[OPTIONS]\n.br\n"
                  ".B mwlvm\n.I COMMAND\n[OPERANDS]\n.br\n"
                  ".B mwlvm\n\\-\\-help | \\-\\-version\n"
                  ".SH DESCRIPTION\n"
                  "A workflow is a JSON document: Flows of Steps that call providers, branch,\n"
                  "fan out, wait and handle failures.\n"
                  "mwlvm checks such a definition, assembles it into a program and runs it.\n"
                  ".PP\n"
                  "A FILE alone is run.\n"
                  "The commands are:\n");
    for (size_t i = 0; i < d->n_commands; i++) {
        const char *operands = d->commands[i].operands;
        mwl__buf_printf(out, ".TP\n\\fB%s\\fR%s%s\n", d->commands[i].name, *operands ? " " : "",
                        operands);
        put_line(out, d->commands[i].text, strlen(d->commands[i].text));
    }
    mwl__buf_puts(out, ".SH COMMANDS\n");
    for (size_t i = 0; i < d->n_commands; i++) put_command(out, &d->commands[i]);
    mwl__buf_puts(out, ".SH EXIT STATUS\n"
                       "0 success; 1 failure; 2 wrong usage, or a file that cannot be read or\n"
                       "written; 3 rejected definition or program; 4 cancelled; 5 timed out; 6 a\n"
                       "limit was reached; 128 and more: ended by a signal.\n"
                       ".SH SEE ALSO\n"
                       "The specification of the language:\n"
                       "https://github.com/Element84/metolia\\-spec\n");
}
