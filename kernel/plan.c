// SPDX-License-Identifier: GPL-2.0-only
/* Checks the assumptions of the policies about a plan. It proves nothing. */
#include "policies.h"

static bool is_rising(const struct tg_table *table)
{
	u32 i;

	for (i = 0; i < table->count; i++)
		if (!table->ns[i] || table->ns[i] >= TG_TIME_MAX ||
		    (i && table->ns[i] < table->ns[i - 1]))
			return false;
	return true;
}

static bool is_duration(u64 ns)
{
	return ns && ns < TG_TIME_MAX;
}

static const char *task_fault(const struct tg_plan *plan)
{
	u64 requests = 0;
	u32 i;

	for (i = 0; i < plan->task_count; i++) {
		const struct tg_task *task = &plan->tasks[i];

		if (!is_duration(task->period) || !is_duration(task->deadline))
			return "a task needs a period and a deadline, in ns";
		if (!task->requests)
			return "a job of a task has at least one request";
		requests += task->requests;
	}
	return requests == plan->unit_count ? NULL : "there is not one unit for each request";
}

static const char *limit_fault(const struct tg_plan *plan)
{
	if (!plan->depth)
		return "the device must accept at least one request";
	if (!plan->batch_max || plan->batch_max > plan->depth)
		return "a batch has 1 to depth requests";
	if (plan->fill > plan->batch_max)
		return "best effort fills a batch up to its largest size at most";
	if (plan->best_effort_depth > plan->depth)
		return "best effort cannot have more places than the device";
	return NULL;
}

static const char *table_fault(const struct tg_plan *plan)
{
	if (!is_rising(&plan->batch) || !is_rising(&plan->drain))
		return "a table has times in ns, none shorter than the one before";
	if (plan->policy == TG_DQF && plan->batch.count < plan->batch_max)
		return "dqf needs the time of each batch that it may send";
	if ((plan->policy == TG_ADAPTIVE_DRAIN || plan->policy == TG_GATED_DRAIN) &&
	    !plan->drain.count)
		return "a drain policy needs drain times";
	return NULL;
}

const char *tg_plan_fault(const struct tg_plan *plan)
{
	const char *fault;

	if ((u32)plan->policy >= TG_POLICIES || (u32)plan->order >= TG_ORDERS)
		return "unknown policy or order of best effort";
	fault = limit_fault(plan);
	if (!fault)
		fault = table_fault(plan);
	return fault ? fault : task_fault(plan);
}

/* Returns the shortest relative deadline of all tasks. */
static u64 shortest_deadline(const struct tg_plan *plan)
{
	u64 shortest = TG_NEVER;
	u32 i;

	for (i = 0; i < plan->task_count; i++)
		shortest = tg_min(shortest, plan->tasks[i].deadline);
	return shortest;
}

/* Returns the number of units that gated-drain uses. */
static u32 unit_count(const struct tg_plan *plan)
{
	u32 count = 0, i;

	for (i = 0; i < plan->task_count; i++)
		count += tg_min(plan->tasks[i].requests, plan->depth);
	return count;
}

/* Returns whether drain(before) + drain(after) keeps every deadline. */
static bool fits(const struct tg_plan *plan, u32 before, u32 after)
{
	u32 most = tg_min(plan->depth, plan->drain.count);

	return before <= most && after <= most &&
	       plan->drain.ns[before - 1] + (after ? plan->drain.ns[after - 1] : 0) <=
		       shortest_deadline(plan);
}

bool tg_serves_best_effort(const struct tg_plan *plan)
{
	switch (plan->policy) {
	case TG_DQF:
		return plan->fill;
	case TG_RTIO_LIMIT:
		return plan->best_effort_depth;
	case TG_ADAPTIVE_DRAIN:
		return plan->best_effort_depth &&
		       (!plan->task_count || fits(plan, 2, 0) || fits(plan, 1, 1));
	case TG_GATED_DRAIN:
		return plan->best_effort_depth &&
		       (!plan->task_count || fits(plan, 1, unit_count(plan)));
	case TG_POLICIES:
		break;
	}
	return false;
}
