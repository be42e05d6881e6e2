-- Who has changed what a window or a group is, and when last: a JSON list of lineages, for approvals of runs that depend on it.
ALTER TABLE offer_window ADD COLUMN changed_by TEXT;
ALTER TABLE device_group ADD COLUMN changed_by TEXT;
