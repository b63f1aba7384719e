/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk, with one policy for the requests of all targets on it. Events enter the policy, and
 * rounds of decisions send the requests that the policy allows.
 *
 *	map --> policy --> round, a lone request -----> the device, immediately
 *	          ^   '--> round by the worker -------> the device, as one batch under a plug
 *	          '------- completion, timer, end of the submitter's plug
 */
#ifndef TG_DEVICE_H
#define TG_DEVICE_H

#include "line.h"

#include <linux/bio.h>
#include <linux/hrtimer.h>
#include <linux/workqueue.h>

/*
 * Bucket i counts the responses below 2^i us that no earlier bucket counts. The last bucket
 * counts all others.
 */
#define TG_BUCKETS 24

/* The responses of one class; times in ns. */
struct tg_seen {
	u64 count, longest;
	u64 buckets[TG_BUCKETS];
};

enum tg_kind { TG_REAL_TIME, TG_OTHER, TG_KINDS };

struct tg_stats {
	struct tg_seen seen[TG_KINDS];
	u64 rounds;		/* number of rounds that sent something */
	u64 lone;		/* number of requests that were sent without the worker */
	u64 worker_longest;	/* from an event until the worker has sent what the event allows */
	/*
	 * The longest busy interval: from the first request to an idle device until the device
	 * is idle.
	 */
	u64 busy_longest;
};

/* The data of each bio. */
struct tg_io {
	struct tg_request request;
	bool is_counted;
};

struct tg_device {
	struct kref kref;	/* one reference for all targets, and one for each open plug */

	/* Protected by `devices_lock`. */
	struct list_head list;
	dev_t number;
	unsigned int targets;	/* number of targets on this disk */
	unsigned int running;	/* number of those targets that follow the line */
	struct tg_line *line;

	struct workqueue_struct *wq;
	struct work_struct work;
	struct hrtimer timer;

	spinlock_t lock;	/* protects all fields below; also taken in interrupts */
	bool is_gone;
	struct tg tg;
	u32 queued;
	struct bio_list ready;	/* bios that were decided, and that the worker sends */
	u64 woken;		/* the time at which the worker was queued; 0 if it is not queued */
	u64 busy_since;
	struct tg_stats stats;
};

/* Returns the only object for this disk, creating it if necessary; NULL if out of memory. */
struct tg_device *tg_device_get(dev_t number);
void tg_device_put(struct tg_device *device);

/*
 * Starts to follow a plan; fails while another target on the device follows a different
 * plan.
 */
int tg_device_start(struct tg_device *device, struct tg_line *line);

/* Stops following the plan for a target, whose requests must all have completed. */
void tg_device_stop(struct tg_device *device);

/* Takes a bio that has been remapped; returns the value that a target's `map` must return. */
int tg_device_map(struct tg_device *device, struct bio *bio, struct tg_io *io);
void tg_device_end(struct tg_device *device, struct tg_io *io);

/* Copies the figures since the last reset; `queued` and `in_flight` are current values. */
void tg_device_stats(struct tg_device *device, struct tg_stats *stats, u32 *queued,
		     u32 *in_flight);
void tg_device_reset(struct tg_device *device);

/* Functions that rounds.c provides to device.c. */
void tg_run_worker(struct work_struct *work);
enum hrtimer_restart tg_expire(struct hrtimer *timer);
void tg_free_device(struct kref *kref);

#endif
