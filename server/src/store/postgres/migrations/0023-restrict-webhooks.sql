-- What the events of a webhook are restricted to, as JSON: the restriction of the key that created it.
ALTER TABLE webhook ADD COLUMN restriction text;
