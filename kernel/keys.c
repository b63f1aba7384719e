// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a table line. Each key must occur exactly once, except that `task`, `cgroup` and `place`
 * can occur up to 64 times each:
 *
 *	policy dqf|rtio-limit|adaptive-drain|gated-drain
 *	order fifo|elevator		of best effort
 *	tokens 0|1			whether requests beyond a contract wait
 *	depth K  batch z  fill beta  best_effort q_b
 *	sectors N			the largest request that was proved
 *	times COUNT b(1) ..		ns
 *	drains COUNT drain(1) ..	ns; 0 if the policy needs none
 *	task LEVEL PERIOD DEADLINE REQUESTS	a task and its level of the real-time class; ns
 *	task - PERIOD DEADLINE REQUESTS		one without a level
 *	cgroup TASK PATH		the task's cgroup; TASK counts the tasks above from 0
 *	place TASK FIRST COUNT		sectors of the disk
 */
#include "line.h"

#include <linux/slab.h>

#define COUNT_MAX 4096u		/* largest number of times in a table, and of units in total */

static const char *const policies[] = {
	[TG_DQF] = "dqf",
	[TG_RTIO_LIMIT] = "rtio-limit",
	[TG_ADAPTIVE_DRAIN] = "adaptive-drain",
	[TG_GATED_DRAIN] = "gated-drain",
};

static const char *const orders[] = {
	[TG_FIFO] = "fifo",
	[TG_ELEVATOR] = "elevator",
};

static bool read_u32(struct dm_arg_set *args, u32 max, u32 *value)
{
	const char *text = dm_shift_arg(args);

	return text && !kstrtou32(text, 10, value) && *value <= max;
}

static bool read_u64(struct dm_arg_set *args, u64 *value)
{
	const char *text = dm_shift_arg(args);

	return text && !kstrtou64(text, 10, value);
}

static bool read_name(struct dm_arg_set *args, const char *const *names, u32 count, u32 *value)
{
	const char *text = dm_shift_arg(args);

	for (*value = 0; text && *value < count; ++*value)
		if (!strcmp(text, names[*value]))
			return true;
	return false;
}

static bool read_table(struct dm_arg_set *args, u64 **ns, struct tg_table *table)
{
	u32 i;

	if (!read_u32(args, COUNT_MAX, &table->count))
		return false;
	*ns = kvcalloc(table->count + 1, sizeof(**ns), GFP_KERNEL);
	if (!*ns)
		return false;
	table->ns = *ns;
	for (i = 0; i < table->count; i++)
		if (!read_u64(args, *ns + i))
			return false;
	return true;
}

static bool read_policy(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	u32 policy;
	bool ok = read_name(args, policies, ARRAY_SIZE(policies), &policy);

	line->plan.policy = policy;
	return ok;
}

static bool read_order(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	u32 order;
	bool ok = read_name(args, orders, ARRAY_SIZE(orders), &order);

	line->plan.order = order;
	return ok;
}

static bool read_tokens(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	u32 tokens = 0;
	bool ok = read_u32(args, 1, &tokens);

	line->plan.has_tokens = tokens;
	return ok;
}

static bool read_depth(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	return read_u32(args, COUNT_MAX, &line->plan.depth);
}

static bool read_batch(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	return read_u32(args, COUNT_MAX, &line->plan.batch_max);
}

static bool read_fill(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	return read_u32(args, COUNT_MAX, &line->plan.fill);
}

static bool read_best_effort(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	return read_u32(args, COUNT_MAX, &line->plan.best_effort_depth);
}

static bool read_sectors(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	return read_u32(args, UINT_MAX, &line->sectors) && line->sectors;
}

static bool read_times(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	return read_table(args, &line->batch, &line->plan.batch);
}

static bool read_drains(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	return read_table(args, &line->drain, &line->plan.drain);
}

static bool read_level(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	const char *text = dm_shift_arg(args);
	u32 level;

	if (!text)
		return false;
	if (!strcmp(text, "-"))
		return true;
	if (kstrtou32(text, 10, &level))
		return false;
	*fault = tg_signs_add_level(&line->signs, level, line->plan.task_count);
	return !*fault;
}

static bool read_task(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	struct tg_task *task = &line->tasks[line->plan.task_count];

	if (line->plan.task_count == TG_TASKS || !read_level(line, args, fault) ||
	    !read_u64(args, &task->period) || !read_u64(args, &task->deadline) ||
	    !read_u32(args, COUNT_MAX, &task->requests))
		return false;
	line->plan.task_count++;
	line->plan.unit_count += task->requests;
	return true;
}

