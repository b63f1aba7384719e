(** * An executable form of the model, to replay logs of the real policy, and checkers of verdicts.

    [replay] accepts a log only if it is an execution of the model ([replay_sound]); what it accepts is
    therefore subject to the theorems.  Extracted, it judges logs of the product. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists Backlog TwoBatches.
Import ListNotations.

(** Log entries: as events, but time passes by many nanoseconds at once. *)
Inductive entry :=
| At (t : nat) | Released (i q : nat) | Dispatched (l : list req) (k : nat)
| Completed (r : req) | CompletedBestEffort | Cancelled (r : req).

Definition req_eqb (r r' : req) : bool := (rtask r =? rtask r') && (rrel r =? rrel r').
Lemma req_eqb_eq : forall r r', req_eqb r r' = true -> r = r'.
Proof.
  intros [i t] [i' t'] H. unfold req_eqb in H. simpl in H. apply andb_true_iff in H.
  destruct H as [H H']. apply Nat.eqb_eq in H. apply Nat.eqb_eq in H'. congruence.
Qed.

(** The first occurrence taken out. *)
Fixpoint take_out (r : req) (l : list req) : option (list req) :=
  match l with
  | [] => None
  | x :: l' => if req_eqb r x then Some l' else option_map (cons x) (take_out r l')
  end.
Lemma take_out_split : forall r l l', take_out r l = Some l' ->
  exists l1 l2, l = l1 ++ r :: l2 /\ l' = l1 ++ l2.
Proof.
  induction l as [|x l IH]; intros l' H; simpl in H; [discriminate|].
  destruct (req_eqb r x) eqn:Er.
  - injection H as <-. apply req_eqb_eq in Er. subst x. exists [], l. split; reflexivity.
  - destruct (take_out r l) as [m|] eqn:Et; [|discriminate]. injection H as <-.
    destruct (IH m eq_refl) as (l1 & l2 & -> & ->). exists (x :: l1), l2. split; reflexivity.
Qed.

Fixpoint reqs_eqb (l l' : list req) : bool :=
  match l, l' with
  | [], [] => true
  | r :: l, r' :: l' => req_eqb r r' && reqs_eqb l l'
  | _, _ => false
  end.

(** The state with the earliest releases in a list, so that it stays small. *)
Record xstate := XState { xnow : nat; xqueue : list req; xdevice : option batch; xnext : list nat }.

Fixpoint put (l : list nat) (i x : nat) : list nat :=
  match l, i with
  | [], _ => []
  | _ :: l', 0 => x :: l'
  | y :: l', S i' => y :: put l' i' x
  end.
Lemma put_nth : forall l i x j, i < length l ->
  nth j (put l i x) 0 = if j =? i then x else nth j l 0.
Proof.
  induction l as [|y l IH]; intros i x j Hi; simpl in Hi; [lia|].
  destruct i, j; simpl; try reflexivity. apply IH. lia.
Qed.
Lemma put_length : forall l i x, length (put l i x) = length l.
Proof. induction l; destruct i; simpl; intros; auto. Qed.

Section Replay.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable b : nat -> nat.
Notation step := (step n e p z beta b).
Notation run := (run n e p z beta b).

Definition enter (x : xstate) (en : entry) : option xstate :=
  let '(XState t Q d nx) := x in
  match en with
  | At t' =>
    if t <=? t' then
      if t =? t' then Some x else
      match d, Q with
      | None, [] => Some (XState t' Q d nx)
      | None, _ => None
      | Some f, _ => if t' <=? started f + b (size f) then Some (XState t' Q d nx) else None
      end
    else None
  | Released i q =>
    if (i <? n) && (i <? length nx) && (nth i nx 0 <=? t) && (q <=? e i)
    then Some (XState t (Q ++ repeat (Req i t) q) d (put nx i (t + p i))) else None
  | Dispatched l k =>
    let j := min z (length Q) in
    let m := length l + k in
    match d with
    | Some _ => None
    | None =>
      if reqs_eqb l (firstn j Q) && (length l =? j) && (1 <=? m) && (m <=? max j beta)
      then Some (XState t (skipn j Q) (Some (Batch t m (firstn j Q) (m - j))) nx) else None
    end
  | Completed r =>
    match d with
    | Some (Batch t0 m l k) =>
      match take_out r l with
      | Some l' => Some (XState t Q (remaining (Batch t0 m l' k)) nx)
      | None => None
      end
    | None => None
    end
  | CompletedBestEffort =>
    match d with
    | Some (Batch t0 m l (S k)) => Some (XState t Q (remaining (Batch t0 m l k)) nx)
    | _ => None
    end
  | Cancelled r =>
    match take_out r Q with Some Q' => Some (XState t Q' d nx) | None => None end
  end.

(** A log is judged to its end, or to the number of the first entry that is no step of the model. *)
Fixpoint replay_from (count : nat) (x : xstate) (log : list entry) : xstate + nat :=
  match log with
  | [] => inl x
  | en :: log' => match enter x en with Some x' => replay_from (S count) x' log' | None => inr count end
  end.
Definition start (nx : list nat) : xstate := XState 0 [] None nx.
Definition replay (nx : list nat) (log : list entry) : xstate + nat := replay_from 1 (start nx) log.

Definition sim (x : xstate) (s : state) : Prop :=
  now s = xnow x /\ queue s = xqueue x /\ device s = xdevice x /\
  forall i, i < length (xnext x) -> earliest s i = nth i (xnext x) 0.

Lemma idle_ticks : forall d t nx, exists tr,
  run (State t [] None nx) tr (State (t + d) [] None nx).
Proof.
  induction d; intros t nx.
  - exists []. rewrite Nat.add_0_r. constructor.
  - destruct (IHd (S t) nx) as (tr & H). exists (Tick :: tr).
    econstructor; [apply tick_idle|]. replace (t + S d) with (S t + d) by lia. assumption.
Qed.

Lemma enter_sound : forall x s en x', sim x s -> enter x en = Some x' ->
  exists tr s', run s tr s' /\ sim x' s'.
Proof.
  intros [t Q d nx] [t0 Q0 d0 nx0] en x' (H1 & H2 & H3 & H4) H. simpl in *. subst t0 Q0 d0.
  destruct en; simpl in H.
  - destruct (Nat.leb_spec t t0); [|discriminate]. destruct (Nat.eqb_spec t t0).
    + injection H as <-. exists [], (State t Q d nx0). split; [constructor|]. repeat split; assumption.
    + destruct d as [f|].
      * destruct (Nat.leb_spec t0 (started f + b (size f))); [|discriminate]. injection H as <-.
        destruct (run_ticks n e p z beta b (t0 - t) t Q f nx0) as (tr & Hr); [lia|].
        exists tr, (State t0 Q (Some f) nx0). replace (t + (t0 - t)) with t0 in Hr by lia.
        split; [assumption|]. repeat split; assumption.
      * destruct Q; [|discriminate]. injection H as <-.
        destruct (idle_ticks (t0 - t) t nx0) as (tr & Hr).
        exists tr, (State t0 [] None nx0). replace (t + (t0 - t)) with t0 in Hr by lia.
        split; [assumption|]. repeat split; assumption.
  - destruct (Nat.ltb_spec i n); [|discriminate]. destruct (Nat.ltb_spec i (length nx)); [|discriminate].
    destruct (Nat.leb_spec (nth i nx 0) t); [|discriminate]. destruct (Nat.leb_spec q (e i)); [|discriminate].
    injection H as <-. eexists [Release i q], _. split.
    + econstructor; [|constructor]. apply release; [assumption| |assumption]. rewrite H4; assumption.
    + repeat split; try reflexivity. simpl. intros j Hj. rewrite put_length in Hj.
      rewrite put_nth by assumption. unfold upd. destruct (j =? i); [reflexivity|apply H4; assumption].
  - destruct d; [discriminate|].
    destruct (reqs_eqb l (firstn (min z (length Q)) Q)); [|discriminate].
    destruct (Nat.eqb_spec (length l) (min z (length Q))); [|discriminate].
    destruct (length l + k) as [|m] eqn:Em; [discriminate|].
    cbn [andb] in H. destruct (Nat.leb_spec (S m) (max (min z (length Q)) beta)); [|discriminate].
    injection H as <-. eexists [Dispatch (S m)], _. split.
    + econstructor; [|constructor]. apply (dispatch _ _ _ _ _ _ t Q nx0 (min z (length Q))); lia.
    + repeat split; try reflexivity. assumption.
  - destruct d as [[t0 m l k]|]; [|discriminate]. destruct (take_out r l) as [l'|] eqn:Et; [|discriminate].
    injection H as <-. destruct (take_out_split _ _ _ Et) as (l1 & l2 & -> & ->).
    eexists [Complete r], _. split; [econstructor; [apply complete|constructor]|].
    repeat split; try reflexivity. assumption.
  - destruct d as [[t0 m l [|k]]|]; try discriminate. injection H as <-.
    eexists [CompleteBestEffort], _. split; [econstructor; [apply complete_best_effort|constructor]|].
    repeat split; try reflexivity. assumption.
  - destruct (take_out r Q) as [Q'|] eqn:Et; [|discriminate].
    injection H as <-. destruct (take_out_split _ _ _ Et) as (l1 & l2 & -> & ->).
    eexists [Cancel r], _. split; [econstructor; [apply cancel|constructor]|].
    repeat split; try reflexivity. assumption.
Qed.

Theorem replay_sound : forall nx log x, replay nx log = inl x ->
  exists s, reachable n e p z beta b s /\ sim x s.
Proof.
  intros nx log x H. unfold replay in H.
  assert (Hgo : forall log c x0 s0, sim x0 s0 -> replay_from c x0 log = inl x ->
    exists tr s, run s0 tr s /\ sim x s).
  { clear. induction log as [|en log IH]; intros c x0 s0 Hs Hr; simpl in Hr.
    - injection Hr as <-. exists [], s0. split; [constructor|assumption].
    - destruct (enter x0 en) as [x1|] eqn:Ee; [|discriminate].
      destruct (enter_sound _ _ _ _ Hs Ee) as (tr & s1 & Hr1 & Hs1).
      destruct (IH _ _ _ Hs1 Hr) as (tr' & s & Hr2 & Hs2).
      exists (tr ++ tr'), s. split; [eapply run_app; eassumption|assumption]. }
  destruct (Hgo log 1 (start nx) (initial (fun i => nth i nx 0))) as (tr & s & Hr & Hs).
  - repeat split; reflexivity.
  - assumption.
  - exists s. split; [|assumption]. exists (fun i => nth i nx 0), tr. assumption.
Qed.
End Replay.

(** ** Why R < p must be strict: docs/model.md section 4 has this system.  R = 6 = p_0, and a
    job of task 0 is still pending 7 after its release. *)
Module Equality.
  Definition e (i : nat) := 1.
  Definition p (i : nat) := match i with 0 => 6 | 1 => 9 | _ => 14 end.
  Definition b (i : nat) := nth i [0; 3; 3; 6] 6.
  Example bound_is_six : worst 3 e 0 b = 6. Proof. reflexivity. Qed.
  Definition log : list entry := [
    Released 0 1; Dispatched [Req 0 0] 0; Released 1 1;
    At 3; Completed (Req 0 0); Dispatched [Req 1 0] 0; Released 2 1;
    At 6; Completed (Req 1 0); Dispatched [Req 2 3] 0; Released 0 1;
    At 9; Completed (Req 2 3); Dispatched [Req 0 6] 0; Released 1 1;
    At 12; Completed (Req 0 6); Dispatched [Req 1 9] 0; Released 0 1;
    At 15; Completed (Req 1 9); Dispatched [Req 0 12] 0;
    At 17; Released 2 1;
    At 18; Released 0 1; Released 1 1; Completed (Req 0 12);
    Dispatched [Req 2 17; Req 0 18; Req 1 18] 0;
    At 24 ].
  Theorem strictness_is_needed :
    worst 3 e 0 b <= p 0 /\ worst 3 e 0 b <= p 1 /\ worst 3 e 0 b <= p 2 /\
    exists s r, reachable 3 e p 3 0 b s /\ pending r s /\ now s = rrel r + 7.
  Proof.
    repeat split; try (vm_compute; lia).
    destruct (replay 3 e p 3 0 b [0; 0; 0] log) as [x|k] eqn:Er; [|vm_compute in Er; discriminate].
    destruct (replay_sound 3 e p 3 0 b _ _ _ Er) as (s & Hs & Hn & _ & Hd & _).
    vm_compute in Er. injection Er as <-. exists s, (Req 2 17). split; [assumption|]. split.
    - right. simpl in Hd. eexists. split; [exact Hd|]. left. reflexivity.
    - rewrite Hn. reflexivity.
  Qed.
End Equality.
