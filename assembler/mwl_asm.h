/* mwl_asm.h: a definition in, a program image and diagnostics out. */
#ifndef MWL_ASM_H
#define MWL_ASM_H

#include "mwl.h"
#include "mwl_provider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mwl_asm_provider { /* a provider definition document that definitions may name */
    const char *file;             /* for diagnostics; NULL: "provider" */
    const char *text;
    size_t len;
} mwl_asm_provider;

typedef enum mwl_asm_format { MWL_ASM_HUMAN, MWL_ASM_JSON, MWL_ASM_SARIF } mwl_asm_format;

enum {
    MWL_ASM_STRIP_SOURCE =
        1, /* without the definition: it cannot be decompiled, failures quote nothing */
    MWL_ASM_STRIP_POSITIONS = 2, /* failures name no lines */
    MWL_ASM_STRIP = 3,
    MWL_ASM_CHECK_ONLY = 4,
    MWL_ASM_PACK =
        8 /* the small form: loading unpacks it into memory instead of using it in place */
};

typedef struct mwl_asm_options {
    mwl_alloc alloc;  /* fn NULL: the default */
    const char *file; /* name in diagnostics; NULL: "definition" */
    const mwl_asm_provider *providers;
    size_t n_providers;
    const mwl_function_def *const
        *functions; /* beside the standard library's: a pointer to each, then NULL; or NULL */
    const char *const *allow; /* warnings to leave out, by name or code; NULL-terminated, or NULL */
    const char *const *deny;  /* warnings to treat as errors; likewise */
    unsigned flags;           /* MWL_ASM_* */
    mwl_asm_format format;    /* of the diagnostics' text */
    bool colour;
} mwl_asm_options;

typedef struct mwl_asm_result {
    void *image; /* given; NULL when rejected or check only. Freed by mwl_asm_free */
    size_t image_size;
    char *diagnostics; /* text in the asked form, NUL-terminated; "" when there is nothing to say */
    size_t diagnostics_len;
    unsigned n_errors, n_warnings;
    mwl_alloc alloc;
} mwl_asm_result;

/* MWL_OK: an image (warnings perhaps). E_REJECTED: errors, in the diagnostics. E_NOMEM. `out` is
 * always written. Any thread; keeps nothing. options NULL: all defaults. */
MWL_API mwl_status mwl_assemble(const char *definition, size_t len, const mwl_asm_options *options,
                                mwl_asm_result *out);
MWL_API void mwl_asm_free(mwl_asm_result *result);

#ifdef __cplusplus
}
#endif
#endif
