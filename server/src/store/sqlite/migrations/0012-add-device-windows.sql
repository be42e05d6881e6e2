-- The windows of devices: their own (group_name '') and those of the groups they are in, from since_clock on. Those that no longer
-- apply (until_clock) are kept for the time limits of what they held back.
CREATE TABLE device_window (
  device_no INTEGER NOT NULL,
  group_name TEXT NOT NULL,
  since_clock INTEGER NOT NULL,
  owner_no INTEGER NOT NULL REFERENCES owner,
  window_name TEXT NOT NULL,
  until_clock INTEGER,
  PRIMARY KEY (device_no, group_name, since_clock)
) STRICT, WITHOUT ROWID;

CREATE INDEX device_window_current ON device_window (owner_no, window_name, device_no) WHERE until_clock IS NULL;
CREATE INDEX device_window_since ON device_window (owner_no, since_clock);
CREATE INDEX device_window_until ON device_window (owner_no, until_clock);

ALTER TABLE device_group ADD COLUMN window_name TEXT;

CREATE INDEX device_group_with_window ON device_group (owner_no, window_name, group_name) WHERE window_name IS NOT NULL;

-- Owners whose groups have changed: which devices are in them is found out a batch at a time, in the order of the device ids.
CREATE TABLE group_sweep (
  owner_no INTEGER PRIMARY KEY REFERENCES owner,
  after_device_id TEXT NOT NULL
) STRICT;
