(** * Theorems 2 and 3: for z >= E the bound is the longest pair of batches, and it is reached.

    R = max over sets S of tasks of bt(e(S)) + bt(E - e(S)),  bt(j) = b(max(j, beta)),
    for every task, if R < p_i for all i.  beta = 0 is Theorem 2, beta > 0 is Theorem 3.
    [worst] is computed as crates/analysis/src/dqf/two_batches.rs does: over subset sums. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists Backlog.
Import ListNotations.

(** ** Pieces of executions *)
Section Runs.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable b : nat -> nat.
Notation step := (step n e p z beta b).
Notation run := (run n e p z beta b).

Lemma run_app : forall s tr s' tr' s'', run s tr s' -> run s' tr' s'' -> run s (tr ++ tr') s''.
Proof.
  intros s tr s' tr' s'' H H'. induction H; simpl; [assumption|].
  econstructor; [eassumption|]. apply IHrun. assumption.
Qed.

Definition jobs_of (t : nat) (l : list nat) : list req := flat_map (fun i => repeat (Req i t) (e i)) l.

Lemma run_releases : forall l t Q d nx,
  NoDup l -> (forall i, In i l -> i < n /\ nx i <= t) ->
  exists tr nx', run (State t Q d nx) tr (State t (Q ++ jobs_of t l) d nx') /\
    forall i, ~ In i l -> nx' i = nx i.
