/* mwl.h: the API for a host, a program that loads and runs workflows with mwlvm.
 *
 * Order: version, status list, allocator, values, text, JSON, time, program, VM, run, pump, looking
 * in, a run as bytes, durable hosts, trace. Providers, middleware and CEL functions are in
 * mwl_provider.h, the assembler is in mwl_asm.h, the standard providers and functions are in
 * mwl_std.h. tools/examples/README.md is a guide with a complete host. The comments named "Example"
 * are compiled and run by a test.
 *
 * Three words say who owns a thing.
 *   Lent        It still belongs to the other side. Use it only as long as the comment says.
 *   Given       It belongs to the caller now, who must drop, free or release it exactly once.
 *   Taken over  It no longer belongs to the caller, whether the function succeeds or fails.
 *               Such parameters have names that begin with take_.
 * A parameter is lent for the duration of the call unless its name begins with take_. A pointer may
 * be NULL only where the comment says so.
 *
 * Threads. A VM, its heap, its runs and their values belong to one thread at a time. To move a VM
 * to another thread, synchronise the two threads as for any other memory (a lock, a join); the
 * first call there must be mwl_vm_pump() or mwl_run_start(). The functions that any thread may call
 * say "Any thread". Among them are mwl_assemble(), those that load, keep and release programs, and
 * the mwl_token_* functions. A thread that runs a VM, assembles or loads programs needs a C stack
 * of at least 256 KiB.
 *
 * Wrong use. A function returns an error status where it can detect wrong use. Builds without
 * NDEBUG also stop the process with a message. */
#ifndef MWL_H
#define MWL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Windows: a host that links the DLL may define MWL_DLL, which saves a jump in each call.
 * MWL_BUILD_DLL is for the build of the DLL. */
#if defined(_WIN32) && defined(MWL_BUILD_DLL)
#define MWL_API __declspec(dllexport)
#elif defined(_WIN32) && defined(MWL_DLL)
#define MWL_API __declspec(dllimport)
#elif defined(_WIN32)
#define MWL_API
#elif defined(__GNUC__)
#define MWL_API __attribute__((visibility("default")))
#else
#define MWL_API
#endif

/* ---- version --------------------------------------------------------------------------------- */

#define MWL_VERSION_MAJOR 0
#define MWL_VERSION_MINOR 2
#define MWL_VERSION_PATCH 0
#define MWL_VERSION "0.2.0"
#define MWL_VERSION_NUMBER                                                                         \
    (MWL_VERSION_MAJOR * 1000000 + MWL_VERSION_MINOR * 1000 + MWL_VERSION_PATCH)

/* Return the version of the library that is linked: the text "major.minor.patch", which is
 * constant, and a number to compare with MWL_VERSION_NUMBER. Any thread. */
MWL_API const char *mwl_version(void);
MWL_API uint32_t mwl_version_number(void);

/* A host works with every later library that has the same name: libmwlvm.so.0.2 for all of 0.2.
 *
 * Structs that the host fills grow at their end: mwl_config, mwl_start, mwl_load,
 * mwl_call_provider, mwl_middleware, mwl_asm_options, mwl_asm_result, mwl_where. Set them to zero
 * before you set members (`mwl_start start = {0}`, or names in the braces): zero in a new member
 * always means what the version before did. The functions that read them are inline, and pass the
 * size that the host was compiled with to a function whose name ends in _sized. A library that is
 * older than the header accepts such a struct too, unless a member is set that it does not know:
 * MWL_E_VERSION. Programs in other languages call the functions that end in _sized; a size that
 * ends inside a member is refused with MWL_E_USAGE.
 *
 * Structs that the library lends grow at their end too: mwl_trace_event, and mwl_wait where
 * mwl_run_each_wait() lends it. mwl_run_waits(), which writes a mwl_wait of the host, stops behind
 * `arguments`. The other structs do not change. */

/* ---- status: what functions return to their C caller ----------------------------------------- */

/* name, number, text. Zero is success; every failure is negative. */
#define MWL_STATUS_LIST(X)                                                                         \
    X(OK, 0, "success")                                                                            \
    X(E_NOMEM, -1, "out of memory")                                                                \
    X(E_USAGE, -2, "the function was called wrongly")                                              \
    X(E_JSON, -3, "the text is not valid JSON")                                                    \
    X(E_UTF8, -4, "the text is not valid UTF-8")                                                   \
    X(E_DUPLICATE, -5, "the same name occurs twice")                                               \
    X(E_DEPTH, -6, "nested too deeply")                                                            \
    X(E_TOO_BIG, -7, "larger than a limit allows")                                                 \
    X(E_RANGE, -8, "a number, duration or instant is out of range")                                \
    X(E_SYNTAX, -9, "the text does not have the required form")                                    \
    X(E_IMAGE, -10, "the program image is damaged or is not a program")                            \
    X(E_VERSION, -11, "the program image, the saved run or the host is of another version")        \
    X(E_FUEL, -12, "the work limit was reached")                                                   \
    X(E_NOT_JSON, -13, "the value has no JSON form")                                               \
    X(E_NOT_FOUND, -14, "not found")                                                               \
    X(E_REJECTED, -15, "the definition was rejected; see the diagnostics")                         \
    X(E_STATE, -16, "not possible in the present state")                                           \
    X(E_IO, -17, "input or output failed")                                                         \
    X(E_UNSUPPORTED, -18, "not available in this build")                                           \
    X(E_CANCELLED, -19, "the wait was cancelled")                                                  \
    X(E_FAILED, -20, "the awaited work failed")                                                    \
    X(E_CLEANUP, -21, "the cleanup of a cancelled run took too long")                              \
    X(E_SNAPSHOT, -22, "the saved run is damaged, or is of another program")                       \
    X(E_REFUSED, -23, "the store refuses what it contains")

typedef enum mwl_status {
#define MWL_X(name, number, text) MWL_##name = (number),
    MWL_STATUS_LIST(MWL_X)
#undef MWL_X
} mwl_status;

/* Returns the text of a status from the list above. Constant text, never NULL. Any thread. */
MWL_API const char *mwl_status_text(mwl_status status);

/* Where and why a text or an image was refused. A function with a parameter `mwl_error *error`
 * accepts NULL there, and writes to it only when it fails. */
typedef struct mwl_error {
    mwl_status status;
    /* What is wrong, for people. Valid until the next function that this thread calls with an
     * mwl_error fails. Never freed. */
    const char *message;
    /* Byte offset in the text or image. */
    size_t offset;
} mwl_error;

/* ---- allocator ------------------------------------------------------------------------------- */

/* A host's allocator: one function that works like realloc().
 *   ptr NULL      Allocate new_size bytes, aligned as malloc() aligns.
 *   new_size 0    Free ptr and return NULL.
 *   otherwise     Resize ptr. On failure, leave ptr unchanged and return NULL.
 * old_size is the size that the block was last given, or 0 for a new one. The function must not
 * call the library. */
typedef struct mwl_alloc {
    void *(*fn)(void *ctx, void *ptr, size_t old_size, size_t new_size);
    void *ctx; /* passed to fn */
} mwl_alloc;

/* Returns an allocator that uses realloc() and free() of the C library. Any thread. */
MWL_API mwl_alloc mwl_alloc_default(void);

/* ---- values ---------------------------------------------------------------------------------- */

/* Example: build a value, read it, write it as JSON text.
 *
 *     static mwl_status print_order(mwl_heap *heap) {
 *         mwl_value items = mwl_array(heap, 2);
 *         items = mwl_array_push(heap, items, mwl_number(1)); // takes over the old items
 *         items = mwl_array_push(heap, items, mwl_string(heap, "two", 3));
 *         mwl_value order = mwl_object_set(heap, mwl_object(heap, 1), "items", 5, items);
 *         if (mwl_is_absent(order)) return mwl_heap_why(heap); // one test for all of the above
 *
 *         mwl_value lent = mwl_object_get(order, "items", 5); // valid as long as order is
 *         printf("%zu items\n", mwl_count(lent));
 *         char *text = NULL;
 *         size_t len = 0;
 *         mwl_status status = mwl_json_write(heap, order, MWL_JSON_COMPACT, &text, &len);
 *         if (status == MWL_OK) printf("%s\n", text); // {"items":[1,"two"]}
 *         mwl_text_free(heap, text, len);
 *         mwl_value_drop(heap, order);
 *         return status;
 *     }
 */

