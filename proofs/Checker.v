(** * A checker of verdicts: accepts R only if R bounds every response and is within the deadlines
    (the backlog bound, any z, best effort up to beta).  Extracted, it judges certificates. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists Backlog TwoBatches AnyOrder Costs DqEdf.
Import ListNotations.

Fixpoint is_sorted (l : list nat) : bool :=
  match l with
  | [] => true
  | x :: l' => match l' with [] => true | y :: _ => (x <=? y) && is_sorted l' end
  end.
Definition table (l : list nat) (i : nat) : nat := nth (min i (length l - 1)) l 0.

Lemma sorted_nth : forall l i, is_sorted l = true -> S i < length l -> nth i l 0 <= nth (S i) l 0.
Proof.
  induction l as [|x l IH]; intros i H Hi; simpl in Hi; [lia|].
  destruct l as [|y l]; simpl in Hi; [lia|]. simpl in H. apply andb_true_iff in H.
  destruct H as [Hx Hl]. destruct i as [|i]; [simpl; apply Nat.leb_le; assumption|].
  change (nth i (y :: l) 0 <= nth (S i) (y :: l) 0). apply IH; [assumption|simpl; lia].
Qed.
Lemma table_mono : forall l, is_sorted l = true -> forall i j, i <= j -> table l i <= table l j.
Proof.
  intros l H. assert (Hs : forall d i, i + d < length l -> nth i l 0 <= nth (i + d) l 0).
  { induction d; intros i Hi; [rewrite Nat.add_0_r; lia|].
    transitivity (nth (i + d) l 0); [apply IHd; lia|].
    replace (i + S d) with (S (i + d)) by lia. apply sorted_nth; [assumption|lia]. }
  intros i j Hij. unfold table. destruct l as [|x l]; [simpl; destruct (min i _), (min j _); lia|].
  simpl length. replace (S (length l) - 1) with (length l) by lia.
  set (i' := min i (length l)). set (j' := min j (length l)).
  replace j' with (i' + (j' - i')) by lia. apply Hs. simpl. lia.
Qed.

Section Checker.
Variable n : nat.
Variables e p d R : nat -> nat.       (* R: the verdict *)
Variables z beta : nat.
Variable b : list nat.

Definition without (k : nat) (i : nat) : nat := if i =? k then 0 else e i.
Definition carries (k : nat) : list nat :=
  filter (fun y => (y <=? z) && (y + e k <=? E n e)) (z :: totals (without k) n).

(** The verdict R is right, and within the deadlines (any z, best effort up to beta). *)
Definition check_backlog : bool :=
  is_sorted b && (1 <=? z) && (beta <=? z) &&
  forallb (fun k => (R k <? p k) && (R k <=? d k) &&
    forallb (fun y => A n e z beta (table b) y <=? R k) (carries k)) (seq 0 n).

Theorem check_backlog_sound : check_backlog = true ->
  forall s r, reachable n e p z beta (table b) s -> pending r s ->
  rtask r < n -> now s <= rrel r + R (rtask r) /\ now s <= rrel r + d (rtask r).
Proof.
  unfold check_backlog. rewrite !andb_true_iff. intros (((Hb & Hz) & Hbeta) & Hall).
  apply Nat.leb_le in Hz. apply Nat.leb_le in Hbeta. rewrite forallb_forall in Hall.
  assert (Hk : forall k, k < n -> R k < p k /\ R k <= d k /\
    forall y, carry n e z k y -> A n e z beta (table b) y <= R k).
  { intros k Hk. specialize (Hall k). rewrite in_seq, !andb_true_iff, forallb_forall in Hall.
    destruct Hall as ((Hp & Hd) & HA); [lia|]. apply Nat.ltb_lt in Hp. apply Nat.leb_le in Hd.
    repeat split; [assumption|assumption|]. intros y (Hy1 & Hy2 & Hy3). apply Nat.leb_le, HA.
    unfold carries. apply filter_In. split.
    - destruct Hy3 as [->|(S & HS & ->)]; [left; reflexivity|right].
      apply (proj2 (totals_sets (without k) n _)).
      exists S. apply sum_ext. intros i _. unfold of_set, without.
      destruct (Nat.eqb_spec i k) as [->|]; [rewrite HS; reflexivity|reflexivity].
    - apply andb_true_iff. split; apply Nat.leb_le; assumption. }
  intros s r Hs Hr Hn. pose proof (Hk _ Hn) as (_ & Hd & _).
  assert (now s <= rrel r + R (rtask r)); [|lia].
  apply (dqf_backlog_bound n e p z beta (table b) (table_mono b Hb) Hz Hbeta R); try assumption.
  - intros k y Hkn Hc. apply Hk; assumption.
  - intros k Hkn. apply Hk; assumption.
