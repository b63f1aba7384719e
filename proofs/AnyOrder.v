(** * Two batches: what bounds responses if a batch takes all that waits, whatever the order of the
    queue and whatever a batch's time depends on.

    The model of Model.v with two differences: a batch takes any min(z, queued) requests, not the
    oldest; and it takes at most [time l k], for its real-time requests l and k best-effort ones.
    Stands for every policy that sends to an idle device only, at once: dqf with costs
    (Costs.v, crates/policy/src/dqf.rs), dq-edf (DqEdf.v, crates/policy/src/dq_edf.rs). *)
From Coq Require Import List Arith Lia PeanoNat Bool Permutation.
Require Import Model Lists.
Import ListNotations.

(** [end_by]: when the batch on the device has completed at the latest. *)
Record flight := Flight { end_by : nat; on_device : list req; others : nat }.
Record any_state := AnyState {
  anow : nat; aqueue : list req; adevice : option flight; aearliest : nat -> nat }.

Section AnyOrder.
Variable n : nat.
Variables e p : nat -> nat.           (* requests of a job, period *)
Variables z beta : nat.               (* batch limit, best-effort fill *)
Variable time : list req -> nat -> nat.

Definition remaining_flight (f : flight) : option flight :=
  match on_device f, others f with [], 0 => None | _, _ => Some f end.

Inductive any_step : any_state -> event -> any_state -> Prop :=
| any_tick_idle t nx :
    any_step (AnyState t [] None nx) Tick (AnyState (S t) [] None nx)
| any_tick_busy t Q f nx :
    t < end_by f -> any_step (AnyState t Q (Some f) nx) Tick (AnyState (S t) Q (Some f) nx)
| any_release t Q d nx i q :
    i < n -> nx i <= t -> q <= e i ->
    any_step (AnyState t Q d nx) (Release i q)
         (AnyState t (Q ++ repeat (Req i t) q) d (upd nx i (t + p i)))
