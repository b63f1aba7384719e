(** The judges in OCaml, with integers of any size: machine integers overflow silently. *)
From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatBigInt List Arith.
Require Import Model Lists Backlog TwoBatches Judge Checker Costs AnyJudge AdaptiveDrain
  GatedModel GatedJudge GatedChecker.
Extraction Language OCaml.
(* Division is by repeated subtraction otherwise; nobody divides by zero here, which gives zero. *)
Extract Constant Nat.div => "(fun n m -> if Big_int_Z.sign_big_int m = 0
  then Big_int_Z.zero_big_int else Big_int_Z.div_big_int n m)".
Extract Constant Nat.leb => "Big_int_Z.le_big_int".
Extract Constant Nat.ltb => "Big_int_Z.lt_big_int".
(* The log entries of each model have the same names, so each is a module of its own. *)
Extraction "model.ml" Judge.replay AnyJudge.replay_any TwoBatches.worst Costs.R Checker.check_backlog
  Checker.check_any_order Checker.check_costs.
Extraction "drain.ml" AdaptiveDrain.replay_drain.
Extraction "gated.ml" GatedJudge.replay_gated GatedModel.worst
  GatedChecker.check_gated GatedChecker.check_gated_alone.
