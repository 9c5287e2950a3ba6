/* test_zone.c: offsets by name. The TZif data is made here, byte by byte, so that every rule is
 * tested. */
#include "utest.h"
#include "vm/value/temporal.h"
#include "vm/value/zone.h"

#include <stdio.h>

/* ---- a TZif writer --------------------------------------------------------------------------- */

typedef struct {
    unsigned char b[2048];
    size_t n;
} bytes;

static void put(bytes *o, int64_t v, int width) {
    for (int i = width; i-- > 0;) o->b[o->n++] = (unsigned char)((uint64_t)v >> (8 * i));
}

typedef struct {
    int version; /* 0 for the first */
    int n_times, n_types, n_leaps;
    int64_t times[8];
    int types[8];
    int32_t offsets[4];
    const char *rule;
} spec;

static void put_block(bytes *o, const spec *s, int width, bool empty) {
    int times = empty ? 0 : s->n_times, types = empty ? 1 : s->n_types;
    int leaps = empty ? 0 : s->n_leaps;
    memcpy(o->b + o->n, "TZif", 4);
    o->n += 4;
    put(o, s->version ? '0' + s->version : 0, 1);
    for (int i = 0; i < 15; i++) put(o, 0, 1);
    put(o, 0, 4), put(o, 0, 4), put(o, leaps, 4), put(o, times, 4), put(o, types, 4), put(o, 4, 4);
    for (int i = 0; i < times; i++) put(o, s->times[i], width);
    for (int i = 0; i < times; i++) put(o, s->types[i], 1);
    for (int i = 0; i < types; i++) put(o, s->offsets[i], 4), put(o, 0, 2);
    memcpy(o->b + o->n, "ABC", 4);
    o->n += 4;
    for (int i = 0; i < leaps; i++) put(o, 78796800, width), put(o, 1, 4);
}

static bytes tzif(const spec *s) {
    bytes o = {.n = 0};
    put_block(&o, s, 4, s->version >= 2);
    if (s->version >= 2) {
        put_block(&o, s, 8, false);
        o.b[o.n++] = '\n';
        size_t len = strlen(s->rule);
        memcpy(o.b + o.n, s->rule, len);
        o.n += len;
        o.b[o.n++] = '\n';
    }
    return o;
}

typedef struct {
    bytes data;
    int reads;
    char last[MWL__ZONE_NAME_MAX + 1];
} source;

static mwl_status read_source(void *ctx, const char *name, mwl__buf *out) {
    source *s = ctx;
    s->reads++;
    snprintf(s->last, sizeof s->last, "%s", name);
    if (strcmp(name, "None") == 0) return MWL_E_NOT_FOUND;
    mwl__buf_put(out, s->data.b, s->data.n);
    return MWL_OK;
}

static mwl_status ask(const spec *s, int64_t utc_sec, int32_t *offset) {
    source src = {.data = tzif(s)};
    mwl__zones z;
    mwl__zones_init(&z, mwl_alloc_default(), read_source, &src);
    mwl_status st = mwl__zone_offset(&z, "Some/Zone", 9, utc_sec, offset);
    mwl__zones_free(&z);
    return st;
}

static int32_t offset_of(const spec *s, int64_t utc_sec) {
    int32_t offset = -99999;
    return ask(s, utc_sec, &offset) == MWL_OK ? offset : -88888;
}

static int64_t utc(const char *text) {
    mwl__instant t = {0, 0};
    return mwl__temporal_parse_instant(text, strlen(text), &t) == MWL_OK ? t.sec : INT64_MIN;
}

/* ---- names ----------------------------------------------------------------------------------- */

UTEST(zone, fixed_offsets) {
    static const struct {
        const char *name;
        int32_t offset;
    } good[] = {{"", 0},         {"UTC", 0},        {"+05:30", 19800}, {"-08:00", -28800},
                {"02:00", 7200}, {"-00:30", -1800}, {"-00:00", 0},     {"+23:59", 86340},
                {"2:00", 7200},  {"+14:00", 50400}};
    mwl__zones z;
    source src = {.reads = 0};
    mwl__zones_init(&z, mwl_alloc_default(), read_source, &src);
    int32_t offset;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        offset = -1;
        EXPECT_EQ(MWL_OK, mwl__zone_offset(&z, good[i].name, strlen(good[i].name), 0, &offset));
        EXPECT_EQ(good[i].offset, offset);
    }
    static const char *const bad[] = {":",       "+:00",   "+24:00",        "+05:60", "+05:3",
                                      "+05:300", "005:30", "+5:",           "++5:30", "5:+30",
                                      "+05:30 ", "a:b",    "99999999999:00"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT_EQ(MWL_E_SYNTAX, mwl__zone_offset(&z, bad[i], strlen(bad[i]), 0, &offset));
    EXPECT_EQ(0, src.reads);
    mwl__zones_free(&z);
}

