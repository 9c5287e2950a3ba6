/* cel-go's math library. */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_math, extremes, {"math.greatest", "[1]", "1"}, {"math.greatest", "[1, 2u, 1.5]", "2u"},
      {"math.greatest", "[1, 1.0]", "1"}, {"math.greatest", "[[1, 2.5, 2u]]", "2.5"},
      {"math.greatest", "[9223372036854775807, 9223372036854775808u]", "9223372036854775808u"},
      {"math.least", "[-1, 2u, -1.5]", "-1.5"}, {"math.least", "[[3, 1, 2]]", "1"},
      {"math.least", "[0.0/0.0]", "double(\"NaN\")"}, {"math.least", "[[]]", NULL},
      {"math.least", "['a']", NULL}, {"math.least", "[1, 'a']", NULL},
      {"math.least", "[1.0, 0.0/0.0]", NULL})

TABLE(cel_math, rounding, {"math.ceil", "[1.2]", "2.0"}, {"math.floor", "[-1.2]", "-2.0"},
      {"math.round", "[2.5]", "3.0"}, {"math.round", "[-2.5]", "-3.0"},
      {"math.trunc", "[-1.9]", "-1.0"}, {"math.round", "[0.0/0.0]", "double(\"NaN\")"},
      {"math.ceil", "[1]", NULL})

TABLE(cel_math, signs, {"math.abs", "[-1]", "1"}, {"math.abs", "[-1.5]", "1.5"},
      {"math.abs", "[1u]", "1u"}, {"math.abs", "[-9223372036854775807 - 1]", NULL},
      {"math.sign", "[-42]", "-1"}, {"math.sign", "[42u]", "1u"}, {"math.sign", "[-0.5]", "-1.0"},
      {"math.sign", "[0.0]", "0.0"}, {"math.sign", "[0.0/0.0]", "double(\"NaN\")"},
      {"math.sign", "['a']", NULL}, {"math.isNaN", "[0.0/0.0]", "true"},
      {"math.isInf", "[-1.0/0.0]", "true"}, {"math.isFinite", "[1.0]", "true"},
      {"math.isNaN", "[1]", NULL}, {"math.sqrt", "[81]", "9.0"},
      {"math.sqrt", "[985.25]", "31.388692231439016"}, {"math.sqrt", "[-1]", "double(\"NaN\")"})

TABLE(cel_math, bits, {"math.bitAnd", "[3, 2]", "2"}, {"math.bitOr", "[1u, 2u]", "3u"},
      {"math.bitXor", "[3, 5]", "6"}, {"math.bitAnd", "[1, 1u]", NULL},
      {"math.bitNot", "[0u]", "18446744073709551615u"}, {"math.bitNot", "[1]", "-2"},
      {"math.bitShiftLeft", "[1, 2]", "4"}, {"math.bitShiftLeft", "[1, 64]", "0"},
      {"math.bitShiftLeft", "[-1, 63]", "-9223372036854775808"},
      {"math.bitShiftRight", "[-1024, 3]", "2305843009213693824"},
      {"math.bitShiftRight", "[1024u, 200]", "0u"}, {"math.bitShiftRight", "[1, -1]", NULL},
      {"math.bitShiftLeft", "[1, 1u]", NULL})

UTEST_MAIN()
