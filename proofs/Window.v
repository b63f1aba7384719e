(** * Bounds for every z that ask nothing of periods: the window, linear (9.2.2, corrected) and
    busy-interval (9.2.4 / 9.2.6.7) bounds.

    The window starts at the last dispatch that emptied the queue.  Since then every batch is full;
    the batch that carries the N-th request released since is the ((N-1)/z + 1)-th after the one
    in flight, so it is complete by  ts + ((N-1)/z + 2) b(z).  In a closed window of length delta
    at most  sum e_i (floor(delta/p_i) + 1)  requests are released.  That is all. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists.
Import ListNotations.

Section Window.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable b : nat -> nat.
Hypothesis b_mono : forall i j, i <= j -> b i <= b j.
Hypothesis z_pos : 1 <= z.
Hypothesis beta_le_z : beta <= z.
Hypothesis p_pos : forall i, i < n -> 1 <= p i.

Notation step := (step n e p z beta b).
Notation reachable := (reachable n e p z beta b).

(** Requests released in a closed window of length delta. *)
Definition closed (delta : nat) : nat := sum n (fun i => e i * (delta / p i + 1)).

Variable R : nat.
Hypothesis R_window : forall delta, 1 <= closed delta ->
  ((closed delta - 1) / z + 2) * b z <= delta + R.

Record inv_by (ts x c : nat) (k : nat -> nat) (s : state) : Prop := {
  w_now : ts <= now s <= c;
  w_end : c <= ts + (x + 1) * b z;
  w_count : x * z + length (queue s) <= sum n (fun i => e i * k i);
  w_sporadic : forall i, i < n -> 1 <= k i ->
    ts + k i * p i <= earliest s i /\ ts + (k i - 1) * p i <= now s;
  w_promise : forall q r, nth_error (queue s) q = Some r -> c + (q / z + 1) * b z <= rrel r + R;
  w_device : forall f, device s = Some f ->
    started f + b (size f) <= c /\ forall r, In r (real_time f) -> c <= rrel r + R }.
Definition inv (s : state) : Prop := exists ts x c k, inv_by ts x c k s.

Lemma sum_upd : forall i v, i < n -> forall k,
  sum n (fun j => e j * upd k i v j) + e i * k i = sum n (fun j => e j * k j) + e i * v.
Proof.
  clear. intros i v. induction n as [|m IH]; intros Hi k; simpl; [lia|].
  unfold upd at 2. destruct (Nat.eqb_spec m i) as [->|Hne].
  - assert (sum i (fun j => e j * upd k i v j) = sum i (fun j => e j * k j)) as ->; [|lia].
    apply sum_ext. intros j Hj. unfold upd. destruct (Nat.eqb_spec j i); [lia|reflexivity].
  - specialize (IH ltac:(lia) k). lia.
Qed.

Lemma inv_step : forall s ev s', inv s -> step s ev s' -> inv s'.
Proof.
  intros s ev s' (ts & x & c & k & I) Hstep. destruct Hstep.
  - exists (S t), 0, (S t), (fun _ => 0). constructor; simpl; intros; try lia; try discriminate.
    match goal with H : nth_error [] ?a = Some _ |- _ => destruct a; discriminate H end.
  - exists ts, x, c, k. pose proof (w_now _ _ _ _ _ I) as Hn. simpl in Hn.
    destruct (w_device _ _ _ _ _ I f eq_refl) as [Hf _].
    constructor; simpl; try apply I; [lia|].
    intros i Hi Hk. pose proof (w_sporadic _ _ _ _ _ I i Hi Hk) as Hs. simpl in Hs. lia.
  - exists ts, x, c, (upd k i (k i + 1)). pose proof (w_now _ _ _ _ _ I) as Hn. simpl in Hn.
    pose proof (w_count _ _ _ _ _ I) as Hc. simpl in Hc.
    assert (Hc' : x * z + length (Q ++ repeat (Req i t) q)
                  <= sum n (fun j => e j * upd k i (k i + 1) j)).
    { rewrite app_length, repeat_length. pose proof (sum_upd i (k i + 1) H k). lia. }
    assert (Hspor : forall j, j < n -> 1 <= upd k i (k i + 1) j ->
      ts + upd k i (k i + 1) j * p j <= upd nx i (t + p i) j /\
      ts + (upd k i (k i + 1) j - 1) * p j <= t).
    { intros j Hj. unfold upd. destruct (Nat.eqb_spec j i) as [->|].
      - intros _. replace (k i + 1 - 1) with (k i) by lia.
        destruct (k i) as [|m] eqn:Ek; [simpl; lia|].
        destruct (w_sporadic _ _ _ _ _ I i H) as [Hs _]; [lia|]. simpl earliest in Hs.
        rewrite Ek in Hs. lia.
      - intros Hk. apply (w_sporadic _ _ _ _ _ I j Hj Hk). }
    constructor; simpl; try apply I; try assumption.
    intros a r Ha. destruct (Nat.lt_ge_cases a (length Q)) as [Hlt|Hge].
    + rewrite nth_error_app1 in Ha by assumption. apply (w_promise _ _ _ _ _ I a r Ha).
    + assert (Hlen : a < length (Q ++ repeat (Req i t) q)) by (apply nth_error_Some; congruence).
      rewrite nth_error_app2 in Ha by assumption.
      apply nth_error_In, repeat_spec in Ha. subst r. simpl.
      assert (Hclosed : x * z + a + 1 <= closed (t - ts)).
      { transitivity (sum n (fun j => e j * upd k i (k i + 1) j)); [lia|].
        apply sum_le. intros j Hj. apply Nat.mul_le_mono_l.
        destruct (upd k i (k i + 1) j) as [|m] eqn:Em; [lia|].
        destruct (Hspor j Hj) as [_ Hs]; [lia|]. rewrite Em in Hs.
        replace (S m - 1) with m in Hs by lia.
        assert (m <= (t - ts) / p j); [|lia].
        apply Nat.div_le_lower_bound; [specialize (p_pos j Hj); lia|]. 
        rewrite Nat.mul_comm. lia. }
      assert (Hdiv : x + a / z <= (closed (t - ts) - 1) / z).
      { transitivity ((x * z + a) / z); [rewrite Nat.div_add_l by lia; lia|].
        apply Nat.div_le_mono; lia. }
      pose proof (R_window (t - ts)) as HR.
      assert ((x + a / z + 2) * b z <= ((closed (t - ts) - 1) / z + 2) * b z)
        by (apply Nat.mul_le_mono_r; lia).
      pose proof (w_end _ _ _ _ _ I). lia.
  - pose proof (w_now _ _ _ _ _ I) as Hn. simpl in Hn.
    pose proof (w_count _ _ _ _ _ I) as Hc. simpl in Hc.
    assert (Hm : b m <= b z) by (apply b_mono; lia).
    assert (HF : forall r, In r (firstn j Q) -> c + b z <= rrel r + R).
    { intros r Hr. assert (HQ : In r Q) by
        (rewrite <- (firstn_skipn j Q); apply in_or_app; left; assumption).
      apply In_nth_error in HQ. destruct HQ as [a Ha]. apply (w_promise _ _ _ _ _ I) in Ha.
      assert (1 * b z <= (a / z + 1) * b z) by (apply Nat.mul_le_mono_r; lia). lia. }
    destruct (Nat.le_gt_cases (length Q) z) as [Hall|Hfull].
    + (* the queue is emptied: a new window *)
      exists t, 0, (t + b z), (fun _ => 0).
      assert (Hskip : skipn j Q = []) by (apply skipn_all2; lia).
      constructor; simpl; rewrite ?Hskip; simpl; intros; try lia.
      * match goal with H : nth_error [] ?a = Some _ |- _ => destruct a; discriminate H end.
      * match goal with H : Some _ = Some _ |- _ => injection H as <- end. simpl.
        split; [lia|]. intros r Hr. specialize (HF r Hr). lia.
    + assert (j = z) by lia. subst j. rewrite H2 in *.
      exists ts, (x + 1), (t + b z), k. constructor; simpl.
      * lia.
      * pose proof (w_end _ _ _ _ _ I). lia.
      * rewrite skipn_length. lia.
      * apply (w_sporadic _ _ _ _ _ I).
      * intros a r Ha. assert (Ha' : nth_error Q (z + a) = Some r).
        { rewrite <- (firstn_skipn z Q). rewrite nth_error_app2; rewrite firstn_length.
          - rewrite <- Ha. f_equal. lia.
          - lia. }
        apply (w_promise _ _ _ _ _ I) in Ha'.
        replace (z + a) with (1 * z + a) in Ha' by lia.
        rewrite Nat.div_add_l in Ha' by lia. lia.
      * intros f Hf. injection Hf as <-. simpl. split; [lia|].
        intros r Hr. specialize (HF r Hr). lia.
  - exists ts, x, c, k. constructor; simpl; try apply I.
    destruct (w_device _ _ _ _ _ I _ eq_refl) as [Hf Hr]. simpl in *.
    intros f Hrem. apply remaining_some in Hrem. subst f. simpl. split; [assumption|].
    intros r' Hr'. apply Hr. apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
  - exists ts, x, c, k. constructor; simpl; try apply I.
    destruct (w_device _ _ _ _ _ I _ eq_refl) as [Hf Hr]. simpl in *.
    intros f Hrem. apply remaining_some in Hrem. subst f. simpl. split; assumption.
  - exists ts, x, c, k. constructor; simpl; try apply I.
    + pose proof (w_count _ _ _ _ _ I) as Hc. simpl in Hc. rewrite app_length in *. simpl in Hc. lia.
    + intros q r' Hq. destruct (Nat.lt_ge_cases q (length l1)) as [Hlt|Hge].
      * apply (w_promise _ _ _ _ _ I q r'). simpl. rewrite nth_error_app1 in * by assumption.
        assumption.
      * assert (Hq' : nth_error (l1 ++ r :: l2) (S q) = Some r').
        { rewrite nth_error_app2 in * by lia.
          replace (S q - length l1) with (S (q - length l1)) by lia. assumption. }
        apply (w_promise _ _ _ _ _ I) in Hq'.
        assert (q / z <= S q / z) by (apply Nat.div_le_mono; lia).
        assert ((q / z + 1) * b z <= (S q / z + 1) * b z) by (apply Nat.mul_le_mono_r; lia). lia.
Qed.

Theorem window_bound : forall s r, reachable s -> pending r s -> now s <= rrel r + R.
Proof.
  intros s r (nx & tr & Hrun) Hr.
  assert (H0 : inv (initial nx)).
  { exists 0, 0, 0, (fun _ => 0). constructor; simpl; intros; try lia; try discriminate.
    match goal with H : nth_error [] ?a = Some _ |- _ => destruct a; discriminate H end. }
  assert (Hinv : inv s).
  { clear Hr. induction Hrun; [assumption|]. apply IHHrun. eapply inv_step; eassumption. }
  destruct Hinv as (ts & x & c & k & I). pose proof (w_now _ _ _ _ _ I).
  destruct Hr as [Hr|(f & Hf & Hr)].
  - apply In_nth_error in Hr. destruct Hr as [q Hq]. apply (w_promise _ _ _ _ _ I) in Hq. lia.
  - destruct (w_device _ _ _ _ _ I f Hf) as [_ Hd]. specialize (Hd r Hr). lia.
Qed.
End Window.

(** ** Busy interval: if the requests released in x b(z), half-open, fit into x full batches, no response
    exceeds (x + 1) b(z).  (The least such x gives the best bound; any will do.) *)
Definition ceiling (a d : nat) : nat := (a + d - 1) / d.

Lemma ceiling_le : forall a d m, 1 <= d -> a <= m * d -> ceiling a d <= m.
Proof.
  intros a d m Hd H. unfold ceiling. apply Nat.lt_succ_r.
  apply Nat.div_lt_upper_bound; [lia|]. rewrite Nat.mul_comm. simpl. lia.
Qed.
Lemma ceiling_ge : forall a d, 1 <= d -> a <= ceiling a d * d.
Proof.
  intros a d Hd. unfold ceiling. pose proof (Nat.div_mod (a + d - 1) d). 
  pose proof (Nat.mod_upper_bound (a + d - 1) d). rewrite Nat.mul_comm. lia.
Qed.
(** m windows hold no more than m times what one holds. *)
Lemma ceiling_mul : forall m a d, 1 <= d -> ceiling (m * a) d <= m * ceiling a d.
Proof.
  intros m a d Hd. apply ceiling_le; [assumption|]. pose proof (ceiling_ge a d Hd). nia.
Qed.

Lemma sum_mul : forall m a f, sum m (fun i => a * f i) = a * sum m f.
Proof. induction m; intros; simpl; [lia|]. rewrite IHm. lia. Qed.

Theorem busy_interval : forall n e p z beta b x,
  (forall i j, i <= j -> b i <= b j) -> 1 <= z -> beta <= z -> (forall i, i < n -> 1 <= p i) ->
  1 <= x -> sum n (fun i => ceiling (x * b z) (p i) * e i) <= x * z ->
  forall s r, reachable n e p z beta b s -> pending r s -> now s <= rrel r + (x + 1) * b z.
Proof.
  intros n e p z beta b x Hmono Hz Hbeta Hp Hx Hfit.
  apply window_bound; try assumption. intros delta Hpos.
  set (N := closed n e p delta) in *. set (y := (N - 1) / z).
  assert (HyN : y * z <= N - 1) by (unfold y; rewrite Nat.mul_comm; apply Nat.mul_div_le; lia).
  destruct (Nat.le_gt_cases (y + 1) x) as [Hle|Hgt].
  { assert ((y + 2) * b z <= (x + 1) * b z) by (apply Nat.mul_le_mono_r; lia). lia. }
  destruct (Nat.le_gt_cases ((y + 1 - x) * b z) delta) as [Hle|Hlt].
  { replace (y + 2) with ((y + 1 - x) + (x + 1)) by lia. rewrite Nat.mul_add_distr_r. lia. }
  (* otherwise so much was not released *)
  exfalso. set (m := y + 1 - x) in *. set (a := (m + x - 1) / x).
  assert (Hma : m <= a * x).
  { unfold a. pose proof (Nat.div_mod (m + x - 1) x). pose proof (Nat.mod_upper_bound (m + x - 1) x).
    rewrite Nat.mul_comm. lia. }
  assert (Hax : a * x <= m + x - 1) by (unfold a; rewrite Nat.mul_comm; apply Nat.mul_div_le; lia).
  assert (HN : N <= a * (x * z)).
  { transitivity (a * sum n (fun i => ceiling (x * b z) (p i) * e i)); [|apply Nat.mul_le_mono_l; assumption].
    unfold N, closed. transitivity (sum n (fun i => a * (ceiling (x * b z) (p i) * e i))).
    - apply sum_le. intros i Hi. specialize (Hp i Hi).
      assert (delta / p i + 1 <= a * ceiling (x * b z) (p i)).
      { transitivity (ceiling (a * (x * b z)) (p i)); [|apply ceiling_mul; assumption].
        assert (delta + 1 <= a * (x * b z)).
        { assert (m * b z <= a * x * b z) by (apply Nat.mul_le_mono_r; assumption). lia. }
        unfold ceiling. replace (delta / p i + 1) with ((delta + 1 * p i) / p i) by
          (rewrite Nat.div_add by lia; reflexivity).
        apply Nat.div_le_mono; lia. }
      nia.
    - rewrite sum_mul. apply le_n. }
  assert (a * (x * z) <= (m + x - 1) * z) by (rewrite Nat.mul_assoc; apply Nat.mul_le_mono_r; assumption).
  replace (m + x - 1) with y in * by lia. lia.
Qed.

(** ** Linear: R = (b(z)/z)(E - 1) + 2 b(z), rounded up, if sum e_i/p_i <= z/b(z).  Capacity is stated by
    its consequence, b(z) sum e_i floor(delta/p_i) <= z delta for all delta. *)
Theorem linear : forall n e p z beta b,
  (forall i j, i <= j -> b i <= b j) -> 1 <= z -> beta <= z -> (forall i, i < n -> 1 <= p i) ->
  (forall delta, b z * sum n (fun i => e i * (delta / p i)) <= z * delta) ->
  forall s r, reachable n e p z beta b s -> pending r s ->
  now s <= rrel r + (ceiling (b z * (E n e - 1)) z + 2 * b z).
Proof.
  intros n e p z beta b Hmono Hz Hbeta Hp Hcap.
  apply window_bound; try assumption. intros delta Hpos.
  assert (HN : closed n e p delta = sum n (fun i => e i * (delta / p i)) + E n e).
  { unfold closed, E. rewrite <- sum_plus. apply sum_ext. intros; lia. }
  specialize (Hcap delta). set (U := sum n _) in *. set (N := closed n e p delta) in *.
  assert (HE : U = 0 \/ 1 <= E n e).
  { destruct (E n e) eqn:Ee; [left|right; lia]. unfold U. apply sum_zero. intros i Hi.
    pose proof (sum_term n e i Hi). unfold E in Ee. replace (e i) with 0 by lia. reflexivity. }
  assert (HyN : (N - 1) / z * z <= N - 1) by (rewrite Nat.mul_comm; apply Nat.mul_div_le; lia).
  set (y := (N - 1) / z) in *.
  pose proof (ceiling_ge (b z * (E n e - 1)) z Hz) as HC. set (C := ceiling _ z) in *.
  assert (y * b z <= delta + C); [|lia].
  apply (Nat.mul_le_mono_pos_r _ _ z); [lia|]. nia.
Qed.
