/* cel_words.h: names that people bring from other languages (mwl__word_find). */
#ifndef MWL_CEL_WORDS_H
#define MWL_CEL_WORDS_H

extern const char mwl__cel_function_words[]; /* of functions and macros */
extern const char mwl__cel_name_words[];     /* of data; a name is a root, perhaps with members */

#endif
