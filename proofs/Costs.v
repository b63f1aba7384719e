(** * Theorems 2 and 3 with a cost for each request (docs/theory/requests-of-different-kinds.md),
    E <= z (crates/analysis/src/heterogeneous.rs).

    A batch takes at most A and the costs of its requests; best effort fills it up to beta
    requests, each at a cost of at most c_be.  With C the cost of one job of each task and M the
    largest cost of beta requests, which are of these jobs or best effort: if
    R = 2 A + beta c_be + max(C, M) is below every period, no response exceeds R.  For a single task
    without best effort, R = A + C.  The model is AnyOrder.v's. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists AnyOrder.
Import ListNotations.

Section Costs.
Variable n : nat.
Variables e p c : nat -> nat.         (* requests of a job, period, cost of a request *)
Variable A : nat.                     (* positioning, once for each batch *)
Variables z beta : nat.               (* batch limit, best-effort fill *)
Variable c_be : nat.                  (* the largest cost of a best-effort request *)

Fixpoint cost (l : list req) : nat :=
  match l with [] => 0 | r :: l' => c (rtask r) + cost l' end.

(** The longest time of a batch. *)
Definition cost_time (l : list req) (k : nat) : nat := A + cost l + k * c_be.

(** The largest cost of [b] requests of one job of each of the first [m] tasks, or best effort. *)
Fixpoint costliest (m b : nat) : nat :=
  match m with
  | 0 => b * c_be
  | S m' =>
    list_max (map (fun x => x * c m' + costliest m' (b - x)) (seq 0 (S (min (e m') b))))
  end.

Definition C : nat := sum n (fun i => e i * c i).
Definition M : nat := costliest n beta.
Definition R : nat := 2 * A + beta * c_be + max C M.

Lemma cost_counts : forall l, (forall r, In r l -> rtask r < n) ->
  cost l = sum n (fun i => cnt i l * c i).
Proof.
  induction l as [|r l IH]; intros H; simpl.
  - symmetry. apply sum_zero. reflexivity.
  - rewrite IH by (intros; apply H; right; assumption).
    transitivity (sum n (fun i => (if rtask r =? i then c (rtask r) else 0) + cnt i l * c i)).
    + rewrite sum_plus. f_equal.
      assert (Hr : rtask r < n) by (apply H; left; reflexivity). clear -Hr.
      induction n as [|m IH]; [lia|]. simpl.
      destruct (Nat.eqb_spec (rtask r) m) as [Heq|Hne].
      * rewrite sum_zero; [rewrite Heq; lia|].
        intros i Hi. destruct (Nat.eqb_spec (rtask r) i); lia.
      * rewrite <- IH by lia. lia.
    + apply sum_ext. intros i _. unfold cnt. simpl.
      destruct (Nat.eqb_spec (rtask r) i) as [Heq|]; simpl; [rewrite Heq; lia|lia].
Qed.

(** The cost of a batch with X i requests of task i. *)
Definition batch_cost (X : nat -> nat) : nat :=
  sum n (fun i => X i * c i) + (beta - sum n X) * c_be.

Lemma costliest_most : forall X m b, (forall i, i < m -> X i <= e i) -> sum m X <= b ->
  sum m (fun i => X i * c i) + (b - sum m X) * c_be <= costliest m b.
Proof.
  intros X. induction m as [|m IH]; intros b Hle Hb; simpl in *.
  - rewrite Nat.sub_0_r. apply le_n.
  - specialize (IH (b - X m)). pose proof (Hle m (Nat.lt_succ_diag_r m)) as Hm.
    replace (b - X m - sum m X) with (b - (sum m X + X m)) in IH by lia.
    assert (H : X m * c m + costliest m (b - X m) <= list_max
      (map (fun x => x * c m + costliest m (b - x)) (seq 0 (S (min (e m) b))))).
    { pose proof (proj1 (list_max_le
        (map (fun x => x * c m + costliest m (b - x)) (seq 0 (S (min (e m) b)))) _) (le_n _)) as H.
      rewrite Forall_forall in H. apply H. apply in_map_iff. exists (X m).
      split; [reflexivity|apply in_seq; lia]. }
    simpl in H. assert (sum m X <= b - X m) by lia.
    assert (forall i, i < m -> X i <= e i) by (intros; apply Hle; lia).
    specialize (IH H1 H0). lia.
Qed.

(** Two batches of different tasks. *)
Lemma costs_of_two : forall X Y,
  (forall i, i < n -> X i <= e i /\ Y i <= e i /\ (X i = 0 \/ Y i = 0)) ->
  batch_cost X + batch_cost Y <= beta * c_be + max C M.
Proof.
  intros X Y H. set (Z := fun i => X i + Y i).
  assert (HZ : forall i, i < n -> Z i <= e i).
  { intros i Hi. destruct (H i Hi) as (HX & HY & [H0|H0]); unfold Z; lia. }
  assert (Hsum : sum n Z = sum n X + sum n Y) by (unfold Z; apply sum_plus).
  assert (Hcost : sum n (fun i => Z i * c i)
    = sum n (fun i => X i * c i) + sum n (fun i => Y i * c i)).
  { rewrite <- sum_plus. apply sum_ext. intros i _. unfold Z. lia. }
  assert (Hfill : (beta - sum n X) * c_be + (beta - sum n Y) * c_be
    <= beta * c_be + (beta - sum n Z) * c_be).
  { rewrite <- !Nat.mul_add_distr_r. apply Nat.mul_le_mono_r. lia. }
  enough (sum n (fun i => Z i * c i) + (beta - sum n Z) * c_be <= max C M)
    by (unfold batch_cost; lia).
  destruct (Nat.le_gt_cases beta (sum n Z)) as [Hb|Hb].
  - assert (sum n (fun i => Z i * c i) <= C)
      by (apply sum_le; intros i Hi; apply Nat.mul_le_mono_r; apply HZ; assumption).
    replace (beta - sum n Z) with 0 by lia. lia.
  - assert (sum n (fun i => Z i * c i) + (beta - sum n Z) * c_be <= M)
      by (apply costliest_most; [assumption|lia]). lia.
Qed.

Lemma time_at_most : forall l k, is_batch n e beta l k ->
  cost_time l k <= A + batch_cost (fun i => cnt i l).
Proof.
  intros l k (Ht & _ & Hk). unfold cost_time, batch_cost.
  rewrite (cost_counts l Ht), <- (length_cnt n l Ht).
  assert (k * c_be <= (beta - length l) * c_be) by (apply Nat.mul_le_mono_r; lia). lia.
Qed.

Theorem two_batches_of_costs : sum n e <= z -> (forall i, i < n -> R < p i) ->
  forall s r, any_reachable n e p z beta cost_time s -> any_pending r s -> anow s <= rrel r + R.
Proof.
  intros Hfit Hp. apply two_batches; [assumption| |assumption].
  intros l k l' k' Hl Hl' Hd. pose proof (time_at_most l k Hl). pose proof (time_at_most l' k' Hl').
  enough (batch_cost (fun i => cnt i l) + batch_cost (fun i => cnt i l') <= beta * c_be + max C M)
    by (unfold R; lia).
  apply costs_of_two. intros i Hi. split; [apply Hl; assumption|]. split; [apply Hl'; assumption|].
  apply Hd. assumption.
Qed.

(** A single task without best effort waits for its own batch only. *)
Theorem one_task_of_costs : n = 1 -> beta = 0 -> sum n e <= z ->
  (forall i, i < n -> A + C < p i) ->
  forall s r, any_reachable n e p z beta cost_time s -> any_pending r s -> anow s <= rrel r + (A + C).
Proof.
  intros Hn Hbeta Hfit Hp. apply one_task; [assumption|assumption|assumption|assumption|].
  intros l Hl. pose proof (time_at_most l 0 Hl) as H. unfold batch_cost in H. rewrite Hbeta in H.
  assert (sum n (fun i => cnt i l * c i) <= C); [|lia].
  apply sum_le. intros i Hi. apply Nat.mul_le_mono_r. apply Hl. assumption.
Qed.
End Costs.
