/* pictures.c: see pictures.h. */
#include "tools/serve/pictures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 8, LONGEST = 4 << 20 };

struct picture {
    uint8_t id[16];
    char *name, *text; /* NULL: nothing is here */
    size_t len;
    uint64_t used; /* when it was asked for last */
};

struct pictures {
    pthread_mutex_t lock;
    struct picture kept[KEPT];
    uint64_t now;
};

struct pictures *pictures_new(void) {
    struct pictures *p = calloc(1, sizeof *p);
    if (p) pthread_mutex_init(&p->lock, NULL);
    return p;
}

static void drop(struct picture *one) {
    free(one->name);
    free(one->text);
    memset(one, 0, sizeof *one);
}

void pictures_free(struct pictures *p) {
    if (!p) return;
    for (size_t i = 0; i < KEPT; i++) drop(&p->kept[i]);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static struct picture *find(struct pictures *p, const uint8_t id[16], const char *name) {
    for (size_t i = 0; i < KEPT; i++) {
        struct picture *one = &p->kept[i];
        if (one->text && memcmp(one->id, id, 16) == 0 && strcmp(one->name, name) == 0) return one;
    }
    return NULL;
}

bool pictures_put(struct pictures *p, const uint8_t id[16], const char *name, FILE *to) {
    pthread_mutex_lock(&p->lock);
    struct picture *one = find(p, id, name);
    if (one) {
        one->used = ++p->now;
        fwrite(one->text, 1, one->len, to);
    }
    pthread_mutex_unlock(&p->lock);
    return one != NULL;
}

void pictures_keep(struct pictures *p, const uint8_t id[16], const char *name, const char *text,
                   size_t len) {
    struct picture made = {.name = strdup(name), .text = malloc(len + 1), .len = len};
    if (len > LONGEST || !made.name || !made.text) {
        drop(&made);
        return;
    }
    memcpy(made.id, id, 16);
    memcpy(made.text, text, len);
    pthread_mutex_lock(&p->lock);
    struct picture *out = find(p, id, name); /* another thread may have drawn it meanwhile */
    if (!out) {
        out = &p->kept[0];
        for (size_t i = 1; i < KEPT; i++)
            if (p->kept[i].used < out->used) out = &p->kept[i];
    }
    drop(out);
    *out = made;
    out->used = ++p->now;
    pthread_mutex_unlock(&p->lock);
}