UTEST(zone, names_that_never_reach_the_hook) {
    static const char *const bad[] = {"/etc/passwd", "../x", "a/../b",   "a//b", "a/", ".",
                                      "a b",         "a\\b", "\xC3\xBC", "a.b",  "a~"};
    mwl__zones z;
    source src = {.reads = 0};
    mwl__zones_init(&z, mwl_alloc_default(), read_source, &src);
    int32_t offset;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT_EQ(MWL_E_SYNTAX, mwl__zone_offset(&z, bad[i], strlen(bad[i]), 0, &offset));
    char name[MWL__ZONE_NAME_MAX + 1];
    memset(name, 'a', sizeof name);
    EXPECT_EQ(MWL_E_SYNTAX, mwl__zone_offset(&z, name, sizeof name, 0, &offset));
    EXPECT_EQ(MWL_E_SYNTAX, mwl__zone_offset(&z, "a\0b", 3, 0, &offset));
    EXPECT_EQ(0, src.reads);
    EXPECT_EQ(MWL_E_RANGE, mwl__zone_offset(&z, "UTC", 3, INT64_MAX, &offset));
    mwl__zones_free(&z);
}

UTEST(zone, cache) {
    spec s = {.n_types = 1, .offsets = {60}};
    source src = {.data = tzif(&s)};
    mwl__zones z;
    mwl__zones_init(&z, mwl_alloc_default(), read_source, &src);
    static const char *const names[] = {"B", "A", "AB", "C", "A-", "B", "AB", "A"};
    int32_t offset;
    for (size_t i = 0; i < 8; i++) {
        offset = 0;
        EXPECT_EQ(MWL_OK, mwl__zone_offset(&z, names[i], strlen(names[i]), 0, &offset));
        EXPECT_EQ(60, offset);
    }
    EXPECT_EQ(5, src.reads);
    EXPECT_STREQ("A-", src.last);
    EXPECT_EQ(MWL_E_NOT_FOUND, mwl__zone_offset(&z, "None", 4, 0, &offset));
    for (int i = 0; i < MWL__ZONE_CACHE_MAX + 10; i++) { /* over the limit: begins again */
        char name[16];
        int len = snprintf(name, sizeof name, "Z%d", i);
        EXPECT_EQ(MWL_OK, mwl__zone_offset(&z, name, (size_t)len, 0, &offset));
        EXPECT_TRUE(z.n <= MWL__ZONE_CACHE_MAX);
    }
    mwl__zones_free(&z);
}

/* ---- TZif ------------------------------------------------------------------------------------ */

UTEST(zone, transitions) {
    spec s = {.n_times = 2,
              .n_types = 3,
              .times = {-1000, 1000},
              .types = {1, 2},
              .offsets = {100, 200, -300}};
    for (s.version = 0; s.version <= 4; s.version += 2) {
        s.rule = "";
        EXPECT_EQ(100, offset_of(&s, -1001)); /* type 0 before the first */
        EXPECT_EQ(200, offset_of(&s, -1000));
        EXPECT_EQ(200, offset_of(&s, 999));
        EXPECT_EQ(-300, offset_of(&s, 1000));
        EXPECT_EQ(-300, offset_of(&s, 200000000000)); /* no rule: the last offset continues */
    }
    s.version = 2;
    s.times[0] = -4000000000;
    EXPECT_EQ(200, offset_of(&s, -4000000000)); /* beyond 32 bits */
    s.rule = "XYZ-1";
    EXPECT_EQ(200, offset_of(&s, 999));
    EXPECT_EQ(3600, offset_of(&s, 1000)); /* the rule holds from the last transition on */
}

