/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A line of the device mapper's table: the proved plan, and the memory to which the plan
 * points.
 */
#ifndef TG_LINE_H
#define TG_LINE_H

#include <linux/atomic.h>
#include <linux/device-mapper.h>
#include <linux/ioprio.h>
#include <linux/kref.h>

#include "decide.h"
#include "signs.h"

#define TG_TASKS 64
#define TG_KNOWN_BITS 8		/* log2 of the number of cgroups whose task is cached */

struct tg_line {
	struct kref kref;
	char *text;		/* the text of the plan as it was written */
	struct tg_plan plan;
	u32 sectors;		/* size of the largest request for which the plan is proved */
	struct tg_signs signs;
	struct tg_task tasks[TG_TASKS];
	atomic64_t known[1 << TG_KNOWN_BITS];	/* owner.c: cache of cgroups and their tasks */
	u64 *batch, *drain;
	u32 seen;		/* the keys read so far, one bit each */
};

/* Reads the remaining arguments; on failure, returns an error and sets *reason. */
struct tg_line *tg_line_read(struct dm_arg_set *args, char **reason);

/* Reads the keys and checks the plan; on failure, returns false and sets *reason. */
bool tg_line_read_keys(struct tg_line *line, struct dm_arg_set *args, const char **reason);

struct tg_line *tg_line_get(struct tg_line *line);
void tg_line_put(struct tg_line *line);

/*
 * Returns the task to which a bio belongs, or TG_NO_TASK. `sector` counts from the disk's
 * start.
 */
u32 tg_line_owner(struct tg_line *line, struct bio *bio, u64 sector);

#endif
