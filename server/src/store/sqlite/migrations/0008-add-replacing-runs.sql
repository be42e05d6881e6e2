-- Whether a run replaces what waits of its job on its devices: 1 until all of it is canceled, then 0.
ALTER TABLE run_request ADD COLUMN replaces INTEGER;

CREATE INDEX run_request_replacing ON run_request (run_id) WHERE replaces = 1;
