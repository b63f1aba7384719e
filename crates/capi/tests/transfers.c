// SPDX-License-Identifier: Apache-2.0 OR MIT
// Calls every function of the library at least once; prints nothing and exits with 0 on success.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tidegate.h"

#define CHECK(is_so)                                                                   \
    do {                                                                               \
        if (!(is_so)) {                                                                \
            printf("%d: %s (last fault: %s)\n", __LINE__, #is_so, tidegate_error());   \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

enum { SIZE = 40 << 10 };

static unsigned char out[SIZE], in[SIZE];

int main(void) {
    struct tidegate_engine *engine = NULL;
    CHECK(strlen(tidegate_version()) > 0);
    CHECK(strcmp(tidegate_error(), "") == 0);
    CHECK(tidegate_open(NULL, 0, &engine) == -EINVAL);
    CHECK(strstr(tidegate_error(), "file is NULL") != NULL);
    CHECK(tidegate_open("serve.toml", 8, &engine) == -EINVAL && engine == NULL);
    CHECK(tidegate_open("serve.toml", TIDEGATE_FORCE, &engine) == 0);

    struct tidegate_export *rest = NULL, *camera = NULL;
    CHECK(tidegate_export_find(engine, "none", &rest) == -ENOENT && rest == NULL);
    CHECK(tidegate_export_find(engine, "rest", &rest) == 0);
    CHECK(tidegate_export_find(engine, "camera", &camera) == 0);
    struct tidegate_export_facts facts;
    CHECK(tidegate_export_describe(rest, &facts) == 0);
    CHECK(facts.size_bytes == 64 << 20 && facts.requests == 0 && facts.bound_ns == 0);
    CHECK(tidegate_export_describe(camera, &facts) == 0);
    CHECK(facts.requests == 1 && facts.period_ns == 50000000 && facts.bound_ns > 1000000);
    CHECK(!facts.is_read_only && facts.request_bytes_max == 16 << 10);

    // Writes and reads several parts, then zeroes some of them.
    for (size_t at = 0; at < SIZE; at++) {
        out[at] = (unsigned char)(at * 7 + at / 512);
    }
    CHECK(tidegate_write(rest, out, SIZE, 4096, TIDEGATE_DURABLE) == 0);
    CHECK(tidegate_read(rest, in, SIZE, 4096) == 0);
    CHECK(memcmp(out, in, SIZE) == 0);
    CHECK(tidegate_zero(rest, 20 << 10, 4096, 0) == 0);
    CHECK(tidegate_flush(rest) == 0);
    CHECK(tidegate_read(rest, in, SIZE, 4096) == 0);
    memset(out, 0, 20 << 10);
    CHECK(memcmp(out, in, SIZE) == 0);
    // More zeroes than can be in flight at the same time.
    CHECK(tidegate_zero(rest, 20 << 20, 0, TIDEGATE_DURABLE) == 0);

    // Submitted requests: written bytes are copied at submission, and requests stay in order.
    struct tidegate_pending *write, *read, *flush;
    struct tidegate_answer answer;
    memset(out, 5, 4096);
    CHECK(tidegate_submit_write(camera, out, 4096, 0, 0, &write) == 0);
    memset(out, 6, 4096);
    CHECK(tidegate_submit_read(camera, 4096, 0, &read) == 0);
    CHECK(tidegate_await(read, in, 4096, NULL) == 0);
    CHECK(tidegate_is_answered(write) == 1);
    CHECK(tidegate_await(write, NULL, 0, &answer) == 0);
    CHECK(in[0] == 5 && in[4095] == 5);
    CHECK(answer.response_ns > 0 && answer.is_within_contract);
    CHECK(tidegate_submit_flush(camera, &flush) == 0);
    CHECK(tidegate_await(flush, NULL, 0, NULL) == 0);
    CHECK(tidegate_submit_read(rest, 4096, 0, &read) == 0);
    CHECK(tidegate_await(read, in, 512, NULL) == -EINVAL);

    // Invalid calls fail and change nothing.
    CHECK(tidegate_read(rest, in, 512, 64 << 20) == -ENOSPC);
    CHECK(tidegate_read(rest, in, 100, 0) == -EINVAL);
    CHECK(strstr(tidegate_error(), "multiples of") != NULL);
    CHECK(tidegate_read(rest, NULL, 512, 0) == -EINVAL);
    CHECK(tidegate_write(rest, out, 512, 0, 2) == -EINVAL);
    CHECK(tidegate_notice(camera, TIDEGATE_STREAM_ENDED) == 0);
    CHECK(tidegate_notice(camera, 9) == -EINVAL);

    char *text = NULL;
    CHECK(tidegate_ask(engine, "{\"do\":\"statistics\"}", &text) == 0);
    CHECK(strncmp(text, "{\"ok\":true", 10) == 0);
    tidegate_free_text(text);
    CHECK(tidegate_ask(engine, "{\"do\":\"stop\"}", &text) == 0);
    CHECK(strncmp(text, "{\"ok\":false", 11) == 0);
    tidegate_free_text(text);
    CHECK(tidegate_ask(engine, NULL, &text) == -EINVAL && text == NULL);

    CHECK(tidegate_close(engine) == 0);
    CHECK(tidegate_read(rest, in, 512, 0) == -ESHUTDOWN);
    tidegate_export_free(rest);
    tidegate_export_free(camera);
    tidegate_export_free(NULL);
    CHECK(tidegate_close(NULL) == 0);
    return 0;
}
