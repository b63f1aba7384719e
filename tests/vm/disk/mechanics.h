/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A disk whose worst case is known: if it gets no more requests after one that leaves k of them on
 * it, it is empty within drain(k) = k * access_max. docs/evidence/stock-kernel.md proves this for
 * both kinds.
 *
 * The disk has its own time. When a request completes at `end`, the next one begins at `end`,
 * however late the kernel's timer is. So the contract holds exactly, and all lateness is the
 * host's.
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
	u64 came;	/* ns; arrival */
	u64 end;	/* ns; completion, 0 before it is served */
};

enum kind {
	SEEK,		/* one arm, a rotating medium, shortest access time first */
	RESTART,	/* each request makes all others wait again */
};

struct mechanics {
	enum kind kind;
	u64 access_max;	/* ns: longest access of a single request */
	u64 age_max;	/* ns: SEEK, wait after which the oldest is served first; 0: never */
	u64 sectors;	/* size of the disk */
	struct place held[DEPTH_MAX];
	unsigned int count;
	u64 free_at;	/* ns: SEEK, when the arm becomes free */
	u64 head;	/* SEEK: the track under the head */
};

/* The parameters of the kind SEEK; access_max_ns of tests/vm uses the same ones. */
#define TRACK_SECTORS 1024u
#define TURN_NS 6000000u
#define SEEK_MIN_NS 400000u
#define SEEK_MAX_NS 9000000u

/* Adds a request at `now`; returns false if the disk is full. */
bool mechanics_add(struct mechanics *disk, struct place request, u64 now);

/* Returns the time of the next completion; 0 if none comes before another request arrives. */
u64 mechanics_next(const struct mechanics *disk);

/*
 * Removes a request that is complete at `now`, and copies it to `done`; returns false if there
 * is none.
 */
bool mechanics_done(struct mechanics *disk, u64 now, struct place *done);

#endif
