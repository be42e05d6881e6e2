// The nodes on this database. Each node has a row that it updates once a second and a lock that it holds; a node without both
// for some time is removed, and its devices are marked as offline.

import { randomInt } from 'node:crypto'
import type { LeftDevice, Nodes, OpenSession, StaleSession } from '../../domain/common/ports/nodes.ts'
import type { DeviceKey } from '../../domain/device/device-key.ts'
import { type SeenNode, SilentNodes } from '../../state/silent-nodes.ts'
import { deviceKeySet, keysOf, type Queries, recordSet } from '../queries.ts'
import { flag, number, rows, select, steady, text } from '../schema/column.ts'
import { device, node, steadyClock } from '../schema/tables.ts'
import { getLaunchedRun } from '../tables/executions.ts'
import { nodeName } from './connect.ts'
import type { Database } from './database.ts'
import { locks } from './locks.ts'
import type { NodeSignal } from './node-signal.ts'
import type { Queries as PlainQueries } from './rows.ts'

/** The clock of the database, because those of the nodes may differ. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
const { nodeNo, beat } = node.fields
const NODE = select({ nodeNo, beat })
const JOINED = select({ nodeNo })
// A random number and not the next one: after a failover the database may lack the last assigned numbers and would reuse them.
const JOIN =
  `INSERT INTO node (node_no, beat_at) VALUES ($1, ${NOW}) ON CONFLICT DO NOTHING RETURNING ${JOINED}` as const
const REJOIN =
  `INSERT INTO node (node_no, beat_at) VALUES ($1, ${NOW}) ON CONFLICT (node_no) DO NOTHING` as const
// A failover begins a new timeline. A database that was restored to an older state may not, but its events have lower ids.
const HISTORY = `
  SELECT system_identifier || ' ' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS history,
    last_value AS "lastEventId"
  FROM pg_control_system(), event_id`
const HISTORY_ROW = rows({ history: text(), lastEventId: number() })
const LEAVE = 'DELETE FROM node WHERE node_no = $1'
const LEAVE_MARKERS = 'DELETE FROM commit_marker WHERE node_no = $1'
const BEAT =
  `UPDATE node SET beat_at = greatest(beat_at + 1, ${NOW}) WHERE node_no = $1 RETURNING node_no` as const
// Adds the time since the clock was recorded, according to the database's clock, unless that has jumped.
const CLOCK = `
  UPDATE steady_clock SET at = ${NOW},
    clock = greatest($1::bigint, clock + CASE WHEN ${NOW} - at BETWEEN 0 AND 2000 THEN ${NOW} - at ELSE 0 END)
  RETURNING clock, at` as const
const CLOCK_ROW = rows(steadyClock.fields)
// A joining node takes the clock of the others, or continues from the recorded value (see domain/common/instants.ts).
const TAKE_CLOCK = `
  UPDATE steady_clock SET at = ${NOW}, clock = clock + greatest(0, ${NOW} - at) RETURNING clock, at` as const
const ALL = `SELECT ${NODE} FROM node ORDER BY node_no` as const
// A node without a connection has ended, unless it is just reconnecting. A node that hangs keeps its connection, and is
// considered dead after a longer time.
const DEAD = `
  SELECT ${JOINED} FROM ${recordSet('silent', { nodeNo, beat, isGone: flag() })}
    JOIN node ON node_no = record."nodeNo" AND beat_at = record.beat
  WHERE record."isGone" OR pg_try_advisory_xact_lock(${locks.node}, node.node_no)
  FOR UPDATE OF node SKIP LOCKED` as const
// Ending its connections releases its locks: on webhooks, and on rows of unfinished transactions.
const CUT_OFF = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = ANY (CAST(:names AS text[])) AND pid <> pg_backend_pid()`
const REMOVE = 'DELETE FROM node WHERE node_no = ANY (CAST(:nodeNos AS int[]))'
// A node that was only paused creates them again.
const REMOVE_MARKERS = 'DELETE FROM commit_marker WHERE node_no = ANY (CAST(:nodeNos AS int[]))'
// The node of a connected device is determined only by its session.
const key = device.pick('ownerNo', 'deviceId')
const SEEN = `
  UPDATE device SET last_seen_at = greatest(last_seen_at, record.at),
    node_no = CASE WHEN transport IN ('http', 'bridge') THEN CAST(:nodeNo AS int) ELSE node_no END
  FROM ${deviceKeySet({ at: 'bigint' })}
  WHERE device.owner_no = record."ownerNo" AND device.device_id = record."deviceId" AND online` as const
const KEY = select(key)
const OFFLINE = `
  SELECT ${KEY} FROM ${deviceKeySet()}
    JOIN device ON device.owner_no = record."ownerNo" AND device.device_id = record."deviceId"
  WHERE NOT online AND deleted_at IS NULL` as const
// Compares two sessions like domain/device/judge-presence.ts.
const isTakenOver = `
  (session_since > record.since
    OR (session_since = record.since AND online AND transport NOT IN ('http', 'bridge') AND node_no > CAST(:nodeNo AS int)))`
const STALE = `
  SELECT record."ownerNo", record."deviceId", record.since, coalesce(${isTakenOver}, false) AS "isTakenOver"
  FROM ${deviceKeySet({ since: 'bigint', tokenId: 'text' })}
    LEFT JOIN device ON device.owner_no = record."ownerNo" AND device.device_id = record."deviceId" AND deleted_at IS NULL
  WHERE device_no IS NULL OR ${isTakenOver}
    OR CASE WHEN record."tokenId" IS NULL THEN revoked_at IS NOT NULL
      ELSE device.token_id IS DISTINCT FROM record."tokenId" END` as const
const STALE_SESSION = rows({ ...key, since: steady(), isTakenOver: flag() })
const MOVED = `
  SELECT ${KEY} FROM execution JOIN device ON device.device_no = execution.device_no
  WHERE execution_id BETWEEN $1 AND $2 AND (state <> 'PENDING' OR version_number <> 1)` as const

type SilentNode = SeenNode & { silentMs: number }

const endedAfterMs = 3000
const goneAfterMs = 10_000

/** Returns the number of this node. */
export async function joinNodes(queries: PlainQueries): Promise<number> {
  for (;;) {
    const [row] = await queries.query(JOIN, [randomInt(1, 2 ** 31)])
    if (row) return JOINED.read(row).nodeNo
  }
}

