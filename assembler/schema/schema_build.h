/* schema_build.h: what the files of the schema compiler share.
 *
 *   schema_keyword.c   the dialect's keywords and what their values may be
 *   schema_resolve.c   documents, resources, anchors, references
 *   schema_uri.c       RFC 3986 references against a base
 *   schema_meta.c      the dialect's own documents
 *   schema_words.c     growing words, constants, fixups
 *   schema_node.c      one schema to one node of code
 *   schema_compile.c   the whole of it, and the ways out
 *
 * A *place* is a schema within a document. A *resource* is a schema with its own URI; the root is
 * one too. `status` keeps the first failure that is not a diagnostic. */
#ifndef MWL_SCHEMA_BUILD_H
#define MWL_SCHEMA_BUILD_H

#include "assembler/schema/schema_compile.h"
#include "vm/base/table.h"
#include "vm/schema/schema_code.h"

/* Vocabularies, as bits. A keyword has an effect if its vocabulary is in use. */
enum {
    MWL__VOC_CORE = 1,
    MWL__VOC_APPLICATOR = 2,
    MWL__VOC_UNEVALUATED = 4,
    MWL__VOC_VALIDATION = 8,
    MWL__VOC_META = 16,
    MWL__VOC_FORMAT = 32,
    MWL__VOC_CONTENT = 64,
    MWL__VOC_ASSERT_FORMAT = 128, /* not for a keyword: the format-assertion vocabulary */
    MWL__VOC_TUPLES = 256,        /* not for a keyword: items may be an array, as before 2020-12 */
    MWL__VOC_PREFIX = 512,        /* prefixItems and $dynamicRef are known */
    MWL__VOC_DEPENDENT = 1024,    /* dependentRequired and dependentSchemas are known */
    MWL__VOC_DIALECT = 127 | MWL__VOC_PREFIX | MWL__VOC_DEPENDENT /* the vocabularies of 2020-12 */
};

/* What the value of a keyword must be. */
typedef enum mwl__schema_rule {
    MWL__RULE_ANY,
    MWL__RULE_SCHEMA,
    MWL__RULE_SCHEMAS,      /* a non-empty array of them */
    MWL__RULE_ITEMS,        /* a schema; an array of them in older dialects */
    MWL__RULE_SCHEMA_MAP,   /* an object of them */
    MWL__RULE_PATTERN_MAP,  /* the same, names are patterns */
    MWL__RULE_DEPENDENCIES, /* an object of schemas or arrays of names */
    MWL__RULE_STRING,
    MWL__RULE_ID,
    MWL__RULE_ANCHOR,
    MWL__RULE_PATTERN,
    MWL__RULE_FORMAT,
    MWL__RULE_BOOL,
    MWL__RULE_NUMBER,
    MWL__RULE_POSITIVE,
    MWL__RULE_COUNT, /* an integer from 0 */
    MWL__RULE_ARRAY,
    MWL__RULE_NAMES,     /* an array of different strings */
    MWL__RULE_NAMES_MAP, /* an object of them */
    MWL__RULE_TYPE,
    MWL__RULE_VOCABULARY
} mwl__schema_rule;

typedef struct mwl__keyword {
    const char *name;
    uint8_t len; /* of the name */
    uint16_t vocabulary;
    uint8_t rule;
    bool definitions; /* contains schemas that apply only where something refers to them */
} mwl__keyword;

typedef struct mwl__schema_doc {
    mwl__tree *tree;
    const mwl__node *root;
    bool main; /* that of the caller; diagnostics go there */
    struct mwl__schema_doc *next;
    mwl__tree own; /* of the others */
    mwl__source source;
    mwl__diags sink;
} mwl__schema_doc;

typedef struct mwl__schema_uri { /* a name of a resource; it may have two */
    const char *text; /* absolute if the base is absolute; without fragment; in the arena */
    size_t len;
    uint32_t resource;
} mwl__schema_uri;

typedef struct mwl__schema_resource {
    const char *uri; /* its base: its last name */
    size_t uri_len;
    const mwl__node *root;
    mwl__schema_doc *doc;
    uint32_t vocabularies;
} mwl__schema_resource;

typedef struct mwl__schema_anchor {
    const char *name;
    uint32_t name_len, resource;
    const mwl__node *node;
    bool dynamic;
} mwl__schema_anchor;

typedef struct mwl__schema_place {
    const mwl__node *node;
    uint32_t resource;
    uint32_t offset,
        scoped; /* the code of the node, and the same after a SCOPE; NONE: not written yet */
    uint32_t ref, dynamic; /* places that $ref and $dynamicRef lead to, or NONE */
    bool anchored;         /* the $dynamicRef is decided when it runs, by its anchor's name */
    bool live, queued, queued_scoped;
} mwl__schema_place;

typedef struct mwl__schema_fixup { /* words[at] must become the offset of the place's code */
    uint32_t at, place;
    bool scoped, in_node;
} mwl__schema_fixup;

