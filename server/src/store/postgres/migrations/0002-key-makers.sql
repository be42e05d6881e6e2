-- Who created a key, an enrollment, a webhook or a device token: `key:<id>`, `enrollment:<id>` or `operator`. NULL for what
-- is older than this record. `created_by_session`: the session of the key in which it was done.
ALTER TABLE api_key ADD COLUMN created_by text COLLATE "C", ADD COLUMN created_by_session text;
ALTER TABLE enrollment ADD COLUMN created_by text COLLATE "C", ADD COLUMN created_by_session text;
ALTER TABLE webhook ADD COLUMN created_by text COLLATE "C", ADD COLUMN created_by_session text;
ALTER TABLE device ADD COLUMN token_created_by text;

-- What a key has created is found when it is revoked.
CREATE INDEX api_key_by_maker ON api_key (created_by);
-- One of these is left, whatever is revoked.
CREATE INDEX api_key_admin ON api_key (key_id) WHERE scopes LIKE '%"ADMIN"%' AND revoked_at IS NULL;
CREATE INDEX enrollment_by_maker ON enrollment (created_by);

-- Sessions are listed and end when they are not used. A session or ticket that another session asked for ends with that
-- one, its parent. Those that are open count as used now.
ALTER TABLE session
  ADD COLUMN owner_no integer REFERENCES owner,
  ADD COLUMN parent_id text COLLATE "C",
  ADD COLUMN address text,
  ADD COLUMN user_agent text,
  ADD COLUMN created_at bigint,
  ADD COLUMN last_used_at bigint;

DELETE FROM session WHERE NOT EXISTS (SELECT 1 FROM api_key WHERE api_key.key_id = session.key_id);

UPDATE session SET owner_no = api_key.owner_no, created_at = extract(epoch FROM now()) * 1000,
  last_used_at = extract(epoch FROM now()) * 1000
FROM api_key WHERE api_key.key_id = session.key_id;

ALTER TABLE session
  ALTER COLUMN owner_no SET NOT NULL,
  ALTER COLUMN created_at SET NOT NULL,
  ALTER COLUMN last_used_at SET NOT NULL;

CREATE INDEX session_by_owner ON session (owner_no, session_id);
CREATE INDEX session_by_parent ON session (parent_id) WHERE parent_id IS NOT NULL;
