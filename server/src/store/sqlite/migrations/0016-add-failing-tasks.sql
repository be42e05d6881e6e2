-- What the service does by itself and cannot write: each node says so here, so that all of them can show it.
-- task_no: the run of a rollout, the number of a schedule, 0 of timers. last_at: the last try; an old one says nothing.
CREATE TABLE failing_task (
  kind TEXT NOT NULL,
  task_no INTEGER NOT NULL,
  since INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  times INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (kind, task_no)
) STRICT, WITHOUT ROWID;
