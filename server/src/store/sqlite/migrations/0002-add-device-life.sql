-- What devices do: clocks and retries, the history of each execution, output, presence.
-- Instants of clocks (expire_at, deadline_at, not_before, due_at) are of the steady clock.

ALTER TABLE execution ADD COLUMN not_before INTEGER;
-- When its own clock runs out; its state says which one that is.
ALTER TABLE execution ADD COLUMN due_at INTEGER;
-- NULL until something happens to it: then it is as new as its run.
ALTER TABLE execution ADD COLUMN updated_at INTEGER;
ALTER TABLE execution ADD COLUMN client_token TEXT;
-- The version that the wish to cancel made.
ALTER TABLE execution ADD COLUMN cancel_version INTEGER;
-- Of the attempt that runs or ran last.
ALTER TABLE execution ADD COLUMN output_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE execution ADD COLUMN output_cut INTEGER NOT NULL DEFAULT 0;

CREATE INDEX execution_due ON execution (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX execution_active ON execution (device_no, execution_id) WHERE state IN ('IN_PROGRESS', 'CANCELING');

-- The clocks that all executions of a run share; NULL once they have run out and all is done about it.
ALTER TABLE run ADD COLUMN expire_at INTEGER;
ALTER TABLE run ADD COLUMN deadline_at INTEGER;
ALTER TABLE run ADD COLUMN key_id TEXT;

CREATE INDEX run_expiring ON run (expire_at) WHERE expire_at IS NOT NULL AND pending > 0;
CREATE INDEX run_deadline ON run (deadline_at) WHERE deadline_at IS NOT NULL AND pending + in_progress + canceling > 0;

-- One row a move. The first one, its creation, is told by its run.
CREATE TABLE transition (
  execution_id INTEGER NOT NULL,
  version_number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  event TEXT NOT NULL,
  actor TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  PRIMARY KEY (execution_id, version_number)
) STRICT, WITHOUT ROWID;

CREATE TABLE output (
  execution_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  start INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (execution_id, attempt, start)
) STRICT;

ALTER TABLE device ADD COLUMN online INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN presence_since INTEGER;
ALTER TABLE device ADD COLUMN last_seen_at INTEGER;
ALTER TABLE device ADD COLUMN door TEXT;
-- While set, no certificate lets the device in.
ALTER TABLE device ADD COLUMN revoked_at INTEGER;

CREATE INDEX device_online ON device (owner_no, device_id) WHERE online = 1;
