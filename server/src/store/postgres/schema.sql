-- Written by `npm run generate` from the migrations; do not edit.

CREATE TYPE exec_state AS ENUM ('PENDING', 'IN_PROGRESS', 'CANCELING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'REJECTED', 'EXPIRED', 'CANCELED');

CREATE TABLE api_key (
  key_id text COLLATE "C" NOT NULL,
  owner_no integer NOT NULL,
  key_name text NOT NULL,
  secret_hash bytea NOT NULL,
  scopes text NOT NULL,
  expires_at bigint,
  revoked_at bigint,
  last_used_at bigint,
  created_at bigint NOT NULL,
  created_by text COLLATE "C",
  created_by_session text,
  restriction text,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (key_id)
);
CREATE INDEX api_key_admin ON public.api_key USING btree (key_id) WHERE ((scopes ~~ '%"ADMIN"%'::text) AND (revoked_at IS NULL));
CREATE INDEX api_key_by_creator ON public.api_key USING btree (created_by);
CREATE INDEX api_key_by_owner ON public.api_key USING btree (owner_no, key_id);

CREATE TABLE audit_entry (
  owner_no integer NOT NULL,
  audit_id bigint DEFAULT nextval('audit_id'::regclass) NOT NULL,
  at bigint NOT NULL,
  principal text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  details text NOT NULL,
  PRIMARY KEY (owner_no, audit_id)
);

CREATE TABLE audit_seal (
  owner_no integer NOT NULL,
  seal_no integer NOT NULL,
  first_audit_id bigint NOT NULL,
  last_audit_id bigint NOT NULL,
  at bigint NOT NULL,
  seal text NOT NULL,
  leaves bytea NOT NULL,
  announced_at bigint,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (owner_no, seal_no)
);

CREATE TABLE bridge_cursor (
  bridge_name text COLLATE "C" NOT NULL,
  owner_no integer NOT NULL,
  event_id bigint NOT NULL,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (bridge_name)
);

CREATE TABLE catalogue_version (
  owner_no integer NOT NULL,
  version bigint NOT NULL,
  given_by xid8 NOT NULL,
  PRIMARY KEY (owner_no)
) WITH (fillfactor=50);

CREATE TABLE commit_marker (
  marker_id bigint NOT NULL,
  node_no integer NOT NULL,
  commits bigint NOT NULL,
  run_id bigint,
  execution_id bigint,
  PRIMARY KEY (marker_id)
) WITH (fillfactor=50);

CREATE TABLE device (
  device_no integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  owner_no integer NOT NULL,
  device_id text COLLATE "C" NOT NULL,
  device_name text NOT NULL,
  tags text NOT NULL,
  token_id text COLLATE "C",
  token_hash bytea,
  token_created_at bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint,
  online boolean DEFAULT false NOT NULL,
  presence_since bigint,
  last_seen_at bigint,
  transport text,
  node_no integer,
  session_since bigint,
  revoked_at bigint,
  claim_hash bytea,
  token_created_by text,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (device_no),
  UNIQUE (owner_no, device_id),
  UNIQUE (token_id)
);
CREATE INDEX device_deleted ON public.device USING btree (owner_no, deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX device_of_node ON public.device USING btree (node_no) WHERE online;
CREATE INDEX device_online ON public.device USING btree (owner_no, device_id) WHERE online;

CREATE TABLE device_attribute (
  device_no integer NOT NULL,
  name text COLLATE "C" NOT NULL,
  reported boolean NOT NULL,
  owner_no integer NOT NULL,
  value text COLLATE "C" NOT NULL,
  sort_key text COLLATE "C" NOT NULL,
  shadowed boolean NOT NULL,
  zone text COLLATE "C",
  PRIMARY KEY (device_no, name, reported)
);
CREATE INDEX device_attribute_by_value ON public.device_attribute USING btree (owner_no, name, sort_key, device_no) INCLUDE (reported) WHERE (NOT shadowed);
CREATE INDEX device_attribute_by_zone ON public.device_attribute USING btree (owner_no, zone) WHERE (zone IS NOT NULL);
CREATE INDEX device_attribute_shadowed ON public.device_attribute USING btree (owner_no, name, sort_key, device_no) WHERE shadowed;
CREATE INDEX device_attribute_without_zone ON public.device_attribute USING btree (device_no) WHERE ((name = 'timeZone'::text) AND (zone IS NULL));

CREATE TABLE device_group (
  owner_no integer NOT NULL,
  group_name text COLLATE "C" NOT NULL,
  where_text text NOT NULL,
  description text,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  window_name text COLLATE "C",
  changed_by text,
  created_by text,
  updated_by text,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (owner_no, group_name)
);
CREATE INDEX device_group_with_window ON public.device_group USING btree (owner_no, window_name, group_name) WHERE (window_name IS NOT NULL);

CREATE TABLE device_rename (
  device_no integer NOT NULL,
  last_execution_id bigint NOT NULL,
  device_name text NOT NULL,
  PRIMARY KEY (device_no, last_execution_id)
);

CREATE TABLE device_tag (
  owner_no integer NOT NULL,
  tag text COLLATE "C" NOT NULL,
  device_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (owner_no, tag, device_id)
);

CREATE TABLE device_window (
  device_no integer NOT NULL,
  group_name text COLLATE "C" NOT NULL,
  since_clock bigint NOT NULL,
  owner_no integer NOT NULL,
  window_name text COLLATE "C" NOT NULL,
  until_clock bigint,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (device_no, group_name, since_clock)
);
CREATE INDEX device_window_current ON public.device_window USING btree (owner_no, window_name, device_no) WHERE (until_clock IS NULL);
CREATE INDEX device_window_since ON public.device_window USING btree (owner_no, since_clock);
CREATE INDEX device_window_until ON public.device_window USING btree (owner_no, until_clock);

CREATE TABLE enrollment (
  enrollment_id text COLLATE "C" NOT NULL,
  owner_no integer NOT NULL,
  name text,
  secret_hash bytea NOT NULL,
  max_uses integer NOT NULL,
  used integer DEFAULT 0 NOT NULL,
  tags text NOT NULL,
  device_id_prefix text,
  expires_at bigint NOT NULL,
  revoked_at bigint,
  created_at bigint NOT NULL,
  created_by text COLLATE "C",
  created_by_session text,
  CHECK ((used <= max_uses)),
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (enrollment_id)
);
CREATE INDEX enrollment_by_creator ON public.enrollment USING btree (created_by);
CREATE INDEX enrollment_by_owner ON public.enrollment USING btree (owner_no, enrollment_id);

CREATE TABLE event (
  owner_no integer NOT NULL,
  event_id bigint DEFAULT nextval('event_id'::regclass) NOT NULL,
  at bigint NOT NULL,
  type text NOT NULL,
  run_id bigint,
  execution_id bigint,
  device_no integer,
  from_state exec_state,
  cause text,
  actor text,
  attempt integer,
  version_number integer,
  details text,
  PRIMARY KEY (owner_no, event_id)
);

CREATE TABLE execution (
  execution_id bigint NOT NULL,
  run_id bigint NOT NULL,
  owner_no integer NOT NULL,
  device_no integer NOT NULL,
  state exec_state DEFAULT 'PENDING'::exec_state NOT NULL,
  attempt integer DEFAULT 1 NOT NULL,
  version_number integer DEFAULT 1 NOT NULL,
  output_bytes integer DEFAULT 0 NOT NULL,
  output_cut boolean DEFAULT false NOT NULL,
  started_at bigint,
  finished_at bigint,
  notified_at bigint,
  delivered_at bigint,
  not_before bigint,
  due_at bigint,
  updated_at bigint,
  cancel_version integer,
  seen_report text,
  status_details text,
  result text,
  progress_at bigint,
  progress_held boolean DEFAULT false NOT NULL,
  progress_bytes bigint DEFAULT 0 NOT NULL,
  output_pieces integer DEFAULT 0 NOT NULL,
  held_ms bigint DEFAULT 0 NOT NULL,
  waits_from bigint,
  priority integer,
  PRIMARY KEY (execution_id)
) PARTITION BY RANGE (execution_id);
CREATE INDEX execution_by_state ON ONLY public.execution USING btree (owner_no, state, execution_id) WHERE ((state <> 'PENDING'::exec_state) AND (state <> 'SUCCEEDED'::exec_state));
CREATE INDEX execution_due ON ONLY public.execution USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX execution_ended ON ONLY public.execution USING btree (device_no, execution_id) WHERE (state > 'CANCELING'::exec_state);
CREATE INDEX execution_prioritized ON ONLY public.execution USING btree (device_no, priority DESC, execution_id) WHERE ((priority IS NOT NULL) AND (state = 'PENDING'::exec_state));
CREATE INDEX execution_progress_held ON ONLY public.execution USING btree (execution_id) WHERE progress_held;
CREATE INDEX execution_unfinished ON ONLY public.execution USING btree (device_no, execution_id) WHERE (state <= 'CANCELING'::exec_state);

CREATE TABLE execution_partition (
  first_id bigint NOT NULL,
  end_id bigint NOT NULL,
  began_at bigint,
  PRIMARY KEY (first_id)
);

CREATE TABLE failing_task (
  kind text NOT NULL,
  task_no bigint NOT NULL,
  since bigint NOT NULL,
  last_at bigint NOT NULL,
  times integer NOT NULL,
  message text NOT NULL,
  PRIMARY KEY (kind, task_no)
);

CREATE TABLE file_version (
  owner_no integer NOT NULL,
  file_name text COLLATE "C" NOT NULL,
  version text COLLATE "C" NOT NULL,
  put_no integer NOT NULL,
  size bigint NOT NULL,
  sha256 text NOT NULL,
  sha1 text,
  url text,
  created_at bigint NOT NULL,
  created_by text NOT NULL,
  md5 text,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (owner_no, file_name, version)
);
CREATE INDEX file_version_kept ON public.file_version USING btree (sha256) WHERE (url IS NULL);
CREATE UNIQUE INDEX file_version_order ON public.file_version USING btree (owner_no, file_name, put_no);

CREATE TABLE fleet_freeze (
  owner_no integer NOT NULL,
  reason text NOT NULL,
  principal text NOT NULL,
  at bigint NOT NULL,
  until bigint,
  PRIMARY KEY (owner_no)
);

CREATE TABLE group_sweep (
  owner_no integer NOT NULL,
  after_device_id text COLLATE "C" NOT NULL,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (owner_no)
);

CREATE TABLE idempotency_key (
  owner_no integer NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  request_hash bytea NOT NULL,
  run_id bigint NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (owner_no, idempotency_key)
);
CREATE INDEX idempotency_key_by_age ON public.idempotency_key USING btree (created_at);

CREATE TABLE job (
  job_no integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  owner_no integer NOT NULL,
  job_name text COLLATE "C" NOT NULL,
  version_no integer NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  deleted_at bigint,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (job_no),
  UNIQUE (owner_no, job_name)
);

CREATE TABLE job_version (
  version_no integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  job_no integer NOT NULL,
  content text NOT NULL,
  version integer NOT NULL,
  created_at bigint NOT NULL,
  created_by text,
  secrets text,
  files text,
  PRIMARY KEY (version_no)
);
CREATE UNIQUE INDEX job_version_by_number ON public.job_version USING btree (job_no, version);
CREATE INDEX job_version_with_files ON public.job_version USING btree (version_no) WHERE (files IS NOT NULL);
CREATE INDEX job_version_with_secrets ON public.job_version USING btree (version_no) WHERE (secrets IS NOT NULL);

CREATE TABLE masked_output (
  execution_id bigint NOT NULL,
  attempt integer NOT NULL,
  received integer NOT NULL,
  held text,
  PRIMARY KEY (execution_id)
);

CREATE TABLE node (
  node_no integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  beat_at bigint NOT NULL,
  PRIMARY KEY (node_no)
) WITH (fillfactor=50);

CREATE TABLE offer_history (
  owner_no integer NOT NULL,
  window_name text COLLATE "C" NOT NULL,
  clock bigint NOT NULL,
  open_zones text NOT NULL,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (owner_no, window_name, clock)
);

CREATE TABLE offer_window (
  owner_no integer NOT NULL,
  window_name text COLLATE "C" NOT NULL,
  cron text NOT NULL,
  duration_minutes integer NOT NULL,
  time_zone text NOT NULL,
  cutoff_minutes integer NOT NULL,
  except_dates text NOT NULL,
  version integer NOT NULL,
  open_zones text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  changed_by text,
  created_by text,
  updated_by text,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (owner_no, window_name)
);

CREATE TABLE output (
  execution_id bigint NOT NULL,
  attempt integer NOT NULL,
  start integer NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (execution_id, attempt, start)
);

CREATE TABLE owner (
  owner_no integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  owner_id text COLLATE "C" NOT NULL,
  owner_name text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  purged_event_id bigint DEFAULT 0 NOT NULL,
  renamed_execution_id bigint DEFAULT 0 NOT NULL,
  PRIMARY KEY (owner_no),
  UNIQUE (owner_id),
  UNIQUE (owner_name)
);

CREATE TABLE purged_range (
  first_execution_id bigint NOT NULL,
  last_execution_id bigint NOT NULL,
  PRIMARY KEY (first_execution_id)
);

CREATE TABLE rollout (
  run_id bigint NOT NULL,
  owner_no integer NOT NULL,
  first_execution_id bigint NOT NULL,
  total integer NOT NULL,
  state text NOT NULL,
  released integer NOT NULL,
  held_from bigint,
  is_open boolean NOT NULL,
  next_at bigint,
  version integer NOT NULL,
  plan text NOT NULL,
  status text NOT NULL,
  start_at bigint,
  PRIMARY KEY (run_id)
);
CREATE INDEX rollout_held ON public.rollout USING btree (run_id, held_from) WHERE (held_from IS NOT NULL);
CREATE INDEX rollout_open ON public.rollout USING btree (run_id) WHERE is_open;

CREATE TABLE rollout_release (
  run_id bigint NOT NULL,
  first_execution_id bigint NOT NULL,
  last_execution_id bigint NOT NULL,
  expire_at bigint,
  deadline_at bigint,
  deadline_due_at bigint,
  counts_from bigint,
  PRIMARY KEY (run_id, first_execution_id)
);
CREATE INDEX rollout_release_deadline ON public.rollout_release USING btree (deadline_due_at) WHERE (deadline_due_at IS NOT NULL);
CREATE INDEX rollout_release_expiring ON public.rollout_release USING btree (expire_at) WHERE (expire_at IS NOT NULL);

CREATE TABLE run (
  run_id bigint NOT NULL,
  owner_no integer NOT NULL,
  job_no integer NOT NULL,
  version_no integer NOT NULL,
  launched_at bigint NOT NULL,
  first_execution_id bigint NOT NULL,
  total integer NOT NULL,
  pending integer NOT NULL,
  in_progress integer DEFAULT 0 NOT NULL,
  canceling integer DEFAULT 0 NOT NULL,
  succeeded integer DEFAULT 0 NOT NULL,
  failed integer DEFAULT 0 NOT NULL,
  timed_out integer DEFAULT 0 NOT NULL,
  rejected integer DEFAULT 0 NOT NULL,
  expired integer DEFAULT 0 NOT NULL,
  canceled integer DEFAULT 0 NOT NULL,
  ended boolean DEFAULT false NOT NULL,
  ended_at bigint,
  expire_at bigint,
  deadline_at bigint,
  key_id text,
  retry_of bigint,
  trace_parent text,
  PRIMARY KEY (run_id)
) WITH (fillfactor=70);
CREATE INDEX run_by_end ON public.run USING btree (owner_no, ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX run_by_job ON public.run USING btree (job_no, run_id);
CREATE INDEX run_by_owner ON public.run USING btree (owner_no, run_id);
CREATE INDEX run_deadline ON public.run USING btree (deadline_at) WHERE ((deadline_at IS NOT NULL) AND (NOT ended));
CREATE INDEX run_expiring ON public.run USING btree (expire_at) WHERE ((expire_at IS NOT NULL) AND (NOT ended));
CREATE INDEX run_unfinished ON public.run USING btree (owner_no, run_id) WHERE (NOT ended);

CREATE TABLE run_draft (
  run_id bigint NOT NULL,
  owner_no integer NOT NULL,
  first_execution_id bigint NOT NULL,
  total integer NOT NULL,
  node_no integer NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (run_id)
);

CREATE TABLE run_parameters (
  run_id bigint NOT NULL,
  parameters text NOT NULL,
  secrets text,
  PRIMARY KEY (run_id)
);
CREATE INDEX run_parameters_secret ON public.run_parameters USING btree (run_id) WHERE (secrets IS NOT NULL);

CREATE TABLE run_plan (
  owner_no integer NOT NULL,
  plan_id text COLLATE "C" NOT NULL,
  planned_by text NOT NULL,
  created_at bigint NOT NULL,
  request text NOT NULL,
  parameters text,
  secrets text,
  bound_to text NOT NULL,
  size bigint NOT NULL,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (owner_no, plan_id)
);
CREATE INDEX run_plan_by_age ON public.run_plan USING btree (created_at);
CREATE INDEX run_plan_of_owner ON public.run_plan USING btree (owner_no, created_at, plan_id, size);

CREATE TABLE run_request (
  run_id bigint NOT NULL,
  where_text text,
  matched integer,
  note text,
  rollback_of bigint,
  schedule_no bigint,
  schedule_name text COLLATE "C",
  scheduled_for bigint,
  window_name text COLLATE "C",
  rollback_once bigint,
  priority integer,
  plan_id text COLLATE "C",
  planned_by text,
  replaces integer,
  PRIMARY KEY (run_id)
);
CREATE UNIQUE INDEX run_request_by_plan ON public.run_request USING btree (plan_id) WHERE (plan_id IS NOT NULL);
CREATE INDEX run_request_by_rollback ON public.run_request USING btree (rollback_of, run_id) WHERE (rollback_of IS NOT NULL);
CREATE INDEX run_request_by_schedule ON public.run_request USING btree (schedule_no, scheduled_for) WHERE (schedule_no IS NOT NULL);
CREATE INDEX run_request_by_schedule_name ON public.run_request USING btree (schedule_name, run_id) WHERE (schedule_name IS NOT NULL);
CREATE INDEX run_request_replacing ON public.run_request USING btree (run_id) WHERE (replaces = 1);
CREATE UNIQUE INDEX run_request_rollback_once ON public.run_request USING btree (rollback_once) WHERE (rollback_once IS NOT NULL);
CREATE INDEX run_request_with_window ON public.run_request USING btree (run_id, window_name) WHERE (window_name IS NOT NULL);

CREATE TABLE schedule (
  schedule_no bigint NOT NULL,
  owner_no integer NOT NULL,
  schedule_name text COLLATE "C" NOT NULL,
  job_name text COLLATE "C" NOT NULL,
  content text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  version integer NOT NULL,
  next_for bigint,
  due_at bigint,
  handled_at bigint NOT NULL,
  occurrence text,
  last_for bigint,
  last_fired_at bigint,
  last_run_id bigint,
  watched_run_id bigint,
  failures integer NOT NULL,
  failures_after bigint NOT NULL,
  paused_because text,
  paused_by text COLLATE "C",
  paused_at bigint,
  is_match boolean NOT NULL,
  cursor_id bigint NOT NULL,
  matched_where text,
  paused_cause text,
  stop_baseline text,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (schedule_no),
  UNIQUE (owner_no, schedule_name)
);
CREATE INDEX schedule_due ON public.schedule USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX schedule_handled ON public.schedule USING btree (handled_at);
CREATE INDEX schedule_matching ON public.schedule USING btree (schedule_no) WHERE (is_match AND (paused_at IS NULL));
CREATE INDEX schedule_watched ON public.schedule USING btree (watched_run_id) WHERE (watched_run_id IS NOT NULL);

CREATE TABLE schedule_device (
  schedule_no bigint NOT NULL,
  device_no integer NOT NULL,
  execution_id bigint,
  version_no integer,
  times integer,
  ended_at bigint,
  again_at bigint,
  PRIMARY KEY (schedule_no, device_no)
);
CREATE INDEX schedule_device_again ON public.schedule_device USING btree (schedule_no, again_at) WHERE (again_at IS NOT NULL);

CREATE TABLE schema_migration (
  number integer NOT NULL,
  name text NOT NULL,
  applied_at timestamp with time zone DEFAULT now() NOT NULL,
  PRIMARY KEY (number)
);

CREATE TABLE secret (
  owner_no integer NOT NULL,
  secret_name text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  sealed text NOT NULL,
  updated_at bigint NOT NULL,
  updated_by text NOT NULL,
  replaced_at bigint,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (owner_no, secret_name, version)
);
CREATE UNIQUE INDEX secret_current ON public.secret USING btree (owner_no, secret_name) WHERE (replaced_at IS NULL);
CREATE INDEX secret_former ON public.secret USING btree (owner_no, secret_name) WHERE (replaced_at IS NOT NULL);

CREATE TABLE session (
  session_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  key_id text NOT NULL,
  owner_no integer NOT NULL,
  secret_hash bytea NOT NULL,
  parent_id text COLLATE "C",
  address text,
  user_agent text,
  created_at bigint NOT NULL,
  last_used_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  person text,
  tokens text,
  checked_at bigint,
  tried_at bigint,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (session_id)
);
CREATE INDEX session_by_expiry ON public.session USING btree (expires_at);
CREATE INDEX session_by_key ON public.session USING btree (key_id);
CREATE INDEX session_by_owner ON public.session USING btree (owner_no, session_id);
CREATE INDEX session_by_parent ON public.session USING btree (parent_id) WHERE (parent_id IS NOT NULL);

CREATE TABLE steady_clock (
  clock bigint NOT NULL,
  at bigint NOT NULL
) WITH (fillfactor=50);

CREATE TABLE transition (
  execution_id bigint NOT NULL,
  version_number integer NOT NULL,
  at bigint NOT NULL,
  from_state exec_state NOT NULL,
  to_state exec_state NOT NULL,
  event text NOT NULL,
  actor text NOT NULL,
  attempt integer NOT NULL,
  reason text,
  PRIMARY KEY (execution_id, version_number)
);

CREATE TABLE webhook (
  webhook_no integer GENERATED ALWAYS AS IDENTITY NOT NULL,
  owner_no integer NOT NULL,
  webhook_name text COLLATE "C" NOT NULL,
  url text NOT NULL,
  event_types text NOT NULL,
  job_name text,
  device_id text,
  secret text NOT NULL,
  old_secret text,
  old_secret_until bigint,
  paused_because text,
  paused_at bigint,
  last_delivered_at bigint,
  failing_since bigint,
  cursor_id bigint NOT NULL,
  round integer DEFAULT 1 NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  created_by text COLLATE "C",
  created_by_session text,
  format text DEFAULT 'jobcast'::text NOT NULL,
  last_failure text,
  restriction text,
  FOREIGN KEY (owner_no) REFERENCES owner(owner_no),
  PRIMARY KEY (webhook_no),
  UNIQUE (owner_no, webhook_name)
);

CREATE TABLE webhook_delivery (
  webhook_no integer NOT NULL,
  event_id bigint NOT NULL,
  round integer NOT NULL,
  type text NOT NULL,
  subject text NOT NULL,
  state text NOT NULL,
  tries integer NOT NULL,
  attempts text NOT NULL,
  next_at bigint,
  PRIMARY KEY (webhook_no, event_id)
);
CREATE INDEX webhook_delivery_failed ON public.webhook_delivery USING btree (webhook_no, event_id) WHERE (state = 'FAILED'::text);
CREATE INDEX webhook_delivery_pending ON public.webhook_delivery USING btree (webhook_no, event_id) WHERE (state = 'PENDING'::text);

CREATE TABLE write_probe (
  writes bigint NOT NULL
);
