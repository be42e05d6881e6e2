// Who else is on this database. Each node has a row that it renews once a second and a lock that it holds; one that has
// done neither for a while is taken out, and whoever was connected to it is offline.

import type { Nodes, OpenSession, StaleSession } from '../../domain/nodes.ts'
import type { DeviceKey } from '../../domain/store.ts'
import type { Database } from './database.ts'
import { getLaunchedRun } from './executions.ts'
import { GroupedNumbers } from './grouped-numbers.ts'
import { locks } from './locks.ts'
import type { NodeSignal } from './node-signal.ts'
import { forgetConnectionsOf } from './presence.ts'
import { numbers, type Queries } from './rows.ts'

/** The database's own clock: those of the nodes may differ. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
const JOIN = `INSERT INTO node (beat_at) VALUES (${NOW}) RETURNING node_no`
const REJOIN = `INSERT INTO node (node_no, beat_at) VALUES ($1, ${NOW}) ON CONFLICT (node_no) DO NOTHING`
const LEAVE = 'DELETE FROM node WHERE node_no = $1'
const BEAT = `UPDATE node SET beat_at = ${NOW} WHERE node_no = $1 RETURNING node_no`
// It goes on between two beats. The wall clock of the database may be set as well: only short times are read off it.
const CLOCK = `
  UPDATE steady_clock SET at = moment.now, clock = greatest(coalesce($1::bigint, moment.now),
    clock + CASE WHEN moment.now - at BETWEEN 0 AND 3000 THEN moment.now - at ELSE 0 END)
  FROM (SELECT ${NOW} AS now) AS moment RETURNING clock`
const ALL = 'SELECT node_no FROM node ORDER BY node_no'
// A node whose connection is gone has ended, unless it is just making a new one. One that stands still keeps its
// connection; after a longer while it counts as gone all the same.
const DEAD = `
  SELECT node_no FROM node WHERE node_no <> $1 AND CASE
    WHEN beat_at < ${NOW} - $3::int THEN true
    WHEN beat_at < ${NOW} - $2::int THEN pg_try_advisory_xact_lock(${locks.node}, node_no)
    ELSE false END
  FOR UPDATE SKIP LOCKED`
// What it had to itself is free with its connection.
const CUT_OFF = `
  SELECT pg_terminate_backend(pid) FROM pg_locks
  WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND classid = ${locks.node} AND objid = ANY ($1::int[]::oid[]) AND pid <> pg_backend_pid()`
const REMOVE = 'DELETE FROM node WHERE node_no = ANY ($1::int[])'
const TAKE_SESSIONS = "SELECT nextval('session_no') AS session_no FROM generate_series(1, $1::int) ORDER BY 1"
const SEEN = `
  UPDATE device SET last_seen_at = greatest(last_seen_at, seen.at), node_no = $4
  FROM unnest($1::int[], $2::text[], $3::bigint[]) AS seen (owner_no, device_id, at)
  WHERE device.owner_no = seen.owner_no AND device.device_id = seen.device_id AND online`
// What was never written down, because it has only just begun, is not judged.
const STALE = `
  SELECT owner_no, device_id, reason
  FROM unnest($1::int[], $2::text[], $3::bigint[], $4::text[]) AS open (owner_no, device_id, session_no, token_id)
    LEFT JOIN LATERAL (
      SELECT device_no, session_no AS last_no, online, revoked_at, token_id AS valid_id FROM device
      WHERE device.owner_no = open.owner_no AND device.device_id = open.device_id AND deleted_at IS NULL) AS known ON true
    CROSS JOIN LATERAL (SELECT CASE
      WHEN device_no IS NULL THEN 'credential-void'
      WHEN open.token_id IS NULL AND revoked_at IS NOT NULL THEN 'credential-void'
      WHEN open.token_id IS NOT NULL AND valid_id IS DISTINCT FROM open.token_id THEN 'credential-void'
      WHEN last_no > open.session_no THEN 'taken-over'
      WHEN last_no = open.session_no AND NOT online THEN 'forgotten' END AS reason) AS verdict
  WHERE reason IS NOT NULL`

const endedAfterMs = 3000
const goneAfterMs = 10_000
/** Whoever could not reach the database for so long must not judge others by their silence. */
const ownSilenceMs = 2500

/** Gives the number of this node. */
export async function joinNodes(queries: Queries): Promise<number> {
  const [row] = await queries.query(JOIN)
  return row?.node_no as number
}

export async function leaveNodes(queries: Queries, nodeNo: number): Promise<void> {
  await queries.query(LEAVE, [nodeNo])
}

export function buildNodeSteps(
  db: Database,
  signal: NodeSignal,
  nodeNo: number,
  now: () => number = Date.now,
): Nodes {
  const sessionNos = new GroupedNumbers(async (count) => {
    const rows = await db.query(TAKE_SESSIONS, [count])
    return rows.map((row) => row.session_no as number)
  })
  let beatenAt = performance.now()
  let isSteady = false
  return {
    tell: (hint) => signal.tell(hint),
    onHint: (listener) => signal.onHint(listener),
    async beat(clock) {
      signal.checkHearing()
      const heardBefore = signal.heardOthers
      const beaten = await db.query(BEAT, [nodeNo])
      if (beaten.length === 0) await db.query(REJOIN, [nodeNo])
      const all = await db.query(ALL)
      const [steady] = await db.query(CLOCK, [clock?.() ?? null])
      signal.isAlone = all.length === 1 && signal.heardOthers === heardBefore
      isSteady = performance.now() - beatenAt < ownSilenceMs
      beatenAt = performance.now()
      return {
        clock: steady?.clock as number,
        wasForgotten: beaten.length === 0,
        nodeNo,
        nodeNos: all.map((row) => row.node_no as number),
      }
    },
    async forgetDeadNodes() {
      if (!isSteady) return
      const dead = await db.inTransaction(async (transaction) => {
        const rows = await transaction.query(DEAD, [nodeNo, endedAfterMs, goneAfterMs])
        const nodeNos = rows.map((row) => row.node_no as number)
        if (nodeNos.length > 0) await transaction.query(CUT_OFF, [numbers(nodeNos)])
        return nodeNos
      })
      if (dead.length === 0) return
      await forgetConnectionsOf(db, dead, now())
      // At last: a node that is killed before this leaves the rest to the next one.
      await db.query(REMOVE, [numbers(dead)])
    },
    takeSessionNo: () => sessionNos.take(),
    async recordSeen(seen) {
      await db.inTransaction((transaction) =>
        transaction.query(SEEN, [...columnsOf(seen), numbers(seen.map(({ at }) => at)), nodeNo]),
      )
    },
    async findStaleSessions(sessions: OpenSession[]): Promise<StaleSession[]> {
      const rows = await db.query(STALE, [
        ...columnsOf(sessions),
        numbers(sessions.map(({ sessionNo }) => sessionNo)),
        sessions.map(({ tokenId }) => tokenId),
      ])
      return rows.map((row) => ({
        ownerNo: row.owner_no as number,
        deviceId: row.device_id as string,
        reason: row.reason as StaleSession['reason'],
      }))
    },
    getLaunchedRun: (runId) => getLaunchedRun(db, runId),
    takeWebhook: (webhookNo) => signal.takeWebhook(webhookNo),
    giveBackWebhook: (webhookNo) => signal.giveBackWebhook(webhookNo),
    onWebhooksLost: (listener) => signal.onWebhooksLost(listener),
  }
}

function columnsOf(devices: DeviceKey[]): [string, string[]] {
  return [numbers(devices.map(({ ownerNo }) => ownerNo)), devices.map(({ deviceId }) => deviceId)]
}
