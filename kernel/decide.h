/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies as pure decisions: which request goes to the device, and when to decide again.
 *
 *	tg_insert, tg_complete, tg_cancel	all events of an instant, completions first
 *	tg_decide until it does not return TG_SEND	a round: its requests go to the device together
 *
 * Nothing here reads a clock, allocates, divides or sleeps. The kernel's headers are used only for
 * the names of types. The caller serialises all calls on one struct tg, and its `now` must never
 * decrease. The rules, their sources and their guarantees are those of the Rust policies with the
 * same names (crates/policy); tests/kernel checks that both make the same decisions.
 *
 * Cost for n queued requests and u units, where a unit stands for one request of each job of a
 * task:
 *
 *	tg_insert, tg_cancel	O(log n); with tokens, O(log n) for each request that gets its token
 *	tg_complete		O(log n + e), with e requests per job
 *	tg_decide		O(log n); `gated-drain` at most O(u log u), if an idle device may
 *				not get all waiting units, or if all units become ready together
 *
 * Limits: every instant, counted from the clock's start, and every duration in a plan must be below
 * TG_TIME_MAX, so that sums of a few of them do not overflow. To change the plan, the caller drains
 * the device and calls tg_init again.
 */
#ifndef TG_DECIDE_H
#define TG_DECIDE_H

#include "heap.h"

/* 36 years, in ns. */
#define TG_TIME_MAX ((u64)1 << 60)

enum tg_policy {
	TG_DQF,			/* batches to an idle device, filled with best effort */
	TG_RTIO_LIMIT,		/* rounds of real time, topped up with best effort to a depth */
	TG_ADAPTIVE_DRAIN,	/* best effort until the latest safe instant, for one task */
	TG_GATED_DRAIN,		/* adaptive drain for several tasks */
	TG_POLICIES,
};

/* The order in which best effort is served. */
enum tg_order {
	TG_FIFO,
	TG_ELEVATOR,		/* upwards only (C-LOOK), with a limit on newcomers per sweep */
	TG_ORDERS,
};

enum tg_class {
	TG_HARD,
	TG_SOFT,
	TG_INTERACTIVE,
	TG_BEST_EFFORT,
};

/* A request. The caller owns it, and must not move it between tg_insert and its completion. */
struct tg_request {
	/* Set by the caller before tg_insert. */
	enum tg_class class;
	u32 task;		/* index of its task; task_count or more: no contract */
	u64 released;		/* ns */
	/*
	 * ns; later than `released` if something held the request back; never decreases within a
	 * task
	 */
	u64 eligible;
	u64 due;		/* ns; TG_NEVER without a deadline of its own */
	u64 position;		/* position of the first sector */

	/* Private to the policies. */
	u64 number;		/* sequence number of arrival */
	struct tg_node node;
	struct tg_heap *queue;	/* NULL on the device, and while a unit holds the request */
	struct tg_unit *unit;	/* gated-drain: the unit that holds the request, or NULL */
};

enum tg_stage {
	TG_COOLING,		/* idle; its next release is not due yet */
	TG_READY,		/* idle; its next job can come at any time */
	TG_WAITING,
	TG_IN_FLIGHT,
};

/* A slot for one request of each job of a task; private to the policies. */
struct tg_unit {
	enum tg_stage stage;
	struct tg_node by_time, by_next_due;
	struct tg_request *request;	/* while waiting or in flight */
	struct tg_task *task;
	u64 next_release;
	u64 token_returns;
};

/* A task with its contract. */
struct tg_task {
	/* Fields that the caller sets. */
	u64 period, deadline;	/* ns */
	u32 requests;		/* number of requests in a job, which releases them together */

	/* Private to the policies. */
	struct tg_unit *units;
	u32 unit_count;
	struct tg_heap excess;	/* gated-drain: requests without a unit */
	struct tg_heap waiting;	/* requests without a token */
	struct tg_node next_token;	/* when the first waiting request gets its token */
	u32 token;		/* index of the unit whose token returns first */
};

