/* schema_meta.c */
#include "schema_build.h"
const char *mwl__schema_meta(const char *uri, size_t uri_len, size_t *len) { (void)uri;(void)uri_len;(void)len; return NULL; }
uint32_t mwl__schema_vocabulary(const char *uri, size_t len) { (void)uri;(void)len; return 0; }