UTEST(zone, rule_by_week) {
    spec s = {.version = 2, .n_types = 1, .rule = "CET-1CEST,M3.5.0,M10.5.0/3"};
    EXPECT_EQ(3600, offset_of(&s, utc("2024-03-31T00:59:59Z")));
    EXPECT_EQ(7200, offset_of(&s, utc("2024-03-31T01:00:00Z")));
    EXPECT_EQ(7200, offset_of(&s, utc("2024-10-27T00:59:59Z")));
    EXPECT_EQ(3600, offset_of(&s, utc("2024-10-27T01:00:00Z")));
    EXPECT_EQ(7200, offset_of(&s, utc("9999-07-01T00:00:00Z")));
    s.rule = "EST5EDT,M3.2.0,M11.1.0";
    EXPECT_EQ(-18000, offset_of(&s, utc("2024-03-10T06:59:59Z")));
    EXPECT_EQ(-14400, offset_of(&s, utc("2024-03-10T07:00:00Z")));
    EXPECT_EQ(-18000, offset_of(&s, utc("2024-11-03T06:00:00Z")));
    s.rule = "AEST-10AEDT,M10.1.0,M4.1.0/3"; /* south: daylight time over the new year */
    EXPECT_EQ(39600, offset_of(&s, utc("2024-01-01T00:00:00Z")));
    EXPECT_EQ(36000, offset_of(&s, utc("2024-07-01T00:00:00Z")));
    EXPECT_EQ(39600, offset_of(&s, utc("2024-12-31T23:00:00Z")));
    s.rule = "IST-1GMT0,M10.5.0,M3.5.0/1"; /* Ireland: winter is the exception, and behind */
    EXPECT_EQ(0, offset_of(&s, utc("2024-01-01T00:00:00Z")));
    EXPECT_EQ(3600, offset_of(&s, utc("2024-07-01T00:00:00Z")));
    s.rule = "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"; /* a quoted name, a time before midnight */
    EXPECT_EQ(-7200, offset_of(&s, utc("2024-03-31T00:59:59Z")));
    EXPECT_EQ(-3600, offset_of(&s, utc("2024-03-31T01:00:00Z")));
}

UTEST(zone, rule_by_day) {
    spec s = {.version = 3, .n_types = 1, .rule = "AAA0BBB,J60/0,J61/0"};
    EXPECT_EQ(0, offset_of(&s, utc("2024-02-29T12:00:00Z"))); /* J60 is March 1, leap year or not */
    EXPECT_EQ(3600, offset_of(&s, utc("2024-03-01T12:00:00Z")));
    EXPECT_EQ(3600, offset_of(&s, utc("2023-03-01T12:00:00Z")));
    s.rule = "AAA0BBB,59/0,60/0"; /* counts February 29 */
    EXPECT_EQ(3600, offset_of(&s, utc("2024-02-29T12:00:00Z")));
    EXPECT_EQ(3600, offset_of(&s, utc("2023-03-01T12:00:00Z")));
    EXPECT_EQ(0, offset_of(&s, utc("2024-03-01T12:00:00Z")));
    s.rule = "XXX3EDT4,0/0,J365/23"; /* daylight time all year (RFC 8536) */
    for (int64_t t = utc("2023-12-30T00:00:00Z"); t < utc("2024-01-03T00:00:00Z"); t += 1800)
        EXPECT_EQ(-14400, offset_of(&s, t));
}

UTEST(zone, bad_rules_are_refused) {
    static const char *const bad[] = {"A1",
                                      "ABC",
                                      "ABC25",
                                      "ABC1DEF",
                                      "ABC1DEF,",
                                      "ABC1DEF,M3.2.0",
                                      "ABC1DEF,M13.1.0,M1.1.0",
                                      "ABC1DEF,M0.1.0,M1.1.0",
                                      "ABC1DEF,M1.6.0,M1.1.0",
                                      "ABC1DEF,M1.0.0,M1.1.0",
                                      "ABC1DEF,M1.1.7,M1.1.0",
                                      "ABC1DEF,J0,J1",
                                      "ABC1DEF,J366,J1",
                                      "ABC1DEF,366,1",
                                      "ABC1DEF,1/168,2",
                                      "ABC1DEF,1,2x",
                                      "<AB1",
                                      "<>1",
                                      "ABC1:60",
                                      "ABC1:00:60",
                                      "ABC-",
                                      "ABC1DEF,1,99999999999999999999"};
    int32_t offset;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        spec s = {.version = 2, .n_types = 1, .rule = bad[i]};
        EXPECT_EQ(MWL_E_IMAGE, ask(&s, 0, &offset));
    }
}

