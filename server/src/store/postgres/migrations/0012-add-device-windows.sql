-- The windows of devices: their own (group_name '') and those of the groups they are in, from since_clock on. Those that no longer
-- apply (until_clock) are kept for the time limits of what they held back.
CREATE TABLE device_window (
  device_no integer NOT NULL,
  group_name text COLLATE "C" NOT NULL,
  since_clock bigint NOT NULL,
  owner_no integer NOT NULL REFERENCES owner,
  window_name text COLLATE "C" NOT NULL,
  until_clock bigint,
  PRIMARY KEY (device_no, group_name, since_clock)
);

CREATE INDEX device_window_current ON device_window (owner_no, window_name, device_no) WHERE until_clock IS NULL;
CREATE INDEX device_window_since ON device_window (owner_no, since_clock);
CREATE INDEX device_window_until ON device_window (owner_no, until_clock);

ALTER TABLE device_group ADD COLUMN window_name text COLLATE "C";

CREATE INDEX device_group_with_window ON device_group (owner_no, window_name, group_name) WHERE window_name IS NOT NULL;

-- Owners whose groups have changed: which devices are in them is found out a batch at a time, in the order of the device ids.
CREATE TABLE group_sweep (
  owner_no integer PRIMARY KEY REFERENCES owner,
  after_device_id text COLLATE "C" NOT NULL
);
