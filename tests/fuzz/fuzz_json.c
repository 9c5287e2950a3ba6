/* JSON: what was read can be written, and what was written reads back as the same value; the
 * canonical form does not change when it is read and written again. The first byte chooses a memory
 * limit, so that memory runs out at many places. */
#include "mwl.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition) {
    if (!condition) abort();
}

/* Out of memory is a valid outcome; everything else must be right. */
static bool wrote(mwl_status status) {
    if (status == MWL_E_NOMEM || status == MWL_E_TOO_BIG) return false;
    must(status == MWL_OK);
    return true;
}

static void round_trip(mwl_heap *heap, mwl_value value, mwl_json_style style) {
    char *text = NULL, *again = NULL;
    size_t len = 0, again_len = 0;
    mwl_value back = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    if (!wrote(mwl_json_write(heap, value, style, &text, &len))) return;
    if (wrote(mwl_json_parse(heap, text, len, &back, &error))) {
        must(mwl_value_equal(value, back));
        if (wrote(mwl_json_write(heap, back, style, &again, &again_len))) {
            must(len == again_len && memcmp(text, again, len) == 0);
            mwl_text_free(heap, again, again_len);
        }
        mwl_value_drop(heap, back);
    }
    mwl_text_free(heap, text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mwl_heap *heap = NULL;
    mwl_value value = mwl_absent();
    mwl_error error = {MWL_OK, NULL, 0};
    if (size == 0) return 0;
    must(mwl_heap_new(NULL, &heap) == MWL_OK);
    if (data[0] < 64) mwl_heap_limit(heap, (size_t)(data[0] + 1) * 64);
    mwl_status status = mwl_json_parse(heap, (const char *)data + 1, size - 1, &value, &error);
    if (status == MWL_OK) {
        round_trip(heap, value, MWL_JSON_COMPACT);
        round_trip(heap, value, MWL_JSON_PRETTY);
        round_trip(heap, value, MWL_JSON_CANONICAL);
        mwl_value_drop(heap, value);
    } else {
        must(mwl_is_absent(value)); /* written on success only */
        must(error.message != NULL && error.offset <= size - 1);
    }
    must(mwl_heap_used(heap) == 0);
    mwl_heap_free(heap);
    return 0;
}
