/* ASCII characters: as the C locale has them, and nothing beyond. */
#include "vm/base/ascii.h"
#include "utest.h"

#include <ctype.h>

UTEST(ascii, as_in_the_c_locale) {
    for (int c = 0; c < 256; c++) {
        bool ascii = c < 128;
        ASSERT_EQ(mwl__is_digit(c), ascii && isdigit(c) != 0);
        ASSERT_EQ(mwl__is_upper(c), ascii && isupper(c) != 0);
        ASSERT_EQ(mwl__is_lower(c), ascii && islower(c) != 0);
        ASSERT_EQ(mwl__is_letter(c), ascii && isalpha(c) != 0);
        ASSERT_EQ(mwl__is_alnum(c), ascii && isalnum(c) != 0);
        ASSERT_EQ(mwl__is_hex(c), ascii && isxdigit(c) != 0);
        ASSERT_EQ(mwl__to_lower((char)c), ascii ? (char)tolower(c) : (char)c);
    }
}

/* A char beyond ASCII may be negative; a code point may have the low bits of a letter. */
UTEST(ascii, nothing_beyond) {
    static const int64_t beyond[] = {-1,        -128,       -80,
                                     '0' + 256, 'a' + 256,  'A' + 0x10000,
                                     0x660,     UINT32_MAX, 'f' + (INT64_C(1) << 32)};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        EXPECT_FALSE(mwl__is_alnum(beyond[i]));
        EXPECT_FALSE(mwl__is_hex(beyond[i]));
    }
}

UTEST(ascii, hex_values) {
    const char *digits = "0123456789abcdef", *capitals = "0123456789ABCDEF";
    for (int i = 0; i < 16; i++) {
        EXPECT_EQ(mwl__hex_value(digits[i]), i);
        EXPECT_EQ(mwl__hex_value(capitals[i]), i);
    }
    EXPECT_EQ(mwl__hex_value('g'), -1);
    EXPECT_EQ(mwl__hex_value('/'), -1);
}

UTEST_MAIN()
