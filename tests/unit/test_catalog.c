/* test_catalog.c: provider URIs; documents as contracts; who may enter a catalog. Complete
 * documents that are refused are in tests/diag/provider-*. */
#include "utest.h"

#include "tests/unit/checked.h"
#include "tests/unit/faulty.h"

#define URI(text, fault)                                                                           \
    do {                                                                                           \
        mwl__uri uri_;                                                                             \
        EXPECT_EQ((int)(fault), (int)mwl__uri_parse(text, sizeof(text) - 1, &uri_));               \
    } while (0)

UTEST(uri, syntax) {
    URI("mwl:provider.call/acme/http/v1", MWL__URI_OK);
    URI("mwl:provider.middleware/example.com/A_b-c/v1.2/x", MWL__URI_OK);
    URI("mwl:provider.call/a/b", MWL__URI_OK);
    URI("mwl:provider.call/a/...", MWL__URI_OK);
    URI("mwl:provider.call/a", MWL__URI_MALFORMED);
    URI("mwl:provider.call", MWL__URI_MALFORMED);
    URI("mwl:", MWL__URI_MALFORMED);
    URI("", MWL__URI_MALFORMED);
    URI("provider.call/a/b", MWL__URI_MALFORMED);
    URI("mwl:/provider.call/a/b", MWL__URI_MALFORMED);
    URI("mwl://provider.call/a/b", MWL__URI_MALFORMED);
    URI("mwl:provider.call/a/b/", MWL__URI_MALFORMED);
    URI("mwl:provider.call//b", MWL__URI_MALFORMED);
    URI("mwl:provider.call/./b", MWL__URI_MALFORMED);
    URI("mwl:provider.call/a/..", MWL__URI_MALFORMED);
    URI("mwl:provider.call/a/b?c", MWL__URI_MALFORMED);
    URI("mwl:provider.call/a/b#c", MWL__URI_MALFORMED);
    URI("mwl:provider.call/a/b%20", MWL__URI_MALFORMED);
    URI("mwl:provider.call/a/\xc3\xa9", MWL__URI_MALFORMED);
    URI("mwl:provider.function/a/b", MWL__URI_TYPE);
    URI("mwl:Provider.Call/a/b", MWL__URI_TYPE);
    URI("MWL:provider.call/a/b", MWL__URI_SCHEME);
    URI("https://mwl.dev/a", MWL__URI_SCHEME);
    URI("mw:provider.call/a/b", MWL__URI_SCHEME);
}

UTEST(catalog, the_five) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl__catalog *c = mwl__catalog_new(&alloc);
    ASSERT_TRUE(c != NULL);
    const mwl__contract *found;
#define FIND(uri) (mwl__catalog_find(c, uri, sizeof(uri) - 1, &found) == MWL_OK ? found : NULL)
    const mwl__contract *mock = FIND("mwl:provider.call/mwl/mock/v1");
    const mwl__contract *retry = FIND("mwl:provider.middleware/mwl/retry/v1");
    const mwl__contract *timeout = FIND("mwl:provider.middleware/mwl/timeout/v1");
    const mwl__contract *loop = FIND("mwl:provider.middleware/mwl/loop/v1");
    const mwl__contract *finally = FIND("mwl:provider.middleware/mwl/finally/v1");
    ASSERT_TRUE(mock && retry && timeout && loop && finally);
    EXPECT_EQ((int)MWL_E_NOT_FOUND,
              (int)mwl__catalog_find(c, "mwl:provider.call/mwl/mock/v2", 29, &found));
    EXPECT_TRUE(FIND("mwl:provider.call/mwl/mock/v1") == mock); /* read once */
    ASSERT_EQ(5u, mwl__catalog_count(c));
    EXPECT_TRUE(mwl__catalog_at(c, 4)->is_middleware && !mwl__catalog_at(c, 0)->is_middleware);
    EXPECT_TRUE(!mock->is_middleware && mock->parameters[0] && mock->compiled[0] && mock->metadata);
    EXPECT_EQ(1u, mock->open->count);
    EXPECT_TRUE(retry->is_middleware && retry->at_step && retry->at_flow);
    EXPECT_TRUE(retry->acts[MWL_ON_ENTRY] && retry->acts[MWL_ON_FAILURE]);
    EXPECT_FALSE(retry->acts[MWL_ON_SUCCESS] || retry->acts[MWL_ON_ALWAYS]);
    EXPECT_TRUE(retry->compiled[MWL_ON_ENTRY] && retry->compiled[MWL_ON_FAILURE]);
    EXPECT_TRUE(timeout->acts[MWL_ON_ENTRY] && !timeout->acts[MWL_ON_FAILURE]);
    EXPECT_TRUE(loop->acts[MWL_ON_SUCCESS] && !loop->parameters[MWL_ON_SUCCESS]);
    EXPECT_TRUE(finally->acts[MWL_ON_ALWAYS]);
    EXPECT_EQ(2u, finally->structural[MWL_ON_ALWAYS]->count);
    EXPECT_EQ(5u, (unsigned)retry->code_prefix_len);
    mwl__catalog_free(c);
}

