(** * Theorems 2 and 3 with a cost for each request (docs/theory/requests-of-different-kinds.md),
    E <= z (crates/analysis/src/heterogeneous.rs).

    A batch takes at most A and the costs of its requests; best effort fills it up to beta
    requests, each at a cost of at most c_be.  With C the cost of one job of each task and M the
    largest cost of beta requests, which are of these jobs or best effort: if
    R = 2 A + beta c_be + max(C, M) is below every period, no response exceeds R. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists.
Import ListNotations.

(** [end_by]: when the batch on the device has completed at the latest. *)
Record cost_batch := CostBatch { end_by : nat; in_flight : list req; others : nat }.
Record cost_state := CostState {
  cnow : nat; cqueue : list req; cdevice : option cost_batch; cearliest : nat -> nat }.

Section Costs.
Variable n : nat.
Variables e p c : nat -> nat.         (* requests of a job, period, cost of a request *)
Variable A : nat.                     (* positioning, once for each batch *)
Variables z beta : nat.               (* batch limit, best-effort fill *)
Variable c_be : nat.                  (* the largest cost of a best-effort request *)

Fixpoint cost (l : list req) : nat :=
  match l with [] => 0 | r :: l' => c (rtask r) + cost l' end.

Definition remaining_cost (f : cost_batch) : option cost_batch :=
  match in_flight f, others f with [], 0 => None | _, _ => Some f end.

(** As in Model.v, but a batch's time depends on its requests and not only on their number. *)
Inductive cost_step : cost_state -> event -> cost_state -> Prop :=
| ctick_idle t nx :
    cost_step (CostState t [] None nx) Tick (CostState (S t) [] None nx)
| ctick_busy t Q f nx :
    t < end_by f -> cost_step (CostState t Q (Some f) nx) Tick (CostState (S t) Q (Some f) nx)
| crelease t Q d nx i q :
    i < n -> nx i <= t -> q <= e i ->
    cost_step (CostState t Q d nx) (Release i q)
         (CostState t (Q ++ repeat (Req i t) q) d (upd nx i (t + p i)))
| cdispatch t Q nx j k :
    j = min z (length Q) -> 1 <= j + k <= max j beta ->
    cost_step (CostState t Q None nx) (Dispatch (j + k))
         (CostState t (skipn j Q)
            (Some (CostBatch (t + A + cost (firstn j Q) + k * c_be) (firstn j Q) k)) nx)
| ccomplete t Q x l1 r l2 k nx :
    cost_step (CostState t Q (Some (CostBatch x (l1 ++ r :: l2) k)) nx) (Complete r)
         (CostState t Q (remaining_cost (CostBatch x (l1 ++ l2) k)) nx)
| ccomplete_best_effort t Q x l k nx :
    cost_step (CostState t Q (Some (CostBatch x l (S k))) nx) CompleteBestEffort
         (CostState t Q (remaining_cost (CostBatch x l k)) nx)
| ccancel t l1 r l2 d nx :
    cost_step (CostState t (l1 ++ r :: l2) d nx) (Cancel r) (CostState t (l1 ++ l2) d nx).

Inductive cost_run : cost_state -> cost_state -> Prop :=
| crun_nil s : cost_run s s
| crun_cons s ev s' s'' : cost_step s ev s' -> cost_run s' s'' -> cost_run s s''.
Definition cost_reachable (s : cost_state) : Prop :=
  exists nx, cost_run (CostState 0 [] None nx) s.
Definition cost_pending (r : req) (s : cost_state) : Prop :=
  In r (cqueue s) \/ exists f, cdevice s = Some f /\ In r (in_flight f).

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
Hypothesis all_fit : sum n e <= z.
Hypothesis below_periods : forall i, i < n -> R < p i.

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
Lemma two_batches : forall X Y,
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

(** X: the requests of each task in the batch in flight (or of the last one); its tasks are silent
    until x; t0: its dispatch. *)
Record inv_by (X : nat -> nat) (t0 x : nat) (s : cost_state) : Prop := {
  c_now : t0 <= cnow s <= x;
  c_end : x <= t0 + A + batch_cost X;
  c_silent : forall i, i < n -> X i <= e i /\ (0 < X i -> x < cearliest s i);
  c_count : forall i, i < n -> cnt i (cqueue s) <= e i;
  c_queue : forall r, In r (cqueue s) -> rtask r < n /\ X (rtask r) = 0 /\
    t0 <= rrel r /\ cearliest s (rtask r) = rrel r + p (rtask r);
  c_device : forall f, cdevice s = Some f -> end_by f <= x /\
    forall r, In r (in_flight f) -> x <= rrel r + R }.
Definition inv (s : cost_state) : Prop := exists X t0 x, inv_by X t0 x s.

(** Nothing in flight and nothing queued. *)
Lemma inv_empty : forall t nx, inv (CostState t [] None nx).
Proof.
  intros t nx. exists (fun _ => 0), t, t.
  constructor; simpl; intros; try lia; try discriminate; try contradiction.
  unfold cnt; simpl; lia.
Qed.

(** The next batch, and all that is queued with it, is complete within R. *)
Lemma next_batch : forall X t0 x s, inv_by X t0 x s ->
  x + A + batch_cost (fun i => cnt i (cqueue s)) <= t0 + R.
Proof.
  intros X t0 x s I. pose proof (c_end _ _ _ _ I).
  assert (batch_cost X + batch_cost (fun i => cnt i (cqueue s)) <= beta * c_be + max C M).
  { apply two_batches. intros i Hi. repeat split;
      [apply (c_silent _ _ _ _ I i Hi)|apply (c_count _ _ _ _ I i Hi)|].
    destruct (cnt i (cqueue s)) eqn:Ec; [right; reflexivity|left].
    destruct (cnt_pos_in i (cqueue s)) as (r & Hr & <-); [lia|].
    apply (c_queue _ _ _ _ I r Hr). }
  unfold R. lia.
Qed.

Lemma inv_complete : forall t Q x l l' k k' nx,
  inv (CostState t Q (Some (CostBatch x l k)) nx) -> (forall r, In r l' -> In r l) ->
  inv (CostState t Q (remaining_cost (CostBatch x l' k')) nx).
Proof.
  intros t Q x l l' k k' nx (X & t0 & y & I) Hin. exists X, t0, y.
  destruct (c_device _ _ _ _ I _ eq_refl) as [Hf Hr]. simpl in *.
  constructor; simpl; try apply I. intros f Hrem. unfold remaining_cost in Hrem. simpl in Hrem.
  assert (f = CostBatch x l' k') as -> by (destruct l', k'; congruence). simpl.
  split; [assumption|]. intros r H. apply Hr. apply Hin. assumption.
Qed.

Lemma inv_step : forall s ev s', inv s -> cost_step s ev s' -> inv s'.
Proof.
  intros s ev s' Hinv Hstep. destruct Hstep.
  - apply inv_empty.
  - destruct Hinv as (X & t0 & x & I). exists X, t0, x.
    destruct (c_device _ _ _ _ I f eq_refl).
    pose proof (c_now _ _ _ _ I) as Hn. simpl in Hn.
    constructor; simpl; try apply I; lia.
  - destruct Hinv as (X & t0 & x & I). pose proof (c_now _ _ _ _ I) as Hn. simpl in Hn.
    pose proof (below_periods i H) as Hp. pose proof (next_batch _ _ _ _ I) as Hnext. simpl in Hnext.
    assert (HX : X i = 0).
    { destruct (c_silent _ _ _ _ I i H) as [_ Hs]. simpl in Hs. lia. }
    assert (Hnone : forall r, In r Q -> rtask r <> i).
    { intros r Hr Heq. destruct (c_queue _ _ _ _ I r Hr) as (_ & _ & Ht & He). simpl in He.
      rewrite Heq in He. lia. }
    assert (Hc : cnt i Q = 0).
    { destruct (cnt i Q) eqn:Ec; [reflexivity|].
      destruct (cnt_pos_in i Q) as (r & Hr & Ht); [lia|]. exfalso; apply (Hnone r Hr Ht). }
    exists X, t0, x. constructor; simpl; try apply I.
    + intros j Hj. unfold upd. destruct (Nat.eqb_spec j i) as [->|]; [lia|].
      apply (c_silent _ _ _ _ I j Hj).
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
  - destruct Hinv as (X & t0 & x & I). pose proof (c_now _ _ _ _ I) as Hn. simpl in Hn.
    pose proof (next_batch _ _ _ _ I) as Hnext. simpl in Hnext.
    assert (Htasks : forall r, In r Q -> rtask r < n) by (intros; apply (c_queue _ _ _ _ I); assumption).
    set (Y := fun i => cnt i Q) in *.
    assert (HY : forall i, i < n -> Y i <= e i) by (intros; apply (c_count _ _ _ _ I); assumption).
    assert (Hlen : length Q = sum n Y) by (apply length_cnt; assumption).
    assert (sum n Y <= sum n e) by (apply sum_le; assumption).
    assert (j = length Q) as -> by lia. rewrite firstn_all, skipn_all.
    assert (Hend : t + A + cost Q + k * c_be <= t + A + batch_cost Y).
    { assert (cost Q = sum n (fun i => Y i * c i)) by (apply cost_counts; assumption).
      assert (k * c_be <= (beta - length Q) * c_be) by (apply Nat.mul_le_mono_r; lia).
      unfold batch_cost. rewrite <- Hlen. lia. }
    assert (HR : forall r, In r Q -> t + A + cost Q + k * c_be <= rrel r + R).
    { intros r Hr. destruct (c_queue _ _ _ _ I r Hr) as (_ & _ & Ht & _). lia. }
    exists Y, t, (t + A + cost Q + k * c_be). constructor; simpl; intros; try contradiction.
    + lia.
    + assumption.
    + split; [apply HY; assumption|]. intros Hpos.
      destruct (cnt_pos_in i Q Hpos) as (r & Hr & <-). specialize (HR r Hr).
      destruct (c_queue _ _ _ _ I r Hr) as (_ & _ & _ & He). simpl in He.
      specialize (below_periods (rtask r) (Htasks r Hr)). lia.
    + unfold cnt; simpl; lia.
    + match goal with H : Some _ = Some _ |- _ => injection H as <- end. simpl.
      split; [lia|assumption].
  - eapply inv_complete; [exact Hinv|]. intros r' Hr'.
    apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
  - eapply inv_complete; [exact Hinv|auto].
  - destruct Hinv as (X & t0 & x & I). exists X, t0, x. constructor; simpl; try apply I.
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
  { assert (H0 : inv (CostState 0 [] None nx)) by apply inv_empty.
    clear Hr. induction Hrun; [assumption|]. apply IHHrun. eapply inv_step; eassumption. }
  destruct Hinv as (X & t0 & x & I). pose proof (c_now _ _ _ _ I).
  destruct Hr as [Hr|(f & Hf & Hr)].
  - pose proof (next_batch _ _ _ _ I). destruct (c_queue _ _ _ _ I r Hr) as (_ & _ & Ht & _). lia.
  - destruct (c_device _ _ _ _ I f Hf) as [_ Hd]. specialize (Hd r Hr). lia.
Qed.
End Costs.
