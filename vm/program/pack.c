/* pack.c: see pack.h. Packing and unpacking have the same order of functions. */
#include "vm/program/pack.h"

#include "vm/program/program.h"
#include "vm/program/swap.h"

enum {
    HEAD = 20,
    CHECKSUM_AT = 12,
    FLAG_PACKED = 1,
    TAG_TEXT = 64,
    TAG_SMALL = 128,
    SMALL_LIMIT = 1 << 30
};

/* Returns the widths of the fields of a section's records; NULL if it does not have records of
 * fields. */
static const char *fields_of(unsigned id) {
    switch (id) {
    case MWL_SECTION_INFO:
    case MWL_SECTION_KEYS:
    case MWL_SECTION_REGEXES:
    case MWL_SECTION_SCHEMAS: return "4";
    case MWL_SECTION_PATHS: return "224";
    case MWL_SECTION_SHAPES:
    case MWL_SECTION_CATCHES: return "44";
    case MWL_SECTION_FUNCS: return "422";
    case MWL_SECTION_HANDLERS: return "444422";
    case MWL_SECTION_IMPORTS: return "4444";
    case MWL_SECTION_MATCHERS: return "44444";
    case MWL_SECTION_FLOWS: return "444444";
    case MWL_SECTION_STEPS: return "4444444";
    case MWL_SECTION_GATHERS: return "44444444";
    case MWL_SECTION_CALLS: return "444444444";
    case MWL_SECTION_ENTRIES: return "4444444444444444";
    default: return NULL;
    }
}

/* Do the widths add up to the record? A field that is added to a record must be added above. */
static bool fields_fit(const char *fields, size_t record) {
    size_t n = 0;
    for (; *fields; fields++) n += (size_t)(*fields - '0');
    return n == record;
}

static uint32_t zigzag(uint32_t d) { return d << 1 ^ (d >> 31 ? UINT32_MAX : 0); }
static uint32_t unzigzag(uint32_t z) { return z >> 1 ^ (z & 1u ? UINT32_MAX : 0); }
static uint64_t zigzag64(uint64_t d) { return d << 1 ^ (d >> 63 ? UINT64_MAX : 0); }
static uint64_t unzigzag64(uint64_t z) { return z >> 1 ^ (z & 1u ? UINT64_MAX : 0); }

static uint64_t checksum(const unsigned char *bytes, size_t size) {
    return mwl__str_hash64(bytes + HEAD, size - HEAD, mwl__str_hash64(bytes, CHECKSUM_AT, 0));
}

static bool has_flag(const unsigned char *b) { return b[6] == FLAG_PACKED && b[7] == 0; }

bool mwl__pack_is(const void *bytes, size_t size) {
    return bytes && size >= HEAD && memcmp(bytes, "MWLB", 4) == 0 && has_flag(bytes);
}

void mwl__pack_reseal(void *bytes, size_t size) {
    unsigned char *b = bytes;
    if (size < HEAD) return;
    uint64_t sum = checksum(b, size);
    for (int i = 0; i < 8; i++) b[CHECKSUM_AT + i] = (unsigned char)(sum >> (8 * i));
}

/* ---- packing --------------------------------------------------------------------------------- */

static void put(mwl__buf *out, uint64_t v) {
    for (; v >= 0x80; v >>= 7) mwl__buf_putc(out, (char)(v | 0x80));
    mwl__buf_putc(out, (char)v);
}

static uint32_t field(const unsigned char *p, char width) {
    uint16_t half;
    uint32_t word;
    if (width == '2') {
        memcpy(&half, p, sizeof half);
        return half;
    }
    memcpy(&word, p, sizeof word);
    return word;
}

static void pack_records(mwl__buf *out, const unsigned char *p, size_t n, const char *fields) {
    uint32_t last[16] = {0};
    bool plain = fields[1] == '\0';
    for (size_t i = 0; i < n; i++)
        for (size_t f = 0; fields[f]; f++) {
            uint32_t v = field(p, fields[f]) + 1u; /* NONE is zero */
            put(out, plain ? v : zigzag(v - last[f]));
            last[f] = v;
            p += fields[f] - '0';
        }
}

