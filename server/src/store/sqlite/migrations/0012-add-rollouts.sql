-- Runs that are released to their devices little by little; a run without a rollout has no row. Executions from
-- held_from on are not offered yet; NULL: nothing is held back.
CREATE TABLE rollout (
  run_id INTEGER PRIMARY KEY,
  owner_no INTEGER NOT NULL,
  first_execution_id INTEGER NOT NULL,
  total INTEGER NOT NULL,
  state TEXT NOT NULL,
  released INTEGER NOT NULL,
  held_from INTEGER,
  is_open INTEGER NOT NULL,
  next_at INTEGER,
  version INTEGER NOT NULL,
  plan TEXT NOT NULL,
  status TEXT NOT NULL
) STRICT;

CREATE INDEX rollout_open ON rollout (run_id) WHERE is_open = 1;

CREATE INDEX rollout_held ON rollout (run_id, held_from) WHERE held_from IS NOT NULL;

-- What was released at once, if its job has clocks: they start with the release. deadline_at says for good when its
-- executions must have ended, deadline_due_at only until that clock has fired.
CREATE TABLE rollout_release (
  run_id INTEGER NOT NULL,
  first_execution_id INTEGER NOT NULL,
  last_execution_id INTEGER NOT NULL,
  expire_at INTEGER,
  deadline_at INTEGER,
  deadline_due_at INTEGER,
  PRIMARY KEY (run_id, first_execution_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX rollout_release_expiring ON rollout_release (expire_at) WHERE expire_at IS NOT NULL;

CREATE INDEX rollout_release_deadline ON rollout_release (deadline_due_at) WHERE deadline_due_at IS NOT NULL;

-- Owners to whose devices nothing is offered.
CREATE TABLE fleet_freeze (
  owner_no INTEGER PRIMARY KEY,
  reason TEXT NOT NULL,
  principal TEXT NOT NULL,
  at INTEGER NOT NULL,
  until INTEGER
) STRICT;
