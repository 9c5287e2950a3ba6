/* The engine's constant strings behave like any string with the same text. */
#include "utest.h"
#include "vm/value/words.h"

UTEST(words, are_the_strings_of_their_texts) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    for (mwl__word w = 0; w < MWL_WORD_COUNT; w++) {
        mwl_value word = mwl__word_value(w);
        size_t len;
        const char *text = mwl_as_text(word, &len);
        mwl_value same = mwl_string(h, text, strlen(text));
        EXPECT_EQ(len, strlen(text));
        EXPECT_EQ(word.aux, same.aux);
        EXPECT_EQ(mwl__as_str(word)->hash, mwl__as_str(same)->hash);
        EXPECT_EQ(mwl__as_str(word)->n_cp, mwl__as_str(same)->n_cp);
        EXPECT_TRUE(mwl_value_equal(word, same));
        EXPECT_TRUE(mwl__word_is(same, w));
        mwl_value_drop(h, mwl_value_keep(word)); /* no count is kept */
        mwl_value_drop(h, same);
    }
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(words, an_object_of_words_is_an_object) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    const mwl_value values[] = {mwl__word_value(MWL_WORD_ERROR), mwl_string(h, "A.B", 3)};
    mwl_value o = mwl__words_object(h, MWL_SHAPE_FAILURE, 2, values);
    mwl_value same = mwl_object(h, 0);
    same = mwl_object_set(h, same, "code", 4, mwl_string(h, "A.B", 3));
    same = mwl_object_set(h, same, "type", 4, mwl_string(h, "error", 5));
    EXPECT_TRUE(mwl_value_equal(o, same));
    EXPECT_EQ(mwl_value_weight(o), mwl_value_weight(same));
    EXPECT_TRUE(mwl_value_equal(mwl__word_get(o, MWL_WORD_CODE), mwl_get(same, "code")));
    EXPECT_TRUE(mwl_is_absent(mwl__word_get(o, MWL_WORD_MESSAGE)));
    EXPECT_TRUE(mwl_is_absent(mwl__word_get(mwl_null(), MWL_WORD_TYPE)));
    o = mwl_object_set(h, o, "more", 4, mwl_null()); /* beyond its room */
    EXPECT_EQ(mwl_count(o), (size_t)3);
    mwl_value_drop(h, o);
    mwl_value_drop(h, same);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(words, an_absent_value_leaves_nothing_behind) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    const mwl_value values[] = {mwl_string(h, "longer than a word", 18), mwl_absent()};
    EXPECT_TRUE(mwl_is_absent(mwl__words_object(h, MWL_SHAPE_FAILURE, 2, values)));
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST_MAIN()
