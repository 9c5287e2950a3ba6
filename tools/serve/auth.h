/* auth.h: who may do what: tokens with scopes, and links that are signed.
 *
 * A token is 32 random bytes in hexadecimal digits. Files of tokens have hashes alone: a line is
 * the SHA-256 of the token, its scopes (with commas), and a name. The token that the server makes
 * for its owner is in its own file, which only the owner can read. */
#ifndef MWL_TOOLS_SERVE_AUTH_H
#define MWL_TOOLS_SERVE_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#define AUTH_SCOPES(X)                                                                             \
    X(READ, "read", 1)                                                                             \
    X(START, "start", 2)   /* start and cancel runs */                                             \
    X(ANSWER, "answer", 4) /* answer waits, make links */                                          \
    X(WORK, "work", 8)     /* take calls and settle them */                                        \
    X(ADMIN, "admin", 16)  /* everything; programs and snapshots */
enum auth_scope {
    AUTH_NONE = 0,
#define X(name, text, bit) AUTH_##name = (bit),
    AUTH_SCOPES(X)
#undef X
        AUTH_ALL = 31,
    AUTH_LINK = 32 /* no token: the path itself is signed */
};

struct auth;

/* own: the file of the server's own token, made if it does not exist. tokens: a file of hashes, or
 * NULL. CMD_OK, or a status with a message; *out is given in any case. */
int auth_open(struct auth **out, const char *own, const char *tokens);
void auth_free(struct auth *a); /* NULL is ignored */

/* The scopes of a header Authorization; AUTH_NONE: it is not a token that is known. */
unsigned auth_scopes(const struct auth *a, const char *authorization);
const char *auth_scope_name(enum auth_scope scope);

/* Adds a token with these scopes to a file of hashes, and prints the token. An exit status. */
int auth_new_token(const char *tokens, const char *scopes);

/* 32 random bytes as text. False: there are none. */
enum { AUTH_TOKEN = 65 };
bool auth_random(char out[AUTH_TOKEN]);

/* The signature of a link: it answers this wait until then. */
enum { AUTH_MAC = 65 };
void auth_sign(const char *secret, const char *run, uint64_t number, uint64_t until_s,
               char out[AUTH_MAC]);

#endif