export async function leaveNodes(queries: PlainQueries, nodeNo: number): Promise<void> {
  await queries.query(LEAVE, [nodeNo])
  await queries.query(LEAVE_MARKERS, [nodeNo])
}

export function buildNodeSteps(
  db: Database,
  signal: NodeSignal,
  nodeNo: number,
  leaveConnections: (at: number) => Promise<LeftDevice[]>,
  /** Clears the caches of the store. */
  forgetAll: () => void,
  now: () => number = Date.now,
): Nodes {
  const silentNodes = new SilentNodes(() => performance.now())
  let silent: SilentNode[] = []
  /** Kept until it was reported, because later steps of a heartbeat may fail. */
  let wasRemoved = false
  let history: ReturnType<typeof HISTORY_ROW.read> | undefined
  let isOtherHistory = false
  const checkHistory = async () => {
    const [row] = await db.note(HISTORY)
    const found = HISTORY_ROW.read(row ?? {})
    const isOther =
      history !== undefined && (history.history !== found.history || history.lastEventId > found.lastEventId)
    history = found
    if (!isOther) return
    isOtherHistory = true
    forgetAll()
  }
  return {
    send: (hint) => signal.send(hint),
    onHint: (listener) => void signal.on('hint', listener),
    async beat(clock) {
      signal.checkHearing()
      const receivedBefore = signal.receivedFromOthers
      const beaten = await db.note(BEAT, [nodeNo])
      if (beaten.length === 0) {
        wasRemoved = true
        await db.note(REJOIN, [nodeNo])
      }
      await checkHistory()
      const [row] = await (clock === undefined ? db.note(TAKE_CLOCK) : db.note(CLOCK, [clock]))
      const all = (await db.note(ALL)).map(NODE.read)
      signal.isAlone = all.length === 1 && signal.receivedFromOthers === receivedBefore
      silent = silentNodes.observe(all.filter((node) => node.nodeNo !== nodeNo))
      const beat = {
        ...CLOCK_ROW.read(row ?? {}),
        wasRemoved,
        isOtherHistory,
        nodeNo,
        nodeNos: all.map((node) => node.nodeNo),
      }
      wasRemoved = false
      isOtherHistory = false
      return beat
    },
    giveUpIfSilent() {
      const isSilent = db.watch.check()
      if (isSilent) db.giveUpConnections()
      return isSilent
    },
    async removeDeadNodes() {
      const ended = silent.filter(({ silentMs }) => silentMs >= endedAfterMs)
      if (ended.length > 0) await db.inTransaction(({ named }) => takeOut(named, ended))
      return leaveConnections(now())
    },
    recordSeen: (seen) =>
      db.inTransaction(async ({ named }) => {
        // Always in the same order, to prevent deadlocks between nodes.
        const devices = seen.toSorted(byDevice)
        await named.run(SEEN, { ...keysOf(devices), at: devices.map(({ at }) => at), nodeNo })
        return named.all(KEY, OFFLINE, keysOf(devices))
      }),
    async findStaleSessions(sessions: OpenSession[]): Promise<StaleSession[]> {
      const since = sessions.map((session) => session.since)
      const tokenId = sessions.map((session) => session.tokenId)
      const found = await db.named.all(STALE_SESSION, STALE, { ...keysOf(sessions), since, tokenId, nodeNo })
      return found.map(({ isTakenOver, ...session }) => ({
        ...session,
        reason: isTakenOver ? 'taken-over' : 'credential-void',
      }))
    },
    getLaunchedRun: (runId) =>
      db.inSnapshot(async (reads) => {
        const run = await getLaunchedRun(reads.named, { runId })
        const { firstExecutionId: first, devices } = run
        const moved = await reads.query(MOVED, [first, first + devices.length - 1])
        return { run, moved: moved.map(KEY.read) }
      }),
    takeWebhook: (webhookNo) => signal.takeWebhook(webhookNo),
    giveBackWebhook: (webhookNo) => signal.giveBackWebhook(webhookNo),
    takeBridge: (bridgeNo) => signal.takeBridge(bridgeNo),
    giveBackBridge: (bridgeNo) => signal.giveBackBridge(bridgeNo),
    onWebhooksLost: (listener) => void signal.on('webhooks-lost', listener),
  }
}

/** Removes these nodes, except those that have sent a heartbeat meanwhile. */
async function takeOut(queries: Queries, ended: SilentNode[]): Promise<void> {
  const silent = ended.map((node) => ({ ...node, isGone: node.silentMs >= goneAfterMs }))
  const nodeNos = (await queries.all(JOINED, DEAD, { silent })).map(({ nodeNo }) => nodeNo)
  if (nodeNos.length === 0) return
  await queries.run(REMOVE, { nodeNos })
  await queries.run(CUT_OFF, { names: nodeNos.map(nodeName) })
  await queries.run(REMOVE_MARKERS, { nodeNos })
}

function byDevice(one: DeviceKey, other: DeviceKey): number {
  if (one.ownerNo !== other.ownerNo) return one.ownerNo - other.ownerNo
  return one.deviceId < other.deviceId ? -1 : 1
}
