// json_simdjson.cpp FILE: simdjson, reading and writing a large document: the text to its DOM, the
// DOM to text. A line per case, as mwl-bench writes them.
#include "json_peer.h"

#include <simdjson.h>
#include <string>

static simdjson::dom::parser kept;
static simdjson::dom::element root;

static size_t parse(const char *text, size_t len) {
    simdjson::dom::parser
        parser; // a new one each time: its memory belongs to the price, as with the others
    simdjson::dom::element element;
    return parser.parse(text, len).get(element) == simdjson::SUCCESS ? 1 : 0;
}

static size_t put(const char *, size_t) { return simdjson::minify(root).size(); }

int main(int argc, char **argv) {
    size_t len;
    char *text = peer_read(argc > 1 ? argv[1] : "", &len);
    peer_measure("simdjson", "parse_large", parse, text, len);
    if (kept.parse(text, len).get(root) != simdjson::SUCCESS) return 1;
    peer_measure("simdjson", "write_large", put, text, len);
    free(text);
    return 0;
}
