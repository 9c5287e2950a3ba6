/* prompt.c: see prompt.h. */
#include "tools/debug/prompt.h"

#include "tools/base/cmd.h"
#include "vm/machine/state.h"
#include "vm/program/view.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { WATCH_MS = 100 }; /* how late Ctrl-C is seen */

const char prompt_help[] =
    "  step, s             to the next event: a Step, a phase, a call begins or ends\n"
    "  next, n             to the next Step of this Flow\n"
    "  out, o              out of this Flow\n"
    "  phase               to the next phase of a middleware\n"
    "  continue, c         to the next breakpoint, or the end\n"
    "  back, b             back to the stop before this one; `back break`: to the last breakpoint\n"
    "  break STEP          stop when the Step begins; each of these may end with `if EXPR`:\n"
    "  break phase NAME    stop in a phase: onEntry, onSuccess, onFailure, onAlways\n"
    "  break provider P    stop when a call of it, or its middleware, begins: a URI or a name\n"
    "  break code CODE     stop at a failure with this code; `Http.*` and `*` too\n"
    "  break when EXPR     stop when a condition becomes true\n"
    "  breaks, delete N    list the breakpoints; remove one\n"
    "  print EXPR, p EXPR  a root (vars, step, call, middleware, failure, execution, ...) or any\n"
    "                      expression, in this place\n"
    "  where, w            the frames, with what each of them does\n"
    "  list, l             the place in the definition\n"
    "  cancel              cancel the run from outside, when it goes on\n"
    "  help, quit          Ctrl-C stops a run that goes on\n";

/* ---- showing --------------------------------------------------------------------------------- */

static void show(mwl__buf *out) {
    if (!out->failed && out->len) fwrite(out->data, 1, out->len, stdout);
    mwl__buf_free(out);
}

static mwl__buf text_buf(void) { return mwl__buf_make(mwl_alloc_default()); }

static void show_result(struct walk *s) {
    const struct machine *m = &s->machine;
    mwl__buf out = text_buf();
    if (m->stuck) {
        mwl__buf_puts(&out, "The run waits for something that never comes.\n");
    } else if (m->run && mwl_run_get_state(m->run) == MWL_RUN_DONE) {
        mwl__buf_puts(&out, "The run is over. Result: ");
        inspect_write_result(mwl_vm_heap(m->vm), m->run, &out);
        mwl__buf_puts(&out, "\n");
    } else if (m->run) {
        mwl__buf_printf(&out, "The run was ended without a Result: %s\n",
                        mwl_status_text(mwl_run_why(m->run)));
    }
    show(&out);
}

static void show_place(const struct prompt *p, struct walk *s) {
    mwl__frame *f = inspect_frame(&s->machine);
    mwl__buf out = text_buf();
    if (f) inspect_show_place(s->setup, f, walk_event(s), p->colour, &out);
    show(&out);
}

/* Where it stands now, and why. */
static void show_stop(const struct prompt *p, struct walk *s) {
    const mwl_trace_event *e = walk_event(s);
    if (!e) {
        show_result(s);
        return;
    }
    mwl__buf out = text_buf();
    if (s->why == WHY_BREAK) mwl__buf_printf(&out, "Breakpoint %d: ", s->break_id);
    inspect_event(e, &out);
    mwl__buf_printf(&out, ", at %.3f s\n",
                    (double)(e->at.mono_ns - s->machine.began.mono_ns) / 1e9);
    show(&out);
    show_place(p, s);
}

static void show_value(const struct walk *s, const char *text) {
    mwl__frame *f = inspect_frame(&s->machine);
    char why[300] = "";
    mwl__buf out = text_buf();
    if (!f) {
        puts("there is no frame: the run is over");
        return;
    }
    mwl_heap *h = mwl_vm_heap(s->machine.vm);
    bool root = false;
    for (size_t i = 0; inspect_roots[i]; i++) root |= strcmp(inspect_roots[i], text) == 0;
    mwl_value v = root ? inspect_root(f, text) : inspect_eval(f, text, why, sizeof why);
    if (mwl_is_absent(v))
        mwl__buf_printf(&out, "%s%s", root ? "there is no `" : "", root ? text : why);
    else
        inspect_write(h, v, MWL_JSON_PRETTY, &out);
    mwl__buf_puts(&out, root && mwl_is_absent(v) ? "` here\n" : "\n");
    mwl_value_drop(h, v);
    show(&out);
}

static void show_frames(const struct walk *s) {
    enum { MOST = 64 };
    struct inspect_thread threads[MOST];
    size_t n = inspect_threads(&s->machine, threads, MOST);
    mwl__buf out = text_buf();
    const mwl__frame *here = inspect_frame(&s->machine);
    for (size_t i = 0; i < n && i < MOST; i++) {
        if (n > 1) mwl__buf_printf(&out, "%s:\n", threads[i].name);
        for (const mwl__frame *f = threads[i].innermost; f; f = f->parent) {
            mwl__buf_puts(&out, f == here ? "> " : "  ");
            inspect_name(f, &out);
            mwl__span span;
            if (inspect_place(s->setup, f, NULL, &span))
                mwl__buf_printf(&out, ", line %u",
                                mwl__source_place(&s->setup->source, span.begin).line);
            mwl__buf_puts(&out, "\n");
        }
    }
    if (n > MOST) mwl__buf_printf(&out, "... and %zu more dispatches\n", n - MOST);
    show(&out);
}

