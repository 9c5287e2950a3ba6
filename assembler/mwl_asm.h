/* mwl_asm.h: the assembler. It checks a definition and makes a program image or diagnostics.
 *
 * The words lent, given and taken over mean the same as in mwl.h. */
#ifndef MWL_ASM_H
#define MWL_ASM_H

#include "mwl.h"
#include "mwl_provider.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Example: assemble a definition and load the image.
 *
 *     static mwl_program *assemble_program(const char *text, const mwl_asm_options *options) {
 *         mwl_program *program = NULL;
 *         mwl_asm_result result;
 *         mwl_status status = mwl_assemble(text, strlen(text), options, &result);
 *         if (result.diagnostics) fputs(result.diagnostics, stderr); // errors and warnings
 *         if (status == MWL_OK)
 *             mwl_program_load(NULL, result.image, result.image_size, MWL_COPY, &program, NULL);
 *         mwl_asm_free(&result);
 *         return program; // given; NULL if it was rejected
 *     }
 */

/* A provider definition document. Definitions may use the provider that it describes. */
typedef struct mwl_asm_provider {
    const char *file; /* name in diagnostics; NULL means "provider" */
    const char *text; /* JSON text of len bytes */
    size_t len;
} mwl_asm_provider;

/* A document of a library of providers. It is read only if the definition uses the provider. */
typedef struct mwl_asm_document {
    const char *uri;  /* of the provider, the same as in the document */
    const char *text; /* JSON text with a NUL at its end */
    /* It stands in for a provider that does not exist, for example in a test. Then it may be of
     * the namespace `example`. */
    bool stands_in;
} mwl_asm_document;

/* The form of the diagnostics: text for people, JSON, or SARIF for editors and code hosts. */
typedef enum mwl_asm_format { MWL_ASM_HUMAN, MWL_ASM_JSON, MWL_ASM_SARIF } mwl_asm_format;

enum {
    /* Leave out the definition: the program cannot be decompiled, and failures do not quote it. */
    MWL_ASM_STRIP_SOURCE = 1,
    /* Leave out positions: failures do not name lines. */
    MWL_ASM_STRIP_POSITIONS = 2,
    /* Both of the above. */
    MWL_ASM_STRIP = 3,
    /* Check the definition only, and make no image. */
    MWL_ASM_CHECK_ONLY = 4,
    /* Make the small form of the image. Loading unpacks it; it cannot be used in place. */
    MWL_ASM_PACK = 8
};

/* Options. All zero is valid and means the defaults. Everything is lent for the call. */
typedef struct mwl_asm_options {
    mwl_alloc alloc;  /* fn NULL means the default */
    const char *file; /* name in diagnostics; NULL means "definition" */
    /* Documents of providers besides those of the language (mwl_std.h). */
    const mwl_asm_provider *providers;
    size_t n_providers;
    /* Documents of a library of providers, the last one with the uri NULL; or NULL. A document that
     * the definition does not use costs nothing. */
    const mwl_asm_document *library;
    /* Functions besides those of CEL and the standard library: a pointer to each, then NULL; or
     * NULL. The VM that runs the program needs them too (mwl_vm_functions). */
    const mwl_function_def *const *functions;
    const char *const *allow; /* warnings to leave out, by name or code, then NULL; or NULL */
    const char *const *deny;  /* warnings to treat as errors, by name or code, then NULL; or NULL */
    unsigned flags;           /* MWL_ASM_* */
    mwl_asm_format format;    /* of the diagnostics */
    bool colour;              /* colour the diagnostics for a terminal (MWL_ASM_HUMAN only) */
    /* Limits, for definitions that others wrote; 0 means the default (mwl_config.h). A definition
     * that reaches one is rejected, with a diagnostic at the place. */
    size_t max_bytes;  /* of the definition, and of each document */
    uint64_t max_work; /* units: about one for each byte, node and instruction */
    /* bytes that the assembler holds at a time; of mwl_assemble_for(): and then loading */
    size_t max_memory;
    /* Longer help texts for people, which the command mwlvm has and the library does not; or NULL.
     * For mwlvm only: the type is not public. */
    const struct mwl__guide *guide;
} mwl_asm_options;

/* What mwl_assemble() makes. mwl_asm_free() frees all of it. */
typedef struct mwl_asm_result {
    void *image; /* NULL if the definition was rejected or only checked */
    size_t image_size;
    char *diagnostics; /* text with a NUL at its end; "" if there are none; NULL if out of memory */
    size_t diagnostics_len;
    unsigned n_errors, n_warnings;
    /* MWL_OK; MWL_E_FUEL or MWL_E_TOO_BIG if it was rejected because max_work or max_memory was
     * reached. */
    mwl_status limit;
    mwl_alloc alloc; /* that of the options, for mwl_asm_free() */
} mwl_asm_result;

/* Assembles a definition (JSON text of len bytes). options NULL means all defaults. *out is always
 * written and is given: free it with mwl_asm_free(), also after an error. Keeps nothing of the
 * parameters. Any thread. Returns:
 *   MWL_OK           There is an image, and perhaps warnings.
 *   MWL_E_REJECTED   The diagnostics contain errors.
 *   MWL_E_USAGE      `allow` or `deny` names an unknown warning, or a function is not valid. If
 *                    out_size ends inside a member, *out is not written.
 *   MWL_E_DUPLICATE  A function has the name, style and number of arguments of another one.
 *   MWL_E_NOMEM      Out of memory.
 *   MWL_E_VERSION    See mwl.h. */
MWL_API mwl_status mwl_assemble_sized(const char *definition, size_t len,
                                      const mwl_asm_options *options, size_t options_size,
                                      mwl_asm_result *out, size_t out_size);
static inline mwl_status mwl_assemble(const char *definition, size_t len,
                                      const mwl_asm_options *options, mwl_asm_result *out) {
    return mwl_assemble_sized(definition, len, options, sizeof(mwl_asm_options), out,
                              sizeof(mwl_asm_result));
}
/* Assembles a definition for a VM, and loads it; *out is given: release it once. The definition may
 * use the providers and the functions that the VM has now, so that each document and each table of
 * functions is given once. The five providers that the language defines are known without that: if
 * the VM does not have one that the definition names, for example mock, mwl_run_start() returns
 * MWL_E_NOT_FOUND. What the options name is added; options NULL means all defaults. With
 * MWL_ASM_CHECK_ONLY, *out is not written. Errors and warnings are in mwl_vm_diagnostics(). Call it
 * on the VM's thread. Returns what mwl_assemble() and mwl_program_load() return. */
MWL_API mwl_status mwl_assemble_for_sized(mwl_vm *vm, const char *definition, size_t len,
                                          const mwl_asm_options *options, size_t options_size,
                                          mwl_program **out);
static inline mwl_status mwl_assemble_for(mwl_vm *vm, const char *definition, size_t len,
                                          const mwl_asm_options *options, mwl_program **out) {
    return mwl_assemble_for_sized(vm, definition, len, options, sizeof(mwl_asm_options), out);
}
/* Returns the diagnostics of the last mwl_assemble_for() of a VM, in the form that its options
 * asked for; "" if there are none. Lent until the next one. */
MWL_API const char *mwl_vm_diagnostics(const mwl_vm *vm);
/* Frees what mwl_assemble() wrote, and sets it to zero. NULL is ignored. Any thread. */
MWL_API void mwl_asm_free(mwl_asm_result *result);

#ifdef __cplusplus
}
#endif
#endif
