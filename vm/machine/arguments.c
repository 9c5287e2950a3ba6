/* arguments.c: see arguments.h.
 *
 * spec: flow-object, parameters; providers, parameter validation. */
#include "vm/machine/arguments.h"

#include "vm/machine/raise.h"

/* A target without a schema takes no arguments.
 * spec: flow-object, parameters: validation is closed by default. */
static uint32_t refuse_undeclared(mwl__frame *f, mwl_value args, const char *who) {
    mwl_heap *h = mwl__heap_of(f);
    mwl_value key, value;
    mwl__buf b = mwl__buf_make(mwl__heap_account(h));
    size_t len;
    bool named = mwl_object_at(args, 0, &key, &value);
    mwl__buf_printf(
        &b, named ? "%s takes no arguments, and '%s' was given" : "%s: `with` must be an object",
        who, named ? mwl_as_text(key, &len) : "");
    uint32_t pc = mwl__raise_parameter(f, "/additionalProperties", args, mwl__buf_cstr(&b));
    mwl__buf_free(&b);
    return pc;
}

/* "retries must be an integer, is a string": the first error, with the argument it is about. */
static void describe(mwl__buf *b, mwl_value report, mwl_status st) {
    size_t len = 0, at_len = 0;
    const char *text = mwl_as_text(mwl_object_get(report, "message", 7), &len);
    const char *at = mwl_as_text(mwl_object_get(report, "instanceLocation", 16), &at_len);
    if (!text) {
        mwl__buf_puts(b, mwl_status_text(st));
        return;
    }
    if (at && at_len > 1 && *text != '\'') { /* a message that begins with a name is complete */
        mwl__buf_putc(b, '\'');
        for (size_t i = 1; i < at_len; i++) mwl__buf_putc(b, at[i] == '/' ? '.' : at[i]);
        mwl__buf_puts(b, "' ");
    }
    mwl__buf_put(b, text, len);
}

uint32_t mwl__arguments_check(mwl__frame *f, const mwl__schema *schema, mwl_value args,
                              const char *who, uint32_t next_pc) {
    mwl_vm *vm = mwl__vm_of(f);
    if (!schema) {
        bool none = mwl_is_absent(args) ||
                    (mwl_value_kind(args) == MWL_KIND_OBJECT && mwl_count(args) == 0);
        return none ? next_pc : refuse_undeclared(f, args, who);
    }
    uint64_t lent = 0, left = 0;
    mwl__schema_env env = {&vm->heap, vm->regex, &left};
    bool valid = false;
    mwl_value report = mwl_absent();
    mwl_value instance = mwl_is_absent(args) ? vm->empty : args;
    mwl_status st;
    do {
        left = lent = mwl__exec_lend(&vm->exec, lent);
        mwl__replace(&vm->heap, &report, mwl_absent());
        st = mwl__schema_check(schema, instance, &env, &valid, &report);
    } while (mwl__exec_again(&vm->exec, lent - left, st));
    if (st == MWL_OK && valid) return next_pc;
    if (st == MWL_E_FUEL) return MWL_PC_FUEL; /* the arguments were not refused */
    if (st == MWL_E_NOMEM || (st == MWL_OK && mwl_is_absent(report))) return MWL_PC_NOMEM;
    mwl__buf b = mwl__buf_make(mwl__heap_account(&vm->heap));
    mwl__buf_printf(&b, "%s: ", who);
    describe(&b, report, st);
    uint32_t pc = mwl__raise(f, MWL_FAILURE_PARAMETER, mwl__buf_cstr(&b), report);
    mwl__buf_free(&b);
    return pc;
}
