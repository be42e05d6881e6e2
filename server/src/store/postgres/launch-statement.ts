// Writes a group of triggers whose names are cached with one statement, which locks the names, assigns ids and writes runs,
// executions and events. So a small group takes one round trip to the database.

import type { RunDevice } from '../../domain/trigger/launch-run.ts'
import type { Trigger } from '../../domain/trigger/trigger.ts'
import { columnOf } from '../queries.ts'
import { newRunFields } from '../tables/runs.ts'
import { countUpWithIds } from './commit-markers.ts'
import type { Names } from './directory.ts'
import type { LoneStatement } from './launch-alone.ts'
import { locks } from './locks.ts'
import { placeValues } from './named-queries.ts'
import { numbers } from './rows.ts'
import type { Launch } from './trigger-group.ts'

/** The values of a new run, in `new_run`. */
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

// Every part depends on the ids, so everything runs after the names are locked. Event ids are assigned after the lock of the
// owner (transaction.ts).
const LAUNCH = `
  WITH ids AS MATERIALIZED (
    SELECT run_id, execution_id
    FROM hold_names(CAST(:owners AS int[]), CAST(:states AS text[])) CROSS JOIN LATERAL take_ids(:runs, :executions)
  ), new_run AS MATERIALIZED (
    SELECT ids.run_id + place - 1 AS run_id, owner_no, job_no, version_no, launched_at, total, skipped,
      ids.execution_id + skipped AS first_execution_id, expire_at, deadline_at, key_id, retry_of, details
    FROM ids CROSS JOIN unnest(CAST(:ownerNos AS int[]), CAST(:jobNos AS int[]), CAST(:versionNos AS int[]),
      CAST(:launchedAts AS bigint[]), CAST(:totals AS int[]), CAST(:skipped AS int[]), CAST(:expireAts AS bigint[]),
      CAST(:deadlineAts AS bigint[]), CAST(:keyIds AS text[]), CAST(:retriesOf AS bigint[]), CAST(:audits AS text[]))
      WITH ORDINALITY AS given (owner_no, job_no, version_no, launched_at, total, skipped, expire_at, deadline_at, key_id,
        retry_of, details, place)
  ), locked AS MATERIALIZED (
    SELECT owner_no, pg_advisory_xact_lock(${locks.eventsOfOwner}, owner_no)
    FROM ids CROSS JOIN unnest(CAST(:owners AS int[])) AS owner_no
  ), new_event AS (
    INSERT INTO event (owner_no, at, type, run_id)
    SELECT owner_no, launched_at, 'run.created', run_id FROM new_run JOIN locked USING (owner_no)
  ), new_entry AS (
    INSERT INTO audit_entry (owner_no, at, principal, action, subject, details)
    SELECT owner_no, launched_at, principal_of(key_id), 'run.created', 'run:' || run_id, details
    FROM new_run JOIN locked USING (owner_no)
  ), new_execution AS (
    INSERT INTO execution (execution_id, run_id, owner_no, device_no)
    SELECT first_execution_id + place - 1, run_id, owner_no, device_no
    FROM new_run CROSS JOIN LATERAL
      unnest((CAST(:deviceNos AS int[]))[skipped + 1 : skipped + total]) WITH ORDINALITY AS given (device_no, place)
  ), written AS (
    INSERT INTO run (${Object.values(newRunFields).map(columnOf)})
    SELECT ${Object.keys(newRunFields).map((field) => valueOfField[field as keyof typeof newRunFields])} FROM new_run
  ), counted AS (${countUpWithIds})
  SELECT run_id AS "runId", execution_id AS "jobExecutionId", CAST(NULL AS text) AS made, CAST(NULL AS text) AS used,
    1 / (SELECT count(*) FROM counted) AS one
  FROM ids` as const

