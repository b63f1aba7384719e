// SPDX-License-Identifier: GPL-2.0-only
/* The path of a bio: into the policy, to the device in a round, and back. */
#include "device.h"

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>

static void wake(struct tg_device *device, u64 now)
{
	lockdep_assert_held(&device->lock);
	if (!device->woken)
		device->woken = now;
	queue_work(device->wq, &device->work);
}

/* Runs one round: adds to `batch` all requests that the policy sends now. */
static void collect(struct tg_device *device, struct bio_list *batch, u64 now)
{
	struct tg_decision decision;
	u32 before = device->tg.in_flight;

	lockdep_assert_held(&device->lock);
	for (;;) {
		decision = tg_decide(&device->tg, now);
		if (decision.what != TG_SEND)
			break;
		device->queued--;
		bio_list_add(batch, dm_bio_from_per_bio_data(decision.request,
							     sizeof(struct tg_io)));
	}
	if (decision.what == TG_NOT_BEFORE)
		hrtimer_start(&device->timer, ns_to_ktime(decision.at), HRTIMER_MODE_ABS);
	if (device->tg.in_flight != before) {
		device->stats.rounds++;
		if (!before)
			device->busy_since = now;
	}
}

static void submit(struct bio_list *batch)
{
	struct blk_plug plug;
	struct bio *bio;

	blk_start_plug(&plug);
	while ((bio = bio_list_pop(batch)))
		dm_submit_bio_remap(bio, NULL);
	blk_finish_plug(&plug);
}

/*
 * Runs the worker once: sends the requests that were decided before, and those that a new round
 * adds.
 */
void tg_run_worker(struct work_struct *work)
{
	struct tg_device *device = container_of(work, struct tg_device, work);
	struct bio_list batch;
	u64 now, woken;

	spin_lock_irq(&device->lock);
	now = ktime_get_ns();
	woken = device->woken ? device->woken : now;
	device->woken = 0;
	batch = device->ready;
	bio_list_init(&device->ready);
	collect(device, &batch, now);
	spin_unlock_irq(&device->lock);
	submit(&batch);
	spin_lock_irq(&device->lock);
	device->stats.worker_longest = max(device->stats.worker_longest, ktime_get_ns() - woken);
	spin_unlock_irq(&device->lock);
}

enum hrtimer_restart tg_expire(struct hrtimer *timer)
{
	struct tg_device *device = container_of(timer, struct tg_device, timer);
	unsigned long flags;

	spin_lock_irqsave(&device->lock, flags);
	wake(device, ktime_get_ns());
	spin_unlock_irqrestore(&device->lock, flags);
	return HRTIMER_NORESTART;
}

/*
 * Runs one round in the context of a submitter. A single bio stays in `batch` for the caller to
 * send. Several bios are left to the worker, which sends them as a batch under its own plug.
 */
static void collect_lone(struct tg_device *device, struct bio_list *batch, u64 now)
{
	bio_list_init(batch);
	collect(device, batch, now);
	if (batch->head == batch->tail) {
		device->stats.lone += !bio_list_empty(batch);
		return;
	}
	bio_list_merge(&device->ready, batch);
	bio_list_init(batch);
	wake(device, now);
}

/*
 * A submitter's plug would hold back the requests that the target sends, although the policy counts
 * them as in flight. So a request under a plug waits in the policy until the plug ends or another
 * event sends the request. Since 6.10, the block layer has a plug around each bio.
 */
struct tg_plug {
	struct blk_plug_cb cb;
	bool is_held;	/* whether it holds references to the device and the module */
};

/* Runs when a plug ends, which can be after the requests and the targets are gone. */
static void unplug(struct blk_plug_cb *cb, bool from_schedule)
{
	struct tg_device *device = cb->data;
	struct bio_list batch;
	unsigned long flags;

	bio_list_init(&batch);
	spin_lock_irqsave(&device->lock, flags);
	if (!device->is_gone && device->queued) {
		if (from_schedule)
			wake(device, ktime_get_ns());
		else
			collect_lone(device, &batch, ktime_get_ns());
	}
	spin_unlock_irqrestore(&device->lock, flags);
	if (!bio_list_empty(&batch))
		dm_submit_bio_remap(bio_list_pop(&batch), NULL);
	kref_put(&device->kref, tg_free_device);
	kfree(cb);
	module_put(THIS_MODULE);
}

/* Makes the submitter's plug run a round when it ends; false without a plug or out of memory. */
static bool join_plug(struct tg_device *device)
{
	struct blk_plug_cb *cb = blk_check_plugged(unplug, device, sizeof(struct tg_plug));
	struct tg_plug *plug = container_of(cb, struct tg_plug, cb);

	if (!cb)
		return false;
	if (!plug->is_held) {
		kref_get(&device->kref);
		__module_get(THIS_MODULE);
	}
	plug->is_held = true;
	return true;
}

static void insert(struct tg_device *device, struct tg_io *io, u64 now)
{
	lockdep_assert_held(&device->lock);
	io->request.released = now;
	io->request.eligible = now;
	tg_insert(&device->tg, &io->request, now);
	device->queued++;
}

int tg_device_map(struct tg_device *device, struct bio *bio, struct tg_io *io)
{
	bool has_plug = current->plug, is_joined = join_plug(device);
	struct bio_list batch;
	unsigned long flags;
	u64 now;

	bio_list_init(&batch);
	spin_lock_irqsave(&device->lock, flags);
	now = ktime_get_ns();
	insert(device, io, now);
	if (!has_plug)
		collect_lone(device, &batch, now);
	else if (!is_joined)
		wake(device, now);
	spin_unlock_irqrestore(&device->lock, flags);
	if (batch.head == bio)
		return DM_MAPIO_REMAPPED;
	if (!bio_list_empty(&batch))
		dm_submit_bio_remap(bio_list_pop(&batch), NULL);
	return DM_MAPIO_SUBMITTED;
}

static void count(struct tg_seen *seen, u64 response)
{
	u32 bucket = fls64(div_u64(response, NSEC_PER_USEC));

	seen->count++;
	seen->longest = max(seen->longest, response);
	seen->buckets[min_t(u32, bucket, TG_BUCKETS - 1)]++;
}

void tg_device_end(struct tg_device *device, struct tg_io *io)
{
	enum tg_kind kind = io->request.class == TG_BEST_EFFORT ? TG_OTHER : TG_REAL_TIME;
	struct tg_stats *stats = &device->stats;
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&device->lock, flags);
	now = ktime_get_ns();
	tg_complete(&device->tg, &io->request, now);
	count(&stats->seen[kind], now - io->request.released);
	if (!device->tg.in_flight)
		stats->busy_longest = max(stats->busy_longest, now - device->busy_since);
	if (device->queued)
		wake(device, now);
	spin_unlock_irqrestore(&device->lock, flags);
}