/* An immutable value: one of JSON's six kinds, or of the kinds that only expressions have. It has
 * sixteen bytes and is passed by value. The fields belong to the library: use the functions below.
 * A value that a function returns is given, unless its comment says lent. */
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
    MWL_KIND_ABSENT = 0, /* not a value: a constructor failed, or a lookup found nothing */
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
    MWL_KIND_EXT = 14,  /* a value of a type that a function library defines */
    MWL_KIND_FAULT = 15 /* internal: the failure of an expression, inside the machine */
} mwl_kind;

static inline mwl_kind mwl_value_kind(mwl_value v) { return (mwl_kind)(v.tag & 0xffu); }
static inline bool mwl_is_absent(mwl_value v) { return mwl_value_kind(v) == MWL_KIND_ABSENT; }

/* The place where values live: an allocator, a count of the bytes in use, and a limit. One thread
 * at a time. Never put a value of one heap into a value of another; use mwl_value_copy(). Constants
 * of a loaded program belong to no heap and may be used in any. */
typedef struct mwl_heap mwl_heap;

/* Creates a heap for values outside any VM; *out is given. alloc is copied; NULL means the default.
 * Returns MWL_OK, MWL_E_USAGE (out is NULL) or MWL_E_NOMEM. */
MWL_API mwl_status mwl_heap_new(const mwl_alloc *alloc, mwl_heap **out);
/* Frees the heap. Drop all its values first. NULL is ignored. */
MWL_API void mwl_heap_free(mwl_heap *heap);
/* Returns how many bytes the live values of the heap use. */
MWL_API size_t mwl_heap_used(const mwl_heap *heap);
/* Sets how many bytes the values may use. 0 means no limit, as in a new heap. */
MWL_API void mwl_heap_limit(mwl_heap *heap, size_t limit_bytes);
/* Returns the reason why a constructor of this heap last returned absent. */
MWL_API mwl_status mwl_heap_why(const mwl_heap *heap);

/* Constructors of scalars. These need no heap, cannot fail and need no drop. */
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
/* sec: seconds since the Unix epoch, may be negative. ns: 0 to 999,999,999 nanoseconds after it. */
static inline mwl_value mwl_timestamp(int64_t sec, uint32_t ns) {
    mwl_value v = mwl__scalar(MWL_KIND_TIMESTAMP, sec);
    v.aux = ns;
    return v;
}

/* Constructors that allocate. When one fails it returns absent, and has dropped what it took over;
 * mwl_heap_why() returns the reason: MWL_E_NOMEM, MWL_E_DEPTH, MWL_E_TOO_BIG, MWL_E_UTF8 or
 * MWL_E_USAGE. When a value that it takes over is absent, it drops the others and returns absent.
 * So a sequence of constructors needs only one test, at its end. */

/* A string of len bytes of UTF-8, which are copied. text may be NULL when len is 0. */
MWL_API mwl_value mwl_string(mwl_heap *heap, const char *text, size_t len);
/* A string from a C string. */
MWL_API mwl_value mwl_text(mwl_heap *heap, const char *text);
/* A bytes value. The bytes are copied. data may be NULL when len is 0. */
MWL_API mwl_value mwl_bytes(mwl_heap *heap, const void *data, size_t len);
/* An empty array or object, with room for `expected` elements or members. It can grow. */
MWL_API mwl_value mwl_array(mwl_heap *heap, size_t expected);
MWL_API mwl_value mwl_object(mwl_heap *heap, size_t expected);
/* The array with one more element. Amortised O(1), even while another reference holds the shorter
 * array. */
MWL_API mwl_value mwl_array_push(mwl_heap *heap, mwl_value take_array, mwl_value take_item);
/* The object with one more member. If the key exists, the value is replaced and the member keeps
 * its position. Adding is amortised O(1). The key's bytes are copied. */
MWL_API mwl_value mwl_object_set(mwl_heap *heap, mwl_value take_object, const char *key, size_t len,
                                 mwl_value take_value);
/* An object with these members: names, as C strings, and values in turn; the values are taken over.
 *     mwl_make_object(heap, "latitude", mwl_number(38.7), "city", mwl_text(heap, "Lisboa")) */
#define mwl_make_object(heap, ...) mwl_object_of((heap), __VA_ARGS__, (const char *)0)
/* The same, as a function: the list ends with a name that is NULL. */
MWL_API mwl_value mwl_object_of(mwl_heap *heap, ...);
/* Like mwl_object_set(), with any key that CEL allows: string, int, uint or bool. */
MWL_API mwl_value mwl_object_put(mwl_heap *heap, mwl_value take_object, mwl_value take_key,
                                 mwl_value take_value);

/* Values are counted. mwl_value_keep() returns one more reference to a lent value, which is given.
 * mwl_value_drop() ends one reference; the last one frees the memory. `heap` is its heap. */
MWL_API mwl_value mwl_value_keep(mwl_value v);
MWL_API void mwl_value_drop(mwl_heap *heap, mwl_value take);

/* Returns a complete copy of a value from any heap. The copy belongs to `heap`, and shares no
 * memory with the original or with a program. Given. Absent if it fails: mwl_heap_why() is
 * MWL_E_NOMEM, MWL_E_TOO_BIG, MWL_E_DEPTH, or MWL_E_USAGE for a value of kind MWL_KIND_TYPE. */
MWL_API mwl_value mwl_value_copy(mwl_heap *heap, mwl_value v);

/* Readers. What they return is lent, and valid as long as the value that it came from.
 *
 * The readers of scalars do not check the kind: check mwl_value_kind() first. mwl_as_int() reads an
 * int, a duration (in nanoseconds) and a timestamp (in seconds; mwl_as_nanos() has the rest). */
static inline bool mwl_as_bool(mwl_value v) { return v.as.i != 0; }
static inline int64_t mwl_as_int(mwl_value v) { return v.as.i; }
static inline uint32_t mwl_as_nanos(mwl_value v) { return v.aux; }
static inline uint64_t mwl_as_uint(mwl_value v) { return v.as.u; }
static inline double mwl_as_number(mwl_value v) { return v.as.d; }
/* Returns the bytes of a string or a bytes value, and their number in *len. A NUL follows the bytes
 * of a string. Returns NULL for other kinds. len may be NULL. */
MWL_API const char *mwl_as_text(mwl_value v, size_t *len);
/* Returns the number of code points of a string; 0 for other kinds. */
MWL_API size_t mwl_string_code_points(mwl_value v);
/* Returns the number of elements or members; 0 for other kinds. */
MWL_API size_t mwl_count(mwl_value v);
/* Returns element i, or absent if i is out of range. */
MWL_API mwl_value mwl_array_at(mwl_value array, size_t i);
/* Returns the member with this name, or absent. */
MWL_API mwl_value mwl_object_get(mwl_value object, const char *key, size_t len);
/* Returns the member with this name, a C string, or absent. */
MWL_API mwl_value mwl_get(mwl_value object, const char *key);
/* Returns the member with this key, or absent. Keys compare as in CEL: 1 finds 1u and 1.0. */
MWL_API mwl_value mwl_object_find(mwl_value object, mwl_value key);
/* Reads member i in insertion order; false if i is out of range. key and value may be NULL. */
MWL_API bool mwl_object_at(mwl_value object, size_t i, mwl_value *key, mwl_value *value);

