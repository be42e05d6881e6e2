-- One trigger of one device, which is most of them where calls do not come in crowds: what the statement for a group does
-- (../launch-statement.ts), in the same order, at a fifth less of the server. The queries stand here and not in hold_names
-- and take_ids: calling those took half of what is gained.
CREATE FUNCTION launch_one(marker bigint, node integer, counted bigint, owner integer, known_state text, job integer,
  version integer, launched bigint, expires bigint, deadline bigint, key text, retried bigint, device integer,
  OUT run_id bigint, OUT execution_id bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  is_done boolean;
BEGIN
  is_done := pg_advisory_xact_lock_shared(740003, owner) IS NULL;
  -- A query of its own: it sees what was committed before the lock was had.
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
  -- The event is given its id behind the lock of its owner.
  is_done := pg_advisory_xact_lock(740004, owner) IS NULL;
  INSERT INTO event (owner_no, at, type, run_id) VALUES (owner, launched, 'run.created', run_id);
  UPDATE commit_marker SET commits = counted + 1, run_id = launch_one.run_id, execution_id = launch_one.execution_id
  WHERE marker_id = marker AND commits <= counted;
  -- Fails where it is there: somebody else has counted it up.
  IF NOT FOUND THEN
    INSERT INTO commit_marker (marker_id, node_no, commits, run_id, execution_id)
    VALUES (marker, node, counted + 1, run_id, execution_id);
  END IF;
END
$$;
