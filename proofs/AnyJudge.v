(** * An executable form of AnyOrder.v's model, to replay logs of the real policies: it accepts a
    log only if the log is an execution of the model ([replay_any_sound]). *)
From Coq Require Import List Arith Lia PeanoNat Bool Permutation.
Require Import Model Lists TwoBatches AnyOrder Judge.
Import ListNotations.

(** The state with the earliest releases in a list, so that it stays small. *)
Record any_xstate := AnyXState {
  axnow : nat; axqueue : list req; axdevice : option flight; axnext : list nat }.

Section Replay.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable time : list req -> nat -> nat.
Notation any_step := (any_step n e p z beta time).
Notation any_run := (any_run n e p z beta time).

Fixpoint take_all (l Q : list req) : option (list req) :=
  match l with
  | [] => Some Q
  | r :: l' => match take_out r Q with Some Q' => take_all l' Q' | None => None end
  end.

Lemma take_all_permutation : forall l Q Q', take_all l Q = Some Q' -> Permutation Q (l ++ Q').
Proof.
  induction l as [|r l IH]; intros Q Q' H; simpl in H.
  - injection H as <-. apply Permutation_refl.
  - destruct (take_out r Q) as [Q1|] eqn:Et; [|discriminate].
    destruct (take_out_split _ _ _ Et) as (l1 & l2 & -> & ->). specialize (IH _ _ H).
    apply Permutation_trans with (r :: l1 ++ l2); [apply Permutation_sym, Permutation_middle|].
    simpl. apply perm_skip. assumption.
Qed.

Definition enter_any (x : any_xstate) (en : entry) : option any_xstate :=
  let '(AnyXState t Q d nx) := x in
  match en with
  | At t' =>
    if t <=? t' then
      if t =? t' then Some x else
      match d, Q with
      | None, [] => Some (AnyXState t' Q d nx)
      | None, _ => None
      | Some f, _ => if t' <=? end_by f then Some (AnyXState t' Q d nx) else None
      end
    else None
  | Released i q =>
    if (i <? n) && (i <? length nx) && (nth i nx 0 <=? t) && (q <=? e i)
    then Some (AnyXState t (Q ++ repeat (Req i t) q) d (put nx i (t + p i))) else None
  | Dispatched l k =>
    match d, take_all l Q with
    | None, Some Q' =>
      if (length l =? min z (length Q)) && (1 <=? length l + k) && (length l + k <=? max (length l) beta)
      then Some (AnyXState t Q' (Some (Flight (t + time l k) l k)) nx) else None
    | _, _ => None
    end
  | Completed r =>
    match d with
    | Some (Flight x l k) =>
      match take_out r l with
      | Some l' => Some (AnyXState t Q (remaining_flight (Flight x l' k)) nx)
      | None => None
      end
    | None => None
    end
  | CompletedBestEffort =>
    match d with
    | Some (Flight x l (S k)) => Some (AnyXState t Q (remaining_flight (Flight x l k)) nx)
    | _ => None
    end
  | Cancelled r =>
    match take_out r Q with Some Q' => Some (AnyXState t Q' d nx) | None => None end
  end.

(** A log is judged to its end, or to the number of the first entry that is no step of the model. *)
Fixpoint replay_any_from (count : nat) (x : any_xstate) (log : list entry) : any_xstate + nat :=
  match log with
  | [] => inl x
  | en :: log' =>
    match enter_any x en with Some x' => replay_any_from (S count) x' log' | None => inr count end
  end.
Definition replay_any (nx : list nat) (log : list entry) : any_xstate + nat :=
  replay_any_from 1 (AnyXState 0 [] None nx) log.

Definition any_sim (x : any_xstate) (s : any_state) : Prop :=
  anow s = axnow x /\ aqueue s = axqueue x /\ adevice s = axdevice x /\
  forall i, i < length (axnext x) -> aearliest s i = nth i (axnext x) 0.

Lemma any_run_app : forall s s' s'', any_run s s' -> any_run s' s'' -> any_run s s''.
Proof. intros s s' s'' H H'. induction H; [assumption|]. econstructor; [eassumption|auto]. Qed.

Lemma any_idle_ticks : forall c t nx,
  any_run (AnyState t [] None nx) (AnyState (t + c) [] None nx).
Proof.
  induction c as [|c IH]; intros t nx.
  - rewrite Nat.add_0_r. constructor.
  - econstructor; [apply any_tick_idle|]. replace (t + S c) with (S t + c) by lia. apply IH.
Qed.

Lemma any_busy_ticks : forall c t Q f nx, t + c <= end_by f ->
  any_run (AnyState t Q (Some f) nx) (AnyState (t + c) Q (Some f) nx).
Proof.
  induction c as [|c IH]; intros t Q f nx H.
  - rewrite Nat.add_0_r. constructor.
  - econstructor; [apply any_tick_busy; lia|]. replace (t + S c) with (S t + c) by lia. apply IH. lia.
