/* mw_log.c: log: a line when the inner scope is entered, and one when it is left.
 *
 * The state of the entry is the arguments of onEntry and the instant: {with, at}. */
#include "stdlib/io/codec.h"
#include "stdlib/io/mw.h"

static mwl_io_level level_of(const char *name) {
    return strcmp(name, "debug") == 0   ? MWL_IO_DEBUG
           : strcmp(name, "warn") == 0  ? MWL_IO_WARN
           : strcmp(name, "error") == 0 ? MWL_IO_ERROR
                                        : MWL_IO_INFO;
}

/* take_fields and the fields of the arguments, in one line. */
static void write_line(mwl_phase *phase, mwl_io *io, mwl_value with, mwl_io_level level,
                       const char *what, mwl_value take_fields) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value fields = take_fields, more = mwl_get(with, "fields"), key, value;
    mwl__payer payer = MWL__PAID_BY_PHASE(phase);
    mwl__bytes message = {.payer = &payer};
    for (size_t i = 0;
         mwl_value_kind(more) == MWL_KIND_OBJECT && mwl_object_at(more, i, &key, &value); i++)
        if (mwl_is_absent(mwl_object_find(fields, key)))
            fields = mwl_object_put(heap, fields, mwl_value_keep(key), mwl_value_keep(value));
    size_t len = 0;
    const char *text = mwl_as_text(mwl_get(with, "message"), &len);
    if (mwl__bytes_add(&message, text ? text : "", len) && mwl__bytes_add(&message, ": ", 2) &&
        mwl__bytes_add(&message, what, strlen(what)))
        (void)mwl_phase_charge(phase,
                               MWL__LOG_WORK(mwl__io_log(io, level, message.data, message.len,
                                                         fields, mwl_phase_run(phase))));
    mwl__bytes_free(&message);
    mwl_value_drop(heap, fields);
}

static void log_entry(mwl_phase *phase, void *user) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value with = mwl_phase_arguments(phase), fields = mwl_object(heap, 4);
    mwl_value state = mwl__io_set(heap, mwl_object(heap, 2), "with", mwl_value_keep(with));
    state = mwl__io_set(heap, state, "at", mwl_int(mwl__mw_mono(phase)));
    if (mwl_phase_set_state(phase, state) != MWL_OK) return;
    if (mwl__io_arg_bool(with, "values", false))
        fields = mwl__io_set(heap, fields, "input", mwl_value_keep(mwl_phase_input(phase)));
    write_line(phase, user, with, level_of(mwl__io_arg_text(with, "level", "info")), "enter",
               fields);
}

static mwl_value failure_fields(mwl_heap *heap, mwl_value fields, mwl_value failure) {
    static const char *const names[] = {"code", "message"};
    static const char *const as[] = {"code", "reason"};
    mwl_value type = mwl_get(failure, "type");
    if (!mwl_is_absent(type)) fields = mwl__io_set(heap, fields, "outcome", mwl_value_keep(type));
    for (size_t i = 0; i < 2; i++) {
        mwl_value v = mwl_get(failure, names[i]);
        if (!mwl_is_absent(v)) fields = mwl__io_set(heap, fields, as[i], mwl_value_keep(v));
    }
    return fields;
}

static void log_always(mwl_phase *phase, void *user) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value state = mwl_phase_state(phase), with = mwl_get(state, "with");
    if (mwl_value_kind(state) == MWL_KIND_NULL) return; /* `when` of onEntry was false */
    mwl_value fields = mwl_object(heap, 6), value = mwl_phase_result_value(phase);
    bool ok = mwl_phase_succeeded(phase);
    mwl_io_level level = level_of(mwl__io_arg_text(with, "level", "info"));
    if (!ok && level < MWL_IO_WARN) level = MWL_IO_WARN;
    double ms = (double)(mwl__mw_mono(phase) - mwl_as_int(mwl_get(state, "at"))) / 1e6;
    if (ok)
        fields = mwl__io_set(heap, fields, "outcome", mwl_string(heap, "success", 7));
    else
        fields = failure_fields(heap, fields, value);
    fields = mwl__io_set(heap, fields, "milliseconds", mwl_number(ms));
    fields = mwl__io_set(heap, fields, "runs", mwl_number((double)mwl_phase_runs(phase)));
    if (ok && mwl__io_arg_bool(with, "values", false))
        fields = mwl__io_set(heap, fields, "value", mwl_value_keep(value));
    write_line(phase, user, with, level, "exit", fields);
}

const mwl_middleware mwl__io_mw_log = {MWL__IO_MW(log, "log"), .entry = log_entry,
                                       .always = log_always};
const mwl__io_life mwl__io_mw_log_life = {NULL};
