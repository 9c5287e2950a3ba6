/* mwl.h: the host's API of mwlvm.
 *
 * Order: version, status list, allocator, values, time, program, VM, run, pump, trace.
 *
 * Words. *Lent*: stays the other side's, valid as long as said. *Given*: the caller's to drop, free
 * or release, once. *Taken over* (parameters named take_): no longer the caller's, whatever the
 * function answers. A pointer may be NULL only where that is said.
 *
 * Threads. A VM, its heap, its runs and their values belong to one thread at a time; moving a VM to
 * another thread needs what any memory needs (a lock, a join), and then to be pumped or started
 * there first. Any thread may call what says so: versions and texts of statuses, mwl_assemble,
 * loading, keeping and releasing programs, and the mwl_token_* functions of mwl_provider.h.
 *
 * Misuse is answered with a status where it can be told; builds without NDEBUG also stop with a
 * message. */
#ifndef MWL_H
#define MWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MWL_API __attribute__((visibility("default")))
#else
#define MWL_API
#endif

/* ---- version --------------------------------------------------------------------------------- */

#define MWL_VERSION_MAJOR 0
#define MWL_VERSION_MINOR 1
#define MWL_VERSION_PATCH 0
#define MWL_VERSION "0.1.0"

/* The version of the library that is linked, as "major.minor.patch". Any thread. */
MWL_API const char *mwl_version(void);

/* ---- status: the API's answer to its C caller ------------------------------------------------ */

/* name, number, text. Zero is success, every failure is negative. */
#define MWL_STATUS_LIST(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(E_NOMEM, -1, "out of memory")                                                                \
    X(E_USAGE, -2, "the function was called wrongly")                                              \
    X(E_JSON, -3, "the text is not valid JSON")                                                    \
    X(E_UTF8, -4, "the text is not valid UTF-8")                                                   \
    X(E_DUPLICATE, -5, "an object has the same member name twice")                                 \
    X(E_DEPTH, -6, "nested too deeply")                                                            \
    X(E_TOO_BIG, -7, "larger than a limit allows")                                                 \
    X(E_RANGE, -8, "a number, duration or instant is out of range")                                \
    X(E_SYNTAX, -9, "the text does not have the form that is required")                            \
    X(E_IMAGE, -10, "the program image is damaged or not a program")                               \
    X(E_VERSION, -11, "the program image is of another version")                                   \
    X(E_FUEL, -12, "the work limit was reached")                                                   \
    X(E_NOT_JSON, -13, "the value has no JSON form")                                               \
    X(E_NOT_FOUND, -14, "no such thing")                                                           \
    X(E_REJECTED, -15, "the definition was rejected; see the diagnostics")                         \
    X(E_STATE, -16, "not possible in the present state")                                           \
    X(E_IO, -17, "input or output failed")                                                         \
    X(E_UNSUPPORTED, -18, "not available in this build")                                           \
    X(E_CANCELLED, -19, "the wait was cancelled")                                                  \
    X(E_FAILED, -20, "the answer is a failure")                                                    \
    X(E_CLEANUP, -21, "the cleanup of a cancelled run took too long")

typedef enum mwl_status {
#define MWL_X(name, number, text) MWL_##name = (number),
    MWL_STATUS_LIST(MWL_X)
#undef MWL_X
} mwl_status;

/* The text of a status from the list above; never NULL. Any thread. */
MWL_API const char *mwl_status_text(mwl_status status);

/* Where and why a text was refused. `message` is constant text, never freed. A function that takes
 * an `mwl_error *` accepts NULL and writes it only when it fails. */
typedef struct mwl_error {
    mwl_status status;
    const char *message;
    size_t offset; /* byte offset in the text or image */
} mwl_error;

/* ---- allocator ------------------------------------------------------------------------------- */

/* One realloc-shaped hook. ptr NULL: allocate new_size. new_size 0: free ptr, answer NULL.
 * Otherwise resize, and on failure leave ptr as it was and answer NULL. old_size is exactly what
 * the block was last given. Alignment as malloc gives it. Must not call back into the library. */
typedef struct mwl_alloc {
    void *(*fn)(void *ctx, void *ptr, size_t old_size, size_t new_size);
    void *ctx;
} mwl_alloc;

/* The C library's realloc and free behind that shape. Any thread. */
MWL_API mwl_alloc mwl_alloc_default(void);

