// SPDX-License-Identifier: Apache-2.0 OR MIT
// seL4's sporadic server (src/kernel/sporadic.c, unmodified) behind the line protocol of the
// conformance suite. How to build it: docs/reference/conformance.md.
//
//   --charge   charge preemptions here; seL4 itself has no such charge
#include <types.h>
#include <object/structures.h>
#include <stdlib.h>
#include <string.h>

ticks_t ksCurTime;
sched_context_t *ksCurSC;
bool_t ksReprogram;
ticks_t wcet_ticks = 1;

static struct {
    sched_context_t sc;
    refill_t refills[4096];
} memory;

#ifdef REFILL_HEAD /* seL4 11: macros, and the caller passes the capacity */
#define HEAD(sc) (&REFILL_HEAD(sc))
#define AT(sc, i) (&REFILL_INDEX(sc, i))
static void CHARGE(sched_context_t *sc, ticks_t used)
{
    ticks_t capacity = refill_capacity(sc, used);
    if (capacity < MIN_BUDGET || refill_full(sc)) {
        refill_budget_check(used, capacity);
    } else {
        refill_split_check(used);
    }
}
#else
#define HEAD(sc) refill_head(sc)
#define AT(sc, i) refill_index(sc, i)
#define CHARGE(sc, used) refill_budget_check(used)
#endif

/* Returns the number after a key in a JSON line; -1 if there is none. */
static long long number(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? atoll(strchr(at + strlen(key), ':') + 1) : -1;
}

static void new_server(sched_context_t *sc, const char *line)
{
    word_t refills = number(line, "\"replenishments_max\"");
    ksCurTime = 0;
    memset(&memory, 0, sizeof memory);
    sc->scSporadic = true;
    refill_new(sc, refills < MIN_REFILLS ? MIN_REFILLS : refills,
               number(line, "\"budget_ns\""), number(line, "\"period_ns\""));
}

static void reply(sched_context_t *sc, bool is_new, bool charges)
{
    bool ready = refill_ready(sc) && refill_sufficient(sc, 0);
    printf("{\"budget_ns\":%lu,\"alarm_ns\":", ready ? HEAD(sc)->rAmount : 0);
    printf(ready ? "null" : "%lu", HEAD(sc)->rTime);
    printf(",\"replenishments_ns\":[");
    for (word_t i = sc->scRefillHead;; i = i == sc->scRefillMax - 1 ? 0 : i + 1) {
        printf("[%lu,%lu]", AT(sc, i)->rTime, AT(sc, i)->rAmount);
        if (i == sc->scRefillTail) {
            break;
        }
        printf(",");
    }
    printf("]");
    if (is_new) {
        printf(",\"supports\":{\"preemption_charge\":%s,\"replenishments_min\":%u,"
               "\"replenishments_max\":4096}", charges ? "true" : "false", MIN_REFILLS);
    }
    printf("}\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static char line[65536];
    sched_context_t *sc = &memory.sc;
    bool charges = argc > 1 && !strcmp(argv[1], "--charge");
    ticks_t charge = 0;
    ksCurSC = sc;
    while (fgets(line, sizeof line, stdin)) {
        bool is_new = strstr(line, "\"new\"");
        if (is_new) {
            new_server(sc, line);
            charge = charges ? number(line, "\"preemption_charge_ns\"") : 0;
        } else {
            ksCurTime = number(line, "\"now_ns\"");
            ticks_t executed = number(line, "\"executed_ns\"");
            if (executed > 0) {
                CHARGE(sc, executed);
            }
            if (strstr(line, "\"unblock\"")) {
                refill_unblock_check(sc);
            } else if (charge && strstr(line, "\"preempts\":true")) {
                CHARGE(sc, charge);
            }
        }
        reply(sc, is_new, charges);
    }
}
