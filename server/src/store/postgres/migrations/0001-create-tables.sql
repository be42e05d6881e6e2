-- The tables of the embedded store (../sqlite/schema.sql), for several nodes at once. Names are compared as bytes
-- (COLLATE "C"), whatever the database says. Instants are milliseconds; those of clocks (expire_at, deadline_at,
-- not_before, due_at) are of the steady clock.

CREATE TABLE owner (
  owner_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner_id text COLLATE "C" NOT NULL UNIQUE,
  owner_name text COLLATE "C" NOT NULL UNIQUE,
  created_at bigint NOT NULL,
  -- Up to here its events were forgotten. The newest one is always kept.
  forgotten_event_id bigint NOT NULL DEFAULT 0,
  -- The last id that was given when one of its devices was renamed.
  renamed_execution_id bigint NOT NULL DEFAULT 0
);

CREATE TABLE api_key (
  key_id text COLLATE "C" PRIMARY KEY,
  owner_no integer NOT NULL REFERENCES owner,
  key_name text NOT NULL,
  secret_hash bytea NOT NULL,
  scopes text NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint,
  created_at bigint NOT NULL
);

CREATE INDEX api_key_by_owner ON api_key (owner_no, key_id);

CREATE TABLE job (
  job_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner_no integer NOT NULL REFERENCES owner,
  job_name text COLLATE "C" NOT NULL,
  version_no integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint,
  UNIQUE (owner_no, job_name)
);

CREATE TABLE job_version (
  version_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job_no integer NOT NULL,
  content text NOT NULL
);

CREATE TABLE device (
  device_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner_no integer NOT NULL REFERENCES owner,
  device_id text COLLATE "C" NOT NULL,
  device_name text NOT NULL,
  tags text NOT NULL,
  token_id text COLLATE "C" UNIQUE,
  token_hash bytea,
  token_created_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint,
  online boolean NOT NULL DEFAULT false,
  presence_since bigint,
  last_seen_at bigint,
  door text,
  -- While set, no certificate lets the device in.
  revoked_at bigint,
  -- By what a device that enrolled is known again when the answer got lost. It goes with the token.
  claim_hash bytea,
  UNIQUE (owner_no, device_id)
);

CREATE INDEX device_online ON device (owner_no, device_id) WHERE online;

CREATE TABLE device_tag (
  owner_no integer NOT NULL,
  tag text COLLATE "C" NOT NULL,
  device_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (owner_no, tag, device_id)
);

-- The name a device had for executions up to last_execution_id. An answer to a trigger can thus be given again to the byte.
CREATE TABLE device_rename (
  device_no integer NOT NULL,
  last_execution_id bigint NOT NULL,
  device_name text NOT NULL,
  PRIMARY KEY (device_no, last_execution_id)
);

CREATE TABLE enrollment (
  enrollment_id text COLLATE "C" PRIMARY KEY,
  owner_no integer NOT NULL REFERENCES owner,
  name text,
  secret_hash bytea NOT NULL,
  max_uses integer NOT NULL,
  used integer NOT NULL DEFAULT 0 CHECK (used <= max_uses),
  tags text NOT NULL,
  device_id_prefix text,
  expires_at bigint NOT NULL,
  revoked_at bigint,
  created_at bigint NOT NULL
);

CREATE INDEX enrollment_by_owner ON enrollment (owner_no, enrollment_id);

-- In this order: up to CANCELING an execution has not ended. Four bytes a row instead of a word.
CREATE TYPE exec_state AS ENUM (
  'PENDING', 'IN_PROGRESS', 'CANCELING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED', 'CANCELED'
);

-- The executions of a run have the ids first_execution_id to first_execution_id + total - 1.
-- The counts per state change in the transaction that moves an execution.
CREATE TABLE run (
  run_id bigint PRIMARY KEY,
  owner_no integer NOT NULL,
  job_no integer NOT NULL,
  version_no integer NOT NULL,
  launched_at bigint NOT NULL,
  first_execution_id bigint NOT NULL,
  total integer NOT NULL,
  pending integer NOT NULL,
  in_progress integer NOT NULL DEFAULT 0,
  canceling integer NOT NULL DEFAULT 0,
  succeeded integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  timed_out integer NOT NULL DEFAULT 0,
  rejected integer NOT NULL DEFAULT 0,
  expired integer NOT NULL DEFAULT 0,
  canceled integer NOT NULL DEFAULT 0,
  -- No execution is unfinished any more. The indexes below look at this and not at the counts, so that a row whose counts
  -- change is not entered anew into each of them (a heap-only update).
  ended boolean NOT NULL DEFAULT false,
  -- When the last one ended: runs are forgotten by it (../retention.ts).
  ended_at bigint,
  -- The clocks that all its executions share; NULL once they have run out and all is done about it.
  expire_at bigint,
  deadline_at bigint,
  key_id text,
  -- The run whose failures it tries again.
  retry_of bigint
) WITH (fillfactor = 70);

CREATE INDEX run_by_owner ON run (owner_no, run_id);
CREATE INDEX run_by_job ON run (job_no, run_id);
CREATE INDEX run_unfinished ON run (owner_no, run_id) WHERE NOT ended;
CREATE INDEX run_expiring ON run (expire_at) WHERE expire_at IS NOT NULL AND NOT ended;
CREATE INDEX run_deadline ON run (deadline_at) WHERE deadline_at IS NOT NULL AND NOT ended;

