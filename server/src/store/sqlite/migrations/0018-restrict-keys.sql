-- What a key is restricted to, as JSON.
ALTER TABLE api_key ADD COLUMN restriction TEXT;
