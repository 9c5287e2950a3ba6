/* auth.c: see auth.h. */
#include "tools/serve/auth.h"

#include "tools/base/cmd.h"
#include "tools/base/file_out.h"
#include "tools/serve/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct token {
    char hash[SHA256_HEX];
    unsigned scopes;
};

struct auth {
    struct token *tokens;
    size_t n;
};

const char *auth_scope_name(enum auth_scope scope) {
    switch (scope) {
#define X(name, text, bit)                                                                         \
    case AUTH_##name: return text;
        AUTH_SCOPES(X)
#undef X
    default: return "";
    }
}

bool auth_random(char out[AUTH_TOKEN]) {
    uint8_t bytes[SHA256_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    sha256_hex(bytes, out);
    return true;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* 0: there is a word that is not a scope. */
static unsigned read_scopes(const char *words) {
    static const struct {
        const char *text;
        unsigned bit;
    } known[] = {
#define X(name, text, bit) {text, bit},
        AUTH_SCOPES(X)
#undef X
    };
    unsigned all = 0;
    while (*words) {
        size_t len = strcspn(words, ","), i = 0;
        while (i < sizeof known / sizeof *known &&
               (strlen(known[i].text) != len || strncmp(known[i].text, words, len) != 0))
            i++;
        if (i == sizeof known / sizeof *known) return 0;
        all |= known[i].bit;
        words += len + (words[len] == ',');
    }
    return all & AUTH_ADMIN ? AUTH_ALL : all;
}

static bool add(struct auth *a, const char *hash, unsigned scopes) {
    struct token *grown = realloc(a->tokens, (a->n + 1) * sizeof *grown);
    if (!grown) return false;
    a->tokens = grown;
    memset(&grown[a->n], 0, sizeof *grown);
    snprintf(grown[a->n].hash, sizeof grown[a->n].hash, "%s", hash);
    grown[a->n++].scopes = scopes;
    return true;
}

static void hash_of(const char *token, size_t len, char out[SHA256_HEX]) {
    uint8_t bytes[SHA256_BYTES];
    sha256(token, len, bytes);
    sha256_hex(bytes, out);
}

/* The file is for its owner alone. */
static int check_mode(const char *path, int fd) {
    struct stat about;
    if (fstat(fd, &about) != 0) return cmd_fail("%s: %s", path, strerror(errno));
    if (about.st_mode & 077) return cmd_fail("%s: others can read this file; `chmod 600` it", path);
    return CMD_OK;
}

/* For its owner alone, and whole or not at all: a server that is killed here can start again. */
static int make_own(const char *path, char token[AUTH_TOKEN]) {
    char line[AUTH_TOKEN + 1];
    if (!auth_random(token)) return cmd_fail("no random numbers: %s", strerror(errno));
    int len = snprintf(line, sizeof line, "%s\n", token);
    mode_t mask = umask(077);
    int status = file_out(path, line, (size_t)len);
    umask(mask);
    return status;
}

static int read_own(struct auth *a, const char *path) {
    char token[200] = "", hash[SHA256_HEX];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int status = CMD_OK;
    if (fd >= 0) {
        status = check_mode(path, fd);
        ssize_t n = read(fd, token, sizeof token - 1);
        token[n > 0 ? n : 0] = '\0';
        token[strcspn(token, " \r\n")] = '\0';
        close(fd);
        if (status == CMD_OK && strlen(token) < 16)
            status = cmd_fail("%s: a token has at least 16 characters; if there is no such file, a "
                              "new one is made",
                              path);
    } else {
        status = make_own(path, token);
    }
    if (status != CMD_OK) return status;
    hash_of(token, strlen(token), hash);
    return add(a, hash, AUTH_ALL) ? CMD_OK : cmd_no_memory();
}

static int read_tokens(struct auth *a, const char *path) {
    FILE *file = fopen(path, "re");
    char line[500], hash[100], scopes[100];
    int number = 0, status = CMD_OK;
    if (!file) return cmd_fail("%s: %s", path, strerror(errno));
    while (status == CMD_OK && fgets(line, sizeof line, file)) {
        number++;
        if (line[0] == '#' || line[strspn(line, " \t\r\n")] == '\0') continue;
        int n = sscanf(line, "%99s %99s", hash, scopes);
        unsigned all = n == 2 ? read_scopes(scopes) : 0;
        if (!all || strlen(hash) != SHA256_HEX - 1 ||
            strspn(hash, "0123456789abcdef") != SHA256_HEX - 1)
            status = cmd_fail("%s:%d: a line is HASH SCOPES NAME, as `mwlvm serve --new-token` "
                              "writes it",
                              path, number);
        else if (!add(a, hash, all))
            status = cmd_no_memory();
    }
    fclose(file);
    return status;
}

int auth_open(struct auth **out, const char *own, const char *tokens) {
    struct auth *a = calloc(1, sizeof *a);
    *out = a;
    if (!a) return cmd_no_memory();
    int status = own ? read_own(a, own) : CMD_OK;
    if (status == CMD_OK && tokens) status = read_tokens(a, tokens);
    return status;
}

void auth_free(struct auth *a) {
    if (!a) return;
    free(a->tokens);
    free(a);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Every token is compared, so that the time says nothing about them. */
unsigned auth_scopes(const struct auth *a, const char *authorization) {
    static const char bearer[] = "Bearer ";
    char hash[SHA256_HEX];
    unsigned scopes = AUTH_NONE;
    if (!authorization || strncmp(authorization, bearer, sizeof bearer - 1) != 0) return AUTH_NONE;
    authorization += sizeof bearer - 1;
    hash_of(authorization, strlen(authorization), hash);
    for (size_t i = 0; i < a->n; i++)
        if (sha256_same(a->tokens[i].hash, hash, SHA256_HEX)) scopes |= a->tokens[i].scopes;
    return scopes;
}

int auth_new_token(const char *tokens, const char *scopes) {
    char token[AUTH_TOKEN], hash[SHA256_HEX];
    if (!read_scopes(scopes))
        return cmd_usage("--new-token needs scopes (read, start, answer, work, admin), not '%s'",
                         scopes);
    if (!auth_random(token)) return cmd_fail("no random numbers: %s", strerror(errno));
    hash_of(token, strlen(token), hash);
    FILE *file = fopen(tokens, "ae");
    bool good = file && fprintf(file, "%s %s\n", hash, scopes) > 0;
    if (file && fclose(file) != 0) good = false;
    if (!good) return cmd_fail("%s: %s", tokens, strerror(errno));
    puts(token);
    return CMD_OK;
}

/* The numbers themselves are signed, not a way to write them, and the id with its length: no two
 * links have one text. */
void auth_sign(const char *secret, const char *run, uint64_t number, uint64_t until_s,
               char out[AUTH_MAC]) {
    uint8_t mac[SHA256_BYTES];
    char text[2000];
    int n = snprintf(text, sizeof text, "link %llu %llu %zu %s", (unsigned long long)number,
                     (unsigned long long)until_s, strlen(run), run);
    sha256_hmac(secret, strlen(secret), text, n < (int)sizeof text ? (size_t)n : sizeof text - 1,
                mac);
    sha256_hex(mac, out);
}