/* Returns whether two values are equal, at all levels, by the rules of CEL, which include those of
 * JSON. Numbers of all kinds compare by value, NaN equals nothing, and the order of members does
 * not matter. Otherwise values of different kinds are not equal. */
MWL_API bool mwl_value_equal(mwl_value a, mwl_value b);

/* Compares two values: *order is -1, 0 or 1, or 2 if they are not ordered (NaN). Returns false if
 * their kinds cannot be compared. Kinds that can: two bools, numbers of any kinds, two strings, two
 * bytes values, two timestamps, two durations. */
MWL_API bool mwl_value_order(mwl_value a, mwl_value b, int *order);
/* Returns a hash, which is the same for equal values. It depends on the heap's secret
 * (mwl_config.hash_secret): who does not know the secret cannot make values that share a hash. It
 * reads the whole value; the cost is the number of nodes and the bytes of their texts. */
MWL_API uint64_t mwl_value_hash(const mwl_heap *heap, mwl_value v);
/* Returns how many nodes a value has when it is written out, which is what a walk over it costs. 1
 * for scalars and strings. */
MWL_API uint64_t mwl_value_weight(mwl_value v);
/* Returns the name of a value's type as CEL's type() shows it: "int", "google.protobuf.Timestamp".
 * Constant text; that of an MWL_KIND_EXT value is lent by the value. */
MWL_API const char *mwl_value_type(mwl_value v);
/* Converts a value to a string as CEL's string() does; a type becomes its name. Given. Absent if it
 * fails: mwl_heap_why() is MWL_E_USAGE for null, arrays, objects and optionals, MWL_E_UTF8 for
 * bytes that are not UTF-8, or MWL_E_NOMEM. */
MWL_API mwl_value mwl_value_text(mwl_heap *heap, mwl_value v);

/* CEL's optional values. mwl_optional() makes one with a value, mwl_optional_none() the empty one.
 * mwl_optional_get() returns the value inside, lent, or absent. */
MWL_API mwl_value mwl_optional(mwl_heap *heap, mwl_value take_value);
MWL_API mwl_value mwl_optional_none(void);
MWL_API mwl_value mwl_optional_get(mwl_value optional);
/* A value of a type that a function library defines (MWL_KIND_EXT): the name of the type and a
 * text, both copied. Two such values are equal if type and text are equal, and CEL's string()
 * returns the text. So always write the same content as the same text. */
MWL_API mwl_value mwl_ext(mwl_heap *heap, const char *type, const char *text, size_t len);
/* Returns the text of such a value and its length. The text is lent by the value and has no NUL at
 * its end. Returns NULL if v is not a value of that type. */
MWL_API const char *mwl_ext_text(mwl_value v, const char *type, size_t *len);

/* Allocates memory that is not a value. It counts against the limit of the heap. The parameters
 * work as those of mwl_alloc. If it fails it returns NULL, leaves the block unchanged, and
 * mwl_heap_why() returns the reason. */
MWL_API void *mwl_heap_resize(mwl_heap *heap, void *block, size_t old_size, size_t new_size);

/* ---- text ------------------------------------------------------------------------------------ */

/* Return the byte offset of the first or the last place where a text contains `part`; SIZE_MAX if
 * it does not. The time is linear in len for all texts. */
MWL_API size_t mwl_text_find(const char *text, size_t len, const char *part, size_t n);
MWL_API size_t mwl_text_find_last(const char *text, size_t len, const char *part, size_t n);

typedef enum mwl_number_form {
    MWL_NUMBER_FIXED,    /* 1234.5 */
    MWL_NUMBER_EXPONENT, /* 1.2345e+03 */
    /* Fixed for exponents from -4 to 5, otherwise with an exponent: Go's %g. Ignores precision. */
    MWL_NUMBER_GENERAL
} mwl_number_form;
/* Writes a number as text, the same in every locale. It is exactly rounded to `precision` decimals;
 * with precision -1 it has the fewest digits that read back as the same number. NaN and infinities
 * are "NaN", "Infinity" and "-Infinity". Returns the length without the NUL, or 0 if cap is too
 * small; 352 + precision bytes are always enough. */
MWL_API size_t mwl_number_text(double d, mwl_number_form form, int precision, char *out,
                               size_t cap);

/* ---- JSON text ------------------------------------------------------------------------------- */

/* Reads strict RFC 8259 text; *out is given. A number becomes the nearest double. If an object has
 * the same name twice, the last value wins, at the position of the first. Returns MWL_OK,
 * MWL_E_JSON, MWL_E_UTF8, MWL_E_RANGE (a number is larger than the largest double), MWL_E_DEPTH
 * (deeper than MWL_DEPTH_LIMIT of mwl_config.h), MWL_E_TOO_BIG, MWL_E_NOMEM or MWL_E_USAGE. The
 * memory that reading needs counts against the limit of the heap until the function returns. */
MWL_API mwl_status mwl_json_parse(mwl_heap *heap, const char *text, size_t len, mwl_value *out,
                                  mwl_error *error);
/* A function that writes the next bytes of a text to `into`, at most `room` of them, and sets *got
 * to their number; 0 is the end of the text. If it does not return MWL_OK, reading stops. */
typedef mwl_status mwl_json_source(void *ctx, char *into, size_t room, size_t *got);
/* Reads the same text in pieces, so that no more of it is in memory than one piece and the longest
 * string. Calls source for each piece, with ctx. Returns what mwl_json_parse() returns, or what the
 * source returned. error->offset counts from the beginning of the text. */
MWL_API mwl_status mwl_json_read(mwl_heap *heap, mwl_json_source *source, void *ctx, mwl_value *out,
                                 mwl_error *error);

typedef enum mwl_json_style {
    MWL_JSON_COMPACT,   /* members in their order, no white space */
    MWL_JSON_PRETTY,    /* members in their order, two spaces per level */
    MWL_JSON_CANONICAL, /* RFC 8785 */
} mwl_json_style;

/* Writes a value as JSON text. *text is given: free it with mwl_text_free(). A NUL follows its *len
 * bytes. Returns MWL_OK, MWL_E_NOT_JSON (the value contains a kind that JSON does not have, a
 * number that is not finite, or a key that is not a string), MWL_E_NOMEM, MWL_E_TOO_BIG (the text
 * counts against the limit of the heap until it is freed) or MWL_E_USAGE. */
MWL_API mwl_status mwl_json_write(mwl_heap *heap, mwl_value v, mwl_json_style style, char **text,
                                  size_t *len);
/* A function that receives a piece of text, lent for the call. If it does not return MWL_OK,
 * writing stops. */
typedef mwl_status mwl_json_sink(void *ctx, const char *text, size_t len);
/* Writes a value as JSON text in pieces of about 16 KiB, so that the whole text is never in memory.
 * (If parts of a value are shared, its text can be much larger than the value.) Calls sink for each
 * piece, with ctx. Returns MWL_OK, what the sink returned, or an error of mwl_json_write(). If it
 * fails, some pieces may have been written. */
MWL_API mwl_status mwl_json_write_to(mwl_heap *heap, mwl_value v, mwl_json_style style,
                                     mwl_json_sink *sink, void *ctx);
/* Like mwl_json_write_to(), but writes at most `most` bytes. Returns MWL_E_TOO_BIG if the text is
 * longer; if parts of the value are shared so that the text is much larger than the value, this is
 * noticed before anything is written. sink may be NULL: the text is only counted. *size gets the
 * number of bytes that the sink got; size may be NULL. In a turn of a run, MWL_E_FUEL: a bound
 * around it has elapsed. */
MWL_API mwl_status mwl_json_write_within(mwl_heap *heap, mwl_value v, mwl_json_style style,
                                         uint64_t most, mwl_json_sink *sink, void *ctx,
                                         uint64_t *size);
/* Frees a text of mwl_json_write(). len must be the length that mwl_json_write() wrote. text may be
 * NULL. */
