// SPDX-License-Identifier: GPL-2.0-only
/*
 * dm-tidegate: enforces a proved plan on a block device.
 *
 *	<start> <length> tidegate <device> <offset> <plan>
 *
 * keys.c describes the plan. A bio belongs to the task that has the bio's cgroup, place or level
 * of the real-time I/O class; all other bios are best effort. A bio with more sectors than the
 * plan's largest request is served in pieces. Flushes pass immediately, and their time is not
 * counted.
 *
 * The message `reset` clears the figures in the status.
 */
#include "device.h"

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/slab.h>

#define DM_MSG_PREFIX "tidegate"

struct tg_target {
	struct dm_dev *dev;
	sector_t offset;
	struct tg_line *line;
	struct tg_device *device;
	bool is_running;
};

static void classify(struct tg_line *line, struct bio *bio, struct tg_request *request)
{
	request->position = bio->bi_iter.bi_sector + get_start_sect(bio->bi_bdev);
	/*
	 * Discards and write zeroes are outside all contracts, because no profile measures
	 * their duration.
	 */
	request->task = bio_has_data(bio) ? tg_line_owner(line, bio, request->position) :
					    TG_NO_TASK;
	request->class = request->task == TG_NO_TASK ? TG_BEST_EFFORT : TG_HARD;
	request->due = TG_NEVER;
}

static int tg_map(struct dm_target *ti, struct bio *bio)
{
	struct tg_target *target = ti->private;
	struct tg_io *io = dm_per_bio_data(bio, sizeof(*io));

	bio_set_dev(bio, target->dev->bdev);
	bio->bi_iter.bi_sector = target->offset + dm_target_offset(ti, bio->bi_iter.bi_sector);
	io->is_counted = bio_sectors(bio);
	if (!io->is_counted)
		return DM_MAPIO_REMAPPED;
	/* max_io_len would also split small bios that cross a multiple of it. */
	if (bio_has_data(bio) && bio_sectors(bio) > target->line->sectors)
		dm_accept_partial_bio(bio, target->line->sectors);
	classify(target->line, bio, &io->request);
	return tg_device_map(target->device, bio, io);
}

static int tg_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct tg_target *target = ti->private;
	struct tg_io *io = dm_per_bio_data(bio, sizeof(*io));

	if (io->is_counted)
		tg_device_end(target->device, io);
	return DM_ENDIO_DONE;
}

static int tg_preresume(struct dm_target *ti)
{
	struct tg_target *target = ti->private;
	int err = tg_device_start(target->device, target->line);

	if (err)
		DMERR("%s: another target on this device follows another plan", target->dev->name);
	target->is_running = !err;
	return err;
}

/* At this point, the device mapper has waited for all bios. */
static void tg_postsuspend(struct dm_target *ti)
{
	struct tg_target *target = ti->private;

	if (target->is_running)
		tg_device_stop(target->device);
	target->is_running = false;
}

static void tg_free(struct dm_target *ti, struct tg_target *target)
{
	if (target->device) {
		if (target->is_running)
			tg_device_stop(target->device);
		tg_device_put(target->device);
	}
	if (target->dev)
		dm_put_device(ti, target->dev);
	tg_line_put(target->line);
	kfree(target);
}

static int open_device(struct dm_target *ti, struct tg_target *target, const char *path)
{
	int err = dm_get_device(ti, path, dm_table_get_mode(ti->table), &target->dev);

	if (err) {
		ti->error = "the device cannot be opened";
		return err;
	}
	if (bdev_is_zoned(target->dev->bdev)) {
		ti->error = "zoned devices are not supported: writes must keep their order";
		return -EINVAL;
	}
	/*
	 * The device accepts only whole logical blocks, so each piece must consist of whole
	 * blocks.
	 */
	if (target->line->sectors % (bdev_logical_block_size(target->dev->bdev) >> SECTOR_SHIFT)) {
		ti->error = "`sectors` is no multiple of the device's logical block";
		return -EINVAL;
	}
	if (bdev_get_queue(target->dev->bdev)->elevator)
		DMWARN("%s: nothing is guaranteed until its scheduler is `none`",
		       target->dev->name);
	target->device = tg_device_get(disk_devt(target->dev->bdev->bd_disk));
	return target->device ? 0 : -ENOMEM;
}

