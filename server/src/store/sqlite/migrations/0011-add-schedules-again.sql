-- Of a device that was given the job of a schedule with match: its last execution, of which version of the job that is, how often
-- in a row it got one, when the end was noticed, and from when on it gets another one.
ALTER TABLE schedule_device ADD COLUMN execution_id INTEGER;
ALTER TABLE schedule_device ADD COLUMN version_no INTEGER;
ALTER TABLE schedule_device ADD COLUMN times INTEGER;
ALTER TABLE schedule_device ADD COLUMN ended_at INTEGER;
ALTER TABLE schedule_device ADD COLUMN again_at INTEGER;

CREATE INDEX schedule_device_again ON schedule_device (schedule_no, again_at) WHERE again_at IS NOT NULL;
