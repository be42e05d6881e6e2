-- When each window was open for which zones, on the steady clock: time limits do not run while executions are held back. The
-- window '' is the fleet of an owner, which is closed while it is frozen.
CREATE TABLE offer_history (
  owner_no INTEGER NOT NULL REFERENCES owner,
  window_name TEXT NOT NULL,
  clock INTEGER NOT NULL,
  open_zones TEXT NOT NULL,
  PRIMARY KEY (owner_no, window_name, clock)
) STRICT, WITHOUT ROWID;

INSERT INTO offer_history (owner_no, window_name, clock, open_zones)
SELECT owner_no, window_name, 0, open_zones FROM offer_window;
INSERT INTO offer_history (owner_no, window_name, clock, open_zones)
SELECT owner_no, '', 0, '' FROM fleet_freeze;

-- From when on the expiry counts; NULL: expire_at says it, which no hold has moved.
ALTER TABLE rollout_release ADD COLUMN counts_from INTEGER;

-- How long windows and freezes held it back before it began, and since when a later attempt waits.
ALTER TABLE execution ADD COLUMN held_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE execution ADD COLUMN waits_from INTEGER;
