-- Who has changed what, written in the transaction of the change. `details` is JSON of all other fields of an entry, masked. Ids
-- are given behind the lock of the owner's events, so that readers never see a lower one later.
CREATE SEQUENCE audit_id;

CREATE TABLE audit_entry (
  owner_no integer NOT NULL,
  audit_id bigint NOT NULL DEFAULT nextval('audit_id'),
  at bigint NOT NULL,
  principal text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  details text NOT NULL,
  PRIMARY KEY (owner_no, audit_id)
);

-- Signed Merkle roots of entries, each with the hash of the one before it. `seal` is its JSON, `leaves` the hashes of its entries.
CREATE TABLE audit_seal (
  owner_no integer NOT NULL REFERENCES owner,
  seal_no integer NOT NULL,
  first_audit_id bigint NOT NULL,
  last_audit_id bigint NOT NULL,
  at bigint NOT NULL,
  seal text NOT NULL,
  leaves bytea NOT NULL,
  announced_at bigint,
  PRIMARY KEY (owner_no, seal_no)
);

-- launch_one with the entry of the run. The one without it is for nodes of the version before.
CREATE FUNCTION launch_audited(marker bigint, node integer, counted bigint, owner integer, known_state text, job integer,
  version integer, launched bigint, expires bigint, deadline bigint, key text, retried bigint, device integer, details text,
  OUT run_id bigint, OUT execution_id bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  is_done boolean;
BEGIN
  is_done := pg_advisory_xact_lock_shared(740003, owner) IS NULL;
  -- A query of its own: it sees what was committed before the lock was taken.
  IF catalogue_state(owner) IS DISTINCT FROM known_state THEN
    RAISE EXCEPTION 'names have changed' USING ERRCODE = 'JC001';
  END IF;
  is_done := pg_advisory_lock(740010, 0) IS NULL;
  run_id := nextval('last_run_id');
  execution_id := nextval('last_execution_id');
  is_done := pg_advisory_unlock(740010, 0);
  INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending, expire_at,
    deadline_at, key_id, retry_of)
  VALUES (run_id, owner, job, version, launched, execution_id, 1, 1, expires, deadline, key, retried);
  INSERT INTO execution (execution_id, run_id, owner_no, device_no) VALUES (execution_id, run_id, owner, device);
  -- The event and the entry get their ids behind the lock of their owner.
  is_done := pg_advisory_xact_lock(740004, owner) IS NULL;
  INSERT INTO event (owner_no, at, type, run_id) VALUES (owner, launched, 'run.created', run_id);
  INSERT INTO audit_entry (owner_no, at, principal, action, subject, details)
  VALUES (owner, launched, 'key:' || key, 'run.created', 'run:' || run_id, details);
  UPDATE commit_marker SET commits = counted + 1, run_id = launch_audited.run_id, execution_id = launch_audited.execution_id
  WHERE marker_id = marker AND commits <= counted;
  -- Fails if it exists: somebody else has counted it up.
  IF NOT FOUND THEN
    INSERT INTO commit_marker (marker_id, node_no, commits, run_id, execution_id)
    VALUES (marker, node, counted + 1, run_id, execution_id);
  END IF;
END
$$;
