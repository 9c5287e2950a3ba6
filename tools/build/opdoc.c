/* opdoc.c: prints vm/OPCODES.md from the opcode table, or with --check FILE says whether it is that
 * file. */
#include "vm/program/op.h"

#include <ctype.h>
#include <stdio.h>

static void put_lower(mwl__buf *out, const char *name) {
    for (; *name; name++) mwl__buf_putc(out, (char)tolower((unsigned char)*name));
}

/* Meanings contain | and <, which have a meaning in Markdown. */
static void put_cell(mwl__buf *out, const char *text) {
    for (; *text; text++) {
        if (strchr("|<>*_[]", *text)) mwl__buf_putc(out, '\\');
        mwl__buf_putc(out, *text);
    }
}

static const char *use_text(unsigned use) {
    static const char *const texts[] = {"",      "read",     "filled", "read and filled",
                                        "taken", "of a loop"};
    return texts[use];
}

static void put_kinds(mwl__buf *out) {
    mwl__buf_puts(out, "## Operands\n\n"
                       "| kind | written | width | registers | must be |\n"
                       "| --- | --- | --- | --- | --- |\n");
    for (unsigned i = 1; i < MWL_OPERAND_COUNT; i++) {
        const mwl__operand_info *kind = mwl__operand_get(i);
        mwl__buf_printf(out, "| %s | `%s3` | %s | ", kind->name, kind->letter,
                        kind->wide ? "32" : "16");
        if (kind->n_regs == MWL_RUN)
            mwl__buf_printf(out, "several, %s | ", use_text(kind->use));
        else if (kind->n_regs)
            mwl__buf_printf(out, "%u, %s | ", kind->n_regs, use_text(kind->use));
        else
            mwl__buf_puts(out, "| ");
        put_cell(out, kind->bound);
        mwl__buf_puts(out, " |\n");
    }
    mwl__buf_puts(
        out,
        "\nHow many several registers are, another operand says: SHAPE, as many as the shape has "
        "keys;\n"
        "FN, as the function has arguments; IMM, that number.\n\n"
        "A register that is filled gets a new value, and its old one is not looked at. One that "
        "is taken\n"
        "is null afterwards: its value moves on. The four of a loop are the container, the position,\n"
        "and one or two loop variables.\n\n");
}

static void put_flags(mwl__buf *out) {
    static const char *const texts[][2] = {
#define X(name, bit, letter, text) {letter, text},
        MWL_OP_FLAGS(X)
#undef X
    };
    mwl__buf_puts(out, "## Flags\n\n| letter | says |\n| --- | --- |\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        mwl__buf_printf(out, "| **%s** | %s |\n", texts[i][0], texts[i][1]);
    mwl__buf_puts(
        out,
        "\nThe last instruction of a program has **E**. Every jump without **L** and every handler "
        "goes\n"
        "forward, and the machine's instructions (from Steps on) charge fuel where they lead "
        "elsewhere:\n"
        "so no code runs for ever without paying. An instruction without **F** needs no handler; "
        "running\n"
        "out of memory or fuel is not a fault. Without **B** what an instruction leaves in a "
        "register\n"
        "stands by itself.\n\n");
}

static void put_letters(mwl__buf *out, unsigned flags) {
#define X(name, bit, letter, text)                                                                 \
    if (flags & MWL_OPF_##name) mwl__buf_puts(out, letter);
    MWL_OP_FLAGS(X)
#undef X
}

static void put_row(mwl__buf *out, unsigned op) {
    const mwl__op_info *info = mwl__op_get(op);
    mwl__buf_puts(out, "| `");
    put_lower(out, info->name);
    mwl__buf_puts(out, "` | ");
    const char *between = "";
    for (int i = 0; i < 3; i++) {
        if (info->kind[i] == MWL_OPERAND_NONE) continue;
        const char *place = mwl__operand_get(info->kind[i])->wide ? "x"
                            : i == 0                              ? "a"
                            : i == 1                              ? "b"
                                                                  : "c";
        mwl__buf_printf(out, "%s%s %s", between, place, mwl__operand_get(info->kind[i])->name);
        between = ", ";
    }
    mwl__buf_puts(out, " | ");
    put_letters(out, info->flags);
    mwl__buf_puts(out, " | ");
    put_cell(out, info->meaning);
    mwl__buf_puts(out, " |\n");
}

static void put_page(mwl__buf *out) {
    static const struct {
        unsigned first;
        const char *title;
    } groups[] = {
#define X(op, title) {MWL_OP_##op, title},
        MWL_OP_GROUPS(X)
#undef X
    };
    mwl__buf_puts(
        out,
        "# Opcodes\n\n"
        "Printed by `tools/build/opdoc.c` from the table in `program/opcodes.h`; a test fails when the two "
        "differ\n"
        "(`build/mwl-opdoc > vm/OPCODES.md` writes it anew).\n\n"
        "An instruction is eight bytes: the opcode and the operands a, b and c, 16 bits each,\n"
        "little-endian. A 32-bit operand, x, takes the places of b and c, low half first. Operands "
        "that\n"
        "a row does not name are zero. Listings (`mwlvm dis`) write an instruction as\n"
        "`load_path r1, p4`: its name in lower case, then its operands in order.\n\n"
        "Loading a program checks every operand against its bound, that brackets nest and that the\n"
        "registers an instruction reads hold values (`README.md` has the rules), once. Of which\n"
        "kinds those are it does not know: each instruction checks what it reads.\n\n");
    put_kinds(out);
    put_flags(out);
    for (unsigned op = 0, g = 0; op < MWL_OP_COUNT; op++) {
        if (g < sizeof groups / sizeof *groups && groups[g].first == op)
            mwl__buf_printf(out,
                            "%s## %s\n\n| opcode | operands | flags | meaning |\n"
                            "| --- | --- | --- | --- |\n",
                            g ? "\n" : "", groups[g].title),
                g++;
        put_row(out, op);
    }
}

static bool same_as_file(const mwl__buf *page, const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    bool same = true;
    for (size_t i = 0; same && i < page->len; i++) same = fgetc(f) == (unsigned char)page->data[i];
    same = same && fgetc(f) == EOF;
    fclose(f);
    return same;
}

int main(int argc, char **argv) {
    mwl__buf page = mwl__buf_make(mwl_alloc_default());
    int code = 0;
    put_page(&page);
    if (page.failed) {
        fprintf(stderr, "opdoc: out of memory\n");
        code = 1;
    } else if (argc == 3 && strcmp(argv[1], "--check") == 0) {
        if (!same_as_file(&page, argv[2])) {
            fprintf(stderr, "opdoc: %s is not what opcodes.h says; write it anew: %s > %s\n",
                    argv[2], argv[0], argv[2]);
            code = 1;
        }
    } else if (argc == 1) {
        if (fwrite(page.data, 1, page.len, stdout) != page.len || fflush(stdout) != 0) code = 1;
    } else {
        fprintf(stderr, "usage: mwl-opdoc [--check FILE]\n");
        code = 2;
    }
    mwl__buf_free(&page);
    return code;
}
