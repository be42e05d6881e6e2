-- Null is the default.
ALTER TABLE execution ADD COLUMN priority INTEGER;
ALTER TABLE run_request ADD COLUMN priority INTEGER;