-- Ids only grow, so a partition is a slice of time. They are made ahead (../partitions.ts).
-- The narrow columns stand first and in this order so that a row that has just been made has no gaps.
CREATE TABLE execution (
  execution_id bigint NOT NULL PRIMARY KEY,
  run_id bigint NOT NULL,
  owner_no integer NOT NULL,
  device_no integer NOT NULL,
  state exec_state NOT NULL,
  attempt integer NOT NULL,
  version_number integer NOT NULL,
  output_bytes integer NOT NULL DEFAULT 0,
  output_cut boolean NOT NULL DEFAULT false,
  started_at bigint,
  finished_at bigint,
  notified_at bigint,
  delivered_at bigint,
  not_before bigint,
  -- When its own clock runs out; its state says which one that is.
  due_at bigint,
  -- NULL until something happens to it: then it is as new as its run.
  updated_at bigint,
  -- The version that the wish to cancel made.
  cancel_version integer,
  client_token text,
  status_details text,
  result text
) PARTITION BY RANGE (execution_id);

-- Each row is in one of the first two. What waits for a device is found by the first, so it stays small.
CREATE INDEX execution_unfinished ON execution (device_no, execution_id) WHERE state <= 'CANCELING';
CREATE INDEX execution_ended ON execution (device_no, execution_id) WHERE state > 'CANCELING';
CREATE INDEX execution_by_state ON execution (owner_no, state, execution_id)
  WHERE state <> 'PENDING' AND state <> 'SUCCEEDED';
CREATE INDEX execution_due ON execution (due_at) WHERE due_at IS NOT NULL;

-- Which ids each of them holds, and when the first of these was given: the next one is made larger or smaller by it.
CREATE TABLE execution_partition (
  first_id bigint PRIMARY KEY,
  end_id bigint NOT NULL,
  began_at bigint
);

-- Executions whose run is forgotten and whose history and output are yet to be removed. The rows themselves go with
-- their partition.
CREATE TABLE forgotten_range (
  first_execution_id bigint PRIMARY KEY,
  last_execution_id bigint NOT NULL
);

-- One row a move. The first one, its creation, is told by its run.
CREATE TABLE transition (
  execution_id bigint NOT NULL,
  version_number integer NOT NULL,
  at bigint NOT NULL,
  from_state exec_state NOT NULL,
  to_state exec_state NOT NULL,
  event text NOT NULL,
  actor text NOT NULL,
  attempt integer NOT NULL,
  PRIMARY KEY (execution_id, version_number)
);

CREATE TABLE output (
  execution_id bigint NOT NULL,
  attempt integer NOT NULL,
  start integer NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (execution_id, attempt, start)
);

CREATE TABLE idempotency_key (
  owner_no integer NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  request_hash bytea NOT NULL,
  run_id bigint NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (owner_no, idempotency_key)
);

CREATE INDEX idempotency_key_by_age ON idempotency_key (created_at);

-- One row: the highest ids ever given. Ids only grow, also when the newest rows are gone.
CREATE TABLE last_id (
  run_id bigint NOT NULL,
  execution_id bigint NOT NULL
);

INSERT INTO last_id VALUES (0, 0);

-- One row that a health check writes.
CREATE TABLE write_probe (
  writes bigint NOT NULL
);

INSERT INTO write_probe VALUES (0);

CREATE SEQUENCE event_id;

-- What changed, in the order in which it did: for the stream and the webhooks. `details` is JSON, what a change brought
-- besides its state. The creation of a run is one row, however many executions it has.
-- Ids are given under a lock of the owner that is held to the commit: no lower one appears later (../events.ts).
CREATE TABLE event (
  owner_no integer NOT NULL,
  event_id bigint NOT NULL DEFAULT nextval('event_id'),
  at bigint NOT NULL,
  type text NOT NULL,
  run_id bigint,
  execution_id bigint,
  device_no integer,
  from_state exec_state,
  cause text,
  actor text,
  attempt integer,
  version_number integer,
  details text,
  PRIMARY KEY (owner_no, event_id)
);

-- All events up to cursor_id are dealt with: they do not match, or have a row in webhook_delivery.
-- A replay of many begins a new round: what was delivered in an earlier one counts no more.
-- Numbers are never given twice: the log of one that was deleted goes later, and answers to it may still come in.
CREATE TABLE webhook (
  webhook_no integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner_no integer NOT NULL REFERENCES owner,
  webhook_name text COLLATE "C" NOT NULL,
  url text NOT NULL,
  event_types text NOT NULL,
  job_name text,
  device_id text,
  secret text NOT NULL,
  old_secret text,
  old_secret_until bigint,
  paused_because text,
  paused_at bigint,
  last_delivered_at bigint,
  failing_since bigint,
  cursor_id bigint NOT NULL,
  round integer NOT NULL DEFAULT 1,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  UNIQUE (owner_no, webhook_name)
);

-- One row per event that was tried, or shall be again, with its last attempts (JSON). PENDING: it is tried at next_at.
-- `tries` are those that count for when to give up.
CREATE TABLE webhook_delivery (
  webhook_no integer NOT NULL,
  event_id bigint NOT NULL,
  round integer NOT NULL,
  type text NOT NULL,
  subject text NOT NULL,
  state text NOT NULL,
  tries integer NOT NULL,
  attempts text NOT NULL,
  next_at bigint,
  PRIMARY KEY (webhook_no, event_id)
);

CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook_no, event_id) WHERE state = 'PENDING';
CREATE INDEX webhook_delivery_failed ON webhook_delivery (webhook_no, event_id) WHERE state = 'FAILED';
