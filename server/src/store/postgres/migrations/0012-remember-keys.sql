-- Nodes remember API keys as they remember names (0005): a key that becomes void, or is changed in any way that decides
-- what it may do, gives its owner's names another number. That it was used is none of these.
CREATE TRIGGER api_key_changed AFTER UPDATE OF key_id, owner_no, secret_hash, scopes, expires_at, revoked_at ON api_key
  FOR EACH ROW EXECUTE FUNCTION note_changed_name();
CREATE TRIGGER api_key_gone AFTER DELETE ON api_key FOR EACH ROW EXECUTE FUNCTION note_changed_name();

-- As in 0005, with less work: an assignment is evaluated at once, where PERFORM runs a query.
CREATE OR REPLACE FUNCTION hold_names(owners integer[], states text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  held integer;
  is_done boolean;
  timeline text;
BEGIN
  FOREACH held IN ARRAY owners LOOP
    is_done := pg_advisory_xact_lock_shared(740003, held) IS NULL;
  END LOOP;
  IF states IS NULL THEN RETURN; END IF;
  timeline := CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END;
  -- A query of its own: it sees what was committed before the locks were had. What it compares is catalogue_state.
  PERFORM FROM unnest(owners, states) AS known (owner_no, state)
    LEFT JOIN catalogue_version ON catalogue_version.owner_no = known.owner_no
  WHERE timeline || ' ' || coalesce(version, 0) <> state;
  IF FOUND THEN RAISE EXCEPTION 'names have changed' USING ERRCODE = 'JC001'; END IF;
END
$$;

CREATE OR REPLACE FUNCTION take_ids(runs bigint, executions bigint, OUT run_id bigint, OUT execution_id bigint)
LANGUAGE plpgsql AS $$
DECLARE
  is_done boolean;
  last_given bigint;
BEGIN
  is_done := pg_advisory_lock(740010, 0) IS NULL;
  run_id := nextval('last_run_id');
  execution_id := nextval('last_execution_id');
  IF runs <> 1 THEN last_given := setval('last_run_id', run_id + runs - 1); END IF;
  IF executions <> 1 THEN last_given := setval('last_execution_id', execution_id + executions - 1); END IF;
  is_done := pg_advisory_unlock(740010, 0);
END
$$;