// The same for triggers of which some have an idempotency key. A trigger whose key was used before creates nothing and takes no
// ids; the earlier call is in `used`. If the same call is about to commit on another node, this waits for it and then finds its
// key; that call is not in `used`, because this statement does not see it. Keys are claimed before the lock of events is taken,
// always in the same order, to prevent deadlocks. This also takes one round trip, while separate statements for keys took two
// more (npm run bench:postgres -- --parts callers).
const LAUNCH_KEYED = `
  WITH asked AS MATERIALIZED (
    SELECT *
    FROM unnest(CAST(:ownerNos AS int[]), CAST(:jobNos AS int[]), CAST(:versionNos AS int[]),
      CAST(:launchedAts AS bigint[]), CAST(:totals AS int[]), CAST(:skipped AS int[]), CAST(:expireAts AS bigint[]),
      CAST(:deadlineAts AS bigint[]), CAST(:keyIds AS text[]), CAST(:retriesOf AS bigint[]), CAST(:audits AS text[]),
      CAST(:keys AS text[]), CAST(:hashes AS text[]), CAST(:madeAts AS bigint[]), CAST(:validAfters AS bigint[])) WITH ORDINALITY
      AS asked (owner_no, job_no, version_no, launched_at, total, skipped, expire_at, deadline_at, key_id, retry_of,
        details, key, hash, made_at, valid_after, place)
  ), used AS MATERIALIZED (
    SELECT place, run_id, encode(request_hash, 'hex') AS hash
    FROM asked JOIN idempotency_key AS used ON used.owner_no = asked.owner_no AND used.idempotency_key = asked.key
    WHERE used.created_at > asked.valid_after
  ), given AS MATERIALIZED (
    SELECT * FROM asked WHERE place NOT IN (SELECT place FROM used)
  ), held AS MATERIALIZED (
    SELECT count(*) AS one FROM hold_names(CAST(:owners AS int[]), CAST(:states AS text[]))
  ), needed AS MATERIALIZED (
    SELECT count(*) AS runs, CAST(sum(total) AS bigint) AS executions FROM given HAVING count(*) > 0
  ), ids AS MATERIALIZED (
    SELECT run_id, execution_id
    FROM held CROSS JOIN needed CROSS JOIN LATERAL take_ids(held.one * needed.runs, needed.executions)
  ), new_run AS MATERIALIZED (
    SELECT given.*, ids.run_id + row_number() OVER (ORDER BY place) - 1 AS run_id,
      ids.execution_id + sum(total) OVER (ORDER BY place) - total AS first_execution_id
    FROM ids CROSS JOIN given
  ), claimed AS (
    INSERT INTO idempotency_key (owner_no, idempotency_key, request_hash, run_id, created_at)
    SELECT owner_no, key, decode(hash, 'hex'), run_id, made_at FROM new_run WHERE key IS NOT NULL ORDER BY owner_no, key
    ON CONFLICT (owner_no, idempotency_key) DO UPDATE SET request_hash = excluded.request_hash,
      run_id = excluded.run_id, created_at = excluded.created_at
    WHERE idempotency_key.created_at <= CAST(:validAfter AS bigint) RETURNING run_id
  ), made AS MATERIALIZED (
    SELECT * FROM new_run WHERE key IS NULL OR run_id IN (SELECT run_id FROM claimed)
  ), locked AS MATERIALIZED (
    SELECT owner_no, pg_advisory_xact_lock(${locks.eventsOfOwner}, owner_no)
    FROM (SELECT DISTINCT owner_no FROM made ORDER BY owner_no) AS wanted
  ), new_event AS (
    INSERT INTO event (owner_no, at, type, run_id)
    SELECT owner_no, launched_at, 'run.created', run_id FROM made JOIN locked USING (owner_no)
  ), new_entry AS (
    INSERT INTO audit_entry (owner_no, at, principal, action, subject, details)
    SELECT owner_no, launched_at, principal_of(key_id), 'run.created', 'run:' || run_id, details
    FROM made JOIN locked USING (owner_no)
  ), new_execution AS (
    INSERT INTO execution (execution_id, run_id, owner_no, device_no)
    SELECT first_execution_id + wanted.place - 1, run_id, owner_no, device_no
    FROM made CROSS JOIN LATERAL
      unnest((CAST(:deviceNos AS int[]))[skipped + 1 : skipped + total]) WITH ORDINALITY AS wanted (device_no, place)
  ), written AS (
    INSERT INTO run (${Object.values(newRunFields).map(columnOf)})
    SELECT ${Object.keys(newRunFields).map((field) => valueOfField[field as keyof typeof newRunFields])} FROM made
  ), counted AS (${countUpWithIds})
  SELECT run_id AS "runId", execution_id AS "jobExecutionId",
    CASE WHEN run_id IS NOT NULL THEN 1 / (SELECT count(*) FROM counted) END AS one,
    (SELECT CAST(json_agg(json_build_array(place - 1, made.run_id, first_execution_id)) AS text) FROM made) AS made,
    (SELECT CAST(json_agg(json_build_array(place - 1, used.run_id, hash)) AS text) FROM used) AS used
  FROM held LEFT JOIN ids ON true` as const

