(** * The model of the gated drain.

    Stands for crates/policy/src/gated_drain.rs beside an adversarial drive and adversarial
    sporadic tasks (docs/theory/draining.md, section 8).  Whoever believes this page believes the
    theorems of GatedDrain.v.

    - A unit is one request of a job: a job of e requests releases e units in one instant.  Units
      of one task have the same period and deadline.  That units are released independently only
      adds schedules.
    - The drive honours this and nothing else: if k requests are on it just after a dispatch and
      nothing more is sent, it is empty within drain(k).  It completes them in any order, at any
      time before.  All that one round sends is one dispatch.
    - [allowed] is what `is_allowed` asks, [dispatch] what `grant` and `may_add` send when it says
      yes, and [dispatch_all] what an empty drive gets when no number of the units that are due
      first is allowed.  The real policy sends the units that are due first, and other requests
      only while no unit waits; here it may send any units, and others beside them, that are
      allowed, or nothing.  So any other order that keeps the conditions is covered too.
    - Time does not pass while the drive is empty and a unit waits.
    - Events of one instant come in any order, except that a unit completes before it is released
      again ([Idle] is asked for); [gated_drain] says that no release is held back in time by this.

    Not modelled: a change of the plan, a job before its period is over, the host's own time. *)
From Coq Require Import List Arith.
Require Import Model.
Import ListNotations.

Definition number (n : nat) (X : nat -> bool) : nat := sum n (fun i => if X i then 1 else 0).

Inductive phase := Idle | Waiting (released : nat) | Flying (released : nat).

Definition is_flying (ph : phase) : bool := match ph with Flying _ => true | _ => false end.
Definition is_waiting (ph : phase) : bool := match ph with Waiting _ => true | _ => false end.

(** [next i]: no release of unit i before.  [others]: what is on the drive beside units: best effort
    and requests beyond any contract.  [sent_at], [sent_k]: the last dispatch and what was on the
    drive just after it. *)
Record state := State {
  now : nat; unit : nat -> phase; next : nat -> nat; others : nat; sent_at : nat; sent_k : nat }.

Inductive event :=
| Tick                                   (* one nanosecond passes *)
| Release (i : nat)
| Dispatch (X : nat -> bool) (a : nat)   (* the units of X and a other requests are sent *)
| Complete (i : nat)
| CompleteOther
| Cancel (i : nat).                      (* a waiting unit's request is withdrawn *)

Definition set (f : nat -> phase) (i : nat) (x : phase) : nat -> phase :=
  fun j => if j =? i then x else f j.

Definition send (X : nat -> bool) (f : nat -> phase) : nat -> phase :=
  fun i => match f i with Waiting r => if X i then Flying r else Waiting r | ph => ph end.

Section Gated.
Variable n : nat.                        (* units 0 .. n-1 *)
Variables p d : nat -> nat.              (* periods and the deadlines that the policy knows *)
Variable K : nat.                        (* the most that the drive accepts *)
Variable drain : nat -> nat.

Definition flying (f : nat -> phase) : nat := number n (fun i => is_flying (f i)).
Definition outstanding (s : state) : nat := flying (unit s) + others s.
(** m: units not on the drive. *)
Definition left_off (f : nat -> phase) : nat := number n (fun i => negb (is_flying (f i))).

(** The conditions of a dispatch at t, for deadlines d', after which the units are f and k requests are
    outstanding: (8.5) and (8.6). *)
Definition allowed (d' : nat -> nat) (t k : nat) (f : nat -> phase) (nx : nat -> nat) : Prop :=
  forall i, i < n ->
    match f i with
    | Flying r => t + drain k <= r + d' i
    | Waiting r => t + drain k + drain (left_off f) <= r + d' i
    | Idle => t + drain k + drain (left_off f) <= max t (nx i) + d' i
    end.

(** The waiting units that are due no later than waiting unit j. *)
Definition due_up_to (f : nat -> phase) (j : nat) : nat -> bool :=
  fun i => match f i, f j with Waiting r, Waiting r' => r + d i <=? r' + d j | _, _ => false end.

Definition none_allowed (t : nat) (f : nat -> phase) (nx : nat -> nat) : Prop :=
  forall j, j < n -> is_waiting (f j) = true ->
    ~ allowed d t (number n (due_up_to f j)) (send (due_up_to f j) f) nx.

Inductive step : state -> event -> state -> Prop :=
| tick_empty t f nx o t0 k :
    flying f + o = 0 -> (forall i, i < n -> is_waiting (f i) = false) ->
    step (State t f nx o t0 k) Tick (State (S t) f nx o t0 k)
| tick_busy t f nx o t0 k :
    0 < flying f + o -> t < t0 + drain k ->
    step (State t f nx o t0 k) Tick (State (S t) f nx o t0 k)
| release t f nx o t0 k i :
    i < n -> f i = Idle -> nx i <= t ->
    step (State t f nx o t0 k) (Release i)
         (State t (set f i (Waiting t)) (upd nx i (t + p i)) o t0 k)
| dispatch t f nx o t0 k X a k' :
    (forall i, i < n -> X i = true -> is_waiting (f i) = true) ->
    k' = flying (send X f) + o + a -> flying f + o < k' <= K ->
    allowed d t k' (send X f) nx ->
    step (State t f nx o t0 k) (Dispatch X a) (State t (send X f) nx (o + a) t k')
| dispatch_all t f nx t0 k X :
    flying f = 0 -> (forall i, i < n -> X i = is_waiting (f i)) -> 0 < number n X <= K ->
    none_allowed t f nx ->
    step (State t f nx 0 t0 k) (Dispatch X 0) (State t (send X f) nx 0 t (number n X))
| complete t f nx o t0 k i r :
    i < n -> f i = Flying r ->
    step (State t f nx o t0 k) (Complete i) (State t (set f i Idle) nx o t0 k)
| complete_other t f nx o t0 k :
    step (State t f nx (S o) t0 k) CompleteOther (State t f nx o t0 k)
| cancel t f nx o t0 k i r :
    i < n -> f i = Waiting r ->
    step (State t f nx o t0 k) (Cancel i) (State t (set f i Idle) nx o t0 k).

Inductive run : state -> list event -> state -> Prop :=
| run_nil s : run s [] s
| run_cons s ev s' tr s'' : step s ev s' -> run s' tr s'' -> run s (ev :: tr) s''.

(** An empty system; the first releases come at any instants. *)
Definition initial (nx : nat -> nat) : state := State 0 (fun _ => Idle) nx 0 0 0.
Definition reachable (s : state) : Prop := exists nx tr, run (initial nx) tr s.

(** Released at r and not complete. *)
Definition pending (s : state) (i r : nat) : Prop := unit s i = Waiting r \/ unit s i = Flying r.

(** (8.4) *)
Definition worst : nat := list_max (map (fun s => drain s + drain (n - s)) (seq 0 n)).
End Gated.
