(** * The theorems by their names in docs/theory, and that none rests on an axiom.

    The make target fails unless every line that this file prints is "Closed under the global
    context". *)
Require Import Model Backlog TwoBatches Progress Window FixedPoint MinPeriod Costs DqEdf
  GatedDrain GatedJudge AdaptiveDrain StrictClasses Judge AnyJudge Checker GatedChecker.

(* docs/theory/dual-queue-fifo.md *)
Print Assumptions Window.linear.                      (* 9.2.2 *)
Print Assumptions Window.busy_interval.               (* 9.2.4 *)
Print Assumptions MinPeriod.min_period.               (* 9.2.7 *)
Print Assumptions FixedPoint.theorem_1.               (* Theorem 1: W, A and their minimum *)
Print Assumptions Backlog.dqf_backlog_bound.          (* Theorem 1, A alone *)
Print Assumptions TwoBatches.theorem_2_and_3.         (* Theorems 2 and 3, exact *)
Print Assumptions TwoBatches.unit_tasks.              (* Theorem 2, unit tasks *)
Print Assumptions Judge.Equality.strictness_is_needed. (* R < p is strict *)
Print Assumptions Progress.time_passes.               (* the model is not vacuous *)
(* docs/theory/requests-of-different-kinds.md *)
Print Assumptions Costs.two_batches_of_costs.         (* 11.1 with several tasks, 11.2 *)
Print Assumptions Costs.one_task_of_costs.            (* 11.1 with one *)
(* docs/theory/by-deadline.md *)
Print Assumptions DqEdf.dq_edf.                       (* z >= E *)
(* docs/theory/draining.md *)
Print Assumptions GatedDrain.gated_drain.             (* W <= d <= p, or max(d, W) < p *)
Print Assumptions GatedDrain.gated_never_sticks.
Print Assumptions GatedDrain.gated_alone.             (* one unit without best effort *)
Print Assumptions AdaptiveDrain.adaptive_drain.
Print Assumptions AdaptiveDrain.adaptive_never_sticks.
(* docs/theory/stock-kernel.md *)
Print Assumptions StrictClasses.strict_classes.       (* (31.1) *)
Print Assumptions StrictClasses.Reached.strict_classes_reached. (* one system reaches it *)
Print Assumptions StrictClasses.strict_classes_time_passes. (* the model is not vacuous *)
(* the judges *)
Print Assumptions AdaptiveDrain.replay_drain_sound.
Print Assumptions GatedJudge.replay_gated_sound.
Print Assumptions Judge.replay_sound.
Print Assumptions AnyJudge.replay_any_sound.
Print Assumptions Checker.check_backlog_sound.
Print Assumptions Checker.check_any_order_sound.
Print Assumptions Checker.check_costs_sound.
Print Assumptions GatedChecker.check_gated_sound.
Print Assumptions GatedChecker.check_gated_alone_sound.
