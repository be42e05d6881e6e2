// A group of triggers whose names are known, as one statement: it holds the names, takes the ids and writes runs,
// executions and events. So a small group is one message to the database and one answer.

import type { RunDevice } from '../../domain/trigger/launch-run.ts'
import { columnOf } from '../queries.ts'
import { newRunFields } from '../tables/runs.ts'
import { countUpWithIds } from './commit-markers.ts'
import type { Names } from './directory.ts'
import type { LoneStatement } from './launch-alone.ts'
import { locks } from './locks.ts'
import { placeValues } from './named-queries.ts'
import { numbers } from './rows.ts'
import type { Launch } from './trigger-group.ts'

/** Of a new run, in `new_run`. */
const valueOfField: Readonly<Record<keyof typeof newRunFields, string>> = {
  runId: 'run_id',
  ownerNo: 'owner_no',
  jobNo: 'job_no',
  jobVersion: 'version_no',
  launchedAt: 'launched_at',
  firstExecutionId: 'first_execution_id',
  total: 'total',
  PENDING: 'total',
  expireAt: 'expire_at',
  deadlineAt: 'deadline_at',
  keyId: 'key_id',
  retryOf: 'retry_of',
}

// Every part takes the ids, so all of it comes behind the names being held. An event is given its id behind the lock of
// its owner (transaction.ts).
const LAUNCH = `
  WITH ids AS MATERIALIZED (
    SELECT run_id, execution_id
    FROM hold_names(CAST(:owners AS int[]), CAST(:states AS text[])) CROSS JOIN LATERAL take_ids(:runs, :executions)
  ), new_run AS MATERIALIZED (
    SELECT ids.run_id + place - 1 AS run_id, owner_no, job_no, version_no, launched_at, total, skipped,
      ids.execution_id + skipped AS first_execution_id, expire_at, deadline_at, key_id, retry_of
    FROM ids CROSS JOIN unnest(CAST(:ownerNos AS int[]), CAST(:jobNos AS int[]), CAST(:versionNos AS int[]),
      CAST(:launchedAts AS bigint[]), CAST(:totals AS int[]), CAST(:skipped AS int[]), CAST(:expireAts AS bigint[]),
      CAST(:deadlineAts AS bigint[]), CAST(:keyIds AS text[]), CAST(:retriesOf AS bigint[])) WITH ORDINALITY
      AS given (owner_no, job_no, version_no, launched_at, total, skipped, expire_at, deadline_at, key_id, retry_of, place)
  ), locked AS MATERIALIZED (
    SELECT owner_no, pg_advisory_xact_lock(${locks.eventsOfOwner}, owner_no)
    FROM ids CROSS JOIN unnest(CAST(:owners AS int[])) AS owner_no
  ), new_event AS (
    INSERT INTO event (owner_no, at, type, run_id)
    SELECT owner_no, launched_at, 'run.created', run_id FROM new_run JOIN locked USING (owner_no)
  ), new_execution AS (
    INSERT INTO execution (execution_id, run_id, owner_no, device_no)
    SELECT first_execution_id + place - 1, run_id, owner_no, device_no
    FROM new_run CROSS JOIN LATERAL
      unnest((CAST(:deviceNos AS int[]))[skipped + 1 : skipped + total]) WITH ORDINALITY AS given (device_no, place)
  ), written AS (
    INSERT INTO run (${Object.values(newRunFields).map(columnOf)})
    SELECT ${Object.keys(newRunFields).map((field) => valueOfField[field as keyof typeof newRunFields])} FROM new_run
  ), counted AS (${countUpWithIds})
  SELECT run_id AS "runId", execution_id AS "jobExecutionId", 1 / (SELECT count(*) FROM counted) AS one FROM ids` as const

// Does the same, as a function of the schema (migrations/0001).
const LAUNCH_ONE = `
  SELECT run_id AS "runId", execution_id AS "jobExecutionId"
  FROM launch_one(:markerId, :nodeNo, :commits, :ownerNo, :state, :jobNo, :jobVersion, :launchedAt, :expireAt, :deadlineAt,
    :keyId, :retryOf, :deviceNo)`

/** `launches`: with ids from 0 on; they are given theirs behind all that were given before. */
export function launchStatement(names: Names, launches: Launch[]): LoneStatement {
  const [first] = launches
  const [device] = first?.devices ?? []
  const isOne = launches.length === 1 && first?.devices.length === 1
  return first && device && isOne ? launchOne(names, first, device) : launchGroup(names, launches)
}

function launchOne(names: Names, { run }: Launch, { deviceNo }: RunDevice): LoneStatement {
  const { ownerNo, jobNo, jobVersion, launchedAt, expireAt, deadlineAt, keyId, retryOf } = run
  const state = names.get(ownerNo)?.state ?? null
  const values = {
    ownerNo,
    state,
    jobNo,
    jobVersion,
    launchedAt,
    expireAt,
    deadlineAt,
    keyId,
    retryOf,
    deviceNo,
  }
  return (marker) => {
    const { text, parameters } = placeValues(LAUNCH_ONE, { ...values, ...marker })
    return { name: 'launch_one', text, values: parameters }
  }
}

function launchGroup(names: Names, launches: Launch[]): LoneStatement {
  const owners = [...names.keys()].sort((a, b) => a - b)
  const runs = launches.map(({ run }) => run)
  const deviceNos = launches.flatMap(({ devices }) => devices.map(({ deviceNo }) => deviceNo))
  const values = {
    owners,
    states: owners.map((ownerNo) => names.get(ownerNo)?.state),
    runs: runs.length,
    executions: deviceNos.length,
    ownerNos: runs.map(({ ownerNo }) => ownerNo),
    jobNos: runs.map(({ jobNo }) => jobNo),
    versionNos: runs.map(({ jobVersion }) => jobVersion),
    launchedAts: runs.map(({ launchedAt }) => launchedAt),
    totals: runs.map(({ total }) => total),
    skipped: runs.map(({ firstExecutionId }) => firstExecutionId),
    expireAts: orNulls(runs.map(({ expireAt }) => expireAt)),
    deadlineAts: orNulls(runs.map(({ deadlineAt }) => deadlineAt)),
    keyIds: runs.map(({ keyId }) => keyId),
    retriesOf: orNulls(runs.map(({ retryOf }) => retryOf)),
    deviceNos: numbers(deviceNos),
  }
  return (marker) => {
    const { text, parameters } = placeValues(LAUNCH, { ...values, ...marker })
    return { name: 'launch', text, values: parameters }
  }
}

function orNulls(list: (number | null)[]): string {
  return `{${list.map((value) => value ?? 'NULL').join(',')}}`
}
