// SPDX-License-Identifier: Apache-2.0 OR MIT
// NuttX's sporadic server (sched/sched/sched_sporadic.c, unmodified) behind the line protocol of
// the conformance suite. How to build it: docs/reference/conformance.md.
#include <nuttx/config.h>
#include <nuttx/sched.h>
#include <string.h>
#include "sched/sched.h"

#define TICK_NS 1000
enum { HIGH = 180, LOW = 20 };

long asserts_failed;
int64_t CLK;
static struct tcb_s thread;
static bool is_running;

/*
 * Replacements for the kernel functions that the file calls: timers of a simulated clock,
 * and priorities.
 */
int wd_start(struct wdog_s *timer, int64_t delay, wdentry_t call, wdparm_t argument)
{
    *timer = (struct wdog_s) { .on = true, .at = CLK + delay, .fn = call, .arg = argument };
    return 0;
}

int wd_cancel(struct wdog_s *timer)
{
    timer->on = false;
    return 0;
}

int nxsched_reprioritize(struct tcb_s *tcb, int priority)
{
    tcb->sched_priority = tcb->base_priority = priority;
    return 0;
}

static struct wdog_s *next_timer(void)
{
    struct wdog_s *first = NULL;
    for (int i = 0; i < CONFIG_SCHED_SPORADIC_MAXREPL; i++) {
        struct wdog_s *timer = &thread.sporadic->replenishments[i].timer;
        if (timer->on && (!first || timer->at < first->at)) {
            first = timer;
        }
    }
    return first;
}

static bool is_high(void)
{
    return thread.sched_priority == thread.sporadic->hi_priority;
}

/*
 * Expires timers up to `now`. While the thread executes, timers expire only when the suite
 * asks.
 */
static void advance(int64_t now)
{
    struct wdog_s *timer;
    while ((timer = next_timer()) && timer->at <= now) {
        CLK = is_running ? now : timer->at;
        timer->on = false;
        timer->fn(timer->arg);
    }
    CLK = now;
}

/* Returns the number after a key in a JSON line; -1 if there is none. */
static long long number(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? atoll(strchr(at + strlen(key), ':') + 1) : -1;
}

static void stop(void)
{
    if (is_running) {
        is_running = false;
        nxsched_suspend_sporadic(&thread);
    }
}

static void new_server(const char *line)
{
    CLK = 0;
    is_running = false;
    free(thread.sporadic);
    memset(&thread, 0, sizeof thread);
    nxsched_initialize_sporadic(&thread);
    struct sporadic_s *sporadic = thread.sporadic;
    sporadic->hi_priority = HIGH;
    sporadic->low_priority = LOW;
    sporadic->max_repl = number(line, "\"replenishments_max\"");
    sporadic->repl_period = number(line, "\"period_ns\"") / TICK_NS;
    sporadic->budget = number(line, "\"budget_ns\"") / TICK_NS;
    thread.sched_priority = LOW;
    nxsched_start_sporadic(&thread);
}

static void event(const char *line)
{
    int64_t now = number(line, "\"now_ns\"") / TICK_NS;
    int64_t executed = number(line, "\"executed_ns\"") / TICK_NS;
    if (is_running && executed > 0) {
        CLK = now;
        nxsched_process_sporadic(&thread, executed, false);
    }
    advance(now);
    if (strstr(line, "\"dispatch\"")) {
        is_running = true;
        nxsched_resume_sporadic(&thread);
    } else if (strstr(line, "\"preempt\"") || strstr(line, "\"block\"")) {
        stop();
    }
    if (!is_high()) {
        stop();
    }
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
        struct wdog_s *timer = next_timer();
        int64_t budget = is_high() && timer ? timer->at - CLK : 0;
        printf("{\"budget_ns\":%ld,\"alarm_ns\":", budget * TICK_NS);
        if (timer) {
            printf("%ld", timer->at * TICK_NS);
        } else {
            printf("null");
        }
        if (is_new) {
            printf(",\"supports\":{\"replenishments_min\":1,\"replenishments_max\":%d,"
                   "\"granularity_ns\":%d}", CONFIG_SCHED_SPORADIC_MAXREPL, TICK_NS);
        }
        printf("}\n");
        fflush(stdout);
    }
}
