// SPDX-License-Identifier: GPL-2.0-only
/* Creates and frees the objects of devices, and sets the plans that they follow. */
#include "device.h"

#include <linux/slab.h>
#include <linux/version.h>

static LIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);

static void setup_timer(struct hrtimer *timer)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	hrtimer_setup(timer, tg_expire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timer->function = tg_expire;
#endif
}

void tg_free_device(struct kref *kref)
{
	struct tg_device *device = container_of(kref, struct tg_device, kref);

	tg_line_put(device->line);
	kfree(device);
}

static struct tg_device *make(dev_t number)
{
	struct tg_device *device = kzalloc(sizeof(*device), GFP_KERNEL);

	if (!device)
		return NULL;
	device->wq = alloc_ordered_workqueue("tidegate", WQ_MEM_RECLAIM | WQ_HIGHPRI);
	if (!device->wq) {
		kfree(device);
		return NULL;
	}
	device->number = number;
	kref_init(&device->kref);
	spin_lock_init(&device->lock);
	bio_list_init(&device->ready);
	INIT_WORK(&device->work, tg_run_worker);
	setup_timer(&device->timer);
	list_add(&device->list, &devices);
	return device;
}

static struct tg_device *find(dev_t number)
{
	struct tg_device *device;

	lockdep_assert_held(&devices_lock);
	list_for_each_entry(device, &devices, list)
		if (device->number == number)
			return device;
	return NULL;
}

struct tg_device *tg_device_get(dev_t number)
{
	struct tg_device *device;

	mutex_lock(&devices_lock);
	device = find(number);
	if (!device)
		device = make(number);
	if (device)
		device->targets++;
	mutex_unlock(&devices_lock);
	return device;
}

void tg_device_put(struct tg_device *device)
{
	bool is_last;

	mutex_lock(&devices_lock);
	is_last = !--device->targets;
	if (is_last)
		list_del(&device->list);
	mutex_unlock(&devices_lock);
	if (!is_last)
		return;
	spin_lock_irq(&device->lock);
	device->is_gone = true;
	spin_unlock_irq(&device->lock);
	hrtimer_cancel(&device->timer);
	destroy_workqueue(device->wq);
	kref_put(&device->kref, tg_free_device);
}

/*
 * Makes a device follow a line. If the line's text is unchanged, the tokens keep their state.
 * The statistics are always kept.
 */
static void follow(struct tg_device *device, struct tg_line *line)
{
	struct tg_line *old = device->line;

	if (old && !strcmp(old->text, line->text))
		return;
	device->line = tg_line_get(line);
	/* No request is queued, but the timer or the worker may still run. */
	spin_lock_irq(&device->lock);
	tg_init(&device->tg, &line->plan);
	spin_unlock_irq(&device->lock);
	tg_line_put(old);
}

int tg_device_start(struct tg_device *device, struct tg_line *line)
{
	int err = 0;

	mutex_lock(&devices_lock);
	if (device->running && strcmp(device->line->text, line->text)) {
		err = -EBUSY;
	} else {
		follow(device, line);
		device->running++;
	}
	mutex_unlock(&devices_lock);
	return err;
}

void tg_device_stop(struct tg_device *device)
{
	mutex_lock(&devices_lock);
	device->running--;
	mutex_unlock(&devices_lock);
}

void tg_device_stats(struct tg_device *device, struct tg_stats *stats, u32 *queued,
		     u32 *in_flight)
{
	spin_lock_irq(&device->lock);
	*stats = device->stats;
	*queued = device->queued;
	*in_flight = device->tg.in_flight;
	spin_unlock_irq(&device->lock);
}

void tg_device_reset(struct tg_device *device)
{
	spin_lock_irq(&device->lock);
	memset(&device->stats, 0, sizeof(device->stats));
	spin_unlock_irq(&device->lock);
}
