-- Versions of files. The one with the largest put_no is the newest. url: where the content is, if it is not kept here.
CREATE TABLE file_version (
  owner_no integer NOT NULL REFERENCES owner,
  file_name text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  put_no integer NOT NULL,
  size bigint NOT NULL,
  sha256 text NOT NULL,
  sha1 text,
  url text,
  created_at bigint NOT NULL,
  created_by text NOT NULL,
  PRIMARY KEY (owner_no, file_name, version)
);

CREATE UNIQUE INDEX file_version_order ON file_version (owner_no, file_name, put_no);
CREATE INDEX file_version_kept ON file_version (sha256) WHERE url IS NULL;

-- The files that a document names, NAME or NAME@VERSION, as JSON; also in its content, which may be large.
ALTER TABLE job_version ADD COLUMN files text;

CREATE INDEX job_version_with_files ON job_version (version_no) WHERE files IS NOT NULL;