static void show_breaks(const struct walk *s) {
    mwl__buf out = text_buf();
    for (size_t i = 0; i < s->breaks.n_items; i++) {
        breaks_write(&s->breaks.items[i], &out);
        mwl__buf_puts(&out, "\n");
    }
    if (!s->breaks.n_items) mwl__buf_puts(&out, "there are no breakpoints\n");
    show(&out);
}

/* ---- commands -------------------------------------------------------------------------------- */

static bool is_word(const char *word, size_t len, const char *name, const char *letter) {
    return (strlen(name) == len && memcmp(word, name, len) == 0) ||
           (letter && strlen(letter) == len && memcmp(word, letter, len) == 0);
}

/* Cuts the first word off; what is behind it is returned. */
static char *cut(char *line, size_t *len) {
    *len = strcspn(line, " \t");
    char *rest = line + *len;
    return rest + strspn(rest, " \t");
}

static bool has_step(const struct walk *s, const char *name) {
    const mwl_program *p = s->setup->program;
    for (uint32_t i = 0; i < mwl__view_n_steps(p); i++)
        if (strcmp(mwl__view_step_name(p, i), name) == 0) return true;
    return false;
}

static void add_break(struct walk *s, char *text) {
    int id = breaks_add_text(&s->breaks, text, NULL);
    const struct breakpoint *b = id ? breaks_find(&s->breaks, id) : NULL;
    if (!b) {
        puts("break needs a Step, or `phase`, `provider`, `code`, `when` and what to look for");
        return;
    }
    if (b->kind == BREAK_STEP && !has_step(s, b->text)) {
        printf("no Flow has a Step '%s'\n", b->text);
        breaks_remove(&s->breaks, id);
        return;
    }
    mwl__buf out = text_buf();
    breaks_write(b, &out);
    mwl__buf_puts(&out, "\n");
    show(&out);
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
}

/* Waits until the run stands. Ctrl-C stops it where it is. */
static int arrive(struct walk *s) {
    interrupted = 0;
    while (s->started && !machine_wait_ms(&s->machine, WATCH_MS)) {
        if (!interrupted) continue;
        interrupted = 0;
        machine_pause(&s->machine);
    }
    return walk_arrive(s);
}

static void go(const struct prompt *p, struct walk *s, enum walk_go how) {
    if (walk_over(s)) {
        puts("the run is over; `back` goes back into it");
        return;
    }
    walk_go(s, how);
    if (arrive(s) == CMD_OK) show_stop(p, s);
}

static void go_back(const struct prompt *p, struct walk *s, const char *rest) {
    const char *why = strcmp(rest, "break") == 0 ? walk_back_to_break(s) : walk_back(s);
    if (why)
        puts(why);
    else
        show_stop(p, s);
}

static bool move(const struct prompt *p, struct walk *s, const char *word, size_t len) {
    static const struct {
        const char *name, *letter;
        enum walk_go go;
    } ways[] = {{"step", "s", GO_STEP},
                {"next", "n", GO_NEXT},
                {"out", "o", GO_OUT},
                {"phase", NULL, GO_PHASE},
                {"continue", "c", GO_ON}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (is_word(word, len, ways[i].name, ways[i].letter)) {
            go(p, s, ways[i].go);
            return true;
        }
    return false;
}

/* Returns false for `quit`. */
static bool carry_out(const struct prompt *p, struct walk *s, char *line) {
    size_t len;
    char *rest = cut(line, &len);
    if (!len || line[0] == '#' || move(p, s, line, len)) return true;
    if (is_word(line, len, "quit", "q")) return false;
    if (is_word(line, len, "back", "b"))
        go_back(p, s, rest);
    else if (is_word(line, len, "break", NULL))
        add_break(s, rest);
    else if (is_word(line, len, "breaks", NULL))
        show_breaks(s);
    else if (is_word(line, len, "delete", NULL))
        puts(breaks_remove(&s->breaks, (int)strtol(rest, NULL, 10))
                 ? "removed"
                 : "there is no such breakpoint");
    else if (is_word(line, len, "print", "p"))
        show_value(s, *rest ? rest : "vars");
    else if (is_word(line, len, "where", "w"))
        show_frames(s);
    else if (is_word(line, len, "list", "l"))
        show_place(p, s);
    else if (is_word(line, len, "cancel", NULL))
        walk_cancel(s);
    else if (is_word(line, len, "help", "h"))
        fputs(prompt_help, stdout);
    else
        printf("there is no command '%.*s'; `help` lists them\n", (int)len, line);
    return true;
}

int prompt_run(const struct prompt *p, struct walk *s) {
    char last[256] = "";
    const struct sigaction stops = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &stops, NULL); /* at the prompt it does nothing: `quit` ends the command */
    walk_go(s, GO_STEP);
    int status = walk_arrive(s);
    if (status != CMD_OK) return status;
    show_stop(p, s);
    for (bool more = true; more;) {
        fflush(stdout);
        interrupted = 0;
        char *line = line_read(p->script, "(mwl) ");
        if (!line && interrupted && !p->script) { /* Ctrl-C: what was typed is given up */
            clearerr(stdin);
            putchar('\n');
            continue;
        }
        if (!line) break;
        char *text = line + strspn(line, " \t");
        if (!*text && !p->script) text = last; /* an empty line repeats the last command */
        if (p->script && *text) printf("(mwl) %s\n", text);
        if (text != last) snprintf(last, sizeof last, "%s", text);
        char copy[sizeof last];
        snprintf(copy, sizeof copy, "%s", text);
        more = carry_out(p, s, text == last ? copy : text);
        free(line);
    }
    return CMD_OK;
}
