/* bash.c: the completion script of bash. See describe.h. */
#include "tools/complete/describe.h"

#include <string.h>

static const char begin[] =
    "# bash completion of mwlvm; made by `mwlvm completion bash`\n"
    "_mwlvm_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
    "}\n\n"
    "_mwlvm_words() {\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
    "}\n\n"
    "_mwlvm() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=run\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    elif [[ $prev == = ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n";

static void put_commands(const struct describe *d, mwl__buf *out) {
    mwl__buf_puts(out, "    local commands=\"help");
    for (size_t i = 0; i < d->n_commands; i++) mwl__buf_printf(out, " %s", d->commands[i].name);
    mwl__buf_puts(out, "\"\n"
                       "    if ((COMP_CWORD == 1)); then\n"
                       "        _mwlvm_files \"$cur\"\n"
                       "        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < "
                       "<(compgen -W \"$commands --help --version\" -- \"$cur\")\n"
                       "        return\n"
                       "    fi\n"
                       "    [[ \" $commands \" == *\" ${COMP_WORDS[1]} \"* ]] && "
                       "command=${COMP_WORDS[1]}\n"
                       "    local options= operands=\n"
                       "    case $command in\n"
                       "        help) operands=$commands ;;\n");
}

/* The lines that complete the value of the option before. */
static void put_values(const struct describe_command *c, mwl__buf *out) {
    mwl__buf_puts(out, "            case $prev in\n");
    for (size_t i = 0; i < c->n_options; i++) {
        const struct option *o = c->options[i];
        mwl__buf words = mwl__buf_make(mwl_alloc_default());
        if (o->kind == OPTION_FLAG) continue;
        describe_values(c, o, &words);
        if (o->kind == OPTION_FORM)
            mwl__buf_printf(out,
                            "                %s) [[ ${COMP_WORDS[COMP_CWORD-1]} == = || "
                            "${COMP_WORDS[COMP_CWORD]} == = ]] && { ",
                            o->name);
        else
            mwl__buf_printf(out, "                %s) { ", o->name);
        if (words.len)
            mwl__buf_printf(out, "_mwlvm_words \"%s\" \"$cur\"; ", mwl__buf_cstr(&words));
        else if (describe_is_file(o->operand))
            mwl__buf_puts(out, "_mwlvm_files \"$cur\"; ");
        mwl__buf_puts(out, "return; } ;;\n");
        describe_end(&words, out);
    }
    mwl__buf_puts(out, "            esac\n");
}

static void put_command(const struct describe_command *c, mwl__buf *out) {
    mwl__buf_printf(out, "        %s)\n            options=\"--help", c->name);
    for (size_t i = 0; i < c->n_options; i++) mwl__buf_printf(out, " %s", c->options[i]->name);
    mwl__buf_puts(out, "\"\n            operands=\"");
    describe_operands(c, out);
    mwl__buf_puts(out, "\"\n");
    put_values(c, out);
    mwl__buf_puts(out, "            ;;\n");
}

void describe_bash(const struct describe *d, mwl__buf *out) {
    mwl__buf_puts(out, begin);
    put_commands(d, out);
    for (size_t i = 0; i < d->n_commands; i++) put_command(&d->commands[i], out);
    mwl__buf_puts(out, "    esac\n"
                       "    if [[ $cur == -* ]]; then\n"
                       "        _mwlvm_words \"$options\" \"$cur\"\n"
                       "    elif [[ -n $operands ]] && ((COMP_CWORD == 2)); then\n"
                       "        _mwlvm_words \"$operands\" \"$cur\"\n"
                       "    else\n"
                       "        _mwlvm_files \"$cur\"\n"
                       "    fi\n"
                       "}\n"
                       "complete -F _mwlvm mwlvm\n");
}
