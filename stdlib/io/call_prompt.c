/* call_prompt.c: prompt: questions to a person on the terminal, one after the other.
 *
 * The first of the queue is shown. It has the terminal open, and the loop tells when there is a
 * line. The terminal stays in its line mode; for a secret it does not show what is typed, and it is
 * put back however the question ends. */
#include "stdlib/io/codec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#define PREFIX "Provider.Call.Prompt"

typedef struct prompt {
    mwl__io_op op;
    struct prompt *next;
    bool shown, hidden;
    int fd;
    uv_poll_t poll;
    struct termios saved; /* of a hidden one */
    size_t n;
    char line[4096]; /* what the terminal holds in one line at most */
} prompt;

typedef struct prompts {
    mwl_io *io;
    prompt *first, **last;
    uv_timer_t turn; /* shows the next one */
} prompts;

/* ---- the terminal ---------------------------------------------------------------------------- */

/* A person sees it; nothing can be done if it fails. */
static void say(const prompt *p, const char *text, size_t len) {
    while (len) {
        ssize_t n = write(p->fd, text, len);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        text += n;
        len -= (size_t)n;
    }
}

/* Adds a text without what could move the cursor or change earlier text. */
static bool add_plain(mwl__bytes *b, const char *text, size_t len) {
    bool ok = true;
    for (size_t i = 0; i < len && ok; i++) {
        unsigned char c = (unsigned char)text[i];
        bool c1 = c == 0xc2 && i + 1 < len && (unsigned char)text[i + 1] < 0xa0;
        bool control = (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || c1;
        ok = mwl__bytes_add(b, control ? "?" : text + i, 1);
        if (c1) i++;
    }
    return ok;
}

static bool add_text(mwl__bytes *b, const char *text) {
    return mwl__bytes_add(b, text, strlen(text));
}

static const char *kind_of(const prompt *p) {
    return mwl__io_arg_text(mwl_call_arguments(p->op.call), "kind", "text");
}

static bool is_kind(const prompt *p, const char *kind) { return strcmp(kind_of(p), kind) == 0; }

/* The numbered choices. */
static bool add_choices(mwl__bytes *b, mwl_value choices) {
    bool ok = true;
    for (size_t i = 0; i < mwl_count(choices) && ok; i++) {
        char number[32];
        size_t len = 0;
        const char *text = mwl_as_text(mwl_array_at(choices, i), &len);
        snprintf(number, sizeof number, "\n  %zu) ", i + 1);
        ok = add_text(b, number) && add_plain(b, text, len);
    }
    return ok && add_text(b, "\n");
}

static bool ask(prompt *p) {
    mwl__bytes b = {0};
    size_t len = 0;
    mwl_value args = mwl_call_arguments(p->op.call), otherwise = mwl_get(args, "default");
    const char *text = mwl_as_text(mwl_get(args, "message"), &len);
    bool ok = add_plain(&b, text, len);
    if (is_kind(p, "choice")) ok = ok && add_choices(&b, mwl_get(args, "choices"));
    if (is_kind(p, "confirm")) {
        bool yes = mwl_value_kind(otherwise) == MWL_KIND_BOOL && mwl_as_bool(otherwise);
        bool no = mwl_value_kind(otherwise) == MWL_KIND_BOOL && !yes;
        ok = ok && add_text(&b, yes ? " [Y/n] " : no ? " [y/N] " : " [y/n] ");
    } else if (mwl_value_kind(otherwise) == MWL_KIND_STRING && !p->hidden) {
        text = mwl_as_text(otherwise, &len);
        ok = ok && add_text(&b, " [") && add_plain(&b, text, len) && add_text(&b, "] ");
    } else {
        ok = ok && add_text(&b, " ");
    }
    if (ok) say(p, b.data, b.len);
    mwl__bytes_free(&b);
    return ok;
}

/* ---- the queue ------------------------------------------------------------------------------- */

static void on_turn(uv_timer_t *timer);

static void on_closed(uv_handle_t *handle) {
    prompt *p = handle->data;
    mwl_io *io = p->op.io;
    close(p->fd);
    free(p);
    mwl__io_release(io);
}

/* Ends a prompt whose call has been settled. */
static void end(prompt *p) {
    mwl_io *io = p->op.io;
    prompts *all = mwl__io_state(io, MWL__IO_CALL_prompt);
    for (prompt **at = &all->first; *at; at = &(*at)->next) {
        if (*at != p) continue;
        *at = p->next;
        if (all->last == &p->next) all->last = at;
        break;
    }
    mwl__io_hold(io);
    mwl__io_op_end(&p->op);
    if (p->shown) {
        if (p->hidden) tcsetattr(p->fd, TCSANOW, &p->saved);
        mwl__io_hold(io);
        uv_close((uv_handle_t *)&p->poll, on_closed);
        if (all->first) uv_timer_start(&all->turn, on_turn, 0, 0);
    } else {
        free(p);
    }
    mwl__io_release(io);
}

static void fail(prompt *p, const char *code, bool retryable, const char *message) {
    mwl__io_fail(p->op.call, code, retryable, mwl_absent(), "%s", message);
    end(p);
}

static void no_memory(prompt *p) { fail(p, PREFIX ".OutOfMemory", true, "out of memory"); }

static void prompt_stop(mwl__io_op *op) {
    prompt *p = (prompt *)op;
    if (p->shown) say(p, "\n(cancelled)\n", 13);
    fail(p, PREFIX ".Closed", false, "cancelled");
}

/* ---- answers --------------------------------------------------------------------------------- */

static void answer_text(prompt *p, const char *text, size_t len) {
    mwl_heap *heap = mwl_call_heap(p->op.call);
    mwl_value otherwise = mwl_get(mwl_call_arguments(p->op.call), "default");
    if (len == 0 && mwl_value_kind(otherwise) == MWL_KIND_STRING)
        text = mwl_as_text(otherwise, &len);
    if (p->hidden && mwl_io_secret(p->op.io, mwl_call_run(p->op.call), text, len) != MWL_OK) {
        no_memory(p);
        return;
    }
    mwl_call_succeed(p->op.call, mwl__io_text(heap, text, len));
    end(p);
}

/* Asks again, because the answer was not one of those. */
static void again(prompt *p, const char *hint) {
    p->n = 0;
    say(p, hint, strlen(hint));
    if (!ask(p)) no_memory(p);
}

static void answer_confirm(prompt *p, const char *text, size_t len) {
    mwl_value otherwise = mwl_get(mwl_call_arguments(p->op.call), "default");
    bool yes = strcasecmp(text, "y") == 0 || strcasecmp(text, "yes") == 0;
    bool no = strcasecmp(text, "n") == 0 || strcasecmp(text, "no") == 0;
    if (len == 0 && mwl_value_kind(otherwise) == MWL_KIND_BOOL) {
        yes = mwl_as_bool(otherwise);
        no = !yes;
    }
    if (!yes && !no) {
        again(p, "Please type y or n.\n");
        return;
    }
    mwl_call_succeed(p->op.call, mwl_bool(yes));
    end(p);
}

static mwl_value chosen(mwl_value choices, const char *text, size_t len) {
    char *after;
    unsigned long number = strtoul(text, &after, 10);
    for (size_t i = 0; i < mwl_count(choices); i++) {
        size_t n = 0;
        const char *choice = mwl_as_text(mwl_array_at(choices, i), &n);
        if (n == len && memcmp(choice, text, len) == 0) return mwl_array_at(choices, i);
    }
    return len && !*after && number ? mwl_array_at(choices, number - 1) : mwl_absent();
}

static void answer_choice(prompt *p, const char *text, size_t len) {
    mwl_value args = mwl_call_arguments(p->op.call), otherwise = mwl_get(args, "default");
    if (len == 0 && mwl_value_kind(otherwise) == MWL_KIND_STRING)
        text = mwl_as_text(otherwise, &len);
    mwl_value v = chosen(mwl_get(args, "choices"), text, len);
    if (mwl_is_absent(v)) {
        again(p, "Please type one of the numbers.\n");
        return;
    }
    mwl_call_succeed(p->op.call, mwl_value_keep(v));
    end(p);
}

static void on_readable(uv_poll_t *poll, int status, int events) {
    (void)events;
    prompt *p = poll->data;
    ssize_t n = status < 0 ? 0 : read(p->fd, p->line + p->n, sizeof p->line - 1 - p->n);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        fail(p, PREFIX ".Closed", false, "the terminal was closed");
        return;
    }
    p->n += (size_t)n;
    char *nl = memchr(p->line, '\n', p->n);
    /* Ctrl-D inside a line delivers an incomplete line: wait for the rest. */
    if (!nl && p->n < sizeof p->line - 1) return;
    size_t len = nl ? (size_t)(nl - p->line) : p->n;
    p->line[len] = '\0';
    if (is_kind(p, "confirm"))
        answer_confirm(p, p->line, len);
    else if (is_kind(p, "choice"))
        answer_choice(p, p->line, len);
    else
        answer_text(p, p->line, len);
}

