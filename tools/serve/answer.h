/* answer.h: the body of an answer: a stream into memory that has a limit, so that no request makes
 * the server write more than that, whatever is in the store. */
#ifndef MWL_TOOLS_SERVE_ANSWER_H
#define MWL_TOOLS_SERVE_ANSWER_H

#include <stdbool.h>
#include <stdio.h>

enum { ANSWER_MOST = 32 << 20 };

struct answer {
    char *data; /* malloc; there when the stream was closed */
    size_t len, cap;
    bool over; /* it would be longer than ANSWER_MOST, or memory ran out: `data` is not all of it */
};

/* NULL: out of memory. What is written behind the limit is dropped. rewind() takes back what was
 * written. `a` stays where it is until fclose(), and a->data is then the caller's. */
FILE *answer_open(struct answer *a);

#endif
