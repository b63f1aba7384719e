// SPDX-License-Identifier: GPL-2.0-only
/*
 * Best effort is sent until the latest instant at which stopping it still keeps the deadline of the
 * one real-time task: crates/policy/src/adaptive_drain.rs states the rule and its conditions.
 *
 *	          released, fits              released, does not fit
 *	  Open -----------------> on the device     Open ------> held
 *	   ^                           |   ^                       |
 *	   +-------- completes --------+   +-- device is empty ----+
 *
 * The passage of time only closes this gate, so the policy never requests a wake-up.
 */
#include "policies.h"

void tg_adaptive_init(struct tg *tg)
{
	struct tg_adaptive *adaptive = &tg->adaptive;
	u64 requests = 0;
	u32 i;

	*adaptive = (struct tg_adaptive){ .deadline = TG_NEVER };
	for (i = 0; i < tg->plan.task_count; i++) {
		adaptive->deadline = tg_min(adaptive->deadline, tg->plan.tasks[i].deadline);
		requests += tg->plan.tasks[i].requests;
	}
	/* If the tasks have several requests in total, the next release can come at any time. */
	adaptive->period = requests == 1 ? tg->plan.tasks[0].period : 0;
}

void tg_adaptive_insert(struct tg *tg, struct tg_request *request)
{
	tg_push_by_class(tg, request);
	if (request->class != TG_BEST_EFFORT && request->task < tg->plan.task_count)
		tg->adaptive.next_release = request->eligible + tg->adaptive.period;
}

void tg_adaptive_complete(struct tg *tg, struct tg_request *request)
{
	if (request->class != TG_BEST_EFFORT)
		tg_heap_remove(&tg->in_flight_by_due, &request->node);
}

/* Returns whether a real-time request may be sent now. */
static bool may_send(const struct tg *tg, u64 now, u64 due)
{
	u64 drain = tg_drain(tg, tg->in_flight + 1);

	if (!tg->in_flight)
		return true;
	return drain != TG_UNKNOWN &&
	       now + drain <= tg_min(due, tg_heap_key(&tg->in_flight_by_due));
}

/*
 * Returns whether a job released at `release` is served in time if the device is empty by
 * `empty_by`.
 */
static bool is_served(const struct tg *tg, u64 empty_by, u64 release)
{
	return empty_by + tg_drain(tg, 1) <= release + tg->adaptive.deadline;
}

/* Returns whether one best-effort request may be sent now, while no real-time request is held. */
static bool may_add(const struct tg *tg, u64 now)
{
	const struct tg_adaptive *adaptive = &tg->adaptive;
	u64 due = tg_heap_key(&tg->in_flight_by_due);
	u32 count = tg->in_flight + 1;
	u64 drain = tg_drain(tg, count), empty_by = now + drain;

	if (!tg->plan.task_count)
		return count <= tg->plan.depth;
	if (drain == TG_UNKNOWN)
		return false;
	if (!tg->in_flight_by_due.count)
		return tg_drain(tg, count + 1) <= adaptive->deadline ||
		       is_served(tg, empty_by, tg_max(adaptive->next_release, now));
	return empty_by <= due &&
	       (drain <= adaptive->deadline || is_served(tg, empty_by, adaptive->next_release));
}

static struct tg_decision send_real_time(struct tg *tg, struct tg_request *request, u64 due)
{
	struct tg_decision decision = tg_send(tg, request);

	tg_heap_add(&tg->in_flight_by_due, &request->node, due, request->number);
	return decision;
}

struct tg_decision tg_adaptive_decide(struct tg *tg, u64 now)
{
	struct tg_request *real_time = tg_next_real_time(tg);
	u64 due;

	if (real_time) {
		due = tg_due(real_time, tg->adaptive.deadline);
		return may_send(tg, now, due) ? send_real_time(tg, real_time, due) : tg_await();
	}
	if (tg_may_flow(tg) && may_add(tg, now))
		return tg_send(tg, tg_pop_best_effort(tg));
	return tg_await();
}
