/* fuel_cases.h: what is measured: operators and schema keywords over `a` and `b`, and how a
 * function, an expression and a schema are run by a meter. The functions are those that a VM
 * registers. */
#ifndef FUEL_CASES_H
#define FUEL_CASES_H

#include "tests/unit/fuel_meter.h"
#include "tests/unit/schema_kit.h"

static const char *const fuel_expressions[] = {
    "a == b",
    "a != b",
    "a < b",
    "a <= b",
    "a > b",
    "a >= b",
    "a + b",
    "a - b",
    "a * b",
    "a / b",
    "a % b",
    "a in b",
    "a[b]",
    "a[?b]",
    "a + b + a",
    "a && b",
    "a || b",
    "a ? b : a",
    "[a, b]",
    "{'k': a, 'l': b}",
    "[a, b] == [b, a]",
    "{'k': a} == {'k': b}",
    "{a: b}",
    "b in {'x': a}",
    "has(a.k1)",
    "a.k1",
    "-a",
    "!a",
    "a.map(x, x)",
    "a.filter(x, x == b)",
    "a.exists(x, x == b)",
    "a.all(x, x != b)",
    "a.exists_one(x, x == b)",
    "a.map(x, x == b, x)",
    "a.k1 == b",
    "[a].exists(x, x == b)",
    "type(a) == type(b)",
    "a.?k1",
    "a.transformList(i, x, x)",
    "a.transformMap(k, x, x)",
    "a.sortBy(x, x)",
    "a.matches('^(x|y)*$')",
    "a.matches('[a-w]*x$')",
    /* the other macros; a test compares with the table */
    "a.exists_one(i, x, x == 1)",
    "a.existsOne(x, x == 1)",
    "a.existsOne(i, x, x == 1)",
    "a.all(i, x, x != 1)",
    "a.exists(i, x, x == 1)",
    "a.transformList(i, x, x != 1, x)",
    "a.transformMap(k, x, x != 1, x)",
    "a.transformMapEntry(k, x, {string(k): x})",
    "a.transformMapEntry(k, x, x != 1, {string(k): 1})",
    "optional.of(a).optMap(x, x == 1)",
    "optional.of(a).optFlatMap(x, optional.of(x == 1))",
    "cel.bind(x, a, x == 1)",
    "optional.of(a).orValue(b)",
    "optional.of(a) == optional.of(b)",
    "'%s%d%x'.format([a, a, a])",
    "'%e %.3f %o'.format([a, a, a])",
};
#define FUEL_EXPRESSIONS (sizeof fuel_expressions / sizeof *fuel_expressions)

