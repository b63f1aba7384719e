// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the task to which a bio belongs: by its cgroup, its place, or its I/O priority.
 *
 * The cgroup is that of the process that submits the bio. The device mapper gives a target a copy
 * of the bio without the original's cgroup (alloc_tio in drivers/md/dm.c passes no device to
 * bio_alloc_clone), so bio_set_dev takes the cgroup of the current process. A bio that a kernel
 * thread submits for a process, such as writeback, is in the root cgroup.
 *
 * A group is identified by its path, so a service that is stopped and started again keeps its
 * contract, although its group is a new one. The path of a group is compared once; then the
 * group's number, which no later group gets, is cached with the group's task.
 */
#include "line.h"

#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>
#include <linux/hash.h>
#include <linux/sched.h>

#ifdef CONFIG_BLK_CGROUP

/*
 * The size exceeds that of every path in a line, so that a truncated path cannot match one by
 * mistake.
 */
#define BUFFER 256

static noinline u32 task_of_path(const struct tg_signs *signs, struct cgroup *group)
{
	char path[BUFFER] = "";

	BUILD_BUG_ON(BUFFER <= TG_PATH_MAX);
	cgroup_path(group, path, sizeof(path));
	return tg_signs_group(signs, path);
}

/*
 * An entry contains a group's number, shifted, and the group's task + 1 in the lowest bits.
 * Entries are independent of each other, so they need no lock.
 */
#define TASK_BITS 7

static u32 task_of_group(struct tg_line *line, struct bio *bio)
{
	struct cgroup_subsys_state *css = bio_blkcg_css(bio);
	atomic64_t *entry;
	u64 number, known;
	u32 task;

	BUILD_BUG_ON(TG_TASKS + 1 >= 1 << TASK_BITS);
	if (!css)
		return TG_NO_TASK;
	number = cgroup_id(css->cgroup);
	entry = &line->known[hash_64(number, TG_KNOWN_BITS)];
	known = atomic64_read(entry);
	if (known && known >> TASK_BITS == number)
		return (u32)(known & ((1 << TASK_BITS) - 1)) - 1;
	task = task_of_path(&line->signs, css->cgroup);
	/* For TG_NO_TASK, task + 1 is 0. */
	if (number < 1ull << (64 - TASK_BITS))
		atomic64_set(entry, number << TASK_BITS | (task + 1));
	return task;
}

#else

static u32 task_of_group(struct tg_line *line, struct bio *bio)
{
	return TG_NO_TASK;
}

#endif

/*
 * Returns the level of a bio in the real-time class. Before 6.8, a bio can arrive here without a
 * priority; it then gets the priority of the current process. A kernel thread submits for other
 * processes, so its own priority says nothing about the bio.
 */
static u32 level_of(const struct bio *bio)
{
	u16 priority = bio->bi_ioprio;

	if (IOPRIO_PRIO_CLASS(priority) == IOPRIO_CLASS_NONE)
		priority = current->flags & PF_KTHREAD ? 0 : get_current_ioprio();
	if (IOPRIO_PRIO_CLASS(priority) != IOPRIO_CLASS_RT)
		return TG_NO_LEVEL;
	return IOPRIO_PRIO_DATA(priority) % TG_LEVELS;
}

u32 tg_line_owner(struct tg_line *line, struct bio *bio, u64 sector)
{
	u32 of_group = line->signs.group_count ? task_of_group(line, bio) : TG_NO_TASK;

	return tg_signs_task(&line->signs, of_group, sector, level_of(bio));
}
