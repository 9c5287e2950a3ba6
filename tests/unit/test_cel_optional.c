/* Optionals as functions; their syntax is tested with the suite. */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_optional, making, {"optional.of", "[null]", "optional.of(null)"},
      {"optional.none", "[]", "optional.none()"},
      {"optional.ofNonZeroValue", "[1]", "optional.of(1)"},
      {"optional.ofNonZeroValue", "[null]", "optional.none()"},
      {"optional.ofNonZeroValue", "[false]", "optional.none()"},
      {"optional.ofNonZeroValue", "[0]", "optional.none()"},
      {"optional.ofNonZeroValue", "[0u]", "optional.none()"},
      {"optional.ofNonZeroValue", "[-0.0]", "optional.none()"},
      {"optional.ofNonZeroValue", "['']", "optional.none()"},
      {"optional.ofNonZeroValue", "[b'']", "optional.none()"},
      {"optional.ofNonZeroValue", "[[]]", "optional.none()"},
      {"optional.ofNonZeroValue", "[{}]", "optional.none()"},
      {"optional.ofNonZeroValue", "[duration('0s')]", "optional.none()"},
      {"optional.ofNonZeroValue", "[timestamp('0001-01-01T00:00:00Z')]", "optional.none()"},
      {"optional.ofNonZeroValue", "[[0]]", "optional.of([0])"})

TABLE(cel_optional, reading, {"value", "[optional.of('a')]", "\"a\""},
      {"value", "[optional.none()]", NULL}, {"value", "[1]", NULL},
      {"hasValue", "[optional.of(null)]", "true"}, {"hasValue", "[optional.none()]", "false"},
      {"or", "[optional.none(), optional.of(2)]", "optional.of(2)"},
      {"or", "[optional.of(1), optional.of(2)]", "optional.of(1)"},
      {"or", "[1, optional.of(2)]", NULL}, {"orValue", "[optional.none(), 2]", "2"},
      {"orValue", "[optional.of(1), 2]", "1"}, {"orValue", "[1, 2]", NULL})

TABLE(cel_optional, lists,
      {"optional.unwrap", "[[optional.of(1), optional.none(), optional.of('a')]]", "[1, \"a\"]"},
      {"unwrapOpt", "[[optional.none()]]", "[]"}, {"unwrapOpt", "[[1]]", NULL},
      {"first", "[[1, 2]]", "optional.of(1)"}, {"last", "[[1, 2]]", "optional.of(2)"},
      {"last", "[[]]", "optional.none()"}, {"first", "['a']", NULL})

UTEST_MAIN()
