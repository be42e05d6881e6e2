-- The versions of a job count from 1; version_no stays their number among those of all jobs.
ALTER TABLE job_version ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

ALTER TABLE job_version ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;

ALTER TABLE job_version ADD COLUMN created_by TEXT;

-- When an earlier version was made was not kept: its first run is the best there is.
UPDATE job_version SET
  version = numbered.version,
  created_at = CASE WHEN job_version.version_no = job.version_no THEN job.updated_at
    ELSE coalesce(used.first_run_at, job.created_at) END
FROM job
  JOIN (
    SELECT version_no, row_number() OVER (PARTITION BY job_no ORDER BY version_no) AS version FROM job_version
  ) AS numbered
  LEFT JOIN (SELECT version_no, min(launched_at) AS first_run_at FROM run GROUP BY version_no) AS used
    ON used.version_no = numbered.version_no
WHERE job.job_no = job_version.job_no AND numbered.version_no = job_version.version_no;

CREATE UNIQUE INDEX job_version_by_number ON job_version (job_no, version);

-- Also for what is imported from an export that has no numbers.
CREATE TRIGGER number_job_version AFTER INSERT ON job_version WHEN NEW.version = 0 BEGIN
  UPDATE job_version SET
    version = 1 + coalesce((SELECT max(version) FROM job_version WHERE job_no = NEW.job_no), 0),
    created_at = CASE WHEN NEW.created_at > 0 THEN NEW.created_at
      ELSE coalesce((SELECT updated_at FROM job WHERE job_no = NEW.job_no), 0) END
  WHERE version_no = NEW.version_no;
END;

-- The run that this one takes back, if it is a rollback.
ALTER TABLE run_request ADD COLUMN rollback_of INTEGER;

-- The parameters of a run, once for all its executions. Secrets are masked in `parameters` and encrypted in `secrets`.
CREATE TABLE run_parameters (
  run_id INTEGER PRIMARY KEY,
  parameters TEXT NOT NULL,
  secrets TEXT
) STRICT;

CREATE INDEX run_parameters_secret ON run_parameters (run_id) WHERE secrets IS NOT NULL;
