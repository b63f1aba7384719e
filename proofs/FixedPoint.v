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
    and took all of b(s).  S is the set of tasks with a request in it.  It can cut jobs that were
    released at its dispatch: their tasks are not in S, and v of their requests are in it. *)

(** A task with a request in the carry-in releases no other before theta (3.5). *)
Definition theta (s i : nat) : nat := bt s + p i - R i.
Definition first_release (S : nat -> bool) (s i : nat) : nat := if S i then theta s i else 0.

(** Jobs of task i released by the instant d. *)
Definition releases (S : nat -> bool) (s i d : nat) : nat :=
  if first_release S s i <=? d then (d - first_release S s i) / p i + 1 else 0.

(** Requests released by the instant d and not in the carry-in (3.1). *)
Definition count (S : nat -> bool) (s v d : nat) : nat :=
  sum n (fun i => e i * releases S s i d) - v.

(** The same where a job of task k is released at a: its task releases whole periods before and
    after (M of 3.3). *)
Definition count_around (S : nat -> bool) (s v k a d : nat) : nat :=
  sum n (fun i => e i * (if i =? k then releases S s k a + (d - a) / p k else releases S s i d)) - v.

(** Full batches before the job's last batch, and the last batch's dispatch (3.2). *)
Definition full_batches (S : nat -> bool) (s v a : nat) : nat := (count S s v a - 1) / z.
Definition last_dispatch (S : nat -> bool) (s v a : nat) : nat := bt s + full_batches S s v a * b z.

(** Requests released in the half-open window [0, d). *)
Definition half_open (d : nat) : nat := sum n (fun i => e i * ceiling d (p i)).

(** The window has not ended when a job is released at a: at the y-th dispatch more than y z
    requests had been released. *)
Definition open (s a : nat) : Prop := forall y, 1 <= y -> bt s + (y - 1) * b z < a ->
  y * z < half_open (bt s + (y - 1) * b z).

(** While every R_i <= p_i, no task has two jobs in the carry-in.  It then counts as whole jobs, or
    as a full batch if these are more, or it is a full batch that cuts jobs of the tasks C.
    Otherwise it counts as a full batch of tasks that can release at once. *)
Variable is_within : bool.
Hypothesis within_periods : is_within = true -> forall i, i < n -> R i <= p i.
Definition carry_in (S : nat -> bool) (s v : nat) : Prop :=
  if is_within then
    s = min z (eS S) /\ v = 0 \/
    s = z /\ z <= eS S + v /\ exists C, v <= eS C /\
      forall i, i < n -> C i = true -> S i = false /\ bt z <= R i
  else s = z /\ v = 0 /\ forall i, S i = false.

(** W_k(R) <= R_k (3.4). *)
Definition by_window (k : nat) : Prop := forall S s v a,
  carry_in S s v -> 1 <= releases S s k a -> 1 <= count S s v a -> open s a ->
  a <= last_dispatch S s v a ->
  last_dispatch S s v a +
    bt (min z (count_around S s v k a (last_dispatch S s v a) - full_batches S s v a * z)) <= a + R k.

