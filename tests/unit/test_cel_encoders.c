/* cel-go's encoders library: the examples of RFC 4648, and what Go's decoder accepts and
 * refuses. */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_encoders, encode, {"base64.encode", "[b'']", "\"\""},
      {"base64.encode", "[b'f']", "\"Zg==\""}, {"base64.encode", "[b'fo']", "\"Zm8=\""},
      {"base64.encode", "[b'foo']", "\"Zm9v\""}, {"base64.encode", "[b'foob']", "\"Zm9vYg==\""},
      {"base64.encode", "[b'\\xfb\\xff']", "\"+/8=\""}, {"base64.encode", "['foo']", NULL})

TABLE(cel_encoders, decode, {"base64.decode", "['']", "b\"\""},
      {"base64.decode", "['Zg==']", "b\"f\""}, {"base64.decode", "['Zg']", "b\"f\""},
      {"base64.decode", "['Zm8']", "b\"fo\""}, {"base64.decode", "['Zm8=']", "b\"fo\""},
      {"base64.decode", "['Zm9v']", "b\"foo\""},
      {"base64.decode", "['Zm9v\\r\\nYg==']", "b\"foob\""}, {"base64.decode", "['Z']", NULL},
      {"base64.decode", "['Zg=']", NULL}, {"base64.decode", "['Zg===']", NULL},
      {"base64.decode", "['Zm9v====']", NULL}, {"base64.decode", "['Zg==Zg==']", NULL},
      {"base64.decode", "['Zm9-']", NULL}, {"base64.decode", "['Zm 9v']", NULL},
      {"base64.decode", "[b'Zm9v']", NULL})

UTEST_MAIN()
