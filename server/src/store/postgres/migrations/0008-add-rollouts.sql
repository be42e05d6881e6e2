-- Runs that are released to their devices little by little; a run without a rollout has no row. Executions from
-- held_from on are not offered yet; NULL: nothing is held back.
CREATE TABLE rollout (
  run_id bigint PRIMARY KEY,
  owner_no integer NOT NULL,
  first_execution_id bigint NOT NULL,
  total integer NOT NULL,
  state text NOT NULL,
  released integer NOT NULL,
  held_from bigint,
  is_open boolean NOT NULL,
  next_at bigint,
  version integer NOT NULL,
  plan text NOT NULL,
  status text NOT NULL
);

CREATE INDEX rollout_open ON rollout (run_id) WHERE is_open;

CREATE INDEX rollout_held ON rollout (run_id, held_from) WHERE held_from IS NOT NULL;

-- What was released at once, if its job has clocks: they start with the release. deadline_at says for good when its
-- executions must have ended, deadline_due_at only until that clock has fired.
CREATE TABLE rollout_release (
  run_id bigint NOT NULL,
  first_execution_id bigint NOT NULL,
  last_execution_id bigint NOT NULL,
  expire_at bigint,
  deadline_at bigint,
  deadline_due_at bigint,
  PRIMARY KEY (run_id, first_execution_id)
);

CREATE INDEX rollout_release_expiring ON rollout_release (expire_at) WHERE expire_at IS NOT NULL;

CREATE INDEX rollout_release_deadline ON rollout_release (deadline_due_at) WHERE deadline_due_at IS NOT NULL;

-- Owners to whose devices nothing is offered.
CREATE TABLE fleet_freeze (
  owner_no integer PRIMARY KEY,
  reason text NOT NULL,
  principal text NOT NULL,
  at bigint NOT NULL,
  until bigint
);
