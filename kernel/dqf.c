// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dual-queue FIFO. A batch of at most z of the oldest real-time requests goes to the device only
 * when the device is idle. Best effort fills a batch of j real-time requests up to max(j, beta) in
 * total.
 *
 *	          idle device,            batch is
 *	          something to send       complete
 *	  Idle ------------------> Forming ------> Serving
 *	   ^                                          |
 *	   +-- last request of the batch completes ---+
 *
 * After a batch of n requests that took x longer than b(n), best effort is kept off the device for
 * x.
 */
#include "policies.h"

void tg_dqf_insert(struct tg *tg, struct tg_request *request)
{
	if (request->class == TG_BEST_EFFORT)
		tg_push_best_effort(tg, request);
	else
		tg_push(tg, &tg->real_time[TG_HARD], request);
}

void tg_dqf_complete(struct tg *tg, u64 now)
{
	struct tg_dqf *dqf = &tg->dqf;

	if (tg->in_flight)
		return;
	if (dqf->late_from < now)
		dqf->resume = tg_max(dqf->resume, now + (now - dqf->late_from));
}

/* Fixes the size of the batch that an idle device gets now, if there is anything to send. */
static void begin(struct tg *tg, u64 now)
{
	u32 real_time = tg_min(tg->real_time[TG_HARD].count, tg->plan.batch_max);
	u32 room = 0;

	if (now >= tg->dqf.resume && tg->plan.fill > real_time)
		room = tg->plan.fill - real_time;
	tg->dqf.real_time_left = real_time;
	tg->dqf.room = room;
	tg->dqf.is_forming = real_time || (room && tg_has_best_effort(tg));
}

static void end(struct tg *tg, u64 now)
{
	tg->dqf.is_forming = false;
	tg->dqf.late_from = now + tg->plan.batch.ns[tg->in_flight - 1];
}

/* Returns the decision to wait for an event, or until an idle device may get best effort again. */
static struct tg_decision wait(const struct tg *tg, u64 now)
{
	bool is_held_back = !tg->in_flight && tg->plan.fill && tg_has_best_effort(tg);

	return is_held_back && now < tg->dqf.resume ? tg_not_before(tg->dqf.resume) : tg_await();
}

struct tg_decision tg_dqf_decide(struct tg *tg, u64 now)
{
	struct tg_dqf *dqf = &tg->dqf;

	if (!dqf->is_forming && !tg->in_flight)
		begin(tg, now);
	if (!dqf->is_forming)
		return wait(tg, now);
	if (dqf->real_time_left) {
		dqf->real_time_left--;
		return tg_send(tg, tg_first(&tg->real_time[TG_HARD]));
	}
	if (dqf->room && tg_has_best_effort(tg)) {
		dqf->room--;
		return tg_send(tg, tg_pop_best_effort(tg));
	}
	end(tg, now);
	return tg_await();
}
