-- Runs by when they ended, for lists and charts of a time. The trace that a run belongs to. Why an attempt was unsuccessful.
CREATE INDEX run_by_end ON run (owner_no, ended_at) WHERE ended_at IS NOT NULL;

ALTER TABLE run ADD COLUMN trace_parent text;

ALTER TABLE transition ADD COLUMN reason text;