#define DOCUMENT(uri, more)                                                                        \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" uri                    \
    "\",\"codePrefix\":\"Acme\",\"description\":\"d\",\"failureCatalog\":{\"closed\":[],\"open\":" \
    "[]}," more "}"
#define CALL(uri) DOCUMENT(uri, "\"parameters\":{\"type\":\"object\"}")
#define WRAP(uri, levels)                                                                          \
    DOCUMENT(uri, "\"attachment\":" levels                                                         \
                  ",\"phases\":{\"onEntry\":{\"action\":{\"kind\":\"control\","                    \
                  "\"description\":\"d\"}}}")

/* Adds the documents, then checks the definition. Returns the codes that were reported. */
static void together(const char *const *documents, const char *definition, char *out, size_t size) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl__source sources[4], source;
    mwl__diags sink;
    mwl__tree tree;
    mwl__model model;
    size_t n = 0, at = 0;
    mwl__diags_init(&sink, alloc);
    mwl__catalog *c = mwl__catalog_new(&alloc);
    for (; documents[n]; n++) {
        mwl__source_init(&sources[n], alloc, "provider", documents[n], strlen(documents[n]));
        mwl__catalog_add(c, &sources[n], &sink);
    }
    mwl__source_init(&source, alloc, "flow", definition, strlen(definition));
    mwl__tree_read(&tree, alloc, &source, &sink);
    mwl__model_check(&model, &tree, c, NULL, 0);
    mwl__diags_sort(&sink);
    out[0] = '\0';
    for (size_t i = 0; i < sink.n_items; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%d", i ? " " : "",
                               (int)sink.items[i]->row->code);
    mwl__model_free(&model);
    mwl__tree_free(&tree);
    mwl__catalog_free(c);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    while (n > 0) mwl__source_free(&sources[--n]);
}

#define EXPECT_CODES(expected, definition, ...)                                                    \
    do {                                                                                           \
        const char *documents_[] = {__VA_ARGS__, NULL};                                            \
        char codes_[128];                                                                          \
        together(documents_, definition, codes_, sizeof codes_);                                   \
        EXPECT_STREQ(expected, codes_);                                                            \
    } while (0)

#define HEAD "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\","
#define PLAIN HEAD "\"steps\":{\"a\":{\"action\":\"Return\"}}}"
#define CALLS(uri)                                                                                 \
    HEAD "\"steps\":{\"a\":{\"action\":\"Call\",\"call\":{\"provider\":\"" uri                     \
         "\"},\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}"
#define FLOW_LEVEL(uri)                                                                            \
    HEAD "\"middleware\":[{\"provider\":\"" uri "\"}],\"steps\":{\"a\":{\"action\":\"Return\"}}}"
#define STEP_LEVEL(uri)                                                                            \
    HEAD "\"steps\":{\"a\":{\"action\":\"Call\",\"call\":{\"provider\":\"mwl:provider.call/mwl/"   \
         "mock/v1\"},"                                                                             \
         "\"middleware\":[{\"provider\":\"" uri                                                    \
         "\"}],\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}"