MWL_API void mwl_text_free(mwl_heap *heap, char *text, size_t len);

/* ---- time ------------------------------------------------------------------------------------ */

/* One moment on two clocks, in nanoseconds. The monotonic clock is for bounds and delays. The wall
 * clock counts from the Unix epoch, and is for timestamps and `until`. */
typedef struct mwl_instant {
    int64_t mono_ns, wall_ns;
} mwl_instant;

/* A clock of the host: the time of a game, or of a test. It is read on the VM's thread; see
 * mwl_vm_pump(). The monotonic reading must never go back while the VM has runs. The budget of
 * mwl_vm_pump() is measured with it; if it stands still during a frame, use mwl_vm_pump_within().
 */
typedef struct mwl_clock {
    void (*read)(void *ctx, mwl_instant *out);
    void *ctx; /* passed to read */
} mwl_clock;

/* Returns the clock of the system. Any thread. */
MWL_API mwl_clock mwl_clock_system(void);

/* Reads an ISO 8601 duration as the specification's temporal profile defines it. A year is 365
 * days, a month 30 days. Returns MWL_OK, MWL_E_SYNTAX or MWL_E_RANGE. Any thread. */
MWL_API mwl_status mwl_duration_parse(const char *text, size_t len, int64_t *ns);
/* Returns an RFC 3339 timestamp in UTC as a string value; given, or absent. */
MWL_API mwl_value mwl_timestamp_text(mwl_heap *heap, int64_t wall_ns);

/* ---- program --------------------------------------------------------------------------------- */

/* Example: load a program image. mwl_asm.h shows how to make one from a definition.
 *
 *     static mwl_program *load_program(const void *image, size_t size) {
 *         mwl_program *program = NULL;
 *         mwl_error error = {MWL_OK, "", 0};
 *         if (mwl_program_load(NULL, image, size, MWL_COPY, &program, &error) < 0)
 *             fprintf(stderr, "byte %zu: %s\n", error.offset, error.message);
 *         return program; // given: the caller releases it once; NULL if it was refused
 *     }
 */

/* A loaded program. It is immutable and counted. Any number of VMs and threads can share it. */
typedef struct mwl_program mwl_program;

typedef enum mwl_ownership {
    MWL_COPY, /* the library copies the bytes */
    /* The bytes still belong to the caller, and must stay unchanged until the last reference to the
     * program is released. Bytes that are packed or not 8-byte aligned are copied all the same, and
     * those of the other byte order too. */
    MWL_BORROW
} mwl_ownership;

/* Checks an image completely and makes it ready to run. *out is given: release it once. alloc is
 * copied, and is called by any thread that loads or releases; NULL means the default. Returns
 * MWL_OK, MWL_E_IMAGE, MWL_E_VERSION, MWL_E_TOO_BIG (it needs too much memory, or its patterns
 * too much work), MWL_E_NOMEM or MWL_E_USAGE; error->offset is the place in the image. Any thread.
 */
MWL_API mwl_status mwl_program_load(const mwl_alloc *alloc, const void *image, size_t size,
                                    mwl_ownership ownership, mwl_program **out, mwl_error *error);
/* The same with a limit, for programs that others made: max_memory is in bytes that loading, and
 * the program itself, hold at a time. 0 means the default (mwl_config.h), SIZE_MAX no limit. */
MWL_API mwl_status mwl_program_load_within(const mwl_alloc *alloc, const void *image, size_t size,
                                           mwl_ownership ownership, size_t max_memory,
                                           mwl_program **out, mwl_error *error);
/* Returns one more reference to the program, given. Any thread. */
MWL_API mwl_program *mwl_program_keep(mwl_program *program);
/* Ends one reference; the last one frees the program. NULL is ignored. Any thread. */
MWL_API void mwl_program_release(mwl_program *program);

/* ---- VM -------------------------------------------------------------------------------------- */

typedef struct mwl_vm mwl_vm;
typedef struct mwl_run mwl_run;

/* Limits of one run. 0 in a field means the default, which is in mwl_config.h.
 *
 * Fuel counts work that can grow while the program stays the same.
 *   - 1 for each move of the machine: a Step, a phase, a call, a branch between blocks of code.
 *   - 1 for each function that an expression calls.
 *   - The length of its body for each round of a comprehension.
 *   - About 1 for each node, or for each 8 bytes, where the size of a value decides: comparing,
 *     searching, joining and converting text, JSON, sorting, patterns, schemas.
 * Straight code between these is not counted, because the length of the program limits it. One unit
 * is a few instructions to a few dozen, so choose a generous limit. */
typedef struct mwl_limits {
    uint64_t fuel;        /* total work; see above */
    size_t memory_bytes;  /* values and records that exist at one time */
    uint32_t frame_depth; /* Flows called inside each other */
    uint32_t entry_depth; /* middleware entries established in one frame */
    uint32_t fan_out;     /* dispatches of one Gather */
    uint32_t chain_depth; /* failures linked by `previous` */
    /* Time for cleanup: from the host's cancellation, or from a reached limit, to the end of the
     * run. A run that takes longer is aborted with MWL_E_CLEANUP. 0 means no limit, unless the
     * build sets MWL_CLEANUP_NS. */
    int64_t cleanup_ns;
    uint64_t reserved[4]; /* must be 0 */
} mwl_limits;

/* The configuration of a VM. All zero is valid and means the defaults. */
typedef struct mwl_config {
    /* For all memory except that of tokens. Called only on the VM's thread. fn NULL means the
     * default. */
    mwl_alloc alloc;
    /* Not read if virtual_time is set. read NULL means the clock of the system. */
    mwl_clock clock;
    /* If true, time stands still while there is work, and then skips to the next timer. */
    bool virtual_time;
    /* Wall time at the start of virtual time; 0 means 2026-01-01T00:00:00Z. */
    int64_t virtual_start_ns;
    /* For jitter, and for generated ids under virtual time; a run may have its own (mwl_start). 0
     * means a fixed seed. In real time generated ids never repeat, also in processes that fork()
     * has made of this one; an id that was not read before fork() may differ in them. */
    uint64_t seed;
    /* A secret for the hashes of tables, so that a sender of data cannot choose keys that collide.
     * 0 means one secret for the process, made by the generator of the system. Set it if runs must
     * use exactly the same fuel each time, and keep it from those who send data. Results do not
     * depend on it. */
    uint64_t hash_secret;
    /* For runs that do not bring their own limits. */
    mwl_limits limits;
    /* Work between two readings of the clock, counted as fuel; 0 means the default. */
    uint32_t slice;
    /* Size of the stack of a blocking call provider; 0 means 64 KiB. Pages that are not used cost
     * nothing. */
    size_t stack_bytes;
    /* Answers that other threads post (mwl_token_succeed and so on) do not interrupt the VM: they
     * wait for the next pump. The library calls `wake` so that the host pumps: on the
     * posting thread, when the first answer arrives in an empty mailbox. It must be short and must
     * not call the library: write to an eventfd, signal a condition. It is not called any more once
     * mwl_vm_free() has returned. NULL: the host must poll. */
    void (*wake)(void *ctx);
    void *wake_ctx; /* passed to wake */
    /* For tokens and posted texts; called by several threads. fn NULL means the default. */
    mwl_alloc post_alloc;
    /* If true, calls with effects outside the run do not start by themselves. See mwl_vm_changed().
     */
    bool hold;
    /* Reads the data of a time zone: the bytes of a TZif file (RFC 9636) for an IANA name, as
     * "Europe/Lisbon". Calls put(to, bytes, n), once or in pieces, and returns MWL_OK; returns
     * MWL_E_NOT_FOUND if there is no such zone. Each zone is read once per VM. NULL: the files
     * below $TZDIR or /usr/share/zoneinfo. To use no files at all, return MWL_E_NOT_FOUND. */
    mwl_status (*zone)(void *ctx, const char *name,
                       void (*put)(void *to, const void *bytes, size_t n), void *to);
    void *zone_ctx; /* passed to zone */
} mwl_config;

