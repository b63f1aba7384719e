// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Copies its input into reserved memory of the guest, which the host reads as a file. Argument 1 is
 * the memory's address, and argument 2 its size. The first 8 bytes are the length of the text that
 * follows.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments)
{
	uint64_t used = 0, size;
	ssize_t got;
	char *memory;
	int fd;

	if (count != 3)
		return 1;
	size = strtoull(arguments[2], NULL, 0);
	fd = open("/dev/mem", O_RDWR);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, strtoll(arguments[1], NULL, 0));
	if (memory == MAP_FAILED) {
		perror("dump");
		return 1;
	}
	while (used + 8 < size && (got = read(0, memory + 8 + used, size - 8 - used)) > 0)
		used += got;
	*(uint64_t *)memory = used;
	return used + 8 == size;
}
