// SPDX-License-Identifier: GPL-2.0-only
/*
 * After a round with real-time requests, nothing is sent until these have completed. The next round
 * sends as many queued real-time requests as the depth allows, then tops up best effort to q_b
 * requests.
 *
 *	          a real-time request            the round
 *	          is sent                        ends
 *	  Open ---------------------> Sending -----------> Closed
 *	   ^                                                  |
 *	   +---- the last real-time request completed --------+
 *
 * Source: Stanovich, Baker and Wang, RTAS 2008, sections 3.2 and 3.4.
 */
#include "policies.h"

void tg_rtio_complete(struct tg *tg)
{
	if (tg->in_flight == tg->best_effort_in_flight)
		tg->rtio = (struct tg_rtio){ 0 };
}

struct tg_decision tg_rtio_decide(struct tg *tg)
{
	struct tg_request *real_time = tg_next_real_time(tg);

	if (tg->in_flight < tg->plan.depth && !tg->rtio.is_closed) {
		if (real_time) {
			tg->rtio.is_sending = true;
			return tg_send(tg, real_time);
		}
		if (tg_may_flow(tg))
			return tg_send(tg, tg_pop_best_effort(tg));
	}
	if (tg->rtio.is_sending)
		tg->rtio.is_closed = true;
	return tg_await();
}
