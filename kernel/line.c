// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a table line. Each key must occur once, `task` up to eight times:
 *
 *	policy dqf|rtio-limit|adaptive-drain|gated-drain
 *	order fifo|elevator		of best effort
 *	tokens 0|1			whether requests beyond a contract wait
 *	depth K  batch z  fill beta  best_effort q_b
 *	sectors N			the largest request that was proved
 *	times COUNT b(1) ..		ns
 *	drains COUNT drain(1) ..	ns; 0 if the policy needs none
 *	task LEVEL PERIOD DEADLINE REQUESTS	a task and its level of the real-time class; ns
 */
#include "line.h"

#include <linux/slab.h>

#define COUNT_MAX 4096u		/* of a table, and of all units */

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

static bool read_policy(struct tg_line *line, struct dm_arg_set *args)
{
	u32 policy;
	bool ok = read_name(args, policies, ARRAY_SIZE(policies), &policy);

	line->plan.policy = policy;
	return ok;
}

static bool read_order(struct tg_line *line, struct dm_arg_set *args)
{
	u32 order;
	bool ok = read_name(args, orders, ARRAY_SIZE(orders), &order);

	line->plan.order = order;
	return ok;
}

static bool read_tokens(struct tg_line *line, struct dm_arg_set *args)
{
	u32 tokens = 0;
	bool ok = read_u32(args, 1, &tokens);

	line->plan.has_tokens = tokens;
	return ok;
}

static bool read_depth(struct tg_line *line, struct dm_arg_set *args)
{
	return read_u32(args, COUNT_MAX, &line->plan.depth);
}

static bool read_batch(struct tg_line *line, struct dm_arg_set *args)
{
	return read_u32(args, COUNT_MAX, &line->plan.batch_max);
}

static bool read_fill(struct tg_line *line, struct dm_arg_set *args)
{
	return read_u32(args, COUNT_MAX, &line->plan.fill);
}

static bool read_best_effort(struct tg_line *line, struct dm_arg_set *args)
{
	return read_u32(args, COUNT_MAX, &line->plan.best_effort_depth);
}

static bool read_sectors(struct tg_line *line, struct dm_arg_set *args)
{
	return read_u32(args, UINT_MAX, &line->sectors) && line->sectors;
}

static bool read_times(struct tg_line *line, struct dm_arg_set *args)
{
	return read_table(args, &line->batch, &line->plan.batch);
}

static bool read_drains(struct tg_line *line, struct dm_arg_set *args)
{
	return read_table(args, &line->drain, &line->plan.drain);
}

static bool read_task(struct tg_line *line, struct dm_arg_set *args)
{
	struct tg_task *task = &line->tasks[line->plan.task_count];
	u32 level;

	if (!read_u32(args, TG_LEVELS - 1, &level) ||
	    line->task_of_level[level] != TG_NO_TASK ||
	    !read_u64(args, &task->period) || !read_u64(args, &task->deadline) ||
	    !read_u32(args, COUNT_MAX, &task->requests))
		return false;
	line->task_of_level[level] = line->plan.task_count++;
	line->plan.unit_count += task->requests;
	return true;
}

static const struct tg_key {
	const char *name;
	bool (*read)(struct tg_line *line, struct dm_arg_set *args);
	char *reason;
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
	/* Only the last key may occur more than once. */
	{ "task", read_task, "task LEVEL PERIOD DEADLINE REQUESTS, once a level 0 to 7, ns" },
};

#define LAST (ARRAY_SIZE(keys) - 1)

/* Reads a key with its values. */
static bool read_key(struct tg_line *line, struct dm_arg_set *args, char **reason)
{
	const char *name = dm_shift_arg(args);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(name, keys[i].name))
			break;
	*reason = "unknown key in the table line";
	if (i == ARRAY_SIZE(keys))
		return false;
	*reason = keys[i].reason;
	if (i != LAST && line->seen & BIT(i))
		return false;
	line->seen |= BIT(i);
	return keys[i].read(line, args);
}

/* Returns the reason of the first key that is missing, or NULL. */
static char *missing(const struct tg_line *line)
{
	u32 i;

	for (i = 0; i < LAST; i++)
		if (!(line->seen & BIT(i)))
			return keys[i].reason;
	return NULL;
}

static char *fault(const struct tg_line *line)
{
	char *reason = missing(line);

	if (!reason)
		reason = (char *)tg_plan_fault(&line->plan);
	if (!reason && !tg_serves_best_effort(&line->plan))
		reason = "best effort would never be served while all tasks pause";
	return reason;
}

/* Keeps the line as it was written. */
static char *join(const struct dm_arg_set *args)
{
	size_t size = 1, at = 0;
	unsigned int i;
	char *text;

	for (i = 0; i < args->argc; i++)
		size += strlen(args->argv[i]) + 1;
	text = kvmalloc(size, GFP_KERNEL);
	if (!text)
		return NULL;
	text[0] = 0;
	for (i = 0; i < args->argc; i++)
		at += scnprintf(text + at, size - at, i ? " %s" : "%s", args->argv[i]);
	return text;
}

static bool read_line(struct tg_line *line, struct dm_arg_set *args, char **reason)
{
	*reason = "out of memory";
	line->text = join(args);
	if (!line->text)
		return false;
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

struct tg_line *tg_line_read(struct dm_arg_set *args, char **reason)
{
	struct tg_line *line = kzalloc(sizeof(*line), GFP_KERNEL);

	*reason = "out of memory";
	if (!line)
		return ERR_PTR(-ENOMEM);
	kref_init(&line->kref);
	line->plan.tasks = line->tasks;
	memset(line->task_of_level, 0xff, sizeof(line->task_of_level));
	if (read_line(line, args, reason))
		return line;
	tg_line_put(line);
	return ERR_PTR(-EINVAL);
}

struct tg_line *tg_line_get(struct tg_line *line)
{
	kref_get(&line->kref);
	return line;
}

static void release(struct kref *kref)
{
	struct tg_line *line = container_of(kref, struct tg_line, kref);

	kvfree(line->text);
	kvfree(line->batch);
	kvfree(line->drain);
	kvfree(line->plan.units);
	kfree(line);
}

void tg_line_put(struct tg_line *line)
{
	if (line)
		kref_put(&line->kref, release);
}
