// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tokens: a task that exceeds its contract delays only itself. A task with e requests per job has e
 * tokens. A request takes a token to reach the policy, and the token returns one period later. A
 * request without a token waits in the queue of its task.
 *
 *	insert --> queue of its task --(token)--> eligible: the policy --> device
 *	                                  ^           |
 *	                                  +- period --+
 *
 * Instants are nominal: a token counts as taken at the instant when both the request and the token
 * were available, even if the caller is late. tg_due() moves the deadline of a request that waited.
 *
 * Tokens return in the order in which they were taken, so the tokens of a task form a ring over its
 * units: `token` is the index of the one that returns first.
 */
#include "policies.h"

/*
 * Makes a request without a contract best effort, but a soft request without a deadline keeps its
 * class.
 */
static void drop_contract(struct tg_request *request)
{
	if (request->class == TG_SOFT && request->due == TG_NEVER)
		return;
	request->class = TG_BEST_EFFORT;
}

/* Returns the time at which the first waiting request of a task gets its token. */
static u64 next_token_at(const struct tg_task *task)
{
	u64 returns = task->units[task->token].token_returns;

	return tg_max(tg_first(&task->waiting)->eligible, returns);
}

static void add_next_token(struct tg *tg, struct tg_task *task)
{
	if (task->waiting.count)
		tg_heap_add(&tg->next_tokens, &task->next_token, next_token_at(task),
			    tg_first(&task->waiting)->number);
}

static void take_token(struct tg_task *task, u64 at)
{
	task->units[task->token].token_returns = at + task->period;
	task->token = task->token + 1 < task->requests ? task->token + 1 : 0;
}

static void hand_over(struct tg *tg, struct tg_task *task)
{
	struct tg_request *request = tg_first(&task->waiting);
	u64 at = task->next_token.key;

	tg_heap_remove(&tg->next_tokens, &task->next_token);
	tg_take(request);
	request->eligible = at;
	take_token(task, at);
	add_next_token(tg, task);
	tg_release(tg, request);
}

/*
 * Passes to the policy all requests that get their tokens by `until`, in the order of
 * eligibility.
 */
void tg_tokens_hand_over(struct tg *tg, u64 until)
{
	while (tg_heap_key(&tg->next_tokens) <= until)
		hand_over(tg, tg_owner(tg->next_tokens.root, struct tg_task, next_token));
}

void tg_tokens_insert(struct tg *tg, struct tg_request *request, u64 now)
{
	u64 until = tg_min(request->eligible, now);
	struct tg_task *task;

	/* Requests that became eligible earlier reach the policy first. */
	tg_tokens_hand_over(tg, until);
	if (request->class == TG_BEST_EFFORT || request->task >= tg->plan.task_count) {
		if (request->class != TG_BEST_EFFORT)
			drop_contract(request);
		tg_release(tg, request);
		return;
	}
	task = &tg->plan.tasks[request->task];
	tg_push(tg, &task->waiting, request);
	if (task->waiting.count == 1) {
		add_next_token(tg, task);
		tg_tokens_hand_over(tg, until);
	}
}

/* Removes a request that waits for a token. */
void tg_tokens_cancel(struct tg *tg, struct tg_request *request)
{
	struct tg_task *task = &tg->plan.tasks[request->task];

	tg_heap_remove(&tg->next_tokens, &task->next_token);
	tg_take(request);
	add_next_token(tg, task);
}
