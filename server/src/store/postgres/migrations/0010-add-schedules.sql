-- What makes runs by itself. next_for is the next occurrence; due_at says when somebody has to look at it: when that
-- occurrence is due, or at once while `firing` is not through. A change is made only to the version that was read.
CREATE TABLE schedule (
  schedule_no bigint PRIMARY KEY,
  owner_no integer NOT NULL REFERENCES owner,
  schedule_name text COLLATE "C" NOT NULL,
  job_name text COLLATE "C" NOT NULL,
  content text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  version integer NOT NULL,
  next_for bigint,
  due_at bigint,
  handled_at bigint NOT NULL,
  firing text,
  last_for bigint,
  last_fired_at bigint,
  last_run_id bigint,
  watched_run_id bigint,
  failures integer NOT NULL,
  failures_after bigint NOT NULL,
  paused_because text,
  paused_by text COLLATE "C",
  paused_at bigint,
  is_match boolean NOT NULL,
  cursor_id bigint NOT NULL,
  matched_where text,
  UNIQUE (owner_no, schedule_name)
);

CREATE INDEX schedule_due ON schedule (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX schedule_handled ON schedule (handled_at);

CREATE INDEX schedule_watched ON schedule (watched_run_id) WHERE watched_run_id IS NOT NULL;

CREATE INDEX schedule_matching ON schedule (schedule_no) WHERE is_match AND paused_at IS NULL;

-- Devices that were given the job of a schedule that gives it to each of them once.
CREATE TABLE schedule_device (
  schedule_no bigint NOT NULL,
  device_no integer NOT NULL,
  PRIMARY KEY (schedule_no, device_no)
);

ALTER TABLE run_request ADD COLUMN schedule_no bigint;

ALTER TABLE run_request ADD COLUMN schedule_name text COLLATE "C";

ALTER TABLE run_request ADD COLUMN scheduled_for bigint;

CREATE INDEX run_request_by_schedule ON run_request (schedule_no, scheduled_for) WHERE schedule_no IS NOT NULL;

-- Runs keep the name of their schedule, also when it is deleted.
CREATE INDEX run_request_by_schedule_name ON run_request (schedule_name, run_id) WHERE schedule_name IS NOT NULL;

-- By the wall clock: nothing of the run is released before.
ALTER TABLE rollout ADD COLUMN start_at bigint;
