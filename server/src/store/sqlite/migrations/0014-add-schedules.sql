-- What makes runs by itself. next_for is the next occurrence; due_at says when somebody has to look at it: when that
-- occurrence is due, or at once while `firing` is not through. A change is made only to the version that was read.
CREATE TABLE schedule (
  schedule_no INTEGER PRIMARY KEY,
  owner_no INTEGER NOT NULL REFERENCES owner,
  schedule_name TEXT NOT NULL,
  job_name TEXT NOT NULL,
  content TEXT NOT NULL,
  key_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL,
  next_for INTEGER,
  due_at INTEGER,
  handled_at INTEGER NOT NULL,
  firing TEXT,
  last_for INTEGER,
  last_fired_at INTEGER,
  last_run_id INTEGER,
  watched_run_id INTEGER,
  failures INTEGER NOT NULL,
  failures_after INTEGER NOT NULL,
  paused_because TEXT,
  paused_by TEXT,
  paused_at INTEGER,
  is_match INTEGER NOT NULL,
  cursor_id INTEGER NOT NULL,
  matched_where TEXT,
  UNIQUE (owner_no, schedule_name)
) STRICT;

CREATE INDEX schedule_due ON schedule (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX schedule_handled ON schedule (handled_at);

CREATE INDEX schedule_watched ON schedule (watched_run_id) WHERE watched_run_id IS NOT NULL;

CREATE INDEX schedule_matching ON schedule (schedule_no) WHERE is_match = 1 AND paused_at IS NULL;

-- Devices that were given the job of a schedule that gives it to each of them once.
CREATE TABLE schedule_device (
  schedule_no INTEGER NOT NULL,
  device_no INTEGER NOT NULL,
  PRIMARY KEY (schedule_no, device_no)
) STRICT, WITHOUT ROWID;

ALTER TABLE run_request ADD COLUMN schedule_no INTEGER;

ALTER TABLE run_request ADD COLUMN schedule_name TEXT;

ALTER TABLE run_request ADD COLUMN scheduled_for INTEGER;

CREATE INDEX run_request_by_schedule ON run_request (schedule_no, scheduled_for) WHERE schedule_no IS NOT NULL;

-- Runs keep the name of their schedule, also when it is deleted.
CREATE INDEX run_request_by_schedule_name ON run_request (schedule_name, run_id) WHERE schedule_name IS NOT NULL;

-- By the wall clock: nothing of the run is released before.
ALTER TABLE rollout ADD COLUMN start_at INTEGER;
