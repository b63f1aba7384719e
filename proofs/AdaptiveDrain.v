(** * Adaptive drain (docs/theory/draining.md section 8): no deadline is missed.

    Stands for crates/policy/src/adaptive_drain.rs.  One task whose jobs have one request, with
    drain(1) <= D <= p.  The device honours drain(k) and nothing else: if k requests are on it
    just after a dispatch and nothing more is sent, it is empty within drain(k). *)
From Coq Require Import List Arith Lia PeanoNat Bool.

(** The task's request: not released, held by the policy, or on the device. *)
Inductive phase := Idle | Held (released : nat) | Flying (released : nat).

(** [others]: best effort on the device; [sent_at], [sent_k]: the last dispatch and what was on the
    device just after it. *)
Record state := State {
  now : nat; unit : phase; next : nat; others : nat; sent_at : nat; sent_k : nat }.

Inductive event := Tick | Release | Send | AddBestEffort | Complete | CompleteOther.

Section AdaptiveDrain.
Variables p D : nat.
Variable drain : nat -> nat.
Hypothesis drain_mono : forall i j, i <= j -> drain i <= drain j.
Hypothesis alone_in_time : drain 1 <= D.
Hypothesis D_period : D <= p.

Definition outstanding (s : state) : nat :=
  match unit s with Flying _ => S (others s) | _ => others s end.

(** Time does not pass while a held request may be sent: it fits, or the device is empty. *)
Definition must_wait (t : nat) (u : phase) (o : nat) : Prop :=
  match u with Held r => 0 < o /\ r + D < t + drain (o + 1) | _ => True end.

Inductive step : state -> event -> state -> Prop :=
| tick_empty t nx t0 k :
    step (State t Idle nx 0 t0 k) Tick (State (S t) Idle nx 0 t0 k)
| tick_busy t u nx o t0 k :
    0 < outstanding (State t u nx o t0 k) -> t < t0 + drain k -> must_wait t u o ->
    step (State t u nx o t0 k) Tick (State (S t) u nx o t0 k)
| release t nx o t0 k :
    nx <= t ->
    step (State t Idle nx o t0 k) Release (State t (Held t) (t + p) o t0 k)
| send t r nx o t0 k :
    o = 0 \/ t + drain (o + 1) <= r + D ->
    step (State t (Held r) nx o t0 k) Send (State t (Flying r) nx o t (o + 1))
| add_beside t r nx o t0 k :   (* the request is on the device: 8.2 *)
    t + drain (o + 2) <= r + D ->
    step (State t (Flying r) nx o t0 k) AddBestEffort (State t (Flying r) nx (o + 1) t (o + 2))
| add_alone t nx o t0 k :      (* it is not released: 8.3 *)
    drain (o + 2) <= D \/ t + drain (o + 1) + drain 1 <= max t nx + D ->
    step (State t Idle nx o t0 k) AddBestEffort (State t Idle nx (o + 1) t (o + 1))
| complete t r nx o t0 k :
    step (State t (Flying r) nx o t0 k) Complete (State t Idle nx o t0 k)
| complete_other t u nx o t0 k :
    step (State t u nx (S o) t0 k) CompleteOther (State t u nx o t0 k).

Inductive run : state -> state -> Prop :=
| run_nil s : run s s
| run_cons s ev s' s'' : step s ev s' -> run s' s'' -> run s s''.

Definition initial (nx : nat) : state := State 0 Idle nx 0 0 0.
Definition reachable (s : state) : Prop := exists nx, run (initial nx) s.

(** e: when the device is empty if nothing more is sent. *)
Record inv_by (e : nat) (s : state) : Prop := {
  a_now : now s <= e;
  a_device : 0 < outstanding s -> sent_at s + drain (sent_k s) = e;
  a_unit : match unit s with
    | Flying r => e <= r + D /\ next s = r + p
    | Held r => (r = now s /\ drain (others s + 1) <= D \/ e + drain 1 <= r + D) /\ next s = r + p
    | Idle => drain (others s + 1) <= D \/ e + drain 1 <= max (now s) (next s) + D
    end }.
Definition inv (s : state) : Prop := exists e, inv_by e s.

Lemma inv_step : forall s ev s', inv s -> step s ev s' -> inv s'.
Proof.
  intros s ev s' (e & [Hn Hd Hu]) Hstep. destruct Hstep; unfold outstanding in *; simpl in *.
  - exists (S t). constructor; simpl; [lia|unfold outstanding; simpl; lia|left; assumption].
  - exists e. specialize (Hd H). unfold must_wait in H1.
    constructor; cbn [now unit next others sent_at sent_k]; [lia|intros; assumption|].
    destruct u as [|r|r]; [lia| |assumption]. split; [right|apply Hu]. lia.
  - exists e. constructor; simpl; [assumption|assumption|]. split; [|reflexivity]. lia.
  - exists (t + drain (o + 1)). constructor; simpl; [lia|intros; reflexivity|].
    split; [|apply Hu]. destruct H as [->|H]; [simpl in *; lia|assumption].
  - exists (t + drain (o + 2)). constructor; simpl; [lia|intros; reflexivity|].
    split; [assumption|apply Hu].
  - exists (t + drain (o + 1)). constructor; simpl; [lia|intros; reflexivity|].
    replace (o + 1 + 1) with (o + 2) by lia. destruct H; [left|right]; assumption.
  - exists e. constructor; simpl; [assumption|unfold outstanding; simpl; intros; apply Hd; lia|].
    right. lia.
  - exists e. pose proof (drain_mono (o + 1) (S o + 1)).
    constructor; simpl; [assumption| |destruct u; simpl in *; lia].
    unfold outstanding. simpl. intros. apply Hd. destruct u; lia.
Qed.

(** No request that is held or on the device is past its deadline. *)
Theorem adaptive_drain : forall s r, reachable s ->
  unit s = Held r \/ unit s = Flying r -> now s <= r + D.
Proof.
  intros s r (nx & Hrun) Hr.
  assert (Hinv : inv s).
  { assert (H0 : inv (initial nx)).
    { exists 0. constructor; simpl; [lia|unfold outstanding; simpl; lia|left; assumption]. }
    clear Hr. induction Hrun; [assumption|]. apply IHHrun. eapply inv_step; eassumption. }
  destruct Hinv as (e & [Hn Hd Hu]). destruct Hr as [Hr|Hr]; rewrite Hr in Hu; lia.
Qed.

(** The policy never sticks: a held request can be sent to an empty device. *)
Theorem adaptive_never_sticks : forall t r nx t0 k,
  step (State t (Held r) nx 0 t0 k) Send (State t (Flying r) nx 0 t 1).
Proof. intros. apply (send t r nx 0 t0 k). left. reflexivity. Qed.
End AdaptiveDrain.

(** ** An executable form, to replay logs of the real policy: it accepts a log only if the log is an
    execution of the model. *)
Inductive entry :=
| At (t : nat) | Released | Sent | AddedBestEffort | Completed | CompletedOther.

Section Replay.
Variables p D : nat.
Variable drain : nat -> nat.

Definition enter (s : state) (en : entry) : option state :=
  let '(State t u nx o t0 k) := s in
  match en, u with
  | At t', _ =>
    if t' <? t then None else if t' =? t then Some s else
    if outstanding s =? 0 then
      match u with Idle => Some (State t' Idle nx o t0 k) | _ => None end
    else if negb (t' <=? t0 + drain k) then None else
      match u with
      | Held r => if (0 <? o) && (r + D <? t + drain (o + 1)) then Some (State t' u nx o t0 k) else None
      | _ => Some (State t' u nx o t0 k)
      end
  | Released, Idle => if nx <=? t then Some (State t (Held t) (t + p) o t0 k) else None
  | Sent, Held r =>
    if (o =? 0) || (t + drain (o + 1) <=? r + D) then Some (State t (Flying r) nx o t (o + 1)) else None
  | AddedBestEffort, Flying r =>
    if t + drain (o + 2) <=? r + D then Some (State t u nx (o + 1) t (o + 2)) else None
  | AddedBestEffort, Idle =>
    if (drain (o + 2) <=? D) || (t + drain (o + 1) + drain 1 <=? max t nx + D)
    then Some (State t u nx (o + 1) t (o + 1)) else None
  | Completed, Flying _ => Some (State t Idle nx o t0 k)
  | CompletedOther, _ => match o with S o' => Some (State t u nx o' t0 k) | 0 => None end
  | _, _ => None
  end.

Fixpoint replay_drain_from (count : nat) (s : state) (log : list entry) : state + nat :=
  match log with
  | nil => inl s
  | cons en log' =>
    match enter s en with Some s' => replay_drain_from (S count) s' log' | None => inr count end
  end.
Definition replay_drain (nx : nat) (log : list entry) : state + nat :=
  replay_drain_from 1 (initial nx) log.

Notation run := (run p D drain).

Lemma run_app : forall s s' s'', run s s' -> run s' s'' -> run s s''.
Proof. intros s s' s'' H H'. induction H; [assumption|]. econstructor; [eassumption|auto]. Qed.

Lemma empty_ticks : forall d t nx t0 k, run (State t Idle nx 0 t0 k) (State (t + d) Idle nx 0 t0 k).
Proof.
  induction d; intros.
  - rewrite Nat.add_0_r. constructor.
  - econstructor; [apply tick_empty|]. replace (t + S d) with (S t + d) by lia. apply IHd.
Qed.

Lemma busy_ticks : forall d t u nx o t0 k, 0 < outstanding (State t u nx o t0 k) ->
  t + d <= t0 + drain k -> must_wait D drain t u o ->
  run (State t u nx o t0 k) (State (t + d) u nx o t0 k).
Proof.
  induction d; intros t u nx o t0 k Ho Ht Hw.
  - rewrite Nat.add_0_r. constructor.
  - econstructor; [apply tick_busy; [assumption|lia|assumption]|].
    replace (t + S d) with (S t + d) by lia. apply IHd; [assumption|lia|].
    unfold must_wait in *. destruct u; lia.
Qed.

Lemma enter_sound : forall s en s', enter s en = Some s' -> run s s'.
Proof.
  intros [t u nx o t0 k] en s' H. unfold enter in H. destruct en as [t'| | | | |].
  - destruct (Nat.ltb_spec t' t); [discriminate|]. destruct (Nat.eqb_spec t' t).
    { injection H as <-. constructor. }
    destruct (Nat.eqb_spec (outstanding (State t u nx o t0 k)) 0) as [Hz|Hz].
    + destruct u; try discriminate. injection H as <-. unfold outstanding in Hz. simpl in Hz. subst o.
      replace t' with (t + (t' - t)) by lia. apply empty_ticks.
    + destruct (Nat.leb_spec t' (t0 + drain k)); [simpl in H|discriminate].
      replace t' with (t + (t' - t)) in * by lia.
      destruct u as [|r|r].
      * injection H as <-. apply busy_ticks; [lia|lia|exact I].
      * destruct (Nat.ltb_spec 0 o); [|discriminate].
        destruct (Nat.ltb_spec (r + D) (t + drain (o + 1))); [|discriminate].
        injection H as <-. apply busy_ticks; [lia|lia|]. unfold must_wait. lia.
      * injection H as <-. apply busy_ticks; [lia|lia|exact I].
  - destruct u; try discriminate. destruct (Nat.leb_spec nx t); [|discriminate]. injection H as <-.
    econstructor; [apply release; assumption|constructor].
  - destruct u; try discriminate.
    destruct ((o =? 0) || (t + drain (o + 1) <=? released + D))%bool eqn:E; [|discriminate].
    injection H as <-. econstructor; [apply send|constructor].
    apply Bool.orb_true_iff in E. destruct E as [E|E];
      [left; apply Nat.eqb_eq|right; apply Nat.leb_le]; assumption.
  - destruct u; try discriminate.
    + destruct ((drain (o + 2) <=? D) || (t + drain (o + 1) + drain 1 <=? max t nx + D))%bool eqn:E;
        [|discriminate].
      injection H as <-. econstructor; [apply add_alone|constructor].
      apply Bool.orb_true_iff in E. destruct E as [E|E]; [left|right]; apply Nat.leb_le; assumption.
    + destruct (Nat.leb_spec (t + drain (o + 2)) (released + D)); [|discriminate]. injection H as <-.
      econstructor; [apply add_beside; assumption|constructor].
  - destruct u; try discriminate. injection H as <-. econstructor; [apply complete|constructor].
  - destruct o; destruct u; try discriminate; injection H as <-;
      (econstructor; [apply complete_other|constructor]).
Qed.

Theorem replay_drain_sound : forall nx log s, replay_drain nx log = inl s -> reachable p D drain s.
Proof.
  intros nx log s H. exists nx. unfold replay_drain in H. revert H. generalize 1.
  generalize (initial nx). induction log as [|en log IH]; intros s0 c H; simpl in H.
  - injection H as <-. constructor.
  - destruct (enter s0 en) as [s1|] eqn:E; [|discriminate].
    eapply run_app; [apply (enter_sound _ _ _ E)|]. apply (IH _ _ H).
Qed.
End Replay.
