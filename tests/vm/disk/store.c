// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages by their number. A page that has only ever contained zeros takes no memory, so a guest can
 * fill a large file with zeros. As on a disk, the order of overlapping requests is up to the file
 * system.
 */
#include "store.h"

#include <linux/blkdev.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/xarray.h>

static DEFINE_XARRAY(pages);

/* Returns a new page of zeros with this number, or NULL if out of memory. */
static void *make(u64 number)
{
	void *page = (void *)get_zeroed_page(GFP_ATOMIC | __GFP_NOWARN);

	if (page && xa_err(xa_store(&pages, number, page, GFP_ATOMIC))) {
		free_page((unsigned long)page);
		return NULL;
	}
	return page;
}

/* Copies a part of one page. */
static int copy(void *buffer, u64 number, size_t within, size_t size, bool writes)
{
	void *page = xa_load(&pages, number);

	if (!writes && page)
		memcpy(buffer, page + within, size);
	else if (!writes)
		memset(buffer, 0, size);
	else if (page || memchr_inv(buffer, 0, size)) {
		page = page ?: make(number);
		if (!page)
			return -ENOMEM;
		memcpy(page + within, buffer, size);
	}
	return 0;
}

int store_copy(struct scatterlist *list, unsigned int entries, u64 sector, bool writes)
{
	struct sg_mapping_iter it;
	u64 at = sector * SECTOR_SIZE;
	int err = 0;

	sg_miter_start(&it, list, entries, SG_MITER_ATOMIC | (writes ? SG_MITER_FROM_SG : SG_MITER_TO_SG));
	while (!err && sg_miter_next(&it)) {
		for (size_t done = 0, size; !err && done < it.length; done += size, at += size) {
			size = min_t(size_t, it.length - done, PAGE_SIZE - at % PAGE_SIZE);
			err = copy(it.addr + done, at / PAGE_SIZE, at % PAGE_SIZE, size, writes);
		}
	}
	sg_miter_stop(&it);
	return err;
}

void store_free(void)
{
	unsigned long number;
	void *page;

	xa_for_each(&pages, number, page)
		free_page((unsigned long)page);
	xa_destroy(&pages);
}
