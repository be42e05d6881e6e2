-- Browsers that are signed in, and tickets that sign in once. Both act for a key, which is judged on every request.
CREATE TABLE session (
  session_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  key_id TEXT NOT NULL,
  secret_hash BLOB NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_expiry ON session (expires_at);