/* ---- values ---------------------------------------------------------------------------------- */

/* An immutable value: JSON's six kinds, and those that only expressions have. Sixteen bytes, passed
 * by value; the fields are the library's. A value that came from a function is *given*: drop it
 * once. A value passed to a function is *lent* unless the parameter is named take_. */
typedef struct mwl_value {
    uint32_t tag;
    uint32_t aux;
    union {
        double d;
        int64_t i;
        uint64_t u;
        void *p;
    } as;
} mwl_value;

typedef enum mwl_kind {
    MWL_KIND_ABSENT = 0, /* no value at all: what a failed constructor or lookup answers */
    MWL_KIND_NULL = 1,
    MWL_KIND_BOOL = 2,
    MWL_KIND_NUMBER = 3, /* a double: JSON's number and CEL's double */
    MWL_KIND_INT = 4,
    MWL_KIND_UINT = 5,
    MWL_KIND_DURATION = 6,
    MWL_KIND_TIMESTAMP = 7,
    MWL_KIND_STRING = 8,
    MWL_KIND_BYTES = 9,
    MWL_KIND_ARRAY = 10,
    MWL_KIND_OBJECT = 11, /* a JSON object or a CEL map, whose keys may be int, uint or bool */
    MWL_KIND_TYPE = 12,
    MWL_KIND_OPTIONAL = 13,
    MWL_KIND_EXT = 14,  /* a value of a function library's own type */
    MWL_KIND_FAULT = 15 /* internal to the machine: an expression's fault on its way */
} mwl_kind;

static inline mwl_kind mwl_value_kind(mwl_value v) { return (mwl_kind)(v.tag & 0xffu); }
static inline bool mwl_is_absent(mwl_value v) { return mwl_value_kind(v) == MWL_KIND_ABSENT; }

/* Where values live: an allocator, an account and a limit. One thread at a time; values of one heap
 * never mix with those of another (constants of a loaded program excepted: those belong to none).
 */
typedef struct mwl_heap mwl_heap;

/* A heap of its own, for values beside any VM; given. alloc is copied; NULL: the default.
 * MWL_E_NOMEM. */
MWL_API mwl_status mwl_heap_new(const mwl_alloc *alloc, mwl_heap **out);
MWL_API void
mwl_heap_free(mwl_heap *heap); /* every value must have been dropped; NULL is ignored */
MWL_API size_t mwl_heap_used(const mwl_heap *heap);              /* bytes held by live values */
MWL_API void mwl_heap_limit(mwl_heap *heap, size_t limit_bytes); /* 0: none, as at the start */
/* Why the last constructor of this heap that answered absent did so. */
MWL_API mwl_status mwl_heap_why(const mwl_heap *heap);

/* Scalars need no heap and no drop. */
static inline mwl_value mwl__scalar(uint32_t kind, int64_t i) {
    mwl_value v;
    v.tag = kind;
    v.aux = 0;
    v.as.i = i;
    return v;
}
static inline mwl_value mwl_absent(void) { return mwl__scalar(MWL_KIND_ABSENT, 0); }
static inline mwl_value mwl_null(void) { return mwl__scalar(MWL_KIND_NULL, 0); }
static inline mwl_value mwl_bool(bool b) { return mwl__scalar(MWL_KIND_BOOL, b); }
static inline mwl_value mwl_int(int64_t i) { return mwl__scalar(MWL_KIND_INT, i); }
static inline mwl_value mwl_duration(int64_t ns) { return mwl__scalar(MWL_KIND_DURATION, ns); }
static inline mwl_value mwl_uint(uint64_t u) {
    mwl_value v = mwl__scalar(MWL_KIND_UINT, 0);
    v.as.u = u;
    return v;
}
static inline mwl_value mwl_number(double d) {
    mwl_value v = mwl__scalar(MWL_KIND_NUMBER, 0);
    v.as.d = d;
    return v;
}
/* Seconds since the Unix epoch (may be negative) and nanoseconds 0 .. 999,999,999 after them. */
static inline mwl_value mwl_timestamp(int64_t sec, uint32_t ns) {
    mwl_value v = mwl__scalar(MWL_KIND_TIMESTAMP, sec);
    v.aux = ns;
    return v;
}

