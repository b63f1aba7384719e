// SPDX-License-Identifier: GPL-2.0-only
/* One disk per module: its parameters, and the figures that the bench reads. */
#include "engine.h"
#include "mechanics.h"

#include <linux/hrtimer.h>
#include <linux/ioprio.h>
#include <linux/module.h>
#include <linux/version.h>

static unsigned int size_mb = 65536;
module_param(size_mb, uint, 0444);
static unsigned int kind;	/* enum kind */
module_param(kind, uint, 0444);
static unsigned int access_max_ns = 18000000;
module_param(access_max_ns, uint, 0444);
static unsigned int age_max_ns;
module_param(age_max_ns, uint, 0444);

/*
 * Figures for the bench: the number of served requests, the timer's largest lateness, and the
 * largest excess over a drain time.
 */
static unsigned long served;
module_param(served, ulong, 0444);
static unsigned long late_ns;
module_param(late_ns, ulong, 0444);
static unsigned long overrun_ns;
module_param(overrun_ns, ulong, 0644);

static DEFINE_SPINLOCK(lock);
static struct mechanics mechanics;	/* protected by `lock` */
static u64 empty_by;			/* protected by `lock`: the drain contract's limit */
static struct hrtimer timer;
static void (*tell)(void *request);

static void arm(void)
{
	u64 next = mechanics_next(&mechanics);

	lockdep_assert_held(&lock);
	if (next)
		hrtimer_start(&timer, ns_to_ktime(next), HRTIMER_MODE_ABS_HARD);
}

static void account(const struct place *done, u64 now)
{
	lockdep_assert_held(&lock);
	served++;
	late_ns = max_t(unsigned long, late_ns, now - done->end);
	if (done->end > empty_by)
		overrun_ns = max_t(unsigned long, overrun_ns, done->end - empty_by);
}

static enum hrtimer_restart expire(struct hrtimer *unused)
{
	u64 now = ktime_get_ns();
	struct place done;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	while (mechanics_done(&mechanics, now, &done)) {
		account(&done, now);
		spin_unlock_irqrestore(&lock, flags);
		tell(done.request);
		spin_lock_irqsave(&lock, flags);
	}
	arm();
	spin_unlock_irqrestore(&lock, flags);
	return HRTIMER_NORESTART;
}

int engine_start(void (*complete)(void *request))
{
	if (kind > RESTART)
		return -EINVAL;
	tell = complete;
	mechanics.kind = kind;
	mechanics.access_max = access_max_ns;
	mechanics.age_max = age_max_ns;
	mechanics.sectors = engine_sectors();
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	hrtimer_setup(&timer, expire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_HARD);
	timer.function = expire;
#endif
	return 0;
}

void engine_stop(void)
{
	hrtimer_cancel(&timer);
}

u64 engine_sectors(void)
{
	return (u64)size_mb * 2048;
}

bool engine_add(void *request, struct request *rq)
{
	struct place place = {
		.request = request,
		.sector = blk_rq_pos(rq),
		.sectors = blk_rq_sectors(rq),
		.is_real_time = IOPRIO_PRIO_CLASS(req_get_ioprio(rq)) == IOPRIO_CLASS_RT,
	};
	unsigned long flags;
	bool has_place;
	u64 now;

	spin_lock_irqsave(&lock, flags);
	now = ktime_get_ns();
	has_place = mechanics_add(&mechanics, place, now);
	empty_by = now + mechanics.count * mechanics.access_max;
	arm();
	spin_unlock_irqrestore(&lock, flags);
	return has_place;
}
