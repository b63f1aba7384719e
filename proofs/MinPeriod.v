(** * The minimum-period bound (9.2.7, corrected), without best effort.

    If every period exceeds h = (E / z + 1) b(z), no task releases twice between a dispatch that
    empties the queue and the end of the last batch before the next one.  So at most E requests
    come in between, and all are complete by h + b(E mod z). *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists.
Import ListNotations.

Section MinPeriod.
Variable n : nat.
Variables e p : nat -> nat.
Variable z : nat.
Variable b : nat -> nat.
Hypothesis b_mono : forall i j, i <= j -> b i <= b j.
Hypothesis z_pos : 1 <= z.

Notation E := (E n e).
Notation step := (step n e p z 0 b).
Notation reachable := (reachable n e p z 0 b).

Definition h : nat := (E / z + 1) * b z.
Definition min_period_bound : nat := h + b (E mod z).
Hypothesis long_periods : forall i, i < n -> h < p i.

(** ts: the last dispatch that emptied the queue; x: the full batches since; c: the latest end of
    the batch in flight; k: which tasks have released since ts. *)
Record inv_by (ts x c : nat) (k : nat -> bool) (s : state) : Prop := {
  m_now : ts <= now s <= c;
  m_end : c <= ts + (x + 1) * b z;
  m_count : x * z + length (queue s) <= sum n (fun i => if k i then e i else 0);
  m_once : forall i, i < n -> k i = true -> ts + p i <= earliest s i;
  m_queue : forall r, In r (queue s) -> ts <= rrel r;
  m_device : forall f, device s = Some f ->
    started f + b (size f) <= c /\ forall r, In r (real_time f) -> c <= rrel r + min_period_bound }.
Definition inv (s : state) : Prop := exists ts x c k, inv_by ts x c k s.

Lemma some_of_E : forall k : nat -> bool, sum n (fun i => if k i then e i else 0) <= E.
Proof. intros k. apply sum_le. intros i _. destruct (k i); lia. Qed.

Lemma full_batches : forall x q, x * z + q <= E -> x <= E / z.
Proof. intros x q H. apply Nat.div_le_lower_bound; lia. Qed.

(** Within a window nothing lasts beyond h. *)
Lemma within_h : forall ts x c k s, inv_by ts x c k s -> c <= ts + h.
Proof.
  intros ts x c k s I. pose proof (m_count _ _ _ _ _ I). pose proof (some_of_E k).
  pose proof (m_end _ _ _ _ _ I).
  assert (x <= E / z) by (apply (full_batches x (length (queue s))); lia).
  assert ((x + 1) * b z <= h) by (apply Nat.mul_le_mono_r; lia). lia.
Qed.

(** What is queued is complete by h + b(E mod z) after the window's start. *)
Lemma next_batch : forall ts x c k s, inv_by ts x c k s ->
  c + b (min z (length (queue s))) <= ts + min_period_bound.
Proof.
  intros ts x c k s I. pose proof (m_count _ _ _ _ _ I). pose proof (some_of_E k).
  pose proof (m_end _ _ _ _ _ I).
  set (q := length (queue s)) in *.
  assert (Hx : x <= E / z) by (apply (full_batches x q); lia).
  unfold min_period_bound, h. destruct (Nat.eq_dec x (E / z)) as [->|].
  - assert (min z q <= E mod z).
    { pose proof (Nat.div_mod E z). rewrite (Nat.mul_comm z) in *. lia. }
    assert (b (min z q) <= b (E mod z)) by (apply b_mono; assumption). lia.
  - assert (b (min z q) <= b z) by (apply b_mono; lia).
    assert ((x + 2) * b z <= (E / z + 1) * b z) by (apply Nat.mul_le_mono_r; lia). lia.
Qed.

Lemma sum_set : forall i (k : nat -> bool), i < n -> k i = false ->
  sum n (fun j => if (if j =? i then true else k j) then e j else 0) =
  sum n (fun j => if k j then e j else 0) + e i.
Proof.
  clear. intros i k. induction n as [|m IH]; intros Hi Hk; simpl; [lia|].
  destruct (Nat.eqb_spec m i) as [->|Hne].
  - rewrite Hk.
    assert (sum i (fun j => if (if j =? i then true else k j) then e j else 0) =
            sum i (fun j => if k j then e j else 0)) as ->; [|lia].
    apply sum_ext. intros j Hj. destruct (Nat.eqb_spec j i); [lia|reflexivity].
  - rewrite IH by (assumption || lia). lia.
Qed.

Lemma inv_step : forall s ev s', inv s -> step s ev s' -> inv s'.
Proof.
  intros s ev s' (ts & x & c & k & I) Hstep.
  pose proof (within_h _ _ _ _ _ I) as Hh. pose proof (next_batch _ _ _ _ _ I) as Hnext.
  destruct Hstep; simpl in *.
  - exists (S t), 0, (S t), (fun _ => false).
    constructor; simpl; intros; try lia; try discriminate; try contradiction.
  - exists ts, x, c, k. pose proof (m_now _ _ _ _ _ I) as Hn. simpl in Hn.
    destruct (m_device _ _ _ _ _ I f eq_refl) as [Hf _].
    constructor; simpl; try apply I; lia.
  - pose proof (m_now _ _ _ _ _ I) as Hn. simpl in Hn.
    assert (Hk : k i = false).
    { destruct (k i) eqn:Ek; [|reflexivity].
      pose proof (m_once _ _ _ _ _ I i H Ek) as Ho. simpl in Ho.
      specialize (long_periods i H). lia. }
    exists ts, x, c, (fun j => if j =? i then true else k j). constructor; simpl; try apply I.
    + rewrite app_length, repeat_length, sum_set by assumption.
      pose proof (m_count _ _ _ _ _ I) as Hc. simpl in Hc. lia.
    + intros j Hj. unfold upd. destruct (Nat.eqb_spec j i) as [->|].
      * intros _. lia.
      * intros Ek. apply (m_once _ _ _ _ _ I j Hj Ek).
    + intros r Hr. apply in_app_or in Hr. destruct Hr as [Hr|Hr].
      * apply (m_queue _ _ _ _ _ I r Hr).
      * apply repeat_spec in Hr. subst r. simpl. lia.
  - pose proof (m_now _ _ _ _ _ I) as Hn. simpl in Hn.
    assert (m = j) as -> by lia.
    assert (HF : forall r, In r (firstn j Q) -> t + b j <= rrel r + min_period_bound).
    { intros r Hr. assert (HQ : In r Q) by
        (rewrite <- (firstn_skipn j Q); apply in_or_app; left; assumption).
      pose proof (m_queue _ _ _ _ _ I r HQ). rewrite H. lia. }
    destruct (Nat.le_gt_cases (length Q) z) as [Hall|Hfull].
    + exists t, 0, (t + b j), (fun _ => false).
      assert (Hskip : skipn j Q = []) by (apply skipn_all2; lia).
      assert (b j <= b z) by (apply b_mono; lia).
      constructor; simpl; rewrite ?Hskip; simpl; intros; try lia; try discriminate; try contradiction.
      match goal with H : Some _ = Some _ |- _ => injection H as <- end. simpl.
      split; [lia|assumption].
    + assert (j = z) by lia. subst j. rewrite H2 in *.
      exists ts, (x + 1), (t + b z), k. constructor; simpl.
      * lia.
      * pose proof (m_end _ _ _ _ _ I). lia.
      * rewrite skipn_length. pose proof (m_count _ _ _ _ _ I) as Hc. simpl in Hc. lia.
      * apply (m_once _ _ _ _ _ I).
      * intros r Hr. apply (m_queue _ _ _ _ _ I). simpl.
        rewrite <- (firstn_skipn z Q). apply in_or_app; right; assumption.
      * intros f Hf. injection Hf as <-. simpl. split; [lia|assumption].
  - exists ts, x, c, k. destruct (m_device _ _ _ _ _ I _ eq_refl) as [Hf Hr]. simpl in *.
    constructor; simpl; try apply I.
    intros f Hrem. apply remaining_some in Hrem. subst f. simpl. split; [assumption|].
    intros r' Hr'. apply Hr. apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
  - exists ts, x, c, k. destruct (m_device _ _ _ _ _ I _ eq_refl) as [Hf Hr]. simpl in *.
    constructor; simpl; try apply I.
    intros f Hrem. apply remaining_some in Hrem. subst f. simpl. split; assumption.
  - exists ts, x, c, k. constructor; simpl; try apply I.
    + pose proof (m_count _ _ _ _ _ I) as Hc. simpl in Hc. rewrite app_length in *. simpl in Hc. lia.
    + intros r' Hr'. apply (m_queue _ _ _ _ _ I). simpl.
      apply in_app_or in Hr'. apply in_or_app. simpl. tauto.
Qed.

Theorem min_period : forall s r, reachable s -> pending r s -> now s <= rrel r + min_period_bound.
Proof.
  intros s r (nx & tr & Hrun) Hr.
  assert (H0 : inv (initial nx)).
  { exists 0, 0, 0, (fun _ => false).
    constructor; simpl; intros; try lia; try discriminate; try contradiction. }
  assert (Hinv : inv s).
  { clear Hr. induction Hrun; [assumption|]. apply IHHrun. eapply inv_step; eassumption. }
  destruct Hinv as (ts & x & c & k & I). pose proof (m_now _ _ _ _ _ I).
  destruct Hr as [Hr|(f & Hf & Hr)].
  - pose proof (next_batch _ _ _ _ _ I). pose proof (m_queue _ _ _ _ _ I r Hr). lia.
  - destruct (m_device _ _ _ _ _ I f Hf) as [_ Hd]. specialize (Hd r Hr). lia.
Qed.
End MinPeriod.
