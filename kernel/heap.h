/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Leftist heaps of nodes that are embedded in their owners: the only kind of queue that the
 * policies use.
 *
 * The root has the smallest (key, order). No operation allocates. In a heap of n nodes, adding a
 * node and removing any node each take at most about 4 * log2(n + 1) steps, in the worst case and
 * not only amortised. Reading the two smallest keys is O(1).
 *
 * Source: C. A. Crane, "Linear Lists and Priority Queues as Balanced Binary Trees", Stanford 1972;
 * removal of any node: D. E. Knuth, "The Art of Computer Programming", volume 3, 5.2.3.
 */
#ifndef TG_HEAP_H
#define TG_HEAP_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef uint32_t u32;
typedef uint64_t u64;
#endif

/* A value greater than every key. */
#define TG_NEVER (~(u64)0)

struct tg_node {
	struct tg_node *parent, *left, *right;
	u64 key, order;
	u32 rank;	/* length of the right spine, the shortest path to a missing child */
};

struct tg_heap {
	struct tg_node *root;
	u32 count;
};

void tg_heap_add(struct tg_heap *heap, struct tg_node *node, u64 key, u64 order);

/* Removes a node, which must be in this heap. */
void tg_heap_remove(struct tg_heap *heap, struct tg_node *node);

/* Returns the second-smallest key, or TG_NEVER if there is none. */
u64 tg_heap_second_key(const struct tg_heap *heap);

/* Returns the smallest key, or TG_NEVER if the heap is empty. */
static inline u64 tg_heap_key(const struct tg_heap *heap)
{
	return heap->root ? heap->root->key : TG_NEVER;
}

#endif
