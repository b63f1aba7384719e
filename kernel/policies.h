/* SPDX-License-Identifier: GPL-2.0-only */
/* Private to the policies, which get only requests that have their tokens. */
#ifndef TG_POLICIES_H
#define TG_POLICIES_H

#include "decide.h"

/*
 * An unknown drain time, longer than any deadline. The sum of two such times does not
 * overflow.
 */
#define TG_UNKNOWN ((u64)1 << 62)

#define tg_owner(pointer, type, member) \
	((type *)((char *)(pointer) - offsetof(type, member)))

static inline u64 tg_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 tg_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

static inline struct tg_decision tg_await(void)
{
	return (struct tg_decision){ .what = TG_AWAIT };
}

static inline struct tg_decision tg_not_before(u64 at)
{
	return (struct tg_decision){ .what = TG_NOT_BEFORE, .at = at };
}

/*
 * queues.c: requests in the order of their arrival at a queue; best effort in the plan's
 * order.
 */
void tg_push(struct tg *tg, struct tg_heap *queue, struct tg_request *request);
struct tg_request *tg_first(const struct tg_heap *queue);
void tg_take(struct tg_request *request);
void tg_push_best_effort(struct tg *tg, struct tg_request *request);
bool tg_has_best_effort(const struct tg *tg);
/* Returns whether best effort is queued and below its depth on the device. */
bool tg_may_flow(const struct tg *tg);
struct tg_request *tg_pop_best_effort(struct tg *tg);	/* must not be empty */
void tg_push_by_class(struct tg *tg, struct tg_request *request);
struct tg_request *tg_next_real_time(const struct tg *tg);

/* Removes a request from its queue, if it is in one, and sends it. */
struct tg_decision tg_send(struct tg *tg, struct tg_request *request);

/* decide.c: functions that the policies share. */
u64 tg_drain(const struct tg *tg, u32 count);
u64 tg_due(const struct tg_request *request, u64 deadline);

/* tokens.c: requests that wait for their tokens. */
void tg_tokens_insert(struct tg *tg, struct tg_request *request, u64 now);
void tg_tokens_hand_over(struct tg *tg, u64 until);
void tg_tokens_cancel(struct tg *tg, struct tg_request *request);

/* decide.c: passes a request to the policy. */
void tg_release(struct tg *tg, struct tg_request *request);

/* The functions of each policy. */
void tg_dqf_insert(struct tg *tg, struct tg_request *request);
void tg_dqf_complete(struct tg *tg, u64 now);
struct tg_decision tg_dqf_decide(struct tg *tg, u64 now);

void tg_rtio_complete(struct tg *tg);
struct tg_decision tg_rtio_decide(struct tg *tg);

void tg_adaptive_init(struct tg *tg);
void tg_adaptive_insert(struct tg *tg, struct tg_request *request);
void tg_adaptive_complete(struct tg *tg, struct tg_request *request);
struct tg_decision tg_adaptive_decide(struct tg *tg, u64 now);

void tg_gated_init(struct tg *tg);
void tg_gated_insert(struct tg *tg, struct tg_request *request);
void tg_gated_complete(struct tg *tg, struct tg_request *request);
/* Removes a request again if a waiting unit holds it. */
bool tg_gated_cancel(struct tg *tg, struct tg_request *request);
struct tg_decision tg_gated_decide(struct tg *tg, u64 now);

#endif