static const char *const fuel_schemas[] = {
    "{'type':'string'}",
    "{'maxLength':5}",
    "{'minLength':5}",
    "{'pattern':'^(x|y)*$'}",
    "{'pattern':'(?=[a-w]*x)[a-w]'}",
    "{'pattern':'(?![a-w]*$)[a-w]'}",
    "{'pattern':'(x+)+$'}",
    "{'pattern':'(x*)\\\\\\\\1y'}",
    "{'pattern':'^[^y]*y'}",
    "{'enum':['a',1,[1],{'a':1}]}",
    "{'const':[1,2,3]}",
    "{'uniqueItems':true}",
    "{'items':{'type':'integer'}}",
    "{'contains':{'const':-1}}",
    "{'contains':{'type':'string'},'maxContains':2}",
    "{'propertyNames':{'pattern':'^k'}}",
    "{'patternProperties':{'^k[0-9]':{'type':'string'}}}",
    "{'additionalProperties':false}",
    "{'unevaluatedProperties':false}",
    "{'unevaluatedItems':false}",
    "{'required':['k1','k2']}",
    "{'minProperties':3}",
    "{'dependentRequired':{'k1':['k2']}}",
    "{'prefixItems':[{'type':'string'}]}",
    "{'anyOf':[{'type':'null'},{'items':{'type':'null'}},{'items':{'type':'string'}}]}",
    "{'not':{'items':{'type':'integer'}}}",
    "{'items':{'$ref':'#'}}",
    "{'multipleOf':3}",
    "{'format':'date-time'}",
    "{'format':'date'}",
    "{'format':'time'}",
    "{'format':'duration'}",
    "{'format':'email'}",
    "{'format':'idn-email'}",
    "{'format':'hostname'}",
    "{'format':'idn-hostname'}",
    "{'format':'ipv4'}",
    "{'format':'ipv6'}",
    "{'format':'uri'}",
    "{'format':'uri-reference'}",
    "{'format':'iri'}",
    "{'format':'iri-reference'}",
    "{'format':'uuid'}",
    "{'format':'uri-template'}",
    "{'format':'json-pointer'}",
    "{'format':'relative-json-pointer'}",
    "{'format':'regex'}",
    /* the other keywords; a test compares with the table */
    "{'allOf':[{'items':{'type':'integer'}},{'maxItems':5}]}",
    "{'oneOf':[{'items':{'type':'integer'}},{'items':{'type':'string'}},{'uniqueItems':true}]}",
    "{'if':{'items':{'type':'integer'}},'then':{'minItems':3},'else':{'uniqueItems':true}}",
    "{'dependentSchemas':{'k1':{'propertyNames':{'maxLength':9}}}}",
    "{'dependencies':{'k1':['k2'],'k2':{'additionalProperties':{'type':'integer'}}}}",
    "{'maxItems':3,'minItems':2}",
    "{'maxProperties':3}",
    "{'items':{'minimum':1,'maximum':5,'exclusiveMinimum':1,'exclusiveMaximum':5}}",
    "{'contains':{'type':'integer'},'minContains':1000000000}",
    "{'$dynamicAnchor':'n','items':{'$dynamicRef':'#n'}}",
    "{'properties':{'k1':{'type':'integer'},'k2':{},'k3':{'maximum':1},'k4':{},'k5':{},'k6':{}}}",
    "{'items':{'enum':[-1,-2,-3,-4,-5,-6,-7,-8,-9,'x','y','z',[1],[2],{'a':1},null,true]}}",
    "{'items':{'const':{'a':[1,2,3,'x']}}}",
};
#define FUEL_SCHEMAS (sizeof fuel_schemas / sizeof *fuel_schemas)

struct call {
    const mwl_function_def *def;
    mwl_value args[4];
    size_t n_args;
};

static inline uint64_t run_call(struct meter *m, void *with) {
    struct call *c = with;
    mwl_value out = mwl_absent();
    meter_ready(m);
    (void)mwl__functions_call(&m->x, c->def, c->args, c->n_args, &out);
    meter_forget(m, out);
    return METER_BUDGET - m->x.budget;
}

struct evaluation {
    const mwl__cel_code *code;
    mwl_value values[3];
};

static inline uint64_t run_evaluation(struct meter *m, void *with) {
    struct evaluation *e = with;
    mwl_value out = mwl_absent();
    meter_ready(m);
    mwl__outcome outcome = mwl__cel_eval(e->code, &m->x, e->values, 3, &out);
    if (outcome != MWL_EXEC_END && outcome != MWL_EXEC_FAULT) mwl__exec_clear(&m->x, m->x.n_regs);
    meter_forget(m, out);
    return METER_BUDGET - m->x.budget;
}

struct validation {
    struct kit *kit;
    mwl_value v;
    bool report;
};

static inline uint64_t run_validation(struct meter *m, void *with) {
    struct validation *s = with;
    uint64_t fuel = METER_BUDGET;
    mwl__schema_env env = {.heap = m->heap, .scratch = s->kit->scratch, .fuel = &fuel};
    bool valid = false;
    mwl_value report = mwl_absent();
    (void)mwl__schema_check(s->kit->schema, s->v, &env, &valid, s->report ? &report : NULL);
    mwl_value_drop(m->heap, report);
    return METER_BUDGET - fuel;
}

/* Compiles a schema that is written with ' for ". */
static inline bool fuel_schema(struct kit *kit, const char *text) {
    char json[200];
    size_t n = 0;
    for (; text[n] && n + 1 < sizeof json; n++) json[n] = text[n] == '\'' ? '"' : text[n];
    json[n] = '\0';
    kit_open(kit, json, (mwl__schema_options){.assert_formats = true});
    return kit->status == MWL_OK;
}

#endif
