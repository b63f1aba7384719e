// SPDX-License-Identifier: GPL-2.0-only
/* Finds the task to which a request belongs; see signs.h. */
#include "signs.h"

void tg_signs_init(struct tg_signs *signs)
{
	u32 level;

	signs->group_count = 0;
	signs->place_count = 0;
	for (level = 0; level < TG_LEVELS; level++)
		signs->task_of_level[level] = TG_NO_TASK;
}

const char *tg_signs_add_level(struct tg_signs *signs, u32 level, u32 task)
{
	if (level >= TG_LEVELS)
		return "the real-time class has the levels 0 to 7";
	if (signs->task_of_level[level] != TG_NO_TASK)
		return "two tasks have the same level";
	signs->task_of_level[level] = task;
	return NULL;
}

/*
 * Returns the length of a path without a final slash, or 0 if the path is not that of a
 * cgroup.
 */
static u32 path_length(const char *path)
{
	u32 length;

	if (path[0] != '/')
		return 0;
	/* Spaces separate the words of a table line, so a word cannot contain any. */
	for (length = 1; path[length]; length++)
		if (length + 1 >= TG_PATH_MAX || path[length] == ' ' ||
		    (path[length] == '/' && path[length - 1] == '/'))
			return 0;
	return length > 1 && path[length - 1] != '/' ? length : 0;
}

static bool is_prefix(const struct tg_group *group, const char *path)
{
	u32 i;

	/*
	 * The loop stops at the first difference, so it does not read past the end
	 * of the path.
	 */
	for (i = 0; i < group->length; i++)
		if (group->path[i] != path[i])
			return false;
	return true;
}

const char *tg_signs_add_group(struct tg_signs *signs, const char *path, u32 task)
{
	u32 length = path_length(path), i;
	struct tg_group *group;

	if (!length)
		return "a cgroup has a path as in /system.slice/a.service, of at most 223 bytes";
	if (signs->group_count == TG_SIGNS)
		return "a line has at most 64 cgroups";
	for (i = 0; i < signs->group_count; i++)
		if (signs->groups[i].length == length && is_prefix(&signs->groups[i], path))
			return "two tasks have the same cgroup";
	group = &signs->groups[signs->group_count++];
	for (i = 0; i <= length; i++)
		group->path[i] = path[i];
	group->length = length;
	group->task = task;
	return NULL;
}

/* Returns the number of places that begin at or before this sector. */
static u32 begun(const struct tg_signs *signs, u64 sector)
{
	u32 low = 0, high = signs->place_count, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (signs->places[middle].first <= sector)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *tg_signs_add_place(struct tg_signs *signs, u64 first, u64 count, u32 task)
{
	u32 at = begun(signs, first), i;

	if (!count || first + count < first)
		return "a place has at least one sector";
	if (signs->place_count == TG_SIGNS)
		return "a line has at most 64 places";
	if ((at && signs->places[at - 1].count > first - signs->places[at - 1].first) ||
	    (at < signs->place_count && signs->places[at].first - first < count))
		return "two places overlap";
	for (i = signs->place_count++; i > at; i--)
		signs->places[i] = signs->places[i - 1];
	signs->places[at] = (struct tg_place){ .first = first, .count = count, .task = task };
	return NULL;
}

bool tg_signs_have(const struct tg_signs *signs, u32 task)
{
	u32 i;

	for (i = 0; i < TG_LEVELS; i++)
		if (signs->task_of_level[i] == task)
			return true;
	for (i = 0; i < signs->group_count; i++)
		if (signs->groups[i].task == task)
			return true;
	for (i = 0; i < signs->place_count; i++)
		if (signs->places[i].task == task)
			return true;
	return false;
}

u32 tg_signs_group(const struct tg_signs *signs, const char *path)
{
	u32 task = TG_NO_TASK, longest = 0, i;

	for (i = 0; i < signs->group_count; i++) {
		const struct tg_group *group = &signs->groups[i];

		if (group->length <= longest || !is_prefix(group, path))
			continue;
		if (path[group->length] && path[group->length] != '/')
			continue;
		longest = group->length;
		task = group->task;
	}
	return task;
}

u32 tg_signs_task(const struct tg_signs *signs, u32 of_group, u64 sector, u32 level)
{
	const struct tg_place *place;
	u32 at;

	if (of_group != TG_NO_TASK)
		return of_group;
	at = begun(signs, sector);
	if (at) {
		place = &signs->places[at - 1];
		if (sector - place->first < place->count)
			return place->task;
	}
	return level < TG_LEVELS ? signs->task_of_level[level] : TG_NO_TASK;
}