Qed.

Lemma enter_any_sound : forall x s en x', any_sim x s -> enter_any x en = Some x' ->
  exists s', any_run s s' /\ any_sim x' s'.
Proof.
  intros [t Q d nx] [t0 Q0 d0 nx0] en x' (H1 & H2 & H3 & H4) H. simpl in *. subst t0 Q0 d0.
  destruct en as [t'|i q|l k|r| |r]; simpl in H.
  - destruct (Nat.leb_spec t t'); [|discriminate]. destruct (Nat.eqb_spec t t').
    { injection H as <-. exists (AnyState t Q d nx0). split; [constructor|]. repeat split; assumption. }
    destruct d as [f|].
    + destruct (Nat.leb_spec t' (end_by f)); [|discriminate]. injection H as <-.
      exists (AnyState t' Q (Some f) nx0). split; [|repeat split; assumption].
      replace t' with (t + (t' - t)) by lia. apply any_busy_ticks. lia.
    + destruct Q; [|discriminate]. injection H as <-.
      exists (AnyState t' [] None nx0). split; [|repeat split; assumption].
      replace t' with (t + (t' - t)) by lia. apply any_idle_ticks.
  - destruct (Nat.ltb_spec i n); [|discriminate]. destruct (Nat.ltb_spec i (length nx)); [|discriminate].
    destruct (Nat.leb_spec (nth i nx 0) t); [|discriminate]. destruct (Nat.leb_spec q (e i)); [|discriminate].
    injection H as <-. eexists. split.
    + econstructor; [|constructor].
      apply (any_release _ _ _ _ _ _ t Q d nx0 i q); [assumption|rewrite H4; assumption|assumption].
    + repeat split; try reflexivity. simpl. intros j Hj. rewrite put_length in Hj.
      rewrite put_nth by assumption. unfold upd. destruct (j =? i); [reflexivity|apply H4; assumption].
  - destruct d; [discriminate|]. destruct (take_all l Q) as [Q'|] eqn:Et; [|discriminate].
    destruct (Nat.eqb_spec (length l) (min z (length Q))); [|discriminate].
    destruct (length l + k) as [|m] eqn:Em; [discriminate|].
    cbn [andb] in H. destruct (Nat.leb_spec (S m) (max (length l) beta)); [|discriminate].
    injection H as <-. eexists. split.
    + econstructor; [|constructor].
      apply (any_dispatch _ _ _ _ _ _ t Q nx0 l Q' k);
        [apply take_all_permutation; exact Et|assumption|lia].
    + repeat split; try reflexivity. assumption.
  - destruct d as [[x l k]|]; [|discriminate]. destruct (take_out r l) as [l'|] eqn:Et; [|discriminate].
    injection H as <-. destruct (take_out_split _ _ _ Et) as (l1 & l2 & -> & ->).
    eexists. split; [econstructor; [apply (any_complete _ _ _ _ _ _ t Q x l1 r l2 k)|constructor]|].
    repeat split; try reflexivity. assumption.
  - destruct d as [[x l [|k]]|]; try discriminate. injection H as <-.
    eexists. split; [econstructor; [apply (any_complete_best_effort _ _ _ _ _ _ t Q x l k)|constructor]|].
    repeat split; try reflexivity. assumption.
  - destruct (take_out r Q) as [Q'|] eqn:Et; [|discriminate].
    injection H as <-. destruct (take_out_split _ _ _ Et) as (l1 & l2 & -> & ->).
    eexists. split; [econstructor; [apply (any_cancel _ _ _ _ _ _ t l1 r l2 d)|constructor]|].
    repeat split; try reflexivity. assumption.
Qed.

Theorem replay_any_sound : forall nx log x, replay_any nx log = inl x ->
  exists s, any_reachable n e p z beta time s /\ any_sim x s.
Proof.
  intros nx log x H. unfold replay_any in H.
  assert (Hgo : forall log c x0 s0, any_sim x0 s0 -> replay_any_from c x0 log = inl x ->
    exists s, any_run s0 s /\ any_sim x s).
  { clear. induction log as [|en log IH]; intros c x0 s0 Hs Hr; simpl in Hr.
    - injection Hr as <-. exists s0. split; [constructor|assumption].
    - destruct (enter_any x0 en) as [x1|] eqn:Ee; [|discriminate].
      destruct (enter_any_sound _ _ _ _ Hs Ee) as (s1 & Hr1 & Hs1).
      destruct (IH _ _ _ Hs1 Hr) as (s & Hr2 & Hs2).
      exists s. split; [eapply any_run_app; eassumption|assumption]. }
  destruct (Hgo log 1 (AnyXState 0 [] None nx) (any_initial (fun i => nth i nx 0))) as (s & Hr & Hs).
  - repeat split; reflexivity.
  - assumption.
  - exists s. split; [|assumption]. exists (fun i => nth i nx 0). assumption.
Qed.
End Replay.
