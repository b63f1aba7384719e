// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues of requests. Best effort is served in the order of arrival, or by an elevator that
 * serves only on its way up:
 *
 *	position:    v heads
 *	----.--.-----|--x---x-----x------>	x: the running sweep, by rising position
 *	    y  y     |				y: the next sweep
 *	             +--> a newcomer ahead joins the running sweep, if newcomers are left;
 *	   <---------+    any other joins the next sweep
 *
 * The number of newcomers that join a sweep is at most the number of requests with which it
 * began, so no request waits forever: see crates/policy/src/order/elevator.rs.
 */
#include "policies.h"

static void push(struct tg *tg, struct tg_heap *queue, struct tg_request *request, u64 key)
{
	tg_heap_add(queue, &request->node, key, tg->numbers++);
	request->queue = queue;
}

void tg_push(struct tg *tg, struct tg_heap *queue, struct tg_request *request)
{
	push(tg, queue, request, 0);
}

struct tg_request *tg_first(const struct tg_heap *queue)
{
	return queue->root ? tg_owner(queue->root, struct tg_request, node) : NULL;
}

void tg_take(struct tg_request *request)
{
	tg_heap_remove(request->queue, &request->node);
	request->queue = NULL;
}

void tg_push_best_effort(struct tg *tg, struct tg_request *request)
{
	if (tg->plan.order == TG_FIFO) {
		tg_push(tg, &tg->sweep[tg->running], request);
		return;
	}
	if (request->position >= tg->heads_at && tg->newcomers_left) {
		tg->newcomers_left--;
		push(tg, &tg->sweep[tg->running], request, request->position);
	} else {
		push(tg, &tg->sweep[!tg->running], request, request->position);
	}
}

bool tg_has_best_effort(const struct tg *tg)
{
	return tg->sweep[0].count || tg->sweep[1].count;
}

bool tg_may_flow(const struct tg *tg)
{
	return tg->best_effort_in_flight < tg->plan.best_effort_depth && tg_has_best_effort(tg);
}

struct tg_request *tg_pop_best_effort(struct tg *tg)
{
	struct tg_request *request;

	if (!tg->sweep[tg->running].count) {
		tg->running = !tg->running;
		tg->newcomers_left = tg->sweep[tg->running].count;
	}
	request = tg_first(&tg->sweep[tg->running]);
	tg_take(request);
	tg->heads_at = request->position;
	return request;
}

void tg_push_by_class(struct tg *tg, struct tg_request *request)
{
	if (request->class == TG_BEST_EFFORT)
		tg_push_best_effort(tg, request);
	else
		tg_push(tg, &tg->real_time[request->class], request);
}

struct tg_request *tg_next_real_time(const struct tg *tg)
{
	u32 class;

	for (class = 0; class < TG_BEST_EFFORT; class++)
		if (tg->real_time[class].count)
			return tg_first(&tg->real_time[class]);
	return NULL;
}

struct tg_decision tg_send(struct tg *tg, struct tg_request *request)
{
	if (request->queue)
		tg_take(request);
	tg->in_flight++;
	if (request->class == TG_BEST_EFFORT)
		tg->best_effort_in_flight++;
	return (struct tg_decision){ .what = TG_SEND, .request = request };
}
