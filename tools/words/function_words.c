/* function_words.c: see function_words.h. */
#include "tools/words/function_words.h"

#include "tools/base/tool_functions.h"

#include <string.h>

#define MACRO(name, usage, text, example)                                                          \
    { "macros", name, usage, text, example }
#define FN(library, name, text, example)                                                           \
    { library, name, NULL, text, example }

const struct function_words function_words[] = {
    MACRO("has", "has(a.b) -> bool", "Is the member there? It does not fault if it is not.",
          "has({'a': 1}.b)"),
    MACRO("all", "list.all(x, condition) -> bool",
          "Does the condition hold for every element? With two variables, the first is the index "
          "or the key.",
          "[1, 2].all(x, x > 0)"),
    MACRO("exists", "list.exists(x, condition) -> bool",
          "Does the condition hold for some element?", "[1, 2].exists(x, x > 1)"),
    MACRO("exists_one", "list.exists_one(x, condition) -> bool",
          "Does the condition hold for exactly one element? existsOne is the same.",
          "[1, 2, 2].exists_one(x, x == 2)"),
    MACRO("filter", "list.filter(x, condition) -> list",
          "The elements for which the condition holds.", "[1, 2, 3].filter(x, x > 1)"),
    MACRO("map", "list.map(x, [condition,] value) -> list", "A new value for each element.",
          "['a', 'bb'].map(s, s.size())"),
    MACRO("transformList", "list.transformList(i, x, [condition,] value) -> list",
          "A new value for each element, with its index or key.",
          "['a', 'b'].transformList(i, s, s + string(i))"),
    MACRO("transformMap", "map.transformMap(k, x, [condition,] value) -> map",
          "A map with the same keys and new values.", "{'a': 1}.transformMap(k, x, x + 1)"),
    MACRO("transformMapEntry", "map.transformMapEntry(k, x, [condition,] entry) -> map",
          "A map with new keys and values.", "{'a': 'x'}.transformMapEntry(k, x, {x: k})"),
    MACRO("sortBy", "list.sortBy(x, key) -> list", "The elements, ordered by a key.",
          "['ccc', 'a', 'bb'].sortBy(s, s.size())"),
    MACRO("optMap", "optional.optMap(x, value) -> optional",
          "A new value, if the optional has one.", "optional.of(2).optMap(x, x * 2).value()"),
    MACRO("optFlatMap", "optional.optFlatMap(x, optional) -> optional",
          "The same, where the new value is an optional.",
          "optional.of([1]).optFlatMap(l, l.first()).value()"),
    MACRO("cel.bind", "cel.bind(name, value, expression) -> value",
          "Evaluates the expression with a name for the value, which is computed once.",
          "cel.bind(x, 3, x * x)"),

    FN("standard", "size", "Length: code points, bytes, elements or members.", "size('abc')"),
    FN("standard", "contains", "Is the text inside?", "'hello'.contains('ell')"),
    FN("standard", "startsWith", "Does the text begin so?", "'hello'.startsWith('he')"),
    FN("standard", "endsWith", "Does the text end so?", "'hello'.endsWith('lo')"),
    FN("standard", "matches", "Is the pattern (RE2) found somewhere in the text?",
       "'v1.2'.matches('^v[0-9]')"),
    FN("standard", "type", "The type of a value.", "type(1.5) == double"),
    FN("standard", "dyn", "The same value, with its type forgotten by the checker.", "dyn(1) == 1"),

    FN("conversions", "bool", "A boolean from text.", "bool('true')"),
    FN("conversions", "bytes", "The bytes of a text in UTF-8.", "size(bytes('\\u00e4'))"),
    FN("conversions", "double", "A double. Numbers in JSON data are doubles.", "double('1.5')"),
    FN("conversions", "duration", "A duration from text such as 1h30m or 2.5s.",
       "duration('90s') > duration('1m')"),
    FN("conversions", "int", "An int; of a double, towards zero. Of a timestamp, seconds.",
       "int(3.9)"),
    FN("conversions", "string", "The text of a value.", "string(42)"),
    FN("conversions", "timestamp", "An instant from RFC 3339 text, or from seconds.",
       "string(timestamp('2030-01-01T00:00:00Z'))"),
    FN("conversions", "uint", "An unsigned int.", "uint(7) == 7u"),

    FN("time", "getFullYear", "The year.", "timestamp('2030-02-03T04:05:06Z').getFullYear()"),
    FN("time", "getMonth", "The month, 0 for January.",
       "timestamp('2030-02-03T04:05:06Z').getMonth()"),
    FN("time", "getDayOfYear", "The day of the year, from 0.",
       "timestamp('2030-02-03T04:05:06Z').getDayOfYear()"),
    FN("time", "getDayOfMonth", "The day of the month, from 0.",
       "timestamp('2030-02-03T04:05:06Z').getDayOfMonth()"),
    FN("time", "getDate", "The day of the month, from 1.",
       "timestamp('2030-02-03T04:05:06Z').getDate()"),
    FN("time", "getDayOfWeek", "The day of the week, 0 for Sunday.",
       "timestamp('2030-02-03T04:05:06Z').getDayOfWeek()"),
    FN("time", "getHours", "The hour of an instant, or the hours of a duration.",
       "timestamp('2030-02-03T04:05:06Z').getHours('Europe/Berlin')"),
    FN("time", "getMinutes", "The minute of an instant, or the minutes of a duration.",
       "duration('90m').getMinutes()"),
    FN("time", "getSeconds", "The second of an instant, or the seconds of a duration.",
       "duration('90s').getSeconds()"),
    FN("time", "getMilliseconds", "The milliseconds within the second.",
       "duration('1.234s').getMilliseconds()"),

    FN("mwl", "toJson", "The value as JSON text, in the canonical form of RFC 8785.",
       "toJson({'b': 1, 'a': [true, null]})"),
    FN("mwl", "fromJson", "The value that a JSON text describes.", "fromJson('[1, 2]')[1]"),
    FN("mwl", "durationToIso8601", "A duration as ISO 8601 text, as `for` of a Sleep needs it.",
       "durationToIso8601(duration('90s'))"),
    FN("mwl", "durationFromIso8601", "A duration from ISO 8601 text.",
       "durationFromIso8601('PT1M') == duration('60s')"),
    FN("mwl", "now",
       "The instant of this evaluation. It is the same for all expressions that are "
       "evaluated together.",
       "now() == now()"),
    FN("mwl", "wallTime", "The clock at this very moment.",
       "wallTime() > timestamp('2020-01-01T00:00:00Z')"),

    FN("strings", "charAt", "The character at an index.", "'abc'.charAt(1)"),
    FN("strings", "format", "Text with the values of a list in it: %s, %d, %f, %e, %b, %x, %o.",
       "'%s has %d'.format(['Ada', 3])"),
    FN("strings", "indexOf", "Where a text is first found; -1 if it is not.",
       "'hello'.indexOf('l')"),
    FN("strings", "join", "The texts of a list as one.", "['a', 'b'].join('-')"),
    FN("strings", "lastIndexOf", "Where a text is last found; -1 if it is not.",
       "'hello'.lastIndexOf('l')"),
    FN("strings", "lowerAscii", "Letters A to Z in lower case.", "'Ada'.lowerAscii()"),
    FN("strings", "replace",
       "The text with one part replaced by another, everywhere or a number "
       "of times.",
       "'a-b-c'.replace('-', '+', 1)"),
    FN("strings", "reverse", "A text or a list backwards.", "'abc'.reverse()"),
    FN("strings", "split", "The parts between separators.", "'a,b,c'.split(',')"),
    FN("strings", "strings.quote", "The text in quotes, safe to print.", "strings.quote('a\\nb')"),
    FN("strings", "substring", "A part of a text; `end` is the first index after it.",
       "'hello'.substring(1, 3)"),
    FN("strings", "trim", "The text without white space at both ends.", "' a '.trim()"),
    FN("strings", "upperAscii", "Letters a to z in upper case.", "'Ada'.upperAscii()"),

    FN("lists", "distinct", "The list without repetitions.", "[1, 2, 1].distinct()"),
    FN("lists", "flatten", "The elements of inner lists, one level or `depth` levels.",
       "[[1], [2, [3]]].flatten()"),
    FN("lists", "lists.range", "The ints from 0 to below n.", "lists.range(3)"),
    FN("lists", "slice", "A part of a list.", "[1, 2, 3, 4].slice(1, 3)"),
    FN("lists", "sort", "The elements in order.", "[3, 1, 2].sort()"),

    FN("sets", "sets.contains", "Does the first list have every element of the second?",
       "sets.contains([1, 2, 3], [3, 1])"),
    FN("sets", "sets.equivalent", "Do both lists have the same elements?",
       "sets.equivalent([1, 2], [2, 1, 1])"),
    FN("sets", "sets.intersects", "Do the lists share an element?", "sets.intersects([1], [2])"),

    FN("encoders", "base64.encode", "Bytes as base64 text.", "base64.encode(b'hi')"),
    FN("encoders", "base64.decode", "Bytes from base64 text.", "string(base64.decode('aGk='))"),

    FN("math", "math.abs", "Without the sign.", "math.abs(-3)"),
    FN("math", "math.bitAnd", "Bits that both have.", "math.bitAnd(6, 3)"),
    FN("math", "math.bitNot", "Every bit turned.", "math.bitNot(0)"),
    FN("math", "math.bitOr", "Bits that one of them has.", "math.bitOr(6, 3)"),
    FN("math", "math.bitShiftLeft", "Bits moved to the left.", "math.bitShiftLeft(1, 4)"),
    FN("math", "math.bitShiftRight", "Bits moved to the right; zeros follow.",
       "math.bitShiftRight(16, 4)"),
    FN("math", "math.bitXor", "Bits that exactly one of them has.", "math.bitXor(6, 3)"),
    FN("math", "math.ceil", "The next whole number above.", "math.ceil(1.2)"),
    FN("math", "math.floor", "The next whole number below.", "math.floor(1.8)"),
    FN("math", "math.greatest", "The largest.", "math.greatest(1, 3, 2)"),
    FN("math", "math.isFinite", "Is it neither infinite nor NaN?", "math.isFinite(1.0 / 0.0)"),
    FN("math", "math.isInf", "Is it infinite?", "math.isInf(1.0 / 0.0)"),
    FN("math", "math.isNaN", "Is it not a number?", "math.isNaN(0.0 / 0.0)"),
    FN("math", "math.least", "The smallest.", "math.least([3, 1, 2])"),
    FN("math", "math.round", "The nearest whole number; halves away from zero.", "math.round(2.5)"),
    FN("math", "math.sign", "-1, 0 or 1.", "math.sign(-7)"),
    FN("math", "math.sqrt", "The square root.", "math.sqrt(16.0)"),
    FN("math", "math.trunc", "Without the fraction.", "math.trunc(-1.8)"),

    FN("optional", "optional.of", "An optional that has the value.", "optional.of(1).hasValue()"),
    FN("optional", "optional.ofNonZeroValue", "The same, but empty for 0, '', [] and the like.",
       "optional.ofNonZeroValue('').hasValue()"),
    FN("optional", "optional.none", "An empty optional.", "optional.none().hasValue()"),
    FN("optional", "optional.unwrap", "The values of a list of optionals, without the empty ones.",
       "optional.unwrap([optional.of(1), optional.none()])"),
    FN("optional", "unwrapOpt", "The same, after a list.", "[optional.of(1)].unwrapOpt()"),
    FN("optional", "value", "The value; an empty optional faults.", "{'a': 1}[?'a'].value()"),
    FN("optional", "hasValue", "Is there a value?", "{'a': 1}[?'b'].hasValue()"),
    FN("optional", "or", "This optional, or the other one if it is empty.",
       "optional.none().or(optional.of(2)).value()"),
    FN("optional", "orValue", "The value, or another one if it is empty.",
       "{'a': 1}[?'b'].orValue(0)"),
    FN("optional", "first", "The first element, if there is one.", "[1, 2].first().value()"),
    FN("optional", "last", "The last element, if there is one.", "[1, 2].last().value()"),

    FN("network", "cidr", "A network from text.", "cidr('10.0.0.0/8').containsIP('10.1.2.3')"),
    FN("network", "containsCIDR", "Is the other network inside?",
       "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')"),
    FN("network", "containsIP", "Is the address inside?",
       "cidr('10.0.0.0/8').containsIP('11.1.2.3')"),
    FN("network", "family", "4 or 6.", "ip('::1').family()"),
    FN("network", "ip", "An address from text; the address of a network.",
       "string(cidr('10.0.0.1/8').ip())"),
    FN("network", "ip.isCanonical", "Is the text the shortest form of its address?",
       "ip.isCanonical('::1')"),
    FN("network", "isCIDR", "Is the text a network?", "isCIDR('10.0.0.0/8')"),
    FN("network", "isGlobalUnicast", "Is it an address for one receiver anywhere?",
       "ip('8.8.8.8').isGlobalUnicast()"),
    FN("network", "isIP", "Is the text an address?", "isIP('10.0.0')"),
    FN("network", "isLinkLocalMulticast", "Is it for several receivers on the same link?",
       "ip('224.0.0.1').isLinkLocalMulticast()"),
    FN("network", "isLinkLocalUnicast", "Is it for one receiver on the same link?",
       "ip('169.254.1.1').isLinkLocalUnicast()"),
    FN("network", "isLoopback", "Is it this machine?", "ip('127.0.0.1').isLoopback()"),
    FN("network", "isMask", "Is its address the network's own?", "cidr('10.0.0.0/8').isMask()"),
    FN("network", "isUnspecified", "Is it 0.0.0.0 or ::?", "ip('0.0.0.0').isUnspecified()"),
    FN("network", "masked", "The network with its own address.",
       "string(cidr('10.1.2.3/8').masked())"),
    FN("network", "prefixLength", "How many bits the network has.",
       "cidr('10.0.0.0/8').prefixLength()"),
};
const size_t n_function_words = sizeof function_words / sizeof *function_words;

