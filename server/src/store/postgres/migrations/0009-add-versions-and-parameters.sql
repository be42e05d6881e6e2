-- The versions of a job count from 1; version_no stays their number among those of all jobs.
ALTER TABLE job_version ADD COLUMN version integer, ADD COLUMN created_at bigint, ADD COLUMN created_by text;

-- When an earlier version was made was not kept: its first run is the best there is.
UPDATE job_version SET
  version = numbered.version,
  created_at = CASE WHEN job_version.version_no = job.version_no THEN job.updated_at
    ELSE coalesce(used.first_run_at, job.created_at) END
FROM job,
  (SELECT version_no, row_number() OVER (PARTITION BY job_no ORDER BY version_no) AS version FROM job_version)
    AS numbered
  LEFT JOIN (SELECT version_no, min(launched_at) AS first_run_at FROM run GROUP BY version_no) AS used
    ON used.version_no = numbered.version_no
WHERE job.job_no = job_version.job_no AND numbered.version_no = job_version.version_no;

ALTER TABLE job_version ALTER COLUMN version SET NOT NULL, ALTER COLUMN created_at SET NOT NULL;

CREATE UNIQUE INDEX job_version_by_number ON job_version (job_no, version);

-- Also for nodes of the version before, which know of no numbers, and for exports that have none.
CREATE FUNCTION number_job_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.version IS NULL THEN
    NEW.version := 1 + coalesce((SELECT max(version) FROM job_version WHERE job_no = NEW.job_no), 0);
  END IF;
  NEW.created_at := coalesce(NEW.created_at, (SELECT updated_at FROM job WHERE job_no = NEW.job_no), 0);
  RETURN NEW;
END
$$;

CREATE TRIGGER number_job_version BEFORE INSERT ON job_version FOR EACH ROW EXECUTE FUNCTION number_job_version();

-- The run that this one takes back, if it is a rollback.
ALTER TABLE run_request ADD COLUMN rollback_of bigint;

-- The parameters of a run, once for all its executions. Secrets are masked in `parameters` and encrypted in `secrets`.
CREATE TABLE run_parameters (
  run_id bigint PRIMARY KEY,
  parameters text NOT NULL,
  secrets text
);

CREATE INDEX run_parameters_secret ON run_parameters (run_id) WHERE secrets IS NOT NULL;
