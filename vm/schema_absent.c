/* schema_absent.c: what schema.h answers in a build without the schema evaluator. */
#include "schema.h"

__attribute__((weak)) mwl_status mwl__schema_check(const mwl__schema *schema, mwl_value instance,
                                                   const mwl__schema_env *env, bool *valid, mwl_value *report) {
    (void)schema, (void)instance, (void)env, (void)valid, (void)report;
    return MWL_E_UNSUPPORTED;
}
__attribute__((weak)) void mwl__schema_free(mwl__schema *schema) { (void)schema; }
__attribute__((weak)) mwl_status mwl__schema_load(const mwl_alloc *alloc, const uint32_t *words, size_t n_words,
                                                  uint32_t offset, const mwl_value *consts, uint32_t n_consts,
                                                  mwl__schema **out, mwl_error *error) {
    (void)alloc, (void)words, (void)n_words, (void)offset, (void)consts, (void)n_consts, (void)out, (void)error;
    return MWL_E_UNSUPPORTED;
}
