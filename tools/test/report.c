/* report.c: see report.h. */
#include "tools/test/report.h"

#include "tools/base/cmd.h"
#include "tools/base/file_out.h"
#include "tools/base/path.h"
#include "tools/base/term.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DOTS_A_LINE = 72 };

void report_begin(struct report *r, size_t n_cases) {
    r->xml = r->failures = mwl__buf_make(mwl_alloc_default());
    if (r->form == REPORT_TAP) printf("TAP version 13\n1..%zu\n", n_cases);
}

static const char *red(const struct report *r) { return r->colour ? "\033[31m" : ""; }
static const char *green(const struct report *r) { return r->colour ? "\033[32m" : ""; }
static const char *plain(const struct report *r) { return r->colour ? "\033[0m" : ""; }

/* Only what XML 1.0 can contain. */
static void put_xml(mwl__buf *out, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '<')
            mwl__buf_puts(out, "&lt;");
        else if (c == '>')
            mwl__buf_puts(out, "&gt;");
        else if (c == '&')
            mwl__buf_puts(out, "&amp;");
        else if (c == '"')
            mwl__buf_puts(out, "&quot;");
        else
            mwl__buf_putc(out, c >= 0x20 || c == '\n' || c == '\t' ? (char)c : '?');
    }
}

static void add_junit(struct report *r, const struct test_case *c, const struct test_outcome *o) {
    const char *name = path_last(c->name);
    mwl__buf_puts(&r->xml, "  <testcase classname=\"");
    put_xml(&r->xml, c->name, name > c->name ? (size_t)(name - c->name) - 1 : 0);
    mwl__buf_puts(&r->xml, "\" name=\"");
    put_xml(&r->xml, name, strlen(name));
    mwl__buf_printf(&r->xml, "\" time=\"%.6f\"", (double)o->took_ns / 1e9);
    if (o->status == TEST_PASSED) {
        mwl__buf_puts(&r->xml, "/>\n");
        return;
    }
    mwl__buf_puts(&r->xml, ">\n    <failure message=\"");
    size_t line = 0;
    while (line < o->text.len && o->text.data[line] != '\n') line++;
    if (line) put_xml(&r->xml, o->text.data, line);
    mwl__buf_puts(&r->xml, "\">");
    if (o->text.len) put_xml(&r->xml, o->text.data, o->text.len);
    mwl__buf_puts(&r->xml, "</failure>\n  </testcase>\n");
}

/* A workflow command: one line, in which these characters have another form. */
static void put_annotation(const struct test_case *c, const struct test_outcome *o) {
    printf("::error file=%s,title=%s::", c->file, c->name);
    for (size_t i = 0; i < o->text.len; i++) {
        char ch = o->text.data[i];
        if (ch == '%')
            fputs("%25", stdout);
        else if (ch == '\n')
            fputs("%0A", stdout);
        else if (ch == '\r')
            fputs("%0D", stdout);
        else
            putchar(ch);
    }
    putchar('\n');
}

static void put_text(const struct test_outcome *o, const char *before) {
    const char *at = o->text.data, *end = at + o->text.len;
    while (at && at < end) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        size_t n = line ? (size_t)(line - at) : (size_t)(end - at);
        fputs(before, stdout);
        if (isatty(STDOUT_FILENO))
            term_text(stdout, at, n);
        else
            fwrite(at, 1, n, stdout);
        putchar('\n');
        at += n + 1;
    }
}

static void put_tap(struct report *r, const struct test_case *c, const struct test_outcome *o) {
    printf("%s %zu - %s\n", o->status == TEST_PASSED ? "ok" : "not ok", r->n, c->name);
    if (o->status == TEST_PASSED) return;
    puts("  ---\n  message: |");
    put_text(o, "  ");
    puts("  ...");
}

static void put_dot(struct report *r, const struct test_case *c, const struct test_outcome *o) {
    bool passed = o->status == TEST_PASSED;
    printf("%s%c%s", passed ? "" : red(r), passed ? '.' : 'F', passed ? "" : plain(r));
    if (++r->column % DOTS_A_LINE == 0) putchar('\n');
    if (passed) return;
    mwl__buf_printf(&r->failures, "%sFAIL%s %s\n", red(r), plain(r), c->name);
    mwl__buf_put(&r->failures, o->text.data, o->text.len);
}

void report_case(struct report *r, const struct test_case *c, const struct test_outcome *o) {
    bool passed = o->status == TEST_PASSED;
    r->n++;
    *(passed ? &r->passed : &r->failed) += 1;
    if (r->junit) add_junit(r, c, o);
    switch (r->form) {
    case REPORT_TAP: put_tap(r, c, o); break;
    case REPORT_DOTS: put_dot(r, c, o); break;
    case REPORT_NAMES:
        printf("%s%s%s %s\n", passed ? green(r) : red(r), passed ? "ok  " : "FAIL", plain(r),
               c->name);
        if (!passed) put_text(o, "");
        break;
    }
    if (r->github && !passed) put_annotation(c, o);
    fflush(stdout);
}

int report_end(struct report *r, double seconds) {
    int status = CMD_OK;
    if (r->form == REPORT_DOTS) {
        if (r->column % DOTS_A_LINE) putchar('\n');
        if (r->failures.len) fwrite(r->failures.data, 1, r->failures.len, stdout);
    }
    if (r->form != REPORT_TAP)
        printf("%zu passed, %s%zu failed%s (%.2f s)\n", r->passed, r->failed ? red(r) : "",
               r->failed, r->failed ? plain(r) : "", seconds);
    fflush(stdout);
    if (r->junit) {
        mwl__buf all = mwl__buf_make(mwl_alloc_default());
        mwl__buf_printf(&all,
                        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"mwlvm "
                        "test\" tests=\"%zu\" failures=\"%zu\" time=\"%.6f\">\n",
                        r->n, r->failed, seconds);
        if (r->xml.len) mwl__buf_put(&all, r->xml.data, r->xml.len);
        mwl__buf_puts(&all, "</testsuite>\n");
        status = all.failed ? CMD_LIMIT : file_out(r->junit, all.data, all.len);
        mwl__buf_free(&all);
    }
    mwl__buf_free(&r->xml);
    mwl__buf_free(&r->failures);
    return status;
}
