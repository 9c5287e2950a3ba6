/* zone.c: reads TZif data and the POSIX rule for the time after the last transition; has the cache.
 * See zone.h.
 *
 * A zone is one block: its record, then transition times, then type indices, then offsets by type.
 * What a lookup relies on (times strictly ascending, indices and offsets in range) is checked when
 * the bytes are read. */
#include "vm/value/zone.h"
#include "vm/value/temporal.h"
#include "vm/base/ascii.h"

/* RFC 8536 requires readers to accept offsets between -25 and +26 hours, both excluded. */
#define OFFSET_MIN (-25 * 3600)
#define OFFSET_MAX (26 * 3600)

/* When clocks change in a year: the three forms that a rule string has. */
typedef struct {
    enum { DAY_NO_LEAP, DAY_ZERO, DAY_WEEK } form; /* Jn, n, Mm.w.d */
    int day;                                       /* n, or the weekday, 0 for Sunday */
    int month, week;
    int32_t time; /* seconds after local midnight; may be negative or beyond a day */
} change;

typedef struct {
    bool present, has_dst;
    int32_t std, dst; /* seconds ahead of UTC */
    change start, end;
} rule;

typedef struct mwl__zone {
    char name[MWL__ZONE_NAME_MAX + 1];
    size_t size; /* of the block */
    size_t n_times;
    const int64_t *times;   /* UTC, strictly ascending */
    const uint8_t *types;   /* one for each time */
    const int32_t *offsets; /* by type; type 0 holds before the first time */
    rule rule;
} zone;

/* ---- POSIX TZ rules -------------------------------------------------------------------------- */

typedef struct {
    const char *p, *end;
} text;

static bool at(const text *t, char c) { return t->p < t->end && *t->p == c; }
static bool take(text *t, char c) {
    if (!at(t, c)) return false;
    t->p++;
    return true;
}
static bool at_digit(const text *t) { return t->p < t->end && mwl__is_digit(*t->p); }

static bool take_number(text *t, int most, int *out) {
    int v = 0;
    if (!at_digit(t)) return false;
    while (at_digit(t)) {
        v = v * 10 + (*t->p++ - '0');
        if (v > most) return false;
    }
    *out = v;
    return true;
}

