/* check_args.c: stub */
#include "check.h"
void mwl__check_duration(mwl__checker *c, const mwl__node *n, const char *name) { (void)c; (void)n; (void)name; }
void mwl__check_timestamp(mwl__checker *c, const mwl__node *n, const char *name) { (void)c; (void)n; (void)name; }
