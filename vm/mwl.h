/* mwl.h: the host's API of mwlvm.
 *
 * Order: version, status list, allocator, values. Every function says what it borrows, what it
 * gives and what it takes over. One VM belongs to one thread. */
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

/* ---- version ------------------------------------------------------------------------------- */

#define MWL_VERSION_MAJOR 0
#define MWL_VERSION_MINOR 1
#define MWL_VERSION_PATCH 0
#define MWL_VERSION "0.1.0"

/* The version of the library that is linked, as "major.minor.patch". Any thread. */
MWL_API const char *mwl_version(void);

/* ---- status: the API's answer to its C caller ------------------------------------------------ */

/* name, number, text. Zero is success, every failure is negative. */
#define MWL_STATUS_LIST(X)                                                  \
    X(OK, 0, "success")                                                     \
    X(E_NOMEM, -1, "out of memory")                                         \
    X(E_USAGE, -2, "the function was called wrongly")                       \
    X(E_JSON, -3, "the text is not valid JSON")                             \
    X(E_UTF8, -4, "the text is not valid UTF-8")                            \
    X(E_DUPLICATE, -5, "an object has the same member name twice")          \
    X(E_DEPTH, -6, "nested too deeply")                                     \
    X(E_TOO_BIG, -7, "larger than a limit allows")                          \
    X(E_RANGE, -8, "a number, duration or instant is out of range")         \
    X(E_SYNTAX, -9, "the text does not have the form that is required")     \
    X(E_IMAGE, -10, "the program image is damaged or not a program")        \
    X(E_VERSION, -11, "the program image is of another version")            \
    X(E_FUEL, -12, "the work limit was reached")                            \
    X(E_NOT_JSON, -13, "the value has no JSON form")                        \
    X(E_NOT_FOUND, -14, "no such thing")                                    \
    X(E_REJECTED, -15, "the definition was rejected; see the diagnostics")  \
    X(E_STATE, -16, "not possible in the present state")                    \
    X(E_IO, -17, "input or output failed")                                  \
    X(E_UNSUPPORTED, -18, "not available in this build")

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

/* ---- values ------------------------------------------------------------------------------------ */

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
    MWL_KIND_EXT = 14, /* a value of a function library's own type */
    MWL_KIND_FAULT = 15 /* internal to the machine: an expression's fault on its way */
} mwl_kind;

static inline mwl_kind mwl_value_kind(mwl_value v) { return (mwl_kind)(v.tag & 0xffu); }

#ifdef __cplusplus
}
#endif
#endif