Proof.
  induction l as [|i l IH]; intros t Q d nx Hnd Hl; simpl.
  - exists [], nx. rewrite app_nil_r. split; [constructor|reflexivity].
  - inversion Hnd; subst.
    destruct (IH t (Q ++ repeat (Req i t) (e i)) d (upd nx i (t + p i))) as (tr & nx' & Hrun & Hnx).
    + assumption.
    + intros j Hj. destruct (Hl j (or_intror Hj)) as [Hn Ht]. split; [assumption|].
      unfold upd. destruct (Nat.eqb_spec j i); [subst; contradiction|assumption].
    + exists (Release i (e i) :: tr), nx'. split.
      * econstructor; [|rewrite app_assoc; exact Hrun].
        destruct (Hl i (or_introl eq_refl)). apply release; auto.
      * intros j Hj. rewrite Hnx by tauto. unfold upd.
        destruct (Nat.eqb_spec j i); [subst; tauto|reflexivity].
Qed.

Lemma run_ticks : forall d t Q f nx, t + d <= started f + b (size f) ->
  exists tr, run (State t Q (Some f) nx) tr (State (t + d) Q (Some f) nx).
Proof.
  induction d; intros t Q f nx H.
  - exists []. rewrite Nat.add_0_r. constructor.
  - destruct (IHd (S t) Q f nx) as (tr & Hrun); [lia|]. exists (Tick :: tr).
    econstructor; [apply tick_busy; lia|]. replace (t + S d) with (S t + d) by lia. assumption.
Qed.

Lemma run_completions : forall l k t Q t0 m nx, l <> [] \/ 0 < k ->
  exists tr, run (State t Q (Some (Batch t0 m l k)) nx) tr (State t Q None nx).
Proof.
  intros l k. remember (length l + k) as c. revert l k Heqc.
  induction c as [|c IH]; intros l k Hc t Q t0 m nx H.
  - destruct l; simpl in *; [|lia]. destruct H; [contradiction|lia].
  - destruct l as [|r l].
    + destruct k as [|k]; [simpl in *; lia|]. destruct k as [|k].
      * exists [CompleteBestEffort]. econstructor; [apply complete_best_effort|constructor].
      * destruct (IH [] (S k)) with (t:=t) (Q:=Q) (t0:=t0) (m:=m) (nx:=nx) as (tr & Hrun);
          [simpl in *; lia|right; lia|].
        exists (CompleteBestEffort :: tr). econstructor; [apply complete_best_effort|exact Hrun].
    + destruct l as [|r' l].
      * destruct k as [|k].
        -- exists [Complete r]. econstructor; [apply (complete _ _ _ _ _ _ t Q t0 m [] r [])|constructor].
        -- destruct (IH [] (S k)) with (t:=t) (Q:=Q) (t0:=t0) (m:=m) (nx:=nx) as (tr & Hrun);
             [simpl in *; lia|right; lia|].
           exists (Complete r :: tr).
           econstructor; [apply (complete _ _ _ _ _ _ t Q t0 m [] r [])|exact Hrun].
      * destruct (IH (r' :: l) k) with (t:=t) (Q:=Q) (t0:=t0) (m:=m) (nx:=nx) as (tr & Hrun);
          [simpl in *; lia|left; discriminate|].
        exists (Complete r :: tr).
        econstructor; [apply (complete _ _ _ _ _ _ t Q t0 m [] r (r' :: l))|exact Hrun].
Qed.

End Runs.

Section Exact.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable b : nat -> nat.
Hypothesis b_zero : b 0 = 0.
Hypothesis b_mono : forall i j, i <= j -> b i <= b j.
Hypothesis z_pos : 1 <= z.
Hypothesis beta_le_z : beta <= z.

Notation E := (E n e).
Notation bt := (bt beta b).
Notation eS := (eS n e).
Notation of_set := (of_set e).
Notation step := (step n e p z beta b).
Notation run := (run n e p z beta b).
Notation reachable := (reachable n e p z beta b).

(** The totals that whole jobs of the first m tasks can form. *)
Fixpoint totals (m : nat) : list nat :=
  match m with
  | 0 => [0]
  | S m' => nodup Nat.eq_dec (totals m' ++ map (fun y => y + e m') (totals m'))
  end.

Lemma totals_sets : forall m y, In y (totals m) <-> exists S, y = sum m (of_set S).
Proof using Type.
  clear b_zero b_mono z_pos beta_le_z.
  induction m as [|m IH]; intros y; simpl.
  - split; [intros [<-|[]]; exists (fun _ => false); reflexivity|intros (S & ->); left; reflexivity].
  - rewrite nodup_In, in_app_iff, in_map_iff. split.
    + intros [H|(x & <- & H)]; apply IH in H; destruct H as (S & ->).
      * exists (fun i => if i =? m then false else S i).
        unfold of_set at 3. rewrite Nat.eqb_refl. rewrite Nat.add_0_r. apply sum_ext.
        intros i Hi. unfold of_set. destruct (Nat.eqb_spec i m); [lia|reflexivity].
      * exists (fun i => if i =? m then true else S i).
        unfold of_set at 3. rewrite Nat.eqb_refl. f_equal. apply sum_ext.
        intros i Hi. unfold of_set. destruct (Nat.eqb_spec i m); [lia|reflexivity].
    + intros (S & ->). unfold of_set at 2 4. destruct (S m).
      * right. exists (sum m (of_set S)). split; [reflexivity|]. apply IH. exists S; reflexivity.
      * left. rewrite Nat.add_0_r. apply IH. exists S; reflexivity.
Qed.

Definition pair (y : nat) : nat := bt y + bt (E - y).
Definition worst : nat := list_max (map pair (totals n)).

Lemma worst_upper : forall S, pair (eS S) <= worst.
Proof.
  intros S. unfold worst.
  pose proof (proj1 (list_max_le (map pair (totals n)) _) (le_n _)) as H.
  rewrite Forall_forall in H. apply H. apply in_map. apply totals_sets. exists S. reflexivity.
Qed.

Lemma list_max_in : forall l, l <> [] -> In (list_max l) l.
Proof.
  induction l as [|x l IH]; intros H; [contradiction|]. destruct l as [|y l].
  - left. simpl. lia.
  - simpl list_max in *. destruct (Nat.max_spec x (max y (list_max l))) as [[_ ->]|[_ ->]].
    + right. apply IH. discriminate.
    + left. reflexivity.
Qed.

Lemma worst_reached : exists S, pair (eS S) = worst.
Proof.
  assert (H : In worst (map pair (totals n))).
  { apply list_max_in. intros H. apply map_eq_nil in H.
    assert (H0 : In (sum n (of_set (fun _ => false))) (totals n)) by
      (apply totals_sets; eexists; reflexivity).
    rewrite H in H0. contradiction. }
  apply in_map_iff in H. destruct H as (y & Hy & H). apply totals_sets in H.
  destruct H as (S & ->). exists S. assumption.
Qed.

Lemma complement : forall S, eS S + eS (fun i => negb (S i)) = E.
Proof.
  intros S. unfold Backlog.eS, Model.E. rewrite <- sum_plus. apply sum_ext. intros i _.
  unfold Backlog.of_set. destruct (S i); simpl; lia.
Qed.

(** "S without the job's own task" loses nothing: a set or its complement leaves it out. *)
Lemma worst_reached_without : forall k, exists S, S k = false /\ pair (eS S) = worst.
Proof.
  intros k. destruct worst_reached as (S & HS). destruct (S k) eqn:Ek.
  - exists (fun i => negb (S i)). rewrite Ek. split; [reflexivity|]. rewrite <- HS.
    pose proof (complement S). unfold pair.
    replace (E - eS (fun i => negb (S i))) with (eS S) by lia.
    replace (E - eS S) with (eS (fun i => negb (S i))) by lia. lia.
  - exists S. split; assumption.
Qed.

(** ** Upper bound *)
Hypothesis z_fits : E <= z.

Section Upper.
Hypothesis below_periods : forall k, k < n -> worst < p k.

Lemma A_le_worst : forall k y, k < n -> carry n e z k y -> A n e z beta b y <= worst.
Proof.
  intros k y Hk (Hyz & Hye & Hy).
  assert (Hset : exists S, y = eS S).
  { destruct Hy as [->|(S & _ & ->)]; [|exists S; reflexivity].
    exists (fun _ => true). unfold Backlog.eS. transitivity (Model.E n e); [lia|]. apply sum_ext. reflexivity. }
  destruct Hset as (S & ->). unfold A.
  assert (HL : batches n e z (eS S) <= 1).
  { unfold batches. apply Nat.lt_succ_r. apply Nat.div_lt_upper_bound; lia. }
  unfold last_size. destruct (Nat.leb_spec (batches n e z (eS S)) 1); [|lia].
  replace (batches n e z (eS S) - 1) with 0 by lia.
  rewrite Nat.min_r by lia. pose proof (worst_upper S). unfold pair in *. simpl. lia.
Qed.

Theorem two_batches_upper : forall s r,
  reachable s -> pending r s -> now s <= rrel r + worst.
Proof.
  intros s r Hs Hr.
  apply (dqf_backlog_bound n e p z beta b b_mono z_pos beta_le_z (fun _ => worst)
    A_le_worst below_periods s r Hs Hr).
Qed.
End Upper.

(** ** It is reached.  (The constructions need neither deadlines nor periods.) *)
Notation jobs := (jobs_of e).
Definition members (S : nat -> bool) : list nat := filter S (seq 0 n).

Lemma jobs_length : forall t m S, length (jobs t (filter S (seq 0 m))) = sum m (of_set S).
Proof.
  intros t m S. induction m as [|m IH]; [reflexivity|].
  rewrite seq_S, filter_app. unfold jobs_of in *. rewrite flat_map_app, app_length, IH. simpl.
  change (of_set S m) with (if S m then e m else 0).
  destruct (S m); simpl; [rewrite app_nil_r, repeat_length|]; reflexivity.
Qed.

Lemma members_ok : forall S i, In i (members S) <-> i < n /\ S i = true.
Proof. intros. unfold members. rewrite filter_In, in_seq. simpl.
  split; intros (H & H'); (split; [lia|assumption]). Qed.

Lemma members_nodup : forall S, NoDup (members S).
Proof. intros. apply NoDup_filter, seq_NoDup. Qed.

Definition zero : nat -> nat := fun _ => 0.

(** Task k's response is [worst], exactly: in an execution where every job is complete in
    itself and the completion comes at that very instant. *)
Theorem two_batches_reached : forall k, k < n -> 1 <= e k ->
  exists tr s s', run (initial zero) tr s /\
    step s (Complete (Req k 0)) s' /\ now s' = rrel (Req k 0) + worst.
Proof.
  intros k Hk Hek. destruct (worst_reached_without k) as (S & HSk & HS).
  set (T := fun i => negb (S i)).
  pose proof (complement S) as Hcomp. fold T in Hcomp.
  assert (HT : length (jobs 0 (members T)) = E - eS S).
  { unfold members. rewrite jobs_length. unfold Backlog.eS in *. lia. }
  assert (HinT : In (Req k 0) (jobs 0 (members T))).
  { unfold jobs_of. apply in_flat_map. exists k. split.
    - apply members_ok. split; [assumption|]. unfold T. rewrite HSk. reflexivity.
    - destruct (e k); [lia|]. left. reflexivity. }
  assert (HTpos : 1 <= E - eS S).
  { rewrite <- HT. destruct (jobs 0 (members T)); [contradiction|simpl; lia]. }
  (* first: the batch with S is served while the rest waits *)
  assert (Hfirst : exists tr nx,
    run (initial zero) tr (State (bt (eS S)) (jobs 0 (members T)) None nx)).
  { destruct (run_releases n e p z beta b (members S) 0 [] None zero) as (tr1 & nx1 & Hr1 & Hnx1);
      [apply members_nodup|intros i Hi; apply members_ok in Hi; unfold zero; lia|].
    simpl in Hr1.
    assert (HlenS : length (jobs 0 (members S)) = eS S) by (apply jobs_length).
    assert (Hrel : forall d Q, exists tr2 nx2,
      run (State 0 Q d nx1) tr2 (State 0 (Q ++ jobs 0 (members T)) d nx2)).
    { intros d Q. destruct (run_releases n e p z beta b (members T) 0 Q d nx1) as (tr2 & nx2 & Hr2 & _).
      - apply members_nodup.
      - intros i Hi. apply members_ok in Hi. destruct Hi as [Hi HTi]. split; [assumption|].
        rewrite Hnx1; [unfold zero; lia|]. rewrite members_ok. unfold T in HTi.
        destruct (S i); [discriminate|intros [_ ?]; discriminate].
      - exists tr2, nx2. assumption. }
    destruct (Nat.eq_dec (max (eS S) beta) 0) as [H0|H0].
    - (* nothing at all in the first batch *)
      assert (jobs 0 (members S) = []) as Hnil by (apply length_zero_iff_nil; lia).
      rewrite Hnil in Hr1. destruct (Hrel None []) as (tr2 & nx2 & Hr2).
      exists (tr1 ++ tr2), nx2. unfold Model.bt. rewrite H0, b_zero.
      eapply run_app; [exact Hr1|exact Hr2].
    - set (f := Batch 0 (max (eS S) beta) (jobs 0 (members S)) (max (eS S) beta - eS S)).
      destruct (Hrel (Some f) []) as (tr2 & nx2 & Hr2).
      destruct (run_ticks n e p z beta b (bt (eS S)) 0 (jobs 0 (members T)) f nx2) as (tr3 & Hr3);
        [simpl; unfold Model.bt; lia|].
      destruct (run_completions n e p z beta b (jobs 0 (members S)) (max (eS S) beta - eS S)
        (bt (eS S)) (jobs 0 (members T)) 0 (max (eS S) beta) nx2) as (tr4 & Hr4).
      { destruct (jobs 0 (members S)) eqn:Ej; [right; simpl in *; lia|left; discriminate]. }
      exists (tr1 ++ Dispatch (max (eS S) beta) :: tr2 ++ tr3 ++ tr4), nx2.
      eapply run_app; [exact Hr1|].
      econstructor; [apply (dispatch _ _ _ _ _ _ 0 _ nx1 (eS S)); lia|].
      rewrite skipn_all2, firstn_all2 by lia.
      eapply run_app; [exact Hr2|]. eapply run_app; [exact Hr3|exact Hr4]. }
  destruct Hfirst as (tr1 & nx & Hr1).
  set (J := jobs 0 (members T)) in *. set (j := E - eS S) in *.
  set (f := Batch (bt (eS S)) (max j beta) J (max j beta - j)).
  destruct (run_ticks n e p z beta b (bt j) (bt (eS S)) [] f nx) as (tr2 & Hr2); [simpl; unfold Model.bt; lia|].
  destruct (in_split _ _ HinT) as (l1 & l2 & Hsplit).
  exists (tr1 ++ Dispatch (max j beta) :: tr2), (State (bt (eS S) + bt j) [] (Some f) nx).
  eexists. split; [|split].
  - eapply run_app; [exact Hr1|].
    econstructor; [apply (dispatch _ _ _ _ _ _ _ _ nx j); lia|].
    rewrite skipn_all2, firstn_all2 by lia. exact Hr2.
  - unfold f. rewrite Hsplit. apply complete.
  - simpl. exact HS.
Qed.

End Exact.

(** ** Theorem 2 (beta = 0) and Theorem 3 (any beta <= z), closed: the worst response is [worst]. *)
Theorem theorem_2_and_3 :
  forall n e p z beta b,
  b 0 = 0 -> (forall i j, i <= j -> b i <= b j) ->
  1 <= z -> beta <= z -> E n e <= z ->
  (forall k, k < n -> worst n e beta b < p k) ->
  (* no request ever completes later *)
  (forall nx tr s r s', run n e p z beta b (initial nx) tr s ->
     step n e p z beta b s (Complete r) s' -> now s' <= rrel r + worst n e beta b) /\
  (* nor is any left older than that *)
  (forall s r, reachable n e p z beta b s -> pending r s -> now s <= rrel r + worst n e beta b) /\
  (* and some request of each task completes exactly then *)
  (forall k, k < n -> 1 <= e k -> exists tr s s',
     run n e p z beta b (initial zero) tr s /\
     step n e p z beta b s (Complete (Req k 0)) s' /\ now s' = 0 + worst n e beta b).
Proof.
  intros n e p z beta b H0 Hmono Hz Hbeta HE Hp. repeat split.
  - intros nx tr s r s' Hrun Hstep.
    assert (Hn : now s' = now s) by (inversion Hstep; reflexivity). rewrite Hn.
    apply (two_batches_upper n e p z beta b H0 Hmono Hz Hbeta HE Hp).
    + exists nx, tr. assumption.
    + inversion Hstep; subst. right. eexists. split; [reflexivity|]. simpl.
      apply in_or_app. right. left. reflexivity.
  - intros s r Hs Hr. apply (two_batches_upper n e p z beta b H0 Hmono Hz Hbeta HE Hp); assumption.
  - intros k Hk Hek. apply (two_batches_reached n e p z beta b); assumption.
Qed.

(** ** Unit tasks: jobs of one request, as where a server gets the requests of a job one by one.
    The totals are all numbers up to n, so the bound is the longest split of n into two batches. *)
Lemma unit_sum : forall m, sum m (fun _ => 1) = m.
Proof. induction m; simpl; lia. Qed.

Lemma unit_totals : forall n y, In y (totals (fun _ => 1) n) <-> y <= n.
Proof.
  intros n y. rewrite totals_sets. split.
  - intros (S & ->). rewrite <- (unit_sum n) at 2. apply sum_le. intros i _.
    unfold of_set. destruct (S i); lia.
  - intros H. exists (fun i => i <? y). induction n as [|n IH].
    + simpl. lia.
    + destruct (Nat.eq_dec y (S n)) as [->|Hne].
      * symmetry. transitivity (sum (S n) (fun _ => 1)); [|apply unit_sum].
        apply sum_ext. intros i Hi. unfold of_set. destruct (Nat.ltb_spec i (S n)); lia.
      * simpl. rewrite <- IH by lia. unfold of_set. destruct (Nat.ltb_spec n y); lia.
Qed.

Theorem unit_tasks : forall n beta b,
  worst n (fun _ => 1) beta b =
  list_max (map (fun s => bt beta b s + bt beta b (n - s)) (seq 0 (n + 1))).
Proof.
  intros n beta b. unfold worst. apply Nat.le_antisymm; apply list_max_le, Forall_forall;
    intros x Hx; apply in_map_iff in Hx; destruct Hx as (y & <- & Hy).
  - apply unit_totals in Hy. unfold pair, E. rewrite unit_sum.
    pose proof (proj1 (list_max_le
      (map (fun s => bt beta b s + bt beta b (n - s)) (seq 0 (n + 1))) _) (le_n _)) as H.
    rewrite Forall_forall in H. apply H.
    apply (in_map (fun s => bt beta b s + bt beta b (n - s))). apply in_seq. lia.
  - apply in_seq in Hy.
    pose proof (proj1 (list_max_le
      (map (pair n (fun _ => 1) beta b) (totals (fun _ => 1) n)) _) (le_n _)) as H.
    rewrite Forall_forall in H.
    replace (bt beta b y + bt beta b (n - y)) with (pair n (fun _ => 1) beta b y)
      by (unfold pair, E; rewrite unit_sum; reflexivity).
    apply H. apply in_map, unit_totals. lia.
Qed.
