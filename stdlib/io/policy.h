/* policy.h: the content of a policy, for policy.c and confine.c. */
#ifndef MWL_IO_POLICY_H
#define MWL_IO_POLICY_H

#include "mwl_io.h"

typedef struct mwl__grants {
    bool everything;
    char **entries; /* hosts in lower case; paths absolute and without "." and ".." */
    size_t n;
} mwl__grants;

struct mwl_io_policy {
    mwl__grants of[MWL_IO_N_RIGHTS];
    bool all; /* http reaches private addresses, too */
};

/* Writes the absolute form of a path to out: "." and ".." are removed by their text, links are not
 * looked at. A relative path begins at `folder`, or at the current folder if that is NULL. Returns
 * false if it is too long. */
bool mwl__path_absolute(const char *folder, const char *path, char *out, size_t cap);

/* Opens `path` below the folder `root`, a descriptor, by walking it: what is used where the kernel
 * has no openat2. Returns a descriptor or a negative errno. */
int mwl__confine_walk(int root, const char *path, int flags, unsigned mode);

#endif