static bool pack_code(mwl__buf *out, const mwl__ins *code, size_t n) {
    for (size_t pc = 0; pc < n; pc++) {
        const mwl__op_info *info = mwl__op_get(code[pc].op);
        if (!info) return false;
        put(out, code[pc].op);
        for (int i = 0; i < 3; i++) {
            unsigned kind = info->kind[i];
            uint32_t v = i == 0 ? code[pc].a : i == 1 ? code[pc].b : code[pc].c;
            if (kind == MWL_OPERAND_NONE) {
                if (v) return false;
                continue;
            }
            bool wide = mwl__operand_get(kind)->wide;
            if (wide) v = mwl__ins_x(code[pc]);
            put(out, kind == MWL_OPERAND_JUMPX ? zigzag(v - (uint32_t)pc) : v);
            if (wide) break;
        }
    }
    return true;
}

static void pack_text(mwl__buf *out, const mwl__image *image, const mwl__const_rec *rec) {
    const char *strings = image->section[MWL_SECTION_STRINGS].data;
    const mwl__str *s = (const mwl__str *)(const void *)(strings + rec->payload);
    if (rec->kind == MWL_KIND_STRING && s->len < TAG_TEXT) {
        put(out, (uint64_t)TAG_TEXT + s->len);
    } else {
        put(out, rec->kind);
        put(out, s->len);
    }
    mwl__buf_put(out, s->s, s->len);
}

static void pack_tree(mwl__buf *out, const mwl__image *image, const mwl__const_rec *rec,
                      uint32_t k) {
    const uint32_t *list = (const uint32_t *)image->section[MWL_SECTION_TREES].data + rec->payload;
    uint64_t n = rec->kind == MWL_KIND_OBJECT ? (uint64_t)*list * 2 : *list;
    put(out, rec->kind);
    put(out, *list);
    for (uint64_t i = 1; i <= n; i++) put(out, k - list[i]);
}

static bool is_small(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d >= 0 && d < SMALL_LIMIT && (double)(uint32_t)d == d && !(bits >> 63);
}

static void pack_number(mwl__buf *out, uint64_t bits) {
    double d;
    if (is_small(bits)) {
        memcpy(&d, &bits, sizeof d);
        put(out, TAG_SMALL + MWL_KIND_NUMBER);
        put(out, (uint32_t)d);
        return;
    }
    put(out, MWL_KIND_NUMBER);
    mwl__buf_put(out, &bits, sizeof bits);
}

/* The constants must be in the order that loading demands; those of the emitter are. */
static void pack_consts(mwl__buf *out, const mwl__image *image, const mwl__const_rec *recs,
                        uint32_t n) {
    for (uint32_t k = 0; k < n; k++) {
        const mwl__const_rec *rec = &recs[k];
        switch (rec->kind) {
        case MWL_KIND_STRING:
        case MWL_KIND_BYTES:
        case MWL_KIND_TYPE: pack_text(out, image, rec); break;
        case MWL_KIND_ARRAY:
        case MWL_KIND_OBJECT: pack_tree(out, image, rec, k); break;
        case MWL_KIND_NUMBER: pack_number(out, rec->payload); break;
        case MWL_KIND_NULL: put(out, rec->kind); break;
        default:
            put(out, rec->kind);
            put(out, zigzag64(rec->payload));
            if (rec->kind == MWL_KIND_TIMESTAMP) put(out, rec->aux);
        }
    }
}

static bool pack_section(mwl__buf *out, const mwl__image *image, unsigned id) {
    const void *data = image->section[id].data;
    size_t record = mwl__image_record_size(id), n = image->section[id].size / record;
    const char *fields = fields_of(id);
    put(out, id);
    put(out, n);
    if (id == MWL_SECTION_CODE) return pack_code(out, data, n);
    if (id == MWL_SECTION_CONSTS)
        pack_consts(out, image, data, (uint32_t)n);
    else if (!fields)
        mwl__buf_put(out, data, n * record);
    else if (!fields_fit(fields, record))
        return false;
    else
        pack_records(out, data, n, fields);
    return true;
}