/* Constructors answer absent when they fail (mwl_heap_why says: out of memory, too deep, too big,
 * not UTF-8) and then have dropped what they took over. Absent is contagious: given an absent
 * operand they drop the others and answer absent, so a builder may test once, at the end. */
MWL_API mwl_value mwl_string(mwl_heap *heap, const char *text, size_t len); /* checks UTF-8 */
MWL_API mwl_value mwl_bytes(mwl_heap *heap, const void *data, size_t len);
MWL_API mwl_value mwl_array(mwl_heap *heap, size_t expected);  /* empty, room for `expected` */
MWL_API mwl_value mwl_object(mwl_heap *heap, size_t expected); /* empty */
/* The array with one more element. Amortised O(1), also while an older version is still held. */
MWL_API mwl_value mwl_array_push(mwl_heap *heap, mwl_value take_array, mwl_value take_item);
/* The object with the member added, or replaced in its place. Adding is amortised O(1). */
MWL_API mwl_value mwl_object_set(mwl_heap *heap, mwl_value take_object, const char *key, size_t len,
                                 mwl_value take_value);
/* The same with any CEL key: string, int, uint or bool. */
MWL_API mwl_value mwl_object_put(mwl_heap *heap, mwl_value take_object, mwl_value take_key,
                                 mwl_value take_value);

/* Counting: keep gives another reference to a lent value, drop gives one back. */
MWL_API mwl_value mwl_value_keep(mwl_value v);
MWL_API void mwl_value_drop(mwl_heap *heap, mwl_value take);

/* The value as this heap's own, whichever heap it came from: nothing of it is shared, and nothing
 * of it lies in a program. Given; absent (mwl_heap_why) when there is no memory, and for CEL's
 * types. */
MWL_API mwl_value mwl_value_copy(mwl_heap *heap, mwl_value v);

/* Readers. What they answer is lent and lives as long as the value it came from. Those of scalars
 * do not look at the kind: ask mwl_value_kind first. mwl_as_int reads an int, a duration
 * (nanoseconds) and a timestamp (seconds, with mwl_as_nanos after them). */
static inline bool mwl_as_bool(mwl_value v) { return v.as.i != 0; }
static inline int64_t mwl_as_int(mwl_value v) { return v.as.i; }
static inline uint32_t mwl_as_nanos(mwl_value v) { return v.aux; }
static inline uint64_t mwl_as_uint(mwl_value v) { return v.as.u; }
static inline double mwl_as_number(mwl_value v) { return v.as.d; }
/* The bytes of a string or bytes value; for a string NUL-terminated after len. NULL for other
 * kinds. len may be NULL. */
MWL_API const char *mwl_as_text(mwl_value v, size_t *len);
MWL_API size_t mwl_string_code_points(mwl_value v); /* of a string; 0 for other kinds */
MWL_API size_t mwl_count(mwl_value v);              /* elements or members; 0 for other kinds */
MWL_API mwl_value mwl_array_at(mwl_value array, size_t i); /* absent when out of range */
MWL_API mwl_value mwl_object_get(mwl_value object, const char *key, size_t len); /* or absent */
MWL_API mwl_value mwl_object_find(mwl_value object,
                                  mwl_value key); /* any key; 1 finds 1u and 1.0 */
/* Member i in insertion order; false when out of range. */
MWL_API bool mwl_object_at(mwl_value object, size_t i, mwl_value *key, mwl_value *value);

/* Deep equality with CEL's rules, of which JSON's are a part: numbers of all kinds compare by
 * value, NaN equals nothing, objects regardless of member order, kinds otherwise never mix. */
MWL_API bool mwl_value_equal(mwl_value a, mwl_value b);

/* The order of two values of one ordered kind (bool, numbers across kinds, string, bytes,
 * timestamp, duration): -1, 0, 1 in *order, or 2 for unordered (NaN). False when the kinds do not
 * compare. */
MWL_API bool mwl_value_order(mwl_value a, mwl_value b, int *order);
/* A hash that equal values share, with a seed of the heap's. Looks at a few levels only: what it
 * costs is bounded by the number of nodes there. */
MWL_API uint64_t mwl_value_hash(const mwl_heap *heap, mwl_value v);
/* How many nodes a value has when written out: what a walk over it costs. 1 for scalars and
 * strings. */
