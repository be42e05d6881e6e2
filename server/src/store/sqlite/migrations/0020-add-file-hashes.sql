-- Devices of hawkBit are told the md5 of a file, too. Null: of a reference without one, or of what was put before.
ALTER TABLE file_version ADD COLUMN md5 TEXT;
