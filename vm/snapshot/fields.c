/* fields.c: the tables of fields.h as data. */
#include "vm/snapshot/fields.h"

#define FIELD(type, member, kind, limit)                                                           \
    {#member, (uint16_t)offsetof(type, member), MWL_FIELD_##kind, (uint32_t)(limit)},
#define FLAG(type, member) {#member, (uint16_t)offsetof(type, member)},

static const mwl__field saved_run_fields[] = {MWL_SAVED_RUN(FIELD)};
static const mwl__field saved_frame_fields[] = {MWL_SAVED_FRAME(FIELD)};
static const mwl__field saved_entry_fields[] = {MWL_SAVED_ENTRY(FIELD)};
static const mwl__field saved_record_fields[] = {MWL_SAVED_RECORD(FIELD)};
static const mwl__field saved_call_fields[] = {MWL_SAVED_CALL(FIELD)};
static const mwl__field saved_extra_fields[] = {MWL_SAVED_EXTRA(FIELD)};
static const mwl__field saved_gather_fields[] = {MWL_SAVED_GATHER(FIELD)};
static const mwl__field saved_slot_fields[] = {MWL_SAVED_SLOT(FIELD)};
static const mwl__flag saved_run_flags[] = {MWL_SAVED_RUN_FLAGS(FLAG)};
static const mwl__flag saved_entry_flags[] = {MWL_SAVED_ENTRY_FLAGS(FLAG)};
static const mwl__flag saved_extra_flags[] = {MWL_SAVED_EXTRA_FLAGS(FLAG)};
static const mwl__flag saved_gather_flags[] = {MWL_SAVED_GATHER_FLAGS(FLAG)};
static const mwl__flag saved_slot_flags[] = {MWL_SAVED_SLOT_FLAGS(FLAG)};

#define N(table) (uint8_t)(sizeof(table) / sizeof *(table))
#define WITH(record, table)                                                                        \
    {                                                                                              \
        record, saved_##table##_fields, saved_##table##_flags, N(saved_##table##_fields),          \
            N(saved_##table##_flags)                                                               \
    }
#define PLAIN(record, table)                                                                       \
    { record, saved_##table##_fields, NULL, N(saved_##table##_fields), 0 }

const mwl__record mwl__records[MWL_RECORD_COUNT] = {
    [MWL_RECORD_RUN] = WITH("run", run),          [MWL_RECORD_FRAME] = PLAIN("frame", frame),
    [MWL_RECORD_ENTRY] = WITH("entry", entry),    [MWL_RECORD_RECORD] = PLAIN("record", record),
    [MWL_RECORD_CALL] = PLAIN("call", call),      [MWL_RECORD_EXTRA] = WITH("extra", extra),
    [MWL_RECORD_GATHER] = WITH("gather", gather), [MWL_RECORD_SLOT] = WITH("slot", slot),
};
