// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/bench: a block device in front of the mechanics. It has one hardware queue with `depth`
 * tags, and reserves nothing before the kernel takes a request from the scheduler. It does not keep
 * data.
 */
#include "engine.h"
#include "mechanics.h"

#include <linux/blkdev.h>
#include <linux/module.h>
#include <linux/version.h>

static unsigned int depth = 1;
module_param(depth, uint, 0444);

static struct blk_mq_tag_set tags;
static struct gendisk *disk;

static void done(void *request)
{
	blk_mq_complete_request(request);
}

static void complete_rq(struct request *rq)
{
	blk_mq_end_request(rq, BLK_STS_OK);
}

static blk_status_t queue_rq(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *data)
{
	struct request *rq = data->rq;

	blk_mq_start_request(rq);
	if (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE)
		return BLK_STS_NOTSUPP;
	return engine_add(rq, rq) ? BLK_STS_OK : BLK_STS_IOERR;
}

static const struct blk_mq_ops queue_ops = { .queue_rq = queue_rq, .complete = complete_rq };
static const struct block_device_operations disk_ops = { .owner = THIS_MODULE };

static struct gendisk *make_disk(void)
{
	struct gendisk *made;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
	struct queue_limits limits = { .max_hw_sectors = 2048, .features = BLK_FEAT_ROTATIONAL };

	made = blk_mq_alloc_disk(&tags, &limits, NULL);
#else
	made = blk_mq_alloc_disk(&tags, NULL);
	if (!IS_ERR(made))
		blk_queue_max_hw_sectors(made->queue, 2048);
#endif
	return made;
}

static int __init bench_init(void)
{
	int err;

	if (!depth || depth > DEPTH_MAX)
		return -EINVAL;
	err = engine_start(done);
	if (err)
		return err;
	tags.ops = &queue_ops;
	tags.nr_hw_queues = 1;
	tags.queue_depth = depth;
	tags.numa_node = NUMA_NO_NODE;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
	tags.flags = BLK_MQ_F_SHOULD_MERGE;
#endif
	err = blk_mq_alloc_tag_set(&tags);
	if (err)
		return err;
	disk = make_disk();
	err = PTR_ERR_OR_ZERO(disk);
	if (err)
		goto free_tags;
	disk->fops = &disk_ops;
	strscpy(disk->disk_name, "bench", sizeof(disk->disk_name));
	set_capacity(disk, engine_sectors());
	err = add_disk(disk);
	if (!err)
		return 0;
	put_disk(disk);
free_tags:
	blk_mq_free_tag_set(&tags);
	return err;
}

static void __exit bench_exit(void)
{
	del_gendisk(disk);
	put_disk(disk);
	blk_mq_free_tag_set(&tags);
	engine_stop();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("A disk with a proved worst case, for tests");
MODULE_LICENSE("GPL");
