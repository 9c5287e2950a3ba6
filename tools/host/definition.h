/* definition.h: definitions and programs that are named on the command line, and the options that
 * say how to assemble: what the commands share. Diagnostics go to standard error. */
#ifndef MWL_TOOLS_DEFINITION_H
#define MWL_TOOLS_DEFINITION_H

#include "tools/base/file_in.h"
#include "mwl_asm.h"
#include "tools/base/options.h"
#include "assembler/source/diag.h"

/* How to assemble, collected from options. definition_init; free in any case. */
struct definition {
    mwl_asm_options options;
    mwl_asm_provider *providers;
    struct file_text *texts;    /* of the providers */
    const char **allow, **deny; /* NULL-terminated */
    size_t n_providers, n_allow, n_deny;
    mwl_asm_document
        *library; /* what definition_add_library added and io_host_documents; or NULL */
    size_t n_library;
    struct limits limits;
    const char *path;  /* the FILE of a command that takes one */
    bool runs;         /* --fuel is for the run alone */
    uint64_t paid;     /* fuel, by definition_pay */
    mwl__quota *quota; /* of the check under way, which knows its place; or NULL */
};

void definition_init(struct definition *d);
void definition_free(struct definition *d);

/* A heading, --provider, --ignore, --deny, --format, --color; the base is a struct definition. */
#define DEFINITION_OPTIONS 6
#define DEFINITION_FORMAT 4 /* where --format is, for a command that has its own */
extern const struct option definition_options[DEFINITION_OPTIONS];

/* The tables of a struct definition for a struct command_line: those options and the limits. */
#define DEFINITION_TABLES(d)                                                                       \
    {definition_options, DEFINITION_OPTIONS, (d)}, { limits_options, LIMITS_OPTIONS, &(d)->limits }

/* Adds a document that the command makes itself, beside those of its own providers. Any namespace
 * is allowed. Both texts are lent until definition_free. CMD_OK, or a status with a message. */
int definition_add_library(struct definition *d, const char *uri, const char *text);

/* For struct command_line: the one FILE; ctx is the struct definition. */
int definition_operand(void *ctx, const char *word);

/* Whether these are the first bytes of a program file. */
bool definition_is_program(const char *text, size_t len);
/* CMD_OK; CMD_REJECTED with a message when it is a program where a definition is wanted. */
int definition_expect(const char *path, const char *text, size_t len);

/* Takes the fuel that reading and assembling a text of this length costs: a price for each byte,
 * since its work grows as its length does. CMD_OK, or CMD_LIMIT with a message. */
int definition_pay(struct definition *d, const char *path, size_t len);

/* A check begins that reports to this sink: it may do as much work as --fuel leaves. The sink
 * outlives what follows. */
void definition_begin(struct definition *d, mwl__diags *sink);
/* CMD_OK; CMD_LIMIT with a message if the check has used up its work. */
int definition_spent(const struct definition *d, const char *path);
/* Says why a file could not be worked on: the memory limit, or what the status says. Returns an
 * exit status. */
int definition_failed(const struct definition *d, const char *path, mwl_status status);

/* Assemble a file's text. An exit status; on CMD_OK *out holds an image, to be freed with
 * mwl_asm_free. */
int definition_assemble(struct definition *d, const char *path, const char *text, size_t len,
                        mwl_asm_result *out);
/* Load a program file, or assemble a definition in memory and load that; "-" is standard input. An
 * exit status. */
int definition_load(struct definition *d, const char *path, mwl_program **out);

#endif
