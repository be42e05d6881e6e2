-- When the last execution of a run ended: runs are forgotten by it (../retention.ts). NULL while one has not.
ALTER TABLE run ADD COLUMN ended_at INTEGER;

UPDATE run SET ended_at = coalesce(
  (SELECT max(finished_at) FROM execution
   WHERE execution_id BETWEEN first_execution_id AND first_execution_id + total - 1),
  launched_at)
WHERE pending + in_progress + canceling = 0;

-- Executions whose run is forgotten and that are yet to be removed: a large run is not removed in one go.
CREATE TABLE forgotten_range (
  first_execution_id INTEGER PRIMARY KEY,
  last_execution_id INTEGER NOT NULL
) STRICT;
