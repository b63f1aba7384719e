/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signs by which the task of a request is found:
 *
 *	its cgroup, or the nearest group above it with a sign
 *	  else the place of its first sector
 *	    else its level of the real-time I/O class
 *	      else none: best effort
 *
 * Nothing here allocates or sleeps. crates/mapping has the same rule in Rust, and tests/kernel
 * checks that both find the same task.
 */
#ifndef TG_SIGNS_H
#define TG_SIGNS_H

#include "heap.h"

#define TG_LEVELS 8		/* of the real-time I/O class */
#define TG_NO_LEVEL TG_LEVELS
#define TG_NO_TASK (~0u)
#define TG_SIGNS 64		/* the largest number of signs of each kind */
#define TG_PATH_MAX 224		/* of a cgroup, with its terminating 0 */

struct tg_group {
	char path[TG_PATH_MAX];
	u32 length, task;
};

/* Sectors of the disk. */
struct tg_place {
	u64 first, count;
	u32 task;
};

struct tg_signs {
	u32 task_of_level[TG_LEVELS];
	u32 group_count, place_count;
	struct tg_group groups[TG_SIGNS];
	struct tg_place places[TG_SIGNS];	/* by rising sector, without overlaps */
};

void tg_signs_init(struct tg_signs *signs);

/* Each adds a sign; returns what is wrong with it, or NULL. */
const char *tg_signs_add_level(struct tg_signs *signs, u32 level, u32 task);
const char *tg_signs_add_group(struct tg_signs *signs, const char *path, u32 task);
const char *tg_signs_add_place(struct tg_signs *signs, u64 first, u64 count, u32 task);

/* Whether a task has a sign. */
bool tg_signs_have(const struct tg_signs *signs, u32 task);

/* The task of a cgroup with this path, or TG_NO_TASK. O(groups * length). */
u32 tg_signs_group(const struct tg_signs *signs, const char *path);

/*
 * The task of a request, or TG_NO_TASK. `of_group` is the task of its cgroup. O(log places).
 * A level of TG_LEVELS or more counts as none.
 */
u32 tg_signs_task(const struct tg_signs *signs, u32 of_group, u64 sector, u32 level);

#endif
