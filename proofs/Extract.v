From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt List.
Require Import Model Lists Backlog TwoBatches Judge Checker.
Extraction Language OCaml.
Extraction "model.ml" replay start worst check_backlog table A carries E.
