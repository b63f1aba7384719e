(** * Dual-queue EDF with z >= E (docs/theory/by-deadline.md): Theorems 2 and 3 hold, because each
    batch takes all that waits and the order of the queue decides nothing.  So they hold for every
    other order as well.  The model is AnyOrder.v's. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists Backlog TwoBatches AnyOrder.
Import ListNotations.

Section DqEdf.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable b : nat -> nat.

Theorem dq_edf : (forall i j, i <= j -> b i <= b j) -> E n e <= z ->
  (forall i, i < n -> worst n e beta b < p i) ->
  forall s r, any_reachable n e p z beta (fun l k => b (length l + k)) s -> any_pending r s ->
  anow s <= rrel r + worst n e beta b.
Proof.
  intros Hmono Hfit Hp. apply AnyOrder.two_batches; [assumption| |assumption].
  intros l k l' k' (Ht & Hc & Hk) (Ht' & Hc' & Hk') Hd.
  set (S := fun i => 0 <? cnt i l).
  assert (HS : length l <= eS n e S).
  { rewrite (length_cnt n l Ht). apply sum_le. intros i Hi. unfold of_set, S.
    specialize (Hc i Hi). destruct (Nat.ltb_spec 0 (cnt i l)); lia. }
  assert (HT : length l' <= E n e - eS n e S).
  { enough (length l' + eS n e S <= E n e) by lia. rewrite (length_cnt n l' Ht').
    unfold eS, E. rewrite <- sum_plus. apply sum_le. intros i Hi. unfold of_set, S.
    specialize (Hc' i Hi). specialize (Hd i Hi). destruct (Nat.ltb_spec 0 (cnt i l)); lia. }
  pose proof (worst_upper n e beta b S) as Hw. unfold pair, bt in Hw.
  assert (b (length l + k) <= b (max (eS n e S) beta)) by (apply Hmono; lia).
  assert (b (length l' + k') <= b (max (E n e - eS n e S) beta)) by (apply Hmono; lia).
  lia.
Qed.
End DqEdf.