/* ---- showing --------------------------------------------------------------------------------- */

static void show(prompt *p) {
    const char *terminal = mwl__io_options(p->op.io)->terminal;
    p->fd = open(terminal ? terminal : "/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    bool usable =
        p->fd >= 0 && isatty(p->fd) && uv_poll_init(mwl__io_loop(p->op.io), &p->poll, p->fd) == 0;
    if (!usable) {
        if (p->fd >= 0) close(p->fd);
        fail(p, PREFIX ".NoTerminal", false, "there is no terminal");
        return;
    }
    p->poll.data = p;
    p->shown = true;
    p->hidden = is_kind(p, "secret") && tcgetattr(p->fd, &p->saved) == 0;
    if (p->hidden) {
        struct termios quiet = p->saved;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        quiet.c_lflag |= ECHONL;
        tcsetattr(p->fd, TCSANOW, &quiet);
    } else if (is_kind(p, "secret")) {
        fail(p, PREFIX ".NoTerminal", false, "the terminal cannot hide what is typed");
        return;
    }
    tcflush(p->fd, TCIFLUSH);
    if (!ask(p))
        no_memory(p);
    else
        uv_poll_start(&p->poll, UV_READABLE, on_readable);
}

static void on_turn(uv_timer_t *timer) {
    prompts *all = timer->data;
    while (all->first && !all->first->shown) {
        prompt *p = all->first;
        show(p);
        if (all->first == p) return;
    }
}

static prompts *prompts_of(mwl_io *io) {
    prompts *all = mwl__io_state(io, MWL__IO_CALL_prompt);
    if (all || !(all = calloc(1, sizeof *all))) return all;
    all->io = io;
    all->last = &all->first;
    uv_timer_init(mwl__io_loop(io), &all->turn);
    all->turn.data = all;
    mwl__io_set_state(io, MWL__IO_CALL_prompt, all);
    return all;
}

static void prompt_start(mwl_call *call, void *user) {
    prompts *all = prompts_of(user);
    prompt *p = all ? calloc(1, sizeof *p) : NULL;
    if (!p) {
        mwl__io_fail(call, PREFIX ".OutOfMemory", true, mwl_absent(), "out of memory");
        return;
    }
    p->fd = -1;
    mwl__io_op_begin(&p->op, user, call, prompt_stop);
    *all->last = p;
    all->last = &p->next;
    if (all->first == p) uv_timer_start(&all->turn, on_turn, 0, 0);
}

static void on_state_closed(uv_handle_t *handle) {
    prompts *all = handle->data;
    mwl_io *io = all->io;
    free(all);
    mwl__io_release(io);
}

static void prompt_close(mwl_io *io, void *state) {
    prompts *all = state;
    mwl__io_hold(io);
    uv_close((uv_handle_t *)&all->turn, on_state_closed);
}

const mwl_call_provider mwl__io_call_prompt = {MWL__IO_CALL(prompt, "prompt"),
                                               .start = prompt_start, .cancel = mwl__io_op_cancel};
const mwl__io_life mwl__io_call_prompt_life = {prompt_close};
