-- Plans of runs, for the minutes in which they can be started, with what they are bound to. Secrets are encrypted.
CREATE TABLE run_plan (
  owner_no integer NOT NULL REFERENCES owner,
  plan_id text COLLATE "C" NOT NULL,
  planned_by text NOT NULL,
  -- On the steady clock.
  created_at bigint NOT NULL,
  request text NOT NULL,
  parameters text,
  secrets text,
  bound_to text NOT NULL,
  -- Of the request and its parameters.
  size bigint NOT NULL,
  PRIMARY KEY (owner_no, plan_id)
);

CREATE INDEX run_plan_by_age ON run_plan (created_at);
CREATE INDEX run_plan_of_owner ON run_plan (owner_no, created_at, plan_id, size);

-- The plan that a run was started from: there is only one such run, whichever nodes are asked at once.
ALTER TABLE run_request ADD COLUMN plan_id text COLLATE "C";
ALTER TABLE run_request ADD COLUMN planned_by text;

CREATE UNIQUE INDEX run_request_by_plan ON run_request (plan_id) WHERE plan_id IS NOT NULL;
