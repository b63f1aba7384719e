(** * The gated drain: every request of every task is complete by its release + R, with
    R = max(d, W), W = max over s of drain(s) + drain(n - s), if either W <= d <= p for every task
    or R < p for every task (crates/analysis/src/gated_drain.rs, `responses`). *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists GatedModel GatedUnits.
Import ListNotations.

Section Gated.
Variable n : nat.
Variables p d : nat -> nat.
Variable K : nat.
Variable drain : nat -> nat.

Notation flying := (flying n).
Notation outstanding := (outstanding n).
Notation left_off := (left_off n).
Notation allowed := (allowed n drain).
Notation due_up_to := (due_up_to d).
Notation none_allowed := (none_allowed n d drain).
Notation step := (step n p d K drain).
Notation run := (run n p d K drain).
Notation reachable := (reachable n p d K drain).
Notation worst := (worst n drain).

(** ** The bound R: the deadline or worst, whichever is longer. *)
Variable R : nat -> nat.
Hypothesis drain_mono : forall i j, i <= j -> drain i <= drain j.
Hypothesis worst_R : forall i, i < n -> worst <= R i.
Hypothesis d_R : forall i, i < n -> d i <= R i.
Hypothesis R_periods : forall i, i < n -> R i <= p i.
Hypothesis R_kind : (forall i, i < n -> R i = d i) \/ (forall i, i < n -> R i < p i).
Hypothesis n_fits : n <= K.

Lemma pairs_worst : forall s, s < n -> drain s + drain (n - s) <= worst.
Proof.
  intros s Hs. unfold worst.
  pose proof (proj1 (list_max_le (map (fun s => drain s + drain (n - s)) (seq 0 n)) _) (le_n _)) as H.
  rewrite Forall_forall in H. apply H. apply in_map_iff. exists s.
  split; [reflexivity|apply in_seq; lia].
Qed.

Lemma drain_all : forall i, i < n -> drain n <= worst.
Proof.
  intros i Hi. pose proof (pairs_worst 0). replace (n - 0) with n in H by lia. lia.
Qed.

(** The plan "stop, wait until the drive is empty, send what waits in one batch" works.  t0: the last
    dispatch; e: when the drive is empty if nothing more is sent; M: the units that were not on
    the drive after it. *)
Record inv_by (t0 e : nat) (M : nat -> bool) (s : state) : Prop := {
  i_now : t0 <= now s <= e;
  i_drive : 0 < outstanding s -> sent_at s + drain (sent_k s) = e;
  i_units : forall i, i < n ->
    match unit s i with
    | Flying r => M i = false /\ e <= r + R i /\ next s i = r + p i
    | Waiting r => (M i = true /\ e + drain (number n M) <= r + R i
                    \/ r = now s /\ now s = e /\ M i = false /\ p i <= R i) /\ next s i = r + p i
    | Idle => if M i then e + drain (number n M) <= max t0 (next s i) + R i
              else e <= next s i /\ (R i < p i -> e < next s i)
    end }.
Definition inv (s : state) : Prop := exists t0 e M, inv_by t0 e M s.

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
    pose proof (drain_all i Hi). pose proof (worst_R i Hi). lia.
Qed.

Lemma inv_dispatch : forall t f nx o t0 k X o' k', inv (State t f nx o t0 k) ->
  allowed R t k' (send X f) nx -> inv (State t (send X f) nx o' t k').
Proof.
  intros t f nx o t0 k X o' k' (t1 & e & M & I) Ha.
  exists t, (t + drain k'), (fun i => negb (is_flying (send X f i))). constructor; simpl.
  - lia.
  - intros _. reflexivity.
  - intros i Hi. specialize (Ha i Hi). unfold left_off in Ha.
    pose proof (i_units _ _ _ _ I i Hi) as H'. simpl in H'.
    destruct (send X f i) eqn:Es; simpl.
    + assumption.
    + assert (f i = Waiting released) as Ef.
      { unfold send in Es. destruct (f i); try discriminate. destruct (X i); congruence. }
      rewrite Ef in H'. destruct H' as [_ Hn]. split; [|assumption]. left. auto.
    + unfold send in Es. destruct (f i) eqn:Ef; try discriminate.
      * destruct (X i); [|discriminate]. injection Es as <-. repeat split; [lia|apply H'].
      * injection Es as <-. repeat split; [lia|apply H'].
Qed.

(** An empty drive with waiting units can be given those that are due first. *)
Lemma some_allowed : forall t f nx t1 k i0, inv (State t f nx 0 t1 k) ->
  (forall i, i < n -> R i = d i) -> flying f = 0 -> i0 < n -> is_waiting (f i0) = true ->
  ~ none_allowed t f nx.
Proof.
  intros t f nx t1 k i0 (t0 & e & M & I) HRd Hf0 Hi0 Hwait.
  pose proof (i_now _ _ _ _ I) as Hnow. simpl in Hnow.
  set (U := fun i => match f i with Waiting r => r + d i <? t + worst | _ => false end).
  assert (HU : forall i, i < n -> U i = true -> is_waiting (f i) = true).
  { intros i Hi H. unfold U in H. destruct (f i); [discriminate|reflexivity|discriminate]. }
  set (X := if number n U =? 0 then (fun i => is_waiting (f i)) else U).
  assert (HX : forall i, i < n -> X i = true -> is_waiting (f i) = true).
  { intros i Hi. unfold X. destruct (number n U =? 0); [auto|apply HU; assumption]. }
  assert (HXpos : 1 <= number n X).
  { unfold X. destruct (Nat.eqb_spec (number n U) 0); [|lia].
    apply (number_pos n _ i0 Hi0). assumption. }
  destruct (send_empty n f X Hf0 HX) as (Hfl & Hleft & Hle).
  assert (Hpair : number n X < n -> drain (number n X) + drain (n - number n X) <= worst)
    by (apply pairs_worst).
  assert (Hone : drain (number n X) <= worst).
  { transitivity (drain n); [apply drain_mono; assumption|apply (drain_all i0 Hi0)]. }
  (* a unit that stays off the drive leaves room in the pair *)
  assert (Hroom : forall i, i < n -> X i = false -> number n X < n).
  { intros i Hi Hx. pose proof (number_not n X).
    pose proof (number_pos n (fun i => negb (X i)) i Hi). simpl in H0. rewrite Hx in H0.
    specialize (H0 eq_refl). lia. }
  (* those that are due soon are of those that the last dispatch counted *)
  assert (HUM : number n U <= number n M).
  { apply number_le. intros i Hi H. unfold U in H.
    pose proof (i_units _ _ _ _ I i Hi) as HI. simpl in HI.
    destruct (f i); try discriminate. apply Nat.ltb_lt in H. specialize (HRd i Hi).
    pose proof (worst_R i Hi). destruct HI as [[[HM _]|HI] _]; [assumption|lia]. }
  assert (Hlate : forall i r, i < n -> f i = Waiting r -> U i = false -> t + worst <= r + d i).
  { intros i r Hi Hf H. unfold U in H. rewrite Hf in H. apply Nat.ltb_ge in H. assumption. }
  assert (Hallowed : allowed d t (number n X) (send X f) nx).
  { intros i Hi. rewrite Hleft.
    pose proof (i_units _ _ _ _ I i Hi) as HI. simpl in HI.
    pose proof (worst_R i Hi) as HW. specialize (HRd i Hi).
    pose proof (HX i Hi) as HXi. pose proof (Hroom i Hi) as Hr.
    unfold send. destruct (f i) as [|r|r] eqn:Ef.
    - assert (X i = false) as HXf by (destruct (X i); [discriminate (HXi eq_refl)|reflexivity]).
      specialize (Hpair (Hr HXf)). lia.
    - destruct (X i) eqn:Ex.
      + destruct (U i) eqn:Eu.
        * (* due soon: counted in the last dispatch's m *)
          assert (X = U) as HXU.
          { unfold X. pose proof (number_pos n U i Hi Eu).
            destruct (Nat.eqb_spec (number n U) 0); [lia|reflexivity]. }
          assert (drain (number n X) <= drain (number n M))
            by (apply drain_mono; rewrite HXU; assumption).
          destruct HI as [[[_ HI]|HI] _]; [lia|].
          unfold U in Eu. rewrite Ef in Eu. apply Nat.ltb_lt in Eu. lia.
        * specialize (Hlate i r Hi Ef Eu). lia.
      + assert (U i = false) as Eu.
        { revert Ex. unfold X. destruct (number n U =? 0); [|auto]. rewrite Ef. discriminate. }
        specialize (Hlate i r Hi Ef Eu). specialize (Hpair (Hr eq_refl)). lia.
    - exfalso. apply (flying_zero n f i r Hf0 Hi Ef). }
  destruct (up_to_the_last n d f X HX) as (j & Hj & Hwj & Hsame); [|assumption|].
  { intros i j r r' Hi Hj Hfi Hfj. unfold X. destruct (number n U =? 0).
    - rewrite Hfi. reflexivity.
    - unfold U. rewrite Hfi, Hfj. rewrite !Nat.ltb_lt. lia. }
  intros Hnone. apply (Hnone j Hj Hwj). rewrite (number_ext n _ X Hsame).
  revert Hallowed. apply allowed_ext. intros i Hi. unfold send. rewrite (Hsame i Hi). reflexivity.
Qed.

(** Below the periods, an empty drive can be given all that waits. *)
Lemma all_allowed : forall t f nx t1 k X, inv (State t f nx 0 t1 k) ->
  (forall i, i < n -> R i < p i) -> flying f = 0 ->
  (forall i, i < n -> X i = is_waiting (f i)) -> allowed R t (number n X) (send X f) nx.
Proof.
  intros t f nx t1 k X (t0 & e & M & I) Hstrict Hf0 HX.
  pose proof (i_now _ _ _ _ I) as Hnow. simpl in Hnow.
  destruct (send_empty n f X Hf0) as (Hfl & Hleft & Hle);
    [intros i Hi Hx; rewrite <- HX by assumption; assumption|].
  assert (HXM : number n X <= number n M).
  { apply number_le. intros i Hi H. rewrite HX in H by assumption.
    pose proof (i_units _ _ _ _ I i Hi) as HI. simpl in HI. specialize (Hstrict i Hi).
    destruct (f i); try discriminate. destruct HI as [[[HM _]|HI] _]; [assumption|lia]. }
  intros i Hi. rewrite Hleft.
  pose proof (i_units _ _ _ _ I i Hi) as HI. simpl in HI. specialize (Hstrict i Hi).
  pose proof (HX i Hi) as HXi. unfold send. destruct (f i) as [|r|r] eqn:Ef; simpl in HXi.
  - assert (Hlt : number n X < n).
    { pose proof (number_not n X). pose proof (number_pos n (fun i => negb (X i)) i Hi) as H'.
      simpl in H'. rewrite HXi in H'. specialize (H' eq_refl). lia. }
    pose proof (pairs_worst _ Hlt). pose proof (worst_R i Hi). lia.
  - rewrite HXi. assert (drain (number n X) <= drain (number n M)) by (apply drain_mono; assumption).
    destruct HI as [[[_ HI]|HI] _]; lia.
  - exfalso. apply (flying_zero n f i r Hf0 Hi Ef).
Qed.

Lemma inv_idle : forall t f nx o t0 k i, inv (State t f nx o t0 k) -> i < n ->
  is_waiting (f i) || is_flying (f i) = true -> inv (State t (set f i Idle) nx o t0 k).
Proof.
  intros t f nx o t0 k i (t1 & e & M & I) Hin Hp. exists t1, e, M.
  pose proof (i_drive _ _ _ _ I) as Hd. pose proof (i_now _ _ _ _ I) as Hnow.
  unfold outstanding in *. simpl in *. constructor; simpl.
  - assumption.
  - intros Ho. apply Hd.
    assert (flying (set f i Idle) <= flying f).
    { apply number_le. intros j Hj. unfold set. destruct (Nat.eqb_spec j i); [discriminate|auto]. }
    unfold outstanding in Ho. simpl in Ho. lia.
  - intros j Hj. unfold set. destruct (Nat.eqb_spec j i) as [->|].
    + pose proof (i_units _ _ _ _ I i Hj) as H'. simpl in H'. pose proof (R_periods i Hj).
      destruct (f i); try discriminate.
      * destruct H' as [[(-> & H')|(H1 & H2 & -> & H3)] Hn]; lia.
      * destruct H' as (-> & He & Hn). lia.
    + apply (i_units _ _ _ _ I j Hj).
Qed.

Lemma inv_step : forall s ev s', inv s -> step s ev s' -> inv s'.
Proof.
  intros s ev s' Hinv Hstep. destruct Hstep.
  - apply inv_start; [assumption|]. intros i Hi. specialize (H0 i Hi).
    destruct (f i) eqn:Ef; [reflexivity|discriminate|].
    exfalso. apply (flying_zero n f i released); [lia|assumption|assumption].
  - destruct Hinv as (t1 & e & M & I). exists t1, e, M.
    pose proof (i_now _ _ _ _ I) as Hnow. pose proof (i_drive _ _ _ _ I) as Hd.
    unfold outstanding in Hd. simpl in *. constructor; simpl.
    + lia.
    + apply Hd.
    + intros i Hi. pose proof (i_units _ _ _ _ I i Hi) as H'. simpl in H'.
      destruct (f i); try assumption. destruct H' as [[H'|H'] Hn]; [tauto|lia].
  - destruct Hinv as (t1 & e & M & I). exists t1, e, M.
    pose proof (i_now _ _ _ _ I) as Hnow. pose proof (i_drive _ _ _ _ I) as Hd.
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
        -- destruct (Nat.lt_ge_cases (R i) (p i)); lia.
      * apply (i_units _ _ _ _ I j Hj).
  - eapply inv_dispatch; [eassumption|]. revert H2. apply allowed_mono. assumption.
  - eapply inv_dispatch; [eassumption|]. destruct R_kind as [HRd|Hstrict].
    + destruct (number_some n X) as (i & Hi & Hx); [lia|]. rewrite H0 in Hx by assumption.
      exfalso. eapply some_allowed; eassumption.
    + eapply all_allowed; eassumption.
  - eapply inv_idle; [eassumption|assumption|]. rewrite H0. reflexivity.
  - destruct Hinv as (t1 & e & M & I). exists t1, e, M. constructor; simpl; try apply I.
    intros Ho. apply (i_drive _ _ _ _ I). unfold outstanding in *. simpl in *. lia.
  - eapply inv_idle; [eassumption|assumption|]. rewrite H0. reflexivity.
Qed.

Lemma inv_reachable : forall s, reachable s -> inv s.
Proof.
  intros s (nx & tr & Hrun).
  assert (H0 : inv (initial nx)).
  { apply inv_start; [|reflexivity]. unfold flying. rewrite Nat.add_0_r. apply sum_zero. reflexivity. }
  induction Hrun; [assumption|]. apply IHHrun. eapply inv_step; eassumption.
Qed.

(** Nothing pending is older than R, and no release is held back in time by "completions first". *)
Lemma pending_bound : forall s i r, reachable s -> i < n -> pending s i r ->
  now s <= r + R i /\ now s <= next s i.
Proof.
  intros s i r Hs Hi H. destruct (inv_reachable s Hs) as (t0 & e & M & I).
  pose proof (i_now _ _ _ _ I) as Hnow. pose proof (i_units _ _ _ _ I i Hi) as HU.
  pose proof (R_periods i Hi). destruct H as [H|H]; rewrite H in HU; lia.
Qed.

(** What is released is complete, or cancelled, by its release + R. *)
Lemma ends_in_time : forall s tr s' i r, run s tr s' -> reachable s -> i < n -> pending s i r ->
  r + R i < now s' -> exists tr1 ev tr2 s1 s2, tr = tr1 ++ ev :: tr2 /\ run s tr1 s1 /\
    step s1 ev s2 /\ (ev = Complete i \/ ev = Cancel i) /\ pending s1 i r /\ now s1 <= r + R i.
Proof.
  intros s tr s' i r Hrun Hs Hi Hp Hlate. induction Hrun as [s|s ev s1 tr s' Hstep Hrun IH].
  - destruct (pending_bound s i r Hs Hi Hp). lia.
  - assert (Hdec : (ev = Complete i \/ ev = Cancel i) \/ pending s1 i r).
    { unfold pending in *. destruct Hstep; simpl in *; auto.
      - unfold set. destruct (Nat.eqb_spec i i0) as [->|]; [destruct Hp; congruence|auto].
      - unfold send. destruct Hp as [-> | ->]; [destruct (X i)|]; auto.
      - unfold send. destruct Hp as [-> | ->]; [destruct (X i)|]; auto.
      - unfold set. destruct (Nat.eqb_spec i i0) as [->|]; auto.
      - unfold set. destruct (Nat.eqb_spec i i0) as [->|]; auto. }
    destruct Hdec as [Hev|Hp1].
    + exists [], ev, tr, s, s1. repeat split; [constructor|assumption|assumption|assumption|].
      apply (pending_bound s i r Hs Hi Hp).
    + destruct IH as (tr1 & ev' & tr2 & sa & sb & -> & Hr & H); [|assumption|assumption|].
      { destruct Hs as (nx & tr0 & Hr0). exists nx, (tr0 ++ [ev]).
        eapply run_app; [exact Hr0|]. econstructor; [exact Hstep|constructor]. }
      exists (ev :: tr1), ev', tr2, sa, sb. split; [reflexivity|]. split; [|assumption].
      econstructor; eassumption.
Qed.
End Gated.

(** ** Gated drain, closed. *)
Theorem gated_drain : forall n p d K drain,
  (forall i j, i <= j -> drain i <= drain j) -> n <= K ->
  let R := fun i => max (d i) (worst n drain) in
  (forall i, i < n -> worst n drain <= d i <= p i) \/ (forall i, i < n -> R i < p i) ->
  (* what is released is complete, or cancelled, by its release + R *)
  (forall s i s1 tr s', reachable n p d K drain s ->
     step n p d K drain s (Release i) s1 -> run n p d K drain s1 tr s' -> now s + R i < now s' ->
     exists tr1 ev tr2 s2 s3, tr = tr1 ++ ev :: tr2 /\ run n p d K drain s1 tr1 s2 /\
       step n p d K drain s2 ev s3 /\ (ev = Complete i \/ ev = Cancel i) /\
       pending s2 i (now s) /\ now s2 <= now s + R i) /\
  (* nothing pending is older, and its unit's next release is not held back *)
  (forall s i r, reachable n p d K drain s -> i < n -> pending s i r ->
     now s <= r + R i /\ now s <= next s i) /\
  (* and time can always pass *)
  (forall s, exists tr s', run n p d K drain s tr s' /\ now s' = S (now s)).
Proof.
  intros n p d K drain Hmono HK R Hkind.
  assert (HW : forall i, i < n -> worst n drain <= R i) by (intros; unfold R; lia).
  assert (HdR : forall i, i < n -> d i <= R i) by (intros; unfold R; lia).
  assert (HRp : forall i, i < n -> R i <= p i).
  { intros i Hi. destruct Hkind as [H|H]; specialize (H i Hi); unfold R in *; lia. }
  assert (HRk : (forall i, i < n -> R i = d i) \/ (forall i, i < n -> R i < p i)).
  { destruct Hkind as [H|H]; [left|right; assumption]. intros i Hi. specialize (H i Hi).
    unfold R. lia. }
  repeat split.
  - intros s i s1 tr s' Hs Hstep Hrun Hlate.
    apply (ends_in_time n p d K drain R Hmono HW HdR HRp HRk HK s1 tr s' i (now s)); auto.
    + destruct Hs as (nx & tr0 & Hr0). exists nx, (tr0 ++ [Release i]).
      eapply run_app; [exact Hr0|]. econstructor; [exact Hstep|constructor].
    + inversion Hstep. assumption.
    + inversion Hstep; subst. left. simpl. unfold set. rewrite Nat.eqb_refl. reflexivity.
  - apply (pending_bound n p d K drain R Hmono HW HdR HRp HRk HK s i r); assumption.
  - apply (pending_bound n p d K drain R Hmono HW HdR HRp HRk HK s i r); assumption.
  - apply time_passes. assumption.
Qed.

(** If W <= d <= p, the conditions allow an empty drive those of the waiting units that are due first:
    [dispatch_all] never happens. *)
Theorem gated_never_sticks : forall n p d K drain,
  (forall i j, i <= j -> drain i <= drain j) -> n <= K ->
  (forall i, i < n -> worst n drain <= d i <= p i) ->
  forall s i, reachable n p d K drain s -> outstanding n s = 0 -> i < n ->
    is_waiting (unit s i) = true -> ~ none_allowed n d drain (now s) (unit s) (next s).
Proof.
  intros n p d K drain Hmono HK HW s i Hs Hout Hi Hw. destruct s as [t f nx o t0 k].
  unfold outstanding in Hout. simpl in *. assert (o = 0) as -> by lia.
  assert (Hinv : inv n p drain d (State t f nx 0 t0 k)).
  { apply (inv_reachable n p d K drain d); auto; try (intros; apply HW; assumption). }
  apply (some_allowed n p d K drain d Hmono (fun i Hi => proj1 (HW i Hi)) HK
    t f nx t0 k i Hinv); auto; lia.
Qed.

(** One unit without best effort is sent at once: its bound is drain(1), whatever its deadline. *)
Theorem gated_alone : forall p d K drain, drain 1 <= p 0 ->
  forall nx tr s r, run 1 p d K drain (initial nx) tr s -> (forall X a, In (Dispatch X a) tr -> a = 0) ->
  pending s 0 r -> now s <= r + drain 1 /\ now s <= next s 0.
Proof.
  intros p d K drain Hp nx tr s r Hrun Halone Hpend.
  set (inv := fun s => others s = 0 /\ match unit s 0 with
    | Idle => True
    | Waiting r => now s = r /\ next s 0 = r + p 0
    | Flying r => now s <= sent_at s + drain (sent_k s) /\ sent_at s = r /\ sent_k s = 1
                  /\ next s 0 = r + p 0 end).
  assert (Hinv : inv s).
  { assert (H0 : inv (initial nx)) by (split; [reflexivity|exact I]).
    clear Hpend. induction Hrun as [s|s ev s1 tr s' Hstep Hrun IH]; [assumption|].
    apply IH; [intros X a H; apply (Halone X a); right; assumption|].
    destruct H0 as [Ho Hu]. unfold inv. destruct Hstep; simpl in *; subst.
    - split; [reflexivity|]. specialize (H0 0 Nat.lt_0_1). unfold flying, number in H. simpl in H.
      destruct (f 0); [exact I|discriminate|simpl in H; lia].
    - split; [reflexivity|]. unfold flying, number in H. simpl in H.
      destruct (f 0); simpl in H; [exact I|lia|lia].
    - split; [reflexivity|]. assert (i = 0) as -> by lia. unfold set, upd. simpl. lia.
    - assert (a = 0) as -> by (apply (Halone X a); left; reflexivity). split; [reflexivity|].
      unfold flying, number in *. simpl in *. unfold send in *. destruct (f 0); [exact I| |].
      + destruct (X 0); simpl in *; lia.
      + simpl in *. lia.
    - split; [reflexivity|]. unfold number in *. simpl in *. unfold send. specialize (H0 0 Nat.lt_0_1).
      destruct (f 0) eqn:Ef; [exact I| |].
      + rewrite H0. simpl. lia.
      + exfalso. apply (flying_zero 1 f 0 released H); [lia|assumption].
    - assert (i = 0) as -> by lia. split; [reflexivity|]. unfold set. simpl. exact I.
    - lia.
    - assert (i = 0) as -> by lia. split; [reflexivity|]. unfold set. simpl. exact I. }
  destruct Hinv as [_ Hu]. destruct Hpend as [H|H]; rewrite H in Hu; [lia|].
  destruct Hu as (H1 & H2 & H3 & H4). rewrite H3 in H1. lia.
Qed.
