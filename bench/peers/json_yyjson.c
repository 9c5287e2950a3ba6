/* json_yyjson.c FILE: yyjson alone, reading and writing a large document: the text to its tree, the
 * tree to text. A line per case, as mwl-bench writes them. */
#include "json_peer.h"

#include <yyjson.h>

static size_t parse(const char *text, size_t len) {
    yyjson_doc *doc = yyjson_read(text, len, 0);
    size_t n = doc ? yyjson_doc_get_val_count(doc) : 0;
    yyjson_doc_free(doc);
    return n;
}

static yyjson_doc *kept;

static size_t put(const char *text, size_t len) {
    (void)text, (void)len;
    size_t n = 0;
    char *out = yyjson_write(kept, 0, &n);
    free(out);
    return n;
}

int main(int argc, char **argv) {
    size_t len;
    char *text = peer_read(argc > 1 ? argv[1] : "", &len);
    peer_measure("yyjson", "parse_large", parse, text, len);
    kept = yyjson_read(text, len, 0);
    if (!kept) return 1;
    peer_measure("yyjson", "write_large", put, text, len);
    yyjson_doc_free(kept);
    free(text);
    return 0;
}
