-- What is known of a device besides its name and tags: set by its owner, or reported by the device itself. In a table of
-- its own, because presence rewrites device rows all the time. `value` is JSON; `sort_key` is ordered as values compare
-- (contract/src/selector/compare-values.ts). A reported value is shadowed while the owner has one of the same name.
CREATE TABLE device_attribute (
  device_no INTEGER NOT NULL,
  name TEXT NOT NULL,
  reported INTEGER NOT NULL,
  owner_no INTEGER NOT NULL,
  value TEXT NOT NULL,
  sort_key TEXT NOT NULL,
  shadowed INTEGER NOT NULL,
  PRIMARY KEY (device_no, name, reported)
) STRICT, WITHOUT ROWID;

CREATE INDEX device_attribute_by_value ON device_attribute (owner_no, name, sort_key) WHERE shadowed = 0;

-- Named selectors.
CREATE TABLE device_group (
  owner_no INTEGER NOT NULL REFERENCES owner,
  group_name TEXT NOT NULL,
  where_text TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (owner_no, group_name)
) STRICT, WITHOUT ROWID;

-- What a run was asked for with, if it was more than a list of devices.
CREATE TABLE run_request (
  run_id INTEGER PRIMARY KEY,
  where_text TEXT,
  matched INTEGER,
  note TEXT
) STRICT;

-- Large runs that are being written: their executions are on disk in part, and nobody sees them before their run is there.
CREATE TABLE run_draft (
  run_id INTEGER PRIMARY KEY,
  owner_no INTEGER NOT NULL,
  first_execution_id INTEGER NOT NULL,
  total INTEGER NOT NULL,
  node_no INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Devices that were deleted while such a run was written.
CREATE INDEX device_deleted ON device (owner_no, deleted_at) WHERE deleted_at IS NOT NULL;
