-- Who created a key, an enrollment, a webhook or a device token: `key:<id>`, `enrollment:<id>` or `operator`. NULL for what
-- is older than this record. `created_by_session`: the session of the key in which it was done.
ALTER TABLE api_key ADD COLUMN created_by TEXT;
ALTER TABLE api_key ADD COLUMN created_by_session TEXT;
ALTER TABLE enrollment ADD COLUMN created_by TEXT;
ALTER TABLE enrollment ADD COLUMN created_by_session TEXT;
ALTER TABLE webhook ADD COLUMN created_by TEXT;
ALTER TABLE webhook ADD COLUMN created_by_session TEXT;
ALTER TABLE device ADD COLUMN token_created_by TEXT;

-- What a key has created is found when it is revoked.
CREATE INDEX api_key_by_maker ON api_key (created_by);
-- One of these is left, whatever is revoked.
CREATE INDEX api_key_admin ON api_key (key_id) WHERE instr(scopes, '"ADMIN"') > 0 AND revoked_at IS NULL;
CREATE INDEX enrollment_by_maker ON enrollment (created_by);

-- Sessions are listed and end when they are not used. A session or ticket that another session asked for ends with that
-- one, its parent.
CREATE TABLE new_session (
  session_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  key_id TEXT NOT NULL,
  owner_no INTEGER NOT NULL REFERENCES owner,
  secret_hash BLOB NOT NULL,
  parent_id TEXT,
  address TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Those that are open count as used now.
INSERT INTO new_session (session_id, kind, key_id, owner_no, secret_hash, created_at, last_used_at, expires_at)
SELECT session_id, kind, key_id, owner_no, session.secret_hash, unixepoch() * 1000, unixepoch() * 1000, session.expires_at
FROM session JOIN api_key USING (key_id);

DROP TABLE session;
ALTER TABLE new_session RENAME TO session;

CREATE INDEX session_by_owner ON session (owner_no, session_id);
CREATE INDEX session_by_expiry ON session (expires_at);
CREATE INDEX session_by_parent ON session (parent_id) WHERE parent_id IS NOT NULL;