/* Returns the default configuration: all zero. */
static inline mwl_config mwl_config_default(void) {
#ifdef __cplusplus
    return mwl_config();
#else
    return (mwl_config){0};
#endif
}
/* Creates a VM; *out is given. config is copied; NULL means the default. The VM has CEL's standard
 * functions and no provider: see mwl_std_register() in mwl_std.h and mwl_vm_provide() in
 * mwl_provider.h. Returns MWL_OK, MWL_E_NOMEM, MWL_E_VERSION or MWL_E_USAGE. */
MWL_API mwl_status mwl_vm_new_sized(const mwl_config *config, size_t size, mwl_vm **out);
static inline mwl_status mwl_vm_new(const mwl_config *config, mwl_vm **out) {
    return mwl_vm_new_sized(config, sizeof(mwl_config), out);
}
/* Frees a VM. Runs that still exist are aborted and freed. Drop all values of its heap first. The
 * caller's references to programs remain the caller's. Must not be called from a callback, nor
 * while another thread pumps: it does nothing there, and the VM must be freed later. A VM whose
 * callback was left by longjmp() is never freed. NULL is ignored. */
MWL_API void mwl_vm_free(mwl_vm *vm);
/* Returns the heap in which values for this VM are made. Lent by the VM. */
MWL_API mwl_heap *mwl_vm_heap(mwl_vm *vm);
/* Tells the VM that the host will not start this program again, for example after a reload.
 *
 * Without this call a VM keeps every program that it has run until it is freed. The reason: values
 * that came from a run can lie in the image of its program (Results, inputs of providers, the state
 * of a middleware). After this call, runs of the program still finish; when the last of them is
 * freed, the VM releases its reference. The host must not keep values from these runs beyond that,
 * except as copies (mwl_value_copy). Starting another run of the program cancels the request. The
 * caller's own reference is not affected. Returns MWL_OK, or MWL_E_NOT_FOUND if the VM does not
 * have this program. */
MWL_API mwl_status mwl_vm_forget(mwl_vm *vm, const mwl_program *program);
/* Reads the clock of the VM, or its virtual time. */
MWL_API void mwl_vm_now(mwl_vm *vm, mwl_instant *out);

/* ---- run ------------------------------------------------------------------------------------- */

/* Example: run a program to its end and print the Result.
 *
 *     static bool print_result(mwl_vm *vm, mwl_program *program, const char *input) {
 *         mwl_heap *heap = mwl_vm_heap(vm);
 *         mwl_start start = {.id = "order-42"};
 *         mwl_run *run = NULL;
 *         mwl_error error = {MWL_OK, "", 0};
 *         mwl_status status = mwl_json_parse(heap, input, strlen(input), &start.input, &error);
 *         if (status == MWL_OK) status = mwl_run_start(vm, program, &start, &run, &error);
 *         mwl_value_drop(heap, start.input); // the run has its own reference
 *         if (status < 0) {
 *             fprintf(stderr, "%s: %s\n", mwl_status_text(status), error.message);
 *             return false;
 *         }
 *         while (mwl_run_get_state(run) < MWL_RUN_DONE) {
 *             int64_t due = mwl_vm_pump(vm, MWL_NO_BUDGET);
 *             (void)due; // a real host waits here until `due`, or until mwl_config.wake is called
 *         }
 *         bool succeeded = mwl_run_succeeded(run);
 *         char *text = NULL;
 *         size_t len = 0;
 *         if (mwl_json_write(heap, mwl_run_result(run), MWL_JSON_COMPACT, &text, &len) == MWL_OK)
 *             printf("%s\n", text); // the Result is lent by the run
 *         mwl_text_free(heap, text, len);
 *         mwl_run_free(run);
 *         return succeeded;
 *     }
 */

/* How to start a run. All zero is valid: input null, no arguments. */
typedef struct mwl_start {
    const char *id;           /* execution.id, copied; NULL: the VM makes one */
    mwl_value input;          /* lent; absent means null. Ints become numbers, see below */
    mwl_value arguments;      /* lent; an object, or absent */
    uint64_t seed;            /* 0: derived from the VM's seed */
    const mwl_limits *limits; /* copied; NULL: the limits of the VM */
    /* Called once when the run is over (MWL_RUN_DONE or MWL_RUN_ABORTED), in a pump, after the turn
     * in which it ended. It may read the Result, free this run and start others; it must not pump
     * or free the VM. Not called if the run is freed first. NULL: see mwl_vm_next_done(). */
    void (*done)(void *ctx, mwl_run *run);
    void *done_ctx;
} mwl_start;

typedef enum mwl_run_state {
    MWL_RUN_READY,  /* has work for the next pump */
    MWL_RUN_PARKED, /* waits for a time or for providers */
    MWL_RUN_DONE,   /* ended, with a Result */
    MWL_RUN_ABORTED /* ended, without a Result; mwl_run_why() says whether a limit ended it */
} mwl_run_state;

/* Creates a run; *out is given: free it once, before its VM or by freeing the VM. Its first work is
 * done in the next pump. start NULL means all zero. The VM keeps its own reference to the program.
 * Input and arguments are converted as the result of an expression is: an int or a uint becomes a
 * number if a double holds it exactly. Returns MWL_OK, MWL_E_NOMEM, MWL_E_USAGE, MWL_E_UTF8 (the
 * id), MWL_E_VERSION, MWL_E_NOT_JSON (the input or the arguments have no JSON form; error->message
 * says where), MWL_E_TOO_BIG (patterns of parameters need too much memory), or MWL_E_NOT_FOUND if
 * the program uses a provider or function that the VM does not have; error->message is its name
 * then. */
MWL_API mwl_status mwl_run_start_sized(mwl_vm *vm, mwl_program *program, const mwl_start *start,
                                       size_t size, mwl_run **out, mwl_error *error);
static inline mwl_status mwl_run_start(mwl_vm *vm, mwl_program *program, const mwl_start *start,
                                       mwl_run **out, mwl_error *error) {
    return mwl_run_start_sized(vm, program, start, sizeof(mwl_start), out, error);
}
/* Example: run a program once for each of n inputs, and count those that succeed.
 *
 *     static size_t count_successes(mwl_vm *vm, mwl_program *program, const mwl_value *inputs,
 *                                   size_t n) {
 *         enum { AT_ONCE = 1000 };
 *         mwl_run *runs[AT_ONCE];
 *         size_t n_good = 0, n_started = 0;
 *         mwl_status status = MWL_OK;
 *         for (size_t at = 0; at < n && status == MWL_OK; at += n_started) {
 *             size_t some = n - at < AT_ONCE ? n - at : AT_ONCE;
 *             status =
 *                 mwl_run_start_many(vm, program, NULL, inputs + at, some, runs, &n_started, NULL);
 *             for (size_t i = 0; i < n_started; i++) {
 *                 while (mwl_run_get_state(runs[i]) < MWL_RUN_DONE)
 *                     (void)mwl_vm_pump(vm, MWL_NO_BUDGET); // one pump finishes many short runs
 *                 n_good += mwl_run_succeeded(runs[i]);
 *                 mwl_run_free(runs[i]);
 *             }
 *         }
 *         return n_good;
 *     }
 */

/* Creates a run for each of n inputs, as n calls of mwl_run_start() do, but looks the program up
 * and checks *start only once. start->input must be absent and start->id NULL: the VM makes the
 * ids. If start->seed is not 0, it is the seed of the first run, and each other run has the next
 * number. start NULL means all zero. The runs go to runs[0], runs[1] ..., each given. Sets
 * *n_started to their number. Returns MWL_OK if all were created. Otherwise it returns what
 * mwl_run_start() would return for inputs[*n_started]; the runs before that one exist. */
