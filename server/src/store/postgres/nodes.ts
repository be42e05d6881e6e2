// Who else is on this database. Each node has a row that it renews once a second and a lock that it holds; one that has
// done neither for a while is taken out, and whoever was connected to it is offline.

import type { LeftDevice, Nodes, OpenSession, StaleSession } from '../../domain/nodes.ts'
import type { DeviceKey } from '../../domain/ports/devices.ts'
import { type SeenNode, SilentNodes } from '../../state/silent-nodes.ts'
import { flag, rows, select, steady } from '../schema/column.ts'
import { device, node } from '../schema/tables.ts'
import { getLaunchedRun } from '../tables/executions.ts'
import { nodeName } from './connect.ts'
import type { Database } from './database.ts'
import { locks } from './locks.ts'
import type { NodeSignal } from './node-signal.ts'
import { numbers, type Queries } from './rows.ts'

/** The database's own clock: those of the nodes may differ. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
const { nodeNo, beat } = node.fields
const NODE = select({ nodeNo, beat })
const JOINED = select({ nodeNo })
const JOIN = `INSERT INTO node (beat_at) VALUES (${NOW}) RETURNING ${JOINED}`
const REJOIN = `INSERT INTO node (node_no, beat_at) VALUES ($1, ${NOW}) ON CONFLICT (node_no) DO NOTHING`
const LEAVE = 'DELETE FROM node WHERE node_no = $1'
const BEAT = `UPDATE node SET beat_at = greatest(beat_at + 1, ${NOW}) WHERE node_no = $1 RETURNING node_no`
// It has gone on since it was written down. The database's clock says for how long, unless that has jumped.
const CLOCK = `
  UPDATE steady_clock SET at = ${NOW},
    clock = greatest($1::bigint, clock + CASE WHEN ${NOW} - at BETWEEN 0 AND 2000 THEN ${NOW} - at ELSE 0 END)
  RETURNING clock`
const CLOCK_ROW = rows({ clock: steady() })
// Who comes in takes the clock of the others. If there has been nobody for long, all clocks begin with the one on the wall.
const TAKE_CLOCK = `
  UPDATE steady_clock SET at = ${NOW},
    clock = CASE WHEN ${NOW} - at BETWEEN 0 AND 10000 THEN clock + ${NOW} - at ELSE greatest(clock, ${NOW}) END
  RETURNING clock`
const ALL = `SELECT ${NODE} FROM node ORDER BY node_no`
// A node whose connection is gone has ended, unless it is just making a new one. One that stands still keeps its
// connection; after a longer while it counts as gone all the same.
const DEAD = `
  SELECT ${JOINED} FROM unnest($1::int[], $2::bigint[], $3::boolean[]) AS silent (node_no, beat_at, for_long)
    JOIN node USING (node_no, beat_at)
  WHERE for_long OR pg_try_advisory_xact_lock(${locks.node}, node.node_no)
  FOR UPDATE OF node SKIP LOCKED`
// What it had to itself is free with its connections: its webhooks, and rows of transactions in which it stands still.
const CUT_OFF = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = ANY ($1::text[]) AND pid <> pg_backend_pid()`
const REMOVE = 'DELETE FROM node WHERE node_no = ANY ($1::int[])'
// Where a device is connected is said by its session alone.
const SEEN = `
  UPDATE device SET last_seen_at = greatest(last_seen_at, seen.at),
    node_no = CASE WHEN door = 'http' THEN $4 ELSE node_no END
  FROM unnest($1::int[], $2::text[], $3::bigint[]) AS seen (owner_no, device_id, at)
  WHERE device.owner_no = seen.owner_no AND device.device_id = seen.device_id AND online`
const { ownerNo, deviceId } = device.fields
const KEY = select({ ownerNo, deviceId })
const OFFLINE = `
  SELECT ${KEY} FROM unnest($1::int[], $2::text[]) AS seen (owner_no, device_id)
    JOIN device USING (owner_no, device_id)
  WHERE NOT online AND deleted_at IS NULL`
const STALE = `
  SELECT open.owner_no AS "ownerNo", open.device_id AS "deviceId", open.since,
    coalesce(session_since > open.since, false) AS "isTakenOver"
  FROM unnest($1::int[], $2::text[], $3::bigint[], $4::text[]) AS open (owner_no, device_id, since, token_id)
    LEFT JOIN device ON device.owner_no = open.owner_no AND device.device_id = open.device_id AND deleted_at IS NULL
  WHERE device_no IS NULL OR session_since > open.since
    OR CASE WHEN open.token_id IS NULL THEN revoked_at IS NOT NULL ELSE device.token_id IS DISTINCT FROM open.token_id END`
const STALE_SESSION = rows({ ownerNo, deviceId, since: steady(), isTakenOver: flag() })
const MOVED = `
  SELECT ${KEY} FROM execution JOIN device ON device.device_no = execution.device_no
  WHERE execution_id BETWEEN $1 AND $2 AND (state <> 'PENDING' OR version_number <> 1)`

const endedAfterMs = 3000
const goneAfterMs = 10_000

/** Gives the number of this node. */
export async function joinNodes(queries: Queries): Promise<number> {
  const [row] = await queries.query(JOIN)
  return JOINED.read(row ?? {}).nodeNo
}

