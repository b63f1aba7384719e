// SPDX-License-Identifier: GPL-2.0-only
/* The events and decisions of all policies; see decide.h. */
#include "policies.h"

/* Returns drain(count), or TG_UNKNOWN if the device does not accept `count` requests. */
u64 tg_drain(const struct tg *tg, u32 count)
{
	const struct tg_table *drain = &tg->plan.drain;

	if (!count)
		return 0;
	return count <= tg->plan.depth && count <= drain->count ? drain->ns[count - 1] : TG_UNKNOWN;
}

/*
 * Returns the absolute deadline of a request under a contract. A request that waited for a token
 * is already late, and must not close the gate for others: its deadline counts from its
 * eligibility.
 */
u64 tg_due(const struct tg_request *request, u64 deadline)
{
	if (request->due != TG_NEVER && request->eligible <= request->released)
		return request->due;
	return deadline == TG_NEVER ? request->due : request->eligible + deadline;
}

/* Assigns each task its units, which are consecutive in the plan's array. */
static void assign_units(struct tg *tg)
{
	struct tg_unit *unit = tg->plan.units;
	struct tg_task *task;
	u32 i, k;

	for (i = 0; i < tg->plan.task_count; i++) {
		task = &tg->plan.tasks[i];
		*task = (struct tg_task){
			.period = task->period,
			.deadline = task->deadline,
			.requests = task->requests,
			.units = unit,
		};
		for (k = 0; k < task->requests; k++)
			*unit++ = (struct tg_unit){ .task = task };
	}
}

void tg_init(struct tg *tg, const struct tg_plan *plan)
{
	*tg = (struct tg){ .plan = *plan };
	assign_units(tg);
	switch (plan->policy) {
	case TG_ADAPTIVE_DRAIN:
		tg_adaptive_init(tg);
		break;
	case TG_GATED_DRAIN:
		tg_gated_init(tg);
		break;
	case TG_DQF:
	case TG_RTIO_LIMIT:
	case TG_POLICIES:
		break;
	}
}

void tg_release(struct tg *tg, struct tg_request *request)
{
	switch (tg->plan.policy) {
	case TG_DQF:
		tg_dqf_insert(tg, request);
		break;
	case TG_RTIO_LIMIT:
		tg_push_by_class(tg, request);
		break;
	case TG_ADAPTIVE_DRAIN:
		tg_adaptive_insert(tg, request);
		break;
	case TG_GATED_DRAIN:
		tg_gated_insert(tg, request);
		break;
	case TG_POLICIES:
		break;
	}
}

void tg_insert(struct tg *tg, struct tg_request *request, u64 now)
{
	request->number = tg->numbers++;
	request->queue = NULL;
	request->unit = NULL;
	if (tg->plan.has_tokens)
		tg_tokens_insert(tg, request, now);
	else
		tg_release(tg, request);
}

void tg_complete(struct tg *tg, struct tg_request *request, u64 now)
{
	tg->in_flight--;
	if (request->class == TG_BEST_EFFORT)
		tg->best_effort_in_flight--;
	switch (tg->plan.policy) {
	case TG_DQF:
		tg_dqf_complete(tg, now);
		break;
	case TG_RTIO_LIMIT:
		tg_rtio_complete(tg);
		break;
	case TG_ADAPTIVE_DRAIN:
		tg_adaptive_complete(tg, request);
		break;
	case TG_GATED_DRAIN:
		tg_gated_complete(tg, request);
		break;
	case TG_POLICIES:
		break;
	}
}

static bool waits_for_token(const struct tg *tg, const struct tg_request *request)
{
	return tg->plan.has_tokens && request->task < tg->plan.task_count &&
	       request->queue == &tg->plan.tasks[request->task].waiting;
}

bool tg_cancel(struct tg *tg, struct tg_request *request)
{
	if (waits_for_token(tg, request))
		tg_tokens_cancel(tg, request);
	else if (request->queue)
		tg_take(request);
	else
		return tg->plan.policy == TG_GATED_DRAIN && tg_gated_cancel(tg, request);
	return true;
}

static struct tg_decision decide(struct tg *tg, u64 now)
{
	switch (tg->plan.policy) {
	case TG_DQF:
		return tg_dqf_decide(tg, now);
	case TG_RTIO_LIMIT:
		return tg_rtio_decide(tg);
	case TG_ADAPTIVE_DRAIN:
		return tg_adaptive_decide(tg, now);
	case TG_GATED_DRAIN:
		return tg_gated_decide(tg, now);
	case TG_POLICIES:
		break;
	}
	return tg_await();
}

struct tg_decision tg_decide(struct tg *tg, u64 now)
{
	struct tg_decision decision;
	u64 next;

	if (!tg->is_round)
		tg_tokens_hand_over(tg, now);
	decision = decide(tg, now);
	tg->is_round = decision.what == TG_SEND;
	next = tg_heap_key(&tg->next_tokens);
	if (tg->is_round || next == TG_NEVER)
		return decision;
	return tg_not_before(decision.what == TG_NOT_BEFORE ? tg_min(decision.at, next) : next);
}
