/* check_files.h: which files `mwlvm check` looks at.
 *
 * A file that is named is taken. Of a folder, and the folders in it, those files are taken whose
 * name ends in .json and whose text says by its "$schema" that it is a definition or a provider
 * document of this language; names that begin with a dot are left out, and links to folders are not
 * followed. The order is that of the names. */
#ifndef MWL_TOOLS_CHECK_FILES_H
#define MWL_TOOLS_CHECK_FILES_H

#include "assembler/source/source.h"

struct check_file {
    char *path; /* malloc'd, as text is */
    char *text;
    char *original; /* what was read, once the text is another; malloc'd, or NULL */
    size_t original_len;
    mwl__source source;
    bool is_provider; /* a document found in a folder */
};

struct check_files {
    struct check_file **items;
    size_t n_items, cap;
    size_t n_others; /* .json files of folders that are neither */
};

/* Each returns CMD_OK, or the status of what could not be read, with a message; the rest is taken
 * all the same. */
int check_files_add(struct check_files *f, const char *path, mwl_alloc alloc);
/* Gives the file another text (the path stays as it is on the disk). MWL_OK, E_NOMEM, E_TOO_BIG. */
mwl_status check_files_replace(struct check_file *file, const char *text, size_t len,
                               mwl_alloc alloc);
void check_files_free(struct check_files *f);

#endif
