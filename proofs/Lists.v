(** * Sums over tasks, and the requests of each task in a list. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model.
Import ListNotations.

Lemma sum_le : forall m f g, (forall i, i < m -> f i <= g i) -> sum m f <= sum m g.
Proof.
  induction m; intros f g H; simpl; [lia|].
  assert (sum m f <= sum m g) by (apply IHm; intros; apply H; lia).
  assert (f m <= g m) by (apply H; lia). lia.
Qed.
Lemma sum_ext : forall m f g, (forall i, i < m -> f i = g i) -> sum m f = sum m g.
Proof.
  intros m f g H. apply Nat.le_antisymm; apply sum_le; intros i Hi; rewrite (H i Hi); lia.
Qed.
Lemma sum_plus : forall m f g, sum m (fun i => f i + g i) = sum m f + sum m g.
Proof. induction m; intros; simpl; [lia|]. rewrite IHm. lia. Qed.
Lemma sum_zero : forall m f, (forall i, i < m -> f i = 0) -> sum m f = 0.
Proof.
  induction m; intros f H; simpl; [lia|].
  rewrite (IHm f), (H m); try lia. intros; apply H; lia.
Qed.
Lemma sum_term : forall m f i, i < m -> f i <= sum m f.
Proof.
  induction m; intros f i H; simpl; [lia|].
  destruct (Nat.eq_dec i m) as [->|]; [lia|]. specialize (IHm f i). lia.
Qed.
Lemma sum_one : forall m i, i < m -> sum m (fun j => if i =? j then 1 else 0) = 1.
Proof.
  induction m; intros i H; simpl; [lia|].
  destruct (Nat.eq_dec i m) as [->|Hne].
  - rewrite Nat.eqb_refl, sum_zero; [lia|]. intros j Hj.
    destruct (Nat.eqb_spec m j); lia.
  - rewrite IHm by lia. destruct (Nat.eqb_spec i m); lia.
Qed.

(** ** Requests of each task in a list *)
Definition cnt (i : nat) (l : list req) : nat :=
  length (filter (fun r => rtask r =? i) l).

Lemma cnt_app : forall i l m, cnt i (l ++ m) = cnt i l + cnt i m.
Proof. intros; unfold cnt. rewrite filter_app, app_length. reflexivity. Qed.
Lemma cnt_repeat_same : forall i t q, cnt i (repeat (Req i t) q) = q.
Proof.
  intros; unfold cnt. induction q; simpl; [reflexivity|]. rewrite Nat.eqb_refl. simpl. lia.
Qed.
Lemma cnt_repeat_other : forall i j t q, i <> j -> cnt j (repeat (Req i t) q) = 0.
Proof.
  intros; unfold cnt. induction q; simpl; [reflexivity|].
  destruct (Nat.eqb_spec i j); [contradiction|assumption].
Qed.
Lemma cnt_pos_in : forall i l, 0 < cnt i l -> exists r, In r l /\ rtask r = i.
Proof.
  intros i l H. unfold cnt in H.
  destruct (filter (fun r => rtask r =? i) l) as [|r l'] eqn:Ef; simpl in H; [lia|].
  assert (In r (filter (fun r => rtask r =? i) l)) as Hin by (rewrite Ef; left; reflexivity).
  apply filter_In in Hin. destruct Hin as [Hin He]. exists r. split; [assumption|].
  apply Nat.eqb_eq; assumption.
Qed.
Lemma cnt_in_pos : forall r l, In r l -> 0 < cnt (rtask r) l.
Proof.
  intros r l H. unfold cnt.
  assert (In r (filter (fun r0 => rtask r0 =? rtask r) l)) as Hin.
  { apply filter_In. split; [assumption|]. apply Nat.eqb_refl. }
  destruct (filter _ l); simpl in *; [contradiction|lia].
Qed.
Lemma cnt_filter : forall i f l, cnt i (filter f l) <= cnt i l.
Proof.
  intros i f. induction l as [|r l IH]; simpl; [lia|]. unfold cnt in *. simpl.
  destruct (f r); simpl; destruct (rtask r =? i); simpl; lia.
Qed.
Lemma cnt_filter_le : forall i f g l, (forall r, f r = true -> g r = true) ->
  cnt i (filter f l) <= cnt i (filter g l).
Proof.
  intros i f g l H. induction l as [|r l IH]; simpl; [lia|]. specialize (H r). unfold cnt in *.
  destruct (f r); [rewrite H by reflexivity|destruct (g r)]; simpl;
    destruct (rtask r =? i); simpl; lia.
Qed.
Lemma filter_all : forall (f : req -> bool) l, forallb f l = true -> filter f l = l.
Proof.
  intros f. induction l as [|r l IH]; simpl; [reflexivity|]. intros H.
  apply andb_true_iff in H. destruct H as [-> H]. rewrite IH by assumption. reflexivity.
Qed.
Lemma forallb_false : forall (f : req -> bool) l, forallb f l = false ->
  exists r, In r l /\ f r = false.
Proof.
  intros f. induction l as [|r l IH]; simpl; [discriminate|]. intros H.
  destruct (f r) eqn:Ef; [|exists r; auto].
  destruct IH as (r' & Hr' & Hf); [assumption|]. exists r'. auto.
Qed.
Lemma length_cnt : forall n l, (forall r, In r l -> rtask r < n) ->
  length l = sum n (fun i => cnt i l).
Proof.
  induction l as [|r l IH]; intros H.
  - simpl. symmetry. apply sum_zero. reflexivity.
  - simpl length. rewrite IH by (intros; apply H; right; assumption).
    transitivity (sum n (fun i => (if rtask r =? i then 1 else 0) + cnt i l)).
    + rewrite sum_plus, sum_one by (apply H; left; reflexivity). lia.
    + apply sum_ext. intros i _. unfold cnt. simpl. destruct (rtask r =? i); simpl; lia.
Qed.

(** A device that still holds something is unchanged. *)
Lemma remaining_some : forall f g, remaining f = Some g -> g = f.
Proof.
  intros f g. unfold remaining. destruct (real_time f), (best_effort f); congruence.
Qed.
