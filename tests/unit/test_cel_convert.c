/* CEL's conversions: ranges, forms and texts. */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_convert, numbers, {"int", "['-9223372036854775808']", "-9223372036854775808"},
      {"int", "['9223372036854775808']", NULL}, {"int", "['+5']", "5"}, {"int", "[' 5']", NULL},
      {"int", "['']", NULL}, {"int", "['0x10']", NULL}, {"int", "[-7.9]", "-7"},
      {"int", "[9223372036854775807.0]", NULL}, {"int", "[-9223372036854775808.0]", NULL},
      {"int", "[-9223372036854774784.0]", "-9223372036854774784"}, {"int", "[0.0/0.0]", NULL},
      {"int", "[18446744073709551615u]", NULL},
      {"int", "[timestamp('1969-12-31T23:59:59.5Z')]", "-1"}, {"int", "[duration('1us')]", "1000"},
      {"int", "[true]", NULL}, {"uint", "[-1]", NULL}, {"uint", "[-0.5]", NULL},
      {"uint", "[18446744073709549568.0]", "18446744073709549568u"},
      {"uint", "[18446744073709551616.0]", NULL},
      {"uint", "['18446744073709551615']", "18446744073709551615u"}, {"uint", "['-1']", NULL},
      {"double", "['1e-324']", "0.0"}, {"double", "['1e309']", NULL},
      {"double", "['NaN']", "double(\"NaN\")"}, {"double", "['x']", NULL},
      {"double", "[18446744073709551615u]", "18446744073709552000.0"})

TABLE(cel_convert, bools_and_bytes, {"bool", "['1']", "true"}, {"bool", "['t']", "true"},
      {"bool", "['T']", "true"}, {"bool", "['TRUE']", "true"}, {"bool", "['True']", "true"},
      {"bool", "['F']", "false"}, {"bool", "['False']", "false"}, {"bool", "['tRUE']", NULL},
      {"bool", "['']", NULL}, {"bool", "[1]", NULL}, {"bytes", "['\\u00e9']", "b\"\\xc3\\xa9\""},
      {"bytes", "[1]", NULL})

TABLE(cel_convert, texts, {"string", "[true]", "\"true\""}, {"string", "[-5]", "\"-5\""},
      {"string", "[123.456]", "\"123.456\""}, {"string", "[100000.0]", "\"100000\""},
      {"string", "[1000000.0]", "\"1000000\""}, {"string", "[1234567.0]", "\"1234567\""},
      {"string", "[9007199254740993.0]", "\"9007199254740992\""},
      {"string", "[1e20]", "\"100000000000000000000\""}, {"string", "[1e21]", "\"1e+21\""},
      {"string", "[0.0001]", "\"0.0001\""}, {"string", "[0.000001]", "\"0.000001\""},
      {"string", "[0.0000001]", "\"1e-7\""}, {"string", "[6.02214e23]", "\"6.02214e+23\""},
      {"string", "[1e-300]", "\"1e-300\""}, {"string", "[-0.0]", "\"0\""},
      {"string", "[1.0/0.0]", "\"+Inf\""}, {"string", "[0.0/0.0]", "\"NaN\""},
      {"string", "[b'a\\303\\251']", "\"aé\""}, {"string", "[b'\\xff']", NULL},
      {"string", "[timestamp('9999-12-31T23:59:59.999999999Z')]",
       "\"9999-12-31T23:59:59.999999999Z\""},
      {"string", "[timestamp('2009-02-13T23:31:30+02:00')]", "\"2009-02-13T21:31:30Z\""},
      {"string", "[duration('-1h0.5s')]", "\"-3600.5s\""}, {"string", "[null]", NULL},
      {"string", "[[1]]", NULL}, {"string", "[int]", NULL})

TABLE(cel_convert, time, {"timestamp", "[0]", "timestamp(\"1970-01-01T00:00:00Z\")"},
      {"timestamp", "[253402300800]", NULL}, {"timestamp", "['2009-02-30T00:00:00Z']", NULL},
      {"timestamp", "['2009-02-13']", NULL}, {"timestamp", "[1.0]", NULL},
      {"duration", "['1h2m3s']", "duration(\"3723s\")"},
      {"duration", "['9223372036.854775807s']", "duration(\"9223372036.854775807s\")"},
      {"duration", "['9223372037s']", NULL}, {"duration", "['1']", NULL}, {"duration", "[5]", NULL})

UTEST_MAIN()
