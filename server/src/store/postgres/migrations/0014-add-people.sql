-- Sessions of people who sign in at an issuer (OIDC). What such a person may do is a row of api_key that has no secret.
ALTER TABLE session ADD COLUMN person text;
ALTER TABLE session ADD COLUMN tokens text;
ALTER TABLE session ADD COLUMN checked_at bigint;
ALTER TABLE session ADD COLUMN tried_at bigint;

-- The same as principalOf in domain/access/principal.ts: the key of a person is user:<owner>:<subject>.
CREATE FUNCTION principal_of(key text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN key LIKE 'user:%' THEN 'user:' || regexp_replace(key, '^user:[0-9]*:', '') ELSE 'key:' || key END
$$;

-- As before, but for the principal.
CREATE OR REPLACE FUNCTION launch_audited(marker bigint, node integer, counted bigint, owner integer, known_state text, job integer,
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
  VALUES (owner, launched, principal_of(key), 'run.created', 'run:' || run_id, details);
  UPDATE commit_marker SET commits = counted + 1, run_id = launch_audited.run_id, execution_id = launch_audited.execution_id
  WHERE marker_id = marker AND commits <= counted;
  -- Fails if it exists: somebody else has counted it up.
  IF NOT FOUND THEN
    INSERT INTO commit_marker (marker_id, node_no, commits, run_id, execution_id)
    VALUES (marker, node, counted + 1, run_id, execution_id);
  END IF;
END
$$;
