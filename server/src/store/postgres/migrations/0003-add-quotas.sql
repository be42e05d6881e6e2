-- Progress events come at most once a second: when the last one was written (steady clock), whether a later report is yet
-- to be written as an event, and how many bytes of details they have taken up. Output is also bounded in pieces.
ALTER TABLE execution
  ADD COLUMN progress_at bigint,
  ADD COLUMN progress_held boolean NOT NULL DEFAULT false,
  ADD COLUMN progress_bytes bigint NOT NULL DEFAULT 0,
  ADD COLUMN output_pieces integer NOT NULL DEFAULT 0;

-- Not by progress_at: a column of an index that changes with each progress event would have every index written anew.
CREATE INDEX execution_progress_held ON execution (execution_id) WHERE progress_held;

-- For counting the sessions of a key.
CREATE INDEX session_by_key ON session (key_id);
