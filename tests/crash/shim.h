/* shim.h: a file system for SQLite that ends at a chosen operation, or fails there.
 *
 * Operations that change files are counted: write, sync, truncate, delete; for SHIM_READ those that
 * read. Power loss is made with
 * an undo log: what was written to a file since its last sync is dropped, kept, or torn by sectors
 * of 512 bytes. */
#ifndef CRASH_SHIM_H
#define CRASH_SHIM_H

#include <stdint.h>

enum shim_mode {
    SHIM_COUNT,   /* only counts */
    SHIM_EXIT,    /* the process ends: what was written is in the page cache and stays */
    SHIM_DROPPED, /* power is lost: what was not synced is lost, */
    SHIM_KEPT,    /* is there by luck, */
    SHIM_TORN,    /* or is there in parts */
    SHIM_FULL,    /* the disk is full for some operations */
    SHIM_ERROR,   /* the operation fails with an I/O error */
    SHIM_READ     /* the same for a read, and for memory that is shared by processes */
};

/* Becomes the default file system. */
void shim_install(enum shim_mode mode, uint64_t at, uint64_t seed);
uint64_t shim_count(void);

#endif