MWL_API uint64_t mwl_value_weight(mwl_value v);
/* The name of a value's type as CEL's type() answers it: "int", "google.protobuf.Timestamp". Lent.
 */
MWL_API const char *mwl_value_type(mwl_value v);
/* What CEL's string() answers; also a type's name. Absent, MWL_E_USAGE, for other kinds (null,
 * array, object, optional); MWL_E_UTF8 for bytes that are no text. */
MWL_API mwl_value mwl_value_text(mwl_heap *heap, mwl_value v);

/* Optionals: one with a value, the empty one, and what one holds, lent, or absent. */
MWL_API mwl_value mwl_optional(mwl_heap *heap, mwl_value take_value);
MWL_API mwl_value mwl_optional_none(void);
MWL_API mwl_value mwl_optional_get(mwl_value optional);
/* A value of a library's own type (MWL_KIND_EXT): the type's name and a text. The text is the whole
 * of the value: equal exactly when type and text are, and what string() answers. So make it
 * canonical. */
MWL_API mwl_value mwl_ext(mwl_heap *heap, const char *type, const char *text, size_t len);
/* Its text, lent, not NUL-terminated; NULL when v is no value of that type. */
MWL_API const char *mwl_ext_text(mwl_value v, const char *type, size_t *len);

/* Memory beside values, in the heap's account and under its limit; shaped like mwl_alloc. NULL on
 * failure (mwl_heap_why), and then the block is as it was. */
MWL_API void *mwl_heap_resize(mwl_heap *heap, void *block, size_t old_size, size_t new_size);

/* ---- text ------------------------------------------------------------------------------------ */

/* The byte offset of the first or the last occurrence of a part in a text; SIZE_MAX when there is
 * none. Linear in len, whatever the texts. */
MWL_API size_t mwl_text_find(const char *text, size_t len, const char *part, size_t n);
MWL_API size_t mwl_text_find_last(const char *text, size_t len, const char *part, size_t n);

typedef enum mwl_number_form {
    MWL_NUMBER_FIXED,    /* 1234.5 */
    MWL_NUMBER_EXPONENT, /* 1.2345e+03 */
    MWL_NUMBER_GENERAL   /* fixed, or with an exponent below -4 and from 6: Go's %g; takes no
                            precision */
} mwl_number_form;
/* A number as text, whatever the locale: exactly rounded to `precision` decimals, or (-1) with the
 * fewest digits that read back the same. "NaN", "Infinity", "-Infinity". The answer is the length
 * without the NUL, or 0 when cap is too small; 352 + precision is enough. */
MWL_API size_t mwl_number_text(double d, mwl_number_form form, int precision, char *out,
                               size_t cap);

/* ---- JSON text ------------------------------------------------------------------------------- */

/* Strict RFC 8259 text to a value; numbers become the nearest double, and one beyond the largest is
 * refused (MWL_E_RANGE); of duplicate members the last value wins, in the place of the first; depth
 * limited by MWL_DEPTH_LIMIT of mwl_config.h. The memory of reading counts against the heap's limit
 * while it lasts. */
MWL_API mwl_status mwl_json_parse(mwl_heap *heap, const char *text, size_t len, mwl_value *out,
                                  mwl_error *error);

typedef enum mwl_json_style {
    MWL_JSON_COMPACT,   /* members in their order, no white space */
    MWL_JSON_PRETTY,    /* two spaces a level */
    MWL_JSON_CANONICAL, /* RFC 8785 */
} mwl_json_style;

/* A data value to text: given, NUL-terminated, freed with mwl_text_free. MWL_E_NOT_JSON for a value
 * outside the data model: a CEL-only kind, a non-finite number, a key that is no string. */
MWL_API mwl_status mwl_json_write(mwl_heap *heap, mwl_value v, mwl_json_style style, char **text,
                                  size_t *len);
MWL_API void mwl_text_free(mwl_heap *heap, char *text,
                           size_t len); /* len as it was given; text may be NULL */

/* ---- time ------------------------------------------------------------------------------------ */

/* Two readings of one moment: monotonic nanoseconds (bounds, delays) and wall nanoseconds since the
 * Unix epoch (timestamps, `until`). */
typedef struct mwl_instant {
    int64_t mono_ns, wall_ns;
} mwl_instant;

/* A clock of the host's own (a game's time, a test's). Read often, on the VM's thread; its
 * monotonic reading never goes back. The budget of mwl_vm_pump is measured with it. */
