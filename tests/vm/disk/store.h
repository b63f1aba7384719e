/* SPDX-License-Identifier: GPL-2.0-only */
/* The data of a disk that keeps it: the pages that are not all zeros, in memory. */
#ifndef BENCH_STORE_H
#define BENCH_STORE_H

#include <linux/scatterlist.h>
#include <linux/types.h>

/*
 * Copies the data of a request from or to the disk; returns 0, or an error if out of
 * memory.
 */
int store_copy(struct scatterlist *list, unsigned int entries, u64 sector, bool writes);
void store_free(void);

#endif