| any_dispatch t Q nx l Q' k :
    Permutation Q (l ++ Q') -> length l = min z (length Q) ->
    1 <= length l + k <= max (length l) beta ->
    any_step (AnyState t Q None nx) (Dispatch (length l + k))
         (AnyState t Q' (Some (Flight (t + time l k) l k)) nx)
| any_complete t Q x l1 r l2 k nx :
    any_step (AnyState t Q (Some (Flight x (l1 ++ r :: l2) k)) nx) (Complete r)
         (AnyState t Q (remaining_flight (Flight x (l1 ++ l2) k)) nx)
| any_complete_best_effort t Q x l k nx :
    any_step (AnyState t Q (Some (Flight x l (S k))) nx) CompleteBestEffort
         (AnyState t Q (remaining_flight (Flight x l k)) nx)
| any_cancel t l1 r l2 d nx :
    any_step (AnyState t (l1 ++ r :: l2) d nx) (Cancel r) (AnyState t (l1 ++ l2) d nx).

Inductive any_run : any_state -> any_state -> Prop :=
| any_run_nil s : any_run s s
| any_run_cons s ev s' s'' : any_step s ev s' -> any_run s' s'' -> any_run s s''.
Definition any_initial (nx : nat -> nat) : any_state := AnyState 0 [] None nx.
Definition any_reachable (s : any_state) : Prop := exists nx, any_run (any_initial nx) s.
Definition any_pending (r : req) (s : any_state) : Prop :=
  In r (aqueue s) \/ exists f, adevice s = Some f /\ In r (on_device f).

(** At most one job of each task, and best effort as the batch admits it. *)
Definition is_batch (l : list req) (k : nat) : Prop :=
  (forall r, In r l -> rtask r < n) /\ (forall i, i < n -> cnt i l <= e i) /\
  length l + k <= max (length l) beta.
Definition disjoint (l l' : list req) : Prop := forall i, i < n -> cnt i l = 0 \/ cnt i l' = 0.

Variable R : nat.
Hypothesis all_fit : sum n e <= z.
(** Two batches of different tasks take at most R. *)
Hypothesis pairs : forall l k l' k', is_batch l k -> is_batch l' k' -> disjoint l l' ->
  time l k + time l' k' <= R.
Hypothesis below_periods : forall i, i < n -> R < p i.

(** l, k: the batch in flight (or the last one), whose tasks are silent until x; t0: its dispatch. *)
Record inv_by (l : list req) (k t0 x : nat) (s : any_state) : Prop := {
  a_batch : is_batch l k;
  a_now : t0 <= anow s <= x;
  a_end : x <= t0 + time l k;
  a_silent : forall i, i < n -> 0 < cnt i l -> x < aearliest s i;
  a_count : forall i, i < n -> cnt i (aqueue s) <= e i;
  a_queue : forall r, In r (aqueue s) -> rtask r < n /\ cnt (rtask r) l = 0 /\
    t0 <= rrel r /\ aearliest s (rtask r) = rrel r + p (rtask r);
  a_device : forall f, adevice s = Some f -> end_by f <= x /\
    forall r, In r (on_device f) -> x <= rrel r + R }.
Definition inv (s : any_state) : Prop := exists l k t0 x, inv_by l k t0 x s.

(** Nothing in flight and nothing queued. *)
Lemma inv_empty : forall t nx, inv (AnyState t [] None nx).
Proof.
  intros t nx. exists [], 0, t, t.
  constructor; simpl; intros; try lia; try discriminate; try contradiction.
  - repeat split; simpl; intros; try contradiction; unfold cnt; simpl; lia.
  - unfold cnt in *. simpl in *. lia.
  - unfold cnt; simpl; lia.
Qed.

Lemma length_at_most : forall Q, (forall r, In r Q -> rtask r < n) ->
  (forall i, i < n -> cnt i Q <= e i) -> length Q <= z.
Proof.
  intros Q Ht Hc. rewrite (length_cnt n Q Ht).
  transitivity (sum n e); [apply sum_le; assumption|assumption].
Qed.

Lemma cnt_permutation : forall i l l', Permutation l l' -> cnt i l = cnt i l'.
Proof.
  intros i l l' H. unfold cnt. induction H; simpl.
  - reflexivity.
  - destruct (rtask x =? i); simpl; lia.
  - destruct (rtask x =? i), (rtask y =? i); simpl; reflexivity.
  - congruence.
Qed.

(** The next batch, and all that is queued with it, is complete within R. *)
Lemma next_batch : forall l k t0 x s l' k', inv_by l k t0 x s -> Permutation (aqueue s) l' ->
  length l' + k' <= max (length l') beta -> is_batch l' k' /\ x + time l' k' <= t0 + R.
Proof.
  intros l k t0 x s l' k' I HP Hk.
  assert (Hb : is_batch l' k').
  { repeat split; [| |assumption].
    - intros r Hr. apply (a_queue _ _ _ _ _ I). apply (Permutation_in r (Permutation_sym HP) Hr).
    - intros i Hi. rewrite <- (cnt_permutation i _ _ HP). apply (a_count _ _ _ _ _ I i Hi). }
  split; [assumption|]. pose proof (a_end _ _ _ _ _ I).
  enough (time l k + time l' k' <= R) by lia.
  apply pairs; [apply (a_batch _ _ _ _ _ I)|assumption|]. intros i Hi.
  destruct (cnt i l') eqn:Ec; [right; reflexivity|left].
  destruct (cnt_pos_in i l') as (r & Hr & <-); [lia|].
  apply (a_queue _ _ _ _ _ I). apply (Permutation_in r (Permutation_sym HP) Hr).
Qed.

Lemma all_taken : forall l k t0 x s l' Q', inv_by l k t0 x s -> Permutation (aqueue s) (l' ++ Q') ->
  length l' = min z (length (aqueue s)) -> Q' = [] /\ Permutation (aqueue s) l'.
Proof.
  intros l k t0 x s l' Q' I HP Hl.
  assert (Hz : length (aqueue s) <= z).
  { apply length_at_most; [intros r Hr; apply (a_queue _ _ _ _ _ I r Hr)|apply (a_count _ _ _ _ _ I)]. }
  pose proof (Permutation_length HP) as Hlen. rewrite app_length in Hlen.
  assert (Q' = []) as -> by (apply length_zero_iff_nil; lia).
  rewrite app_nil_r in HP. split; [reflexivity|assumption].
Qed.

Lemma inv_complete : forall t Q x l l' k k' nx,
  inv (AnyState t Q (Some (Flight x l k)) nx) -> (forall r, In r l' -> In r l) ->
  inv (AnyState t Q (remaining_flight (Flight x l' k')) nx).
Proof.
  intros t Q x l l' k k' nx (l0 & k0 & t0 & y & I) Hin. exists l0, k0, t0, y.
  destruct (a_device _ _ _ _ _ I _ eq_refl) as [Hf Hr]. simpl in *.
  constructor; simpl; try apply I. intros f Hrem. unfold remaining_flight in Hrem. simpl in Hrem.
  assert (f = Flight x l' k') as -> by (destruct l', k'; congruence). simpl.
  split; [assumption|]. intros r H. apply Hr. apply Hin. assumption.
Qed.

Lemma inv_step : forall s ev s', inv s -> any_step s ev s' -> inv s'.
Proof.
  intros s ev s' Hinv Hstep. destruct Hstep.
  - apply inv_empty.
  - destruct Hinv as (l & k & t0 & x & I). exists l, k, t0, x.
    destruct (a_device _ _ _ _ _ I f eq_refl).
    pose proof (a_now _ _ _ _ _ I) as Hn. simpl in Hn.
    constructor; simpl; try apply I; lia.
  - destruct Hinv as (l & k & t0 & x & I). pose proof (a_now _ _ _ _ _ I) as Hn. simpl in Hn.
    pose proof (below_periods i H) as Hp.
    assert (Hnext : x <= t0 + R).
    { pose proof (a_end _ _ _ _ _ I). pose proof (a_batch _ _ _ _ _ I) as Hb.
      assert (is_batch [] 0) as He
        by (repeat split; simpl; intros; try contradiction; unfold cnt; simpl; lia).
      assert (disjoint l []) as Hd by (intros j _; right; reflexivity).
      pose proof (pairs l k [] 0 Hb He Hd). lia. }
    assert (Hsilent : cnt i l = 0).
    { pose proof (a_silent _ _ _ _ _ I i H) as Hs. simpl in Hs. lia. }
    assert (Hnone : forall r, In r Q -> rtask r <> i).
    { intros r Hr Heq. destruct (a_queue _ _ _ _ _ I r Hr) as (_ & _ & Ht & He). simpl in He.
      rewrite Heq in He. lia. }
    assert (Hc : cnt i Q = 0).
    { destruct (cnt i Q) eqn:Ec; [reflexivity|].
      destruct (cnt_pos_in i Q) as (r & Hr & Ht); [lia|]. exfalso; apply (Hnone r Hr Ht). }
    exists l, k, t0, x. constructor; simpl; try apply I.
    + intros j Hj Hpos. unfold upd. destruct (Nat.eqb_spec j i) as [->|]; [lia|].
      apply (a_silent _ _ _ _ _ I j Hj Hpos).
    + intros j Hj. rewrite cnt_app. destruct (Nat.eq_dec i j) as [<-|Hne].
      * rewrite cnt_repeat_same. lia.
      * rewrite cnt_repeat_other by assumption.
        pose proof (a_count _ _ _ _ _ I j Hj) as Hq. simpl in Hq. lia.
    + intros r Hr. apply in_app_or in Hr. destruct Hr as [Hr|Hr].
      * destruct (a_queue _ _ _ _ _ I r Hr) as (Hr1 & Hr2 & Hr3 & Hr4).
        repeat split; try assumption. unfold upd.
        destruct (Nat.eqb_spec (rtask r) i); [exfalso; apply (Hnone r Hr); assumption|assumption].
      * apply repeat_spec in Hr. subst r. simpl. repeat split; try assumption; [lia|].
        unfold upd. rewrite Nat.eqb_refl. reflexivity.
  - destruct Hinv as (l0 & k0 & t0 & x & I). pose proof (a_now _ _ _ _ _ I) as Hn. simpl in Hn.
    destruct (all_taken _ _ _ _ _ l Q' I H H0) as [-> HP].
    destruct (next_batch _ _ _ _ _ l k I HP) as [Hb Hnext]; [lia|].
    assert (Hof : forall r, In r l -> rtask r < n /\ t0 <= rrel r /\
      nx (rtask r) = rrel r + p (rtask r) /\ t + time l k <= rrel r + R).
    { intros r Hr. apply (Permutation_in r (Permutation_sym HP)) in Hr.
      destruct (a_queue _ _ _ _ _ I r Hr) as (H2 & _ & H3 & H4). simpl in H4.
      repeat split; try assumption. lia. }
    exists l, k, t, (t + time l k). constructor; simpl; intros; try contradiction.
    + assumption.
    + lia.
    + lia.
    + destruct (cnt_pos_in i l) as (r & Hr & <-); [assumption|].
      destruct (Hof r Hr) as (H4 & H5 & H6 & H7). specialize (below_periods _ H4). lia.
    + unfold cnt; simpl; lia.
    + match goal with H : Some _ = Some _ |- _ => injection H as <- end. simpl.
      split; [lia|]. intros r Hr. apply (Hof r Hr).
  - eapply inv_complete; [exact Hinv|]. intros r' Hr'.
    apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
  - eapply inv_complete; [exact Hinv|auto].
  - destruct Hinv as (l & k & t0 & x & I). exists l, k, t0, x. constructor; simpl; try apply I.
    + intros i Hi. pose proof (a_count _ _ _ _ _ I i Hi) as H. simpl in H.
      change (l1 ++ r :: l2) with (l1 ++ [r] ++ l2) in H. rewrite !cnt_app in *. lia.
    + intros r' Hr'. apply (a_queue _ _ _ _ _ I r'). simpl.
      apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
Qed.

Theorem two_batches : forall s r, any_reachable s -> any_pending r s -> anow s <= rrel r + R.
Proof.
  intros s r (nx & Hrun) Hr.
  assert (Hinv : inv s).
  { assert (H0 : inv (any_initial nx)) by apply inv_empty.
    clear Hr. induction Hrun; [assumption|]. apply IHHrun. eapply inv_step; eassumption. }
  destruct Hinv as (l & k & t0 & x & I). pose proof (a_now _ _ _ _ _ I).
  destruct Hr as [Hr|(f & Hf & Hr)].
  - destruct (next_batch _ _ _ _ _ (aqueue s) 0 I (Permutation_refl _)) as [_ Hn]; [lia|].
    destruct (a_queue _ _ _ _ _ I r Hr) as (_ & _ & Ht & _). lia.
  - destruct (a_device _ _ _ _ _ I f Hf) as [_ Hd]. specialize (Hd r Hr). lia.
Qed.

(** ** One task without best effort: nothing is in flight when it releases a job. *)
Definition alone (s : any_state) : Prop :=
  (forall r, In r (aqueue s) -> rtask r = 0) /\ cnt 0 (aqueue s) <= e 0 /\
  match adevice s with
  | None => forall r, In r (aqueue s) -> rrel r = anow s /\ aearliest s 0 = anow s + p 0
  | Some f => aqueue s = [] /\ others f = 0 /\ exists t0,
    anow s <= end_by f <= t0 + R /\ aearliest s 0 = t0 + p 0 /\
    forall r, In r (on_device f) -> rrel r = t0
  end.

Lemma alone_step : n = 1 -> beta = 0 -> (forall l, is_batch l 0 -> time l 0 <= R) ->
  forall s ev s', alone s -> any_step s ev s' -> alone s'.
Proof.
  intros Hn Hbeta Hone s ev s' (Ht & Hc & Hd) Hstep.
  assert (Hp : R < p 0) by (apply below_periods; lia).
  assert (Hfit : e 0 <= z) by (rewrite Hn in all_fit; exact all_fit).
  destruct Hstep; unfold alone; simpl in *.
  - repeat split; try contradiction; assumption.
  - destruct Hd as (HQ & Hk & t0 & H0 & H1). repeat split; try assumption. exists t0.
    repeat split; try apply H1; lia.
  - assert (i = 0) as -> by lia. destruct d as [f|].
    + destruct Hd as (_ & _ & t0 & H2 & H3 & _). lia.
    + assert (Q = []) as ->.
      { destruct Q as [|r Q]; [reflexivity|]. destruct (Hd r) as [_ H2]; [left; reflexivity|lia]. }
      simpl. split; [intros r Hr; apply repeat_spec in Hr; subst r; reflexivity|].
      split; [rewrite cnt_repeat_same; assumption|]. intros r Hr. apply repeat_spec in Hr. subst r.
      unfold upd. simpl. split; reflexivity.
  - assert (Hlen : length Q = cnt 0 Q).
    { rewrite (length_cnt 1 Q); [reflexivity|]. intros r Hr. rewrite (Ht r Hr). lia. }
    pose proof (Permutation_length H) as HP. rewrite app_length in HP.
    assert (Q' = []) as -> by (apply length_zero_iff_nil; lia). rewrite app_nil_r in H.
    assert (k = 0) as -> by lia.
    assert (Hin : forall r, In r l -> In r Q) by (intros r; apply (Permutation_in r (Permutation_sym H))).
    assert (time l 0 <= R).
    { apply Hone. repeat split; [| |lia].
      - intros r Hr. rewrite (Ht r (Hin r Hr)). lia.
      - intros i Hi. assert (i = 0) as -> by lia. rewrite <- (cnt_permutation 0 _ _ H). assumption. }
    split; [intros r []|]. split; [unfold cnt; simpl; lia|]. split; [reflexivity|].
    split; [reflexivity|]. exists t. destruct l as [|r l]; [simpl in *; lia|].
    destruct (Hd r) as [_ Hnx]; [apply Hin; left; reflexivity|].
    split; [lia|]. split; [assumption|]. intros r' Hr'. apply (Hd r' (Hin r' Hr')).
  - destruct Hd as (HQ & Hk & t0 & H0 & H1 & H2). subst Q k. split; [intros r' []|].
    split; [assumption|]. unfold remaining_flight. simpl.
    assert (Hleft : forall r', In r' (l1 ++ l2) -> rrel r' = t0).
    { intros r' Hr'. apply H2. apply in_app_or in Hr'. apply in_or_app. simpl. tauto. }
    destruct (l1 ++ l2); [intros r' []|]. simpl. repeat split; try reflexivity.
    exists t0. repeat split; try assumption; lia.
  - destruct Hd as (_ & Hk & _). discriminate.
  - split; [intros r' Hr'; apply Ht; apply in_app_or in Hr'; apply in_or_app; simpl; tauto|]. split.
    + change (l1 ++ r :: l2) with (l1 ++ [r] ++ l2) in Hc. rewrite !cnt_app in *. lia.
    + destruct d as [f|].
      * destruct Hd as (HQ & _). destruct l1; discriminate.
      * intros r' Hr'. apply Hd. apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
Qed.

Theorem one_task : n = 1 -> beta = 0 -> (forall l, is_batch l 0 -> time l 0 <= R) ->
  forall s r, any_reachable s -> any_pending r s -> anow s <= rrel r + R.
Proof.
  intros Hn Hbeta Hone s r (nx & Hrun) Hr.
  assert (Ha : alone s).
  { assert (H0 : alone (any_initial nx))
      by (repeat split; simpl; intros; try contradiction; unfold cnt; simpl; lia).
    clear Hr. induction Hrun; [assumption|]. apply IHHrun. eapply alone_step; eassumption. }
  destruct Ha as (_ & _ & Ha). destruct Hr as [Hr|(f & Hf & Hr)].
  - destruct (adevice s) as [f|]; [|destruct (Ha r Hr); lia].
    destruct Ha as (HQ & _). rewrite HQ in Hr. contradiction.
  - rewrite Hf in Ha. destruct Ha as (_ & _ & t0 & H0 & _ & H1). rewrite (H1 r Hr). lia.
Qed.
End AnyOrder.
