/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The signs that identify the task of a request:
 *
 *	its cgroup, or the nearest group above it with a sign
 *	  else the place of its first sector
 *	    else its level of the real-time I/O class
 *	      else none: best effort
 *
 * Nothing here allocates or sleeps. crates/mapping implements the same rule in Rust, and
 * tests/kernel checks that both find the same task.
 */
#ifndef TG_SIGNS_H
#define TG_SIGNS_H

#include "heap.h"

#define TG_LEVELS 8		/* number of levels of the real-time I/O class */
#define TG_NO_LEVEL TG_LEVELS
#define TG_NO_TASK (~0u)
#define TG_SIGNS 64		/* largest number of signs of each kind */
#define TG_PATH_MAX 224		/* size of a cgroup's path, including the terminating 0 */

struct tg_group {
	char path[TG_PATH_MAX];
	u32 length, task;
};

/* A range of the disk, in sectors. */
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

/* Each function adds a sign; it returns the fault of the sign, or NULL. */
const char *tg_signs_add_level(struct tg_signs *signs, u32 level, u32 task);
const char *tg_signs_add_group(struct tg_signs *signs, const char *path, u32 task);
const char *tg_signs_add_place(struct tg_signs *signs, u64 first, u64 count, u32 task);

/* Returns whether a task has a sign. */
bool tg_signs_have(const struct tg_signs *signs, u32 task);

/* Returns the task of the cgroup with this path, or TG_NO_TASK. O(groups * length). */
u32 tg_signs_group(const struct tg_signs *signs, const char *path);

/*
 * Returns the task of a request, or TG_NO_TASK. `of_group` is the task of the request's
 * cgroup. O(log places). A level of TG_LEVELS or more counts as none.
 */
u32 tg_signs_task(const struct tg_signs *signs, u32 of_group, u64 sector, u32 level);

#endif
