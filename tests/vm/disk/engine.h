/* SPDX-License-Identifier: GPL-2.0-only */
/* The mechanics with a lock and a timer, for the block driver and for the SCSI driver. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include <linux/blk-mq.h>

/* Starts an empty disk. It calls `complete` for each completed request, in interrupt context. */
int engine_start(void (*complete)(void *request));
void engine_stop(void);

/* Returns the disk's size in sectors. */
u64 engine_sectors(void);

/*
 * Gives the disk a request that will complete as `request`; returns false if the disk is
 * full.
 */
bool engine_add(void *request, struct request *rq);

#endif
