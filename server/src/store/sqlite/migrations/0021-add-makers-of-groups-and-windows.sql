-- Who created a group or a window, and who put it last, as principals. Null: it was put before this was recorded.
ALTER TABLE device_group ADD COLUMN created_by TEXT;
ALTER TABLE device_group ADD COLUMN updated_by TEXT;
ALTER TABLE offer_window ADD COLUMN created_by TEXT;
ALTER TABLE offer_window ADD COLUMN updated_by TEXT;
