(** * The model of dual-queue FIFO (dqf).

    Stands for crates/policy/src/{dqf,dual_queue,kind_queue}.rs seen from outside, through
    observe and decide, beside an adversarial device and adversarial sporadic tasks.  Time is a
    natural number of nanoseconds.  Whoever believes this page believes the theorems: nothing
    else is assumed, and no axiom is used.

    - The policy sends to an idle device only, at once, the oldest min(z, queued) real-time
      requests, and fills with best effort to at most max(j, beta).  *Which* best-effort requests
      go is not in the model: any order of best effort is covered.
    - The device completes a batch of m requests in any order within b(m) of its dispatch.
    - Task i releases jobs of at most e(i) requests, in one step each, at least p(i) apart.
    - Events of one instant come in any order.

    Not modelled: batches limited by cost, a change of the plan, a full queue, the payment of
    overruns (which only removes best effort), the host's own time. *)
From Coq Require Import List Arith.
Import ListNotations.

(** The sum of f over the tasks 0 .. m-1. *)
Fixpoint sum (m : nat) (f : nat -> nat) : nat :=
  match m with 0 => 0 | S m' => sum m' f + f m' end.

(** A real-time request: the task and the instant of release of its job.  Periods are
    positive, so the pair names the job. *)
Record req := Req { rtask : nat; rrel : nat }.

Definition upd (f : nat -> nat) (i x : nat) : nat -> nat :=
  fun j => if j =? i then x else f j.

(** A batch on the device: dispatched at [started] with [size] requests (real time and best
    effort); those real-time and so many best-effort ones are not yet complete. *)
Record batch := Batch { started : nat; size : nat; real_time : list req; best_effort : nat }.

(** [earliest i]: no release of task i before. *)
Record state := State
  { now : nat; queue : list req; device : option batch; earliest : nat -> nat }.

Inductive event :=
| Tick                       (* one nanosecond passes *)
| Release (i q : nat)        (* task i releases a job of q requests, in one step *)
| Dispatch (m : nat)         (* a batch of m requests in all goes to the idle device *)
| Complete (r : req)         (* the device completes a real-time request *)
| CompleteBestEffort
| Cancel (r : req).          (* a queued request is withdrawn *)

Section Model.
Variable n : nat.                     (* tasks 0 .. n-1 *)
Variables e p : nat -> nat.           (* requests of a job, period *)
Variables z beta : nat.               (* batch limit, best-effort fill *)
Variable b : nat -> nat.              (* batch table *)

Definition E : nat := sum n e.
(** Cost of a batch with j real-time requests: f(j) = max(j, beta). *)
Definition bt (j : nat) : nat := b (max j beta).

(** The device is free again when the last request of its batch is complete. *)
Definition remaining (f : batch) : option batch :=
  match real_time f, best_effort f with [], 0 => None | _, _ => Some f end.

(** All events of one instant may come in any order the rules allow: releases before or after
    a dispatch, completions of a batch in any order and at any time up to b(size).
    Best-effort requests have no arrival rule, so the fill is any number up to
    max(j, beta) - j: what their queue holds then.  The host dispatches at once:
    time does not pass while the device is idle and a real-time request waits. *)
Inductive step : state -> event -> state -> Prop :=
| tick_idle t nx :
    step (State t [] None nx) Tick (State (S t) [] None nx)
| tick_busy t Q f nx :
    t < started f + b (size f) ->
    step (State t Q (Some f) nx) Tick (State (S t) Q (Some f) nx)
| release t Q d nx i q :
    i < n -> nx i <= t -> q <= e i ->
    step (State t Q d nx) (Release i q)
         (State t (Q ++ repeat (Req i t) q) d (upd nx i (t + p i)))
| dispatch t Q nx j m :
    j = min z (length Q) -> 1 <= m -> j <= m <= max j beta ->
    step (State t Q None nx) (Dispatch m)
         (State t (skipn j Q) (Some (Batch t m (firstn j Q) (m - j))) nx)
| complete t Q t0 m l1 r l2 k nx :
    step (State t Q (Some (Batch t0 m (l1 ++ r :: l2) k)) nx) (Complete r)
         (State t Q (remaining (Batch t0 m (l1 ++ l2) k)) nx)
| complete_best_effort t Q t0 m l k nx :
    step (State t Q (Some (Batch t0 m l (S k))) nx) CompleteBestEffort
         (State t Q (remaining (Batch t0 m l k)) nx)
| cancel t l1 r l2 d nx :
    step (State t (l1 ++ r :: l2) d nx) (Cancel r) (State t (l1 ++ l2) d nx).

(** Executions, from an empty system; first releases at any instants. *)
Inductive run : state -> list event -> state -> Prop :=
| run_nil s : run s [] s
| run_cons s ev s' tr s'' : step s ev s' -> run s' tr s'' -> run s (ev :: tr) s''.

Definition initial (nx : nat -> nat) : state := State 0 [] None nx.
Definition reachable (s : state) : Prop := exists nx tr, run (initial nx) tr s.

(** Released and not complete. *)
Definition pending (r : req) (s : state) : Prop :=
  In r (queue s) \/ exists f, device s = Some f /\ In r (real_time f).

End Model.
