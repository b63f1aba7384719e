// SPDX-License-Identifier: GPL-2.0-only
#include "heap.h"

static u32 rank(const struct tg_node *node)
{
	return node ? node->rank : 0;
}

static bool is_before(const struct tg_node *a, const struct tg_node *b)
{
	return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/*
 * Restores the rule that the right spine is the shortest path; returns whether the spine's
 * length changed.
 */
static bool restore(struct tg_node *node)
{
	struct tg_node *left = node->left;
	u32 old = node->rank;

	if (rank(left) < rank(node->right)) {
		node->left = node->right;
		node->right = left;
	}
	node->rank = rank(node->right) + 1;
	return node->rank != old;
}

/*
 * Merges two right spines in the order of rising keys, then restores the merged spine from its
 * end. Each spine has at most log2(n + 1) nodes. Returns the root, which has no parent.
 */
static struct tg_node *merge(struct tg_node *a, struct tg_node *b)
{
	struct tg_node *root = NULL, **link = &root, *above = NULL, *other;

	while (a && b) {
		if (is_before(b, a)) {
			other = a;
			a = b;
			b = other;
		}
		*link = a;
		a->parent = above;
		above = a;
		link = &a->right;
		a = a->right;
	}
	*link = a ? a : b;
	if (*link)
		(*link)->parent = above;
	for (; above; above = above->parent)
		restore(above);
	return root;
}

void tg_heap_add(struct tg_heap *heap, struct tg_node *node, u64 key, u64 order)
{
	*node = (struct tg_node){ .key = key, .order = order, .rank = 1 };
	heap->root = merge(heap->root, node);
	heap->count++;
}

void tg_heap_remove(struct tg_heap *heap, struct tg_node *node)
{
	struct tg_node *above = node->parent;
	struct tg_node *below = merge(node->left, node->right);

	if (below)
		below->parent = above;
	if (!above)
		heap->root = below;
	else if (above->left == node)
		above->left = below;
	else
		above->right = below;
	/* The rank rises with each step up, so the loop takes at most log2(n + 1) steps. */
	while (above && restore(above))
		above = above->parent;
	heap->count--;
}

u64 tg_heap_second_key(const struct tg_heap *heap)
{
	const struct tg_node *root = heap->root;
	u64 left = root && root->left ? root->left->key : TG_NEVER;
	u64 right = root && root->right ? root->right->key : TG_NEVER;

	return left < right ? left : right;
}
