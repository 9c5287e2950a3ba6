/* permissions.h: what the command's providers may touch: the options, what a program asks for, and
 * the answer before it runs.
 *
 * In a build without stdlib/io there are no such options, and nothing is asked for. */
#ifndef MWL_TOOLS_PERMISSIONS_H
#define MWL_TOOLS_PERMISSIONS_H

#include "tools/base/options.h"

#include "mwl.h"

struct mwl_io_policy;

/* Collected from options; all zero is valid. Free in any case. */
struct permissions {
    struct mwl_io_policy *policy; /* NULL before the first option */
};
void permissions_free(struct permissions *p);

/* --allow-http and so on; the base is a struct permissions. */
extern const struct option permission_options[];
extern const size_t n_permission_options;

/* Looks at what the definition asks for before it runs; providers that are bound to something else
 * (--bind) are left out. Prints the flags that are missing and
 * returns CMD_USAGE; CMD_OK if everything is allowed that can be known. */
struct binds;
int permissions_check(const struct permissions *p, const char *path, const mwl_program *program,
                      const struct binds *binds);

/* Prints what a definition (JSON text) asks for on standard output, a flag on each line. CMD_OK or
 * a status with a message. */
int permissions_list(const char *path, const char *text, size_t len);

#endif
