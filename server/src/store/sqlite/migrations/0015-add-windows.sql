-- When work may be offered to devices. open_zones: for which zones it is open right now (domain/open-zones.ts).
CREATE TABLE offer_window (
  owner_no INTEGER NOT NULL REFERENCES owner,
  window_name TEXT NOT NULL,
  cron TEXT NOT NULL,
  duration_minutes INTEGER NOT NULL,
  time_zone TEXT NOT NULL,
  cutoff_minutes INTEGER NOT NULL,
  except_dates TEXT NOT NULL,
  version INTEGER NOT NULL,
  open_zones TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (owner_no, window_name)
) STRICT, WITHOUT ROWID;

-- The window in which the executions of a run are offered; NULL: at any time.
ALTER TABLE run_request ADD COLUMN window_name TEXT;

-- Of an attribute timeZone: the zone that it stands for. NULL until that is known, and for all other attributes.
ALTER TABLE device_attribute ADD COLUMN zone TEXT;

CREATE INDEX device_attribute_by_zone ON device_attribute (owner_no, zone) WHERE zone IS NOT NULL;

CREATE INDEX device_attribute_without_zone ON device_attribute (device_no) WHERE name = 'timeZone' AND zone IS NULL;
