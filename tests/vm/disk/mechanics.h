/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk whose worst case is known: if it gets no more requests after one that leaves k of them on
 * it, it is empty within drain(k) = k * access_max. docs/evidence/stock-kernel.md proves that for
 * both kinds.
 *
 * The disk has a time of its own. A request that completes at `end` begins the next one at `end`,
 * however late the kernel's timer is, so the contract holds exactly and lateness is the host's.
 */
#ifndef BENCH_MECHANICS_H
#define BENCH_MECHANICS_H

#include <linux/types.h>

#define DEPTH_MAX 64

/* A request on the disk. */
struct place {
	void *request;
	u64 sector;
	u32 sectors;
	bool is_real_time;
	u64 came;	/* ns */
	u64 end;	/* ns; 0 before it is served */
};

enum kind {
	SEEK,		/* one arm, a rotating medium, shortest access time first */
	RESTART,	/* each request makes all others wait again */
};

struct mechanics {
	enum kind kind;
	u64 access_max;	/* ns: the longest access of one request alone */
	u64 age_max;	/* ns: SEEK, the wait after which the oldest is served first; 0: never */
	u64 sectors;	/* of the disk */
	struct place held[DEPTH_MAX];
	unsigned int count;
	u64 free_at;	/* ns: SEEK, when the arm is free */
	u64 head;	/* SEEK: the track under it */
};

/* Figures of the kind SEEK; access_max_ns of tests/vm uses the same. */
#define TRACK_SECTORS 1024u
#define TURN_NS 6000000u
#define SEEK_MIN_NS 400000u
#define SEEK_MAX_NS 9000000u

/* Adds a request at `now`, if there is a place. */
bool mechanics_add(struct mechanics *disk, struct place request, u64 now);

/* Returns when the next request completes; 0 if none will before another arrives. */
u64 mechanics_next(const struct mechanics *disk);

/* Removes and returns a request that is complete at `now`; false if there is none. */
bool mechanics_done(struct mechanics *disk, u64 now, struct place *done);

#endif