static int read_arguments(struct dm_target *ti, struct tg_target *target, struct dm_arg_set *args)
{
	const char *path = dm_shift_arg(args), *offset = dm_shift_arg(args);
	struct tg_line *line;
	u64 first;

	if (!path || !offset || kstrtou64(offset, 10, &first) || first != (sector_t)first) {
		ti->error = "the line begins with a device and an offset in sectors";
		return -EINVAL;
	}
	target->offset = first;
	line = tg_line_read(args, &ti->error);
	if (IS_ERR(line))
		return PTR_ERR(line);
	target->line = line;
	return open_device(ti, target, path);
}

static void set_features(struct dm_target *ti)
{
	ti->num_flush_bios = 1;
	ti->num_discard_bios = 1;
	ti->num_write_zeroes_bios = 1;
	ti->num_secure_erase_bios = 1;
	ti->per_io_data_size = sizeof(struct tg_io);
	ti->accounts_remapped_io = true;
}

static int tg_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct dm_arg_set args = { .argc = argc, .argv = argv };
	struct tg_target *target = kzalloc(sizeof(*target), GFP_KERNEL);
	int err;

	if (!target)
		return -ENOMEM;
	err = read_arguments(ti, target, &args);
	if (err) {
		tg_free(ti, target);
		return err;
	}
	ti->private = target;
	set_features(ti);
	return 0;
}

static void tg_dtr(struct dm_target *ti)
{
	tg_free(ti, ti->private);
}

/*
 * Writes QUEUED IN_FLIGHT ROUNDS LONE WORKER_US BUSY_US, and for each kind COUNT LONGEST_US
 * BUCKETS.
 */
static void tg_status_info(struct tg_target *target, char *result, unsigned int maxlen)
{
	struct tg_stats stats;
	u32 queued, in_flight, kind, i;
	unsigned int sz = 0;

	tg_device_stats(target->device, &stats, &queued, &in_flight);
	DMEMIT("%u %u %llu %llu %llu %llu", queued, in_flight, stats.rounds, stats.lone,
	       div_u64(stats.worker_longest, NSEC_PER_USEC),
	       div_u64(stats.busy_longest, NSEC_PER_USEC));
	for (kind = 0; kind < TG_KINDS; kind++) {
		DMEMIT(" %s %llu %llu", kind == TG_REAL_TIME ? "rt" : "be", stats.seen[kind].count,
		       div_u64(stats.seen[kind].longest, NSEC_PER_USEC));
		for (i = 0; i < TG_BUCKETS; i++)
			DMEMIT(" %llu", stats.seen[kind].buckets[i]);
	}
}

static void tg_status(struct dm_target *ti, status_type_t type, unsigned int flags, char *result,
		      unsigned int maxlen)
{
	struct tg_target *target = ti->private;
	unsigned int sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		tg_status_info(target, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		DMEMIT("%s %llu %s", target->dev->name, (u64)target->offset, target->line->text);
		break;
	case STATUSTYPE_IMA:
		*result = '\0';
		break;
	}
}

static int tg_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		      unsigned int maxlen)
{
	struct tg_target *target = ti->private;

	if (argc != 1 || strcasecmp(argv[0], "reset"))
		return -EINVAL;
	tg_device_reset(target->device);
	return 0;
}

static int tg_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct tg_target *target = ti->private;

	return fn(ti, target->dev, target->offset, ti->len, data);
}

static struct target_type tg_target_type = {
	.name = "tidegate",
	.version = { 0, 2, 0 },
	.module = THIS_MODULE,
	.ctr = tg_ctr,
	.dtr = tg_dtr,
	.map = tg_map,
	.end_io = tg_end_io,
	.preresume = tg_preresume,
	.postsuspend = tg_postsuspend,
	.status = tg_status,
	.message = tg_message,
	.iterate_devices = tg_iterate_devices,
};

static int __init tg_module_init(void)
{
	return dm_register_target(&tg_target_type);
}

static void __exit tg_module_exit(void)
{
	dm_unregister_target(&tg_target_type);
}

module_init(tg_module_init);
module_exit(tg_module_exit);
MODULE_DESCRIPTION("Response-time guarantees for a shared block device");
MODULE_LICENSE("GPL");