MWL_API mwl_status mwl_run_start_many_sized(mwl_vm *vm, mwl_program *program,
                                            const mwl_start *start, size_t size,
                                            const mwl_value *inputs, size_t n, mwl_run **runs,
                                            size_t *n_started, mwl_error *error);
static inline mwl_status mwl_run_start_many(mwl_vm *vm, mwl_program *program,
                                            const mwl_start *start, const mwl_value *inputs,
                                            size_t n, mwl_run **runs, size_t *n_started,
                                            mwl_error *error) {
    return mwl_run_start_many_sized(vm, program, start, sizeof(mwl_start), inputs, n, runs,
                                    n_started, error);
}
MWL_API mwl_run_state mwl_run_get_state(const mwl_run *run);
/* Returns the Result: an object with `type`, and `value` or the members of a failure. Lent until
 * the run is freed. Absent before MWL_RUN_DONE, and when memory runs out here. */
MWL_API mwl_value mwl_run_result(const mwl_run *run);
/* Returns true if the run is done and its Result is a success. */
MWL_API bool mwl_run_succeeded(const mwl_run *run);
/* Returns the value of a success, lent until the run is freed; otherwise absent. */
MWL_API mwl_value mwl_run_value(const mwl_run *run);
/* Returns why the machine itself ended the run. MWL_OK: it did not. A limit was reached:
 * MWL_E_FUEL, MWL_E_TOO_BIG (memory), MWL_E_DEPTH, MWL_E_NOMEM, MWL_E_CLEANUP. MWL_E_IMAGE: the
 * program image is corrupt. */
MWL_API mwl_status mwl_run_why(const mwl_run *run);
/* Returns how much memory the run may use: its mwl_limits.memory_bytes. */
MWL_API size_t mwl_run_memory_limit(const mwl_run *run);
/* Ends a run as its memory limit does, for a host that makes something of it outside the VM, its
 * Result as text for example, and finds that this is larger than mwl_run_memory_limit(). A run that
 * is done gets the Result of the limit instead. Its cleanup, if it was not done,
 * runs in the next pumps. No effect on a run that was aborted. NULL is ignored. */
MWL_API void mwl_run_exceed(mwl_run *run);
/* Asks a run to stop. Its cleanup runs in the next pumps, and its Result is a cancellation. reason
 * is copied into the Result; it may be NULL. A second call, and a call for a run that has ended,
 * have no effect. May be called from a callback, also of the same run. A NULL run is ignored. Any
 * thread, as long as the run is not freed meanwhile: on another thread than the one that used the
 * VM last, the request waits for the next pump, and mwl_config.wake is called. Returns MWL_OK. On
 * such a thread it can also return MWL_E_NOMEM; then the run is not cancelled. */
MWL_API mwl_status mwl_run_cancel(mwl_run *run, const char *reason);
/* Ends a run at once: no cleanup of the language runs, and there is no Result. Its provider
 * executions are asked to stop. No effect if the run has ended. A NULL run is ignored. */
MWL_API void mwl_run_abort(mwl_run *run);
/* Frees a run; aborts it first if it has not ended. When a callback of this same run calls it, the
 * run is freed after the callback has returned. NULL is ignored. */
MWL_API void mwl_run_free(mwl_run *run);
/* Returns the next run that is over (MWL_RUN_DONE or MWL_RUN_ABORTED), in the order in which they
 * ended, lent; NULL if there is none. Each run is returned once, except those with mwl_start.done.
 * So a host with many runs in flight need not look at each of them after a pump. The cost does not
 * depend on the number of runs. */
MWL_API mwl_run *mwl_vm_next_done(mwl_vm *vm);
/* Visits all runs of the VM that were not freed, also those that are over: returns the first one if
 * `after` is NULL, otherwise the one that follows `after`; NULL after the last one. Lent. Do not
 * pump, or free other runs, between two calls. */
MWL_API mwl_run *mwl_vm_runs(const mwl_vm *vm, const mwl_run *after);
/* Returns the VM of a run, lent. */
MWL_API mwl_vm *mwl_run_vm(const mwl_run *run);
/* Returns execution.id, lent by the run. "" when memory runs out here. */
MWL_API const char *mwl_run_id(mwl_run *run);

/* Where a failure began: the innermost Step that failed with it. For messages to people. The names
 * are lent by the program. */
typedef struct mwl_place {
    const char *flow, *step; /* names; "" for the root Flow and for inline Flows */
    uint32_t line, column;   /* of the Step's name in the definition; 0 without positions */
} mwl_place;
/* Finds the place of `failure`, which is the Result of a run that is done, or a failure that its
 * `previous` chain contains. Returns false if the place is not known: a VM remembers only its last
 * few failures. */
MWL_API bool mwl_run_failed_at(const mwl_run *run, mwl_value failure, mwl_place *out);

/* A pointer that the host stores in the run; NULL in a new run. The library does not use it. */
MWL_API void mwl_run_set_user(mwl_run *run, void *user);
MWL_API void *mwl_run_user(const mwl_run *run);

/* ---- pump ------------------------------------------------------------------------------------ */

#define MWL_NEVER INT64_MAX
#define MWL_NO_BUDGET INT64_MAX
/* Does work that is ready, for about budget_ns of monotonic time (checked once per slice). Never
 * blocks. Returns when to pump again: 0 if work is left, an instant of the monotonic clock, or
 * MWL_NEVER if nothing waits for a time. Must not be called from a callback: it does nothing there
 * and returns 0. With virtual time the budget is virtual time: time advances by at most this much;
 * 0 runs one slice.
 *
 * A turn is one slice of work of one Flow (mwl_config.slice). The clock is read only where the time
 * matters: at the beginning of a pump if there is a budget of time or something waits for a time,
 * at most once a turn, and once more after each callback of the host. */
MWL_API int64_t mwl_vm_pump(mwl_vm *vm, int64_t budget_ns);
/* The same with a second budget, in fuel (mwl_limits): it ends at the first of the two that is used
 * up. For hosts whose clock stands still during a frame, and for machines that must do the same
 * work in the same frame. A turn and a timer cost at least one unit; the last turn may use a slice
 * more than is left. MWL_NO_BUDGET for either means no limit. */
MWL_API int64_t mwl_vm_pump_within(mwl_vm *vm, int64_t budget_ns, int64_t budget_fuel);

/* ---- looking in ------------------------------------------------------------------------------ */

typedef enum mwl_waiting {
    MWL_WAITING_NOTHING, /* it has work for the next pump */
    MWL_WAITING_TIME,    /* for until_ns: a Sleep, or the delay of a Retry */
    MWL_WAITING_ENTRY,   /* `provider` waits at its onEntry (mwl_phase_wait) */
    MWL_WAITING_CALL,    /* for a call of `provider` */
    MWL_WAITING_GATHER   /* for the dispatches of a Gather */
} mwl_waiting;

/* Where a run is: the innermost Flow that it executes. (A Gather executes several: then this is the
 * Flow with the Gather.) The texts are constant, or lent by the program or the VM. */
typedef struct mwl_where {
    const char *flow, *step; /* names; "" for the root Flow and for inline Flows, between Steps */
    uint32_t line, column;   /* of the Step's name in the definition; 0 without positions */
    uint32_t depth;          /* of that Flow: 0 is the root; for mwl_run_vars() */
    mwl_waiting waiting;
    const char *phase;    /* "onEntry" and so on, of the middleware that acts now; or "" */
    const char *provider; /* URI of what it waits for, or of that middleware; or "" */
    /* Instants of the monotonic clock, or MWL_NEVER: when the wait ends by itself, and the earliest
     * bound that would interrupt it. */
    int64_t until_ns, bound_ns;
    uint64_t runs; /* of the innermost middleware that counts them: attempt, iteration; or 0 */
    /* Of a Gather: how many dispatches there are, have a Result, and are in flight. */
    uint32_t total, done, active;
} mwl_where;
/* Writes where a run is. Returns false, and all zero, if the run is over. (If size ends inside a
 * member, it returns false and writes nothing.) Must not be called from a
 * callback of the same run. */
