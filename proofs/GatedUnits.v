(** * Numbers of units, and that time can always pass in the model of the gated drain. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists GatedModel.
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

(** ** Numbers of units *)
Lemma number_le : forall X Y, (forall i, i < n -> X i = true -> Y i = true) ->
  number n X <= number n Y.
Proof.
  intros X Y H. apply sum_le. intros i Hi. specialize (H i Hi).
  destruct (X i); [rewrite H by reflexivity|]; destruct (Y i); lia.
Qed.
Lemma number_ext : forall X Y, (forall i, i < n -> X i = Y i) -> number n X = number n Y.
Proof. intros X Y H. apply sum_ext. intros i Hi. rewrite H by assumption. reflexivity. Qed.
Lemma number_not : forall X, number n X + number n (fun i => negb (X i)) = n.
Proof.
  intros X. unfold number. rewrite <- sum_plus.
  induction n; simpl; [reflexivity|]. rewrite IHn0. destruct (X n0); simpl; lia.
Qed.
Lemma number_pos : forall X i, i < n -> X i = true -> 1 <= number n X.
Proof.
  intros X i Hi HX. unfold number.
  pose proof (sum_term n (fun i => if X i then 1 else 0) i Hi) as H. simpl in H.
  rewrite HX in H. assumption.
Qed.
Lemma number_zero : forall X, number n X = 0 -> forall i, i < n -> X i = false.
Proof.
  intros X H i Hi. destruct (X i) eqn:Ex; [|reflexivity].
  pose proof (number_pos X i Hi Ex). lia.
Qed.
Lemma number_some : forall X, 0 < number n X -> exists i, i < n /\ X i = true.
Proof.
  intros X H. destruct (existsb X (seq 0 n)) eqn:Eex.
  - apply existsb_exists in Eex. destruct Eex as (j & Hj & Hx). apply in_seq in Hj.
    exists j. split; [lia|assumption].
  - exfalso. assert (number n X = 0); [|lia]. apply sum_zero. intros j Hj.
    destruct (X j) eqn:Ex; [|reflexivity]. assert (existsb X (seq 0 n) = true); [|congruence].
    apply existsb_exists. exists j. split; [apply in_seq; lia|assumption].
Qed.

Lemma flying_zero : forall f i r, flying f = 0 -> i < n -> f i = Flying r -> False.
Proof.
  intros f i r H Hi Hf. pose proof (number_zero _ H i Hi) as H0. simpl in H0.
  rewrite Hf in H0. discriminate.
Qed.

(** Sending X to an empty drive. *)
Lemma send_empty : forall f X,
  flying f = 0 -> (forall i, i < n -> X i = true -> is_waiting (f i) = true) ->
  flying (send X f) = number n X /\ left_off (send X f) = n - number n X /\ number n X <= n.
Proof.
  intros f X H0 HX.
  assert (Heq : flying (send X f) = number n X).
  { apply number_ext. intros i Hi.
    pose proof (number_zero _ H0 i Hi) as Hf. simpl in Hf. unfold send.
    specialize (HX i Hi). destruct (f i); simpl in *; try discriminate.
    - destruct (X i); [discriminate (HX eq_refl)|reflexivity].
    - destruct (X i); reflexivity. }
  pose proof (number_not (fun i => is_flying (send X f i))) as Hn.
  unfold left_off. unfold flying in Heq. rewrite Heq in Hn. repeat split; [assumption|lia|lia].
Qed.

Lemma allowed_mono : forall d1 d2 t k f nx, (forall i, i < n -> d1 i <= d2 i) ->
  allowed d1 t k f nx -> allowed d2 t k f nx.
Proof.
  intros d1 d2 t k f nx H Ha i Hi. specialize (Ha i Hi). specialize (H i Hi).
  destruct (f i); lia.
Qed.

Lemma allowed_ext : forall d' t k f g nx, (forall i, i < n -> f i = g i) ->
  allowed d' t k f nx -> allowed d' t k g nx.
Proof.
  intros d' t k f g nx H Ha i Hi. specialize (Ha i Hi). rewrite <- (H i Hi).
  assert (left_off g = left_off f) as ->; [|assumption].
  apply number_ext. intros j Hj. rewrite (H j Hj). reflexivity.
Qed.

(** A set of waiting units that holds, with each unit, those that are due no later. *)
Lemma up_to_the_last : forall f X,
  (forall i, i < n -> X i = true -> is_waiting (f i) = true) ->
  (forall i j r r', i < n -> j < n -> f i = Waiting r -> f j = Waiting r' -> X j = true ->
    r + d i <= r' + d j -> X i = true) ->
  0 < number n X -> exists j, j < n /\ is_waiting (f j) = true /\
    forall i, i < n -> due_up_to f j i = X i.
Proof.
  intros f X Hw Hdown Hpos.
  set (due := fun i => match f i with Waiting r => r + d i | _ => 0 end).
  assert (Hlast : forall m, m <= n -> (exists i, i < m /\ X i = true) ->
    exists j, j < m /\ X j = true /\ forall i, i < m -> X i = true -> due i <= due j).
  { induction m as [|m IH]; intros Hm (i & Hi & Hx); [lia|].
    destruct (existsb X (seq 0 m)) eqn:Eex.
    - apply existsb_exists in Eex. destruct Eex as (y & Hy & HXy). apply in_seq in Hy.
      destruct IH as (j & Hj & HXj & Hmax); [lia|exists y; split; [lia|assumption]|].
      destruct (X m) eqn:Em; [destruct (Nat.le_gt_cases (due m) (due j))|].
      + exists j. repeat split; [lia|assumption|]. intros x Hx' HXx.
        destruct (Nat.eq_dec x m) as [->|]; [assumption|apply Hmax; [lia|assumption]].
      + exists m. repeat split; [lia|assumption|]. intros x Hx' HXx.
        destruct (Nat.eq_dec x m) as [->|]; [lia|].
        specialize (Hmax x). assert (due x <= due j) by (apply Hmax; [lia|assumption]). lia.
      + exists j. repeat split; [lia|assumption|]. intros x Hx' HXx.
        destruct (Nat.eq_dec x m) as [->|]; [congruence|apply Hmax; [lia|assumption]].
    - assert (Hnone : forall x, x < m -> X x = false).
      { intros x Hx'. destruct (X x) eqn:Ex; [|reflexivity].
        assert (existsb X (seq 0 m) = true); [|congruence].
        apply existsb_exists. exists x. split; [apply in_seq; lia|assumption]. }
      assert (i = m) as ->.
      { destruct (Nat.eq_dec i m); [assumption|]. rewrite Hnone in Hx by lia. discriminate. }
      exists m. repeat split; [lia|assumption|]. intros x Hx' HXx.
      destruct (Nat.eq_dec x m) as [->|]; [lia|]. rewrite Hnone in HXx by lia. discriminate. }
  destruct (Hlast n (le_n _)) as (j & Hj & HXj & Hmax); [apply number_some; assumption|].
  pose proof (Hw j Hj HXj) as Hwj. exists j. repeat split; [assumption|assumption|].
  intros i Hi. unfold due_up_to. unfold due in Hmax. specialize (Hw i Hi). specialize (Hmax i Hi).
  specialize (Hdown i j). destruct (f j) as [|r'|] eqn:Ej; try discriminate.
  destruct (f i) as [|r|]; destruct (X i) eqn:Ex; try reflexivity; try discriminate (Hw eq_refl).
  - apply Nat.leb_le. apply Hmax. reflexivity.
  - apply Nat.leb_gt. destruct (Nat.le_gt_cases (r + d i) (r' + d j)) as [H|H]; [|assumption].
    discriminate (Hdown r r' Hi Hj eq_refl eq_refl HXj H).
Qed.

(** ** Time can always pass, whatever waits and whatever the drive holds. *)
Definition is_allowed (d' : nat -> nat) (t k : nat) (f : nat -> phase) (nx : nat -> nat) : bool :=
  let empty := t + drain k in
  let served := empty + drain (left_off f) in
  forallb (fun i => match f i with
    | Flying r => empty <=? r + d' i
    | Waiting r => served <=? r + d' i
    | Idle => served <=? max t (nx i) + d' i
    end) (seq 0 n).

Lemma is_allowed_ok : forall d' t k f nx, is_allowed d' t k f nx = true <-> allowed d' t k f nx.
Proof.
  intros d' t k f nx. unfold is_allowed. rewrite forallb_forall. split.
  - intros H i Hi. specialize (H i). rewrite in_seq in H.
    assert (0 <= i < 0 + n) as Hin by lia. specialize (H Hin).
    destruct (f i); apply Nat.leb_le; assumption.
  - intros H i Hi. apply in_seq in Hi. specialize (H i). assert (Hin : i < n) by lia.
    specialize (H Hin). destruct (f i); apply Nat.leb_le; assumption.
Qed.

Definition is_none_allowed (t : nat) (f : nat -> phase) (nx : nat -> nat) : bool :=
  forallb (fun j => negb (is_waiting (f j) &&
    is_allowed d t (number n (due_up_to f j)) (send (due_up_to f j) f) nx)) (seq 0 n).

Lemma is_none_allowed_ok : forall t f nx, is_none_allowed t f nx = true -> none_allowed t f nx.
Proof.
  intros t f nx H j Hj Hw Ha. unfold is_none_allowed in H. rewrite forallb_forall in H.
  specialize (H j). rewrite in_seq in H. assert (0 <= j < 0 + n) as Hin by lia. specialize (H Hin).
  rewrite Hw in H. apply is_allowed_ok in Ha. rewrite Ha in H. discriminate.
Qed.

Lemma run_app : forall s tr s' tr' s'', run s tr s' -> run s' tr' s'' -> run s (tr ++ tr') s''.
Proof.
  intros s tr s' tr' s'' H H'. induction H; simpl; [assumption|]. econstructor; [eassumption|auto].
Qed.

Lemma number_without : forall X i, i < n -> X i = true ->
  number n X = S (number n (fun j => if j =? i then false else X j)).
Proof.
  intros X i Hi HX. unfold number.
  transitivity (sum n (fun j => (if i =? j then 1 else 0)
                                + (if (if j =? i then false else X j) then 1 else 0))).
  - apply sum_ext. intros j _. rewrite (Nat.eqb_sym j i).
    destruct (Nat.eqb_spec i j) as [<-|]; [rewrite HX|]; reflexivity.
  - rewrite sum_plus, sum_one by assumption. reflexivity.
Qed.

Lemma run_completions : forall c t f nx o t0 k, flying f + o <= c ->
  exists tr f', run (State t f nx o t0 k) tr (State t f' nx 0 t0 k) /\ flying f' = 0 /\
    forall i, i < n -> is_waiting (f' i) = is_waiting (f i).
Proof.
  induction c as [|c IH]; intros t f nx o t0 k Hc.
  - exists [], f. replace o with 0 by lia. repeat split; [constructor|lia].
  - destruct o as [|o].
    + destruct (Nat.eq_dec (flying f) 0) as [H0|H0]; [exists [], f; repeat split; [constructor|lia]|].
      destruct (number_some (fun i => is_flying (f i))) as (i & Hi & Hx);
        [unfold GatedModel.flying in *; lia|].
      destruct (f i) as [| |r] eqn:Ef; try discriminate.
      destruct (IH t (set f i Idle) nx 0 t0 k) as (tr & f' & Hr & Hz & Hw).
      { unfold GatedModel.flying in *.
        rewrite (number_without _ i Hi) in Hc by (rewrite Ef; reflexivity).
        enough (number n (fun j => is_flying (set f i Idle j))
          = number n (fun j => if j =? i then false else is_flying (f j))) as -> by lia.
        apply number_ext. intros j _. unfold set. destruct (j =? i); reflexivity. }
      exists (Complete i :: tr), f'. repeat split; [|assumption|].
      * econstructor; [eapply complete; eassumption|exact Hr].
      * intros j Hj. rewrite (Hw j Hj). unfold set.
        destruct (Nat.eqb_spec j i) as [->|]; [rewrite Ef|]; reflexivity.
    + destruct (IH t f nx o t0 k) as (tr & f' & Hr & H); [lia|].
      exists (CompleteOther :: tr), f'. split; [|assumption].
      econstructor; [apply complete_other|exact Hr].
Qed.

Lemma some_dispatch : forall t f nx t0 k i, n <= K -> flying f = 0 -> i < n ->
  is_waiting (f i) = true -> exists X k',
  step (State t f nx 0 t0 k) (Dispatch X 0) (State t (send X f) nx 0 t k') /\
  (forall j, j < n -> X j = true -> is_waiting (f j) = true) /\ 0 < number n X.
Proof.
  intros t f nx t0 k i HK Hf Hi Hw. destruct (is_none_allowed t f nx) eqn:En.
  - apply is_none_allowed_ok in En. pose proof (number_pos (fun j => is_waiting (f j)) i Hi Hw) as Hp.
    destruct (send_empty f (fun j => is_waiting (f j)) Hf) as (_ & _ & Hle); [auto|].
    exists (fun j => is_waiting (f j)), (number n (fun j => is_waiting (f j))).
    split; [|split; [auto|lia]]. apply dispatch_all; auto; lia.
  - unfold is_none_allowed in En. apply Bool.not_true_iff_false in En.
    rewrite forallb_forall in En.
    destruct (existsb (fun j => is_waiting (f j) &&
      is_allowed d t (number n (due_up_to f j)) (send (due_up_to f j) f) nx) (seq 0 n)) eqn:Ex.
    + apply existsb_exists in Ex. destruct Ex as (j & Hj & Ha). apply andb_true_iff in Ha.
      destruct Ha as [Hwj Ha]. apply is_allowed_ok in Ha. apply in_seq in Hj.
      set (X := due_up_to f j) in *.
      assert (HX : forall i, i < n -> X i = true -> is_waiting (f i) = true).
      { intros x _. unfold X, GatedModel.due_up_to. destruct (f x); try discriminate. reflexivity. }
      assert (Hj' : X j = true).
      { unfold X, GatedModel.due_up_to. destruct (f j); try discriminate. apply Nat.leb_refl. }
      assert (Hjn : j < n) by lia. pose proof (number_pos X j Hjn Hj') as Hp.
      destruct (send_empty f X Hf HX) as (Hfl & _ & Hle).
      exists X, (number n X). split; [|split; [assumption|lia]].
      change (State t (send X f) nx 0 t (number n X))
        with (State t (send X f) nx (0 + 0) t (number n X)).
      apply dispatch; [assumption|lia|lia|assumption].
    + exfalso. apply En. intros j Hj. apply negb_true_iff. apply Bool.not_true_iff_false. intros Ha.
      apply Bool.not_true_iff_false in Ex. apply Ex. apply existsb_exists. exists j. auto.
Qed.

Lemma time_passes : n <= K -> forall s, exists tr s', run s tr s' /\ now s' = S (now s).
Proof.
  intros HK [t f nx o t0 k].
  assert (Hserve : forall c f t0 k, flying f = 0 -> number n (fun i => is_waiting (f i)) <= c ->
    exists tr s', run (State t f nx 0 t0 k) tr s' /\ now s' = S t).
  { clear f o t0 k. induction c as [|c IH]; intros f t0 k Hf Hc;
      destruct (Nat.eq_dec (number n (fun i => is_waiting (f i))) 0) as [H0|H0]; try lia.
    1, 2: exists [Tick], (State (S t) f nx 0 t0 k); split; [|reflexivity];
      econstructor; [apply tick_empty; [lia|intros i Hi; apply (number_zero _ H0 i Hi)]|constructor].
    destruct (number_some (fun i => is_waiting (f i))) as (i & Hi & Hw); [lia|].
    destruct (some_dispatch t f nx t0 k i HK Hf Hi Hw) as (X & k' & Hstep & HX & Hp).
    destruct (run_completions _ t (send X f) nx 0 t k' (le_n _)) as (tr1 & f1 & Hr1 & Hf1 & Hw1).
    destruct (IH f1 t k' Hf1) as (tr2 & s' & Hr2 & Hn).
    { destruct (number_some X Hp) as (j & Hj & HXj). pose proof (HX j Hj HXj) as Hwj.
      rewrite (number_without _ j Hj Hwj) in Hc.
      enough (number n (fun i => is_waiting (f1 i))
        <= number n (fun i => if i =? j then false else is_waiting (f i))) by lia.
      apply number_le. intros x Hx. rewrite (Hw1 x Hx). unfold send.
      destruct (Nat.eqb_spec x j) as [->|].
      - destruct (f j); try discriminate. rewrite HXj. discriminate.
      - destruct (f x); try discriminate. reflexivity. }
    exists (Dispatch X 0 :: tr1 ++ tr2), s'. split; [|assumption].
    econstructor; [exact Hstep|]. eapply run_app; eassumption. }
  destruct (run_completions _ t f nx o t0 k (le_n _)) as (tr1 & f1 & Hr1 & Hf1 & _).
  destruct (Hserve _ f1 t0 k Hf1 (le_n _)) as (tr2 & s' & Hr2 & Hn).
  exists (tr1 ++ tr2), s'. split; [eapply run_app; eassumption|assumption].
Qed.
End Gated.
