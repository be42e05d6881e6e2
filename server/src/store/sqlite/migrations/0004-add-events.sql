-- What changed, in the order in which it did: for the stream and the webhooks.

-- One tree, and each row goes to the end of its owner's part. `details` is JSON, what a change brought besides its state.
-- The creation of a run is one row, however many executions it has.
CREATE TABLE event (
  owner_no INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  run_id INTEGER,
  execution_id INTEGER,
  device_no INTEGER,
  from_state TEXT,
  cause TEXT,
  actor TEXT,
  attempt INTEGER,
  version_number INTEGER,
  details TEXT,
  PRIMARY KEY (owner_no, event_id)
) STRICT, WITHOUT ROWID;

-- Up to here they were forgotten. The newest one of an owner is always kept, so that ids only grow.
ALTER TABLE owner ADD COLUMN forgotten_event_id INTEGER NOT NULL DEFAULT 0;

-- The run whose failures it tries again.
ALTER TABLE run ADD COLUMN retry_of INTEGER;

-- All events up to cursor_id are dealt with: they do not match, or have a row in webhook_delivery.
-- A replay of many begins a new round: what was delivered in an earlier one counts no more.
-- Numbers are never given twice: the log of one that was deleted goes later, and answers to it may still come in.
CREATE TABLE webhook (
  webhook_no INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_no INTEGER NOT NULL REFERENCES owner,
  webhook_name TEXT NOT NULL,
  url TEXT NOT NULL,
  event_types TEXT NOT NULL,
  job_name TEXT,
  device_id TEXT,
  secret TEXT NOT NULL,
  old_secret TEXT,
  old_secret_until INTEGER,
  paused_because TEXT,
  paused_at INTEGER,
  last_delivered_at INTEGER,
  failing_since INTEGER,
  cursor_id INTEGER NOT NULL,
  round INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (owner_no, webhook_name)
) STRICT;

-- One row per event that was tried, or shall be again, with its last attempts (JSON). PENDING: it is tried at next_at.
-- `tries` are those that count for when to give up.
CREATE TABLE webhook_delivery (
  webhook_no INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  round INTEGER NOT NULL,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  state TEXT NOT NULL,
  tries INTEGER NOT NULL,
  attempts TEXT NOT NULL,
  next_at INTEGER,
  PRIMARY KEY (webhook_no, event_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook_no, event_id) WHERE state = 'PENDING';
CREATE INDEX webhook_delivery_failed ON webhook_delivery (webhook_no, event_id) WHERE state = 'FAILED';
