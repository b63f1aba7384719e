// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// A recorder in C: writes one frame per period into an export with a contract, for some seconds,
// and admits a second export meanwhile. Exits with 1 if a frame completed after its deadline.
//
//   cargo build --release -p tidegate-capi
//   cc -std=c11 -I crates/capi/include -o recorder crates/capi/examples/recorder.c
//       -L target/release -ltidegate -Wl,-rpath,"$PWD/target/release"      (all in one line)
//   ./recorder workloads/recorders.serve.toml front 5

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tidegate.h"

static int failed(const char *what, int32_t error) {
    fprintf(stderr, "recorder: %s: %s: %s\n", what, strerror(-error), tidegate_error());
    return 2;
}

// Writes one frame per period. Returns 0 if all met the deadline, 1 if some were late, 2 on error.
static int record(struct tidegate_export *camera, double seconds) {
    struct tidegate_export_facts facts;
    int32_t error = tidegate_export_describe(camera, &facts);
    if (error != 0) {
        return failed("describe", error);
    }
    if (facts.period_ns == 0) {
        fprintf(stderr, "recorder: the export has no contract; name one that has\n");
        return 2;
    }
    unsigned char *frame = malloc(facts.request_bytes_max);
    if (frame == NULL) {
        perror("recorder");
        return 2;
    }
    memset(frame, 7, facts.request_bytes_max);

    uint64_t slots = facts.size_bytes / facts.request_bytes_max;
    uint64_t frames = (uint64_t)(seconds * 1e9 / (double)facts.period_ns);
    uint64_t late = 0, longest_ns = 0;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint64_t number = 0; number < frames; number++) {
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        struct tidegate_pending *pending;
        struct tidegate_answer answer;
        uint64_t offset = number % slots * facts.request_bytes_max;
        error = tidegate_submit_write(camera, frame, facts.request_bytes_max, offset,
                                      TIDEGATE_DURABLE, &pending);
        if (error == 0) {
            // A camera would take the next picture here.
            error = tidegate_await(pending, NULL, 0, &answer);
        }
        if (error != 0) {
            free(frame);
            return failed("write", error);
        }
        if (answer.response_ns > facts.deadline_ns) {
            late++;
            tidegate_notice(camera, TIDEGATE_DEADLINE_MISSED);
        }
        if (answer.response_ns > longest_ns) {
            longest_ns = answer.response_ns;
        }
        uint64_t ns = (uint64_t)next.tv_nsec + facts.period_ns;
        next.tv_sec += (time_t)(ns / 1000000000);
        next.tv_nsec = (long)(ns % 1000000000);
    }
    free(frame);
    printf("%llu frames, %llu late, longest %.3f ms, proved %.3f ms\n", (unsigned long long)frames,
           (unsigned long long)late, (double)longest_ns / 1e6, (double)facts.bound_ns / 1e6);
    return late != 0;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: recorder FILE.serve.toml EXPORT SECONDS\n");
        return 2;
    }
    struct tidegate_engine *engine;
    int32_t error = tidegate_open(argv[1], 0, &engine);
    if (error != 0) {
        return failed(argv[1], error);
    }
    // Admits a best-effort export while the engine runs. A refusal is also a valid answer.
    char *answer;
    error = tidegate_ask(engine,
                         "{\"do\":\"admit\",\"export\":{\"name\":\"visitor\",\"size\":\"1MiB\","
                         "\"best_effort\":true}}",
                         &answer);
    if (error != 0) {
        tidegate_close(engine);
        return failed("ask", error);
    }
    printf("admit: %s\n", answer);
    tidegate_free_text(answer);

    struct tidegate_export *camera;
    error = tidegate_export_find(engine, argv[2], &camera);
    int found = error != 0 ? failed(argv[2], error) : record(camera, atof(argv[3]));
    if (error == 0) {
        tidegate_export_free(camera);
    }
    error = tidegate_close(engine);
    return error != 0 ? failed("close", error) : found;
}
