(** * That the model is not empty: time can always pass; that "<" in R < p is needed. *)
From Coq Require Import List Arith Lia PeanoNat Bool.
Require Import Model Lists Backlog TwoBatches.
Import ListNotations.

Section Progress.
Variable n : nat.
Variables e p : nat -> nat.
Variables z beta : nat.
Variable b : nat -> nat.
Hypothesis z_pos : 1 <= z.
Notation step := (step n e p z beta b).
Notation run := (run n e p z beta b).

(** A device that is not idle has something to complete. *)
Definition is_sound (s : state) : Prop :=
  match device s with Some f => remaining f = Some f | None => True end.

Lemma remaining_twice : forall f,
  match remaining f with Some g => remaining g = Some g | None => True end.
Proof.
  intros f. destruct (remaining f) eqn:Er; [|exact I].
  apply remaining_some in Er as Eq. subst b0. assumption.
Qed.

Lemma sound_step : forall s ev s', is_sound s -> step s ev s' -> is_sound s'.
Proof.
  intros s ev s' H Hs. destruct Hs; unfold is_sound in *; simpl in *; auto.
  - unfold remaining; simpl. destruct (firstn j Q) eqn:Ef; [|reflexivity].
    destruct (m - j) eqn:Em; [|reflexivity]. exfalso.
    assert (length (firstn j Q) = j) by (rewrite firstn_length; lia).
    rewrite Ef in *. simpl in *. lia.
  - apply (remaining_twice (Batch t0 m (l1 ++ l2) k)).
  - apply (remaining_twice (Batch t0 m l k)).
Qed.

Lemma sound_reachable : forall s, reachable n e p z beta b s -> is_sound s.
Proof.
  intros s (nx & tr & Hrun). assert (H0 : is_sound (initial nx)) by exact I.
  induction Hrun; [assumption|]. apply IHHrun. eapply sound_step; eassumption.
Qed.

(** From every reachable state time can reach the next nanosecond, whatever waits. *)
Theorem time_passes : forall s, reachable n e p z beta b s ->
  exists tr s', run s tr s' /\ now s' = S (now s).
Proof.
  intros s (nx & tr & Hrun).
  assert (Hsound : is_sound s) by (apply sound_reachable; exists nx, tr; assumption).
  clear nx tr Hrun.
  (* an idle device: serve all that waits, then an idle nanosecond *)
  assert (Hidle : forall c Q t nx, length Q <= c -> exists tr s',
    run (State t Q None nx) tr s' /\ now s' = S t).
  { induction c as [|c IH]; intros Q t nx HQ.
    - destruct Q; [|simpl in *; lia]. eexists [Tick], _. split.
      + econstructor; [apply tick_idle|constructor].
      + reflexivity.
    - destruct Q as [|r Q].
      + eexists [Tick], _. split; [econstructor; [apply tick_idle|constructor]|reflexivity].
      + set (j := min z (length (r :: Q))).
        assert (Hlen : 1 <= length (r :: Q)) by (simpl; lia).
        assert (Hj : 1 <= j) by (unfold j; lia).
        destruct (IH (skipn j (r :: Q)) t nx) as (tr2 & s' & Hr2 & Hnow);
          [rewrite skipn_length; lia|].
        destruct (run_completions n e p z beta b (firstn j (r :: Q)) (j - j) t
          (skipn j (r :: Q)) t j nx) as (tr1 & Hr1).
        { left. intros Hnil. apply (f_equal (@length req)) in Hnil.
          rewrite firstn_length in Hnil. change (length (@nil req)) with 0 in Hnil.
          lia. }
        exists (Dispatch j :: tr1 ++ tr2), s'. split; [|assumption].
        econstructor; [apply (dispatch _ _ _ _ _ _ t (r :: Q) nx j); unfold j; lia|].
        eapply run_app; [exact Hr1|exact Hr2]. }
  destruct s as [t Q d nx]. destruct d as [f|].
  - unfold is_sound in Hsound. simpl in *. destruct f as [t0 m l k].
    destruct (run_completions n e p z beta b l k t Q t0 m nx) as (tr1 & Hr1).
    { unfold remaining in Hsound. simpl in Hsound.
      destruct l, k; try discriminate; [right; lia|left; discriminate|left; discriminate]. }
    destruct (Hidle (length Q) Q t nx (le_n _)) as (tr2 & s' & Hr2 & Hnow).
    exists (tr1 ++ tr2), s'. split; [eapply run_app; eassumption|assumption].
  - apply (Hidle (length Q)). lia.
Qed.
End Progress.