mwl_status mwl__pack(const void *image, size_t size, mwl__buf *out) {
    mwl__image view;
    size_t start = out->len;
    void *own = NULL;
    mwl_status status = mwl__image_open(image, size, &view, NULL);
    if (status == MWL_OK) status = mwl__image_to_native(&out->alloc, &view, &own, NULL);
    if (status < 0) return status;
    mwl__buf_put(out, image, CHECKSUM_AT); /* magic, format, flags, instruction set */
    mwl__buf_put(out, "\0\0\0\0\0\0\0", 8);
    bool good = true;
    for (unsigned id = 1; good && id < MWL_SECTION_LIMIT; id++) {
        if (!view.section[id].data || id == MWL_SECTION_STRINGS || id == MWL_SECTION_TREES)
            continue;
        good = pack_section(out, &view, id);
    }
    put(out, 0);
    if (own) mwl__mem_free(&out->alloc, own, size);
    if (out->failed || !good) {
        out->len = start;
        return out->failed ? MWL_E_NOMEM : MWL_E_IMAGE;
    }
    out->data[start + 6] = FLAG_PACKED;
    mwl__pack_reseal(out->data + start, out->len - start);
    return MWL_OK;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

typedef struct unpacker {
    const unsigned char *begin, *at, *end;
    const char *wrong; /* the first thing that is wrong */
    mwl__buf section[MWL_SECTION_LIMIT];
    bool present[MWL_SECTION_LIMIT];
} unpacker;

static uint64_t refuse(unpacker *u, const char *why) {
    if (!u->wrong) u->wrong = why;
    u->at = u->end;
    return 0;
}

static uint64_t get(unpacker *u) {
    uint64_t v = 0;
    for (unsigned shift = 0; u->at < u->end; shift += 7) {
        unsigned char b = *u->at++;
        if (shift == 63 && b > 1) return refuse(u, "a number is too large");
        v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            if (b == 0 && shift > 0) return refuse(u, "a number has more bytes than it needs");
            return v;
        }
        if (shift == 63) break;
    }
    return refuse(u, "cut off in a number");
}

static uint32_t get32(unpacker *u) {
    uint64_t v = get(u);
    return v > UINT32_MAX ? (uint32_t)refuse(u, "a number is too large") : (uint32_t)v;
}

/* Reads how many items follow. Each has at least one byte, so the memory for them is limited by the
 * size of the file. */
static size_t get_count(unpacker *u) {
    uint64_t n = get(u);
    if (n > (uint64_t)(u->end - u->at))
        return (size_t)refuse(u, "a count is larger than what is left");
    return (size_t)n;
}

static void unpack_records(unpacker *u, mwl__buf *out, size_t n, const char *fields) {
    uint32_t last[16] = {0};
    bool plain = fields[1] == '\0';
    for (size_t i = 0; i < n && !u->wrong; i++)
        for (size_t f = 0; fields[f]; f++) {
            uint32_t v = get32(u);
            last[f] = plain ? v : last[f] + unzigzag(v);
            uint32_t word = last[f] - 1u;
            uint16_t half = (uint16_t)word;
            if (fields[f] == '2') {
                if (word > UINT16_MAX) refuse(u, "a field is too large");
                mwl__buf_put(out, &half, sizeof half);
            } else {
                mwl__buf_put(out, &word, sizeof word);
            }
        }
}

