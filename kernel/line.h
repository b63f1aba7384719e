/* SPDX-License-Identifier: GPL-2.0-only */
/* A line of the device mapper's table: the proved plan, and the memory that the plan points to. */
#ifndef TG_LINE_H
#define TG_LINE_H

#include <linux/device-mapper.h>
#include <linux/ioprio.h>
#include <linux/kref.h>

#include "decide.h"

#define TG_LEVELS 8		/* of the real-time I/O class */
#define TG_NO_TASK (~0u)

struct tg_line {
	struct kref kref;
	char *text;		/* the plan as it was written */
	struct tg_plan plan;
	u32 sectors;		/* of the largest request that was proved */
	u32 task_of_level[TG_LEVELS];
	struct tg_task tasks[TG_LEVELS];
	u64 *batch, *drain;
	u32 seen;		/* the keys read so far, one bit each */
};

/* Reads the rest of the arguments; on failure returns an error and sets *reason. */
struct tg_line *tg_line_read(struct dm_arg_set *args, char **reason);

struct tg_line *tg_line_get(struct tg_line *line);
void tg_line_put(struct tg_line *line);

#endif