#define MWL__LIST(type)                                                                            \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t n, cap;                                                                             \
    }

typedef struct mwl__schema_build {
    mwl_alloc alloc;
    mwl__arena arena;
    const mwl__schema_options *options;
    mwl__schema_doc main_doc, *docs;
    mwl_status status; /* MWL_E_NOMEM, MWL_E_TOO_BIG, MWL_E_REJECTED */

    MWL__LIST(mwl__schema_resource) resources;
    MWL__LIST(mwl__schema_uri) uris;
    MWL__LIST(mwl__schema_anchor) anchors;
    MWL__LIST(mwl__schema_place) places;
    mwl__table place_table; /* places by node */
    MWL__LIST(uint32_t)
    queue; /* places in use whose references must be resolved; later, whose code must be written */
    bool dynamic; /* something depends on the dynamic scope */

    MWL__LIST(uint32_t) words;
    MWL__LIST(uint32_t) node; /* instructions of the node being written */
    MWL__LIST(mwl__schema_fixup) fixups;
    size_t node_fixups; /* from here on they may belong to the node being written */
    mwl_heap *heap;
    MWL__LIST(mwl_value) consts;
    mwl__table const_table;       /* constants that are strings, by text */
    MWL__LIST(uint32_t) patterns; /* constants */
    uint32_t node_true, node_false;
} mwl__schema_build;

/* Makes room for one more element in a list. If out of memory, returns false and sets status. */
#define MWL__ROOM(b, list)                                                                         \
    mwl__schema_room((b), (void **)&(list).at, &(list).cap, (list).n + 1, sizeof *(list).at)
bool mwl__schema_room(mwl__schema_build *b, void **p, size_t *cap, size_t need, size_t size);
bool mwl__schema_stop(mwl__schema_build *b, mwl_status why); /* false */

/* schema_keyword.c */
const mwl__keyword *mwl__keyword_find(const char *name, size_t len);
/* Checks the value. Errors go to the sink of the document. */
void mwl__keyword_check(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__keyword *k,
                        const mwl__node *value, uint32_t vocabularies);
void mwl__keyword_unknown(mwl__schema_doc *doc, const mwl__node *member);
/* Whether the object has no keyword at all, but schemas as members: parameters without the schema
 * around them. */
bool mwl__schema_is_bare(const mwl__node *node);

/* schema_resolve.c */
void mwl__schema_index(mwl__schema_build *b, mwl__schema_doc *doc, const mwl__node *root,
                       const char *uri, size_t uri_len);
uint32_t mwl__schema_place_of(mwl__schema_build *b,
                              const mwl__node *node); /* NONE if out of memory */
void mwl__schema_link(
    mwl__schema_build *b,
    uint32_t place); /* the place and everything that it needs; resolves references */

/* schema_uri.c: resolves `ref` (a URI reference) against base. out gets the URI without its
 * fragment; *fragment is where the fragment begins in ref (the end of ref if there is none). */
void mwl__uri_resolve(const char *base, size_t base_len, const char *ref, size_t ref_len,
                      mwl__buf *out, size_t *fragment);

/* schema_meta.c: a document of the dialect, or NULL. */
const char *mwl__schema_meta(const char *uri, size_t uri_len, size_t *len);
uint32_t mwl__schema_vocabulary(const char *uri, size_t len); /* MWL__VOC bit, or 0: unknown */

/* schema_words.c */
uint32_t mwl__schema_const(mwl__schema_build *b, const mwl__node *value);
uint32_t mwl__schema_string(mwl__schema_build *b, const char *text, size_t len);
uint32_t mwl__schema_number(mwl__schema_build *b, double d);
uint32_t mwl__schema_pattern(mwl__schema_build *b, const char *text, size_t len);
uint32_t mwl__schema_begin(mwl__schema_build *b,
                           uint32_t kind); /* a table; end it before the next */
void mwl__schema_put(mwl__schema_build *b, uint32_t word);
void mwl__schema_put_place(mwl__schema_build *b, uint32_t from_resource, const mwl__node *schema);
void mwl__schema_put_target(mwl__schema_build *b, uint32_t from_resource, uint32_t place);
void mwl__schema_end(mwl__schema_build *b, uint32_t table);
void mwl__schema_ins(mwl__schema_build *b, mwl__schema_op op); /* in the node being written */
void mwl__schema_arg(mwl__schema_build *b, uint32_t word);
void mwl__schema_arg_place(mwl__schema_build *b, uint32_t from_resource, const mwl__node *schema);
void mwl__schema_arg_target(mwl__schema_build *b, uint32_t from_resource, uint32_t place);
uint32_t mwl__schema_close(mwl__schema_build *b,
                           uint32_t mask); /* ends the node and returns its offset */

/* schema_node.c */
uint32_t mwl__schema_write_node(mwl__schema_build *b, uint32_t place, bool top);

#endif
