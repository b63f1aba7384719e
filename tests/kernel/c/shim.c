// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's decisions, for a program in another language that uses them only through
 * pointers.
 */
#include <stdlib.h>
#include <string.h>

#include "decide.h"
#include "signs.h"

#define EXPORT __attribute__((visibility("default")))

struct shim_plan {
	u32 policy, order, has_tokens, depth, batch_max, fill, best_effort_depth;
	u32 batch_count, drain_count, task_count;
	const u64 *batch, *drain;
	const u64 *tasks;	/* period, deadline and requests of each task */
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

/* Creates a bench; returns NULL, with the reason in *fault, if the plan is refused. */
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

/* Overwrites a request before it is freed, so that a later use of it has a visible effect. */
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

/* Frees a request of a bench that is no longer used. */
EXPORT void shim_drop(struct owned *owned)
{
	forget(owned);
}

/* Decides once, and returns enum tg_what; `value` is the request's id, or the instant. */
EXPORT u32 shim_decide(struct bench *bench, u64 now, u64 *value)
{
	struct tg_decision decision = tg_decide(&bench->tg, now);

	*value = decision.at;
	if (decision.what == TG_SEND)
		*value = ((struct owned *)decision.request)->id;
	return decision.what;
}

enum { SHIM_LEVEL, SHIM_GROUP, SHIM_PLACE };

struct shim_sign {
	u32 kind, task;
	const char *path;
	u64 first, count;	/* a level (in `first`), or a place */
};

static const char *add_sign(struct tg_signs *signs, const struct shim_sign *sign)
{
	switch (sign->kind) {
	case SHIM_LEVEL:
		return tg_signs_add_level(signs, sign->first, sign->task);
	case SHIM_GROUP:
		return tg_signs_add_group(signs, sign->path, sign->task);
	default:
		return tg_signs_add_place(signs, sign->first, sign->count, sign->task);
	}
}

/* Returns the task of a request; sets *fault if a sign is refused. */
EXPORT u32 shim_owner(const struct shim_sign *from, u32 count, const char *path, u64 sector,
		      u32 level, const char **fault)
{
	struct tg_signs *signs = copy(NULL, 0, sizeof(*signs));
	u32 task = TG_NO_TASK, i;

	tg_signs_init(signs);
	*fault = NULL;
	for (i = 0; i < count && !*fault; i++)
		*fault = add_sign(signs, &from[i]);
	for (i = 0; i < count && !*fault; i++)
		if (!tg_signs_have(signs, from[i].task))
			*fault = "a sign was added and is not there";
	if (!*fault)
		task = tg_signs_task(signs, tg_signs_group(signs, path), sector, level);
	free(signs);
	return task;
}