MWL_API bool mwl_run_where_sized(const mwl_run *run, mwl_where *out, size_t size);
static inline bool mwl_run_where(const mwl_run *run, mwl_where *out) {
    return mwl_run_where_sized(run, out, sizeof(mwl_where));
}
/* Returns the variables of the Flow at this depth, an object, lent until the run goes on: the root
 * has depth 0. Absent if there is none: the run is over, or not so deep. */
MWL_API mwl_value mwl_run_vars(const mwl_run *run, uint32_t depth);

/* ---- a run as bytes -------------------------------------------------------------------------- */

/* Example: put a run away and go on with it later, in this process or in another one.
 *
 *     static mwl_run *through_bytes(mwl_vm *vm, mwl_run *run, mwl_program *program) {
 *         void *bytes = NULL;
 *         size_t size = 0;
 *         mwl_error error = {MWL_OK, "", 0};
 *         mwl_run *later = NULL;
 *         if (mwl_run_save(run, &bytes, &size, NULL) < 0) return run; // not at rest: pump first
 *         mwl_run_free(run);
 *         const mwl_load how = {.program = program};
 *         if (mwl_run_load(vm, bytes, size, &how, &later, &error) < 0)
 *             fprintf(stderr, "%s\n", error.message);
 *         mwl_bytes_free(vm, bytes, size);
 *         return later;
 *     }
 */

/* Returns true if the run can be saved now: it waits, has not begun or is done, and no Flow of it
 * was stopped in the middle of a turn. After a pump that returned anything but 0, every run of the
 * VM is at rest. */
MWL_API bool mwl_run_at_rest(const mwl_run *run);
/* Writes the run as bytes; *bytes is given, free it with mwl_bytes_free(). The run is not changed
 * and goes on. The same state at the same instant has the same bytes on every machine; the order in
 * which the VM armed the timers of its runs is part of it, so that loaded runs that are due at one
 * instant go on in that order. It is counted from the last moment at which no timer was armed.
 * *version (or NULL) says which state this is: with mwl_config.hold a count of its states, for
 * mwl_run_release(); else a hash, which is another one when the run has changed. A run that is done
 * can be saved with its Result. Returns MWL_OK, MWL_E_STATE (the run is not at rest, or was
 * aborted, or this is a callback), MWL_E_NOT_JSON (a provider or a middleware keeps a value that
 * has no bytes), MWL_E_USAGE or MWL_E_NOMEM. */
MWL_API mwl_status mwl_run_save(mwl_run *run, void **bytes, size_t *size, uint64_t *version);
MWL_API void mwl_bytes_free(mwl_vm *vm, void *bytes, size_t size); /* NULL is ignored */

enum {
    MWL_LOAD_TIME_STOOD = 1, /* waits continue where they were; else the time since saving counts */
    MWL_LOAD_NEW_ID = 2,     /* a copy: the VM makes a new execution.id, so keys of calls differ */
    MWL_LOAD_FAIL_CALLS = 4, /* calls in flight fail with Mwlvm.Interrupted */
    /* Calls that were held when the run was saved count as started, because the host may have
     * released them since. They continue as their providers declare. */
    MWL_LOAD_RELEASED = 8
};
/* How to load a run. */
typedef struct mwl_load {
    mwl_program *program; /* lent; NULL: `lookup` finds it */
    /* Returns the program with this id (16 bytes, see mwl_program_id()), lent; NULL: not known. */
    mwl_program *(*lookup)(void *ctx, const uint8_t *id);
    void *ctx;        /* passed to lookup */
    unsigned flags;   /* MWL_LOAD_* */
    size_t max_bytes; /* the most bytes to accept; 0 means 64 MiB */
    /* The limits of the run from now on, copied; 0 in a field means the VM's. NULL: those that it
     * had. Give them if the bytes come from an unknown source, which has chosen the limits in them
     * too. The fuel that it has used counts. */
    const mwl_limits *limits;
} mwl_load;
/* Makes a run from bytes, which may come from an unknown source; *out is given, as by
 * mwl_run_start(). It has the id, the limits and the position that it had, and no user pointer.
 * Calls in flight continue as their providers declare (mwl_provider.h); their callbacks are called
 * before this function returns. The program must be the one that the run was started with, or
 * another image of the same definition whose tables are equal. Must not be called from a callback.
 * Returns MWL_OK, MWL_E_SNAPSHOT (the bytes are damaged, or are of another program), MWL_E_VERSION,
 * MWL_E_NOT_FOUND (there is no such program, or the VM does not have a provider or function of it),
 * MWL_E_TOO_BIG, MWL_E_STATE, MWL_E_USAGE or MWL_E_NOMEM. error->message has the reason and
 * error->offset the place. A run that was saved when it was done is not returned by
 * mwl_vm_next_done(). */
MWL_API mwl_status mwl_run_load_sized(mwl_vm *vm, const void *bytes, size_t size,
                                      const mwl_load *how, size_t how_size, mwl_run **out,
                                      mwl_error *error);
static inline mwl_status mwl_run_load(mwl_vm *vm, const void *bytes, size_t size,
                                      const mwl_load *how, mwl_run **out, mwl_error *error) {
    return mwl_run_load_sized(vm, bytes, size, how, sizeof(mwl_load), out, error);
}
/* Frees a run that was saved, as if the process had ended: no callback is called. Returns MWL_OK,
 * or MWL_E_STATE if it is not at rest, or if a call of it is at work outside. */
MWL_API mwl_status mwl_run_unload(mwl_run *run);

/* What saved bytes say of themselves. */
typedef struct mwl_saved {
    uint8_t program[16]; /* see mwl_program_id() */
    mwl_instant at;      /* when it was saved */
    int64_t due_wall_ns; /* when it next has work; MWL_NEVER: it waits for calls only, or is done */
    uint32_t n_calls;    /* provider calls in flight */
    uint32_t n_held;     /* of these, those that have not started (mwl_config.hold) */
    bool done;
} mwl_saved;
/* Reads the beginning of saved bytes, without a VM, and checks that the bytes are complete. Returns
 * MWL_OK, MWL_E_SNAPSHOT, MWL_E_VERSION or MWL_E_USAGE. Any thread. */
MWL_API mwl_status mwl_saved_read(const void *bytes, size_t size, mwl_saved *out);
/* Writes the id of a program: a hash of its image, unpacked. Any thread. */
MWL_API void mwl_program_id(const mwl_program *program, uint8_t id[16]);

/* ---- durable hosts --------------------------------------------------------------------------- */

/* With mwl_config.hold, a call with effects outside does not start when it is dispatched. It is
 * held until the host has stored a snapshot that contains it. After a crash the same call may be
 * sent a second time with the same key (mwl_call_key), but two different calls never have the same
 * key. The host does:
 *
 *     pump; for each run of mwl_vm_changed(): mwl_run_save(), store it
 *     when it is stored: mwl_run_release(run, version), pump
 */

/* Returns the next run that has changed since it was returned here last, and is at rest; NULL if
 * there is none. Only with mwl_config.hold. */
MWL_API mwl_run *mwl_vm_changed(mwl_vm *vm);
/* Says that the snapshot of this version is stored: calls that it holds start in the next pump. */
MWL_API void mwl_run_release(mwl_run *run, uint64_t version);
/* Returns how many calls are held: they wait for mwl_run_release(). */
MWL_API uint32_t mwl_run_held(const mwl_run *run);

/* Settles a call from outside, by its number: a success (ok) or a failure. Inside a blocking call
 * it is an answer (mwl_await). Returns MWL_OK, MWL_E_NOT_FOUND (no call with this number is in
 * flight), MWL_E_STATE (it has not started, was cancelled, or this is a callback), MWL_E_USAGE (the
 * value is absent). */
