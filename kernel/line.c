// SPDX-License-Identifier: GPL-2.0-only
/* Creates and frees lines; keys.c parses them. */
#include "line.h"

#include <linux/slab.h>

/* Returns a copy of the line's text as it was written. */
static char *join(const struct dm_arg_set *args)
{
	size_t size = 1, at = 0;
	unsigned int i;
	char *text;

	for (i = 0; i < args->argc; i++)
		size += strlen(args->argv[i]) + 1;
	text = kvmalloc(size, GFP_KERNEL);
	if (!text)
		return NULL;
	text[0] = 0;
	for (i = 0; i < args->argc; i++)
		at += scnprintf(text + at, size - at, i ? " %s" : "%s", args->argv[i]);
	return text;
}

static bool read_line(struct tg_line *line, struct dm_arg_set *args, const char **reason)
{
	*reason = "out of memory";
	line->text = join(args);
	return line->text && tg_line_read_keys(line, args, reason);
}

struct tg_line *tg_line_read(struct dm_arg_set *args, char **reason)
{
	struct tg_line *line = kvzalloc(sizeof(*line), GFP_KERNEL);
	const char *fault;

	*reason = "out of memory";
	if (!line)
		return ERR_PTR(-ENOMEM);
	kref_init(&line->kref);
	line->plan.tasks = line->tasks;
	tg_signs_init(&line->signs);
	if (read_line(line, args, &fault))
		return line;
	*reason = (char *)fault;
	tg_line_put(line);
	return ERR_PTR(-EINVAL);
}

struct tg_line *tg_line_get(struct tg_line *line)
{
	kref_get(&line->kref);
	return line;
}

static void release(struct kref *kref)
{
	struct tg_line *line = container_of(kref, struct tg_line, kref);

	kvfree(line->text);
	kvfree(line->batch);
	kvfree(line->drain);
	kvfree(line->plan.units);
	kvfree(line);
}

void tg_line_put(struct tg_line *line)
{
	if (line)
		kref_put(&line->kref, release);
}
