/* outside.c: a program that knows mwlvm only as installed. It reads JSON, so that a static link
 * needs the library's own dependencies too. */
#include <mwl.h>

#include <stdio.h>
#include <string.h>

int main(void) {
    static const char text[] = "{\"b\": [1.0, true], \"a\": null}";
    mwl_heap *heap = NULL;
    mwl_value value = mwl_absent();
    char *canonical = NULL;
    size_t len = 0;
    if (strcmp(mwl_version(), MWL_VERSION) != 0) return 1;
    if (mwl_heap_new(NULL, &heap) < 0) return 1;
    if (mwl_json_parse(heap, text, strlen(text), &value, NULL) < 0) return 1;
    if (mwl_json_write(heap, value, MWL_JSON_CANONICAL, &canonical, &len) < 0) return 1;
    if (strcmp(canonical, "{\"a\":null,\"b\":[1,true]}") != 0) return 1;
    printf("outside program with mwlvm %s: %s\n", mwl_version(), canonical);
    mwl_text_free(heap, canonical, len);
    mwl_value_drop(heap, value);
    mwl_heap_free(heap);
    return 0;
}
