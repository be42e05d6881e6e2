-- launch_audited with an idempotency key, or without one (null). A key that was used before makes nothing and takes no ids; `used` has
-- the run and the hash of the request that used it. launch_audited stays for nodes of the version before.
CREATE FUNCTION launch_with_key(marker bigint, node integer, counted bigint, owner integer, known_state text, job integer,
  version integer, launched bigint, expires bigint, deadline bigint, key text, retried bigint, device integer, details text,
  idempotency text, hash text, used_at bigint, valid_after bigint,
  OUT run_id bigint, OUT execution_id bigint, OUT made text, OUT used text)
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
  IF idempotency IS NOT NULL THEN
    SELECT json_build_array(json_build_array(0, claimed.run_id, encode(request_hash, 'hex'))) INTO used
    FROM idempotency_key AS claimed
    WHERE owner_no = owner AND idempotency_key = idempotency AND created_at > valid_after;
    IF FOUND THEN RETURN; END IF;
  END IF;
  is_done := pg_advisory_lock(740010, 0) IS NULL;
  run_id := nextval('last_run_id');
  execution_id := nextval('last_execution_id');
  is_done := pg_advisory_unlock(740010, 0);
  IF idempotency IS NOT NULL THEN
    -- A call with the same key on another node that has not committed yet is waited for.
    INSERT INTO idempotency_key AS claimed (owner_no, idempotency_key, request_hash, run_id, created_at)
    VALUES (owner, idempotency, decode(hash, 'hex'), run_id, used_at)
    ON CONFLICT ON CONSTRAINT idempotency_key_pkey DO UPDATE SET request_hash = excluded.request_hash, run_id = excluded.run_id,
      created_at = excluded.created_at
    WHERE claimed.created_at <= valid_after;
    IF NOT FOUND THEN
      SELECT json_build_array(json_build_array(0, claimed.run_id, encode(request_hash, 'hex'))), NULL, NULL
      INTO used, run_id, execution_id
      FROM idempotency_key AS claimed WHERE owner_no = owner AND idempotency_key = idempotency;
      RETURN;
    END IF;
    made := json_build_array(json_build_array(0, run_id, execution_id));
  END IF;
  INSERT INTO run (run_id, owner_no, job_no, version_no, launched_at, first_execution_id, total, pending, expire_at,
    deadline_at, key_id, retry_of)
  VALUES (run_id, owner, job, version, launched, execution_id, 1, 1, expires, deadline, key, retried);
  INSERT INTO execution (execution_id, run_id, owner_no, device_no) VALUES (execution_id, run_id, owner, device);
  -- The event and the entry get their ids behind the lock of their owner.
  is_done := pg_advisory_xact_lock(740004, owner) IS NULL;
  INSERT INTO event (owner_no, at, type, run_id) VALUES (owner, launched, 'run.created', run_id);
  INSERT INTO audit_entry (owner_no, at, principal, action, subject, details)
  VALUES (owner, launched, principal_of(key), 'run.created', 'run:' || run_id, details);
  UPDATE commit_marker SET commits = counted + 1, run_id = launch_with_key.run_id, execution_id = launch_with_key.execution_id
  WHERE marker_id = marker AND commits <= counted;
  -- Fails if it exists: somebody else has counted it up.
  IF NOT FOUND THEN
    INSERT INTO commit_marker (marker_id, node_no, commits, run_id, execution_id)
    VALUES (marker, node, counted + 1, run_id, execution_id);
  END IF;
END
$$;
