// SPDX-License-Identifier: Apache-2.0 OR MIT
// RTEMS's sporadic server behind the line protocol of the conformance suite. Its functions are
// static in cpukit/posix/src/pthreadcreate.c: `sed` takes them from the unmodified file. How to
// build it: docs/reference/conformance.md.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS 1000
#define RTEMS_POSIX_API 1
#define THREAD_API_POSIX 0
#define RTEMS_CONTAINER_OF(p, type, member) ((type *) ((char *) (p) - offsetof(type, member)))

typedef struct { bool is_active; } Priority_Node;
typedef struct { int64_t at; } Watchdog_Control;
typedef struct { int unused; } Thread_queue_Context;
typedef struct {
    Priority_Node Real_priority;
    struct { uint32_t available; } CPU_budget;
    void *API_Extensions[1];
    bool is_preemptible;
    bool current_state;
} Thread_Control;
typedef struct {
    struct {
        Thread_Control *thread;
        Watchdog_Control Timer;
        Priority_Node Low_priority;
        uint32_t sched_ss_repl_period;
        uint32_t sched_ss_init_budget;
    } Sporadic;
} POSIX_API_Control;
typedef struct { void (*at_tick)(Thread_Control *), *at_context_switch, *initialize; }
    Thread_CPU_budget_operations;

static int64_t now;
static Thread_Control thread;
static POSIX_API_Control api_of_thread;

#define _Thread_queue_Context_initialize(context) ((void) (context))
#define _Thread_queue_Context_clear_priority_updates(context) ((void) (context))
#define _Thread_Wait_acquire(thread, context) ((void) (context))
#define _Thread_Wait_release(thread, context) ((void) (context))
#define _Thread_Priority_update(context) ((void) (context))
#define _Priority_Node_is_active(node) ((node)->is_active)
#define _Priority_Node_set_inactive(node) ((node)->is_active = false)
#define _Thread_Priority_add(thread, node, context) ((node)->is_active = true)
#define _Thread_Priority_remove(thread, node, context) ((node)->is_active = false)
#define _States_Is_ready(state) (state)
#define _Watchdog_Per_CPU_remove_ticks(timer) ((timer)->at = 0)
#define _Timespec_To_ticks(time) (*(time))
#define _Thread_Get_CPU(thread) 0
#define _Watchdog_Per_CPU_insert_ticks(timer, cpu, ticks) ((timer)->at = now + (ticks))
#define _Thread_CPU_budget_do_nothing NULL

#include "rtems-insert.h"
#include "rtems-server.h"

/* Returns the number after a key in a JSON line; -1 if there is none. */
static long long number(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? atoll(strchr(at + strlen(key), ':') + 1) : -1;
}

static void new_server(const char *line)
{
    now = 0;
    memset(&thread, 0, sizeof thread);
    memset(&api_of_thread, 0, sizeof api_of_thread);
    thread.API_Extensions[THREAD_API_POSIX] = &api_of_thread;
    thread.is_preemptible = thread.current_state = true;
    api_of_thread.Sporadic.thread = &thread;
    api_of_thread.Sporadic.sched_ss_repl_period = number(line, "\"period_ns\"") / TICK_NS;
    api_of_thread.Sporadic.sched_ss_init_budget = number(line, "\"budget_ns\"") / TICK_NS;
    _POSIX_Threads_Sporadic_timer(&api_of_thread.Sporadic.Timer);
}

static void event(const char *line)
{
    int64_t until = number(line, "\"now_ns\"") / TICK_NS;
    int64_t executed = number(line, "\"executed_ns\"") / TICK_NS;
    /*
     * The suite states how long the thread executed; the remaining ticks belong to other
     * threads.
     */
    while (executed-- > 0) {
        _POSIX_Threads_Sporadic_budget.at_tick(&thread);
    }
    while (api_of_thread.Sporadic.Timer.at <= until) {
        now = api_of_thread.Sporadic.Timer.at;
        _POSIX_Threads_Sporadic_timer(&api_of_thread.Sporadic.Timer);
    }
    now = until;
}

int main(void)
{
    static char line[65536];
    while (fgets(line, sizeof line, stdin)) {
        bool is_new = strstr(line, "\"new\"");
        if (is_new) {
            new_server(line);
        } else {
            event(line);
        }
        int64_t budget = thread.Real_priority.is_active ? thread.CPU_budget.available : 0;
        printf("{\"budget_ns\":%ld,\"alarm_ns\":%ld", budget * TICK_NS,
               api_of_thread.Sporadic.Timer.at * TICK_NS);
        if (is_new) {
            printf(",\"supports\":{\"replenishments_min\":1,\"granularity_ns\":%d}", TICK_NS);
        }
        printf("}\n");
        fflush(stdout);
    }
}
