(** * The gated drain: any dispatch that its conditions allow keeps every deadline, and an empty
    device can always be given some prefix, in order of due, of what waits.

    Stands for crates/policy/src/gated_drain.rs and docs/model.md section 8.  A unit is one
    request of a job; units of one task have the same period and deadline.
    The device honours this and nothing else: if k requests are on it just after a dispatch and
    nothing more is sent, it is empty within drain(k). *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists.
Import ListNotations.

Definition number (n : nat) (X : nat -> bool) : nat := sum n (fun i => if X i then 1 else 0).

Lemma number_le : forall n X Y, (forall i, i < n -> X i = true -> Y i = true) ->
  number n X <= number n Y.
Proof.
  intros n X Y H. apply sum_le. intros i Hi. specialize (H i Hi).
  destruct (X i); [rewrite H by reflexivity|]; destruct (Y i); lia.
Qed.
Lemma number_not : forall n X, number n X + number n (fun i => negb (X i)) = n.
Proof.
  intros n X. unfold number. rewrite <- sum_plus.
  induction n; simpl; [reflexivity|]. rewrite IHn. destruct (X n); simpl; lia.
Qed.
Lemma number_pos : forall n X i, i < n -> X i = true -> 1 <= number n X.
Proof.
  intros n X i Hi HX. unfold number.
  pose proof (sum_term n (fun i => if X i then 1 else 0) i Hi) as H. simpl in H.
  rewrite HX in H. assumption.
Qed.
Lemma number_zero : forall n X, number n X = 0 -> forall i, i < n -> X i = false.
Proof.
  intros n X H i Hi. destruct (X i) eqn:Ex; [|reflexivity].
  pose proof (number_pos n X i Hi Ex). lia.
Qed.

Inductive phase := Idle | Waiting (released : nat) | Flying (released : nat).

Definition is_flying (ph : phase) : bool := match ph with Flying _ => true | _ => false end.
Definition is_waiting (ph : phase) : bool := match ph with Waiting _ => true | _ => false end.

(** [others]: what is on the device beside units; [sent_at], [sent_k]: the last dispatch and what was
    on the device just after it. *)
Record state := State {
  now : nat; unit : nat -> phase; next : nat -> nat; others : nat; sent_at : nat; sent_k : nat }.

Inductive event :=
| Tick | Release (i : nat) | Dispatch (X : nat -> bool) (a : nat) | Complete (i : nat) | CompleteOther.

Definition set (f : nat -> phase) (i : nat) (x : phase) : nat -> phase :=
  fun j => if j =? i then x else f j.

Definition send (X : nat -> bool) (f : nat -> phase) : nat -> phase :=
  fun i => match f i with Waiting r => if X i then Flying r else Waiting r | ph => ph end.

Section Gated.
Variable n : nat.
Variables p d : nat -> nat.
Variable K : nat.                     (* the most that the device accepts *)
Variable drain : nat -> nat.

Definition flying (f : nat -> phase) : nat := number n (fun i => is_flying (f i)).
Definition outstanding (s : state) : nat := flying (unit s) + others s.
(** Units not on the device. *)
Definition left_off (f : nat -> phase) : nat := number n (fun i => negb (is_flying (f i))).

(** What the policy asks of a dispatch at t after which the units are f and k are outstanding. *)
Definition allowed (t k : nat) (f : nat -> phase) (nx : nat -> nat) : Prop :=
  forall i, i < n ->
    match f i with
    | Flying r => t + drain k <= r + d i
    | Waiting r => t + drain k + drain (left_off f) <= r + d i
    | Idle => t + drain k + drain (left_off f) <= max t (nx i) + d i
    end.

(** Releases of an instant come after the completions of their own unit ([Idle] is asked for), in any
    order beside everything else.  The policy may send any waiting units and any other requests
    together that are allowed, or nothing; but time does not pass while the device is empty
    and a unit waits. *)
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
    allowed t k' (send X f) nx ->
    step (State t f nx o t0 k) (Dispatch X a) (State t (send X f) nx (o + a) t k')
| complete t f nx o t0 k i r :
    i < n -> f i = Flying r ->
    step (State t f nx o t0 k) (Complete i) (State t (set f i Idle) nx o t0 k)
| complete_other t f nx o t0 k :
    step (State t f nx (S o) t0 k) CompleteOther (State t f nx o t0 k).

Inductive run : state -> list event -> state -> Prop :=
| run_nil s : run s [] s
| run_cons s ev s' tr s'' : step s ev s' -> run s' tr s'' -> run s (ev :: tr) s''.

Definition initial (nx : nat -> nat) : state := State 0 (fun _ => Idle) nx 0 0 0.
Definition reachable (s : state) : Prop := exists nx tr, run (initial nx) tr s.

(** ** The static condition: W = max drain(s) + drain(n - s) within every deadline. *)
Variable W : nat.
Hypothesis drain_mono : forall i j, i <= j -> drain i <= drain j.
Hypothesis W_pairs : forall s, s < n -> drain s + drain (n - s) <= W.
Hypothesis W_deadlines : forall i, i < n -> W <= d i.
Hypothesis d_periods : forall i, i < n -> d i <= p i.
Hypothesis n_fits : n <= K.

(** ** The invariant.  t0: the last dispatch; e: when the device is empty if nothing more is sent;
    M: the units that were not on the device after it. *)
Record inv_by (t0 e : nat) (M : nat -> bool) (s : state) : Prop := {
  i_now : t0 <= now s <= e;
  i_device : 0 < outstanding s -> sent_at s + drain (sent_k s) = e;
  i_units : forall i, i < n ->
    match unit s i with
    | Flying r => M i = false /\ e <= r + d i /\ next s i = r + p i
    | Waiting r => (M i = true /\ e + drain (number n M) <= r + d i \/ r = now s /\ now s = e /\ M i = false /\ p i <= d i)
                   /\ next s i = r + p i
    | Idle => if M i then e + drain (number n M) <= max t0 (next s i) + d i else e <= next s i /\ (d i < p i -> e < next s i)
    end }.
Definition inv (s : state) : Prop := exists t0 e M, inv_by t0 e M s.

Lemma drain_all : forall i, i < n -> drain n <= W.
Proof. intros i Hi. pose proof (W_pairs 0). replace (n - 0) with n in H by lia. lia. Qed.

Lemma inv_start : forall t f nx o t0 k,
  flying f + o = 0 -> (forall i, i < n -> f i = Idle) -> inv (State t f nx o t0 k).
Proof.
  intros t f nx o t0 k H0 Hidle. exists t, t, (fun _ => true). constructor; simpl.
  - lia.
  - unfold outstanding. simpl. lia.
  - intros i Hi. rewrite Hidle by assumption.
    assert (number n (fun _ => true) = n) as ->.
    { pose proof (number_not n (fun _ => true)). simpl in H.
      assert (number n (fun _ => false) = 0) by (apply sum_zero; reflexivity). lia. }
    pose proof (drain_all i Hi). pose proof (W_deadlines i Hi). lia.
Qed.

Lemma flying_zero : forall f i r, flying f = 0 -> i < n -> f i = Flying r -> False.
Proof.
  intros f i r H Hi Hf. pose proof (number_zero _ _ H i Hi) as H0. simpl in H0.
  rewrite Hf in H0. discriminate.
Qed.

Lemma inv_step : forall s ev s', inv s -> step s ev s' -> inv s'.
Proof.
  intros s ev s' Hinv Hstep. destruct Hstep.
  - apply inv_start; [assumption|]. intros i Hi. specialize (H0 i Hi).
    destruct (f i) eqn:Ef; [reflexivity|discriminate|].
    exfalso. apply (flying_zero f i released); [lia|assumption|assumption].
  - destruct Hinv as (t1 & e & M & I). exists t1, e, M.
    pose proof (i_now _ _ _ _ I) as Hnow. pose proof (i_device _ _ _ _ I) as Hd.
    unfold outstanding in Hd. simpl in *. constructor; simpl.
    + lia.
    + apply Hd.
    + intros i Hi. pose proof (i_units _ _ _ _ I i Hi) as H'. simpl in H'.
      destruct (f i); try assumption. destruct H' as [[H'|H'] Hn]; [tauto|lia].
  - destruct Hinv as (t1 & e & M & I). exists t1, e, M.
    pose proof (i_now _ _ _ _ I) as Hnow. pose proof (i_device _ _ _ _ I) as Hd.
    unfold outstanding in *. simpl in *. constructor; simpl.
    + assumption.
    + intros Ho. apply Hd. 
      assert (flying (set f i (Waiting t)) <= flying f).
      { apply number_le. intros j Hj. unfold set. destruct (Nat.eqb_spec j i); [discriminate|auto]. }
      unfold outstanding in Ho. simpl in Ho. lia.
    + intros j Hj. unfold set, upd. destruct (Nat.eqb_spec j i) as [->|].
      * pose proof (i_units _ _ _ _ I i Hj) as H'. simpl in H'. rewrite H0 in H'.
        split; [|reflexivity]. destruct (M i) eqn:Em; [left|right].
        -- split; [reflexivity|lia].
        -- destruct (Nat.lt_ge_cases (d i) (p i)); lia.
      * apply (i_units _ _ _ _ I j Hj).
  - destruct Hinv as (t1 & e & M & I).
    exists t, (t + drain k'), (fun i => negb (is_flying (send X f i))).
    constructor; simpl.
    + lia.
    + intros _. reflexivity.
    + intros i Hi. specialize (H2 i Hi). unfold left_off in H2.
      pose proof (i_units _ _ _ _ I i Hi) as H'. simpl in H'.
      destruct (send X f i) eqn:Es; simpl.
      * assumption.
      * assert (f i = Waiting released) as Ef.
        { unfold send in Es. destruct (f i); try discriminate. destruct (X i); congruence. }
        rewrite Ef in H'. destruct H' as [_ Hn]. split; [|assumption]. left. auto.
      * unfold send in Es. destruct (f i) eqn:Ef; try discriminate.
        -- destruct (X i); [|discriminate]. injection Es as <-. repeat split; [lia|apply H'].
        -- injection Es as <-. repeat split; [lia|apply H'].
  - destruct Hinv as (t1 & e & M & I). exists t1, e, M.
    pose proof (i_device _ _ _ _ I) as Hd. unfold outstanding in *. simpl in *.
    constructor; simpl.
    + apply I.
    + intros Ho. apply Hd.
      assert (flying (set f i Idle) <= flying f).
      { apply number_le. intros j Hj. unfold set. destruct (Nat.eqb_spec j i); [discriminate|auto]. }
      unfold outstanding in Ho. simpl in Ho. lia.
    + intros j Hj. unfold set. destruct (Nat.eqb_spec j i) as [->|].
      * pose proof (i_units _ _ _ _ I i Hj) as H'. simpl in H'. rewrite H0 in H'.
        destruct H' as (-> & He & ->). pose proof (d_periods i Hj). lia.
      * apply (i_units _ _ _ _ I j Hj).
  - destruct Hinv as (t1 & e & M & I). exists t1, e, M. constructor; simpl; try apply I.
    intros Ho. apply (i_device _ _ _ _ I). unfold outstanding in *. simpl in *. lia.
Qed.

Theorem inv_reachable : forall s, reachable s -> inv s.
Proof.
  intros s (nx & tr & Hrun).
  assert (H0 : inv (initial nx)).
  { apply inv_start; [|reflexivity]. unfold flying. rewrite Nat.add_0_r. apply sum_zero. reflexivity. }
  induction Hrun; [assumption|]. apply IHHrun. eapply inv_step; eassumption.
Qed.

(** ** No deadline is missed. *)
Theorem gated_safe : forall s i r, reachable s -> i < n ->
  unit s i = Waiting r \/ unit s i = Flying r -> now s <= r + d i.
Proof.
  intros s i r Hs Hi H. destruct (inv_reachable s Hs) as (t0 & e & M & I).
  pose proof (i_now _ _ _ _ I) as Hnow. pose proof (i_units _ _ _ _ I i Hi) as HU.
  destruct H as [H|H]; rewrite H in HU; lia.
Qed.

(** The rule "completions first" never holds a release back in time: it only orders one instant. *)
Theorem release_not_held : forall s i r, reachable s -> i < n ->
  unit s i = Waiting r \/ unit s i = Flying r -> now s <= next s i.
Proof.
  intros s i r Hs Hi H. pose proof (gated_safe s i r Hs Hi H).
  destruct (inv_reachable s Hs) as (t0 & e & M & I).
  pose proof (i_units _ _ _ _ I i Hi) as HU. pose proof (d_periods i Hi).
  destruct H as [H|H]; rewrite H in HU; destruct HU as (HU & HN); lia.
Qed.

(** ** The policy never sticks: an empty device with waiting units can be given at least one of them,
    those that are due first, in accordance with the conditions. *)
Definition due_before (s : state) (x : nat) (i : nat) : bool :=
  match unit s i with Waiting r => r + d i <? x | _ => false end.

Lemma send_empty : forall f X,
  flying f = 0 -> (forall i, i < n -> X i = true -> is_waiting (f i) = true) ->
  flying (send X f) = number n X /\ left_off (send X f) = n - number n X /\ number n X <= n.
Proof.
  intros f X H0 HX.
  assert (Heq : flying (send X f) = number n X).
  { unfold flying, number. apply sum_ext. intros i Hi.
    pose proof (number_zero _ _ H0 i Hi) as Hf. simpl in Hf. unfold send.
    specialize (HX i Hi). destruct (f i); simpl in *; try discriminate.
    - destruct (X i); [discriminate (HX eq_refl)|reflexivity].
    - destruct (X i); reflexivity. }
  pose proof (number_not n (fun i => is_flying (send X f i))) as Hn.
  unfold left_off. unfold flying in Heq. rewrite Heq in Hn. repeat split; [assumption|lia|lia].
Qed.

Theorem gated_never_sticks : forall s i, reachable s -> i < n ->
  outstanding s = 0 -> is_waiting (unit s i) = true ->
  exists X s', step s (Dispatch X 0) s' /\
    (exists j, j < n /\ X j = true) /\
    forall j k r r', j < n -> k < n -> unit s j = Waiting r -> unit s k = Waiting r' ->
      X j = true -> X k = false -> r + d j <= r' + d k.
Proof.
  intros s i0 Hs Hi0 Hout Hwait. destruct (inv_reachable s Hs) as (t0 & e & M & I).
  destruct s as [t f nx o t1 k]. unfold outstanding in Hout. simpl in *.
  pose proof (i_now _ _ _ _ I) as Hnow. simpl in Hnow.
  assert (Hf0 : flying f = 0) by lia. assert (Ho : o = 0) by lia. subst o.
  set (s := State t f nx 0 t1 k) in *.
  set (U := due_before s (t + W)).
  assert (HU : forall i, i < n -> U i = true -> is_waiting (f i) = true).
  { intros i Hi H. unfold U, due_before in H. simpl in H. destruct (f i); [discriminate|reflexivity|discriminate]. }
  set (X := if number n U =? 0 then (fun i => is_waiting (f i)) else U).
  assert (HX : forall i, i < n -> X i = true -> is_waiting (f i) = true).
  { intros i Hi. unfold X. destruct (number n U =? 0); [auto|apply HU; assumption]. }
  assert (HXpos : 1 <= number n X).
  { unfold X. destruct (Nat.eqb_spec (number n U) 0); [|lia]. apply (number_pos n _ i0 Hi0). assumption. }
  destruct (send_empty f X Hf0 HX) as (Hfl & Hleft & Hle).
  assert (Hpair : number n X < n -> drain (number n X) + drain (n - number n X) <= W)
    by (apply W_pairs).
  assert (Hone : drain (number n X) <= W).
  { transitivity (drain n); [apply drain_mono; assumption|apply (drain_all i0 Hi0)]. }
  (* a unit that stays off the device leaves room in the pair *)
  assert (Hroom : forall i, i < n -> X i = false -> number n X < n).
  { intros i Hi Hx. pose proof (number_not n X).
    pose proof (number_pos n (fun i => negb (X i)) i Hi). simpl in H0. rewrite Hx in H0.
    specialize (H0 eq_refl). lia. }
  (* those that are due soon are of those that the last dispatch counted *)
  assert (HUM : number n U <= number n M).
  { apply number_le. intros i Hi H. unfold U, due_before in H. simpl in H.
    pose proof (i_units _ _ _ _ I i Hi) as HI. simpl in HI.
    destruct (f i); try discriminate. apply Nat.ltb_lt in H.
    pose proof (W_deadlines i Hi). destruct HI as [[[HM _]|HI] _]; [assumption|lia]. }
  assert (Hlate : forall i r, i < n -> f i = Waiting r -> U i = false -> t + W <= r + d i).
  { intros i r Hi Hf H. unfold U, due_before in H. simpl in H. rewrite Hf in H.
    apply Nat.ltb_ge in H. assumption. }
  exists X. eexists. split; [|split].
  - apply dispatch with (k' := flying (send X f) + 0 + 0); [assumption|reflexivity|lia|].
    intros i Hi. rewrite Hleft, Hfl, !Nat.add_0_r.
    pose proof (i_units _ _ _ _ I i Hi) as HI. simpl in HI.
    pose proof (W_deadlines i Hi) as HW.
    pose proof (HX i Hi) as HXi. pose proof (Hroom i Hi) as Hr.
    unfold send. destruct (f i) as [|r|r] eqn:Ef.
    + assert (X i = false) as HXf by (destruct (X i); [discriminate (HXi eq_refl)|reflexivity]).
      specialize (Hpair (Hr HXf)). lia.
    + destruct (X i) eqn:Ex.
      * destruct (U i) eqn:Eu.
        -- (* due soon: counted in the last dispatch's m *)
           assert (X = U) as HXU.
           { unfold X. pose proof (number_pos n U i Hi Eu).
             destruct (Nat.eqb_spec (number n U) 0); [lia|reflexivity]. }
           assert (drain (number n X) <= drain (number n M)) by (apply drain_mono; rewrite HXU; assumption).
           destruct HI as [[[_ HI]|HI] _]; [lia|].
           unfold U, due_before in Eu. simpl in Eu. rewrite Ef in Eu. apply Nat.ltb_lt in Eu. lia.
        -- specialize (Hlate i r Hi Ef Eu). lia.
      * assert (U i = false) as Eu.
        { revert Ex. unfold X. destruct (number n U =? 0); [|auto]. rewrite Ef. discriminate. }
        specialize (Hlate i r Hi Ef Eu). specialize (Hpair (Hr eq_refl)). lia.
    + exfalso. apply (flying_zero f i r Hf0 Hi Ef).
  - (* somebody goes *)
    destruct (existsb X (seq 0 n)) eqn:Eex.
    + apply existsb_exists in Eex. destruct Eex as (j & Hj & Hx). exists j. split; [|assumption].
      apply in_seq in Hj. lia.
    + exfalso. assert (number n X = 0); [|lia]. apply sum_zero. intros j Hj.
      destruct (X j) eqn:Ex; [|reflexivity]. assert (existsb X (seq 0 n) = true); [|congruence].
      apply existsb_exists. exists j. split; [apply in_seq; lia|assumption].
  - simpl. intros j k0 r r' Hj Hk Hfj Hfk. unfold X.
    destruct (Nat.eqb_spec (number n U) 0).
    + rewrite Hfk. discriminate.
    + intros Huj Huk. specialize (Hlate k0 r' Hk Hfk Huk).
      unfold U, due_before in Huj. simpl in Huj. rewrite Hfj in Huj. apply Nat.ltb_lt in Huj. lia.
Qed.

(** ** The second case of analysis::gated_drain.  If every deadline is below its period, all that waits may
    go together to an empty device, whether or not the policy's own conditions say so; and conditions
    with shorter deadlines d0 are stricter.  So a policy with conditions for d0 that sends all to an
    empty device when its conditions allow nothing keeps d = max(d0, W), if that is below every p. *)
Theorem gated_all_may_go : (forall i, i < n -> d i < p i) ->
  forall s i0, reachable s -> i0 < n -> outstanding s = 0 -> is_waiting (unit s i0) = true ->
  exists s', step s (Dispatch (fun i => is_waiting (unit s i)) 0) s'.
Proof.
  intros Hstrict s i0 Hs Hi0 Hout Hwait. destruct (inv_reachable s Hs) as (t0 & e & M & I).
  destruct s as [t f nx o t1 k]. unfold outstanding in Hout. simpl in *.
  pose proof (i_now _ _ _ _ I) as Hnow. simpl in Hnow.
  assert (Hf0 : flying f = 0) by lia. assert (Ho : o = 0) by lia. subst o.
  set (X := fun i => is_waiting (f i)).
  assert (HX : forall i, i < n -> X i = true -> is_waiting (f i) = true) by (intros; assumption).
  destruct (send_empty f X Hf0 HX) as (Hfl & Hleft & Hle).
  assert (HXM : number n X <= number n M).
  { apply number_le. intros i Hi H. unfold X in H. pose proof (i_units _ _ _ _ I i Hi) as HI.
    simpl in HI. specialize (Hstrict i Hi). destruct (f i); try discriminate.
    destruct HI as [[[HM _]|HI] _]; [assumption|lia]. }
  pose proof (number_pos n X i0 Hi0 Hwait) as HXpos.
  eexists. apply dispatch with (k' := flying (send X f) + 0 + 0); [assumption|reflexivity|lia|].
  intros i Hi. rewrite Hleft, Hfl, !Nat.add_0_r.
  pose proof (i_units _ _ _ _ I i Hi) as HI. simpl in HI. specialize (Hstrict i Hi).
  unfold send. destruct (f i) as [|r|r] eqn:Ef.
  - assert (Hlt : number n X < n).
    { pose proof (number_not n X). pose proof (number_pos n (fun i => negb (X i)) i Hi) as H'.
      unfold X in H' at 1. rewrite Ef in H'. specialize (H' eq_refl). lia. }
    pose proof (W_pairs _ Hlt). pose proof (W_deadlines i Hi). lia.
  - assert (X i = true) as -> by (unfold X; rewrite Ef; reflexivity).
    assert (drain (number n X) <= drain (number n M)) by (apply drain_mono; assumption).
    destruct HI as [[[_ HI]|HI] _]; lia.
  - exfalso. apply (flying_zero f i r Hf0 Hi Ef).
Qed.

End Gated.

(** ** Gated drain, closed: the bound is the deadline, on a device that accepts K requests. *)
Theorem gated_drain : forall n p d K drain W,
  (forall i j, i <= j -> drain i <= drain j) ->
  (forall s, s < n -> drain s + drain (n - s) <= W) ->
  (forall i, i < n -> W <= d i) -> (forall i, i < n -> d i <= p i) -> n <= K ->
  (* no unit that waits or is on the device is past its deadline *)
  (forall s i r, reachable n p d K drain s -> i < n ->
     unit s i = Waiting r \/ unit s i = Flying r -> now s <= r + d i) /\
  (* and an empty device can be given some of the waiting units, those that are due first *)
  (forall s i, reachable n p d K drain s -> i < n ->
     outstanding n s = 0 -> is_waiting (unit s i) = true ->
     exists X s', step n p d K drain s (Dispatch X 0) s' /\
       (exists j, j < n /\ X j = true) /\
       forall j k r r', j < n -> k < n -> unit s j = Waiting r -> unit s k = Waiting r' ->
         X j = true -> X k = false -> r + d j <= r' + d k).
Proof.
  intros n p d K drain W Hmono Hpairs HW Hd HK. split.
  - intros s i r Hs. apply (gated_safe n p d K drain W Hpairs HW Hd HK s i r Hs).
  - apply (gated_never_sticks n p d K drain W Hmono Hpairs HW Hd HK).
Qed.

Lemma allowed_mono : forall n d0 d drain t k f nx, (forall i, i < n -> d0 i <= d i) ->
  allowed n d0 drain t k f nx -> allowed n d drain t k f nx.
Proof.
  intros n d0 d drain t k f nx H Ha i Hi. specialize (Ha i Hi). specialize (H i Hi).
  destruct (f i); lia.
Qed.
