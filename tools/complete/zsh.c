/* zsh.c: the completion script of zsh. See describe.h. */
#include "tools/complete/describe.h"

/* Text inside '...' of a specification for _arguments: brackets, colons and quotes are escaped. */
static void put_quoted(mwl__buf *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\'')
            mwl__buf_puts(out, "'\\''");
        else if (*text == '\n')
            mwl__buf_putc(out, ' ');
        else {
            if (*text == '[' || *text == ']' || *text == ':' || *text == '\\')
                mwl__buf_putc(out, '\\');
            mwl__buf_putc(out, *text);
        }
    }
}

static void put_option(const struct describe_command *c, const struct option *o, mwl__buf *out) {
    bool repeats = o->kind == OPTION_LIST || o->kind == OPTION_CALL || o->kind == OPTION_FORM;
    bool is_short = o->name[1] != '-';
    mwl__buf words = mwl__buf_make(mwl_alloc_default());
    describe_values(c, o, &words);
    mwl__buf_printf(out, " \\\n                '%s%s%s[", repeats ? "*" : "", o->name,
                    o->kind == OPTION_FLAG   ? ""
                    : o->kind == OPTION_FORM ? "=-"
                    : is_short               ? ""
                                             : "=");
    put_quoted(out, o->text);
    mwl__buf_putc(out, ']');
    if (o->kind != OPTION_FLAG) {
        mwl__buf_puts(out, o->kind == OPTION_FORM ? "::" : ":");
        put_quoted(out, o->operand);
        mwl__buf_putc(out, ':');
        if (words.len)
            mwl__buf_printf(out, "(%s)", mwl__buf_cstr(&words) + 1);
        else if (describe_is_file(o->operand))
            mwl__buf_puts(out, "_files");
    }
    mwl__buf_putc(out, '\'');
    describe_end(&words, out);
}

static void put_command(const struct describe_command *c, mwl__buf *out) {
    mwl__buf words = mwl__buf_make(mwl_alloc_default());
    describe_operands(c, &words);
    mwl__buf_printf(out,
                    "        %s)\n            _arguments \\\n                "
                    "'(-h --help)'{-h,--help}'[show the options]'",
                    c->name);
    for (size_t i = 0; i < c->n_options; i++) put_option(c, c->options[i], out);
    if (words.len)
        mwl__buf_printf(out, " \\\n                '1:operand:(%s)'", mwl__buf_cstr(&words) + 1);
    mwl__buf_puts(out, " \\\n                '*:file:_files'\n            ;;\n");
    describe_end(&words, out);
}

void describe_zsh(const struct describe *d, mwl__buf *out) {
    mwl__buf_puts(out, "#compdef mwlvm\n"
                       "# zsh completion of mwlvm; made by `mwlvm completion zsh`\n"
                       "_mwlvm() {\n"
                       "    local -a commands\n"
                       "    commands=(\n"
                       "        'help:show the commands, or the options of one'\n");
    for (size_t i = 0; i < d->n_commands; i++) {
        mwl__buf_printf(out, "        '%s:", d->commands[i].name);
        put_quoted(out, d->commands[i].text);
        mwl__buf_puts(out, "'\n");
    }
    mwl__buf_puts(out, "    )\n"
                       "    if ((CURRENT == 2)); then\n"
                       "        _describe -t commands command commands\n"
                       "        _files\n"
                       "        return\n"
                       "    fi\n"
                       "    local command=$words[2]\n"
                       "    if ((${commands[(I)$command:*]})); then\n"
                       "        shift words\n"
                       "        ((CURRENT--))\n"
                       "    else\n"
                       "        command=run\n"
                       "    fi\n"
                       "    case $command in\n"
                       "        help) _describe -t commands command commands ;;\n");
    for (size_t i = 0; i < d->n_commands; i++) put_command(&d->commands[i], out);
    mwl__buf_puts(out, "    esac\n"
                       "}\n"
                       "if [[ $funcstack[1] == _mwlvm ]]; then\n"
                       "    _mwlvm \"$@\"\n"
                       "else\n"
                       "    compdef _mwlvm mwlvm\n"
                       "fi\n");
}
