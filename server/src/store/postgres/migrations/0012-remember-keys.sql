-- Nodes remember API keys as they remember names (0005): a key that becomes void, or is changed in any way that decides
-- what it may do, gives its owner's names another number. That it was used is none of these.
CREATE TRIGGER api_key_changed AFTER UPDATE OF key_id, owner_no, secret_hash, scopes, expires_at, revoked_at ON api_key
  FOR EACH ROW EXECUTE FUNCTION note_changed_name();
CREATE TRIGGER api_key_gone AFTER DELETE ON api_key FOR EACH ROW EXECUTE FUNCTION note_changed_name();