static void unpack_code(unpacker *u, mwl__buf *out, size_t n) {
    for (size_t pc = 0; pc < n && !u->wrong; pc++) {
        uint32_t op = get32(u), operand[3] = {0, 0, 0};
        const mwl__op_info *info = mwl__op_get(op);
        if (!info) {
            refuse(u, "an unknown opcode");
            return;
        }
        for (int i = 0; i < 3; i++) {
            unsigned kind = info->kind[i];
            if (kind == MWL_OPERAND_NONE) continue;
            uint32_t v = get32(u);
            if (kind == MWL_OPERAND_JUMPX) v = (uint32_t)pc + unzigzag(v);
            if (mwl__operand_get(kind)->wide) {
                operand[1] = v & 0xffffu;
                operand[2] = v >> 16;
                break;
            }
            if (v > UINT16_MAX) refuse(u, "an operand is too large");
            operand[i] = v;
        }
        mwl__ins ins = mwl__ins_abc((mwl__op)op, operand[0], operand[1], operand[2]);
        mwl__buf_put(out, &ins, sizeof ins);
    }
}

static void unpack_text(unpacker *u, mwl__const_rec *rec, size_t len) {
    if (len > (size_t)(u->end - u->at)) {
        refuse(u, "cut off in a text");
        return;
    }
    rec->payload = mwl__image_put_string(&u->section[MWL_SECTION_STRINGS], (const char *)u->at, len,
                                         rec->kind == MWL_KIND_BYTES);
    u->present[MWL_SECTION_STRINGS] = true;
    u->at += len;
}

static void unpack_tree(unpacker *u, mwl__const_rec *rec, uint32_t k) {
    mwl__buf *trees = &u->section[MWL_SECTION_TREES];
    uint32_t n = (uint32_t)get_count(u);
    rec->payload = trees->len / sizeof n;
    u->present[MWL_SECTION_TREES] = true;
    mwl__buf_put(trees, &n, sizeof n);
    uint64_t kids = rec->kind == MWL_KIND_OBJECT ? (uint64_t)n * 2 : n;
    for (uint64_t i = 0; i < kids && !u->wrong; i++) {
        uint32_t back = get32(u), kid = k - back;
        if (back == 0 || back > k) refuse(u, "a container holds a constant that is not before it");
        mwl__buf_put(trees, &kid, sizeof kid);
    }
}

static void unpack_number(unpacker *u, mwl__const_rec *rec, bool small) {
    if (small) {
        double d = get32(u);
        memcpy(&rec->payload, &d, sizeof d);
        if (d >= SMALL_LIMIT) refuse(u, "a number is too large");
        return;
    }
    if (u->end - u->at < 8) {
        refuse(u, "cut off in a number");
        return;
    }
    memcpy(&rec->payload, u->at, 8);
    if (is_small(rec->payload)) refuse(u, "a number has more bytes than it needs");
    u->at += 8;
}

static void unpack_consts(unpacker *u, mwl__buf *out, size_t n) {
    for (uint32_t k = 0; k < n && !u->wrong; k++) {
        uint32_t tag = get32(u);
        mwl__const_rec rec = {tag, 0, 0};
        if (tag >= TAG_TEXT && tag < TAG_SMALL) {
            rec.kind = MWL_KIND_STRING;
            unpack_text(u, &rec, tag - TAG_TEXT);
        } else if (tag == MWL_KIND_NUMBER || tag == TAG_SMALL + MWL_KIND_NUMBER) {
            rec.kind = MWL_KIND_NUMBER;
            unpack_number(u, &rec, tag >= TAG_SMALL);
        } else if (tag == MWL_KIND_STRING || tag == MWL_KIND_BYTES || tag == MWL_KIND_TYPE) {
            size_t len = get_count(u);
            if (tag == MWL_KIND_STRING && len < TAG_TEXT)
                refuse(u, "a short text is written like a long one");
            unpack_text(u, &rec, len);
        } else if (tag == MWL_KIND_ARRAY || tag == MWL_KIND_OBJECT) {
            unpack_tree(u, &rec, k);
        } else if (tag > MWL_KIND_TYPE || tag == MWL_KIND_ABSENT) {
            refuse(u, "a constant of an unknown kind");
        } else if (tag != MWL_KIND_NULL) {
            rec.payload = unzigzag64(get(u));
            if (tag == MWL_KIND_TIMESTAMP) rec.aux = get32(u);
        }
        mwl__buf_put(out, &rec, sizeof rec);
    }
}

