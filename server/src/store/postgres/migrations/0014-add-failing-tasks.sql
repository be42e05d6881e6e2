-- What the service does by itself and cannot write: each node says so here, so that all of them can show it.
-- task_no: the run of a rollout, the number of a schedule, 0 of timers. last_at: the last try; an old one says nothing.
CREATE TABLE failing_task (
  kind text NOT NULL,
  task_no bigint NOT NULL,
  since bigint NOT NULL,
  last_at bigint NOT NULL,
  times integer NOT NULL,
  message text NOT NULL,
  PRIMARY KEY (kind, task_no)
);
