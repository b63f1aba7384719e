// SPDX-License-Identifier: GPL-2.0-only
/* Decides when a request completes, in integers and without its own clock. */
#include "mechanics.h"

#include <linux/kernel.h>
#include <linux/math64.h>

/*
 * RESTART completes one request this long before the disk would be empty. The kernel then sends the
 * next one, and all requests wait again.
 */
#define AHEAD_NS 500000u

static u64 track_of(u64 sector)
{
	return div_u64(sector, TRACK_SECTORS);
}

/*
 * Returns the time of the seek to a request: it grows with the square root of the distance, up
 * to SEEK_MAX_NS.
 */
static u64 seek_ns(const struct mechanics *disk, u64 track)
{
	u64 distance = track > disk->head ? track - disk->head : disk->head - track;
	u64 longest = track_of(disk->sectors);

	if (!distance)
		return 0;
	return SEEK_MIN_NS + div64_u64((u64)(SEEK_MAX_NS - SEEK_MIN_NS) * int_sqrt64(distance << 20),
				       int_sqrt64(longest << 20));
}

/*
 * Returns the end of a request that the arm serves from `begin`: seek, less than one revolution,
 * transfer.
 */
static u64 end_of(const struct mechanics *disk, const struct place *request, u64 begin)
{
	u64 track = track_of(request->sector), angle, wanted;
	u64 there = begin + seek_ns(disk, track);

	div64_u64_rem(there, TURN_NS, &angle);
	wanted = div_u64((request->sector - track * TRACK_SECTORS) * TURN_NS, TRACK_SECTORS);
	if (wanted < angle)
		wanted += TURN_NS;
	return there + wanted - angle + div_u64((u64)request->sectors * TURN_NS, TRACK_SECTORS);
}

/*
 * SEEK: serves the request that can complete first, unless a request is being served or the
 * oldest has waited too long.
 */
static void serve(struct mechanics *disk)
{
	struct place *best = NULL;
	u64 first = 0;
	unsigned int i;
	bool is_late = disk->age_max && disk->count && disk->free_at > disk->held[0].came + disk->age_max;

	for (i = 0; i < disk->count; i++) {
		struct place *place = &disk->held[i];
		u64 end;

		if (place->end)
			return;
		end = end_of(disk, place, max(disk->free_at, place->came));
		if (!best || (end < first && !is_late)) {
			best = place;
			first = end;
		}
	}
	if (best)
		best->end = first;
}

/* RESTART: all requests on the disk wait for the whole drain again. */
static void restart(struct mechanics *disk, u64 now)
{
	u64 empty = now + disk->count * disk->access_max;
	struct place *early = &disk->held[0];
	unsigned int i;

	for (i = 0; i < disk->count; i++) {
		struct place *place = &disk->held[i];

		place->end = empty;
		/* The oldest request of a lower class is chosen, if there is one. */
		if (early->is_real_time && !place->is_real_time)
			early = place;
	}
	if (disk->count > 1)
		early->end = empty - AHEAD_NS;
}

bool mechanics_add(struct mechanics *disk, struct place request, u64 now)
{
	if (disk->count == DEPTH_MAX)
		return false;
	request.came = now;
	request.end = 0;
	disk->held[disk->count++] = request;
	if (disk->kind == RESTART)
		restart(disk, now);
	else
		serve(disk);
	return true;
}

u64 mechanics_next(const struct mechanics *disk)
{
	u64 next = 0;
	unsigned int i;

	for (i = 0; i < disk->count; i++) {
		u64 end = disk->held[i].end;

		if (end && (!next || end < next))
			next = end;
	}
	return next;
}

bool mechanics_done(struct mechanics *disk, u64 now, struct place *done)
{
	unsigned int i;

	for (i = 0; i < disk->count; i++)
		if (disk->held[i].end && disk->held[i].end <= now)
			break;
	if (i == disk->count)
		return false;
	*done = disk->held[i];
	/* The order of arrival is kept. */
	for (disk->count--; i < disk->count; i++)
		disk->held[i] = disk->held[i + 1];
	if (disk->kind == SEEK) {
		disk->free_at = done->end;
		disk->head = track_of(done->sector + done->sectors - 1);
		serve(disk);
	}
	return true;
}
