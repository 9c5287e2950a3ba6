/* fields.c: the tables of fields.h as data. */
#include "vm/snapshot/fields.h"

#define FIELD(type, member, kind, limit)                                                           \
    {#member, (uint16_t)offsetof(type, member), MWL_FIELD_##kind, (uint32_t)(limit)},
#define FLAG(type, member) {#member, (uint16_t)offsetof(type, member)},

static const mwl__field run_fields[] = {MWL_SAVED_RUN(FIELD)};
static const mwl__field frame_fields[] = {MWL_SAVED_FRAME(FIELD)};
static const mwl__field entry_fields[] = {MWL_SAVED_ENTRY(FIELD)};
static const mwl__field record_fields[] = {MWL_SAVED_RECORD(FIELD)};
static const mwl__field call_fields[] = {MWL_SAVED_CALL(FIELD)};
static const mwl__field extra_fields[] = {MWL_SAVED_EXTRA(FIELD)};
static const mwl__field gather_fields[] = {MWL_SAVED_GATHER(FIELD)};
static const mwl__field slot_fields[] = {MWL_SAVED_SLOT(FIELD)};
static const mwl__flag run_flags[] = {MWL_SAVED_RUN_FLAGS(FLAG)};
static const mwl__flag entry_flags[] = {MWL_SAVED_ENTRY_FLAGS(FLAG)};
static const mwl__flag extra_flags[] = {MWL_SAVED_EXTRA_FLAGS(FLAG)};
static const mwl__flag gather_flags[] = {MWL_SAVED_GATHER_FLAGS(FLAG)};
static const mwl__flag slot_flags[] = {MWL_SAVED_SLOT_FLAGS(FLAG)};

#define N(table) (uint8_t)(sizeof table / sizeof *table)
#define WITH(record, table)                                                                        \
    { record, table##_fields, table##_flags, N(table##_fields), N(table##_flags) }
#define PLAIN(record, table)                                                                       \
    { record, table##_fields, NULL, N(table##_fields), 0 }

const mwl__record mwl__records[MWL_RECORD_COUNT] = {
    [MWL_RECORD_RUN] = WITH("run", run),          [MWL_RECORD_FRAME] = PLAIN("frame", frame),
    [MWL_RECORD_ENTRY] = WITH("entry", entry),    [MWL_RECORD_RECORD] = PLAIN("record", record),
    [MWL_RECORD_CALL] = PLAIN("call", call),      [MWL_RECORD_EXTRA] = WITH("extra", extra),
    [MWL_RECORD_GATHER] = WITH("gather", gather), [MWL_RECORD_SLOT] = WITH("slot", slot),
};