/* Reads the index of a task that already occurred in the line. */
static bool read_index(struct tg_line *line, struct dm_arg_set *args, u32 *task)
{
	return read_u32(args, TG_TASKS, task) && *task < line->plan.task_count;
}

static bool read_cgroup(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	const char *path;
	u32 task;

	if (!read_index(line, args, &task))
		return false;
	path = dm_shift_arg(args);
	if (!path)
		return false;
	*fault = tg_signs_add_group(&line->signs, path, task);
	return !*fault;
}

static bool read_place(struct tg_line *line, struct dm_arg_set *args, const char **fault)
{
	u64 first, count;
	u32 task;

	if (!read_index(line, args, &task) || !read_u64(args, &first) || !read_u64(args, &count))
		return false;
	*fault = tg_signs_add_place(&line->signs, first, count, task);
	return !*fault;
}

static const struct tg_key {
	const char *name;
	/*
	 * Returns false for a wrong value; sets *fault if `reason` does not describe the
	 * fault.
	 */
	bool (*read)(struct tg_line *line, struct dm_arg_set *args, const char **fault);
	const char *reason;
} keys[] = {
	{ "policy", read_policy, "policy dqf|rtio-limit|adaptive-drain|gated-drain, once" },
	{ "order", read_order, "order fifo|elevator, once" },
	{ "tokens", read_tokens, "tokens 0|1, once" },
	{ "depth", read_depth, "depth K, once, at most 4096" },
	{ "batch", read_batch, "batch z, once, at most 4096" },
	{ "fill", read_fill, "fill beta, once, at most 4096" },
	{ "best_effort", read_best_effort, "best_effort q, once, at most 4096" },
	{ "sectors", read_sectors, "sectors N, once, at least 1" },
	{ "times", read_times, "times COUNT b(1) .., once, in ns, COUNT at most 4096" },
	{ "drains", read_drains, "drains COUNT drain(1) .., once, in ns, COUNT at most 4096" },
	/* These keys can occur more than once, or not at all. */
	{ "task", read_task, "task LEVEL|- PERIOD DEADLINE REQUESTS, at most 64 times, in ns" },
	{ "cgroup", read_cgroup, "cgroup TASK PATH, after the task" },
	{ "place", read_place, "place TASK FIRST COUNT, after the task, in sectors" },
};

#define ONCE (ARRAY_SIZE(keys) - 3)	/* the keys that occur exactly once come first */

/* Reads a key and its values. */
static bool read_key(struct tg_line *line, struct dm_arg_set *args, const char **reason)
{
	const char *name = dm_shift_arg(args), *fault = NULL;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(name, keys[i].name))
			break;
	*reason = "unknown key in the table line";
	if (i == ARRAY_SIZE(keys))
		return false;
	*reason = keys[i].reason;
	if (i < ONCE && line->seen & BIT(i))
		return false;
	line->seen |= BIT(i);
	if (keys[i].read(line, args, &fault))
		return true;
	if (fault)
		*reason = fault;
	return false;
}

/* Returns the description of the first key that is missing, or NULL. */
static const char *missing(const struct tg_line *line)
{
	u32 i;

	for (i = 0; i < ONCE; i++)
		if (!(line->seen & BIT(i)))
			return keys[i].reason;
	return NULL;
}

static const char *fault(const struct tg_line *line)
{
	const char *reason = missing(line);
	u32 task;

	if (!reason)
		reason = tg_plan_fault(&line->plan);
	if (!reason && !tg_serves_best_effort(&line->plan))
		reason = "best effort would never be served while all tasks pause";
	for (task = 0; !reason && task < line->plan.task_count; task++)
		if (!tg_signs_have(&line->signs, task))
			reason = "a task needs a level, a cgroup or a place";
	return reason;
}

bool tg_line_read_keys(struct tg_line *line, struct dm_arg_set *args, const char **reason)
{
	while (args->argc)
		if (!read_key(line, args, reason))
			return false;
	*reason = "the tasks have more than 4096 requests";
	if (line->plan.unit_count > COUNT_MAX)
		return false;
	*reason = "out of memory";
	line->plan.units = kvcalloc(line->plan.unit_count + 1, sizeof(*line->plan.units),
				    GFP_KERNEL);
	if (!line->plan.units)
		return false;
	*reason = fault(line);
	return !*reason;
}
