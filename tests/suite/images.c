/* images.c: see images.h. */
#include "tests/suite/images.h"
#include "tests/suite/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *file_of(const char *dir, const char *name) {
    size_t size = strlen(name) + 1;
    char *flat = suite_alloc(size);
    snprintf(flat, size, "%s", name);
    for (char *p = flat; *p; p++)
        if (*p == '/') *p = '_';
    char *path = suite_path(dir, flat);
    free(flat);
    return path;
}

static bool write_file(const char *path, const void *image, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool good = fwrite(image, 1, size, file) == size;
    return fclose(file) == 0 && good;
}

const char *images_exchange(const char *dir, const char *name, const void *image, size_t size,
                            char **bytes) {
    char *path = file_of(dir, name);
    const char *wrong = NULL;
    size_t len = 0;
    if (!suite_exists(path) && !write_file(path, image, size)) wrong = "the file cannot be written";
    *bytes = wrong ? NULL : suite_read(path, &len);
    free(path);
    if (wrong) return wrong;
    if (!*bytes) return "the file of the other build cannot be read";
    if (len == size && memcmp(*bytes, image, size) == 0) return NULL;
    free(*bytes);
    *bytes = NULL;
    return "the other build made other bytes";
}
