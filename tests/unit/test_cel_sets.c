/* cel-go's sets library. */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_sets, contains, {"sets.contains", "[[], []]", "true"},
      {"sets.contains", "[[], [1]]", "false"}, {"sets.contains", "[[1, 2, 3], [2, 3]]", "true"},
      {"sets.contains", "[[1, 2.0, 3u], [2, 3, 1u]]", "true"},
      {"sets.contains", "[[1, 2], [1, 1, 1]]", "true"},
      {"sets.contains", "[[[1], {'a': 1}], [{'a': 1.0}]]", "true"},
      {"sets.contains", "[[1, 2], ['1']]", "false"},
      {"sets.contains", "[[0.0/0.0], [0.0/0.0]]", "false"}, {"sets.contains", "[[1], 1]", NULL})

TABLE(cel_sets, equivalent, {"sets.equivalent", "[[], []]", "true"},
      {"sets.equivalent", "[[1], [1, 1]]", "true"},
      {"sets.equivalent", "[[1, 2, 3], [3u, 2.0, 1]]", "true"},
      {"sets.equivalent", "[[1, 2], [1]]", "false"}, {"sets.equivalent", "[[1], [1, 2]]", "false"},
      {"sets.equivalent", "[{}, []]", NULL})

TABLE(cel_sets, intersects, {"sets.intersects", "[[], [1]]", "false"},
      {"sets.intersects", "[[1], []]", "false"}, {"sets.intersects", "[[1], [1, 2]]", "true"},
      {"sets.intersects", "[[[1], [2, 3]], [[1, 2], [2, 3.0]]]", "true"},
      {"sets.intersects", "[[9007199254740993], [9007199254740992.0]]", "true"},
      {"sets.intersects", "[[9007199254740993], [9007199254740992]]", "false"},
      {"sets.intersects", "[[1], ['1', 2]]", "false"}, {"sets.intersects", "['a', []]", NULL})

UTEST_MAIN()
