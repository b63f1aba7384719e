(** * An executable form of the gated drain's model, to replay logs of the real policy: it accepts a
    log only if the log is an execution of the model ([replay_gated_sound]). *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists GatedModel GatedUnits.
Import ListNotations.

(** Log entries: as events, but time passes by many nanoseconds at once.  [Sent]: one round sends
    these units and so many other requests. *)
Inductive entry :=
| At (t : nat) | Released (i : nat) | Sent (l : list nat) (a : nat)
| Completed (i : nat) | CompletedOther | Cancelled (i : nat).

(** The state with lists in place of functions, so that it stays small. *)
Record xstate := XState { xnow : nat; xunits : list phase; xnext : list nat; xothers : nat;
  xsent_at : nat; xsent_k : nat }.

Section Replay.
Variable n : nat.
Variables p d : nat -> nat.
Variable K : nat.
Variable drain : nat -> nat.
Notation step := (step n p d K drain).
Notation run := (run n p d K drain).

Definition listed {A : Type} (f : nat -> A) : list A := map f (seq 0 n).

Definition enter_at (t : nat) (f : nat -> phase) (nx : nat -> nat) (o t0 k : nat) (en : entry) :
    option xstate :=
  match en with
  | At t' =>
    if t' <? t then None else if t' =? t then Some (XState t (listed f) (listed nx) o t0 k) else
    if flying n f + o =? 0 then
      if number n (fun i => is_waiting (f i)) =? 0
      then Some (XState t' (listed f) (listed nx) o t0 k) else None
    else if t' <=? t0 + drain k then Some (XState t' (listed f) (listed nx) o t0 k) else None
  | Released i =>
    match f i with
    | Idle =>
      if (i <? n) && (nx i <=? t)
      then Some (XState t (listed (set f i (Waiting t))) (listed (upd nx i (t + p i))) o t0 k)
      else None
    | _ => None
    end
  | Sent l a =>
    let X := fun i => existsb (Nat.eqb i) l in
    let g := send X f in
    let k' := flying n g + o + a in
    if (length l =? number n X) && forallb (fun i => is_waiting (f i)) l
       && (flying n f + o <? k') && (k' <=? K)
       && (is_allowed n drain d t k' g nx
           || (flying n f + o + a =? 0) && (length l =? number n (fun i => is_waiting (f i)))
              && is_none_allowed n d drain t f nx)
    then Some (XState t (listed g) (listed nx) (o + a) t k') else None
  | Completed i =>
    match f i with
    | Flying _ => if i <? n then Some (XState t (listed (set f i Idle)) (listed nx) o t0 k) else None
    | _ => None
    end
  | CompletedOther =>
    match o with S o' => Some (XState t (listed f) (listed nx) o' t0 k) | 0 => None end
  | Cancelled i =>
    match f i with
    | Waiting _ => if i <? n then Some (XState t (listed (set f i Idle)) (listed nx) o t0 k) else None
    | _ => None
    end
  end.

Definition enter (x : xstate) (en : entry) : option xstate :=
  let '(XState t us nxs o t0 k) := x in
  enter_at t (fun i => nth i us Idle) (fun i => nth i nxs 0) o t0 k en.

(** A log is judged to its end, or to the number of the first entry that is no step of the model. *)
Fixpoint replay_gated_from (count : nat) (x : xstate) (log : list entry) : xstate + nat :=
  match log with
  | [] => inl x
  | en :: log' =>
    match enter x en with Some x' => replay_gated_from (S count) x' log' | None => inr count end
  end.
Definition replay_gated (nx : list nat) (log : list entry) : xstate + nat :=
  replay_gated_from 1 (XState 0 [] nx 0 0 0) log.

Definition sim (x : xstate) (s : state) : Prop :=
  now s = xnow x /\ others s = xothers x /\ sent_at s = xsent_at x /\ sent_k s = xsent_k x /\
  forall i, i < n -> unit s i = nth i (xunits x) Idle /\ next s i = nth i (xnext x) 0.

Lemma listed_nth : forall {A : Type} (f : nat -> A) i x, i < n -> nth i (listed f) x = f i.
Proof.
  intros A f i x Hi. unfold listed. rewrite (nth_indep _ x (f 0)).
  - rewrite map_nth, seq_nth; [reflexivity|assumption].
  - rewrite map_length, seq_length. assumption.
Qed.

(** The model asks only about units below n. *)
Lemma allowed_same : forall t k f g nx nx', (forall i, i < n -> f i = g i /\ nx i = nx' i) ->
  allowed n drain d t k f nx -> allowed n drain d t k g nx'.
