// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Faults to plant in the C code, each in one place. A conformance test that misses a fault is too
//! weak.

use std::fmt;

/// A fault in one place of a source file.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// The name of the source file.
    pub source: &'static str,
    /// The correct text, which must occur exactly once.
    pub right: &'static str,
    /// The text that replaces it.
    pub wrong: &'static str,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: `{}` for `{}`", self.source, self.wrong, self.right)
    }
}

/// Returns all faults to plant in the decisions.
pub fn all() -> impl Iterator<Item = Fault> {
    of(FAULTS)
}

/// Returns all faults to plant in the code that finds the task of a request by its signs.
pub fn of_signs() -> impl Iterator<Item = Fault> {
    of(SIGN_FAULTS)
}

type ByFile = [(&'static str, &'static [(&'static str, &'static str)])];

fn of(faults: &'static ByFile) -> impl Iterator<Item = Fault> {
    faults.iter().flat_map(|&(source, places)| {
        places.iter().map(move |&(right, wrong)| Fault { source, right, wrong })
    })
}

/// For each file, pairs of the correct text and the wrong one.
#[rustfmt::skip]
const FAULTS: &[(&str, &[(&str, &str)])] = &[
    ("heap.c", &[
        ("a->key != b->key ? a->key < b->key : a->order < b->order", "a->key != b->key ? a->key < b->key : a->order > b->order"),
        ("if (is_before(b, a)) {", "if (a->key > b->key + 1) {"),
        ("\telse if (above->left == node)\n\t\tabove->left = below;\n\telse\n\t\tabove->right = below;", "\telse if (above->left == node)\n\t\tabove->left = below;\n\telse\n\t\tabove->right = NULL;"),
        ("return left < right ? left : right;", "return left;"),
    ]),
    ("queues.c", &[
        ("push(tg, queue, request, 0);", "push(tg, queue, request, request->position);"),
        ("tg->best_effort_in_flight < tg->plan.best_effort_depth", "tg->in_flight < tg->plan.best_effort_depth"),
        ("request->position >= tg->heads_at", "request->position > tg->heads_at"),
        ("\t\ttg->newcomers_left--;\n", ""),
        ("tg->newcomers_left = tg->sweep[tg->running].count;", "tg->newcomers_left = tg->sweep[tg->running].count + 1;"),
        ("\ttg->heads_at = request->position;\n", "\ttg->heads_at = request->position + 1;\n"),
        ("for (class = 0; class < TG_BEST_EFFORT; class++)", "for (class = TG_BEST_EFFORT; class-- > 0;)"),
    ]),
    ("dqf.c", &[
        ("u32 real_time = tg_min(tg->real_time[TG_HARD].count, tg->plan.batch_max);", "u32 real_time = tg_min(tg->real_time[TG_HARD].count, tg->plan.depth);"),
        ("room = tg->plan.fill - real_time;", "room = tg->plan.fill;"),
        ("if (now >= tg->dqf.resume &&", "if (now > tg->dqf.resume &&"),
        ("if (dqf->late_from < now)", "if (dqf->late_from + 1 < now)"),
        ("now + (now - dqf->late_from)", "now + (now - dqf->late_from) / 2"),
        ("tg_max(dqf->resume, now + (now - dqf->late_from))", "now + (now - dqf->late_from) + (dqf->resume > now)"),
        ("plan.batch.ns[tg->in_flight - 1]", "plan.batch.ns[tg->plan.batch.count - 1]"),
        ("!tg->in_flight && tg->plan.fill && tg_has_best_effort(tg)", "tg->plan.fill && tg_has_best_effort(tg)"),
    ]),
    ("rtio_limit.c", &[
        ("if (tg->in_flight == tg->best_effort_in_flight)", "if (!tg->in_flight)"),
        ("tg->in_flight < tg->plan.depth && ", "tg->in_flight <= tg->plan.depth && "),
        (" && !tg->rtio.is_closed", " && (!tg->rtio.is_closed || real_time)"),
        ("if (tg_may_flow(tg))", "if (tg_has_best_effort(tg))"),
        ("\t\t\ttg->rtio.is_sending = true;\n", ""),
    ]),
    ("adaptive_drain.c", &[
        ("requests == 1 ? tg->plan.tasks[0].period : 0", "tg->plan.task_count ? tg->plan.tasks[0].period : 0"),
        ("tg_min(adaptive->deadline, tg->plan.tasks[i].deadline)", "tg_max(adaptive->deadline + 1 ? adaptive->deadline : 0, tg->plan.tasks[i].deadline)"),
        ("request->eligible + tg->adaptive.period", "request->released + tg->adaptive.period"),
        (" && request->task < tg->plan.task_count", ""),
        ("\tif (!tg->in_flight)\n\t\treturn true;\n", ""),
        ("now + drain <= tg_min(due, tg_heap_key(&tg->in_flight_by_due))", "now + drain <= due"),
        ("tg_drain(tg, 1) <= release", "tg_drain(tg, 1) < release"),
        ("return count <= tg->plan.depth;", "return count < tg->plan.depth;"),
        ("tg_drain(tg, count + 1) <= adaptive->deadline", "tg_drain(tg, count) <= adaptive->deadline"),
        ("tg_max(adaptive->next_release, now)", "adaptive->next_release"),
        ("return empty_by <= due &&", "return empty_by < due &&"),
        ("drain <= adaptive->deadline ||", "drain <= adaptive->deadline &&"),
        ("if (tg_may_flow(tg) &&", "if (tg_has_best_effort(tg) &&"),
    ]),
    ("gated_drain.c", &[
        ("tg_min(task->requests, tg->plan.depth)", "task->requests"),
        ("unit->next_release < found->next_release", "unit->next_release > found->next_release"),
        ("unit->next_release = request->eligible + task->period;", "unit->next_release = request->eligible + task->deadline;"),
        ("tg_due(request, task->deadline)", "tg_due(request, task->period)"),
        ("tg_push(tg, &task->excess, request);", "tg_push_by_class(tg, request);"),
        ("\tif (request) {\n\t\ttg_take(request);\n\t\tadmit", "\tif (request && unit->stage != TG_COOLING) {\n\t\ttg_take(request);\n\t\tadmit"),
        ("empty_by <= proposal->due_on_device &&", "empty_by < proposal->due_on_device &&"),
        ("served_by <= proposal->due_waiting &&", "empty_by <= proposal->due_waiting &&"),
        ("\t       served_by <= tg_heap_key(&gated->cooling_by_next_due) &&\n", ""),
        ("served_by - now <= tg_heap_key(&gated->ready)", "served_by - now < tg_heap_key(&gated->ready)"),
        ("(!proposal->is_best_effort ||", "(true ||"),
        ("\tfree_unit(tg, unit);\n\treturn true;", "\tmake_idle(tg, unit);\n\treturn true;"),
        ("empty_by + tg_drain(tg, gated->unit_count) <=", "empty_by + tg_drain(tg, proposal->left) <="),
        ("gated->unit_count - gated->in_flight_count - count", "gated->unit_count - gated->in_flight_count"),
        (".left = gated->unit_count - gated->in_flight_count,", ".left = gated->unit_count,"),
        ("tg_min(tg_heap_key(&tg->in_flight_by_due), due_first)", "tg_heap_key(&tg->in_flight_by_due)"),
        ("return most ? most : tg_min(waiting->count, tg->plan.depth);", "return most ? most : 1;"),
        ("\t\t\tmost = tried.count;", "\t\t\tmost = most ? most : tried.count;"),
        ("return may_send(tg, now, 1, due_first, tg_heap_second_key(waiting));", "return may_send(tg, now, 1, due_first, TG_NEVER);"),
        ("return proposal.outstanding <= tg->plan.depth;", "return true;"),
        ("tg_send(tg, real_time ? real_time : tg_pop_best_effort(tg))", "tg_send(tg, tg_has_best_effort(tg) ? tg_pop_best_effort(tg) : real_time)"),
        ("\tpass_time(tg, now);\n", ""),
        ("real_time || tg_may_flow(tg)", "real_time || tg_has_best_effort(tg)"),
    ]),
    ("tokens.c", &[
        ("\tif (request->class == TG_SOFT && request->due == TG_NEVER)\n\t\treturn;\n", ""),
        ("tg_first(&task->waiting)->number);", "task - tg->plan.tasks);"),
        ("token_returns = at + task->period;", "token_returns = at + task->deadline;"),
        ("task->token + 1 < task->requests ? task->token + 1 : 0", "0"),
        ("\trequest->eligible = at;\n", ""),
        ("\ttg_tokens_hand_over(tg, until);\n\tif (request->class", "\tif (request->class"),
        ("\tif (task->waiting.count == 1) {\n\t\tadd_next_token(tg, task);\n\t\ttg_tokens_hand_over(tg, until);\n", "\tif (task->waiting.count == 1) {\n\t\tadd_next_token(tg, task);\n"),
    ]),
    ("decide.c", &[
        ("count <= tg->plan.depth && count <= drain->count", "count <= drain->count"),
        ("request->eligible <= request->released", "true"),
        ("return deadline == TG_NEVER ? request->due : request->eligible + deadline;", "return deadline == TG_NEVER ? request->due : request->released + deadline;"),
        ("\tif (!tg->is_round)\n\t\ttg_tokens_hand_over", "\tif (tg->is_round)\n\t\ttg_tokens_hand_over"),
        ("decision.what == TG_NOT_BEFORE ? tg_min(decision.at, next) : next", "next"),
    ]),
];

