-- Up to which event the log of the owner was published on a broker.
CREATE TABLE bridge_cursor (
  bridge_name TEXT PRIMARY KEY,
  owner_no INTEGER NOT NULL REFERENCES owner,
  event_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
