-- The format of the requests of a webhook: events as they are, messages for a chat, or CloudEvents.
ALTER TABLE webhook ADD COLUMN format TEXT NOT NULL DEFAULT 'jobcast';
