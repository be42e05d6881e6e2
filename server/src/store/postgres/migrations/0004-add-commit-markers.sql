-- One row for each connection that a node writes on: how many transactions were committed under it. A node that loses
-- its connection before COMMIT is answered reads here whether it was committed (../commit-markers.ts).
CREATE TABLE commit_marker (
  marker_id bigint PRIMARY KEY,
  node_no integer NOT NULL,
  commits bigint NOT NULL
) WITH (fillfactor = 50);
