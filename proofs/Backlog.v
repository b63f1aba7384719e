(** * Theorem 1, the backlog bound A_k, for every z (docs/theory/dual-queue-fifo.md, equation 3.6).

    While every R_i < p_i, no task has two jobs pending.  Behind a batch in flight that holds y
    requests of the other tasks at most E - y are queued.

    Some tasks may owe their R to another bound ([by_backlog] is false): FixedPoint.v joins the
    two. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists.
Import ListNotations.

Section Backlog.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable b : nat -> nat.
Hypothesis b_mono : forall i j, i <= j -> b i <= b j.
Hypothesis z_pos : 1 <= z.
Hypothesis beta_le_z : beta <= z.

Notation E := (E n e).
Notation bt := (bt beta b).
Notation step := (step n e p z beta b).
Notation run := (run n e p z beta b).
Notation reachable := (reachable n e p z beta b).

(** ** The backlog bound (theory A.2, A_k; with best effort B.1) *)
Definition of_set (S : nat -> bool) : nat -> nat := fun i => if S i then e i else 0.
Definition eS (S : nat -> bool) : nat := sum n (of_set S).

(** What the batch in flight can hold when task k releases: a full batch, or whole tasks. *)
Definition carry (k y : nat) : Prop :=
  y <= z /\ y + e k <= E /\ (y = z \/ exists S, S k = false /\ y = eS S).

(** Batches up to and including the last one of the job, and its bound. *)
Definition batches (y : nat) : nat := (E - y + z - 1) / z.
Definition last_size (y : nat) : nat :=
  if batches y <=? 1 then min z (E - y) else min z (E - z).
Definition A (y : nat) : nat := bt y + (batches y - 1) * b z + bt (last_size y).

Variable R : nat -> nat.
Variable by_backlog : nat -> bool.
Hypothesis R_bounds : forall k y, k < n -> by_backlog k = true -> carry k y -> A y <= R k.
Hypothesis R_below_period : forall k, k < n -> R k < p k.

Lemma bt_mono : forall i j, i <= j -> bt i <= bt j.
Proof. intros. apply b_mono. lia. Qed.
Lemma bt_z : bt z = b z.
Proof. unfold bt. f_equal. lia. Qed.
Lemma bt_le_z : forall j, j <= z -> bt j <= b z.
Proof. intros. unfold bt. apply b_mono. lia. Qed.

(** Time from the end of the batch in flight to the end of the batch with the request at
    queue index q, where V requests are taken by the batch in flight. *)
Definition wait (V q : nat) : nat :=
  q / z * b z + bt (if q / z =? 0 then min z (E - V) else min z (E - z)).

Lemma wait_le_A : forall V q, q < E - V ->
  bt (min z V) + wait V q <= A (min z V).
Proof.
  intros V q Hq. unfold A, wait.
  enough (q / z * b z + bt (if q / z =? 0 then min z (E - V) else min z (E - z))
          <= (batches (min z V) - 1) * b z + bt (last_size (min z V))) by lia.
  set (y := min z V) in *.
  assert (Hy : y <= V) by (unfold y; lia).
  assert (HL : q / z <= batches y - 1).
  { unfold batches. replace (E - y + z - 1) with (1 * z + (E - y - 1)) by lia.
    rewrite Nat.div_add_l by lia.
    assert (q / z <= (E - y - 1) / z) by (apply Nat.div_le_mono; lia). lia. }
  assert (Hb1 : 1 <= batches y).
  { unfold batches. apply Nat.div_le_lower_bound; lia. }
  destruct (Nat.eqb_spec (q / z) 0) as [H0|H0].
  - rewrite H0. unfold last_size. destruct (Nat.leb_spec (batches y) 1) as [H1|H1].
    + assert (batches y - 1 = 0) as -> by lia. simpl. apply bt_mono.
      unfold y. lia.
    + assert (bt (min z (E - V)) <= b z) by (apply bt_le_z; lia).
      assert (1 * b z <= (batches y - 1) * b z) by (apply Nat.mul_le_mono_r; lia). lia.
  - unfold last_size. destruct (Nat.leb_spec (batches y) 1) as [H1|H1]; [lia|].
    apply Nat.add_le_mono_r. apply Nat.mul_le_mono_r. lia.
Qed.

Lemma wait_mono : forall V q q', q <= q' -> wait V q <= wait V q'.
Proof.
  intros V q q' H. unfold wait.
  assert (Hd : q / z <= q' / z) by (apply Nat.div_le_mono; lia).
  assert (Hm : q / z * b z <= q' / z * b z) by (apply Nat.mul_le_mono_r; lia).
  destruct (Nat.eqb_spec (q / z) 0) as [H0|H0], (Nat.eqb_spec (q' / z) 0) as [H1|H1]; try lia.
  assert (bt (min z (E - V)) <= b z) by (apply bt_le_z; lia).
  assert (1 * b z <= q' / z * b z) by (apply Nat.mul_le_mono_r; lia). lia.
Qed.

(** ** The invariant.  v i: requests of task i that the batch in flight (or the last one) keeps
    from being released again before it ends; w: its real-time size; t0: its dispatch. *)
Record inv_by (v : nat -> nat) (t0 w : nat) (s : state) : Prop := {
  i_w : w <= min z (sum n v);
  i_now : t0 <= now s <= t0 + bt w;
  i_silent : forall i, i < n -> 0 < v i -> t0 + bt w < earliest s i;
  i_count : forall i, i < n -> v i + cnt i (queue s) <= e i;
  i_queued : forall r, In r (queue s) ->
    rtask r < n /\ earliest s (rtask r) = rrel r + p (rtask r);
  i_promise : forall q r, nth_error (queue s) q = Some r -> by_backlog (rtask r) = true ->
    t0 + bt w + wait (sum n v) q <= rrel r + R (rtask r);
  i_device : forall f, device s = Some f ->
    started f = t0 /\ size f <= max w beta /\
    forall r, In r (real_time f) -> t0 + bt w <= rrel r + R (rtask r);
  i_shape : z <= sum n v \/ exists S, forall i, i < n -> v i = of_set S i }.

Definition inv (s : state) : Prop := exists v t0 w, inv_by v t0 w s.

(** What a bound must promise of each queued request: it survives one more batch, and the next
    one if it goes with it. *)
Definition kept (s : state) : Prop := forall q r, nth_error (queue s) q = Some r ->
  now s + bt 1 <= rrel r + R (rtask r) /\
  (q < z -> now s + bt (min z (length (queue s))) <= rrel r + R (rtask r)).

Lemma queue_short : forall v t0 w s, inv_by v t0 w s -> sum n v + length (queue s) <= E.
Proof.
  intros v t0 w s I.
  rewrite (length_cnt n (queue s)) by (intros r Hr; apply (i_queued _ _ _ _ I r Hr)).
  rewrite <- sum_plus. apply sum_le. apply (i_count _ _ _ _ I).
Qed.

Lemma inv_keeps : forall s q r, inv s -> nth_error (queue s) q = Some r ->
  by_backlog (rtask r) = true -> now s + bt 1 <= rrel r + R (rtask r) /\
  (q < z -> now s + bt (min z (length (queue s))) <= rrel r + R (rtask r)).
Proof.
  intros s q r (v & t0 & w & I) Hq Hk. pose proof (queue_short _ _ _ _ I) as Hshort.
  assert (Hlen : q < length (queue s)) by (apply nth_error_Some; congruence).
  pose proof (i_now _ _ _ _ I) as Hnow.
  apply (i_promise _ _ _ _ I) in Hq; [|assumption]. unfold wait in Hq. split.
  - destruct (Nat.eqb_spec (q / z) 0) as [H0|H0].
    + assert (bt 1 <= bt (min z (E - sum n v))) by (apply bt_mono; lia). lia.
    + assert (bt 1 <= b z) by (apply bt_le_z; lia).
      assert (1 * b z <= q / z * b z) by (apply Nat.mul_le_mono_r; lia). lia.
  - intros Hz. rewrite Nat.div_small in Hq by lia. simpl in Hq.
    assert (bt (min z (length (queue s))) <= bt (min z (E - sum n v))) by (apply bt_mono; lia).
    lia.
Qed.

Lemma inv_release : forall t Q d nx i q,
  kept (State t Q d nx) ->
  inv (State t Q d nx) -> i < n -> nx i <= t -> q <= e i ->
  inv (State t (Q ++ repeat (Req i t) q) d (upd nx i (t + p i))).
Proof.
  intros t Q d nx i q Hkept (v & t0 & w & I) Hi Hnx Hq.
  pose proof (i_now _ _ _ _ I) as Hnow. simpl in Hnow.
  assert (Hvi : v i = 0).
  { destruct (v i) eqn:Ev; [reflexivity|].
    assert (t0 + bt w < nx i) by (apply (i_silent _ _ _ _ I); lia). lia. }
  assert (Hnone : forall r, In r Q -> rtask r <> i).
  { intros r Hr Heq. destruct (i_queued _ _ _ _ I r Hr) as [Hn He]. simpl in He.
    apply In_nth_error in Hr. destruct Hr as [k Hk].
    destruct (Hkept k r Hk) as [Hk' _]. simpl in Hk'. pose proof (R_below_period _ Hn).
    rewrite Heq in *. lia. }
  assert (Hc : cnt i Q = 0).
  { destruct (cnt i Q) eqn:Ec; [reflexivity|].
    destruct (cnt_pos_in i Q) as (r & Hr & Ht); [lia|]. exfalso; apply (Hnone r Hr Ht). }
  exists v, t0, w. constructor; simpl.
  - apply (i_w _ _ _ _ I).
  - assumption.
  - intros j Hj Hv. unfold upd. destruct (Nat.eqb_spec j i) as [->|]; [lia|].
    apply (i_silent _ _ _ _ I); assumption.
  - intros j Hj. rewrite cnt_app. destruct (Nat.eq_dec i j) as [<-|Hne].
    + rewrite cnt_repeat_same. lia.
    + rewrite cnt_repeat_other by assumption.
      pose proof (i_count _ _ _ _ I j Hj) as H. simpl in H. lia.
  - intros r Hr. apply in_app_or in Hr. destruct Hr as [Hr|Hr].
    + destruct (i_queued _ _ _ _ I r Hr) as [Hn He]. split; [assumption|].
      unfold upd. destruct (Nat.eqb_spec (rtask r) i) as [Heq|]; [|assumption].
      exfalso; apply (Hnone r Hr Heq).
    + apply repeat_spec in Hr. subst r. simpl. split; [assumption|].
      unfold upd. rewrite Nat.eqb_refl. reflexivity.
  - intros k r Hk. destruct (Nat.lt_ge_cases k (length Q)) as [Hlt|Hge].
    + rewrite nth_error_app1 in Hk by assumption. apply (i_promise _ _ _ _ I k r Hk).
    + rewrite nth_error_app2 in Hk by assumption.
      assert (Hkq : k - length Q < q).
      { rewrite <- (repeat_length (Req i t) q). apply nth_error_Some. congruence. }
      apply nth_error_In, repeat_spec in Hk. subst r. simpl. intros Hby.
      set (V := sum n v) in *.
      (* the task's own requests are not among those taken *)
      assert (HVi : V + e i <= E).
      { unfold V, E. replace (e i) with (sum n (fun j => if i =? j then e i else 0)).
        - rewrite <- sum_plus. apply sum_le. intros j Hj.
          pose proof (i_count _ _ _ _ I j Hj) as H. simpl in H.
          destruct (Nat.eqb_spec i j) as [<-|]; lia.
        - clear -Hi. revert Hi. generalize n. induction n0; simpl; intros; [lia|].
          destruct (Nat.eq_dec i n0) as [->|Hne].
          + rewrite Nat.eqb_refl, sum_zero; [lia|]. intros j Hj.
            destruct (Nat.eqb_spec n0 j); lia.
          + destruct (Nat.eqb_spec i n0); [lia|]. rewrite IHn0 by lia. lia. }
      assert (HVQ : V + length Q + q <= E).
      { pose proof (queue_short _ _ _ _ I) as H. simpl in H.
        unfold V, E in *.
        rewrite (length_cnt n Q) in * by (intros r Hr; apply (i_queued _ _ _ _ I r Hr)).
        replace q with (sum n (fun j => if i =? j then q else 0)).
        - rewrite <- !sum_plus. apply sum_le. intros j Hj.
          pose proof (i_count _ _ _ _ I j Hj) as H'. simpl in H'.
          destruct (Nat.eqb_spec i j) as [<-|]; lia.
        - clear -Hi. revert Hi. generalize n. induction n0; simpl; intros; [lia|].
          destruct (Nat.eq_dec i n0) as [->|Hne].
          + rewrite Nat.eqb_refl, sum_zero; [lia|]. intros j Hj.
            destruct (Nat.eqb_spec n0 j); lia.
          + destruct (Nat.eqb_spec i n0); [lia|]. rewrite IHn0 by lia. lia. }
      assert (Hcarry : carry i (min z V)).
      { unfold carry. repeat split; [lia|lia|].
        destruct (i_shape _ _ _ _ I) as [Hz|(S & HS)]; [left; unfold V; lia|].
        destruct (Nat.le_gt_cases z V) as [Hz|Hz]; [left; lia|]. right.
        exists S. split.
        - destruct (S i) eqn:Es; [|reflexivity].
          rewrite (HS i Hi) in Hvi. unfold of_set in Hvi. rewrite Es in Hvi. lia.
        - rewrite Nat.min_r by lia. unfold V, eS. apply sum_ext. assumption. }
      assert (Hw : bt w <= bt (min z V)) by (apply bt_mono, (i_w _ _ _ _ I)).
      pose proof (wait_le_A V k) as HA. pose proof (R_bounds i _ Hi Hby Hcarry) as HR. lia.
  - intros f Hf. apply (i_device _ _ _ _ I f Hf).
  - apply (i_shape _ _ _ _ I).
Qed.

Lemma inv_dispatch : forall t Q nx j m,
  kept (State t Q None nx) ->
  inv (State t Q None nx) -> j = min z (length Q) -> m <= max j beta ->
  inv (State t (skipn j Q) (Some (Batch t m (firstn j Q) (m - j))) nx).
Proof.
  intros t Q nx j m Hkept (v & t0 & w & I) Hj Hm.
  pose proof (i_now _ _ _ _ I) as Hnow. simpl in Hnow.
  pose proof (queue_short _ _ _ _ I) as Hshort. simpl in Hshort.
  set (V := sum n v) in *.
  assert (HF : forall r, In r (firstn j Q) -> t + bt j <= rrel r + R (rtask r)).
  { intros r Hr. apply In_nth_error in Hr. destruct Hr as [q Hq].
    assert (q < j).
    { assert (q < length (firstn j Q)) by (apply nth_error_Some; congruence).
      rewrite firstn_length in *. lia. }
    assert (Hq' : nth_error Q q = Some r).
    { rewrite <- (firstn_skipn j Q). rewrite nth_error_app1; [assumption|].
      apply nth_error_Some; congruence. }
    destruct (Hkept q r Hq') as [_ Hk]. simpl in Hk. rewrite Hj. apply Hk. lia. }
  assert (Hsilent : forall i, i < n -> 0 < cnt i (firstn j Q) -> t + bt j < nx i).
  { intros i Hi Hc. apply cnt_pos_in in Hc. destruct Hc as (r & Hr & Ht). subst i.
    pose proof (HF r Hr). pose proof (R_below_period _ Hi).
    assert (HQ : In r Q) by (rewrite <- (firstn_skipn j Q); apply in_or_app; left; assumption).
    destruct (i_queued _ _ _ _ I r HQ) as [_ He]. simpl in He. lia. }
  destruct (Nat.le_gt_cases z (length Q)) as [Hfull|Hall].
  - (* a full batch; its requests, and no others, are silent *)
    assert (j = z) by lia. subst j. rewrite H in *. clear H.
    exists (fun i => cnt i (firstn z Q)), t, z.
    assert (Hlen : sum n (fun i => cnt i (firstn z Q)) = z).
    { rewrite <- length_cnt; [rewrite firstn_length; lia|].
      intros r Hr. assert (HQ : In r Q) by
        (rewrite <- (firstn_skipn z Q); apply in_or_app; left; assumption).
      apply (i_queued _ _ _ _ I r HQ). }
    constructor; simpl.
    + lia.
    + lia.
    + assumption.
    + intros i Hi. rewrite <- cnt_app, firstn_skipn.
      pose proof (i_count _ _ _ _ I i Hi) as H. simpl in H. lia.
    + intros r Hr. apply (i_queued _ _ _ _ I r).
      simpl. rewrite <- (firstn_skipn z Q). apply in_or_app; right; assumption.
    + intros q r Hq. rewrite Hlen.
      assert (Hq' : nth_error Q (z + q) = Some r).
      { rewrite <- (firstn_skipn z Q). rewrite nth_error_app2; rewrite firstn_length.
        - rewrite <- Hq. f_equal. lia.
        - lia. }
      intros Hby. apply (i_promise _ _ _ _ I) in Hq'; [|assumption]. fold V in Hq'. unfold wait in *.
      replace (z + q) with (1 * z + q) in Hq' by lia.
      rewrite Nat.div_add_l in Hq' by lia. simpl in Hq'.
      rewrite bt_z. destruct (q / z =? 0); lia.
    + intros f Hf. injection Hf as <-. simpl. repeat split; [lia|assumption].
    + left. lia.
  - (* all that waits; the tasks in it, with all their requests, are silent *)
    assert (j = length Q) by lia. subst j. rewrite H in *.
    rewrite firstn_all in *. rewrite skipn_all in *. 
    set (T := fun i => 0 <? cnt i Q).
    exists (of_set T), t, (length Q).
    assert (Hlen : length Q <= sum n (of_set T)).
    { rewrite (length_cnt n Q) by (intros r Hr; apply (i_queued _ _ _ _ I r Hr)).
      apply sum_le. intros i Hi. pose proof (i_count _ _ _ _ I i Hi) as Hc. simpl in Hc.
      unfold of_set, T. destruct (Nat.ltb_spec 0 (cnt i Q)); lia. }
    constructor; simpl.
    + lia.
    + lia.
    + intros i Hi Hv. apply Hsilent; [assumption|].
      assert (HT : T i = true) by (unfold of_set in Hv; destruct (T i); [reflexivity|lia]).
      apply Nat.ltb_lt. exact HT.
    + intros i Hi. unfold of_set, cnt. simpl. destruct (T i); lia.
    + contradiction.
    + intros q r Hq. destruct q; discriminate.
    + intros f Hf. injection Hf as <-. simpl. repeat split; [lia|assumption].
    + right. exists T. reflexivity.
Qed.

Lemma inv_step : forall s ev s', kept s -> inv s -> step s ev s' -> inv s'.
Proof.
  intros s ev s' Hkept Hinv Hstep. destruct Hstep.
  - (* an idle nanosecond: nothing is taken *)
    exists (fun _ => 0), (S t), 0. constructor; simpl; intros; try lia; try contradiction; try discriminate.
    + unfold cnt; simpl; lia.
    + match goal with H : nth_error [] ?k = Some _ |- _ => destruct k; discriminate H end.
    + right. exists (fun _ => false). reflexivity.
  - destruct Hinv as (v & t0 & w & I). exists v, t0, w.
    destruct (i_device _ _ _ _ I f eq_refl) as (Hs & Hsize & Hr).
    constructor; simpl; try apply I.
    pose proof (i_now _ _ _ _ I) as Hnow. simpl in Hnow.
    assert (b (size f) <= bt w) by (apply b_mono; assumption). lia.
  - apply inv_release; assumption.
  - apply inv_dispatch; [assumption|assumption|assumption|lia].
  - destruct Hinv as (v & t0' & w & I). exists v, t0', w. constructor; simpl; try apply I.
    intros f Hf. apply remaining_some in Hf. subst f.
    destruct (i_device _ _ _ _ I _ eq_refl) as (Hs & Hsize & Hr). simpl in *.
    repeat split; try assumption. intros r' Hr'. apply Hr.
    apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
  - destruct Hinv as (v & t0' & w & I). exists v, t0', w. constructor; simpl; try apply I.
    intros f Hf. apply remaining_some in Hf. subst f.
    destruct (i_device _ _ _ _ I _ eq_refl) as (Hs & Hsize & Hr). simpl in *.
    repeat split; assumption.
  - destruct Hinv as (v & t0' & w & I). exists v, t0', w. constructor; simpl; try apply I.
    + intros i Hi. pose proof (i_count _ _ _ _ I i Hi) as H. simpl in H.
      change (l1 ++ r :: l2) with (l1 ++ [r] ++ l2) in H. rewrite !cnt_app in *. lia.
    + intros r' Hr'. apply (i_queued _ _ _ _ I r'). simpl.
      apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
    + (* those behind move up, which only brings their promise forward *)
      intros q r' Hq. destruct (Nat.lt_ge_cases q (length l1)) as [Hlt|Hge].
      * apply (i_promise _ _ _ _ I q r'). simpl. rewrite nth_error_app1 in * by assumption.
        assumption.
      * assert (Hq' : nth_error (l1 ++ r :: l2) (S q) = Some r').
        { rewrite nth_error_app2 in * by lia.
          replace (S q - length l1) with (S (q - length l1)) by lia. assumption. }
        intros Hby. apply (i_promise _ _ _ _ I) in Hq'; [|assumption].
        pose proof (wait_mono (sum n v) q (S q)). lia.
Qed.

Lemma inv_initial : forall nx, inv (initial nx).
Proof.
  intros nx. exists (fun _ => 0), 0, 0.
  constructor; simpl; intros; try lia; try contradiction; try discriminate.
  - unfold cnt; simpl; lia.
  - match goal with H : nth_error [] ?k = Some _ |- _ => destruct k; discriminate H end.
  - right. exists (fun _ => false). reflexivity.
Qed.
End Backlog.

(** ** Theorem (backlog bound, every z).  Nothing that is pending is older than R. *)
Section Alone.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable b : nat -> nat.
Hypothesis b_mono : forall i j, i <= j -> b i <= b j.
Hypothesis z_pos : 1 <= z.
Hypothesis beta_le_z : beta <= z.
Variable R : nat -> nat.
Hypothesis R_bounds : forall k y, k < n -> carry n e z k y -> A n e z beta b y <= R k.
Hypothesis R_below_period : forall k, k < n -> R k < p k.

Notation bt := (bt beta b).
Notation step := (step n e p z beta b).
Notation run := (run n e p z beta b).
Notation reachable := (reachable n e p z beta b).

Theorem dqf_backlog_bound : forall s r,
  reachable s -> pending r s -> now s <= rrel r + R (rtask r).
Proof.
  intros s r (nx & tr & Hrun) Hr.
  assert (Hinv : inv n e p z beta b R (fun _ => true) s).
  { clear Hr. pose proof (inv_initial n e p z beta b z_pos beta_le_z R (fun _ => true) nx) as H0.
    induction Hrun; [assumption|]. apply IHHrun.
    apply (inv_step n e p z beta b b_mono z_pos beta_le_z R (fun _ => true)) with (s := s) (ev := ev);
      try assumption; [intros; apply R_bounds; assumption|].
    intros q r' Hq. apply (inv_keeps n e p z beta b b_mono z_pos beta_le_z R (fun _ => true));
      [assumption|assumption|reflexivity]. }
  destruct Hr as [H|(f & Hf & H)].
  - apply In_nth_error in H. destruct H as [q Hq].
    apply (inv_keeps n e p z beta b b_mono z_pos beta_le_z R (fun _ => true)) in Hq;
      [lia|assumption|reflexivity].
  - destruct Hinv as (v & t0 & w & I).
    destruct (i_device _ _ _ _ _ _ _ _ _ _ _ _ I f Hf) as (_ & _ & Hd). specialize (Hd r H).
    pose proof (i_now _ _ _ _ _ _ _ _ _ _ _ _ I). lia.
Qed.

(** The same in terms of an execution: no request completes later than R after its release. *)
Corollary dqf_backlog_response : forall nx tr s r s',
  run (initial nx) tr s -> step s (Complete r) s' -> now s' <= rrel r + R (rtask r).
Proof.
  intros nx tr s r s' Hrun Hstep. inversion Hstep; subst. simpl.
  apply (dqf_backlog_bound (State t Q (Some (Batch t0 m (l1 ++ r :: l2) k)) nx0) r).
  - exists nx, tr. assumption.
  - right. eexists. split; [reflexivity|]. simpl. apply in_or_app. right. left. reflexivity.
Qed.
End Alone.
