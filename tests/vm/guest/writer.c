// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Writes a piece of a file in each period, and waits until the piece is durable:
 *
 *   writer FILE SECONDS PERIOD_US KIB HOW
 *     direct    O_DIRECT, over the file's existing data
 *     synced    like direct, then fdatasync
 *     append    O_DIRECT at the end of the file, then fsync
 *     buffered  through the page cache, then fsync
 *     lazy      through the page cache, without waiting for the disk
 *
 * The program runs in the I/O class of its caller. At the end it prints, for each piece, `job 0
 * BEGIN END`: the monotonic clock just before and just after the system calls, in ns.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define JOBS_MAX 4096

static struct job { uint64_t begin, end; } jobs[JOBS_MAX];

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void sleep_until(uint64_t instant)
{
	struct timespec time = { instant / 1000000000ull, instant % 1000000000ull };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

int main(int count, char **arguments)
{
	if (count != 6)
		return 1;
	const char *how = arguments[5];
	bool is_direct = strcmp(how, "buffered") && strcmp(how, "lazy"), appends = !strcmp(how, "append");
	uint64_t end_at = now() + strtoull(arguments[2], NULL, 10) * 1000000000ull;
	uint64_t period = strtoull(arguments[3], NULL, 10) * 1000, next = now();
	size_t size = strtoull(arguments[4], NULL, 10) * 1024, made = 0;
	int fd = open(arguments[1], O_WRONLY | O_CREAT | (is_direct ? O_DIRECT : 0), 0644);
	struct stat facts;
	void *buffer;

	if (fd < 0 || fstat(fd, &facts) || posix_memalign(&buffer, 4096, size))
		fail(arguments[1]);
	memset(buffer, 0xa5, size);
	prctl(PR_SET_TIMERSLACK, 1);
	for (; now() < end_at && made < JOBS_MAX; made++) {
		off_t at = appends ? facts.st_size + (off_t)(made * size)
				   : (off_t)(made % (facts.st_size >= (off_t)size ? facts.st_size / size : 1) * size);

		next = next + period < now() ? now() : next + period;
		sleep_until(next);
		jobs[made].begin = now();
		if (pwrite(fd, buffer, size, at) != (ssize_t)size)
			fail("write");
		if (!strcmp(how, "synced") && fdatasync(fd))
			fail("fdatasync");
		if ((appends || !strcmp(how, "buffered")) && fsync(fd))
			fail("fsync");
		jobs[made].end = now();
	}
	for (size_t i = 0; i < made; i++)
		printf("job 0 %llu %llu\n", (unsigned long long)jobs[i].begin, (unsigned long long)jobs[i].end);
	return 0;
}