/* Skips a name of three or more letters, or <quoted>. The name itself does not matter here. */
static bool take_name(text *t) {
    const char *first = t->p;
    if (take(t, '<')) {
        while (t->p < t->end && *t->p != '>') t->p++;
        return take(t, '>') && t->p - first >= 3;
    }
    while (t->p < t->end && mwl__is_letter(*t->p)) t->p++;
    return t->p - first >= 3;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool take_clock(text *t, int most_hours, int32_t *out) {
    bool negative = take(t, '-');
    if (!negative) (void)take(t, '+');
    int h, m = 0, s = 0;
    if (!take_number(t, most_hours, &h)) return false;
    if (take(t, ':')) {
        if (!take_number(t, 59, &m)) return false;
        if (take(t, ':') && !take_number(t, 59, &s)) return false;
    }
    *out = (h * 3600 + m * 60 + s) * (negative ? -1 : 1);
    return true;
}

static bool take_change(text *t, change *c) {
    *c = (change){.time = 2 * 3600};
    if (take(t, 'M')) {
        c->form = DAY_WEEK;
        if (!take_number(t, 12, &c->month) || c->month < 1 || !take(t, '.')) return false;
        if (!take_number(t, 5, &c->week) || c->week < 1 || !take(t, '.')) return false;
        if (!take_number(t, 6, &c->day)) return false;
    } else if (take(t, 'J')) {
        c->form = DAY_NO_LEAP;
        if (!take_number(t, 365, &c->day) || c->day < 1) return false;
    } else {
        c->form = DAY_ZERO;
        if (!take_number(t, 365, &c->day)) return false;
    }
    /* Hours from -167 to 167: the extension of TZif version 3. */
    return !take(t, '/') || take_clock(t, 167, &c->time);
}

/* Reads a TZ string. An empty one means that nothing is known after the last transition. */
static bool read_rule(const char *s, size_t len, rule *r) {
    text t = {s, s + len};
    *r = (rule){0};
    if (len == 0) return true;
    if (!take_name(&t) || !take_clock(&t, 24, &r->std)) return false;
    r->present = true;
    r->std = -r->std; /* POSIX counts offsets to the west */
    if (t.p == t.end) return true;
    r->has_dst = true;
    r->dst = r->std + 3600;
    if (!take_name(&t)) return false;
    if (!at(&t, ',')) {
        if (!take_clock(&t, 24, &r->dst)) return false;
        r->dst = -r->dst;
    }
    return take(&t, ',') && take_change(&t, &r->start) && take(&t, ',') &&
           take_change(&t, &r->end) && t.p == t.end;
}

/* Returns when the change happens in that year, as local seconds since the epoch. */
static int64_t change_at(const change *c, int32_t year) {
    int64_t day;
    if (c->form == DAY_ZERO) {
        day = mwl__temporal_days(year, 1, 1) + c->day;
    } else if (c->form == DAY_NO_LEAP) {
        bool past_leap_day = c->day >= 60 && mwl__temporal_days_in_month(year, 2) == 29;
        day = mwl__temporal_days(year, 1, c->day) + past_leap_day;
    } else {
        int64_t first = mwl__temporal_days(year, c->month, 1);
        int64_t weekday = ((first + 4) % 7 + 7) % 7;
        int64_t in_month = (c->day - weekday + 7) % 7 + (int64_t)(c->week - 1) * 7;
        if (in_month >= mwl__temporal_days_in_month(year, c->month)) in_month -= 7;
        day = first + in_month;
    }
    return day * 86400 + c->time;
}

/* The latest change at or before the instant decides. A change can lie up to a week outside its
 * year, so the years before and after are examined too. If an end and the next start are at the
 * same instant, daylight time lasts all year, so the start wins. */
static int32_t offset_by_rule(const rule *r, int64_t utc_sec) {
    if (!r->has_dst) return r->std;
    int32_t year = mwl__temporal_civil((mwl__instant){utc_sec, 0}, r->std).year;
    int64_t latest = INT64_MIN;
    int32_t offset = r->std;
    for (int32_t y = year - 1; y <= year + 1; y++) {
        int64_t end = change_at(&r->end, y) - r->dst, start = change_at(&r->start, y) - r->std;
        if (end <= utc_sec && end > latest) latest = end, offset = r->std;
        if (start <= utc_sec && start >= latest) latest = start, offset = r->dst;
    }
    return offset;
}

/* ---- TZif ------------------------------------------------------------------------------------ */

static uint32_t be32(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static int32_t sbe32(const unsigned char *p) {
    uint32_t u = be32(p);
    return u <= INT32_MAX ? (int32_t)u : -(int32_t)(UINT32_MAX - u) - 1;
}
static int64_t sbe64(const unsigned char *p) {
    uint64_t u = (uint64_t)be32(p) << 32 | be32(p + 4);
    return u <= INT64_MAX ? (int64_t)u : -(int64_t)(UINT64_MAX - u) - 1;
}

#define HEADER_BYTES 44

/* One header and its data block. They were checked to lie inside the file. */
typedef struct {
    int version;
    size_t n_times, n_types, n_leaps, width; /* width of a time: 4 or 8 */
    const unsigned char *times, *indices, *types, *end;
} block;

/* Each count is at most the file's size, so no sum here can overflow. */
static bool find_block(const unsigned char *p, size_t len, size_t width, block *b) {
    if (len < HEADER_BYTES || memcmp(p, "TZif", 4) != 0) return false;
    size_t counts[6]; /* UT flags, standard flags, leap seconds, times, types, characters */
    for (size_t i = 0; i < 6; i++) {
        counts[i] = be32(p + 20 + 4 * i);
        if (counts[i] > MWL__ZONE_BYTES_MAX) return false;
    }
    b->version = p[4] == 0 ? 1 : p[4] - '0';
    b->n_leaps = counts[2], b->n_times = counts[3], b->n_types = counts[4], b->width = width;
    size_t need = b->n_times * (width + 1) + b->n_types * 6 + counts[5] + b->n_leaps * (width + 4) +
                  counts[1] + counts[0];
    if (need > len - HEADER_BYTES) return false;
    b->times = p + HEADER_BYTES;
    b->indices = b->times + b->n_times * width;
    b->types = b->indices + b->n_times;
    b->end = b->times + need;
    return true;
}

static mwl_status build(const mwl_alloc *a, const char *name, size_t name_len, const block *b,
                        const rule *r, zone **out) {
    size_t size = sizeof(zone) + b->n_times * (sizeof(int64_t) + 1) + b->n_types * sizeof(int32_t);
    zone *z = mwl__mem_zero(a, 1, size);
    if (!z) return MWL_E_NOMEM;
    int64_t *times = (int64_t *)(void *)(z + 1);
    int32_t *offsets = (int32_t *)(void *)(times + b->n_times);
    uint8_t *types = (uint8_t *)(offsets + b->n_types);
    memcpy(z->name, name, name_len);
    z->size = size;
    z->n_times = b->n_times;
    z->times = times, z->types = types, z->offsets = offsets;
    z->rule = *r;
    for (size_t i = 0; i < b->n_types; i++) {
        offsets[i] = sbe32(b->types + 6 * i);
        if (offsets[i] <= OFFSET_MIN || offsets[i] >= OFFSET_MAX) goto damaged;
    }
    for (size_t i = 0; i < b->n_times; i++) {
        times[i] = b->width == 8 ? sbe64(b->times + 8 * i) : sbe32(b->times + 4 * i);
        types[i] = b->indices[i];
        if (types[i] >= b->n_types || (i > 0 && times[i] <= times[i - 1])) goto damaged;
    }
    *out = z;
    return MWL_OK;
damaged:
    mwl__mem_free(a, z, size);
    return MWL_E_IMAGE;
}

static mwl_status read_tzif(const mwl_alloc *a, const char *name, size_t name_len,
                            const unsigned char *p, size_t len, zone **out) {
    block b;
    rule r = {0};
    if (!find_block(p, len, 4, &b)) return MWL_E_IMAGE;
    if (b.version >= 2) {
        size_t skip = (size_t)(b.end - p);
        if (!find_block(p + skip, len - skip, 8, &b) || b.version < 2) return MWL_E_IMAGE;
        const char *footer = (const char *)b.end;
        size_t rest = len - (size_t)(b.end - p);
        if (rest < 2 || footer[0] != '\n') return MWL_E_IMAGE;
        const char *close = memchr(footer + 1, '\n', rest - 1);
        if (!close || !read_rule(footer + 1, (size_t)(close - footer - 1), &r)) return MWL_E_IMAGE;
    }
    if (b.n_types < 1 || b.n_types > 256) return MWL_E_IMAGE;
    if (b.n_leaps) return MWL_E_UNSUPPORTED;
    return build(a, name, name_len, &b, &r, out);
}

static int32_t offset_at(const zone *z, int64_t utc_sec) {
    size_t low = 0, high = z->n_times; /* the number of transitions at or before the instant */
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (z->times[mid] <= utc_sec)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == z->n_times && z->rule.present) return offset_by_rule(&z->rule, utc_sec);
    return z->offsets[low == 0 ? 0 : z->types[low - 1]];
}

/* ---- names and the cache --------------------------------------------------------------------- */

void mwl__zones_init(mwl__zones *z, mwl_alloc alloc, mwl__zone_read read, void *ctx) {
    *z = (mwl__zones){.alloc = alloc, .read = read ? read : mwl__zone_read_file, .ctx = ctx};
}

static void drop_all(mwl__zones *z) {
    for (size_t i = 0; i < z->n; i++) mwl__mem_free(&z->alloc, z->sorted[i], z->sorted[i]->size);
    z->n = 0;
}

void mwl__zones_free(mwl__zones *z) {
    drop_all(z);
    mwl__mem_free(&z->alloc, z->sorted, z->cap * sizeof z->sorted[0]);
    z->sorted = NULL;
    z->cap = 0;
}

/* [+-]h[h]:mm */
static mwl_status fixed_offset(const char *s, size_t len, int32_t *offset_sec) {
    text t = {s, s + len};
    bool negative = take(&t, '-');
    if (!negative) (void)take(&t, '+');
    const char *first = t.p;
    int hours, minutes;
    if (!take_number(&t, 23, &hours) || t.p - first > 2 || !take(&t, ':')) return MWL_E_SYNTAX;
    if (t.end - t.p != 2 || !take_number(&t, 59, &minutes) || t.p != t.end) return MWL_E_SYNTAX;
    *offset_sec = (hours * 3600 + minutes * 60) * (negative ? -1 : 1);
    return MWL_OK;
}

/* Letters, digits, '_', '+', '-' in components that are not empty. No dots, so a name cannot leave
 * the folder. */
static bool is_zone_name(const char *s, size_t len) {
    if (len == 0 || s[0] == '/' || s[len - 1] == '/') return false;
    for (size_t i = 0; i < len; i++) {
        bool plain = mwl__is_alnum(s[i]) || s[i] == '_' || s[i] == '+' || s[i] == '-';
        if (!plain && !(s[i] == '/' && s[i - 1] != '/')) return false;
    }
    return true;
}

/* Returns the place of the name in the table, or the place where it would be inserted. */
static bool find(const mwl__zones *z, const char *name, size_t len, size_t *ix) {
    size_t low = 0, high = z->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = strncmp(z->sorted[mid]->name, name, len);
        if (order == 0) order = z->sorted[mid]->name[len] != '\0';
        if (order == 0) {
            *ix = mid;
            return true;
        }
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *ix = low;
    return false;
}

static mwl_status load(mwl__zones *z, const char *name, size_t len, size_t ix) {
    char plain[MWL__ZONE_NAME_MAX + 1];
    zone *loaded = NULL;
    memcpy(plain, name, len);
    plain[len] = '\0';
    if (z->n == MWL__ZONE_CACHE_MAX) {
        drop_all(z);
        ix = 0;
    }
    void *sorted = z->sorted;
    mwl_status st = mwl__mem_grow(&z->alloc, &sorted, &z->cap, z->n + 1, sizeof z->sorted[0]);
    z->sorted = sorted;
    if (st < 0) return st;
    mwl__buf bytes = mwl__buf_make(z->alloc);
    st = z->read(z->ctx, plain, &bytes);
    if (st >= 0 && bytes.failed) st = MWL_E_NOMEM;
    if (st >= 0 && bytes.len > MWL__ZONE_BYTES_MAX) st = MWL_E_TOO_BIG;
    if (st >= 0)
        st = read_tzif(&z->alloc, name, len, (const unsigned char *)bytes.data, bytes.len, &loaded);
    mwl__buf_free(&bytes);
    if (st < 0) return st;
    memmove(z->sorted + ix + 1, z->sorted + ix, (z->n - ix) * sizeof z->sorted[0]);
    z->sorted[ix] = loaded;
    z->n++;
    return MWL_OK;
}

mwl_status mwl__zone_offset(mwl__zones *z, const char *name, size_t len, int64_t utc_sec,
                            int32_t *offset_sec) {
    if (utc_sec < MWL__INSTANT_MIN_SEC || utc_sec > MWL__INSTANT_MAX_SEC) return MWL_E_RANGE;
    if (len == 0 || (len == 3 && memcmp(name, "UTC", 3) == 0)) {
        *offset_sec = 0;
        return MWL_OK;
    }
    if (len > MWL__ZONE_NAME_MAX) return MWL_E_SYNTAX; /* without a look at each byte */
    if (memchr(name, ':', len)) return fixed_offset(name, len, offset_sec);
    if (!is_zone_name(name, len)) return MWL_E_SYNTAX;
    size_t ix;
    if (!find(z, name, len, &ix)) {
        mwl_status st = load(z, name, len, ix);
        if (st < 0) return st;
        (void)find(z, name, len, &ix);
    }
    *offset_sec = offset_at(z->sorted[ix], utc_sec);
    return MWL_OK;
}