/* ns[n - 1] is the longest time of n requests. */
struct tg_table {
	const u64 *ns;
	u32 count;
};

/* The proved plan. Everything that it points to must outlive the struct tg. */
struct tg_plan {
	enum tg_policy policy;
	enum tg_order order;
	bool has_tokens;		/* a task that exceeds its contract delays only itself */
	u32 depth;			/* K: how many requests the device accepts at most */
	u32 batch_max, fill;		/* dqf: z, beta */
	u32 best_effort_depth;		/* q_b; dqf ignores it */
	struct tg_table batch;		/* dqf: b(1..) */
	struct tg_table drain;		/* adaptive-drain, gated-drain: drain(1..) */
	struct tg_task *tasks;
	u32 task_count;
	struct tg_unit *units;		/* one unit for each request in a job of each task */
	u32 unit_count;
};

enum tg_what {
	TG_AWAIT,		/* decide again after the next event */
	TG_NOT_BEFORE,		/* decide again at `at`, or after the next event */
	TG_SEND,		/* send `request` in this round, and decide again */
};

struct tg_decision {
	enum tg_what what;
	u64 at;				/* ns */
	struct tg_request *request;
};

struct tg_dqf {
	bool is_forming;
	u32 real_time_left, room;	/* requests of the batch that is being formed */
	u64 late_from;			/* the instant from which the batch on the device is late */
	u64 resume;			/* the instant until which best effort waits */
};

struct tg_rtio {
	bool is_sending, is_closed;	/* real-time requests: being sent; on the device */
};

struct tg_adaptive {
	u64 deadline, period;
	u64 next_release;		/* earliest next release of the task */
};

struct tg_gated {
	u32 granted;			/* number of waiting units that may be sent in this round */
	u32 unit_count, in_flight_count;	/* number of all units, and of those in flight */
	struct tg_heap waiting;		/* by due */
	struct tg_heap in_flight_by_next_due;
	struct tg_heap cooling, cooling_by_next_due;	/* idle until next_release */
	struct tg_heap ready;		/* idle, by relative deadline */
};

struct tg {
	struct tg_plan plan;
	u64 numbers;			/* number of sequence numbers assigned so far */
	u32 in_flight, best_effort_in_flight;
	struct tg_heap real_time[TG_BEST_EFFORT];	/* by class */
	struct tg_heap sweep[2];	/* best effort: the current sweep and the next */
	u32 running;			/* index of the current sweep */
	u32 newcomers_left;		/* requests that may still join the current sweep */
	u64 heads_at;			/* position of the last best-effort request that was sent */
	struct tg_heap in_flight_by_due;	/* real-time requests, for the drain policies */
	struct tg_heap next_tokens;	/* tasks with a request that waits for a token */
	bool is_round;			/* tg_decide returned TG_SEND and must be called again */
	union {
		struct tg_dqf dqf;
		struct tg_rtio rtio;
		struct tg_adaptive adaptive;
		struct tg_gated gated;
	};
};

/* Returns the fault of a plan, or NULL if it has none. */
const char *tg_plan_fault(const struct tg_plan *plan);

/*
 * Returns whether a queued best-effort request is eventually served even if no task ever releases a
 * job. The proof does not need this, but a file system on the device does.
 */
bool tg_serves_best_effort(const struct tg_plan *plan);

/* Initialises `tg` for an idle device. The plan must have no fault. */
void tg_init(struct tg *tg, const struct tg_plan *plan);

void tg_insert(struct tg *tg, struct tg_request *request, u64 now);

/* Records that the device completed a request. */
void tg_complete(struct tg *tg, struct tg_request *request, u64 now);

/*
 * Removes a waiting request; returns false if it is on the device. Must not be called during a
 * round.
 */
bool tg_cancel(struct tg *tg, struct tg_request *request);

struct tg_decision tg_decide(struct tg *tg, u64 now);

#endif