export async function leaveNodes(queries: Queries, nodeNo: number): Promise<void> {
  await queries.query(LEAVE, [nodeNo])
}

export function buildNodeSteps(
  db: Database,
  signal: NodeSignal,
  nodeNo: number,
  leaveConnections: (at: number) => Promise<LeftDevice[]>,
  now: () => number = Date.now,
): Nodes {
  const silentNodes = new SilentNodes(() => performance.now())
  let silent: (SeenNode & { silentMs: number })[] = []
  /** Until somebody was told so: what comes after it in a beat may fail. */
  let wasForgotten = false
  return {
    tell: (hint) => signal.tell(hint),
    onHint: (listener) => signal.onHint(listener),
    async beat(clock) {
      signal.checkHearing()
      const heardBefore = signal.heardOthers
      const beaten = await db.note(BEAT, [nodeNo])
      if (beaten.length === 0) {
        wasForgotten = true
        await db.note(REJOIN, [nodeNo])
      }
      const [row] = await (clock === undefined ? db.note(TAKE_CLOCK) : db.note(CLOCK, [clock]))
      const all = (await db.note(ALL)).map(NODE.read)
      signal.isAlone = all.length === 1 && signal.heardOthers === heardBefore
      silent = silentNodes.observe(all.filter((node) => node.nodeNo !== nodeNo))
      const beat = {
        clock: CLOCK_ROW.read(row ?? {}).clock,
        wasForgotten,
        nodeNo,
        nodeNos: all.map((node) => node.nodeNo),
      }
      wasForgotten = false
      return beat
    },
    async forgetDeadNodes() {
      const ended = silent.filter(({ silentMs }) => silentMs >= endedAfterMs)
      if (ended.length > 0) await db.inTransaction((transaction) => takeOut(transaction, ended))
      return leaveConnections(now())
    },
    async recordSeen(seen) {
      // In one order, so that two nodes do not wait for each other.
      const devices = seen.toSorted(byDevice)
      return db.inTransaction(async (transaction) => {
        await transaction.query(SEEN, [...columnsOf(devices), numbers(devices.map(({ at }) => at)), nodeNo])
        return (await transaction.query(OFFLINE, columnsOf(devices))).map(KEY.read)
      })
    },
    async findStaleSessions(sessions: OpenSession[]): Promise<StaleSession[]> {
      const found = await db.query(STALE, [
        ...columnsOf(sessions),
        numbers(sessions.map(({ since }) => since)),
        sessions.map(({ tokenId }) => tokenId),
      ])
      return found.map(STALE_SESSION.read).map(({ isTakenOver, ...session }) => ({
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
    onWebhooksLost: (listener) => signal.onWebhooksLost(listener),
  }
}

/** Unless one of them has said something by now. */
async function takeOut(queries: Queries, ended: (SeenNode & { silentMs: number })[]): Promise<void> {
  const dead = await queries.query(DEAD, [
    numbers(ended.map(({ nodeNo }) => nodeNo)),
    numbers(ended.map(({ beat }) => beat)),
    ended.map(({ silentMs }) => silentMs >= goneAfterMs),
  ])
  if (dead.length === 0) return
  const nodeNos = dead.map((row) => JOINED.read(row).nodeNo)
  await queries.query(REMOVE, [numbers(nodeNos)])
  await queries.query(CUT_OFF, [nodeNos.map(nodeName)])
}

function columnsOf(devices: DeviceKey[]): [string, string[]] {
  return [numbers(devices.map(({ ownerNo }) => ownerNo)), devices.map(({ deviceId }) => deviceId)]
}

function byDevice(one: DeviceKey, other: DeviceKey): number {
  if (one.ownerNo !== other.ownerNo) return one.ownerNo - other.ownerNo
  return one.deviceId < other.deviceId ? -1 : 1
}
