-- Progress events come at most once a second: when the last one was written (steady clock), whether a later report is yet
-- to be written as an event, and how many bytes of details they have taken up. Output is also bounded in pieces.
ALTER TABLE execution ADD COLUMN progress_at INTEGER;
ALTER TABLE execution ADD COLUMN progress_held INTEGER NOT NULL DEFAULT 0;
ALTER TABLE execution ADD COLUMN progress_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE execution ADD COLUMN output_pieces INTEGER NOT NULL DEFAULT 0;

CREATE INDEX execution_progress_held ON execution (progress_at) WHERE progress_held = 1;

-- For counting the sessions of a key.
CREATE INDEX session_by_key ON session (key_id);
