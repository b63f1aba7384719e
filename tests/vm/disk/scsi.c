// SPDX-License-Identifier: GPL-2.0-only
/*
 * The disk behind the SCSI layer: a host adapter with one disk, which has no write cache. The layer
 * reserves a slot on the device before the kernel takes a request from the scheduler.
 */
#include "engine.h"
#include "mechanics.h"
#include "store.h"

#include <linux/module.h>
#include <linux/version.h>
#include <scsi/scsi.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include <scsi/scsi_host.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#define SECTOR 512

/* Whether the disk keeps written data; otherwise it copies no data at all. */
static bool keeps_data;
module_param(keeps_data, bool, 0444);

static struct device *parent;
static struct Scsi_Host *host;

/* Replies to a command that needs no access to the medium. */
static void reply(struct scsi_cmnd *cmd, const void *data, size_t size)
{
	sg_copy_from_buffer(scsi_sglist(cmd), scsi_sg_count(cmd), data, size);
	scsi_set_resid(cmd, scsi_bufflen(cmd) - min_t(size_t, size, scsi_bufflen(cmd)));
	cmd->result = DID_OK << 16;
}

static void refuse(struct scsi_cmnd *cmd)
{
	scsi_build_sense(cmd, 0, ILLEGAL_REQUEST, 0x20, 0);
}

static void inquiry(struct scsi_cmnd *cmd)
{
	static const u8 standard[36] = "\0\0\x06\x02\x1f\0\0\x02" "TIDEGATE" "BENCH           " "1   ";
	static const u8 pages[] = { 0, 0, 0, 3, 0x00, 0x83, 0xb1 };
	/* The page has one designator: T10 vendor, in ASCII. */
	static const u8 identity[] = "\0\x83\0\x10" "\x02\x01\0\x0c" "TIDEGATE0001";
	/* 7,200 revolutions per minute, so that it is not taken for a solid-state drive. */
	static const u8 characteristics[64] = { 0, 0xb1, 0, 0x3c, 0x1c, 0x20 };

	if (!(cmd->cmnd[1] & 1))
		return reply(cmd, standard, sizeof(standard));
	switch (cmd->cmnd[2]) {
	case 0x00:
		return reply(cmd, pages, sizeof(pages));
	case 0x83:
		return reply(cmd, identity, sizeof(identity) - 1);
	case 0xb1:
		return reply(cmd, characteristics, sizeof(characteristics));
	default:
		return refuse(cmd);
	}
}

static void capacity(struct scsi_cmnd *cmd, bool is_long)
{
	u8 data[32] = { 0 };

	if (is_long) {
		put_unaligned_be64(engine_sectors() - 1, data);
		put_unaligned_be32(SECTOR, data + 8);
		return reply(cmd, data, sizeof(data));
	}
	put_unaligned_be32(engine_sectors() - 1, data);
	put_unaligned_be32(SECTOR, data + 4);
	reply(cmd, data, 8);
}

/* Copies the data and passes the command to the mechanics. */
static int move(struct scsi_cmnd *cmd, bool writes)
{
	struct request *rq = scsi_cmd_to_rq(cmd);

	if (keeps_data && store_copy(scsi_sglist(cmd), scsi_sg_count(cmd), blk_rq_pos(rq), writes)) {
		cmd->result = DID_ERROR << 16;
		scsi_done(cmd);
		return 0;
	}
	return engine_add(cmd, rq) ? 0 : SCSI_MLQUEUE_DEVICE_BUSY;
}

static int queue_command(struct Scsi_Host *unused, struct scsi_cmnd *cmd)
{
	/* A header, and the caching page with the write cache off. */
	static const u8 modes[24] = { 23, 0, 0, 0, 0x08, 0x12 };
	static const u8 luns[16] = { 0, 0, 0, 8 };

	switch (cmd->cmnd[0]) {
	case READ_10:
	case READ_16:
		return move(cmd, false);
	case WRITE_10:
	case WRITE_16:
		return move(cmd, true);
	case INQUIRY:
		inquiry(cmd);
		break;
	case READ_CAPACITY:
		capacity(cmd, false);
		break;
	case SERVICE_ACTION_IN_16:
		capacity(cmd, true);
		break;
	case MODE_SENSE:
		reply(cmd, modes, sizeof(modes));
		break;
	case REPORT_LUNS:
		reply(cmd, luns, sizeof(luns));
		break;
	case TEST_UNIT_READY:
		cmd->result = DID_OK << 16;
		break;
	default:
		refuse(cmd);
	}
	scsi_done(cmd);
	return 0;
}

static void done(void *request)
{
	struct scsi_cmnd *cmd = request;

	cmd->result = DID_OK << 16;
	scsi_done(cmd);
}

static struct scsi_host_template template = {
	.module = THIS_MODULE,
	.name = "bench",
	.proc_name = "bench",
	.queuecommand = queue_command,
	.change_queue_depth = scsi_change_queue_depth,
	.can_queue = DEPTH_MAX,
	.cmd_per_lun = DEPTH_MAX,
	.this_id = -1,
	.sg_tablesize = SG_ALL,
	.max_sectors = 2048,
};

static int __init bench_init(void)
{
	int err = engine_start(done);

	if (err)
		return err;
	parent = root_device_register("bench");
	if (IS_ERR(parent))
		return PTR_ERR(parent);
	err = -ENOMEM;
	host = scsi_host_alloc(&template, 0);
	if (!host)
		goto unregister;
	host->max_id = 1;
	host->max_lun = 1;
	err = scsi_add_host(host, parent);
	if (err)
		goto put;
	scsi_scan_host(host);
	return 0;
put:
	scsi_host_put(host);
unregister:
	root_device_unregister(parent);
	return err;
}

static void __exit bench_exit(void)
{
	scsi_remove_host(host);
	scsi_host_put(host);
	root_device_unregister(parent);
	engine_stop();
	store_free();
}

module_init(bench_init);
module_exit(bench_exit);
MODULE_DESCRIPTION("A SCSI disk with a proved worst case, for tests");
MODULE_LICENSE("GPL");
