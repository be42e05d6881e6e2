-- What is known of a device besides its name and tags: set by its owner, or reported by the device itself. In a table of
-- its own, because presence rewrites device rows all the time. `value` is JSON; `sort_key` is ordered as values compare
-- (contract/src/selector/compare-values.ts). A reported value is shadowed while the owner has one of the same name.
CREATE TABLE device_attribute (
  device_no integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  reported boolean NOT NULL,
  owner_no integer NOT NULL,
  value text COLLATE "C" NOT NULL,
  sort_key text COLLATE "C" NOT NULL,
  shadowed boolean NOT NULL,
  PRIMARY KEY (device_no, name, reported)
);

CREATE INDEX device_attribute_by_value ON device_attribute (owner_no, name, sort_key, device_no) WHERE NOT shadowed;

-- Named selectors.
CREATE TABLE device_group (
  owner_no integer NOT NULL REFERENCES owner,
  group_name text COLLATE "C" NOT NULL,
  where_text text NOT NULL,
  description text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  PRIMARY KEY (owner_no, group_name)
);

-- What a run was asked for with, if it was more than a list of devices.
CREATE TABLE run_request (
  run_id bigint PRIMARY KEY,
  where_text text,
  matched integer,
  note text
);

-- Large runs that are being written: their executions are on disk in part, and nobody sees them before their run is there.
CREATE TABLE run_draft (
  run_id bigint PRIMARY KEY,
  owner_no integer NOT NULL,
  first_execution_id bigint NOT NULL,
  total integer NOT NULL,
  node_no integer NOT NULL,
  created_at bigint NOT NULL
);

-- Devices that were deleted while such a run was written.
CREATE INDEX device_deleted ON device (owner_no, deleted_at) WHERE deleted_at IS NOT NULL;
