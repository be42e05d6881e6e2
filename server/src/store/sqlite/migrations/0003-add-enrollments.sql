-- Devices that fetch their first credential themselves, by a token that is limited in uses and time.

CREATE TABLE enrollment (
  enrollment_id TEXT PRIMARY KEY,
  owner_no INTEGER NOT NULL REFERENCES owner,
  name TEXT,
  secret_hash BLOB NOT NULL,
  max_uses INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0 CHECK (used <= max_uses),
  tags TEXT NOT NULL,
  device_id_prefix TEXT,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX enrollment_by_owner ON enrollment (owner_no, enrollment_id);

-- By what a device that enrolled is known again when the answer got lost. It goes with the token.
ALTER TABLE device ADD COLUMN claim_hash BLOB;
