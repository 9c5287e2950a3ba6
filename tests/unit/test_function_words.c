/* test_function_words.c: every function of the build has words (tools/words/function_words.h). */
#include "utest.h"

#include "tools/words/function_words.h"

#include <string.h>

UTEST(function_words, every_function_has_words) {
    const char *missing = function_words_missing();
    ASSERT_STREQ("", missing ? missing : "");
}

UTEST(function_words, every_row_is_a_function) {
    for (size_t i = 0; i < n_function_words; i++) {
        ASSERT_TRUE(function_words_usage(&function_words[i], 0) != NULL);
        ASSERT_TRUE(function_words_find(function_words[i].name, strlen(function_words[i].name)) ==
                    &function_words[i]);
    }
}

UTEST_MAIN()
