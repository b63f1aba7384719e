// SPDX-License-Identifier: GPL-2.0-only
/*
 * Best effort is sent while "stop now, wait until the device is empty, send all waiting units
 * together" keeps every deadline of every task. crates/policy/src/gated_drain.rs states the
 * conditions and the order.
 *
 *	unit:   Idle ----released----> Waiting ----sent----> in flight
 *	         ^                                               |
 *	         +------------------- completes -----------------+
 *
 * Heaps give the earliest instant of each condition, so a check scans no units; a unit is in at
 * most two heaps. The search for an idle unit scans the units of its task. The passage of time only
 * closes this gate, so the policy never requests a wake-up.
 */
#include "policies.h"

/* A dispatch whose conditions are being checked. */
struct proposal {
	u32 outstanding;	/* number of requests on the device after the dispatch */
	u32 left;		/* number of units that are not on the device after it */
	u64 due_on_device, due_waiting;		/* earliest deadlines after it */
	bool is_best_effort;
};

static u64 next_due(const struct tg_unit *unit)
{
	return unit->next_release + unit->task->deadline;
}

static void make_idle(struct tg *tg, struct tg_unit *unit)
{
	struct tg_gated *gated = &tg->gated;
	u64 place = unit - tg->plan.units;

	unit->stage = TG_COOLING;
	tg_heap_add(&gated->cooling, &unit->by_time, unit->next_release, place);
	tg_heap_add(&gated->cooling_by_next_due, &unit->by_next_due, next_due(unit), place);
}

static void leave_idle(struct tg_gated *gated, struct tg_unit *unit)
{
	if (unit->stage == TG_READY) {
		tg_heap_remove(&gated->ready, &unit->by_time);
		return;
	}
	tg_heap_remove(&gated->cooling, &unit->by_time);
	tg_heap_remove(&gated->cooling_by_next_due, &unit->by_next_due);
}

/* Makes the units ready whose next job may be released by now. */
static void pass_time(struct tg *tg, u64 now)
{
	struct tg_gated *gated = &tg->gated;
	struct tg_unit *unit;

	while (tg_heap_key(&gated->cooling) <= now) {
		unit = tg_owner(gated->cooling.root, struct tg_unit, by_time);
		leave_idle(gated, unit);
		unit->stage = TG_READY;
		tg_heap_add(&gated->ready, &unit->by_time, unit->task->deadline,
			    unit - tg->plan.units);
	}
}

void tg_gated_init(struct tg *tg)
{
	struct tg_task *task;
	u32 i, k;

	tg->gated = (struct tg_gated){ 0 };
	for (i = 0; i < tg->plan.task_count; i++) {
		task = &tg->plan.tasks[i];
		/*
		 * If a job has more requests than the device accepts, the plan is never proved. The
		 * job's requests are never on the device together.
		 */
		task->unit_count = tg_min(task->requests, tg->plan.depth);
		for (k = 0; k < task->unit_count; k++) {
			make_idle(tg, &task->units[k]);
			tg->gated.unit_count++;
		}
	}
}

/* Returns the task's idle unit whose next release can come first, or NULL. */
static struct tg_unit *idle_unit(struct tg_task *task)
{
	struct tg_unit *found = NULL, *unit;

	for (unit = task->units; unit < task->units + task->unit_count; unit++)
		if ((unit->stage == TG_COOLING || unit->stage == TG_READY) &&
		    (!found || unit->next_release < found->next_release))
			found = unit;
	return found;
}

/* Assigns a request to an idle unit of its task, if there is one. */
static bool admit(struct tg *tg, struct tg_task *task, struct tg_request *request)
{
	struct tg_unit *unit = idle_unit(task);

	if (!unit)
		return false;
	leave_idle(&tg->gated, unit);
	unit->stage = TG_WAITING;
	unit->request = request;
	request->unit = unit;
	unit->next_release = request->eligible + task->period;
	tg_heap_add(&tg->gated.waiting, &unit->by_time, tg_due(request, task->deadline),
		    unit - tg->plan.units);
	return true;
}

void tg_gated_insert(struct tg *tg, struct tg_request *request)
{
	struct tg_task *task;

	if (request->class == TG_BEST_EFFORT || request->task >= tg->plan.task_count) {
		tg_push_by_class(tg, request);
		return;
	}
	task = &tg->plan.tasks[request->task];
	if (!admit(tg, task, request))
		tg_push(tg, &task->excess, request);
}

/* Makes a unit idle; the oldest request of the task that has no unit then takes it. */
static void free_unit(struct tg *tg, struct tg_unit *unit)
{
	struct tg_request *request = tg_first(&unit->task->excess);

	make_idle(tg, unit);
	if (request) {
		tg_take(request);
		admit(tg, unit->task, request);
	}
}

void tg_gated_complete(struct tg *tg, struct tg_request *request)
{
	struct tg_unit *unit = request->unit;

	if (!unit)
		return;
	tg_heap_remove(&tg->in_flight_by_due, &unit->by_time);
	tg_heap_remove(&tg->gated.in_flight_by_next_due, &unit->by_next_due);
	tg->gated.in_flight_count--;
	free_unit(tg, unit);
}

