-- The last unsuccessful attempt of a webhook: when, the HTTP status, and what the receiver said.
ALTER TABLE webhook ADD COLUMN last_failure TEXT;
