(** * Strict classes (docs/theory/stock-kernel.md section 31): the real-time busy period.

    Stands for the kernel's `mq-deadline`, with all real-time tasks in the real-time class, beside an
    adversarial device, adversarial sporadic tasks and any load of lower classes.

    - The device holds at most q requests.  If nothing more is sent, it is empty within D = drain(q)
      of the last dispatch.  It completes them in any order, at any instant up to then.
    - A request of a lower class leaves the scheduler only if no real-time request is queued or on the
      device.  It is sent at once, or it is one of at most h that have left the scheduler and wait
      for the device.  These can be sent at any time.
    - Real-time requests are sent in any order.  Whether a real-time request has left the scheduler is not
      modelled.
    - Time does not pass while the device is empty and a real-time request waits.  The scheduler may
      otherwise leave places on the device free, so every work-conserving scheduler is covered.
    - Task i releases jobs of at most e(i) requests, at least p(i) apart.  Responses may exceed periods.
      All requests of a job arrive in one step, and none is cancelled.
    - Events of one instant come in any order: a release can come before a completion.
    - The host takes no time: a request is inserted when it is released, sent when it is taken (unless it
      is early), and seen to be complete when it is complete.

    The proof uses q only through D.  Not modelled: section 31's other hypotheses, among them merged
    requests, requeues, flushes, `prio_aging_expire` and a full scheduler. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists Window.
Import ListNotations.

(** [queue], [early]: real-time requests, and lower ones that have left the scheduler, which wait for
    the device.  [real_time], [lower]: requests on the device.  [earliest i]: no release of task i
    before.  [sent_at]: the last dispatch. *)
Record state := State {
  now : nat; queue : list req; early : nat; real_time : list req; lower : nat;
  earliest : nat -> nat; sent_at : nat }.

Section StrictClasses.
Variable n : nat.                     (* tasks 0 .. n-1 *)
Variables e p : nat -> nat.           (* requests of a job, period *)
Variables q D h : nat.                (* depth, drain(q), at most so many lower requests have left early *)
Variable beside : bool.               (* whether there is best effort: requests of a lower class *)

Inductive step : state -> state -> Prop :=
| tick_empty t a nx t0 :
    step (State t [] a [] 0 nx t0) (State (S t) [] a [] 0 nx t0)
| tick_busy t Q a F o nx t0 :
    0 < length F + o -> t < t0 + D ->
    step (State t Q a F o nx t0) (State (S t) Q a F o nx t0)
| release t Q a F o nx t0 i k :
    i < n -> nx i <= t -> k <= e i ->
    step (State t Q a F o nx t0) (State t (Q ++ repeat (Req i t) k) a F o (upd nx i (t + p i)) t0)
| send_real_time t l1 r l2 a F o nx t0 :
    length F + o < q ->
    step (State t (l1 ++ r :: l2) a F o nx t0) (State t (l1 ++ l2) a (r :: F) o nx t)
| send_lower t a o nx t0 :
    beside = true -> o < q ->
    step (State t [] a [] o nx t0) (State t [] a [] (S o) nx t)
| take_early t a o nx t0 :
    beside = true -> a < h ->
    step (State t [] a [] o nx t0) (State t [] (S a) [] o nx t0)
| send_early t Q a F o nx t0 :
    length F + o < q ->
    step (State t Q (S a) F o nx t0) (State t Q a F (S o) nx t)
| complete t Q a l1 r l2 o nx t0 :
    step (State t Q a (l1 ++ r :: l2) o nx t0) (State t Q a (l1 ++ l2) o nx t0)
| complete_lower t Q a F o nx t0 :
    step (State t Q a F (S o) nx t0) (State t Q a F o nx t0).

Inductive run : state -> state -> Prop :=
| run_nil s : run s s
| run_cons s s' s'' : step s s' -> run s' s'' -> run s s''.

(** An empty system; the first releases come at any instants. *)
Definition initial (nx : nat -> nat) : state := State 0 [] 0 [] 0 nx 0.
Definition reachable (s : state) : Prop := exists nx, run (initial nx) s.

(** Released and not complete. *)
Definition pending (r : req) (s : state) : Prop := In r (queue s ++ real_time s).

(** c of (31.1) *)
Definition ahead : nat := if beside then 1 + h else 0.

(** (31.1), with the requests released in a closed window of length L.  The least such L gives the best
    bound; any will do. *)
Definition is_bound (L : nat) : Prop := (ahead + closed n e p L) * D <= L.

(** ** The busy period *)
Section Bound.
Variable L : nat.
Hypothesis p_pos : forall i, i < n -> 1 <= p i.
Hypothesis L_bound : is_bound L.

(** At most so many early requests of a lower class at its start. *)
Definition early_max : nat := if beside then h else 0.
(** 1 if the device can hold lower requests then. *)
Definition in_flight : nat := if beside then 1 else 0.

(** It began at ts, and m requests have been sent since; task i has released [jobs i] jobs in it. *)
Record busy (ts m : nat) (jobs : nat -> nat) (s : state) : Prop := {
  b_now : ts <= now s <= ts + (m + in_flight) * D;
  b_sent : 0 < length (real_time s) + lower s -> sent_at s + D <= ts + (m + in_flight) * D;
  b_count : m + length (queue s) + early s <= early_max + sum n (fun i => e i * jobs i);
  b_jobs : forall i, i < n -> jobs i <= L / p i + 1 /\
    (1 <= jobs i -> ts + jobs i * p i <= earliest s i);
  b_pending : forall r, pending r s -> ts <= rrel r }.

Record inv (s : state) : Prop := {
  i_early : early s <= early_max;
  i_lower : beside = false -> lower s = 0;
  i_sent : sent_at s <= now s;
  i_busy : queue s ++ real_time s <> [] -> exists ts m jobs, busy ts m jobs s }.

(** All that is sent in the period fits into L, with one request more beside best effort. *)
Lemma in_time : forall ts m jobs s, busy ts m jobs s -> now s <= ts + L.
Proof.
  intros ts m jobs s [Hn _ Hc Hj _]. unfold is_bound in L_bound.
  assert (sum n (fun i => e i * jobs i) <= closed n e p L).
  { apply sum_le. intros i Hi. apply Nat.mul_le_mono_l, Hj, Hi. }
  assert (m + in_flight <= ahead + closed n e p L).
  { unfold ahead, in_flight, early_max in *. destruct beside; lia. }
  nia.
Qed.

(** A release at ts + L itself counts too. *)
Lemma jobs_of_release : forall i t ts (jobs nx : nat -> nat), i < n -> ts <= t <= ts + L -> nx i <= t ->
  (forall j, j < n -> jobs j <= L / p j + 1 /\ (1 <= jobs j -> ts + jobs j * p j <= nx j)) ->
  forall j, j < n -> upd jobs i (jobs i + 1) j <= L / p j + 1 /\
    (1 <= upd jobs i (jobs i + 1) j -> ts + upd jobs i (jobs i + 1) j * p j <= upd nx i (t + p i) j).
Proof.
  intros i t ts jobs nx Hi Ht Hnx Hjobs j Hj. unfold upd.
  destruct (Nat.eqb_spec j i) as [->|]; [|apply Hjobs; assumption].
  destruct (Hjobs i Hi) as [_ Hs]. specialize (p_pos i Hi).
  assert (ts + jobs i * p i <= t) by (destruct (jobs i); [lia|specialize (Hs ltac:(lia)); lia]).
  assert (jobs i <= L / p i) by (apply Nat.div_le_lower_bound; nia). lia.
Qed.

Lemma inv_release : forall t Q a F o nx t0 i k,
  i < n -> nx i <= t -> k <= e i -> inv (State t Q a F o nx t0) ->
  inv (State t (Q ++ repeat (Req i t) k) a F o (upd nx i (t + p i)) t0).
Proof.
  intros t Q a F o nx t0 i k Hi Hnx Hk [Ha Ho Hs HB]. constructor; try assumption.
  simpl in *. intros _.
  assert (Hstart : exists ts m jobs, busy ts m jobs (State t Q a F o nx t0)).
  { destruct (list_eq_dec (fun r r' : req => ltac:(decide equality; apply Nat.eq_dec)) (Q ++ F) [])
      as [Hidle|Hbusy].
    - (* a period begins *)
      exists t, 0, (fun _ => 0). apply app_eq_nil in Hidle as [-> ->].
      constructor; simpl; intros; try contradiction; try lia.
      unfold in_flight in *. destruct beside; lia.
    - apply HB, Hbusy. }
  destruct Hstart as (ts & m & jobs & B). pose proof (in_time _ _ _ _ B).
  destruct B as [Hn Hd Hc Hj Hr]. simpl in *.
  exists ts, m, (upd jobs i (jobs i + 1)). constructor; simpl; try assumption.
  - pose proof (sum_upd n e i (jobs i + 1) Hi jobs). rewrite app_length, repeat_length. lia.
  - apply jobs_of_release; try assumption. lia.
  - intros r Hin. unfold pending in Hin. simpl in Hin. rewrite !in_app_iff in Hin.
    destruct Hin as [[Hin|Hin]|Hin].
    + apply Hr. apply in_or_app. left. assumption.
    + apply repeat_spec in Hin. subst r. simpl. lia.
    + apply Hr. apply in_or_app. right. assumption.
Qed.

Lemma inv_step : forall s s', inv s -> step s s' -> inv s'.
Proof.
  intros s s' I Hstep. destruct Hstep; [..|destruct I as [Ha Ho Hs HB]|destruct I as [Ha Ho Hs HB]].
  - destruct I. constructor; simpl in *; try assumption; [lia|contradiction].
  - destruct I as [Ha Ho Hs HB]. constructor; simpl in *; try assumption; [lia|].
    intros Hbusy. destruct (HB Hbusy) as (ts & m & jobs & [Hn Hd Hc Hj Hr]).
    exists ts, m, jobs. constructor; simpl in *; try assumption. specialize (Hd H). lia.
  - apply inv_release; assumption.
  - destruct I as [Ha Ho Hs HB]. constructor; simpl in *; try assumption; [lia|]. intros _.
    destruct HB as (ts & m & jobs & [Hn Hd Hc Hj Hr]); [destruct l1; discriminate|].
    exists ts, (S m), jobs. constructor; simpl in *; try assumption; try lia.
    + rewrite app_length in *. simpl in Hc. lia.
    + intros r' Hin. apply Hr. unfold pending in *. simpl in *. rewrite !in_app_iff in *. simpl in *.
      tauto.
  - destruct I. constructor; simpl in *; try assumption; try lia; [congruence|contradiction].
  - destruct I. constructor; simpl in *; try assumption; [|contradiction].
    unfold early_max in *. destruct beside; [lia|discriminate].
  - destruct I as [Ha Ho Hs HB]. constructor; simpl in *; try lia.
    { intros E. unfold early_max in Ha. rewrite E in Ha. lia. }
    intros Hbusy. destruct (HB Hbusy) as (ts & m & jobs & [Hn Hd Hc Hj Hr]).
    exists ts, (S m), jobs. constructor; simpl in *; try assumption; lia.
  - constructor; simpl in *; try assumption. intros _.
    destruct HB as (ts & m & jobs & [Hn Hd Hc Hj Hr]).
    { intros E. apply app_eq_nil in E as [_ E]. destruct l1; discriminate. }
    exists ts, m, jobs. constructor; simpl in *; try assumption.
    + intros _. apply Hd. rewrite app_length. simpl. lia.
    + intros r' Hin. apply Hr. unfold pending in *. simpl in *. rewrite !in_app_iff in *. simpl.
      tauto.
  - constructor; simpl in *; try assumption; [intros E; specialize (Ho E); lia|].
    intros Hbusy. destruct (HB Hbusy) as (ts & m & jobs & [Hn Hd Hc Hj Hr]).
    exists ts, m, jobs. constructor; simpl in *; try assumption. intros _. apply Hd. lia.
Qed.

(** Every real-time request responds within L. *)
Theorem strict_classes : forall s r, reachable s -> pending r s -> now s <= rrel r + L.
Proof.
  intros s r (nx & Hrun) Hr.
  assert (H0 : inv (initial nx)).
  { constructor; simpl; try lia. contradiction. }
  assert (I : inv s).
  { clear Hr. induction Hrun; [assumption|]. apply IHHrun. eapply inv_step; eassumption. }
  destruct (i_busy _ I) as (ts & m & jobs & B).
  { intros E. unfold pending in Hr. rewrite E in Hr. contradiction. }
  pose proof (in_time _ _ _ _ B). pose proof (b_pending _ _ _ _ B r Hr). lia.
Qed.
End Bound.

(** ** The model is not empty: time can always pass. *)
Lemma all_complete : forall t Q a F o nx t0 s,
  run (State t Q a [] 0 nx t0) s -> run (State t Q a F o nx t0) s.
Proof.
  intros t Q a F o nx t0 s Hrun. induction F as [|r F IH].
  - induction o; [assumption|]. econstructor; [apply complete_lower|assumption].
  - econstructor; [apply (complete t Q a [])|assumption].
Qed.

Theorem strict_classes_time_passes : 1 <= q -> 1 <= D -> forall s, exists s', run s s' /\ now s < now s'.
Proof.
  intros Hq HD [t Q a F o nx t0]. destruct Q as [|r Q]; (eexists; split; [apply all_complete|]).
  - econstructor; [apply tick_empty|constructor].
  - simpl. lia.
  - econstructor; [apply (send_real_time t [] r Q); simpl; lia|].
    econstructor; [apply tick_busy; simpl; lia|constructor].
  - simpl. lia.
Qed.
End StrictClasses.

(** ** The bound is reached: one task, a request of which responds in 8 = (2 + 2) 2, the least L for
    q = 2, D = 2 and h = 1.  Two requests of a lower class are on the device and one has left the
    scheduler.  The device is full whenever time passes.  The second job is released at 6, before the
    completions of that instant; [ceiling L (p i)] in place of the closed count would give 6. *)
Module Reached.
  Definition e (_ : nat) := 1.
  Definition p (_ : nat) := 6.
  Notation step := (step 1 e p 2 2 1 true).
  Notation run := (run 1 e p 2 2 1 true).

  Lemma two_ticks : forall t Q a F o nx s, 0 < length F + o ->
    run (State (S (S t)) Q a F o nx t) s -> run (State t Q a F o nx t) s.
  Proof. intros. do 2 (econstructor; [apply tick_busy; [assumption|lia]|]). assumption. Qed.

  Theorem strict_classes_reached :
    (forall L, is_bound 1 e p 2 1 true L -> 8 <= L) /\ is_bound 1 e p 2 1 true 8 /\
    exists s r, reachable 1 e p 2 2 1 true s /\ pending r s /\ now s = rrel r + 8.
  Proof.
    split; [|split].
    - intros L H. unfold is_bound, closed, ahead, e, p in H. cbn [sum] in H.
      assert (1 <= L / 6) by (apply Nat.div_le_lower_bound; lia). lia.
    - apply le_n.
    - eexists (State 8 [] 0 [Req 0 6; Req 0 0] 0 _ 6), (Req 0 0).
      split; [|split; [right; left|]; reflexivity]. exists (fun _ => 0).
      econstructor; [apply send_lower; [reflexivity|lia]|].
      econstructor; [apply send_lower; [reflexivity|lia]|].
      econstructor; [apply take_early; [reflexivity|lia]|].
      econstructor; [apply release with (i := 0) (k := 1); unfold e; simpl; lia|].
      apply two_ticks; [simpl; lia|]. econstructor; [apply complete_lower|].
      econstructor; [apply send_early; simpl; lia|].
      apply two_ticks; [simpl; lia|]. econstructor; [apply complete_lower|].
      econstructor; [apply (send_real_time _ _ _ _ _ _ _ _ []); simpl; lia|].
      apply two_ticks; [simpl; lia|].
      econstructor; [apply release with (i := 0) (k := 1); unfold e, p, upd; simpl; lia|].
      econstructor; [apply complete_lower|].
      econstructor; [apply (send_real_time _ _ _ _ _ _ _ _ []); simpl; lia|].
      apply two_ticks; [simpl; lia|]. constructor.
  Qed.
End Reached.
