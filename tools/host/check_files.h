/* check_files.h: which files `mwlvm check` reads.
 *
 * A file that is named is read. In a folder, and in the folders below it, a file is read if its
 * name ends in .json and its "$schema" is that of a definition or a provider document of this
 * language. Names that begin with a dot are left out, and links to folders are not followed. Files
 * are sorted by name. */
#ifndef MWL_TOOLS_CHECK_FILES_H
#define MWL_TOOLS_CHECK_FILES_H

#include "assembler/source/source.h"
#include "tools/host/definition.h"

struct check_file {
    char *path;                /* malloc'd */
    struct file_text original; /* as it was read */
    mwl__buf text;             /* after repairs; empty: the original */
    mwl__source source;        /* of the present text */
    bool is_provider;          /* a document found in a folder */
};

struct check_files {
    struct check_file **items;
    size_t n_items, cap;
    size_t n_others; /* .json files of folders that are neither */
};

/* Each returns CMD_OK, or after a message the status of what could not be read; the other files are
 * still read. */
int check_files_add(struct check_files *f, struct definition *d, const char *path);
/* Gives the file another text, which is taken over. The file on the disk does not change. Returns
 * MWL_OK, E_NOMEM or E_TOO_BIG. */
mwl_status check_files_replace(struct check_file *file, mwl__buf *take_text);
void check_files_free(struct check_files *f, struct definition *d);

#endif
