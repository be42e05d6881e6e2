// What an export holds, table by table, in the order in which it can be put into an empty database. Both stores have
// these tables and columns; where one stores a value otherwise, its reader and writer say so.

/**
 * `bytes` are hexadecimal in the file, `flag` is true or false, `state` a state of an execution. `quoted` is a text
 * that may hold any character.
 */
export type ColumnKind = 'number' | 'text' | 'bytes' | 'flag' | 'state' | 'quoted'

export type TransferTable = {
  name: string
  columns: Readonly<Record<string, ColumnKind>>
  /** In this order rows are read, so that they are put in along the primary key. */
  key: readonly string[]
  /** Rows that hang on an execution; those of forgotten runs are left out. */
  ofExecution?: true
}

const [number, text, bytes, flag, state, quoted] = [
  'number',
  'text',
  'bytes',
  'flag',
  'state',
  'quoted',
] as const

export const transferTables: readonly TransferTable[] = [
  {
    name: 'owner',
    key: ['owner_no'],
    columns: {
      owner_no: number,
      owner_id: text,
      owner_name: text,
      created_at: number,
      forgotten_event_id: number,
    },
  },
  {
    name: 'api_key',
    key: ['key_id'],
    columns: {
      key_id: text,
      owner_no: number,
      key_name: text,
      secret_hash: bytes,
      scopes: text,
      expires_at: number,
      revoked_at: number,
      last_used_at: number,
      created_at: number,
    },
  },
  {
    name: 'job',
    key: ['job_no'],
    columns: {
      job_no: number,
      owner_no: number,
      job_name: text,
      version_no: number,
      created_at: number,
      updated_at: number,
      deleted_at: number,
    },
  },
  {
    name: 'job_version',
    key: ['version_no'],
    columns: { version_no: number, job_no: number, content: text },
  },
  {
    name: 'device',
    key: ['device_no'],
    columns: {
      device_no: number,
      owner_no: number,
      device_id: text,
      device_name: text,
      tags: text,
      token_id: text,
      token_hash: bytes,
      token_created_at: number,
      created_at: number,
      updated_at: number,
      deleted_at: number,
      online: flag,
      presence_since: number,
      last_seen_at: number,
      door: text,
      revoked_at: number,
      claim_hash: bytes,
    },
  },
  {
    name: 'device_tag',
    key: ['owner_no', 'tag', 'device_id'],
    columns: { owner_no: number, tag: text, device_id: text },
  },
  {
    name: 'device_rename',
    key: ['device_no', 'last_execution_id'],
    columns: { device_no: number, last_execution_id: number, device_name: text },
  },
  {
    name: 'enrollment',
    key: ['enrollment_id'],
    columns: {
      enrollment_id: text,
      owner_no: number,
      name: text,
      secret_hash: bytes,
      max_uses: number,
      used: number,
      tags: text,
      device_id_prefix: text,
      expires_at: number,
      revoked_at: number,
      created_at: number,
    },
  },
  {
    name: 'run',
    key: ['run_id'],
    columns: {
      run_id: number,
      owner_no: number,
      job_no: number,
      version_no: number,
      launched_at: number,
      first_execution_id: number,
      total: number,
      pending: number,
      in_progress: number,
      canceling: number,
      succeeded: number,
      failed: number,
      timed_out: number,
      rejected: number,
      expired: number,
      canceled: number,
      ended: flag,
      ended_at: number,
      expire_at: number,
      deadline_at: number,
      key_id: text,
      retry_of: number,
    },
  },
  {
    name: 'execution',
    key: ['execution_id'],
    ofExecution: true,
    columns: {
      execution_id: number,
      run_id: number,
      owner_no: number,
      device_no: number,
      state,
      attempt: number,
      version_number: number,
      output_bytes: number,
      output_cut: flag,
      started_at: number,
      finished_at: number,
      notified_at: number,
      delivered_at: number,
      not_before: number,
      due_at: number,
      updated_at: number,
      cancel_version: number,
      client_token: quoted,
      status_details: text,
      result: text,
    },
  },
  {
    name: 'transition',
    key: ['execution_id', 'version_number'],
    ofExecution: true,
    columns: {
      execution_id: number,
      version_number: number,
      at: number,
      from_state: state,
      to_state: state,
      event: text,
      actor: text,
      attempt: number,
    },
  },
  {
    name: 'output',
    key: ['execution_id', 'attempt', 'start'],
    ofExecution: true,
    columns: { execution_id: number, attempt: number, start: number, data: bytes },
  },
  {
    name: 'idempotency_key',
    key: ['owner_no', 'idempotency_key'],
    columns: {
      owner_no: number,
      idempotency_key: text,
      request_hash: bytes,
      run_id: number,
      created_at: number,
    },
  },
  {
    name: 'event',
    key: ['owner_no', 'event_id'],
    columns: {
      owner_no: number,
      event_id: number,
      at: number,
      type: text,
      run_id: number,
      execution_id: number,
      device_no: number,
      from_state: state,
      cause: text,
      actor: text,
      attempt: number,
      version_number: number,
      details: text,
    },
  },
  {
    name: 'webhook',
    key: ['webhook_no'],
    columns: {
      webhook_no: number,
      owner_no: number,
      webhook_name: text,
      url: text,
      event_types: text,
      job_name: text,
      device_id: text,
      secret: text,
      old_secret: text,
      old_secret_until: number,
      paused_because: text,
      paused_at: number,
      last_delivered_at: number,
      failing_since: number,
      cursor_id: number,
      round: number,
      created_at: number,
      updated_at: number,
    },
  },
  {
    name: 'webhook_delivery',
    key: ['webhook_no', 'event_id'],
    columns: {
      webhook_no: number,
      event_id: number,
      round: number,
      type: text,
      subject: text,
      state: text,
      tries: number,
      attempts: text,
      next_at: number,
    },
  },
]

/** Tables that stay behind, and why. */
export const leftBehind: Readonly<Record<string, string>> = {
  last_id: 'it is the first line of the file',
  forgotten_range: 'what is forgotten is not exported',
  execution_partition: 'partitions are made anew',
  schema_migration: 'the schema is made by the program',
  write_probe: 'it holds nothing',
  node: 'those that live say so',
  steady_clock: 'it starts anew from the wall',
}