#[rustfmt::skip]
const SIGN_FAULTS: &ByFile = &[
    ("signs.c", &[
        ("if (group->length <= longest || !is_prefix(group, path))", "if (!is_prefix(group, path))"),
        ("\t\tif (path[group->length] && path[group->length] != '/')\n\t\t\tcontinue;\n", ""),
        ("signs->groups[i].length == length && is_prefix(&signs->groups[i], path)", "signs->groups[i].length == length"),
        ("if (signs->places[middle].first <= sector)", "if (signs->places[middle].first < sector)"),
        ("if (sector - place->first < place->count)", "if (sector - place->first <= place->count)"),
        ("signs->places[at - 1].count > first - signs->places[at - 1].first", "signs->places[at - 1].count >= first - signs->places[at - 1].first"),
        ("signs->places[at].first - first < count", "signs->places[at].first - first <= count"),
        ("if (!count || first + count < first)", "if (!count)"),
        ("for (i = signs->place_count++; i > at; i--)", "for (i = at = signs->place_count++; i > at; i--)"),
        ("if (of_group != TG_NO_TASK)\n\t\treturn of_group;\n", ""),
        ("return level < TG_LEVELS ? signs->task_of_level[level] : TG_NO_TASK;", "return TG_NO_TASK;"),
    ]),
];