bool tg_gated_cancel(struct tg *tg, struct tg_request *request)
{
	struct tg_unit *unit = request->unit;

	if (!unit || unit->stage != TG_WAITING)
		return false;
	tg_heap_remove(&tg->gated.waiting, &unit->by_time);
	free_unit(tg, unit);
	return true;
}

static bool is_allowed(const struct tg *tg, u64 now, const struct proposal *proposal)
{
	const struct tg_gated *gated = &tg->gated;
	u64 drain = tg_drain(tg, proposal->outstanding);
	u64 empty_by = now + drain, served_by = empty_by + tg_drain(tg, proposal->left);

	return drain != TG_UNKNOWN &&
	       empty_by <= proposal->due_on_device &&
	       served_by <= proposal->due_waiting &&
	       served_by <= tg_heap_key(&gated->cooling_by_next_due) &&
	       served_by - now <= tg_heap_key(&gated->ready) &&
	       (!proposal->is_best_effort ||
		empty_by + tg_drain(tg, gated->unit_count) <=
			tg_heap_key(&gated->in_flight_by_next_due));
}

/*
 * Returns whether the `count` waiting units with the earliest deadlines may be sent together. The
 * first is due at `due_first`; the remaining units are due at `due_behind` or later.
 */
static bool may_send(const struct tg *tg, u64 now, u32 count, u64 due_first, u64 due_behind)
{
	const struct tg_gated *gated = &tg->gated;
	struct proposal proposal = {
		.outstanding = tg->in_flight + count,
		.left = gated->unit_count - gated->in_flight_count - count,
		.due_on_device = tg_min(tg_heap_key(&tg->in_flight_by_due), due_first),
		.due_waiting = due_behind,
	};

	return is_allowed(tg, now, &proposal);
}

/*
 * Returns the number of waiting units that an idle device gets if it may not get all of them: the
 * largest allowed number, earliest due first. If no number is allowed, a contract was broken, and
 * the device gets the largest number that it accepts. The units move to another heap in order, so
 * each number is tried once: O(u log u).
 */
static u32 grant_empty(struct tg *tg, u64 now)
{
	struct tg_heap *waiting = &tg->gated.waiting, tried = { 0 };
	u64 due_first = tg_heap_key(waiting), key, order;
	u32 most = 0;
	struct tg_node *node;

	while ((node = waiting->root)) {
		key = node->key;
		order = node->order;
		tg_heap_remove(waiting, node);
		tg_heap_add(&tried, node, key, order);
		if (waiting->count &&
		    may_send(tg, now, tried.count, due_first, tg_heap_key(waiting)))
			most = tried.count;
	}
	*waiting = tried;
	return most ? most : tg_min(waiting->count, tg->plan.depth);
}

/* Returns the number of waiting units that may be sent now, earliest due first. */
static u32 grant(struct tg *tg, u64 now)
{
	const struct tg_heap *waiting = &tg->gated.waiting;
	u64 due_first = tg_heap_key(waiting);

	if (may_send(tg, now, waiting->count, due_first, TG_NEVER))
		return waiting->count;
	if (!tg->in_flight)
		return grant_empty(tg, now);
	return may_send(tg, now, 1, due_first, tg_heap_second_key(waiting));
}

/* Returns whether a request without a contract may be sent now, while no unit waits. */
static bool may_add(const struct tg *tg, u64 now)
{
	const struct tg_gated *gated = &tg->gated;
	struct proposal proposal = {
		.outstanding = tg->in_flight + 1,
		.left = gated->unit_count - gated->in_flight_count,
		.due_on_device = tg_heap_key(&tg->in_flight_by_due),
		.due_waiting = TG_NEVER,
		.is_best_effort = true,
	};

	if (!gated->unit_count)
		return proposal.outstanding <= tg->plan.depth;
	return is_allowed(tg, now, &proposal);
}

static struct tg_decision send_unit(struct tg *tg)
{
	struct tg_gated *gated = &tg->gated;
	struct tg_unit *unit = tg_owner(gated->waiting.root, struct tg_unit, by_time);
	u64 due = unit->by_time.key, place = unit->by_time.order;

	tg_heap_remove(&gated->waiting, &unit->by_time);
	tg_heap_add(&tg->in_flight_by_due, &unit->by_time, due, place);
	tg_heap_add(&gated->in_flight_by_next_due, &unit->by_next_due, next_due(unit), place);
	gated->in_flight_count++;
	unit->stage = TG_IN_FLIGHT;
	return tg_send(tg, unit->request);
}

static struct tg_decision next_unit(struct tg *tg, u64 now)
{
	struct tg_gated *gated = &tg->gated;

	if (!gated->granted)
		gated->granted = grant(tg, now);
	if (!gated->granted)
		return tg_await();
	gated->granted--;
	return send_unit(tg);
}

struct tg_decision tg_gated_decide(struct tg *tg, u64 now)
{
	struct tg_request *real_time = tg_next_real_time(tg);

	pass_time(tg, now);
	if (tg->gated.waiting.count)
		return next_unit(tg, now);
	if (!(real_time || tg_may_flow(tg)) || !may_add(tg, now))
		return tg_await();
	return tg_send(tg, real_time ? real_time : tg_pop_best_effort(tg));
}