Proof.
  intros t k f g nx nx' H Ha. apply (allowed_ext n drain d t k f g nx'); [intros; apply H; assumption|].
  intros i Hi. destruct (H i Hi) as [_ <-]. apply (Ha i Hi).
Qed.

Lemma none_allowed_same : forall t f g nx nx', (forall i, i < n -> f i = g i /\ nx i = nx' i) ->
  none_allowed n d drain t f nx -> none_allowed n d drain t g nx'.
Proof.
  intros t f g nx nx' H Hn j Hj Hw Ha. destruct (H j Hj) as [Hf _].
  apply (Hn j Hj); [rewrite Hf; assumption|].
  assert (Hdue : forall i, i < n -> due_up_to d f j i = due_up_to d g j i).
  { intros i Hi. unfold due_up_to. destruct (H i Hi) as [-> _]. rewrite Hf. reflexivity. }
  rewrite (number_ext n _ _ Hdue). revert Ha. apply allowed_same. intros i Hi.
  destruct (H i Hi) as [Hi1 Hi2]. unfold send. rewrite Hi1, (Hdue i Hi). split; [reflexivity|].
  symmetry. assumption.
Qed.

Lemma ticks_empty : forall c t f nx o t0 k, flying n f + o = 0 ->
  (forall i, i < n -> is_waiting (f i) = false) ->
  exists tr, run (State t f nx o t0 k) tr (State (t + c) f nx o t0 k).
Proof.
  induction c as [|c IH]; intros t f nx o t0 k Ho Hw.
  - exists []. rewrite Nat.add_0_r. constructor.
  - destruct (IH (S t) f nx o t0 k Ho Hw) as (tr & Hr). exists (Tick :: tr).
    econstructor; [apply tick_empty; assumption|]. replace (t + S c) with (S t + c) by lia. assumption.
Qed.

Lemma ticks_busy : forall c t f nx o t0 k, 0 < flying n f + o -> t + c <= t0 + drain k ->
  exists tr, run (State t f nx o t0 k) tr (State (t + c) f nx o t0 k).
Proof.
  induction c as [|c IH]; intros t f nx o t0 k Ho Ht.
  - exists []. rewrite Nat.add_0_r. constructor.
  - destruct (IH (S t) f nx o t0 k Ho) as (tr & Hr); [lia|]. exists (Tick :: tr).
    econstructor; [apply tick_busy; lia|]. replace (t + S c) with (S t + c) by lia. assumption.
Qed.

Lemma enter_at_sound : forall t f nx o t0 k en x f' nx',
  (forall i, i < n -> f i = f' i /\ nx i = nx' i) -> enter_at t f' nx' o t0 k en = Some x ->
  exists tr s, run (State t f nx o t0 k) tr s /\ sim x s.
