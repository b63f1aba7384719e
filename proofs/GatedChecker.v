(** * A checker of verdicts on the gated drain.  Extracted, it judges certificates. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Checker.
Require Import Model Lists GatedModel GatedUnits GatedDrain.
Import ListNotations.

Section Check.
Variable n : nat.                        (* units: a job of e requests is e of them *)
Variables p d R : nat -> nat.
Variable K : nat.                        (* the most that the policy lets onto the drive *)
Variable drain : list nat.               (* drain 0 to drain K *)

(** Every bound is the deadline: the gate gives best effort all the time before it. *)
Definition check_gated : bool :=
  Checker.is_sorted drain && (K <? length drain) && (n <=? K) &&
  forallb (fun i => (worst n (Checker.table drain) <=? d i) && (d i <=? p i) && (R i =? d i)) (seq 0 n).

Theorem check_gated_sound : check_gated = true ->
  forall s i r, reachable n p d K (Checker.table drain) s -> i < n -> pending s i r ->
  now s <= r + R i /\ now s <= r + d i.
Proof.
  unfold check_gated. rewrite !andb_true_iff, forallb_forall. intros (((Hdrain & _) & HK) & Hall).
  apply Nat.leb_le in HK.
  assert (H : forall i, i < n -> worst n (Checker.table drain) <= d i <= p i /\ R i = d i).
  { intros i Hi. specialize (Hall i (proj2 (in_seq n 0 i) ltac:(lia))).
    rewrite !andb_true_iff in Hall. destruct Hall as ((HW & Hp) & HR).
    apply Nat.leb_le in HW, Hp. apply Nat.eqb_eq in HR. lia. }
  intros s i r Hs Hi Hr.
  destruct (gated_drain n p d K (Checker.table drain) (Checker.table_mono drain Hdrain) HK
    (or_introl (fun i Hi => proj1 (H i Hi)))) as (_ & Hbound & _).
  destruct (Hbound s i r Hs Hi Hr) as [Hnow _]. destruct (H i Hi) as [Hd HR]. lia.
Qed.

(** One request of one task, without best effort. *)
Definition check_gated_alone : bool :=
  (n =? 1) && let W := Checker.table drain 1 in (W <=? p 0) && (W <=? R 0) && (R 0 <=? d 0).

Theorem check_gated_alone_sound : check_gated_alone = true ->
  forall nx tr s r, run n p d K (Checker.table drain) (initial nx) tr s ->
  (forall X a, In (Dispatch X a) tr -> a = 0) -> pending s 0 r ->
  now s <= r + R 0 /\ now s <= r + d 0.
Proof.
  unfold check_gated_alone. rewrite !andb_true_iff. intros (Hone & (Hp & HR) & Hd) nx tr s r Hrun Ha Hr.
  apply Nat.eqb_eq in Hone. apply Nat.leb_le in Hp, HR, Hd. subst n.
  pose proof (gated_alone p d K (Checker.table drain) Hp nx tr s r Hrun Ha Hr). lia.
Qed.
End Check.
