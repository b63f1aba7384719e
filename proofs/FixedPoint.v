(** * Theorem 1: a joint fixed point of all responses, for every z (docs/theory/dual-queue-fifo.md,
    section 3).

    R is a bound if every task's R_k is at least W_k(R), at least A_k while every R_i < p_i, or a
    bound for another reason.  W follows a window of full batches.  It starts with a batch that
    takes everything released before its dispatch, the carry-in, and ends with the next one. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists Backlog TwoBatches Progress Window.
Import ListNotations.

Section FixedPoint.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable b : nat -> nat.
Hypothesis b_mono : forall i j, i <= j -> b i <= b j.
Hypothesis z_pos : 1 <= z.
Hypothesis beta_le_z : beta <= z.
Hypothesis p_pos : forall i, i < n -> 1 <= p i.

Notation bt := (bt beta b).
Notation eS := (eS n e).
Notation step := (step n e p z beta b).
Notation run := (run n e p z beta b).
Notation reachable := (reachable n e p z beta b).
Notation kept := (kept z beta b).

(** A batch with a real-time request takes time. *)
Hypothesis bt_one : 1 <= bt 1.

Variable R : nat -> nat.

(** ** The window.  Instants are counted from the start of the carry-in, as if it held s requests
    and took all of b(s).  S i is the number of jobs of task i with a request in it.  It can cut jobs
    that were released at its dispatch: these are not in S, and v of their requests are in it. *)

(** A task with m jobs in the carry-in releases no other before theta (3.5). *)
Definition theta (s m i : nat) : nat := bt s + m * p i - R i.
Definition first_release (S : nat -> nat) (s i : nat) : nat :=
  match S i with 0 => 0 | m => theta s m i end.

(** Jobs of task i released by the instant d. *)
Definition releases (S : nat -> nat) (s i d : nat) : nat :=
  if first_release S s i <=? d then (d - first_release S s i) / p i + 1 else 0.

(** Requests released by the instant d and not in the carry-in (3.1). *)
Definition count (S : nat -> nat) (s v d : nat) : nat :=
  sum n (fun i => e i * releases S s i d) - v.

(** The same where a job of task k is released at a: its task releases whole periods before and
    after (M of 3.3). *)
Definition count_around (S : nat -> nat) (s v k a d : nat) : nat :=
  sum n (fun i => e i * (if i =? k then releases S s k a + (d - a) / p k else releases S s i d)) - v.

(** Full batches before the job's last batch, and the last batch's dispatch (3.2). *)
Definition full_batches (S : nat -> nat) (s v a : nat) : nat := (count S s v a - 1) / z.
Definition last_dispatch (S : nat -> nat) (s v a : nat) : nat := bt s + full_batches S s v a * b z.

(** Requests released in the half-open window [0, d). *)
Definition half_open (d : nat) : nat := sum n (fun i => e i * ceiling d (p i)).

(** The window has not ended when a job is released at a: at the y-th dispatch more than y z
    requests had been released. *)
Definition open (s a : nat) : Prop := forall y, 1 <= y -> bt s + (y - 1) * b z < a ->
  y * z < half_open (bt s + (y - 1) * b z).

(** The requests of the jobs in the carry-in. *)
Definition whole (S : nat -> nat) : nat := sum n (fun i => e i * S i).

(** While every R_i <= p_i, no task has two jobs in the carry-in.  It then counts as whole jobs, or
    as a full batch if these are more.  Otherwise a task has at most as many jobs in it as it releases
    in R_i less the carry-in's time.  A full batch can also cut one more job of each task of C. *)
Variable is_within : bool.
Hypothesis within_periods : is_within = true -> forall i, i < n -> R i <= p i.
Definition cuts (S : nat -> nat) (s v : nat) : Prop :=
  s <= whole S + v /\ exists C, v <= eS C /\
    forall i, i < n -> C i = true -> bt s + S i * p i <= R i.
Definition carry_in (S : nat -> nat) (s v : nat) : Prop :=
  if is_within then
    (forall i, S i <= 1) /\ (s = min z (whole S) /\ v = 0 \/ s = z /\ cuts S s v)
  else
    s <= z /\ cuts S s v /\ (v = 0 \/ s = z) /\
    forall i, i < n -> 1 <= S i -> bt s + (S i - 1) * p i <= R i.

(** W_k(R) <= R_k (3.4). *)
Definition by_window (k : nat) : Prop := forall S s v a,
  carry_in S s v -> 1 <= releases S s k a -> 1 <= count S s v a -> open s a ->
  a <= last_dispatch S s v a ->
  last_dispatch S s v a +
    bt (min z (count_around S s v k a (last_dispatch S s v a) - full_batches S s v a * z)) <= a + R k.

(** ** The invariant.  c0: the carry-in's latest end; x: the full batches since; c: the latest end
    of the batch in flight; jobs i: the jobs of task i released since the window's start. *)
Record window_by (S : nat -> nat) (s v c0 x c : nat) (jobs : nat -> nat) (st : state) : Prop := {
  f_now : now st <= c;
  f_end : c <= c0 + x * b z;
  f_carry : carry_in S s v;
  f_open : forall y, 1 <= y <= x -> y * z < half_open (bt s + (y - 1) * b z);
  f_start : c0 <= now st + bt s;
  f_count : x * z + length (queue st) + v <= sum n (fun i => e i * jobs i);
  f_silent : forall i, i < n -> jobs i = 0 -> 1 <= S i ->
    theta s (S i) i = 0 \/ c0 + theta s (S i) i <= earliest st i + bt s;
  f_sporadic : forall i, i < n -> 1 <= jobs i ->
    c0 + first_release S s i + (jobs i - 1) * p i <= now st + bt s /\
    c0 + first_release S s i + jobs i * p i <= earliest st i + bt s;
  f_single : is_within = true -> forall i, i < n -> cnt i (queue st) <= e i;
  f_job : forall i, i < n -> cnt i (filter (fun r => now st <=? rrel r) (queue st)) <= e i;
  f_apart : forall r r', In r (queue st) -> In r' (queue st) -> rtask r = rtask r' ->
    rrel r < rrel r' -> rrel r + p (rtask r) <= rrel r';
  f_jobs : forall i x y, i < n ->
    cnt i (filter (fun r => (x <=? rrel r) && (rrel r <? y)) (queue st))
      <= e i * ceiling (y - x) (p i);
  f_task : forall r, In r (queue st) -> rtask r < n /\ rrel r + p (rtask r) <= earliest st (rtask r);
  f_queue : forall q r, nth_error (queue st) q = Some r -> exists m,
    1 <= m <= jobs (rtask r) /\
    c0 + first_release S s (rtask r) + (m - 1) * p (rtask r) <= rrel r + bt s /\
    rrel r + (jobs (rtask r) - m) * p (rtask r) <= now st /\
    rrel r + (jobs (rtask r) - m + 1) * p (rtask r) <= earliest st (rtask r) /\
    x * z + q + 1 + v <= sum n (fun i => e i * releases S s i (rrel r + bt s - c0));
  f_device : forall f, device st = Some f ->
    started f + b (size f) <= c /\ forall r, In r (real_time f) -> c <= rrel r + R (rtask r) }.
Definition window (st : state) : Prop := exists S s v c0 x c jobs, window_by S s v c0 x c jobs st.

Lemma releases_ge : forall S s i c0 m t, i < n -> 1 <= m ->
  c0 + first_release S s i + (m - 1) * p i <= t + bt s ->
  m <= releases S s i (t + bt s - c0).
Proof.
  intros S s i c0 m t Hi Hm H. specialize (p_pos i Hi). unfold releases.
  destruct (Nat.leb_spec (first_release S s i) (t + bt s - c0)); [|lia].
  assert (m - 1 <= (t + bt s - c0 - first_release S s i) / p i); [|lia].
  apply Nat.div_le_lower_bound; [lia|]. rewrite Nat.mul_comm. lia.
Qed.

Lemma releases_mono : forall S s i d d', i < n -> d <= d' -> releases S s i d <= releases S s i d'.
Proof.
  intros S s i d d' Hi H. specialize (p_pos i Hi). unfold releases.
  destruct (Nat.leb_spec (first_release S s i) d); [|lia].
  destruct (Nat.leb_spec (first_release S s i) d'); [|lia].
  apply Nat.add_le_mono_r, Nat.div_le_mono; lia.
Qed.

Lemma jobs_le : forall S s v c0 x c jobs st i, window_by S s v c0 x c jobs st -> i < n ->
  jobs i <= releases S s i (now st + bt s - c0).
Proof.
  intros S s v c0 x c jobs st i I Hi. destruct (jobs i) as [|m] eqn:Ej; [lia|].
  destruct (f_sporadic _ _ _ _ _ _ _ _ I i Hi) as [H _]; [lia|]. rewrite Ej in H.
  apply releases_ge; [assumption|lia|assumption].
Qed.

(** A queued request that W speaks of is served in time. *)
Lemma window_keeps : forall st q r, window st -> nth_error (queue st) q = Some r ->
  by_window (rtask r) -> now st + bt 1 <= rrel r + R (rtask r) /\
  (q < z -> now st + bt (min z (length (queue st))) <= rrel r + R (rtask r)).
Proof.
  intros st q r (S & s & v & c0 & x & c & jobs & I) Hq HW.
  assert (Hin : In r (queue st)) by (eapply nth_error_In; eassumption).
  destruct (f_task _ _ _ _ _ _ _ _ I r Hin) as [Hk _].
  destruct (f_queue _ _ _ _ _ _ _ _ I q r Hq) as (m & Hm & Hfirst & Hafter & _ & Hindex).
  pose proof (f_now _ _ _ _ _ _ _ _ I). pose proof (f_end _ _ _ _ _ _ _ _ I).
  set (k := rtask r) in *. set (a := rrel r + bt s - c0) in *.
  pose proof (p_pos k Hk) as Hp.
  assert (Hc0 : c0 <= rrel r + bt s) by nia.
  assert (Hrel : rrel r <= now st) by nia.
  assert (Ha : m <= releases S s k a) by (apply releases_ge; [assumption|lia|lia]).
  set (lb := full_batches S s v a).
  assert (Hx : x <= lb).
  { unfold lb, full_batches, count. transitivity ((x * z + q) / z).
    - rewrite Nat.div_add_l by lia. lia.
    - apply Nat.div_le_mono; lia. }
  assert (Hxz : x * b z <= lb * b z) by (apply Nat.mul_le_mono_r; assumption).
  set (d := last_dispatch S s v a).
  assert (Hd : d = bt s + lb * b z) by reflexivity.
  assert (Had : a <= d) by lia.
  assert (Hopen : open s a).
  { intros y Hy Hya. apply (f_open _ _ _ _ _ _ _ _ I). split; [assumption|].
    destruct (Nat.le_gt_cases y x) as [|Hyx]; [assumption|].
    assert (x * b z <= (y - 1) * b z) by (apply Nat.mul_le_mono_r; lia). lia. }
  specialize (HW S s v a (f_carry _ _ _ _ _ _ _ _ I)). fold lb d in HW.
  assert (HM : count S s v a <= count_around S s v k a d).
  { apply Nat.sub_le_mono_r. apply sum_le. intros i Hi. apply Nat.mul_le_mono_l. destruct (Nat.eqb_spec i k) as [->|].
    - lia.
    - apply releases_mono; assumption. }
  assert (Hpos : 1 <= count S s v a) by (unfold count; lia).
  specialize (HW ltac:(lia) Hpos Hopen Had).
  assert (Hlb : lb * z <= count S s v a - 1).
  { unfold lb, full_batches. rewrite Nat.mul_comm. apply Nat.mul_div_le. lia. }
  split.
  - assert (bt 1 <= bt (min z (count_around S s v k a d - lb * z)))
      by (apply (bt_mono z beta b b_mono z_pos beta_le_z); lia). lia.
  - intros Hqz. destruct (Nat.eq_dec lb x) as [Hlbx|Hne].
    + assert (Hnow : x * z + length (queue st) <= count_around S s v k a d).
      { apply Nat.le_add_le_sub_r. etransitivity; [apply (f_count _ _ _ _ _ _ _ _ I)|].
        apply sum_le. intros i Hi. apply Nat.mul_le_mono_l. destruct (Nat.eqb_spec i k) as [->|].
        - assert (jobs k - m <= (d - a) / p k); [|lia].
          apply Nat.div_le_lower_bound; [lia|]. rewrite Nat.mul_comm. lia.
        - transitivity (releases S s i (now st + bt s - c0)); [eapply jobs_le; eassumption|].
          apply releases_mono; [assumption|lia]. }
      assert (bt (min z (length (queue st))) <= bt (min z (count_around S s v k a d - lb * z)))
        by (apply (bt_mono z beta b b_mono z_pos beta_le_z); lia). lia.
    + assert (Hb : bt (min z (length (queue st))) <= b z)
        by (apply (bt_le_z z beta b b_mono z_pos beta_le_z); lia).
      assert ((x + 1) * b z <= lb * b z) by (apply Nat.mul_le_mono_r; lia). lia.
Qed.

Lemma cnt_filter_in : forall i f g (l : list req),
  (forall r, In r l -> rtask r = i -> f r = true -> g r = true) ->
  cnt i (filter f l) <= cnt i (filter g l).
Proof.
  intros i f g l H. induction l as [|r l IH]; [apply le_n|].
  assert (IH' : cnt i (filter f l) <= cnt i (filter g l))
    by (apply IH; intros; apply H; [right; assumption|assumption|assumption]).
  specialize (H r (or_introl eq_refl)). simpl. unfold cnt in *.
  destruct (f r), (g r); simpl; destruct (Nat.eqb_spec (rtask r) i) as [Ht|]; simpl; try lia.

Qed.

Lemma cnt_split : forall i f (l : list req),
  cnt i l = cnt i (filter (fun r => negb (f r)) l) + cnt i (filter f l).
Proof.
  intros i f l. unfold cnt. induction l as [|r l IH]; [reflexivity|]. simpl.
  destruct (f r); simpl; destruct (rtask r =? i); simpl; lia.
Qed.

Lemma ceiling_jobs : forall m x y d, 1 <= d -> 1 <= m -> m <= ceiling (y - x) d ->
  x < y /\ x + m * d < y + d.
Proof.
  intros m x y d Hd Hm H. unfold ceiling in H.
  assert (m * d <= y - x + d - 1).
  { etransitivity; [apply Nat.mul_le_mono_r; exact H|]. rewrite Nat.mul_comm. apply Nat.mul_div_le. lia. }
  assert (x < y); [|lia]. destruct (Nat.lt_ge_cases x y); [assumption|].
  replace (y - x) with 0 in H by lia. rewrite Nat.div_small in H by lia. lia.
Qed.

(** A release keeps the count of a task's jobs in every window. *)
Lemma jobs_release : forall t Q i q, i < n -> q <= e i ->
  (forall j x y, j < n -> cnt j (filter (fun r => (x <=? rrel r) && (rrel r <? y)) Q)
    <= e j * ceiling (y - x) (p j)) ->
  (forall r, In r Q -> rtask r = i -> rrel r + p i <= t) ->
  forall j x y, j < n ->
  cnt j (filter (fun r => (x <=? rrel r) && (rrel r <? y)) (Q ++ repeat (Req i t) q))
    <= e j * ceiling (y - x) (p j).
Proof.
  intros t Q i q Hi Hq Hjobs Hold j x y Hj. pose proof (p_pos j Hj) as Hp.
  rewrite filter_app, cnt_app. set (f := fun r => (x <=? rrel r) && (rrel r <? y)).
  pose proof (cnt_filter j f (repeat (Req i t) q)) as Hnew.
  destruct (Nat.eq_dec i j) as [<-|Hne].
  - rewrite cnt_repeat_same in Hnew.
    destruct (cnt i (filter f (repeat (Req i t) q))) as [|c] eqn:Ec.
    + rewrite Nat.add_0_r. apply Hjobs. assumption.
    + destruct (cnt_pos_in i (filter f (repeat (Req i t) q))) as (r & Hr & _); [lia|].
      apply filter_In in Hr. destruct Hr as [Hr Hf]. apply repeat_spec in Hr. subst r.
      unfold f in Hf. simpl in Hf. apply andb_true_iff in Hf. destruct Hf as [Hx Hy].
      apply Nat.leb_le in Hx. apply Nat.ltb_lt in Hy.
      assert (Hone : 1 <= ceiling (y - x) (p i)).
      { unfold ceiling. apply Nat.div_le_lower_bound; lia. }
      (* the older jobs lie a period before *)
      destruct (Nat.le_gt_cases (x + p i) t) as [Hpt|Hpt].
      * assert (Hbefore : cnt i (filter f Q) <= e i * ceiling (t - p i + 1 - x) (p i)).
        { etransitivity; [|apply (Hjobs i x (t - p i + 1) Hi)].
          clear -Hold Hpt. induction Q as [|r Q IH]; [apply le_n|].
          assert (IH' : cnt i (filter f Q) <=
            cnt i (filter (fun r => (x <=? rrel r) && (rrel r <? t - p i + 1)) Q))
            by (apply IH; intros; apply Hold; [right; assumption|assumption]).
          specialize (Hold r (or_introl eq_refl)). unfold f in *. simpl. unfold cnt in *.
          destruct (x <=? rrel r); simpl; [|assumption].
          destruct (rrel r <? y), (Nat.ltb_spec (rrel r) (t - p i + 1)); simpl;
            destruct (Nat.eqb_spec (rtask r) i) as [Ht|]; simpl; try lia; specialize (Hold Ht); lia. }
        assert (Hmore : ceiling (t - p i + 1 - x) (p i) + 1 <= ceiling (y - x) (p i)).
        { unfold ceiling. replace ((t - p i + 1 - x + p i - 1) / p i + 1)
            with ((t - p i + 1 - x + p i - 1 + 1 * p i) / p i) by (rewrite Nat.div_add by lia; reflexivity).
          apply Nat.div_le_mono; lia. }
        nia.
      * assert (cnt i (filter f Q) = 0) as ->; [|nia].
        destruct (cnt i (filter f Q)) eqn:E0; [reflexivity|].
        destruct (cnt_pos_in i (filter f Q)) as (r & Hr & Ht); [lia|].
        apply filter_In in Hr. destruct Hr as [Hr Hf]. specialize (Hold r Hr Ht).
        unfold f in Hf. apply andb_true_iff in Hf. destruct Hf as [Hf _]. apply Nat.leb_le in Hf. lia.
  - rewrite cnt_repeat_other in Hnew by assumption.
    replace (cnt j (filter f (repeat (Req i t) q))) with 0 by lia. rewrite Nat.add_0_r.
    apply Hjobs. assumption.
Qed.

Lemma window_release : forall t Q d nx i q,
  kept R (State t Q d nx) ->
  window (State t Q d nx) -> i < n -> nx i <= t -> q <= e i ->
  window (State t (Q ++ repeat (Req i t) q) d (upd nx i (t + p i))).
Proof.
  intros t Q d nx i q Hkept (S & s & v & c0 & x & c & jobs & I) Hi Hnx Hq.
  exists S, s, v, c0, x, c, (upd jobs i (jobs i + 1)).
  pose proof (f_start _ _ _ _ _ _ _ _ I) as Hstart. simpl in Hstart.
  pose proof (f_count _ _ _ _ _ _ _ _ I) as Hcount. simpl in Hcount.
  assert (Hcount' : x * z + length (Q ++ repeat (Req i t) q) + v
                    <= sum n (fun j => e j * upd jobs i (jobs i + 1) j)).
  { rewrite app_length, repeat_length. pose proof (sum_upd n e i (jobs i + 1) Hi jobs). lia. }
  assert (Hspor : forall j, j < n -> 1 <= upd jobs i (jobs i + 1) j ->
    c0 + first_release S s j + (upd jobs i (jobs i + 1) j - 1) * p j <= t + bt s /\
    c0 + first_release S s j + upd jobs i (jobs i + 1) j * p j
      <= upd nx i (t + p i) j + bt s).
  { intros j Hj. unfold upd. destruct (Nat.eqb_spec j i) as [->|].
    - intros _. replace (jobs i + 1 - 1) with (jobs i) by lia.
      assert (c0 + first_release S s i + jobs i * p i <= t + bt s); [|lia].
      destruct (jobs i) as [|m] eqn:Ej.
      + unfold first_release. destruct (S i) as [|m] eqn:ES; [lia|].
        pose proof (f_silent _ _ _ _ _ _ _ _ I i Hi Ej) as H. rewrite ES in H. simpl in H.
        destruct H as [H|H]; lia.
      + destruct (f_sporadic _ _ _ _ _ _ _ _ I i Hi) as [_ H]; [lia|]. simpl earliest in H.
        rewrite Ej in H. lia.
    - intros Hjobs. apply (f_sporadic _ _ _ _ _ _ _ _ I j Hj Hjobs). }
  constructor; simpl; try apply I; try assumption.
  - intros j Hj. unfold upd. destruct (Nat.eqb_spec j i) as [->|]; [lia|].
    apply (f_silent _ _ _ _ _ _ _ _ I j Hj).
  - intros Hw j Hj. rewrite cnt_app. destruct (Nat.eq_dec i j) as [<-|Hne].
    + rewrite cnt_repeat_same. enough (cnt i Q = 0) by lia.
      destruct (cnt i Q) eqn:Ec; [reflexivity|].
      destruct (cnt_pos_in i Q) as (r & Hr & Ht); [lia|]. exfalso.
      destruct (f_task _ _ _ _ _ _ _ _ I r Hr) as [_ He]. simpl in He.
      apply In_nth_error in Hr. destruct Hr as [a Ha].
      destruct (Hkept a r Ha) as [Hk _]. simpl in Hk.
      pose proof (within_periods Hw i Hi). rewrite Ht in *. lia.
    + rewrite cnt_repeat_other by assumption.
      pose proof (f_single _ _ _ _ _ _ _ _ I Hw j Hj) as H. simpl in H. lia.
  - intros j Hj. rewrite filter_app, cnt_app. destruct (Nat.eq_dec i j) as [<-|Hne].
    + pose proof (cnt_filter i (fun r => t <=? rrel r) (repeat (Req i t) q)) as Hnew.
      rewrite cnt_repeat_same in Hnew.
      enough (cnt i (filter (fun r => t <=? rrel r) Q) = 0) by lia.
      destruct (cnt i (filter _ Q)) eqn:Ec; [reflexivity|].
      destruct (cnt_pos_in i (filter (fun r => t <=? rrel r) Q)) as (r & Hr & Ht); [lia|].
      exfalso. apply filter_In in Hr. destruct Hr as [Hr Hle]. apply Nat.leb_le in Hle.
      destruct (f_task _ _ _ _ _ _ _ _ I r Hr) as [_ He]. simpl in He.
      pose proof (p_pos i Hi). rewrite Ht in *. lia.
    + assert (cnt j (filter (fun r => t <=? rrel r) (repeat (Req i t) q)) = 0) as ->.
      { pose proof (cnt_filter j (fun r => t <=? rrel r) (repeat (Req i t) q)).
        rewrite cnt_repeat_other in H by assumption. lia. }
      pose proof (f_job _ _ _ _ _ _ _ _ I j Hj) as H. simpl in H. lia.
  - intros r r' Hr Hr' Ht Hlt. apply in_app_or in Hr, Hr'. destruct Hr as [Hr|Hr], Hr' as [Hr'|Hr'].
    + apply (f_apart _ _ _ _ _ _ _ _ I r r'); assumption.
    + apply repeat_spec in Hr'. subst r'. simpl in *.
      destruct (f_task _ _ _ _ _ _ _ _ I r Hr) as [_ He]. simpl in He. rewrite Ht in *. lia.
    + apply repeat_spec in Hr. subst r. simpl in *.
      assert (rrel r' <= t); [|lia]. apply In_nth_error in Hr'. destruct Hr' as [a Ha].
      destruct (f_queue _ _ _ _ _ _ _ _ I a r' Ha) as (m' & _ & _ & H3 & _). simpl in H3. nia.
    + apply repeat_spec in Hr, Hr'. subst r r'. simpl in *. lia.
  - apply jobs_release; [assumption|assumption|apply I|].
    intros r Hr Ht. destruct (f_task _ _ _ _ _ _ _ _ I r Hr) as [_ He]. simpl in He.
    rewrite Ht in He. lia.
  - intros r Hr. apply in_app_or in Hr. unfold upd. destruct Hr as [Hr|Hr].
    + destruct (f_task _ _ _ _ _ _ _ _ I r Hr) as [Hn He]. simpl in He. split; [assumption|].
      destruct (Nat.eqb_spec (rtask r) i) as [Heq|]; [rewrite Heq in *; lia|assumption].
    + apply repeat_spec in Hr. subst r. simpl. rewrite Nat.eqb_refl. split; [assumption|lia].
  - intros a r Ha. destruct (Nat.lt_ge_cases a (length Q)) as [Hlt|Hge].
    + rewrite nth_error_app1 in Ha by assumption.
      destruct (f_queue _ _ _ _ _ _ _ _ I a r Ha) as (m & Hm & Hfirst & Hafter & Hnext & Hindex).
      simpl in *. exists m. unfold upd. destruct (Nat.eqb_spec (rtask r) i) as [Heq|].
      * rewrite Heq in *. replace (jobs i + 1 - m) with (jobs i - m + 1) by lia.
        repeat split; try assumption; lia.
      * repeat split; try assumption; lia.
    + assert (Hlen : a < length (Q ++ repeat (Req i t) q)) by (apply nth_error_Some; congruence).
      rewrite nth_error_app2 in Ha by assumption.
      apply nth_error_In, repeat_spec in Ha. subst r. simpl.
      destruct (Hspor i Hi) as [H1 H2]; [unfold upd; rewrite Nat.eqb_refl; lia|].
      unfold upd in *. rewrite Nat.eqb_refl in *.
      exists (jobs i + 1). rewrite Nat.sub_diag. repeat split; try lia.
      etransitivity; [|apply (sum_le n (fun j => e j * (if j =? i then jobs i + 1 else jobs j)))].
      * lia.
      * intros j Hj. apply Nat.mul_le_mono_l.
        destruct (if j =? i then jobs i + 1 else jobs j) as [|m] eqn:Em; [lia|].
        apply releases_ge; [assumption|lia|].
        destruct (Hspor j Hj) as [H _]; rewrite Em in *; [lia|assumption].
Qed.

Lemma jobs_behind : forall Q j,
  (forall i x y, i < n -> cnt i (filter (fun r => (x <=? rrel r) && (rrel r <? y)) Q)
    <= e i * ceiling (y - x) (p i)) ->
  forall i x y, i < n -> cnt i (filter (fun r => (x <=? rrel r) && (rrel r <? y)) (skipn j Q))
    <= e i * ceiling (y - x) (p i).
Proof.
  intros Q j H i x y Hi. specialize (H i x y Hi).
  rewrite <- (firstn_skipn j Q), filter_app, cnt_app in H. lia.
Qed.

Lemma window_dispatch : forall t Q nx j m,
  kept R (State t Q None nx) ->
  window (State t Q None nx) -> j = min z (length Q) -> m <= max j beta ->
  window (State t (skipn j Q) (Some (Batch t m (firstn j Q) (m - j))) nx).
Proof.
  intros t Q nx j m Hkept (S & s & v & c0 & x & c & jobs & I) Hj Hm.
  assert (HF : forall r, In r (firstn j Q) -> t + bt j <= rrel r + R (rtask r)).
  { intros r Hr. apply In_nth_error in Hr. destruct Hr as [q Hq].
    assert (q < j).
    { assert (q < length (firstn j Q)) by (apply nth_error_Some; congruence).
      rewrite firstn_length in *. lia. }
    assert (Hq' : nth_error Q q = Some r).
    { rewrite <- (firstn_skipn j Q). rewrite nth_error_app1; [assumption|].
      apply nth_error_Some; congruence. }
    destruct (Hkept q r Hq') as [_ Hk]. simpl in Hk. rewrite Hj. apply Hk. lia. }
  assert (Hsize : b m <= bt j) by (apply b_mono; assumption).
  assert (Hnext : forall i r, In r (firstn j Q) -> rtask r = i -> t + bt j + p i <= nx i + R i).
  { intros i r Hr <-. pose proof (HF r Hr). assert (HQ : In r Q) by
      (rewrite <- (firstn_skipn j Q); apply in_or_app; left; assumption).
    destruct (f_task _ _ _ _ _ _ _ _ I r HQ) as [_ He]. simpl in He. lia. }
  assert (HinQ : forall r, In r (skipn j Q) -> In r Q).
  { intros r Hr. rewrite <- (firstn_skipn j Q). apply in_or_app. right. assumption. }
  assert (Htasks : forall r, In r (skipn j Q) -> rtask r < n /\ rrel r + p (rtask r) <= nx (rtask r)).
  { intros r Hr. apply (f_task _ _ _ _ _ _ _ _ I r). apply HinQ. assumption. }
  assert (Hsingle : is_within = true -> forall i, i < n ->
    cnt i (firstn j Q) + cnt i (skipn j Q) <= e i).
  { intros Hw i Hi. rewrite <- cnt_app, firstn_skipn.
    apply (f_single _ _ _ _ _ _ _ _ I Hw i Hi). }
  assert (Hjob : forall i, i < n -> cnt i (filter (fun r => t <=? rrel r) (skipn j Q)) <= e i).
  { intros i Hi. pose proof (f_job _ _ _ _ _ _ _ _ I i Hi) as H. simpl in H.
    rewrite <- (firstn_skipn j Q), filter_app, cnt_app in H. lia. }
  assert (Hlen : length (skipn j Q) = sum n (fun i => cnt i (skipn j Q)))
    by (apply length_cnt; intros r Hr; apply Htasks; assumption).
  destruct (forallb (fun r => t <=? rrel r) (skipn j Q)) eqn:Eall.
  - (* everything released before is dispatched: this batch is the carry-in of a new window *)
    rewrite filter_all in Hjob by assumption. rewrite forallb_forall in Eall.
    set (first i := 0 <? cnt i (firstn j Q)). set (rest i := 0 <? cnt i (skipn j Q)).
    set (newer i := cnt i (filter (fun r => rest i && (t <=? rrel r)) (firstn j Q))).
    set (older i := cnt i (filter (fun r => negb (rest i && (t <=? rrel r))) (firstn j Q))).
    set (T := fun i => if is_within then if first i && negb (rest i) then 1 else 0
                       else ceiling (older i) (e i)).
    set (v' := if is_within then sum n (fun i => if rest i then cnt i (firstn j Q) else 0)
               else sum n newer).
    set (s' := if is_within then if length Q <=? z then min z (whole T) else z else j).
    exists T, s', v', (t + bt j), 0, (t + bt j), (fun i => if rest i then 1 else 0).
    assert (HFQ : forall r, In r (firstn j Q) -> In r Q).
    { intros r Hr. rewrite <- (firstn_skipn j Q). apply in_or_app. left. assumption. }
    assert (Hpast : forall r, In r Q -> rrel r <= t).
    { intros r Hr. apply In_nth_error in Hr. destruct Hr as [q Hq].
      destruct (f_queue _ _ _ _ _ _ _ _ I q r Hq) as (m' & _ & _ & H3 & _). simpl in H3. nia. }
    assert (Hin : forall i, rest i = true -> exists r, In r (skipn j Q) /\ rtask r = i).
    { intros i Hr. unfold rest in Hr. apply Nat.ltb_lt in Hr. apply cnt_pos_in. assumption. }
    assert (Hnewer : forall i, i < n -> newer i + cnt i (skipn j Q) <= e i * (if rest i then 1 else 0)).
    { intros i Hi. destruct (rest i) eqn:Er.
      - pose proof (f_job _ _ _ _ _ _ _ _ I i Hi) as H. simpl in H.
        rewrite <- (firstn_skipn j Q), filter_app, cnt_app in H.
        rewrite (filter_all _ (skipn j Q)) in H by (apply forallb_forall; exact Eall).
        unfold newer. rewrite Er. simpl. lia.
      - unfold newer. rewrite Er. simpl. unfold rest in Er. apply Nat.ltb_ge in Er.
        assert (filter (fun _ : req => false) (firstn j Q) = []) as ->
          by (clear; induction (firstn j Q); auto).
        unfold cnt at 1. simpl. lia. }
    assert (Holder : forall i x y, i < n -> (forall r, In r (firstn j Q) -> rtask r = i ->
        negb (rest i && (t <=? rrel r)) = true -> x <= rrel r < y) ->
      older i <= e i * ceiling (older i) (e i) /\ ceiling (older i) (e i) <= ceiling (y - x) (p i)).
    { intros i x0 y Hi Hxy.
      assert (Hle : older i <= e i * ceiling (y - x0) (p i)).
      { etransitivity; [|apply (f_jobs _ _ _ _ _ _ _ _ I i x0 y Hi)]. simpl.
        rewrite <- (firstn_skipn j Q). rewrite filter_app, cnt_app. unfold older.
        etransitivity; [apply cnt_filter_in with (g := fun r => (x0 <=? rrel r) && (rrel r <? y))|lia].
        intros r Hr Ht Hf. specialize (Hxy r Hr Ht Hf). apply andb_true_iff.
        split; [apply Nat.leb_le; lia|apply Nat.ltb_lt; lia]. }
      destruct (Nat.eq_dec (e i) 0) as [He0|He0].
      - rewrite He0 in *. split; [lia|]. simpl in Hle. replace (older i) with 0 by lia.
        unfold ceiling at 1. simpl. lia.
      - split; [rewrite Nat.mul_comm; apply ceiling_ge; lia|].
        apply ceiling_le; [lia|]. rewrite Nat.mul_comm. assumption. }
    assert (Hsince : forall i r, In r (firstn j Q) -> rtask r = i -> t + bt j - R i <= rrel r).
    { intros i r Hr <-. pose proof (HF r Hr). lia. }
    (* as many jobs as fit into R less the carry-in's time *)
    assert (Hmany : forall i, i < n -> 1 <= ceiling (older i) (e i) ->
      bt j + (ceiling (older i) (e i) - 1) * p i <= R i).
    { intros i Hi H1. destruct (Holder i (t + bt j - R i) (t + 1) Hi) as [_ H].
      { intros r Hr Ht _. split; [apply Hsince; assumption|].
        pose proof (Hpast r (HFQ r Hr)). lia. }
      destruct (ceiling_jobs _ _ _ _ (p_pos i Hi) H1 H) as [Hx Hy].
      rewrite Nat.mul_sub_distr_r. lia. }
    assert (Hbehind : forall i, i < n -> rest i = true -> 1 <= ceiling (older i) (e i) ->
      bt j + ceiling (older i) (e i) * p i <= R i).
    { intros i Hi Er H1. destruct (Hin i Er) as (r' & Hr' & Ht').
      pose proof (Eall r' Hr') as Hrel. apply Nat.leb_le in Hrel.
      pose proof (Hpast r' (HinQ r' Hr')).
      destruct (Holder i (t + bt j - R i) (t + 1 - p i) Hi) as [_ H0].
      { intros r Hr Ht Hf. split; [apply Hsince; assumption|].
        rewrite Er in Hf. simpl in Hf. apply negb_true_iff, Nat.leb_gt in Hf.
        assert (rrel r + p (rtask r) <= rrel r').
        { apply (f_apart _ _ _ _ _ _ _ _ I r r'); simpl; [apply HFQ; assumption|apply HinQ; assumption|congruence|lia]. }
        rewrite Ht in *. lia. }
      destruct (ceiling_jobs _ _ _ _ (p_pos i Hi) H1 H0) as [Hx Hy].
      lia. }
    assert (Hagain : forall i, i < n -> rest i = false -> 1 <= ceiling (older i) (e i) ->
      bt j + ceiling (older i) (e i) * p i - R i = 0 \/
      t + bt j + (bt j + ceiling (older i) (e i) * p i - R i) <= nx i + bt j).
    { intros i Hi Er H1. destruct (Holder i (t + bt j - R i) (nx i + 1 - p i) Hi) as [_ H0].
      { intros r Hr Ht _. split; [apply Hsince; assumption|].
        destruct (f_task _ _ _ _ _ _ _ _ I r (HFQ r Hr)) as [_ He]. simpl in He. rewrite Ht in He. lia. }
      destruct (ceiling_jobs _ _ _ _ (p_pos i Hi) H1 H0) as [Hx Hy].
      lia. }
    assert (Hcover : is_within = false -> j <= whole T + v').
    { intros Hw. replace j with (length (firstn j Q)) by (rewrite firstn_length; lia).
      rewrite (length_cnt n (firstn j Q)).
      - unfold whole, v'. rewrite Hw, <- sum_plus. apply sum_le. intros i Hi.
        rewrite (cnt_split i (fun r => rest i && (t <=? rrel r)) (firstn j Q)).
        apply Nat.add_le_mono_r. unfold T. rewrite Hw.
        apply (Holder i 0 (t + 1) Hi). intros r Hr _ _. pose proof (Hpast r (HFQ r Hr)). lia.
      - intros r Hr. apply (f_task _ _ _ _ _ _ _ _ I r). apply HFQ. assumption. }
    assert (Hfirst : is_within = true -> j <= whole T + v').
    { intros Hw. replace j with (length (firstn j Q)) by (rewrite firstn_length; lia).
      rewrite (length_cnt n (firstn j Q)).
      - unfold whole, v'. rewrite Hw, <- sum_plus. apply sum_le. intros i Hi.
        pose proof (Hsingle Hw i Hi). unfold T. rewrite Hw. unfold first.
        destruct (Nat.ltb_spec 0 (cnt i (firstn j Q))), (rest i); simpl; lia.
      - intros r Hr. apply (f_task _ _ _ _ _ _ _ _ I r). simpl. apply HFQ. assumption. }
    assert (Hrest : j <> z -> forall i, rest i = false).
    { intros Hjz i. unfold rest. rewrite skipn_all2 by lia. reflexivity. }
    assert (Hall : length Q <= z -> forall i, rest i = false).
    { intros Hle i. unfold rest. rewrite skipn_all2 by lia. reflexivity. }
    assert (Hv0 : length Q <= z -> v' = 0).
    { intros Hle. unfold v'. destruct is_within; apply sum_zero; intros i Hi.
      - rewrite Hall by assumption. reflexivity.
      - pose proof (Hnewer i Hi) as H. rewrite Hall in H by assumption. lia. }
    assert (Hs' : j <= s').
    { unfold s'. destruct is_within eqn:Ew; [|lia]. destruct (Nat.leb_spec (length Q) z); [|lia].
      pose proof (Hfirst eq_refl). rewrite Hv0 in * by assumption. lia. }
    assert (Hbs : bt j <= bt s') by (apply (bt_mono z beta b b_mono z_pos beta_le_z); assumption).
    assert (Hcount : length (skipn j Q) + v' <= sum n (fun i => e i * (if rest i then 1 else 0))).
    { rewrite Hlen. unfold v'. destruct is_within; rewrite <- sum_plus; apply sum_le; intros i Hi.
      - pose proof (Hjob i Hi). pose proof (Hsingle eq_refl i Hi). unfold rest.
        destruct (Nat.ltb_spec 0 (cnt i (skipn j Q))); lia.
      - pose proof (Hnewer i Hi). lia. }
    assert (HnotT : forall i, i < n -> rest i = true -> first_release T s' i = 0).
    { intros i Hi Hr. unfold first_release, T, s'. destruct is_within.
      - rewrite Hr, andb_false_r. reflexivity.
      - pose proof (Hbehind i Hi Hr) as H. destruct (ceiling (older i) (e i)) as [|c']; [reflexivity|].
        unfold theta. specialize (H ltac:(lia)). lia. }
    constructor; simpl.
    + lia.
    + lia.
    + assert (Hnow : forall i, 0 < cnt i (firstn j Q) -> rest i = true -> is_within = true ->
        i < n -> bt j <= R i).
      { intros i Hf _ _ _. apply cnt_pos_in in Hf. destruct Hf as (r & Hr & <-).
        pose proof (HF r Hr). pose proof (Hpast r (HFQ r Hr)). lia. }
      unfold carry_in. destruct is_within eqn:Ew.
      * split; [intros i; unfold T; destruct (first i && negb (rest i)); lia|]. unfold s'.
        destruct (Nat.leb_spec (length Q) z) as [Hle|Hgt]; [left|right].
        -- split; [reflexivity|apply Hv0; assumption].
        -- assert (Hjz : j = z) by lia. split; [reflexivity|].
           split; [pose proof (Hfirst eq_refl); lia|].
           exists (fun i => first i && rest i). split.
           ++ unfold v', eS. apply sum_le. intros i Hi. unfold of_set, first.
              pose proof (Hsingle eq_refl i Hi).
              destruct (rest i), (Nat.ltb_spec 0 (cnt i (firstn j Q))); simpl; lia.
           ++ intros i Hi Hc. apply andb_true_iff in Hc. destruct Hc as [Hf Hr].
              unfold first in Hf. apply Nat.ltb_lt in Hf. unfold T. rewrite Hr, andb_false_r, <- Hjz.
              specialize (Hnow i Hf Hr eq_refl Hi). lia.
      * unfold s'. split; [lia|]. split; [split|split].
        -- apply Hcover. reflexivity.
        -- exists (fun i => 0 <? newer i). split.
           ++ unfold v', eS. apply sum_le. intros i Hi. unfold of_set.
              pose proof (Hnewer i Hi). destruct (Nat.ltb_spec 0 (newer i)); [|lia].
              destruct (rest i); lia.
           ++ intros i Hi Hc. apply Nat.ltb_lt in Hc. unfold T.
              assert (Er : rest i = true).
              { pose proof (Hnewer i Hi). destruct (rest i); [reflexivity|lia]. }
              pose proof (Hbehind i Hi Er) as Hb. apply cnt_pos_in in Hc. destruct Hc as (r & Hr & <-).
              apply filter_In in Hr. destruct Hr as [Hr _].
              pose proof (HF r Hr). pose proof (Hpast r (HFQ r Hr)).
              destruct (ceiling (older (rtask r)) (e (rtask r))); [lia|apply Hb; lia].
        -- destruct (Nat.le_gt_cases (length Q) z); [left; apply Hv0; assumption|right; lia].
        -- intros i Hi HT. unfold T in *. apply Hmany; assumption.
    + lia.
    + lia.
    + lia.
    + intros i Hi H0 HT. unfold T, s' in *. destruct is_within eqn:Ew.
      * destruct (first i && negb (rest i)) eqn:Ef; [|lia]. apply andb_true_iff in Ef.
        destruct Ef as [Hf _]. unfold first in Hf.
        apply Nat.ltb_lt, cnt_pos_in in Hf. destruct Hf as (r & Hr & Ht).
        pose proof (Hnext i r Hr Ht). pose proof (within_periods eq_refl i Hi). right.
        unfold theta. lia.
      * unfold theta. apply Hagain; [assumption| |assumption]. destruct (rest i); [discriminate|reflexivity].
    + intros i Hi Hone. destruct (rest i) eqn:Er; [|lia]. rewrite (HnotT i Hi Er).
      destruct (Hin i Er) as (r & Hr & <-). destruct (Htasks r Hr) as [_ He].
      pose proof (Eall r Hr) as Hrel. apply Nat.leb_le in Hrel. lia.
    + intros Hw i Hi. pose proof (Hsingle Hw i Hi). lia.
    + intros i Hi. etransitivity; [apply cnt_filter|]. apply Hjob. assumption.
    + intros r r' Hr Hr'. apply (f_apart _ _ _ _ _ _ _ _ I r r'); apply HinQ; assumption.
    + apply jobs_behind with (j := j). apply (f_jobs _ _ _ _ _ _ _ _ I).
    + assumption.
    + intros q r Hq. assert (Hr : In r (skipn j Q)) by (eapply nth_error_In; eassumption).
      destruct (Htasks r Hr) as [Hn He]. pose proof (Eall r Hr) as Hrel. apply Nat.leb_le in Hrel.
      assert (Hnow : rrel r <= t).
      { apply HinQ, In_nth_error in Hr. destruct Hr as [q' Hq'].
        destruct (f_queue _ _ _ _ _ _ _ _ I q' r Hq') as (m' & _ & _ & H3 & _). simpl in H3. nia. }
      assert (Er : rest (rtask r) = true) by (apply Nat.ltb_lt, cnt_in_pos; assumption).
      assert (Hq' : q < length (skipn j Q)) by (apply nth_error_Some; congruence).
      exists 1. rewrite Er, (HnotT _ Hn Er). repeat split; try lia.
      etransitivity; [|apply (sum_le n (fun i => e i * (if rest i then 1 else 0)))]; [lia|].
      intros i Hi. apply Nat.mul_le_mono_l. destruct (rest i) eqn:Ei; [|lia].
      apply releases_ge; [assumption|lia|]. rewrite (HnotT i Hi Ei). lia.
    + intros f Hf. injection Hf as <-. simpl. split; [lia|assumption].
  - (* something released before still waits, so this batch is full *)
    apply forallb_false in Eall. destruct Eall as (old & Hold & Hrel). apply Nat.leb_gt in Hrel.
    assert (Hjz : j = z).
    { destruct (Nat.le_gt_cases (length Q) z) as [Hle|]; [|lia].
      rewrite skipn_all2 in Hold by lia. contradiction. }
    rewrite Hjz in *. rewrite (bt_z z beta b z_pos beta_le_z) in *.
    pose proof (f_now _ _ _ _ _ _ _ _ I) as Hn. pose proof (f_end _ _ _ _ _ _ _ _ I) as He.
    simpl in Hn.
    assert (Hmore : (x + 1) * z < half_open (bt s + x * b z)).
    { apply In_nth_error in Hold. destruct Hold as [q Hq].
      assert (Hq' : nth_error Q (z + q) = Some old).
      { rewrite <- (firstn_skipn z Q). rewrite nth_error_app2; rewrite firstn_length.
        - rewrite <- Hq. f_equal. lia.
        - lia. }
      destruct (f_queue _ _ _ _ _ _ _ _ I (z + q) old Hq') as (m' & H1 & H2 & _ & _ & H5).
      simpl in H2. assert (c0 <= rrel old + bt s) by nia.
      assert ((x + 1) * z + 1 <= half_open (bt s + x * b z)); [|lia].
      etransitivity; [|apply (sum_le n (fun i => e i * releases S s i (rrel old + bt s - c0)))]; [lia|].
      intros i Hi. apply Nat.mul_le_mono_l. pose proof (p_pos i Hi). unfold releases.
      destruct (_ <=? _); [|lia]. set (g := rrel old + bt s - c0 - first_release S s i).
      assert (Hg : g + 1 <= bt s + x * b z) by lia.
      unfold ceiling. replace (g / p i + 1) with ((g + 1 * p i) / p i) by
        (rewrite Nat.div_add by lia; reflexivity).
      apply Nat.div_le_mono; lia. }
    exists S, s, v, c0, (x + 1), (t + b z), jobs. constructor; simpl; try apply I; try lia.
    + intros y Hy. destruct (Nat.eq_dec y (x + 1)) as [->|].
      * rewrite Nat.add_sub. assumption.
      * apply (f_open _ _ _ _ _ _ _ _ I). lia.
    + rewrite skipn_length. pose proof (f_count _ _ _ _ _ _ _ _ I) as Hc. simpl in Hc. 
      assert (z <= length Q) by lia. lia.
    + intros Hw i Hi. pose proof (Hsingle Hw i Hi). lia.
    + assumption.
    + intros r r' Hr Hr'. apply (f_apart _ _ _ _ _ _ _ _ I r r'); apply HinQ; assumption.
    + apply jobs_behind with (j := z). apply (f_jobs _ _ _ _ _ _ _ _ I).
    + assumption.
    + intros q r Hq. assert (Hq' : nth_error Q (z + q) = Some r).
      { rewrite <- (firstn_skipn z Q). rewrite nth_error_app2; rewrite firstn_length.
        - rewrite <- Hq. f_equal. lia.
        - lia. }
      destruct (f_queue _ _ _ _ _ _ _ _ I (z + q) r Hq') as (m' & H1 & H2 & H3 & H4 & H5).
      exists m'. repeat split; try assumption; try lia.
    + intros f Hf. injection Hf as <-. simpl. split; [lia|assumption].
Qed.

Lemma nothing_carried : carry_in (fun _ => 0) 0 0.
Proof.
  assert (H : cuts (fun _ => 0) 0 0).
  { split; [lia|]. exists (fun _ => false). split; [lia|]. intros i _ H. discriminate. }
  unfold carry_in. destruct is_within.
  - split; [intros; lia|]. left. unfold whole. rewrite sum_zero by (intros; lia). lia.
  - repeat split; try apply H; try lia.
Qed.

Lemma window_step : forall st ev st', kept R st -> window st -> step st ev st' -> window st'.
Proof.
  intros st ev st' Hkept Hwin Hstep. destruct Hstep.
  - (* an idle nanosecond: nothing is carried in *)
    exists (fun _ => 0), 0, 0, (S t), 0, (S t), (fun _ => 0).
    constructor; simpl; intros; try lia; try contradiction; try discriminate.
    + apply nothing_carried.
    + unfold cnt. simpl. lia.
    + unfold cnt. simpl. lia.
    + unfold cnt. simpl. lia.
    + destruct q; discriminate.
  - destruct Hwin as (S & s & v & c0 & x & c & jobs & I). exists S, s, v, c0, x, c, jobs.
    destruct (f_device _ _ _ _ _ _ _ _ I f eq_refl) as [Hf _].
    pose proof (f_start _ _ _ _ _ _ _ _ I) as Hs. simpl in Hs.
    constructor; simpl; try apply I; try lia.
    + intros i Hi Hjobs. destruct (f_sporadic _ _ _ _ _ _ _ _ I i Hi Hjobs) as [H1 H2].
      simpl in *. split; [lia|assumption].
    + intros i Hi. etransitivity; [|apply (f_job _ _ _ _ _ _ _ _ I i Hi)]. simpl.
      apply cnt_filter_le. intros r. destruct (rrel r); [discriminate|].
      rewrite !Nat.leb_le. lia.
    + intros q r Hq. destruct (f_queue _ _ _ _ _ _ _ _ I q r Hq) as (m & H1 & H2 & H3 & H4 & H5).
      simpl in *. exists m. repeat split; try assumption; lia.
  - apply window_release; assumption.
  - apply window_dispatch; [assumption|assumption|assumption|lia].
  - destruct Hwin as (S & s & v & c0 & x & c & jobs & I). exists S, s, v, c0, x, c, jobs.
    constructor; simpl; try apply I.
    intros f Hf. apply remaining_some in Hf. subst f.
    destruct (f_device _ _ _ _ _ _ _ _ I _ eq_refl) as [Hc Hr]. simpl in *. split; [assumption|].
    intros r' Hr'. apply Hr. apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
  - destruct Hwin as (S & s & v & c0 & x & c & jobs & I). exists S, s, v, c0, x, c, jobs.
    constructor; simpl; try apply I.
    intros f Hf. apply remaining_some in Hf. subst f.
    destruct (f_device _ _ _ _ _ _ _ _ I _ eq_refl) as [Hc Hr]. simpl in *. split; assumption.
  - destruct Hwin as (S & s & v & c0 & x & c & jobs & I). exists S, s, v, c0, x, c, jobs.
    constructor; simpl; try apply I.
    + pose proof (f_count _ _ _ _ _ _ _ _ I) as Hc. simpl in Hc. rewrite app_length in *.
      simpl in Hc. lia.
    + intros Hw i Hi. pose proof (f_single _ _ _ _ _ _ _ _ I Hw i Hi) as Hc. simpl in Hc.
      change (l1 ++ r :: l2) with (l1 ++ [r] ++ l2) in Hc. rewrite !cnt_app in *. lia.
    + intros i Hi. pose proof (f_job _ _ _ _ _ _ _ _ I i Hi) as H. simpl in H.
      change (l1 ++ r :: l2) with (l1 ++ [r] ++ l2) in H. rewrite !filter_app, !cnt_app in *. lia.
    + intros r1 r2 H1 H2. apply (f_apart _ _ _ _ _ _ _ _ I r1 r2); simpl;
        [apply in_app_or in H1|apply in_app_or in H2]; apply in_or_app; simpl; tauto.
    + intros i x' y Hi. pose proof (f_jobs _ _ _ _ _ _ _ _ I i x' y Hi) as H. simpl in H.
      change (l1 ++ r :: l2) with (l1 ++ [r] ++ l2) in H. rewrite !filter_app, !cnt_app in *. lia.
    + intros r' Hr'. apply (f_task _ _ _ _ _ _ _ _ I r'). simpl.
      apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
    + (* those behind move up *)
      intros q r' Hq. destruct (Nat.lt_ge_cases q (length l1)) as [Hlt|Hge].
      * apply (f_queue _ _ _ _ _ _ _ _ I q r'). simpl. rewrite nth_error_app1 in * by assumption.
        assumption.
      * assert (Hq' : nth_error (l1 ++ r :: l2) (Datatypes.S q) = Some r').
        { rewrite nth_error_app2 in * by lia.
          replace (Datatypes.S q - length l1) with (Datatypes.S (q - length l1)) by lia. assumption. }
        destruct (f_queue _ _ _ _ _ _ _ _ I _ r' Hq') as (m & H1 & H2 & H3 & H4 & H5).
        exists m. repeat split; try assumption; lia.
Qed.

Lemma window_initial : forall nx, window (initial nx).
Proof.
  intros nx. exists (fun _ => 0), 0, 0, 0, 0, 0, (fun _ => 0).
  constructor; simpl; intros; try lia; try contradiction; try discriminate.
  - apply nothing_carried.
  - unfold cnt. simpl. lia.
  - unfold cnt. simpl. lia.
  - unfold cnt. simpl. lia.
  - destruct q; discriminate.
Qed.

(** ** A bound for another reason: it holds in every later state, too. *)
Definition bounded (k : nat) : Prop := forall st r,
  reachable st -> pending r st -> rtask r = k -> now st <= rrel r + R k.

Lemma bounded_keeps : forall st q r, reachable st -> nth_error (queue st) q = Some r ->
  bounded (rtask r) -> now st + bt (min z (length (queue st))) <= rrel r + R (rtask r).
Proof.
  intros [t Q d nx] q r Hst Hq Hbound. simpl in *.
  assert (Hin : In r Q) by (eapply nth_error_In; eassumption).
  assert (Hlen : 1 <= length Q) by (destruct Q; [contradiction|simpl; lia]).
  assert (Hidle : exists tr, run (State t Q d nx) tr (State t Q None nx)).
  { destruct d as [[t0 m l k]|]; [|exists []; constructor].
    apply (run_completions n e p z beta b).
    assert (H : is_sound (State t Q (Some (Batch t0 m l k)) nx))
      by exact (sound_reachable n e p z beta b z_pos _ Hst).
    unfold is_sound, remaining in H. simpl in H.
    destruct l, k; try discriminate; [right; lia|left; discriminate|left; discriminate]. }
  set (j := min z (length Q)) in *.
  set (f := Batch t (max j beta) (firstn j Q) (max j beta - j)).
  destruct (run_ticks n e p z beta b (bt j) t (skipn j Q) f nx) as (tr2 & Hr2); [apply le_n|].
  destruct Hidle as (tr1 & Hr1). destruct Hst as (nx0 & tr0 & Hr0).
  refine (Hbound (State (t + bt j) (skipn j Q) (Some f) nx) r _ _ eq_refl).
  - exists nx0, (tr0 ++ tr1 ++ Dispatch (max j beta) :: tr2).
    eapply run_app; [exact Hr0|]. eapply run_app; [exact Hr1|].
    econstructor; [|exact Hr2]. apply dispatch; [reflexivity|lia|lia].
  - rewrite <- (firstn_skipn j Q) in Hin. apply in_app_or in Hin. destruct Hin as [H|H].
    + right. exists f. split; [reflexivity|assumption].
    + left. assumption.
Qed.

(** ** Theorem 1 *)
Definition strict : Prop := forall i, i < n -> R i < p i.
Definition by_backlog (k : nat) : Prop :=
  strict /\ forall y, carry n e z k y -> A n e z beta b y <= R k.

Lemma choice : forall (P Q : nat -> Prop) m, (forall k, k < m -> P k \/ Q k) ->
  exists is_p : nat -> bool, forall k, k < m -> if is_p k then P k else Q k.
Proof.
  clear. intros P Q. induction m as [|m IH]; intros H.
  - exists (fun _ => true). intros k Hk. lia.
  - destruct IH as (f & Hf); [intros k Hk; apply H; lia|].
    assert (Hm : P m \/ Q m) by (apply H; lia).
    destruct Hm as [Hm|Hm].
    + exists (fun k => if k =? m then true else f k). intros k Hk.
      destruct (Nat.eqb_spec k m) as [->|]; [assumption|apply Hf; lia].
    + exists (fun k => if k =? m then false else f k). intros k Hk.
      destruct (Nat.eqb_spec k m) as [->|]; [assumption|apply Hf; lia].
Qed.

Theorem theorem_1 : (forall k, k < n -> by_backlog k \/ by_window k \/ bounded k) ->
  forall st r, reachable st -> pending r st -> now st <= rrel r + R (rtask r).
Proof.
  intros Hall st r Hreach Hr. destruct (choice _ _ n Hall) as (is_b & Hwhy).
  set (all := fun st => reachable st /\ window st /\ (strict -> Backlog.inv n e p z beta b R is_b st)).
  assert (Hkept : forall st, all st -> kept R st).
  { intros st' (Hs & Hw & Hi) q r' Hq.
    assert (Hlen : q < length (queue st')) by (apply nth_error_Some; congruence).
    assert (Hk : rtask r' < n).
    { destruct Hw as (S & s & v & c0 & x & c & jobs & I).
      apply (f_task _ _ _ _ _ _ _ _ I r'). eapply nth_error_In; eassumption. }
    pose proof (Hwhy _ Hk) as H. destruct (is_b (rtask r')) eqn:Eb.
    - apply (Backlog.inv_keeps n e p z beta b b_mono z_pos beta_le_z R is_b); [apply Hi, H|assumption|assumption].
    - destruct H as [H|H]; [apply window_keeps; assumption|].
      pose proof (bounded_keeps st' q r' Hs Hq H).
      assert (bt 1 <= bt (min z (length (queue st'))))
        by (apply (bt_mono z beta b b_mono z_pos beta_le_z); lia).
      split; lia. }
  assert (Hst : all st).
  { clear Hr. destruct Hreach as (nx & tr & Hrun).
    assert (H0 : all (initial nx)).
    { split; [exists nx, []; constructor|]. split; [apply window_initial|].
      intros _. apply Backlog.inv_initial; assumption. }
    induction Hrun as [|s ev s' tr s'' Hstep Hrun IH]; [assumption|]. apply IH.
    pose proof (Hkept s H0) as Hk. destruct H0 as (Hs & Hw & Hi). split; [|split].
    - destruct Hs as (nx' & tr' & Hs). exists nx', (tr' ++ [ev]). eapply run_app; [exact Hs|].
      econstructor; [exact Hstep|constructor].
    - eapply window_step; eassumption.
    - intros Hstrict. apply (Backlog.inv_step n e p z beta b b_mono z_pos beta_le_z R is_b) with s ev;
        try assumption; [|apply Hi; assumption].
      intros k y Hk' Hb Hc. pose proof (Hwhy _ Hk') as H. rewrite Hb in H. apply H. assumption. }
  destruct Hr as [Hq|(f & Hf & Hd)].
  - apply In_nth_error in Hq. destruct Hq as [q Hq]. destruct (Hkept st Hst q r Hq). lia.
  - destruct Hst as (_ & (S & s & v & c0 & x & c & jobs & I) & _).
    destruct (f_device _ _ _ _ _ _ _ _ I f Hf) as [_ H]. specialize (H r Hd).
    pose proof (f_now _ _ _ _ _ _ _ _ I). lia.
Qed.
End FixedPoint.