typedef struct mwl_clock {
    void (*read)(void *ctx, mwl_instant *out);
    void *ctx;
} mwl_clock;

MWL_API mwl_clock mwl_clock_system(void); /* the system's. Any thread */

/* ISO 8601 durations and RFC 3339 timestamps, as the language's temporal profile has them. A year
 * is 365 days, a month 30. MWL_E_SYNTAX, MWL_E_RANGE. */
MWL_API mwl_status mwl_duration_parse(const char *text, size_t len, int64_t *ns);
MWL_API mwl_value mwl_timestamp_text(mwl_heap *heap, int64_t wall_ns); /* a string value */

/* ---- program --------------------------------------------------------------------------------- */

/* A loaded program: immutable, counted, shared by any number of VMs and threads. */
typedef struct mwl_program mwl_program;

typedef enum mwl_ownership {
    MWL_COPY,  /* the bytes are copied */
    MWL_BORROW /* the bytes stay the caller's, 8-byte aligned, until the last reference is released
                */
} mwl_ownership;

/* Check an image completely and make it ready to run; given: release it once. alloc NULL: the
 * default; it is used by whichever thread loads or releases. MWL_E_IMAGE, MWL_E_VERSION,
 * MWL_E_NOMEM, with the place in *error. Any thread. */
MWL_API mwl_status mwl_program_load(const mwl_alloc *alloc, const void *image, size_t size,
                                    mwl_ownership ownership, mwl_program **out, mwl_error *error);
MWL_API mwl_program *
mwl_program_keep(mwl_program *program);                 /* one more reference, given; any thread */
MWL_API void mwl_program_release(mwl_program *program); /* any thread; NULL is ignored */

/* ---- VM -------------------------------------------------------------------------------------- */

typedef struct mwl_vm mwl_vm;
typedef struct mwl_run mwl_run;

/* Limits of one run; 0 takes the default of mwl_config.h.
 *
 * Fuel is counted where work can grow without the program growing: one for each move of the machine
 * (a Step, a phase, a call, a branch between blocks of code) and each function called; the length
 * of its body for each round of a comprehension; and by size for what looks at large values:
 * comparing, searching, joining and converting text, JSON, sorting, patterns, schemas (about one
 * for each node, or for each 8 bytes). Straight code in between is not counted: the program's
 * length bounds it. So one unit is a few instructions to a few dozen; give a limit room. */
typedef struct mwl_limits {
    uint64_t fuel;        /* work in all, see below */
    size_t memory_bytes;  /* values and records held at one time */
    uint32_t frame_depth; /* Flows called inside each other */
    uint32_t entry_depth; /* middleware entries established in one frame */
    uint32_t fan_out;     /* dispatches of one Gather */
    uint32_t chain_depth; /* failures linked by `previous` */
    int64_t cleanup_ns;   /* from a cancellation from outside, or a limit, to the run's end; 0: no
                             limit. A run   that takes longer is aborted with MWL_E_CLEANUP */
} mwl_limits;

/* All zero is a configuration too: the default. */
typedef struct mwl_config {
    mwl_alloc
        alloc; /* of everything but tokens; used on the VM's thread only; fn NULL: the default */
    mwl_clock clock;   /* not read under virtual time; read NULL: the system's */
    bool virtual_time; /* time stands still while there is work, and skips to the next timer */
    int64_t virtual_start_ns; /* wall reading at the start; 0 takes 2026-01-01T00:00:00Z */
    uint64_t
        seed; /* jitter and generated ids; runs may bring their own. 0: a fixed one for jitter */
    mwl_limits limits; /* of runs that bring none of their own */
    uint32_t
        slice; /* work between two looks at the clock, counted as fuel is; 0 takes the default */
    size_t stack_bytes; /* of a blocking call provider's stack; 0: 64 KiB (untouched pages cost
                           nothing) */
    /* Answers posted by other threads (mwl_token_succeed and so on) interrupt nothing: they wait
     * for the next pump. `wake` tells the host's loop that one is due: called on the posting thread
     * when the first answer comes into an empty mailbox. It must be short and must not call the
     * library: write to an eventfd, signal a condition. Not called any more once mwl_vm_free has
     * returned. NULL: the host pumps by itself often enough. */
    void (*wake)(void *ctx);
    void *wake_ctx;
    mwl_alloc post_alloc; /* memory of tokens and posted texts, used by several threads; fn NULL:
                             the default */
} mwl_config;