Proof.
  intros t f nx o t0 k en x f' nx' Hs H.
  assert (Hf : forall i, i < n -> f i = f' i) by (intros; apply Hs; assumption).
  assert (Hnx : forall i, i < n -> nx i = nx' i) by (intros; apply Hs; assumption).
  assert (Hfl : flying n f = flying n f').
  { apply number_ext. intros i Hi. rewrite Hf by assumption. reflexivity. }
  assert (Hsame : forall t o t0 k, sim (XState t (listed f') (listed nx') o t0 k)
    (State t f nx o t0 k)).
  { intros. repeat split; simpl; rewrite listed_nth by assumption; apply Hs; assumption. }
  (* a unit that changes its phase alone *)
  assert (Hset : forall i ph, sim (XState t (listed (set f' i ph)) (listed nx') o t0 k)
    (State t (set f i ph) nx o t0 k)).
  { intros. repeat split; simpl; rewrite listed_nth by assumption; [|apply Hnx; assumption].
    unfold set. rewrite Hf by assumption. reflexivity. }
  destruct en as [t'|i|l a|i| |i]; simpl in H.
  - destruct (Nat.ltb_spec t' t); [discriminate|]. destruct (Nat.eqb_spec t' t).
    { injection H as <-. exists [], (State t f nx o t0 k). split; [constructor|apply Hsame]. }
    assert (t' = t + (t' - t)) as Ht by lia.
    destruct (Nat.eqb_spec (flying n f' + o) 0) as [Hz|Hz].
    + destruct (Nat.eqb_spec (number n (fun i => is_waiting (f' i))) 0) as [Hw|]; [|discriminate].
      injection H as <-. destruct (ticks_empty (t' - t) t f nx o t0 k) as (tr & Hr);
        [lia|intros i Hi; rewrite Hf by assumption; apply (number_zero n _ Hw i Hi)|].
      rewrite <- Ht in Hr. exists tr, (State t' f nx o t0 k). split; [assumption|apply Hsame].
    + destruct (Nat.leb_spec t' (t0 + drain k)); [|discriminate]. injection H as <-.
      destruct (ticks_busy (t' - t) t f nx o t0 k) as (tr & Hr); [lia|lia|].
      rewrite <- Ht in Hr. exists tr, (State t' f nx o t0 k). split; [assumption|apply Hsame].
  - destruct (f' i) eqn:Ei; try discriminate.
    destruct (Nat.ltb_spec i n) as [Hi|]; [|discriminate].
    destruct (Nat.leb_spec (nx' i) t); [|discriminate]. injection H as <-.
    eexists [Release i], _. split.
    + econstructor; [|constructor]. apply release; [assumption|rewrite Hf; assumption|].
      rewrite Hnx; assumption.
    + repeat split; simpl; rewrite listed_nth by assumption; unfold set, upd.
      * rewrite Hf by assumption. reflexivity.
      * rewrite Hnx by assumption. reflexivity.
  - set (X := fun i => existsb (Nat.eqb i) l) in *.
    destruct (Nat.eqb_spec (length l) (number n X)) as [Hlen|]; [|discriminate].
    destruct (forallb (fun i => is_waiting (f' i)) l) eqn:Ew; [|discriminate].
    destruct (Nat.ltb_spec (flying n f' + o) (flying n (send X f') + o + a)); [|discriminate].
    destruct (Nat.leb_spec (flying n (send X f') + o + a) K); [|discriminate].
    assert (HX : forall i, i < n -> X i = true -> is_waiting (f i) = true).
    { intros i Hi Hx. apply existsb_exists in Hx. destruct Hx as (j & Hj & Heq).
      apply Nat.eqb_eq in Heq. subst j. rewrite forallb_forall in Ew.
      rewrite Hf by assumption. apply Ew. assumption. }
    assert (Hsend : forall i, i < n -> send X f i = send X f' i).
    { intros i Hi. unfold send. rewrite Hf by assumption. reflexivity. }
    assert (Hfl' : flying n (send X f) = flying n (send X f')).
    { apply number_ext. intros i Hi. rewrite Hsend by assumption. reflexivity. }
    assert (Hsim : forall k', sim (XState t (listed (send X f')) (listed nx') (o + a) t k')
      (State t (send X f) nx (o + a) t k')).
    { intros. repeat split; simpl; rewrite listed_nth by assumption;
        [apply Hsend|apply Hnx]; assumption. }
    simpl in H. destruct (is_allowed n drain d t _ _ _) eqn:Ea.
    + injection H as <-. eexists [Dispatch X a], _. split; [|apply Hsim].
      econstructor; [|constructor]. apply dispatch; [assumption|lia|lia|].
      apply is_allowed_ok in Ea. revert Ea. apply allowed_same. intros i Hi.
      rewrite Hsend, Hnx by assumption. split; reflexivity.
    + simpl in H. destruct (Nat.eqb_spec (flying n f' + o + a) 0) as [Hz|]; [|discriminate].
      destruct (Nat.eqb_spec (length l) (number n (fun i => is_waiting (f' i)))) as [Hall|];
        [|discriminate].
      destruct (is_none_allowed n d drain t f' nx') eqn:En; [|discriminate]. injection H as <-.
      assert (o = 0 /\ a = 0) as [-> ->] by lia.
      destruct (send_empty n f X) as (Hnum & _); [lia|assumption|].
      assert (HXall : forall i, i < n -> X i = is_waiting (f i)).
      { intros i Hi. destruct (X i) eqn:Ex; [symmetry; apply HX; assumption|].
        destruct (is_waiting (f i)) eqn:Eu; [|reflexivity]. exfalso.
        rewrite (number_without n _ i Hi) in Hall by (rewrite <- Hf by assumption; assumption).
        enough (number n X <= number n (fun j => if j =? i then false else is_waiting (f' j))) by lia.
        apply number_le. intros j Hj Hx. destruct (Nat.eqb_spec j i) as [->|]; [congruence|].
        rewrite <- Hf by assumption. apply HX; assumption. }
      eexists [Dispatch X 0], _. split; [|apply Hsim].
      econstructor; [|constructor]. simpl. rewrite !Nat.add_0_r, <- Hfl', Hnum.
      apply dispatch_all; [lia|assumption|lia|].
      apply is_none_allowed_ok in En. revert En. apply none_allowed_same. intros i Hi.
      rewrite Hf, Hnx by assumption. split; reflexivity.
  - destruct (f' i) eqn:Ei; try discriminate.
    destruct (Nat.ltb_spec i n) as [Hi|]; [|discriminate]. injection H as <-.
    eexists [Complete i], _. split; [|apply Hset].
    econstructor; [|constructor]. eapply complete; [assumption|]. rewrite Hf by assumption. exact Ei.
  - destruct o as [|o]; [discriminate|]. injection H as <-. eexists [CompleteOther], _.
    split; [|apply Hsame]. econstructor; [apply complete_other|constructor].
  - destruct (f' i) eqn:Ei; try discriminate.
    destruct (Nat.ltb_spec i n) as [Hi|]; [|discriminate]. injection H as <-.
    eexists [Cancel i], _. split; [|apply Hset].
    econstructor; [|constructor]. eapply cancel; [assumption|]. rewrite Hf by assumption. exact Ei.
Qed.

Lemma enter_sound : forall x s en x', sim x s -> enter x en = Some x' ->
  exists tr s', run s tr s' /\ sim x' s'.
Proof.
  intros [t us nxs o t0 k] [t1 f nx o1 t2 k1] en x' (H1 & H2 & H3 & H4 & Hs) H.
  simpl in H1, H2, H3, H4, Hs. subst t1 o1 t2 k1. apply (enter_at_sound _ _ _ _ _ _ _ _ _ _ Hs H).
Qed.

Theorem replay_gated_sound : forall nx log x, replay_gated nx log = inl x ->
  exists s, reachable n p d K drain s /\ sim x s.
Proof.
  intros nx log x H. unfold replay_gated in H.
  assert (Hgo : forall log c x0 s0, sim x0 s0 -> replay_gated_from c x0 log = inl x ->
    exists tr s, run s0 tr s /\ sim x s).
  { clear. induction log as [|en log IH]; intros c x0 s0 Hs Hr; simpl in Hr.
    - injection Hr as <-. exists [], s0. split; [constructor|assumption].
    - destruct (enter x0 en) as [x1|] eqn:Ee; [|discriminate].
      destruct (enter_sound _ _ _ _ Hs Ee) as (tr & s1 & Hr1 & Hs1).
      destruct (IH _ _ _ Hs1 Hr) as (tr' & s & Hr2 & Hs2).
      exists (tr ++ tr'), s. split; [eapply run_app; eassumption|assumption]. }
  destruct (Hgo log 1 (XState 0 [] nx 0 0 0) (initial (fun i => nth i nx 0))) as (tr & s & Hr & Hs).
  - repeat split; simpl; auto. destruct i; reflexivity.
  - assumption.
  - exists s. split; [|assumption]. exists (fun i => nth i nx 0), tr. assumption.
Qed.
End Replay.
