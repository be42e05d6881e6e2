-- Values with a name that devices get and nobody can read back, encrypted. Of each name one value is current; those before
-- it (replaced_at) are kept while an unfinished execution may have got them, to be masked in what its device reports.
CREATE TABLE secret (
  owner_no INTEGER NOT NULL REFERENCES owner,
  secret_name TEXT NOT NULL,
  version INTEGER NOT NULL,
  sealed TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  replaced_at INTEGER,
  PRIMARY KEY (owner_no, secret_name, version)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX secret_current ON secret (owner_no, secret_name) WHERE replaced_at IS NULL;
CREATE INDEX secret_former ON secret (owner_no, secret_name) WHERE replaced_at IS NOT NULL;

-- The names of the secrets that a document uses, as JSON; also in its content, which may be large.
ALTER TABLE job_version ADD COLUMN secrets TEXT;

CREATE INDEX job_version_with_secrets ON job_version (version_no) WHERE secrets IS NOT NULL;

-- Of outputs in which secrets are masked: how many bytes the device has sent, and the end of them that may be the beginning of a
-- secret, encrypted.
CREATE TABLE masked_output (
  execution_id INTEGER PRIMARY KEY,
  attempt INTEGER NOT NULL,
  received INTEGER NOT NULL,
  held TEXT
) STRICT;