MWL_API mwl_status mwl_run_answer(mwl_run *run, uint64_t number, bool ok, mwl_value take);
/* One call in flight. The texts are lent until the run changes. */
typedef struct mwl_wait {
    uint64_t number;      /* see mwl_call_number() */
    uint32_t attempt;     /* see mwl_call_attempt() */
    const char *provider; /* its URI */
    const char *name;     /* the text of its argument `name`, or "" */
    bool held;            /* it has not started (mwl_config.hold) */
    bool cancelled;       /* it was asked to stop */
    bool outside;         /* it is at work outside its run, which cannot be unloaded */
    mwl_value arguments;  /* `with`; lent as the texts are */
    mwl_value input;      /* the same; this and what follows is set by mwl_run_each_wait() only */
    bool once;            /* its provider is never asked twice: MWL_CALL_ONCE */
} mwl_wait;
/* Describes the i-th call in flight of a run. Returns false if there are not so many. */
MWL_API bool mwl_run_waits(const mwl_run *run, uint32_t i, mwl_wait *out);
/* Calls `see` for each call in flight, until it returns false. It must not change the run. */
MWL_API void mwl_run_each_wait(const mwl_run *run, bool (*see)(void *ctx, const mwl_wait *wait),
                               void *ctx);

/* ---- trace ----------------------------------------------------------------------------------- */

/* The events, and what the `value` of each is:
 *   RUN_STARTED      mwl_run_start() has created a run          its input
 *   RUN_DONE         a run has its Result                       the Result
 *   FRAME_ENTERED    a Flow begins (the root Flow too)          its input
 *   FRAME_EXITED     a Flow ends                                its value or failure
 *   STEP_ENTERED     a Step begins                              its input
 *   STEP_EXITED      a Step ends                                its output or failure
 *   PHASE            a phase of `provider`'s entry begins       what is in flight there
 *   ATTEMPT          `provider` runs its inner scope again,     the input that it gets
 *                    at `until_ns` if that is later than now
 *   CALL_DISPATCHED  a call begins; `index` in a Gather         its arguments; may be absent
 *   CALL_ACCEPTED    its Result is accepted; `index` as above   the value or failure
 *   TIMER            a wait is over                             absent
 *   INTERRUPTED      a scope is being unwound                   the cancellation
 *   ESTABLISHED      `provider`'s entry is established and      what it passes down
 *                    its inner scope runs for the first time
 *   ENTRY_EXITED     `provider`'s entry has ended               the value or failure that leaves it
 *   CAUGHT           a Step failed; a catch clause handles it   the failure
 *   WAITING          a frame begins to wait: for a time, for    absent
 *                    its call, or for the dispatches of its
 *                    Gather
 *   HIDDEN           several cleanups failed in the unwind of   the failure
 *                    a Gather. One failure goes on; that of
 *                    the dispatch `index` is in no Result
 *
 * A scope that is interrupted has no exit: Steps, entries and calls inside it have ended
 * when something around them continues (a PHASE, ENTRY_EXITED, STEP_EXITED or FRAME_EXITED). */
#define MWL_TRACE_EVENTS(X)                                                                        \
    X(RUN_STARTED)                                                                                 \
    X(RUN_DONE)                                                                                    \
    X(FRAME_ENTERED)                                                                               \
    X(FRAME_EXITED)                                                                                \
    X(STEP_ENTERED)                                                                                \
    X(STEP_EXITED)                                                                                 \
    X(PHASE)                                                                                       \
    X(ATTEMPT)                                                                                     \
    X(CALL_DISPATCHED)                                                                             \
    X(CALL_ACCEPTED)                                                                               \
    X(TIMER) X(INTERRUPTED) X(ESTABLISHED) X(ENTRY_EXITED) X(CAUGHT) X(WAITING) X(HIDDEN)

typedef enum mwl_trace_kind {
#define MWL_X(name) MWL_TRACE_##name,
    MWL_TRACE_EVENTS(MWL_X)
#undef MWL_X
} mwl_trace_kind;

typedef struct mwl_trace_event {
    mwl_trace_kind kind;
    const mwl_run *run;
    mwl_instant at;
    uint32_t depth;         /* of the frame: 0 is the root */
    const char *flow;       /* name, or "" for the root and inline Flows; lent by the program */
    const char *step;       /* name, or ""; lent by the program */
    const char *provider;   /* URI, or ""; lent by the VM */
    const char *phase;      /* "onEntry" and so on, or ""; constant */
    int64_t index;          /* of a dispatch in a Gather; otherwise -1 */
    mwl_value value;        /* lent for the call; see the table above; may be absent */
    mwl_value input;        /* of CALL_DISPATCHED: what the target gets; lent, otherwise absent */
    const uint32_t *branch; /* the dispatches of Gathers that the frame runs in, by their index, */
    uint32_t n_branch;      /* outermost first; lent for the call */
    /* Names of the frame and of the frame that called it (0: none). They are only for comparing. A
     * name is unique from FRAME_ENTERED until FRAME_EXITED, or until the run is aborted, and may be
     * used again later. */
    uint64_t frame, parent;
    bool failed;          /* value is a failure */
    int32_t entry;        /* of an event about an entry: the number of entries around it, in the
                             frame and its callers; of INTERRUPTED: the entry whose scope is left;
                             otherwise -1 */
    const char *position; /* what that entry is around: "flow", "step" or "call"; otherwise "" */
    uint64_t runs;        /* of that entry: runs of its inner scope, with the one that begins now */
    const char *counts;   /* what its middleware calls them: "attempt", "iteration"; "" if it does
                             not count them */
    /* Of an event with `index`, and of WAITING for a Gather: how many dispatches there are, have a
     * Result, and are in flight. */
    uint32_t total, done, active;
    uint32_t line, column; /* of the Step in the definition; 0 if there is none or positions were
                              stripped */
    mwl_value vars;        /* variables of the frame; lent for the call, may be absent */
    /* Instants of the monotonic clock, or MWL_NEVER. Of WAITING: when the wait ends by itself, and
     * the earliest bound that would interrupt it. Of ATTEMPT: until_ns is when it begins. */
    int64_t until_ns, bound_ns;
} mwl_trace_event;

/* Sets the one listener of a VM; NULL removes it. Without a listener tracing costs nothing. The
 * listener is called on the VM's thread, and the event is lent to it for the call. It may read
 * values, and call mwl_run_id() and mwl_run_user(); it must not call other functions of the VM. */
MWL_API void mwl_vm_trace(mwl_vm *vm, void (*listen)(void *ctx, const mwl_trace_event *event),
                          void *ctx);
/* Sets who hears of HIDDEN alone, beside a listener of all events or without one; NULL removes it.
 * It costs nothing until one happens. The same rules. */
MWL_API void mwl_vm_trace_hidden(mwl_vm *vm, void (*see)(void *ctx, const mwl_trace_event *event),
                                 void *ctx);
/* Describes what a run does now, for a line that shows it: calls `see` for each frame, Step and
 * entry that has not ended, with the event that began it, without values and with the present time.
 * For the root frame, the frame that it calls, and so on: FRAME_ENTERED; STEP_ENTERED if it is in a
 * Step; ESTABLISHED for every entry, innermost first; and for the last of them WAITING if it waits.
 * The frames of a Gather's dispatches are not visited: its WAITING has their numbers. It costs
 * nothing while it is not called. Must not be called from a callback. A run that has ended has
 * nothing open. */
MWL_API void mwl_run_look(mwl_run *run, void (*see)(void *ctx, const mwl_trace_event *event),
                          void *ctx);
/* Returns the name of an event, for example "RUN_STARTED". Constant, never NULL. Any thread. */
MWL_API const char *mwl_trace_name(mwl_trace_kind kind);

#ifdef __cplusplus
}
#endif
#endif
