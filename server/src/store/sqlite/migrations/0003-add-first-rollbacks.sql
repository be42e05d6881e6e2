-- The first run that takes another one back: there is only one, whichever nodes are asked at once.
ALTER TABLE run_request ADD COLUMN rollback_once INTEGER;

CREATE UNIQUE INDEX run_request_rollback_once ON run_request (rollback_once) WHERE rollback_once IS NOT NULL;
CREATE INDEX run_request_by_rollback ON run_request (rollback_of, run_id) WHERE rollback_of IS NOT NULL;
