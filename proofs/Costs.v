(** * Theorem 2 with a cost for each request (docs/theory/requests-of-different-kinds.md), E <= z,
    without best effort.

    A batch takes at most A and the costs of its requests.  If 2 A + C is below every period,
    where C is the cost of one job of each task, no response exceeds 2 A + C. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists.
Import ListNotations.

(** [end_by]: when the batch on the device has completed at the latest. *)
Record cost_batch := CostBatch { end_by : nat; in_flight : list req }.
Record cost_state := CostState {
  cnow : nat; cqueue : list req; cdevice : option cost_batch; cearliest : nat -> nat }.

Section Costs.
Variable n : nat.
Variables e p c : nat -> nat.         (* requests of a job, period, cost of a request *)
Variable A : nat.                     (* positioning, once for each batch *)

Fixpoint cost (l : list req) : nat :=
  match l with [] => 0 | r :: l' => c (rtask r) + cost l' end.

Definition remaining_cost (f : cost_batch) : option cost_batch :=
  match in_flight f with [] => None | _ => Some f end.

(** As in Model.v; a batch takes the whole queue. *)
Inductive cost_step : cost_state -> event -> cost_state -> Prop :=
| ctick_idle t nx :
    cost_step (CostState t [] None nx) Tick (CostState (S t) [] None nx)
| ctick_busy t Q f nx :
    t < end_by f -> cost_step (CostState t Q (Some f) nx) Tick (CostState (S t) Q (Some f) nx)
| crelease t Q d nx i q :
    i < n -> nx i <= t -> q <= e i ->
    cost_step (CostState t Q d nx) (Release i q)
         (CostState t (Q ++ repeat (Req i t) q) d (upd nx i (t + p i)))
| cdispatch t Q nx :
    Q <> [] ->
    cost_step (CostState t Q None nx) (Dispatch (length Q))
         (CostState t [] (Some (CostBatch (t + A + cost Q) Q)) nx)
| ccomplete t Q x l1 r l2 nx :
    cost_step (CostState t Q (Some (CostBatch x (l1 ++ r :: l2))) nx) (Complete r)
         (CostState t Q (remaining_cost (CostBatch x (l1 ++ l2))) nx)
| ccancel t l1 r l2 d nx :
    cost_step (CostState t (l1 ++ r :: l2) d nx) (Cancel r) (CostState t (l1 ++ l2) d nx).

Inductive cost_run : cost_state -> cost_state -> Prop :=
| crun_nil s : cost_run s s
| crun_cons s ev s' s'' : cost_step s ev s' -> cost_run s' s'' -> cost_run s s''.
Definition cost_reachable (s : cost_state) : Prop :=
  exists nx, cost_run (CostState 0 [] None nx) s.
Definition cost_pending (r : req) (s : cost_state) : Prop :=
  In r (cqueue s) \/ exists f, cdevice s = Some f /\ In r (in_flight f).

(** C: one job of each task of a set, or of all. *)
Definition job_costs (T : nat -> bool) : nat := sum n (fun i => if T i then e i * c i else 0).
Definition C : nat := sum n (fun i => e i * c i).
Definition R : nat := 2 * A + C.
Hypothesis below_periods : forall i, i < n -> R < p i.

Lemma cost_app : forall l m, cost (l ++ m) = cost l + cost m.
Proof. induction l; intros; simpl; [reflexivity|]. rewrite IHl. lia. Qed.

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

(** T: the tasks of the batch in flight (or of the last one), which are silent until x; t0: its
    dispatch. *)
Record inv_by (T : nat -> bool) (t0 x : nat) (s : cost_state) : Prop := {
  c_now : t0 <= cnow s <= x;
  c_end : x <= t0 + A + job_costs T;
  c_silent : forall i, i < n -> T i = true -> x < cearliest s i;
  c_count : forall i, i < n -> cnt i (cqueue s) <= e i;
  c_queue : forall r, In r (cqueue s) -> rtask r < n /\ T (rtask r) = false /\
    t0 <= rrel r /\ cearliest s (rtask r) = rrel r + p (rtask r);
  c_device : forall f, cdevice s = Some f -> end_by f <= x /\
    forall r, In r (in_flight f) -> x <= rrel r + R }.
Definition inv (s : cost_state) : Prop := exists T t0 x, inv_by T t0 x s.

Lemma disjoint : forall T U, (forall i, i < n -> T i = true -> U i = false) ->
  job_costs T + job_costs U <= C.
Proof.
  intros T U H. unfold job_costs. rewrite <- sum_plus. apply sum_le. intros i Hi.
  specialize (H i Hi).
  destruct (T i); [rewrite H by reflexivity|destruct (U i)]; lia.
Qed.

Definition tasks_of (Q : list req) (i : nat) : bool := 0 <? cnt i Q.

(** The next batch, and all that is queued with it, is complete within R. *)
Lemma next_batch : forall T t0 x s, inv_by T t0 x s ->
  x + A + job_costs (tasks_of (cqueue s)) <= t0 + R.
Proof.
  intros T t0 x s I. pose proof (c_end _ _ _ _ I).
  assert (job_costs T + job_costs (tasks_of (cqueue s)) <= C).
  { apply disjoint. intros i Hi HT. unfold tasks_of. apply Nat.ltb_ge.
    destruct (cnt i (cqueue s)) eqn:Ec; [lia|].
    destruct (cnt_pos_in i (cqueue s)) as (r & Hr & <-); [lia|].
    destruct (c_queue _ _ _ _ I r Hr) as (_ & Hf & _). congruence. }
  unfold R. lia.
Qed.

Lemma inv_step : forall s ev s', inv s -> cost_step s ev s' -> inv s'.
Proof.
  intros s ev s' (T & t0 & x & I) Hstep. pose proof (next_batch _ _ _ _ I) as Hnext.
  destruct Hstep; simpl in *.
  - exists (fun _ => false), (S t), (S t).
    constructor; simpl; intros; try lia; try discriminate; try contradiction.
    unfold cnt; simpl; lia.
  - exists T, t0, x. destruct (c_device _ _ _ _ I f eq_refl).
    pose proof (c_now _ _ _ _ I) as Hn. simpl in Hn.
    constructor; simpl; try apply I; lia.
  - pose proof (c_now _ _ _ _ I) as Hn. simpl in Hn. pose proof (below_periods i H) as Hp.
    assert (HT : T i = false).
    { destruct (T i) eqn:ET; [|reflexivity].
      pose proof (c_silent _ _ _ _ I i H ET) as Hs. simpl in Hs. lia. }
    assert (Hnone : forall r, In r Q -> rtask r <> i).
    { intros r Hr Heq. destruct (c_queue _ _ _ _ I r Hr) as (_ & _ & Ht & He). simpl in He.
      rewrite Heq in He. lia. }
    assert (Hc : cnt i Q = 0).
    { destruct (cnt i Q) eqn:Ec; [reflexivity|].
      destruct (cnt_pos_in i Q) as (r & Hr & Ht); [lia|]. exfalso; apply (Hnone r Hr Ht). }
    exists T, t0, x. constructor; simpl; try apply I.
    + intros j Hj ET. unfold upd. destruct (Nat.eqb_spec j i) as [->|]; [congruence|].
      apply (c_silent _ _ _ _ I j Hj ET).
    + intros j Hj. rewrite cnt_app. destruct (Nat.eq_dec i j) as [<-|Hne].
      * rewrite cnt_repeat_same. lia.
      * rewrite cnt_repeat_other by assumption.
        pose proof (c_count _ _ _ _ I j Hj) as Hq. simpl in Hq. lia.
    + intros r Hr. apply in_app_or in Hr. destruct Hr as [Hr|Hr].
      * destruct (c_queue _ _ _ _ I r Hr) as (Hr1 & Hr2 & Hr3 & Hr4).
        repeat split; try assumption. unfold upd.
        destruct (Nat.eqb_spec (rtask r) i); [exfalso; apply (Hnone r Hr); assumption|assumption].
      * apply repeat_spec in Hr. subst r. simpl. repeat split; try assumption; [lia|].
        unfold upd. rewrite Nat.eqb_refl. reflexivity.
  - pose proof (c_now _ _ _ _ I) as Hn. simpl in Hn.
    set (U := tasks_of Q) in *.
    assert (Hcost : cost Q <= job_costs U).
    { rewrite cost_counts by (intros r Hr; apply (c_queue _ _ _ _ I r Hr)).
      apply sum_le. intros i Hi. pose proof (c_count _ _ _ _ I i Hi) as Hc. simpl in Hc.
      unfold U, tasks_of. destruct (Nat.ltb_spec 0 (cnt i Q)).
      - apply Nat.mul_le_mono_r. assumption.
      - replace (cnt i Q) with 0 by lia. lia. }
    assert (HR : forall r, In r Q -> t + A + cost Q <= rrel r + R).
    { intros r Hr. destruct (c_queue _ _ _ _ I r Hr) as (_ & _ & Ht & _). lia. }
    exists U, t, (t + A + cost Q). constructor; simpl; intros; try lia; try contradiction.
    + assert (Hc : 0 < cnt i Q) by (apply Nat.ltb_lt; assumption).
      destruct (cnt_pos_in i Q Hc) as (r & Hr & <-). specialize (HR r Hr).
      destruct (c_queue _ _ _ _ I r Hr) as (_ & _ & _ & He). simpl in He.
      specialize (below_periods _ H0). lia.
    + unfold cnt; simpl; lia.
    + match goal with H : Some _ = Some _ |- _ => injection H as <- end. simpl.
      split; [lia|assumption].
  - exists T, t0, x. destruct (c_device _ _ _ _ I _ eq_refl) as [Hf Hr]. simpl in *.
    constructor; simpl; try apply I. intros f Hrem. unfold remaining_cost in Hrem. simpl in Hrem.
    assert (f = CostBatch x0 (l1 ++ l2)) as -> by (destruct (l1 ++ l2); congruence). simpl.
    split; [assumption|]. intros r' Hr'. apply Hr. apply in_app_or in Hr'. apply in_or_app.
    simpl. tauto.
  - exists T, t0, x. constructor; simpl; try apply I.
    + intros i Hi. pose proof (c_count _ _ _ _ I i Hi) as H. simpl in H.
      change (l1 ++ r :: l2) with (l1 ++ [r] ++ l2) in H. rewrite !cnt_app in *. lia.
    + intros r' Hr'. apply (c_queue _ _ _ _ I r'). simpl.
      apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
Qed.

Theorem two_batches_of_costs : forall s r,
  cost_reachable s -> cost_pending r s -> cnow s <= rrel r + R.
Proof.
  intros s r (nx & Hrun) Hr.
  assert (Hinv : inv s).
  { assert (H0 : inv (CostState 0 [] None nx)).
    { exists (fun _ => false), 0, 0.
      constructor; simpl; intros; try lia; try discriminate; try contradiction.
      unfold cnt; simpl; lia. }
    clear Hr. induction Hrun; [assumption|]. apply IHHrun. eapply inv_step; eassumption. }
  destruct Hinv as (T & t0 & x & I). pose proof (c_now _ _ _ _ I).
  destruct Hr as [Hr|(f & Hf & Hr)].
  - pose proof (next_batch _ _ _ _ I). destruct (c_queue _ _ _ _ I r Hr) as (_ & _ & Ht & _). lia.
  - destruct (c_device _ _ _ _ I f Hf) as [_ Hd]. specialize (Hd r Hr). lia.
Qed.
End Costs.
