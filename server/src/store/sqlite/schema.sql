-- Written by `npm run generate` from the migrations; do not edit.

CREATE TABLE api_key (
  key_id TEXT PRIMARY KEY,
  owner_no INTEGER NOT NULL REFERENCES owner,
  key_name TEXT NOT NULL,
  secret_hash BLOB NOT NULL,
  scopes TEXT NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT,
  created_by_session TEXT
, restriction TEXT) STRICT, WITHOUT ROWID;

CREATE INDEX api_key_admin ON api_key (key_id) WHERE instr(scopes, '"ADMIN"') > 0 AND revoked_at IS NULL;

CREATE INDEX api_key_by_creator ON api_key (created_by);

CREATE INDEX api_key_by_owner ON api_key (owner_no, key_id);

CREATE TABLE audit_entry (
  owner_no INTEGER NOT NULL,
  audit_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  principal TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  details TEXT NOT NULL,
  PRIMARY KEY (owner_no, audit_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit_seal (
  owner_no INTEGER NOT NULL REFERENCES owner,
  seal_no INTEGER NOT NULL,
  first_audit_id INTEGER NOT NULL,
  last_audit_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  seal TEXT NOT NULL,
  leaves BLOB NOT NULL,
  announced_at INTEGER,
  PRIMARY KEY (owner_no, seal_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE bridge_cursor (
  bridge_name TEXT PRIMARY KEY,
  owner_no INTEGER NOT NULL REFERENCES owner,
  event_id INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE device (
  device_no INTEGER PRIMARY KEY,
  owner_no INTEGER NOT NULL REFERENCES owner,
  device_id TEXT NOT NULL,
  device_name TEXT NOT NULL,
  tags TEXT NOT NULL,
  token_id TEXT UNIQUE,
  token_hash BLOB,
  token_created_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  online INTEGER NOT NULL DEFAULT 0,
  presence_since INTEGER,
  last_seen_at INTEGER,
  transport TEXT,
  -- While set, the device cannot sign in with a certificate.
  revoked_at INTEGER,
  -- Recognizes a device that enrolled when the response was lost. Deleted with the token.
  claim_hash BLOB,
  token_created_by TEXT,
  UNIQUE (owner_no, device_id)
) STRICT;

CREATE INDEX device_deleted ON device (owner_no, deleted_at) WHERE deleted_at IS NOT NULL;

CREATE INDEX device_online ON device (owner_no, device_id) WHERE online = 1;

CREATE TABLE device_attribute (
  device_no INTEGER NOT NULL,
  name TEXT NOT NULL,
  reported INTEGER NOT NULL,
  owner_no INTEGER NOT NULL,
  value TEXT NOT NULL,
  sort_key TEXT NOT NULL,
  shadowed INTEGER NOT NULL,
  zone TEXT,
  PRIMARY KEY (device_no, name, reported)
) STRICT, WITHOUT ROWID;

CREATE INDEX device_attribute_by_value ON device_attribute (owner_no, name, sort_key) WHERE shadowed = 0;

CREATE INDEX device_attribute_by_zone ON device_attribute (owner_no, zone) WHERE zone IS NOT NULL;

CREATE INDEX device_attribute_shadowed ON device_attribute (owner_no, name, sort_key) WHERE shadowed = 1;

CREATE INDEX device_attribute_without_zone ON device_attribute (device_no) WHERE name = 'timeZone' AND zone IS NULL;

CREATE TABLE device_group (
  owner_no INTEGER NOT NULL REFERENCES owner,
  group_name TEXT NOT NULL,
  where_text TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, window_name TEXT, changed_by TEXT, created_by TEXT, updated_by TEXT,
  PRIMARY KEY (owner_no, group_name)
) STRICT, WITHOUT ROWID;

CREATE INDEX device_group_with_window ON device_group (owner_no, window_name, group_name) WHERE window_name IS NOT NULL;

CREATE TABLE device_rename (
  device_no INTEGER NOT NULL,
  last_execution_id INTEGER NOT NULL,
  device_name TEXT NOT NULL,
  PRIMARY KEY (device_no, last_execution_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE device_tag (
  owner_no INTEGER NOT NULL,
  tag TEXT NOT NULL,
  device_id TEXT NOT NULL,
  PRIMARY KEY (owner_no, tag, device_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE device_window (
  device_no INTEGER NOT NULL,
  group_name TEXT NOT NULL,
  since_clock INTEGER NOT NULL,
  owner_no INTEGER NOT NULL REFERENCES owner,
  window_name TEXT NOT NULL,
  until_clock INTEGER,
  PRIMARY KEY (device_no, group_name, since_clock)
) STRICT, WITHOUT ROWID;

CREATE INDEX device_window_current ON device_window (owner_no, window_name, device_no) WHERE until_clock IS NULL;

CREATE INDEX device_window_since ON device_window (owner_no, since_clock);

CREATE INDEX device_window_until ON device_window (owner_no, until_clock);

CREATE TABLE enrollment (
  enrollment_id TEXT PRIMARY KEY,
  owner_no INTEGER NOT NULL REFERENCES owner,
  name TEXT,
  secret_hash BLOB NOT NULL,
  max_uses INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0 CHECK (used <= max_uses),
  tags TEXT NOT NULL,
  device_id_prefix TEXT,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT,
  created_by_session TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX enrollment_by_creator ON enrollment (created_by);

CREATE INDEX enrollment_by_owner ON enrollment (owner_no, enrollment_id);

CREATE TABLE event (
  owner_no INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  type TEXT NOT NULL,
  run_id INTEGER,
  execution_id INTEGER,
  device_no INTEGER,
  from_state TEXT,
  cause TEXT,
  actor TEXT,
  attempt INTEGER,
  version_number INTEGER,
  details TEXT,
  PRIMARY KEY (owner_no, event_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE execution (
  execution_id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  owner_no INTEGER NOT NULL,
  device_no INTEGER NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  version_number INTEGER NOT NULL,
  -- Of the current or last attempt, as are output_cut and output_pieces.
  output_bytes INTEGER NOT NULL DEFAULT 0,
  output_cut INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER,
  finished_at INTEGER,
  notified_at INTEGER,
  delivered_at INTEGER,
  not_before INTEGER,
  -- When its own timer fires; its state says which one that is.
  due_at INTEGER,
  -- NULL until something changes it: until then it is as old as its run.
  updated_at INTEGER,
  -- The version that the request to cancel created.
  cancel_version INTEGER,
  -- The reports that were accepted (domain/execution/seen-reports.ts).
  seen_report TEXT,
  status_details TEXT,
  result TEXT,
  -- Progress events are written at most once a second: when the last one was, whether a later report is not yet written as
  -- an event, and how many bytes of details they have taken up.
  progress_at INTEGER,
  progress_held INTEGER NOT NULL DEFAULT 0,
  progress_bytes INTEGER NOT NULL DEFAULT 0,
  output_pieces INTEGER NOT NULL DEFAULT 0
, held_ms INTEGER NOT NULL DEFAULT 0, waits_from INTEGER, priority INTEGER) STRICT;

CREATE INDEX execution_active ON execution (device_no, execution_id) WHERE state IN ('IN_PROGRESS', 'CANCELING');

CREATE INDEX execution_by_device ON execution (device_no, execution_id) WHERE state <> 'PENDING';

CREATE INDEX execution_by_state ON execution (owner_no, state, execution_id)
  WHERE state NOT IN ('PENDING', 'SUCCEEDED');

CREATE INDEX execution_due ON execution (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX execution_progress_held ON execution (progress_at) WHERE progress_held = 1;

CREATE TABLE failing_task (
  kind TEXT NOT NULL,
  task_no INTEGER NOT NULL,
  since INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  times INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (kind, task_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_version (
  owner_no INTEGER NOT NULL REFERENCES owner,
  file_name TEXT NOT NULL,
  version TEXT NOT NULL,
  put_no INTEGER NOT NULL,
  size INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  sha1 TEXT,
  url TEXT,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL, md5 TEXT,
  PRIMARY KEY (owner_no, file_name, version)
) STRICT, WITHOUT ROWID;

CREATE INDEX file_version_kept ON file_version (sha256) WHERE url IS NULL;

CREATE UNIQUE INDEX file_version_order ON file_version (owner_no, file_name, put_no);

CREATE TABLE fleet_freeze (
  owner_no INTEGER PRIMARY KEY,
  reason TEXT NOT NULL,
  principal TEXT NOT NULL,
  at INTEGER NOT NULL,
  until INTEGER
) STRICT;

CREATE TABLE group_sweep (
  owner_no INTEGER PRIMARY KEY REFERENCES owner,
  after_device_id TEXT NOT NULL
) STRICT;

CREATE TABLE idempotency_key (
  owner_no INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  request_hash BLOB NOT NULL,
  run_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (owner_no, idempotency_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_key_by_age ON idempotency_key (created_at);

CREATE TABLE job (
  job_no INTEGER PRIMARY KEY,
  owner_no INTEGER NOT NULL REFERENCES owner,
  job_name TEXT NOT NULL,
  -- The current one.
  version_no INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  UNIQUE (owner_no, job_name)
) STRICT;

CREATE TABLE job_version (
  version_no INTEGER PRIMARY KEY,
  job_no INTEGER NOT NULL,
  content TEXT NOT NULL,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT
, secrets TEXT, files TEXT) STRICT;

CREATE UNIQUE INDEX job_version_by_number ON job_version (job_no, version);

CREATE INDEX job_version_with_files ON job_version (version_no) WHERE files IS NOT NULL;

CREATE INDEX job_version_with_secrets ON job_version (version_no) WHERE secrets IS NOT NULL;

CREATE TABLE last_id (
  run_id INTEGER NOT NULL,
  execution_id INTEGER NOT NULL
) STRICT;

CREATE TABLE masked_output (
  execution_id INTEGER PRIMARY KEY,
  attempt INTEGER NOT NULL,
  received INTEGER NOT NULL,
  held TEXT
) STRICT;

CREATE TABLE offer_history (
  owner_no INTEGER NOT NULL REFERENCES owner,
  window_name TEXT NOT NULL,
  clock INTEGER NOT NULL,
  open_zones TEXT NOT NULL,
  PRIMARY KEY (owner_no, window_name, clock)
) STRICT, WITHOUT ROWID;

CREATE TABLE offer_window (
  owner_no INTEGER NOT NULL REFERENCES owner,
  window_name TEXT NOT NULL,
  cron TEXT NOT NULL,
  duration_minutes INTEGER NOT NULL,
  time_zone TEXT NOT NULL,
  cutoff_minutes INTEGER NOT NULL,
  except_dates TEXT NOT NULL,
  version INTEGER NOT NULL,
  open_zones TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, changed_by TEXT, created_by TEXT, updated_by TEXT,
  PRIMARY KEY (owner_no, window_name)
) STRICT, WITHOUT ROWID;

CREATE TABLE output (
  execution_id INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  start INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (execution_id, attempt, start)
) STRICT;

CREATE TABLE owner (
  owner_no INTEGER PRIMARY KEY,
  owner_id TEXT NOT NULL UNIQUE,
  owner_name TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  -- Its events up to this one are purged. The newest one is always kept, so that ids only grow.
  purged_event_id INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE purged_range (
  first_execution_id INTEGER PRIMARY KEY,
  last_execution_id INTEGER NOT NULL
) STRICT;

CREATE TABLE rollout (
  run_id INTEGER PRIMARY KEY,
  owner_no INTEGER NOT NULL,
  first_execution_id INTEGER NOT NULL,
  total INTEGER NOT NULL,
  state TEXT NOT NULL,
  released INTEGER NOT NULL,
  held_from INTEGER,
  is_open INTEGER NOT NULL,
  next_at INTEGER,
  version INTEGER NOT NULL,
  plan TEXT NOT NULL,
  status TEXT NOT NULL,
  start_at INTEGER
) STRICT;

CREATE INDEX rollout_held ON rollout (run_id, held_from) WHERE held_from IS NOT NULL;

CREATE INDEX rollout_open ON rollout (run_id) WHERE is_open = 1;

CREATE TABLE rollout_release (
  run_id INTEGER NOT NULL,
  first_execution_id INTEGER NOT NULL,
  last_execution_id INTEGER NOT NULL,
  expire_at INTEGER,
  deadline_at INTEGER,
  deadline_due_at INTEGER, counts_from INTEGER,
  PRIMARY KEY (run_id, first_execution_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX rollout_release_deadline ON rollout_release (deadline_due_at) WHERE deadline_due_at IS NOT NULL;

CREATE INDEX rollout_release_expiring ON rollout_release (expire_at) WHERE expire_at IS NOT NULL;

CREATE TABLE run (
  run_id INTEGER PRIMARY KEY,
  owner_no INTEGER NOT NULL,
  job_no INTEGER NOT NULL,
  version_no INTEGER NOT NULL,
  launched_at INTEGER NOT NULL,
  first_execution_id INTEGER NOT NULL,
  total INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  in_progress INTEGER NOT NULL DEFAULT 0,
  canceling INTEGER NOT NULL DEFAULT 0,
  succeeded INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  timed_out INTEGER NOT NULL DEFAULT 0,
  rejected INTEGER NOT NULL DEFAULT 0,
  expired INTEGER NOT NULL DEFAULT 0,
  canceled INTEGER NOT NULL DEFAULT 0,
  -- When the last execution ended: runs are purged by it (../../tables/retention.ts). NULL while one is unfinished.
  ended_at INTEGER,
  -- The timers that all its executions share; NULL once they have fired and everything they cause is done.
  expire_at INTEGER,
  deadline_at INTEGER,
  key_id TEXT,
  -- The run whose failures it retries.
  retry_of INTEGER,
  -- The trace that it belongs to.
  trace_parent TEXT
) STRICT;

CREATE INDEX run_by_end ON run (owner_no, ended_at) WHERE ended_at IS NOT NULL;

CREATE INDEX run_by_job ON run (job_no, run_id);

CREATE INDEX run_by_owner ON run (owner_no, run_id);

CREATE INDEX run_deadline ON run (deadline_at) WHERE deadline_at IS NOT NULL AND pending + in_progress + canceling > 0;

CREATE INDEX run_expiring ON run (expire_at) WHERE expire_at IS NOT NULL AND pending > 0;

CREATE INDEX run_unfinished ON run (owner_no, run_id) WHERE pending + in_progress + canceling > 0;

CREATE TABLE run_draft (
  run_id INTEGER PRIMARY KEY,
  owner_no INTEGER NOT NULL,
  first_execution_id INTEGER NOT NULL,
  total INTEGER NOT NULL,
  node_no INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE run_parameters (
  run_id INTEGER PRIMARY KEY,
  parameters TEXT NOT NULL,
  secrets TEXT
) STRICT;

CREATE INDEX run_parameters_secret ON run_parameters (run_id) WHERE secrets IS NOT NULL;

CREATE TABLE run_plan (
  owner_no INTEGER NOT NULL REFERENCES owner,
  plan_id TEXT NOT NULL,
  planned_by TEXT NOT NULL,
  -- On the steady clock.
  created_at INTEGER NOT NULL,
  request TEXT NOT NULL,
  parameters TEXT,
  secrets TEXT,
  bound_to TEXT NOT NULL,
  -- Of the request and its parameters.
  size INTEGER NOT NULL,
  PRIMARY KEY (owner_no, plan_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX run_plan_by_age ON run_plan (created_at);

CREATE INDEX run_plan_of_owner ON run_plan (owner_no, created_at, plan_id, size);

CREATE TABLE run_request (
  run_id INTEGER PRIMARY KEY,
  where_text TEXT,
  matched INTEGER,
  note TEXT,
  -- The run that this one rolls back.
  rollback_of INTEGER,
  -- The schedule that created it, and for which occurrence. The name stays when the schedule is deleted.
  schedule_no INTEGER,
  schedule_name TEXT,
  scheduled_for INTEGER,
  -- The window in which its executions are offered; NULL: at any time.
  window_name TEXT
, rollback_once INTEGER, priority INTEGER, plan_id TEXT, planned_by TEXT, replaces INTEGER) STRICT;

CREATE UNIQUE INDEX run_request_by_plan ON run_request (plan_id) WHERE plan_id IS NOT NULL;

CREATE INDEX run_request_by_rollback ON run_request (rollback_of, run_id) WHERE rollback_of IS NOT NULL;

CREATE INDEX run_request_by_schedule ON run_request (schedule_no, scheduled_for) WHERE schedule_no IS NOT NULL;

CREATE INDEX run_request_by_schedule_name ON run_request (schedule_name, run_id) WHERE schedule_name IS NOT NULL;

CREATE INDEX run_request_replacing ON run_request (run_id) WHERE replaces = 1;

CREATE UNIQUE INDEX run_request_rollback_once ON run_request (rollback_once) WHERE rollback_once IS NOT NULL;

CREATE TABLE schedule (
  schedule_no INTEGER PRIMARY KEY,
  owner_no INTEGER NOT NULL REFERENCES owner,
  schedule_name TEXT NOT NULL,
  job_name TEXT NOT NULL,
  content TEXT NOT NULL,
  key_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  version INTEGER NOT NULL,
  next_for INTEGER,
  due_at INTEGER,
  handled_at INTEGER NOT NULL,
  occurrence TEXT,
  last_for INTEGER,
  last_fired_at INTEGER,
  last_run_id INTEGER,
  watched_run_id INTEGER,
  failures INTEGER NOT NULL,
  failures_after INTEGER NOT NULL,
  paused_because TEXT,
  paused_by TEXT,
  paused_at INTEGER,
  is_match INTEGER NOT NULL,
  cursor_id INTEGER NOT NULL,
  matched_where TEXT, paused_cause TEXT, stop_baseline TEXT,
  UNIQUE (owner_no, schedule_name)
) STRICT;

CREATE INDEX schedule_due ON schedule (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX schedule_handled ON schedule (handled_at);

CREATE INDEX schedule_matching ON schedule (schedule_no) WHERE is_match = 1 AND paused_at IS NULL;

CREATE INDEX schedule_watched ON schedule (watched_run_id) WHERE watched_run_id IS NOT NULL;

CREATE TABLE schedule_device (
  schedule_no INTEGER NOT NULL,
  device_no INTEGER NOT NULL, execution_id INTEGER, version_no INTEGER, times INTEGER, ended_at INTEGER, again_at INTEGER,
  PRIMARY KEY (schedule_no, device_no)
) STRICT, WITHOUT ROWID;

CREATE INDEX schedule_device_again ON schedule_device (schedule_no, again_at) WHERE again_at IS NOT NULL;

CREATE TABLE secret (
  owner_no INTEGER NOT NULL REFERENCES owner,
  secret_name TEXT NOT NULL,
  version INTEGER NOT NULL,
  sealed TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  replaced_at INTEGER,
  PRIMARY KEY (owner_no, secret_name, version)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX secret_current ON secret (owner_no, secret_name) WHERE replaced_at IS NULL;

CREATE INDEX secret_former ON secret (owner_no, secret_name) WHERE replaced_at IS NOT NULL;

CREATE TABLE session (
  session_id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  key_id TEXT NOT NULL,
  owner_no INTEGER NOT NULL REFERENCES owner,
  secret_hash BLOB NOT NULL,
  parent_id TEXT,
  address TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
, person TEXT, tokens TEXT, checked_at INTEGER, tried_at INTEGER) STRICT, WITHOUT ROWID;

CREATE INDEX session_by_expiry ON session (expires_at);

CREATE INDEX session_by_key ON session (key_id);

CREATE INDEX session_by_owner ON session (owner_no, session_id);

CREATE INDEX session_by_parent ON session (parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE steady_clock (
  clock INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE transition (
  execution_id INTEGER NOT NULL,
  version_number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  event TEXT NOT NULL,
  actor TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  reason TEXT,
  PRIMARY KEY (execution_id, version_number)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook (
  webhook_no INTEGER PRIMARY KEY AUTOINCREMENT,
  owner_no INTEGER NOT NULL REFERENCES owner,
  webhook_name TEXT NOT NULL,
  url TEXT NOT NULL,
  event_types TEXT NOT NULL,
  job_name TEXT,
  device_id TEXT,
  secret TEXT NOT NULL,
  old_secret TEXT,
  old_secret_until INTEGER,
  paused_because TEXT,
  paused_at INTEGER,
  last_delivered_at INTEGER,
  failing_since INTEGER,
  cursor_id INTEGER NOT NULL,
  round INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  created_by TEXT,
  created_by_session TEXT, format TEXT NOT NULL DEFAULT 'jobcast', last_failure TEXT, restriction TEXT,
  UNIQUE (owner_no, webhook_name)
) STRICT;

CREATE TABLE webhook_delivery (
  webhook_no INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  round INTEGER NOT NULL,
  type TEXT NOT NULL,
  subject TEXT NOT NULL,
  state TEXT NOT NULL,
  tries INTEGER NOT NULL,
  attempts TEXT NOT NULL,
  next_at INTEGER,
  PRIMARY KEY (webhook_no, event_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_delivery_failed ON webhook_delivery (webhook_no, event_id) WHERE state = 'FAILED';

CREATE INDEX webhook_delivery_pending ON webhook_delivery (webhook_no, event_id) WHERE state = 'PENDING';