MWL_API mwl_config mwl_config_default(void); /* any thread */
/* A VM; given. config is copied; NULL: the default. MWL_E_NOMEM. It has CEL's functions and no
 * provider: see mwl_std_register (mwl_std.h) and mwl_vm_provide (mwl_provider.h). */
MWL_API mwl_status mwl_vm_new(const mwl_config *config, mwl_vm **out);
/* Runs that are left are aborted and freed with it; values of its heap must have been dropped. The
 * caller's references to programs are still the caller's. Not from inside a callback. NULL is
 * ignored. */
MWL_API void mwl_vm_free(mwl_vm *vm);
MWL_API mwl_heap *mwl_vm_heap(mwl_vm *vm); /* where values for this VM are made */
/* A VM holds on to every program that it has run, because values that came from a run may lie in
 * its program's image: Results, what providers were given, what a middleware remembers. A host that
 * reloads says when it has no use for the old one: runs of it that are left finish, and when the
 * last is freed the VM lets go of it. By then no value that came from them may be kept, except as a
 * copy (mwl_value_copy). The caller's own reference is still the caller's to release.
 * MWL_E_NOT_FOUND: the VM does not hold it. Starting a run of it again takes the word back. */
MWL_API mwl_status mwl_vm_forget(mwl_vm *vm, const mwl_program *program);
MWL_API void mwl_vm_now(mwl_vm *vm, mwl_instant *out); /* its clock, or its virtual time */

/* ---- run ------------------------------------------------------------------------------------- */

typedef struct mwl_start {    /* all zero is a start: no input, no arguments */
    const char *id;           /* execution.id, copied; NULL: one is made */
    mwl_value input;          /* lent; absent: null */
    mwl_value arguments;      /* lent; an object, or absent */
    uint64_t seed;            /* 0: from the VM's */
    const mwl_limits *limits; /* copied; NULL: the VM's */
} mwl_start;

typedef enum mwl_run_state {
    MWL_RUN_READY,  /* has work for the next pump */
    MWL_RUN_PARKED, /* waits: for a time, or for providers */
    MWL_RUN_DONE,   /* over, with a Result */
    MWL_RUN_ABORTED /* over, without one; mwl_run_why tells when it was the machine's doing */
} mwl_run_state;

/* Begin a run; given: free it once, before or with its VM. It does its first work in the next pump.
 * start NULL: an empty one. E_NOT_FOUND when the program imports a provider or function that the VM
 * does not have (error->message names it, lent by the program). E_USAGE, E_NOMEM. The VM keeps the
 * program by itself. */
MWL_API mwl_status mwl_run_start(mwl_vm *vm, mwl_program *program, const mwl_start *start,
                                 mwl_run **out, mwl_error *error);
MWL_API mwl_run_state mwl_run_get_state(const mwl_run *run);
/* The Result, an object with `type`: lent until the run is freed; absent before MWL_RUN_DONE. */
MWL_API mwl_value mwl_run_result(const mwl_run *run);
MWL_API bool mwl_run_succeeded(const mwl_run *run);  /* done, and its Result is a success */
MWL_API mwl_value mwl_run_value(const mwl_run *run); /* a success's value, lent; else absent */
/* Why the machine itself ended the run: MWL_OK; a limit: MWL_E_FUEL, MWL_E_TOO_BIG, MWL_E_NOMEM,
 * MWL_E_CLEANUP; or MWL_E_IMAGE, when a damaged program does what no assembler writes. */
MWL_API mwl_status mwl_run_why(const mwl_run *run);
/* Ask it to stop: cleanup runs, in the pumps that follow, and the Result is a cancellation. reason
 * is copied; NULL: none. Idempotent; nothing happens when the run is over. May be called from its
 * own providers. A NULL run is ignored. */
MWL_API void mwl_run_cancel(mwl_run *run, const char *reason);
/* End it without further language work: providers are told, there is no Result. Nothing happens
 * when it is over. */
MWL_API void mwl_run_abort(mwl_run *run);
/* Aborts it first when it is not over. From inside one of its own callbacks it goes when the
 * callback's turn of the pump ends. NULL is ignored. */
