-- Nodes remember the names of jobs and devices. Whoever changes what a name stands for gives its owner another number, in
-- the same transaction; whoever uses a remembered name compares the number in the transaction that writes
-- (../directory.ts). By chance and not counted: a server that takes over may lack the last change, and the next one made
-- there must not get its number. A new name needs none: nobody remembers that it was not there.
CREATE TABLE catalogue_version (
  owner_no integer PRIMARY KEY,
  version bigint NOT NULL,
  -- The transaction that has given it: however many names one changes, it writes the row once.
  given_by xid8 NOT NULL
) WITH (fillfactor = 50);

CREATE FUNCTION note_changed_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO catalogue_version AS known (owner_no, version, given_by)
  VALUES (OLD.owner_no, 1 + floor(random() * 9007199254740990), pg_current_xact_id())
  ON CONFLICT (owner_no) DO UPDATE SET version = excluded.version, given_by = excluded.given_by
    WHERE known.given_by <> excluded.given_by;
  RETURN NULL;
END
$$;

CREATE TRIGGER device_changed AFTER UPDATE OF owner_no, device_id, device_name, deleted_at ON device FOR EACH ROW
  WHEN (NEW.deleted_at IS NOT NULL
    OR (OLD.owner_no, OLD.device_id, OLD.device_name) <> (NEW.owner_no, NEW.device_id, NEW.device_name))
  EXECUTE FUNCTION note_changed_name();
CREATE TRIGGER device_gone AFTER DELETE ON device FOR EACH ROW EXECUTE FUNCTION note_changed_name();
CREATE TRIGGER job_changed AFTER UPDATE OF owner_no, job_name, version_no, deleted_at ON job FOR EACH ROW
  WHEN (NEW.deleted_at IS NOT NULL
    OR (OLD.owner_no, OLD.job_name, OLD.version_no) <> (NEW.owner_no, NEW.job_name, NEW.version_no))
  EXECUTE FUNCTION note_changed_name();
CREATE TRIGGER job_gone AFTER DELETE ON job FOR EACH ROW EXECUTE FUNCTION note_changed_name();

-- The state of an owner's names. A server that takes over begins another timeline: it may lack names that were new.
CREATE FUNCTION catalogue_state(wanted integer) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END
    || ' ' || coalesce((SELECT version FROM catalogue_version WHERE owner_no = wanted), 0)
$$;

-- From here to the end of the transaction no name of these owners (in ascending order) is changed. Fails with JC001 where
-- one was since its state was read. The comparison is a statement of its own: it sees what was committed before the locks
-- were had.
CREATE FUNCTION hold_names(owners integer[], states text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(740003, owner_no) FROM unnest(owners) AS owner_no;
  PERFORM FROM unnest(owners, states) AS known (owner_no, state) WHERE catalogue_state(owner_no) <> state;
  IF FOUND THEN RAISE EXCEPTION 'names have changed' USING ERRCODE = 'JC001'; END IF;
END
$$;

-- The highest ids ever given are sequences now: ids are given within the transaction that uses them, and nobody waits for
-- its commit.
CREATE SEQUENCE last_run_id MINVALUE 0;
CREATE SEQUENCE last_execution_id MINVALUE 0;
SELECT setval('last_run_id', run_id), setval('last_execution_id', execution_id) FROM last_id;
DROP TABLE last_id;
CREATE VIEW last_id AS
  SELECT pg_sequence_last_value('last_run_id') AS run_id, pg_sequence_last_value('last_execution_id') AS execution_id;

-- Gives away so many ids in a row, for good, and says which are the first. A sequence has no step for that, so a lock
-- keeps the others out for an instant. It is of the session, to be free before the commit: a failure in between is one of
-- those after which a connection is not used again (../failures.ts).
CREATE FUNCTION take_ids(runs bigint, executions bigint, OUT run_id bigint, OUT execution_id bigint)
LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_lock(740010, 0);
  run_id := nextval('last_run_id');
  execution_id := nextval('last_execution_id');
  PERFORM setval('last_run_id', run_id + runs - 1), setval('last_execution_id', execution_id + executions - 1);
  PERFORM pg_advisory_unlock(740010, 0);
END
$$;

-- Nodes of the earlier version count the view up, as they did with the table.
CREATE FUNCTION take_ids_as_before() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  runs bigint := NEW.run_id - OLD.run_id;
  executions bigint := NEW.execution_id - OLD.execution_id;
BEGIN
  SELECT first.run_id + runs - 1, first.execution_id + executions - 1 INTO NEW.run_id, NEW.execution_id
  FROM take_ids(runs, executions) AS first;
  RETURN NEW;
END
$$;

CREATE TRIGGER last_id_counted INSTEAD OF UPDATE ON last_id FOR EACH ROW EXECUTE FUNCTION take_ids_as_before();

-- The first ids of what was written under it, where the answer that has them may be lost with that of the commit.
ALTER TABLE commit_marker ADD COLUMN run_id bigint, ADD COLUMN execution_id bigint;

-- What is the same in every execution that is made need not be sent with it.
ALTER TABLE execution
  ALTER COLUMN state SET DEFAULT 'PENDING',
  ALTER COLUMN attempt SET DEFAULT 1,
  ALTER COLUMN version_number SET DEFAULT 1;
