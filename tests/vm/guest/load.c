// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Runs tasks and loads on one block device or file, with direct I/O and one outstanding request per
 * thread:
 *
 *   load DEVICE SECONDS SOURCE...
 *     task:PERIOD_US:SPREAD_US:KIB:r|w   real-time class; releases are PERIOD to PERIOD + SPREAD
 *                                        apart, and all tasks with the same two figures release together
 *     read:THREADS:KIB                   best effort, random places
 *     write:THREADS:KIB                  best effort, each thread writes in sequence
 *     scan:THREADS:KIB                   best effort, each thread reads in sequence
 *
 * Threads with the same request size use different places, so that requests can be distinguished in
 * a trace. At the end the program prints, for each thread, `source INDEX task|load REQUESTS
 * RESPONSE_MAX`, and for each request of a task `job INDEX BEGIN END`: the monotonic clock just
 * before and just after the system call, in ns.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 2100
#define JOBS_MAX 4096
enum { REAL_TIME = 1, BEST_EFFORT = 2 };

struct source {
	pthread_t thread;
	unsigned index;
	bool is_task, writes, in_sequence;
	uint64_t period, spread, size; /* ns, ns, bytes */
	uint64_t count, response_max;  /* results: requests, ns */
	struct job { uint64_t begin, end; } *jobs;
};

static const char *device;
static uint64_t device_size, begin_at, end_at;
static struct source sources[THREADS_MAX];
static unsigned source_count;
static pthread_barrier_t ready, begun;

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

/* Xorshift by Marsaglia, "Xorshift RNGs", 2003. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Returns the next place of a source. */
static uint64_t place(const struct source *source, uint64_t *state)
{
	uint64_t blocks = device_size / source->size / source_count;
	uint64_t block = source->in_sequence ? source->count % blocks : draw(state) % blocks;

	return (block * source_count + source->index) * source->size;
}

static void request(struct source *source, int fd, void *buffer, uint64_t *state)
{
	uint64_t at = place(source, state), begin = now(), end;
	ssize_t done = source->writes ? pwrite(fd, buffer, source->size, at) : pread(fd, buffer, source->size, at);

	if (done != (ssize_t)source->size)
		fail("request");
	end = now();
	if (end - begin > source->response_max)
		source->response_max = end - begin;
	if (source->is_task && source->count < JOBS_MAX)
		source->jobs[source->count] = (struct job){ begin, end };
	source->count++;
}

static void *run(void *argument)
{
	struct source *source = argument;
	/* Tasks share the release times, but not the places. */
	uint64_t places = 0x9e3779b97f4a7c15ull * (source->index + 1), releases = 0xd1b54a32d192ed03ull, next;
	int class = source->is_task ? REAL_TIME : BEST_EFFORT;
	int fd = open(device, (source->writes ? O_WRONLY : O_RDONLY) | O_DIRECT);
	void *buffer;

	if (fd < 0 || posix_memalign(&buffer, 4096, source->size))
		fail(device);
	memset(buffer, 0, source->size);
	if (source->is_task && !(source->jobs = calloc(JOBS_MAX, sizeof(struct job))))
		fail("calloc");
	if (syscall(SYS_ioprio_set, 1, 0, class << 13 | 4))
		fail("ioprio_set");
	prctl(PR_SET_TIMERSLACK, 1);
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&begun);
	next = begin_at;
	while (now() < end_at) {
		if (source->is_task) {
			next += source->period + (source->spread ? draw(&releases) % source->spread : 0);
			if (next < now())
				next = now();
			sleep_until(next);
		}
		request(source, fd, buffer, &places);
	}
	return NULL;
}

static void add(struct source source, unsigned threads)
{
	while (threads--) {
		if (source_count == THREADS_MAX) {
			fprintf(stderr, "load: too many threads\n");
			exit(1);
		}
		source.index = source_count;
		sources[source_count++] = source;
	}
}

static void parse(const char *text)
{
	unsigned long long period, spread, kib;
	unsigned threads;
	char op;

	if (sscanf(text, "task:%llu:%llu:%llu:%c", &period, &spread, &kib, &op) == 4)
		add((struct source){ .is_task = true, .writes = op == 'w', .period = period * 1000,
				     .spread = spread * 1000, .size = kib * 1024 }, 1);
	else if (sscanf(text, "read:%u:%llu", &threads, &kib) == 2)
		add((struct source){ .size = kib * 1024 }, threads);
	else if (sscanf(text, "write:%u:%llu", &threads, &kib) == 2)
		add((struct source){ .writes = true, .in_sequence = true, .size = kib * 1024 }, threads);
	else if (sscanf(text, "scan:%u:%llu", &threads, &kib) == 2)
		add((struct source){ .in_sequence = true, .size = kib * 1024 }, threads);
	else
		fprintf(stderr, "load: no source: %s\n", text), exit(1);
}

static void report(const struct source *source)
{
	printf("source %u %s %llu %llu\n", source->index, source->is_task ? "task" : "load",
	       (unsigned long long)source->count, (unsigned long long)source->response_max);
	for (uint64_t i = 0; source->jobs && i < source->count && i < JOBS_MAX; i++)
		printf("job %u %llu %llu\n", source->index, (unsigned long long)source->jobs[i].begin,
		       (unsigned long long)source->jobs[i].end);
}

/* Finds the size of a block device or a file; returns false if it has none. */
static bool find_size(int fd)
{
	struct stat facts;

	if (fstat(fd, &facts))
		return false;
	device_size = facts.st_size;
	return !S_ISBLK(facts.st_mode) || !ioctl(fd, BLKGETSIZE64, &device_size);
}

int main(int count, char **arguments)
{
	pthread_attr_t small;
	int fd;

	if (count < 4)
		return 1;
	device = arguments[1];
	fd = open(device, O_RDONLY);
	if (fd < 0 || !find_size(fd))
		fail(device);
	for (int i = 3; i < count; i++)
		parse(arguments[i]);
	pthread_barrier_init(&ready, NULL, source_count + 1);
	pthread_barrier_init(&begun, NULL, source_count + 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (unsigned i = 0; i < source_count; i++)
		if (pthread_create(&sources[i].thread, &small, run, &sources[i]))
			fail("pthread_create");
	/* No task begins while other threads still use the processor to get ready. */
	pthread_barrier_wait(&ready);
	begin_at = now();
	end_at = begin_at + strtoull(arguments[2], NULL, 10) * 1000000000ull;
	pthread_barrier_wait(&begun);
	for (unsigned i = 0; i < source_count; i++)
		pthread_join(sources[i].thread, NULL);
	for (unsigned i = 0; i < source_count; i++)
		report(&sources[i]);
	return 0;
}
