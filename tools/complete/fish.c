/* fish.c: the completion script of fish. See describe.h. */
#include "tools/complete/describe.h"

static void put_quoted(mwl__buf *out, const char *text) {
    mwl__buf_putc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\') mwl__buf_putc(out, '\\');
        mwl__buf_putc(out, *text == '\n' ? ' ' : *text);
    }
    mwl__buf_putc(out, '\'');
}

static void put_option(const struct describe_command *c, const struct option *o, mwl__buf *out) {
    mwl__buf words = mwl__buf_make(mwl_alloc_default());
    describe_values(c, o, &words);
    mwl__buf_printf(out, "complete -c mwlvm -n '__mwlvm_is %s' %s %s", c->name,
                    o->name[1] == '-' ? "-l" : "-s", o->name + (o->name[1] == '-' ? 2 : 1));
    if (o->kind != OPTION_FLAG && o->kind != OPTION_FORM) {
        if (words.len)
            mwl__buf_printf(out, " -x -a '%s'", mwl__buf_cstr(&words) + 1);
        else
            mwl__buf_puts(out, describe_is_file(o->operand) ? " -r -F" : " -x");
    } else if (words.len) {
        mwl__buf_printf(out, " -f -a '%s'", mwl__buf_cstr(&words) + 1);
    }
    mwl__buf_puts(out, " -d ");
    put_quoted(out, o->text);
    mwl__buf_putc(out, '\n');
    describe_end(&words, out);
}

static void put_command(const struct describe_command *c, mwl__buf *out) {
    mwl__buf words = mwl__buf_make(mwl_alloc_default());
    mwl__buf_printf(out, "complete -c mwlvm -n __mwlvm_first -a %s -d ", c->name);
    put_quoted(out, c->text);
    mwl__buf_printf(out,
                    "\ncomplete -c mwlvm -n '__mwlvm_is %s' -s h -l help -d 'show the options'\n",
                    c->name);
    for (size_t i = 0; i < c->n_options; i++) put_option(c, c->options[i], out);
    describe_operands(c, &words);
    if (words.len)
        mwl__buf_printf(out, "complete -c mwlvm -n '__mwlvm_is %s' -f -a '%s'\n", c->name,
                        mwl__buf_cstr(&words) + 1);
    describe_end(&words, out);
}

void describe_fish(const struct describe *d, mwl__buf *out) {
    mwl__buf_puts(out, "# fish completion of mwlvm; made by `mwlvm completion fish`\n"
                       "set -g __mwlvm_commands help");
    for (size_t i = 0; i < d->n_commands; i++) mwl__buf_printf(out, " %s", d->commands[i].name);
    mwl__buf_puts(out, "\n"
                       "function __mwlvm_first\n"
                       "    test (count (commandline -opc)) -eq 1\n"
                       "end\n"
                       "function __mwlvm_is\n"
                       "    set -l words (commandline -opc)\n"
                       "    test (count $words) -ge 2; or return 1\n"
                       "    if contains -- $words[2] $__mwlvm_commands\n"
                       "        test $words[2] = $argv[1]\n"
                       "    else\n"
                       "        test $argv[1] = run\n"
                       "    end\n"
                       "end\n"
                       "complete -c mwlvm -n __mwlvm_first -a help -d 'show the commands'\n"
                       "complete -c mwlvm -n __mwlvm_first -s h -l help -d 'show the commands'\n"
                       "complete -c mwlvm -n __mwlvm_first -s V -l version -d 'show the version'\n"
                       "complete -c mwlvm -n '__mwlvm_is help' -f -a \"$__mwlvm_commands\"\n");
    for (size_t i = 0; i < d->n_commands; i++) put_command(&d->commands[i], out);
}