static void unpack_section(unpacker *u, unsigned id) {
    size_t n = get_count(u), record = mwl__image_record_size(id);
    const char *fields = fields_of(id);
    mwl__buf *out = &u->section[id];
    u->present[id] = true;
    if (id == MWL_SECTION_CODE) {
        unpack_code(u, out, n);
    } else if (id == MWL_SECTION_CONSTS) {
        unpack_consts(u, out, n);
    } else if (fields && fields_fit(fields, record)) {
        unpack_records(u, out, n, fields);
    } else if (record == 1) {
        mwl__buf_put(out, u->at, n);
        u->at += n;
    } else {
        refuse(u, "a section that the packed form does not have");
    }
}

static mwl_status check_head(const unsigned char *b, size_t size, mwl_error *error) {
    mwl__image none = {.bytes = b};
    uint64_t sum = 0;
    if (!mwl__pack_is(b, size))
        return mwl__image_refuse(&none, error, MWL_E_IMAGE, "not a packed program", b);
    if (b[4] != (MWL_IMAGE_FORMAT & 0xff) || b[5] != MWL_IMAGE_FORMAT >> 8)
        return mwl__image_refuse(&none, error, MWL_E_VERSION, "a program format of another version",
                                 b + 4);
    for (int i = 0; i < 8; i++) sum |= (uint64_t)b[CHECKSUM_AT + i] << (8 * i);
    if (sum != checksum(b, size))
        return mwl__image_refuse(&none, error, MWL_E_IMAGE, "the checksum does not match",
                                 b + CHECKSUM_AT);
    uint32_t isa =
        (uint32_t)b[8] | (uint32_t)b[9] << 8 | (uint32_t)b[10] << 16 | (uint32_t)b[11] << 24;
    if (isa != mwl__op_isa()) /* the operands of its instructions are not known */
        return mwl__image_refuse(&none, error, MWL_E_VERSION,
                                 "the program is for another instruction set; assemble it again",
                                 b + 8);
    return MWL_OK;
}

static mwl_status write_image(unpacker *u, mwl__buf *out) {
    mwl__image_writer w;
    memset(&w, 0, sizeof w);
    for (unsigned id = 1; id < MWL_SECTION_LIMIT; id++) {
        if (u->section[id].failed) return MWL_E_NOMEM;
        if (u->present[id]) mwl__image_add(&w, id, u->section[id].data, u->section[id].len);
    }
    return mwl__image_finish(&w, mwl__op_isa(), out);
}

mwl_status mwl__unpack(const void *bytes, size_t size, mwl__buf *out, mwl_error *error) {
    const unsigned char *b = bytes;
    mwl_status status = check_head(b, size, error);
    if (status < 0) return status;
    unpacker u;
    memset(&u, 0, sizeof u);
    u.begin = b;
    u.at = b + HEAD;
    u.end = b + size;
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) u.section[id] = mwl__buf_make(out->alloc);
    const unsigned char *from;
    for (unsigned last = 0;;) {
        from = u.at;
        uint64_t id = get(&u);
        if (u.wrong || id == 0) break;
        if (id <= last || id >= MWL_SECTION_LIMIT || mwl__image_record_size((unsigned)id) == 0)
            refuse(&u, "an unknown section, or one out of order");
        else
            unpack_section(&u, last = (unsigned)id);
        if (u.wrong) break;
    }
    if (!u.wrong && u.at != u.end) u.wrong = "bytes after the end";
    if (u.wrong) {
        mwl__image where = {.bytes = b, .size = size};
        status = mwl__image_refuse(&where, error, MWL_E_IMAGE, u.wrong, from);
    } else {
        status = write_image(&u, out);
        if (status < 0)
            status = mwl__image_refuse(NULL, error, status, mwl_status_text(status), NULL);
    }
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) mwl__buf_free(&u.section[id]);
    return status;
}