UTEST(zone, damage_is_refused) {
    int32_t offset;
    spec good = {.version = 2,
                 .n_times = 2,
                 .n_types = 2,
                 .times = {1, 2},
                 .types = {0, 1},
                 .offsets = {0, 3600},
                 .rule = ""};
    EXPECT_EQ(MWL_OK, ask(&good, 0, &offset));
    spec s = good;
    s.times[1] = 1;
    EXPECT_EQ(MWL_E_IMAGE, ask(&s, 0, &offset)); /* not ascending */
    s = good, s.types[1] = 2;
    EXPECT_EQ(MWL_E_IMAGE, ask(&s, 0, &offset)); /* no such type */
    s = good, s.offsets[1] = 26 * 3600;
    EXPECT_EQ(MWL_E_IMAGE, ask(&s, 0, &offset));
    s = good, s.n_types = 0, s.n_times = 0;
    EXPECT_EQ(MWL_E_IMAGE, ask(&s, 0, &offset));
    s = good, s.n_leaps = 1;
    EXPECT_EQ(MWL_E_UNSUPPORTED, ask(&s, 0, &offset));
}

/* Data that is cut anywhere is refused. Data with a changed byte is refused or read, without a read
 * out of bounds. */
UTEST(zone, hostile_bytes) {
    spec s = {.version = 2,
              .n_times = 2,
              .n_types = 2,
              .times = {1, 2},
              .types = {0, 1},
              .offsets = {0, 3600},
              .rule = "CET-1CEST,M3.5.0,M10.5.0/3"};
    const bytes whole = tzif(&s);
    source src = {.data = whole};
    int32_t offset;
    for (size_t n = 0; n < whole.n; n++) {
        mwl__zones z;
        mwl__zones_init(&z, mwl_alloc_default(), read_source, &src);
        src.data.n = n;
        EXPECT_EQ(MWL_E_IMAGE, mwl__zone_offset(&z, "A", 1, 0, &offset));
        mwl__zones_free(&z);
    }
    for (size_t i = 0; i < whole.n; i++)
        for (int v = 0; v < 256; v += 17) {
            mwl__zones z;
            mwl__zones_init(&z, mwl_alloc_default(), read_source, &src);
            src.data = whole;
            src.data.b[i] = (unsigned char)v;
            for (int64_t t = -100; t < 2000000000; t += 500000000)
                (void)mwl__zone_offset(&z, "A", 1, t, &offset);
            mwl__zones_free(&z);
        }
}

/* Allocation failure at each point: a status, no leak. */
typedef struct {
    int left;
} scarce;
static void *scarce_alloc(void *ctx, void *p, size_t old_size, size_t new_size) {
    scarce *s = ctx;
    if (new_size && s->left-- <= 0) return NULL;
    mwl_alloc d = mwl_alloc_default();
    return d.fn(d.ctx, p, old_size, new_size);
}
UTEST(zone, out_of_memory) {
    spec s = {.n_types = 1, .offsets = {60}};
    source src = {.data = tzif(&s)};
    mwl_status st = MWL_E_NOMEM;
    int budget = 0;
    for (; budget < 20 && st != MWL_OK; budget++) {
        scarce c = {budget};
        mwl__zones z;
        int32_t offset;
        mwl__zones_init(&z, (mwl_alloc){scarce_alloc, &c}, read_source, &src);
        st = mwl__zone_offset(&z, "A", 1, 0, &offset);
        EXPECT_TRUE(st == MWL_OK || st == MWL_E_NOMEM);
        mwl__zones_free(&z);
    }
    EXPECT_EQ(MWL_OK, st);
    EXPECT_TRUE(budget > 1);
}

/* The default hook, where the system has zone data. */
UTEST(zone, system_files) {
    mwl__zones z;
    int32_t offset = 0;
    mwl__zones_init(&z, mwl_alloc_default(), NULL, NULL);
    mwl_status st = mwl__zone_offset(&z, "Asia/Kathmandu", 14, 1234567890, &offset);
    if (st == MWL_OK) {
        EXPECT_EQ(20700, offset);
        EXPECT_EQ(MWL_OK, mwl__zone_offset(&z, "US/Central", 10, 1234567890, &offset));
        EXPECT_EQ(-21600, offset);
        EXPECT_EQ(MWL_E_NOT_FOUND, mwl__zone_offset(&z, "Asia", 4, 0, &offset));
    } else {
        EXPECT_EQ(MWL_E_NOT_FOUND, st);
    }
    EXPECT_EQ(MWL_E_NOT_FOUND, mwl__zone_offset(&z, "No/Such_Zone", 12, 0, &offset));
    mwl__zones_free(&z);
}

UTEST_MAIN()
