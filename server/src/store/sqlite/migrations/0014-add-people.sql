-- Sessions of people who sign in at an issuer (OIDC). What such a person may do is a row of api_key that has no secret.
ALTER TABLE session ADD COLUMN person TEXT;
ALTER TABLE session ADD COLUMN tokens TEXT;
ALTER TABLE session ADD COLUMN checked_at INTEGER;
ALTER TABLE session ADD COLUMN tried_at INTEGER;
