/* schema_report.c: stub */
#include "schema_code.h"
mwl_value mwl__schema_explain(mwl__schema_eval *e, mwl_value v) { (void)v; return mwl_object(e->env->heap, 0); }
