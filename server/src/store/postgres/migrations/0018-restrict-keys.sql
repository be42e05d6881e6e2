-- What a key is restricted to, as JSON.
ALTER TABLE api_key ADD COLUMN restriction text;

-- As before, and if its restriction changes.
DROP TRIGGER api_key_changed ON api_key;
CREATE TRIGGER api_key_changed AFTER UPDATE OF key_id, owner_no, secret_hash, scopes, restriction, expires_at, revoked_at ON api_key
  FOR EACH ROW EXECUTE FUNCTION note_changed_name();
