-- Up to which event the log of the owner was published on a broker.
CREATE TABLE bridge_cursor (
  bridge_name text COLLATE "C" PRIMARY KEY,
  owner_no integer NOT NULL REFERENCES owner,
  event_id bigint NOT NULL
);