MWL_API void mwl_run_free(mwl_run *run);
MWL_API const char *
mwl_run_id(mwl_run *run); /* execution.id, lent by the run; "" when memory is out */

/* Where a failure was born: the innermost Step that failed with it. For people; the names are lent
 * as long as the program. */
typedef struct mwl_place {
    const char *flow, *step; /* names; "" for the root and inline Flows */
    uint32_t line, column;   /* of the Step in the definition; 0 when positions were stripped */
} mwl_place;
/* `failure` is the Result of a run that is done, or one below it by `previous`. False when it is
 * not known: the VM remembers its last few failures only. */
MWL_API bool mwl_run_failed_at(const mwl_run *run, mwl_value failure, mwl_place *out);

MWL_API void mwl_run_set_user(mwl_run *run,
                              void *user); /* a pointer of the host's; NULL at the start */
MWL_API void *mwl_run_user(const mwl_run *run);

/* ---- pump ------------------------------------------------------------------------------------ */

#define MWL_NEVER INT64_MAX
#define MWL_NO_BUDGET INT64_MAX
/* Do ready work for about budget_ns of monotonic time (checked once per slice), then answer when to
 * pump again: 0 when work is left, a monotonic instant, or MWL_NEVER. Never blocks. Not from inside
 * a callback: then it does nothing and answers 0. Under virtual time the budget is of virtual time:
 * it skips ahead at most so far, and 0 is one slice. */
MWL_API int64_t mwl_vm_pump(mwl_vm *vm, int64_t budget_ns);

/* ---- trace ----------------------------------------------------------------------------------- */

/* What happened, and what `value` is then:
 *   RUN_STARTED      mwl_run_start has begun a run           its input
 *   RUN_DONE         a run has its Result                    the Result
 *   FRAME_ENTERED    a Flow begins, with the root            its input
 *   FRAME_EXITED     and ends                                its value or failure
 *   STEP_ENTERED     a Step begins                           its input
 *   STEP_EXITED      and ends                                its output or failure
 *   PHASE            a phase of `provider`'s entry begins    what is in flight there
 *   ATTEMPT          `provider` runs its inner scope again   the input it gets
 *   CALL_DISPATCHED  a call begins; `index` in a Gather      its arguments; may be absent
 *   CALL_ACCEPTED    its Result is taken; `index` likewise   the value or failure
 *   TIMER            a wait is over                          absent
 *   INTERRUPTED      a scope is being torn down              the cancellation */
#define MWL_TRACE_EVENTS(X)                                                                        \
    X(RUN_STARTED)                                                                                 \
    X(RUN_DONE)                                                                                    \
    X(FRAME_ENTERED)                                                                               \
    X(FRAME_EXITED)                                                                                \
    X(STEP_ENTERED)                                                                                \
    X(STEP_EXITED) X(PHASE) X(ATTEMPT) X(CALL_DISPATCHED) X(CALL_ACCEPTED) X(TIMER) X(INTERRUPTED)

typedef enum mwl_trace_kind {
#define MWL_X(name) MWL_TRACE_##name,
    MWL_TRACE_EVENTS(MWL_X)
#undef MWL_X
} mwl_trace_kind;

typedef struct mwl_trace_event {
    mwl_trace_kind kind;
    const mwl_run *run;
    mwl_instant at;
    uint32_t depth;   /* of the frame: 0 is the root */
    const char *flow; /* name, or "" for the root and inline Flows. This and the next: lent by the
                         program */
    const char *step; /* name, or "" */
    const char *provider; /* URI, or ""; lent by the VM */
    const char *phase;    /* "onEntry" ..., or "" */
    int64_t index;        /* of a Gather's dispatch; else -1 */
    mwl_value value;      /* lent: as the kind says; absent where there is none */
} mwl_trace_event;

/* One listener; NULL stops. Costs nothing when nobody listens. Called on the VM's thread, the event
 * lent for the call; must not call back into the VM, but for reading values and what mwl_run_id and
 * mwl_run_user answer. */
MWL_API void mwl_vm_trace(mwl_vm *vm, void (*listen)(void *ctx, const mwl_trace_event *event),
                          void *ctx);
MWL_API const char *mwl_trace_name(mwl_trace_kind kind); /* "RUN_STARTED"; never NULL. Any thread */

#ifdef __cplusplus
}
#endif
#endif
