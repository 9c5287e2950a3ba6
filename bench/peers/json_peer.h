/* json_peer.h: how the JSON peers measure: processor time per document, the median of SAMPLES. C
 * and C++. */
#ifndef JSON_PEER_H
#define JSON_PEER_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PEER_SAMPLES = 7 };

static double peer_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int peer_order(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Reads a file, or ends the program. */
static char *peer_read(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size > 0 ? (char *)malloc((size_t)size + 64) : NULL;
    if (file) rewind(file);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    *len = (size_t)size;
    return text;
}

/* Runs the work, which returns 0 if it failed, and prints a line. */
static void peer_measure(const char *peer, const char *name, size_t (*work)(const char *, size_t),
                         const char *text, size_t len) {
    double took[PEER_SAMPLES];
    if (work(text, len) == 0) {
        fprintf(stderr, "%s: %s: wrong\n", peer, name);
        exit(1);
    }
    for (int i = 0; i < PEER_SAMPLES; i++) {
        double start = peer_now();
        (void)work(text, len);
        took[i] = peer_now() - start;
    }
    qsort(took, PEER_SAMPLES, sizeof *took, peer_order);
    printf("{\"suite\":\"json\",\"peer\":\"%s\",\"case\":\"%s\",\"unit\":\"ns/op\",\"median\":%.0f,"
           "\"min\":%.0f,\"max\":%.0f,\"n\":%d}\n",
           peer, name, took[PEER_SAMPLES / 2], took[0], took[PEER_SAMPLES - 1], PEER_SAMPLES);
}

#endif
