-- When work may be offered to devices. open_zones: for which zones it is open right now (domain/open-zones.ts).
CREATE TABLE offer_window (
  owner_no integer NOT NULL REFERENCES owner,
  window_name text COLLATE "C" NOT NULL,
  cron text NOT NULL,
  duration_minutes integer NOT NULL,
  time_zone text NOT NULL,
  cutoff_minutes integer NOT NULL,
  except_dates text NOT NULL,
  version integer NOT NULL,
  open_zones text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (owner_no, window_name)
);

-- The window in which the executions of a run are offered; NULL: at any time.
ALTER TABLE run_request ADD COLUMN window_name text COLLATE "C";

-- For each execution that waits it is asked whether its run has one: most have none, and this index is empty.
CREATE INDEX run_request_with_window ON run_request (run_id, window_name) WHERE window_name IS NOT NULL;

-- Of an attribute timeZone: the zone that it stands for. NULL until that is known, and for all other attributes.
ALTER TABLE device_attribute ADD COLUMN zone text COLLATE "C";

CREATE INDEX device_attribute_by_zone ON device_attribute (owner_no, zone) WHERE zone IS NOT NULL;

CREATE INDEX device_attribute_without_zone ON device_attribute (device_no) WHERE name = 'timeZone' AND zone IS NULL;