const struct function_words *function_words_find(const char *name, size_t len) {
    for (size_t i = 0; i < n_function_words; i++)
        if (strlen(function_words[i].name) == len && memcmp(function_words[i].name, name, len) == 0)
            return &function_words[i];
    return NULL;
}

/* Every table of the build: CEL's own first. NULL after the last one. */
static const mwl_function_def *table_at(size_t i, size_t *n) {
    size_t own = 0;
    while (mwl__cel_table(own, n)) own++;
    return i < own ? mwl__cel_table(i, n) : mwl_std_functions(i - own, n);
}

const char *function_words_usage(const struct function_words *row, size_t nth) {
    const mwl_function_def *table;
    size_t n = 0;
    if (row->usage) return nth ? NULL : row->usage;
    for (size_t t = 0; (table = table_at(t, &n)); t++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(table[i].name, row->name) == 0 && nth-- == 0) return table[i].usage;
    return NULL;
}

const char *function_words_missing(void) {
    const mwl_function_def *table;
    size_t n = 0;
    for (size_t t = 0; (table = table_at(t, &n)); t++)
        for (size_t i = 0; i < n; i++)
            if (table[i].name[0] != '@' &&
                !function_words_find(table[i].name, strlen(table[i].name)))
                return table[i].name;
    return NULL;
}
