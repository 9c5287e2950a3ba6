/* cmd_actions.c: `mwlvm actions [NAME]`: the actions of Steps and their members, from members.h. */
#include "tools/base/cmd.h"
#include "tools/words/members.h"
#include "tools/base/options.h"
#include "assembler/source/form.h"
#include "vm/base/suggest.h"

#include <stdio.h>
#include <string.h>

static const char head[] =
    "usage: mwlvm actions [NAME]\n\n"
    "Lists what a Step can do. With the NAME of an action, prints the members of such a Step and of\n"
    "the objects in it; `flow` prints the members of a Flow.\n\n";

static int operand(void *ctx, const char *word) {
    const char **name = ctx;
    if (*name) return cmd_usage("one NAME is wanted, not '%s' and '%s'", *name, word);
    *name = word;
    return CMD_OK;
}

static int list_all(void) {
    for (size_t i = 0; i < MEMBER_ACTIONS; i++)
        printf("%-7s  %s\n", member_actions[i].name, member_actions[i].text);
    return CMD_OK;
}

/* Prints text in lines of at most 96 columns, each behind `indent` spaces but the first. */
static void put_wrapped(const char *text, int indent) {
    int column = indent;
    while (*text) {
        const char *end = strncmp(text, "{{", 2) == 0 ? strstr(text, "}}") : NULL;
        int len = (int)strcspn(end ? end : text, " ") + (end ? (int)(end - text) : 0);
        if (column > indent && column + 1 + len > 96) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            putchar(' ');
            column++;
        }
        printf("%.*s", len, text);
        column += len;
        text += len;
        while (*text == ' ') text++;
    }
    putchar('\n');
}

/* A missing action or next has a report of its own, so the rows do not say that it is required. */
static bool is_needed(const struct member *row) {
    return (row->flags & MWL__FORM_REQUIRED) || row->shape == SHAPE_ACTION ||
           strcmp(row->name, "next") == 0;
}

static void put_list(const struct member_list *list) {
    for (size_t i = 0; i < list->n_rows; i++) {
        const struct member *row = &list->rows[i];
        printf("  %-12s %-9s ", row->name, is_needed(row) ? "required" : "");
        put_wrapped(row->text, 25);
    }
}

/* The objects that a value of this shape consists of; SHAPE_LISTS: of none that is shown here. */
static enum member_shape part_of(enum member_shape shape) {
    switch (shape) {
    case SHAPE_CALLS: return SHAPE_CALL;
    case SHAPE_ENTRIES: return SHAPE_ENTRY;
    case SHAPE_CATCHES: return SHAPE_CLAUSE;
    case SHAPE_CASES: return SHAPE_CASE;
    default: return shape < SHAPE_LISTS ? shape : SHAPE_LISTS;
    }
}

/* The lists of the object and of those inside it, each once, in the order of their shapes. */
static void put_with_parts(enum member_shape shape) {
    unsigned long wanted = 1ul << shape, done = 0;
    while (wanted & ~done) {
        unsigned at = 0;
        if (!(done & 1ul << shape))
            at = shape;
        else
            while (!((wanted & ~done) >> at & 1)) at++;
        const struct member_list *list = members_of((enum member_shape)at);
        printf(done ? "\n%c%s:\n" : "%c%s:\n", list->what[0] - 'a' + 'A', list->what + 1);
        put_list(list);
        done |= 1ul << at;
        for (size_t i = 0; i < list->n_rows; i++) {
            enum member_shape part = part_of(list->rows[i].shape);
            if (part < SHAPE_LISTS && part != SHAPE_FLOW) wanted |= 1ul << part;
        }
    }
}

int cmd_actions(int argc, char **argv) {
    const char *name = NULL;
    const struct command_line line = {.head = head,
                                      .foot = "\nExample:\n  mwlvm actions Call\n",
                                      .operand = operand,
                                      .ctx = &name};
    int status = options_parse(&line, argc, argv);
    if (status != CMD_OK) return status;
    if (!name) return list_all();
    mwl__suggest s = mwl__suggest_make(name, strlen(name));
    for (size_t i = 0; i < MEMBER_ACTIONS; i++) {
        if (strcmp(name, member_actions[i].name) == 0) {
            printf("%s\n\n", member_actions[i].text);
            put_with_parts(member_actions[i].shape);
            return CMD_OK;
        }
        mwl__suggest_offer(&s, member_actions[i].name, strlen(member_actions[i].name));
    }
    if (strcmp(name, "flow") == 0) {
        put_with_parts(SHAPE_FLOW);
        return CMD_OK;
    }
    if (s.best)
        return cmd_usage("there is no action '%s'; did you mean '%.*s'?", name, (int)s.best_len,
                         s.best);
    return cmd_usage("there is no action '%s'; `mwlvm actions` lists them", name);
}