// The same as a function of the schema (migrations/0022), with a fifth less CPU time of the server.
const LAUNCH_ONE = `
  SELECT run_id AS "runId", execution_id AS "jobExecutionId", made, used
  FROM launch_with_key(:markerId, :nodeNo, :commits, :ownerNo, :state, :jobNo, :jobVersion, :launchedAt, :expireAt, :deadlineAt,
    :keyId, :retryOf, :deviceNo, :audit, :key, :hash, :madeAt, :validAfter)`

/** `launches`: with ids from 0 on, to which the statement adds the first free ids. */
export function launchStatement(names: Names, launches: Launch[]): LoneStatement {
  const [first] = launches
  const [device] = first?.devices ?? []
  const isOne = launches.length === 1 && first?.devices.length === 1
  if (first && device && isOne) return launchOne(names, first, device)
  const hasKeys = launches.some(({ trigger }) => trigger.idempotency)
  return hasKeys ? launchKeyed(names, launches) : launchGroup(names, launches)
}

function launchOne(names: Names, { trigger, run }: Launch, { deviceNo }: RunDevice): LoneStatement {
  const { ownerNo, jobNo, jobVersion, launchedAt, expireAt, deadlineAt, keyId, retryOf, audit } = run
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
    audit,
    ...keyOf(trigger),
  }
  return (marker) => {
    const { text, parameters } = placeValues(LAUNCH_ONE, { ...values, ...marker })
    return { name: 'launch_with_key', text, values: parameters }
  }
}

function launchGroup(names: Names, launches: Launch[]): LoneStatement {
  const { executions, ...values } = valuesOf(names, launches)
  const counts = { runs: launches.length, executions }
  return (marker) => {
    const { text, parameters } = placeValues(LAUNCH, { ...values, ...counts, ...marker })
    return { name: 'launch', text, values: parameters }
  }
}

function launchKeyed(names: Names, launches: Launch[]): LoneStatement {
  const { executions: _, ...values } = valuesOf(names, launches)
  const keys = launches.map(({ trigger }) => keyOf(trigger))
  const validAfters = keys.map(({ validAfter }) => validAfter)
  const keyValues = {
    keys: keys.map(({ key }) => key),
    hashes: keys.map(({ hash }) => hash),
    madeAts: orNulls(keys.map(({ madeAt }) => madeAt)),
    validAfters: orNulls(validAfters),
    // All calls of a group arrive at about the same time; the oldest one determines which keys are expired.
    validAfter: Math.min(...validAfters.filter((at) => at !== null)),
  }
  return (marker) => {
    const { text, parameters } = placeValues(LAUNCH_KEYED, { ...values, ...keyValues, ...marker })
    return { name: 'launch_keyed', text, values: parameters }
  }
}

function keyOf({ idempotency }: Trigger) {
  const { key = null, requestHash, madeAt = null, validAfter = null } = idempotency ?? {}
  return { key, hash: requestHash ? Buffer.from(requestHash).toString('hex') : null, madeAt, validAfter }
}

function valuesOf(names: Names, launches: Launch[]) {
  const owners = [...names.keys()].sort((a, b) => a - b)
  const runs = launches.map(({ run }) => run)
  const deviceNos = launches.flatMap(({ devices }) => devices.map(({ deviceNo }) => deviceNo))
  return {
    owners,
    states: owners.map((ownerNo) => names.get(ownerNo)?.state),
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
    audits: runs.map(({ audit }) => audit),
    deviceNos: numbers(deviceNos),
  }
}

function orNulls(list: (number | null)[]): string {
  return `{${list.map((value) => value ?? 'NULL').join(',')}}`
}
