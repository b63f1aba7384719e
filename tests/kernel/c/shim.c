// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's decisions for a program in another language, which holds pointers only. */
#include <stdlib.h>
#include <string.h>

#include "decide.h"

#define EXPORT __attribute__((visibility("default")))

struct shim_plan {
	u32 policy, order, has_tokens, depth, batch_max, fill, best_effort_depth;
	u32 batch_count, drain_count, task_count;
	const u64 *batch, *drain;
	const u64 *tasks;	/* of each: period, deadline, requests */
};

struct shim_request {
	u64 id, released, eligible, due, position;
	u32 task, class;
};

struct owned {
	struct tg_request request;
	u64 id;
};

struct bench {
	struct tg tg;
	struct tg_plan plan;
	u64 *batch, *drain;
};

static void *copy(const void *from, size_t count, size_t size)
{
	void *to = calloc(count + 1, size);

	if (!to)
		abort();
	if (from)
		memcpy(to, from, count * size);
	return to;
}

static void add_tasks(struct tg_plan *plan, const struct shim_plan *from)
{
	u32 i;

	plan->task_count = from->task_count;
	plan->tasks = copy(NULL, from->task_count, sizeof(*plan->tasks));
	for (i = 0; i < from->task_count; i++) {
		plan->tasks[i].period = from->tasks[3 * i];
		plan->tasks[i].deadline = from->tasks[3 * i + 1];
		plan->tasks[i].requests = from->tasks[3 * i + 2];
		plan->unit_count += plan->tasks[i].requests;
	}
	plan->units = copy(NULL, plan->unit_count, sizeof(*plan->units));
}

EXPORT void shim_free(struct bench *bench)
{
	free(bench->batch);
	free(bench->drain);
	free(bench->plan.tasks);
	free(bench->plan.units);
	free(bench);
}

/* Returns NULL, and the reason, if the plan is refused. */
EXPORT struct bench *shim_new(const struct shim_plan *from, const char **fault)
{
	struct bench *bench = copy(NULL, 0, sizeof(*bench));

	bench->batch = copy(from->batch, from->batch_count, sizeof(u64));
	bench->drain = copy(from->drain, from->drain_count, sizeof(u64));
	bench->plan = (struct tg_plan){
		.policy = from->policy,
		.order = from->order,
		.has_tokens = from->has_tokens,
		.depth = from->depth,
		.batch_max = from->batch_max,
		.fill = from->fill,
		.best_effort_depth = from->best_effort_depth,
		.batch = { bench->batch, from->batch_count },
		.drain = { bench->drain, from->drain_count },
	};
	add_tasks(&bench->plan, from);
	*fault = tg_plan_fault(&bench->plan);
	if (*fault) {
		shim_free(bench);
		return NULL;
	}
	tg_init(&bench->tg, &bench->plan);
	return bench;
}

EXPORT int shim_serves_best_effort(struct bench *bench)
{
	return tg_serves_best_effort(&bench->plan);
}

EXPORT struct owned *shim_insert(struct bench *bench, const struct shim_request *from, u64 now)
{
	struct owned *owned = copy(NULL, 0, sizeof(*owned));

	owned->id = from->id;
	owned->request = (struct tg_request){
		.class = from->class,
		.task = from->task,
		.released = from->released,
		.eligible = from->eligible,
		.due = from->due,
		.position = from->position,
	};
	tg_insert(&bench->tg, &owned->request, now);
	return owned;
}

/* Overwrites a request before it is freed, so that a use of it afterwards shows. */
static void forget(struct owned *owned)
{
	memset(owned, 0xa5, sizeof(*owned));
	free(owned);
}

EXPORT void shim_complete(struct bench *bench, struct owned *owned, u64 now)
{
	tg_complete(&bench->tg, &owned->request, now);
	forget(owned);
}

EXPORT int shim_cancel(struct bench *bench, struct owned *owned)
{
	if (!tg_cancel(&bench->tg, &owned->request))
		return 0;
	forget(owned);
	return 1;
}

/* Frees a request that is still held by a bench which is no longer used. */
EXPORT void shim_drop(struct owned *owned)
{
	forget(owned);
}

/* Returns enum tg_what; `value` is the request's id, or the instant. */
EXPORT u32 shim_decide(struct bench *bench, u64 now, u64 *value)
{
	struct tg_decision decision = tg_decide(&bench->tg, now);

	*value = decision.at;
	if (decision.what == TG_SEND)
		*value = ((struct owned *)decision.request)->id;
	return decision.what;
}
