-- Null is the default: only executions with another priority are in the index by which a device is offered them.
ALTER TABLE execution ADD COLUMN priority integer;
ALTER TABLE run_request ADD COLUMN priority integer;

CREATE INDEX execution_prioritized ON execution (device_no, priority DESC, execution_id)
  WHERE priority IS NOT NULL AND state = 'PENDING';