UTEST(catalog, hosts_own) {
    EXPECT_CODES("", CALLS("mwl:provider.call/acme/x/v1"), CALL("mwl:provider.call/acme/x/v1"));
    EXPECT_CODES("405", CALLS("mwl:provider.call/acme/x/v1"), CALL("mwl:provider.call/acme/x/v2"));
    EXPECT_CODES("410", PLAIN, CALL("mwl:provider.call/mwl/http/v1"));
    EXPECT_CODES("410", PLAIN, CALL("mwl:provider.call/example/http/v1"));
    EXPECT_CODES("411", PLAIN, CALL("mwl:provider.call/acme/x/v1"),
                 CALL("mwl:provider.call/acme/x/v1"));
    EXPECT_CODES(
        "409", PLAIN,
        DOCUMENT("mwl:provider.call/acme/x/v1", "\"a\":1,\"parameters\":{\"type\":\"object\"}"));
}

/* A refused document is reported once, not again at each call. */
UTEST(catalog, refused_ones_do_not_cascade) {
    EXPECT_CODES(
        "409", CALLS("mwl:provider.call/acme/x/v1"),
        DOCUMENT("mwl:provider.call/acme/x/v1", "\"a\":1,\"parameters\":{\"type\":\"object\"}"));
    EXPECT_CODES("410", CALLS("mwl:provider.call/example/x/v1"),
                 CALL("mwl:provider.call/example/x/v1"));
}

UTEST(catalog, levels) {
#define CACHE "mwl:provider.middleware/acme/cache/v1"
    EXPECT_CODES("", FLOW_LEVEL(CACHE), WRAP(CACHE, "[\"flow\"]"));
    EXPECT_CODES("406", FLOW_LEVEL(CACHE), WRAP(CACHE, "[\"step\"]"));
    EXPECT_CODES("", STEP_LEVEL(CACHE), WRAP(CACHE, "[\"step\", \"flow\"]"));
    EXPECT_CODES("406", STEP_LEVEL(CACHE), WRAP(CACHE, "[\"flow\"]"));
}

/* The middleware of a host with structural parameters is compiled in the same way as Finally. */
UTEST(catalog, structural_parameters_of_others) {
#define AUDIT "mwl:provider.middleware/acme/audit/v1"
    static const char document[] =
        "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" AUDIT
        "\",\"codePrefix\":\"Audit\",\"description\":\"d\",\"failureCatalog\":{\"closed\":[],"
        "\"open\":[]},"
        "\"attachment\":[\"flow\"],\"phases\":{\"onSuccess\":{\"action\":{\"kind\":\"side-effect\","
        "\"description\":\"d\"},\"parameters\":{\"type\":\"object\",\"properties\":{\"call\":{"
        "\"type\":\"object\"}}},"
        "\"structural\":[\"call\"]}}}";
    EXPECT_CODES("302",
                 HEAD "\"middleware\":[{\"provider\":\"" AUDIT
                      "\",\"onSuccess\":{\"with\":{\"call\":{"
                      "\"flow\":\"Nope\"}}}}],\"steps\":{\"a\":{\"action\":\"Return\"}}}",
                 document);
    EXPECT_CODES("408",
                 HEAD "\"middleware\":[{\"provider\":\"" AUDIT
                      "\",\"onSuccess\":{\"with\":\"{{ vars.x }}\"}}"
                      "],\"steps\":{\"a\":{\"action\":\"Return\"}}}",
                 document);
}

static bool make(mwl_alloc alloc) {
    mwl__catalog *c = mwl__catalog_new(&alloc);
    if (!c) return false;
    mwl_status status = MWL_OK;
    for (size_t i = 0; status == MWL_OK && i < mwl__catalog_count(c); i++) {
        const mwl__provider_name *name = mwl__catalog_at(c, i);
        const mwl__contract *found;
        status = mwl__catalog_find(c, name->uri, name->uri_len, &found);
        if (status != MWL_OK && (status != MWL_E_NOMEM || found)) abort();
    }
    mwl__catalog_free(c);
    return status == MWL_OK;
}

UTEST(catalog, memory_may_run_out) { EXPECT_TRUE(faulty_sweep(make, 5000)); }

UTEST_MAIN()