Qed.
End Checker.

(** ** Batches that take all that waits (E <= z), in any order: dqf and dq-edf. *)
Section AnyOrder.
Variable n : nat.
Variables e p d R : nat -> nat.
Variables z beta : nat.

Definition within (W : nat) : bool :=
  forallb (fun i => (W <? p i) && (W <=? R i) && (R i <=? d i)) (seq 0 n).

Lemma within_all : forall W, within W = true ->
  (forall i, i < n -> W < p i) /\ (forall i, i < n -> W <= R i <= d i).
Proof.
  intros W H. unfold within in H. rewrite forallb_forall in H.
  split; intros i Hi; specialize (H i (proj2 (in_seq n 0 i) ltac:(lia)));
    rewrite !andb_true_iff in H; destruct H as ((Hp & HR) & Hd);
    apply Nat.ltb_lt in Hp; apply Nat.leb_le in HR; apply Nat.leb_le in Hd; lia.
Qed.

Definition check_any_order (b : list nat) : bool :=
  is_sorted b && (E n e <=? z) && within (worst n e beta (table b)).

Theorem check_any_order_sound : forall b, check_any_order b = true ->
  forall s r, any_reachable n e p z beta (fun l k => table b (length l + k)) s ->
  any_pending r s -> rtask r < n -> anow s <= rrel r + R (rtask r) /\ anow s <= rrel r + d (rtask r).
Proof.
  unfold check_any_order. intros b. rewrite !andb_true_iff. intros ((Hb & Hfit) & Hw) s r Hs Hr Hn.
  apply Nat.leb_le in Hfit. apply within_all in Hw. destruct Hw as [Hp HR]. specialize (HR _ Hn).
  pose proof (dq_edf n e p z beta (table b) (table_mono b Hb) Hfit Hp s r Hs Hr). lia.
Qed.

(** The same with a cost for each request: positioning A, and c_be for best effort. *)
Definition check_costs (c : nat -> nat) (A c_be : nat) : bool :=
  (E n e <=? z) && (within (Costs.R n e c A beta c_be)
    || ((n =? 1) && (beta =? 0) && within (A + C n e c))).

Theorem check_costs_sound : forall c A c_be, check_costs c A c_be = true ->
  forall s r, any_reachable n e p z beta (cost_time c A c_be) s ->
  any_pending r s -> rtask r < n -> anow s <= rrel r + R (rtask r) /\ anow s <= rrel r + d (rtask r).
Proof.
  unfold check_costs. intros c A c_be. rewrite andb_true_iff, orb_true_iff, !andb_true_iff.
  intros (Hfit & H) s r Hs Hr Hn. apply Nat.leb_le in Hfit.
  destruct H as [Hw|((Hone & Hbeta) & Hw)]; apply within_all in Hw; destruct Hw as [Hp HR];
    specialize (HR _ Hn).
  - pose proof (two_batches_of_costs n e p c A z beta c_be Hfit Hp s r Hs Hr). lia.
  - apply Nat.eqb_eq in Hone, Hbeta.
    pose proof (one_task_of_costs n e p c A z beta c_be Hone Hbeta Hfit Hp s r Hs Hr). lia.
Qed.
End AnyOrder.