(** ** The invariant.  c0: the carry-in's latest end; x: the full batches since; c: the latest end
    of the batch in flight; jobs i: the jobs of task i released since the window's start. *)
Record window_by (S : nat -> bool) (s v c0 x c : nat) (jobs : nat -> nat) (st : state) : Prop := {
  f_now : now st <= c;
  f_end : c <= c0 + x * b z;
  f_carry : carry_in S s v;
  f_open : forall y, 1 <= y <= x -> y * z < half_open (bt s + (y - 1) * b z);
  f_start : c0 <= now st + bt s;
  f_count : x * z + length (queue st) + v <= sum n (fun i => e i * jobs i);
  f_silent : forall i, i < n -> jobs i = 0 -> S i = true -> c0 + theta s i <= earliest st i + bt s;
  f_sporadic : forall i, i < n -> 1 <= jobs i ->
    c0 + first_release S s i + (jobs i - 1) * p i <= now st + bt s /\
    c0 + first_release S s i + jobs i * p i <= earliest st i + bt s;
  f_single : is_within = true -> forall i, i < n -> cnt i (queue st) <= e i;
  f_job : forall i, i < n -> cnt i (filter (fun r => now st <=? rrel r) (queue st)) <= e i;
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
      + unfold first_release. destruct (S i) eqn:ES; [|lia].
        pose proof (f_silent _ _ _ _ _ _ _ _ I i Hi Ej ES) as H. simpl in H. lia.
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
    set (T := fun i => is_within && first i && negb (rest i)).
    set (v' := if is_within then sum n (fun i => if rest i then cnt i (firstn j Q) else 0) else 0).
    set (s' := if is_within then if length Q <=? z then min z (eS T) else z else z).
    exists T, s', v', (t + bt j), 0, (t + bt j), (fun i => if rest i then 1 else 0).
    assert (Hfirst : is_within = true -> j <= eS T + v').
    { intros Hw. replace j with (length (firstn j Q)) by (rewrite firstn_length; lia).
      rewrite (length_cnt n (firstn j Q)).
      - unfold eS, v'. rewrite Hw, <- sum_plus. apply sum_le. intros i Hi.
        pose proof (Hsingle Hw i Hi). unfold of_set, T. rewrite Hw. unfold first.
        destruct (Nat.ltb_spec 0 (cnt i (firstn j Q))), (rest i); simpl; lia.
      - intros r Hr. apply (f_task _ _ _ _ _ _ _ _ I r). simpl.
        rewrite <- (firstn_skipn j Q). apply in_or_app. left. assumption. }
    assert (Hrest : j <> z -> forall i, rest i = false).
    { intros Hjz i. unfold rest. rewrite skipn_all2 by lia. reflexivity. }
    assert (Hall : length Q <= z -> forall i, rest i = false).
    { intros Hle i. unfold rest. rewrite skipn_all2 by lia. reflexivity. }
    assert (Hv0 : length Q <= z -> v' = 0).
    { intros Hle. unfold v'. destruct is_within; [|reflexivity].
      apply sum_zero. intros i _. rewrite Hall by assumption. reflexivity. }
    assert (Hs' : j <= s').
    { unfold s'. destruct is_within eqn:Ew; [|lia]. destruct (Nat.leb_spec (length Q) z); [|lia].
      pose proof (Hfirst eq_refl). rewrite Hv0 in * by assumption. lia. }
    assert (Hbs : bt j <= bt s') by (apply (bt_mono z beta b b_mono z_pos beta_le_z); assumption).
    assert (Hcnt : forall i, i < n -> cnt i (skipn j Q) + (if is_within then
        if rest i then cnt i (firstn j Q) else 0 else 0) <= e i * (if rest i then 1 else 0)).
    { intros i Hi. pose proof (Hjob i Hi). unfold rest. destruct is_within eqn:Ew.
      - pose proof (Hsingle eq_refl i Hi). destruct (Nat.ltb_spec 0 (cnt i (skipn j Q))); lia.
      - destruct (Nat.ltb_spec 0 (cnt i (skipn j Q))); lia. }
    assert (Hcount : length (skipn j Q) + v' <= sum n (fun i => e i * (if rest i then 1 else 0))).
    { etransitivity; [|apply sum_le; exact Hcnt]. rewrite sum_plus, Hlen. unfold v'.
      destruct is_within; [lia|]. rewrite (sum_zero n (fun _ => 0)) by reflexivity. lia. }
    assert (Hin : forall i, rest i = true -> exists r, In r (skipn j Q) /\ rtask r = i).
    { intros i Hr. unfold rest in Hr. apply Nat.ltb_lt in Hr. apply cnt_pos_in. assumption. }
    assert (HnotT : forall i, rest i = true -> first_release T s' i = 0).
    { intros i Hr. unfold first_release, T. rewrite Hr, andb_false_r. reflexivity. }
    constructor; simpl.
    + lia.
    + lia.
    + unfold carry_in. unfold s'. destruct is_within eqn:Ew.
      * destruct (Nat.leb_spec (length Q) z) as [Hle|Hgt]; [left|right].
        -- split; [reflexivity|apply Hv0; assumption].
        -- assert (Hjz : j = z) by lia. split; [reflexivity|].
           split; [pose proof (Hfirst eq_refl); lia|].
           exists (fun i => first i && rest i). split.
           ++ unfold v', eS. apply sum_le. intros i Hi. unfold of_set, first.
              pose proof (Hsingle eq_refl i Hi).
              destruct (rest i), (Nat.ltb_spec 0 (cnt i (firstn j Q))); simpl; lia.
           ++ intros i Hi Hc. apply andb_true_iff in Hc. destruct Hc as [Hf Hr]. split.
              ** unfold T. rewrite Hr. apply andb_false_r.
              ** unfold first in Hf. apply Nat.ltb_lt, cnt_pos_in in Hf.
                 destruct Hf as (r & Hr' & <-). pose proof (HF r Hr').
                 assert (HQ : In r Q) by
                   (rewrite <- (firstn_skipn j Q); apply in_or_app; left; assumption).
                 apply In_nth_error in HQ. destruct HQ as [q Hq].
                 destruct (f_queue _ _ _ _ _ _ _ _ I q r Hq) as (m' & _ & _ & H3 & _).
                 simpl in H3. assert (rrel r <= t) by nia. rewrite <- Hjz. lia.
      * repeat split; reflexivity.
    + lia.
    + lia.
    + lia.
    + intros i Hi _ HT. unfold T in HT. apply andb_true_iff in HT. destruct HT as [HT _].
      apply andb_true_iff in HT. destruct HT as [Hw Hf]. unfold first in Hf.
      apply Nat.ltb_lt, cnt_pos_in in Hf. destruct Hf as (r & Hr & Ht).
      pose proof (Hnext i r Hr Ht). pose proof (within_periods Hw i Hi). unfold theta. lia.
    + intros i Hi Hone. destruct (rest i) eqn:Er; [|lia]. rewrite (HnotT i Er).
      destruct (Hin i Er) as (r & Hr & <-). destruct (Htasks r Hr) as [_ He].
      pose proof (Eall r Hr) as Hrel. apply Nat.leb_le in Hrel. lia.
    + intros Hw i Hi. pose proof (Hsingle Hw i Hi). lia.
    + intros i Hi. etransitivity; [apply cnt_filter|]. apply Hjob. assumption.
    + assumption.
    + intros q r Hq. assert (Hr : In r (skipn j Q)) by (eapply nth_error_In; eassumption).
      destruct (Htasks r Hr) as [Hn He]. pose proof (Eall r Hr) as Hrel. apply Nat.leb_le in Hrel.
      assert (Hnow : rrel r <= t).
      { apply HinQ, In_nth_error in Hr. destruct Hr as [q' Hq'].
        destruct (f_queue _ _ _ _ _ _ _ _ I q' r Hq') as (m' & _ & _ & H3 & _). simpl in H3. nia. }
      assert (Er : rest (rtask r) = true) by (apply Nat.ltb_lt, cnt_in_pos; assumption).
      assert (Hq' : q < length (skipn j Q)) by (apply nth_error_Some; congruence).
      exists 1. rewrite Er, (HnotT _ Er). repeat split; try lia.
      etransitivity; [|apply (sum_le n (fun i => e i * (if rest i then 1 else 0)))]; [lia|].
      intros i Hi. apply Nat.mul_le_mono_l. destruct (rest i) eqn:Ei; [|lia].
      apply releases_ge; [assumption|lia|]. rewrite (HnotT i Ei). lia.
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
    + assumption.
    + intros q r Hq. assert (Hq' : nth_error Q (z + q) = Some r).
      { rewrite <- (firstn_skipn z Q). rewrite nth_error_app2; rewrite firstn_length.
        - rewrite <- Hq. f_equal. lia.
        - lia. }
      destruct (f_queue _ _ _ _ _ _ _ _ I (z + q) r Hq') as (m' & H1 & H2 & H3 & H4 & H5).
      exists m'. repeat split; try assumption; try lia.
    + intros f Hf. injection Hf as <-. simpl. split; [lia|assumption].
Qed.

Lemma window_step : forall st ev st', kept R st -> window st -> step st ev st' -> window st'.
Proof.
  intros st ev st' Hkept Hwin Hstep. destruct Hstep.
  - (* an idle nanosecond: nothing is carried in *)
    exists (fun _ => false), (if is_within then 0 else z), 0, (S t), 0, (S t), (fun _ => 0).
    constructor; simpl; intros; try lia; try contradiction; try discriminate.
    + unfold carry_in. destruct is_within; [left|repeat split; reflexivity].
      unfold Backlog.eS. rewrite sum_zero; [split; lia|reflexivity].
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
  intros nx. exists (fun _ => false), (if is_within then 0 else z), 0, 0, 0, 0, (fun _ => 0).
  constructor; simpl; intros; try lia; try contradiction; try discriminate.
  - unfold carry_in. destruct is_within; [left|repeat split; reflexivity].
    unfold Backlog.eS. rewrite sum_zero; [split; lia|reflexivity].
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
