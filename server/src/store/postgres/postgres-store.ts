// The store on PostgreSQL, for any number of nodes: caches never decide anything on their own.

import type { Nodes } from '../../domain/common/ports/nodes.ts'
import type { Store } from '../../domain/common/ports/store.ts'
import { readMigrations } from '../migrate.ts'
import { CachedKeys } from './cached-keys.ts'
import { Catalogue } from './catalogue.ts'
import { Database } from './database.ts'
import { Directory } from './directory.ts'
import { InFlightSteps } from './in-flight-steps.ts'
import { buildLargeRunSteps } from './large-run.ts'
import { migratePostgres, onConnection } from './migrate-database.ts'
import { NodeSignal } from './node-signal.ts'
import { buildNodeSteps, joinNodes, leaveNodes } from './nodes.ts'
import { OldestRuns } from './oldest-runs.ts'
import { Partitions } from './partitions.ts'
import { bindPlainSteps } from './plain-steps.ts'
import { buildPresenceSteps, leaveConnections } from './presence.ts'
import { buildQueueSteps } from './queues.ts'
import { buildReportSteps } from './reports.ts'
import { buildRetentionSteps } from './retention.ts'
import { onClient } from './rows.ts'
import { buildTriggerSteps } from './triggers.ts'

export const postgresMigrations = () => readMigrations(new URL('migrations/', import.meta.url))

// Makes the commit a write, to a row that no other node writes (commit-markers.ts), so that a node that hangs during its health
// check does not block those of others.
const PROBE = 'SELECT pg_current_xact_id()'

export type PostgresStore = Store & { readonly nodes: Nodes }

export async function openPostgresStore({ url }: { url: string }): Promise<PostgresStore> {
  const { settings } = await migratePostgres(url, postgresMigrations())
  // Connections have a name only after the node has its number.
  const nodeNo = await onConnection(url, (client) => joinNodes(onClient(client)))
  const db = new Database(url, settings, nodeNo)
  try {
    const signal = new NodeSignal(url, nodeNo)
    db.onEvents = () => signal.sendEvents()
    await signal.open()
    return await buildStore(db, signal, nodeNo)
  } catch (error) {
    await leaveNodes(db, nodeNo).catch(() => undefined)
    await db.close()
    throw error
  }
}

async function buildStore(db: Database, signal: NodeSignal, nodeNo: number): Promise<PostgresStore> {
  const inFlight = new InFlightSteps(db.watch)
  const partitions = new Partitions(db)
  const directory = new Directory()
  const keys = new CachedKeys()
  const oldestRuns = new OldestRuns()
  const steps = inFlight.counting(await buildSteps(db, partitions, { directory, keys, oldestRuns }, nodeNo))
  const forgetAll = () => {
    partitions.clear()
    directory.clear()
    keys.clear()
    oldestRuns.clear()
    db.policies.clear()
  }
  let closed: Promise<void> | undefined
  const close = async () => {
    await inFlight.close()
    // If this fails, other nodes detect the end of this one.
    await leaveNodes(db, nodeNo).catch(() => undefined)
    await Promise.all([db.close(), signal.close()])
  }
  return {
    ...steps,
    cachedApiKey: ({ keyId }) => keys.lookUpCached(keyId),
    nodes: buildNodeSteps(db, signal, nodeNo, (at) => leaveConnections(db, at, nodeNo), forgetAll),
    onEvents: (listener) => void signal.on('events', listener),
    close() {
      closed ??= close()
      return closed
    },
  }
}

async function buildSteps(
  db: Database,
  partitions: Partitions,
  remembered: { directory: Directory; keys: CachedKeys; oldestRuns: OldestRuns },
  nodeNo: number,
): Promise<Omit<Store, 'onEvents' | 'close' | 'cachedApiKey'>> {
  const { jobExecutionId } = await db.readLastIds()
  await partitions.reach(jobExecutionId + 1)
  const catalogue = new Catalogue(db)
  return {
    async checkHealth() {
      await db.inTransaction((transaction) => transaction.query(PROBE))
    },
    ...bindPlainSteps(db, catalogue, remembered.keys),
    ...buildPresenceSteps(db, nodeNo),
    ...buildTriggerSteps({ db, partitions, catalogue, ...remembered }),
    ...buildLargeRunSteps(db, partitions, remembered.oldestRuns),
    ...buildReportSteps(db),
    ...buildQueueSteps(db),
    ...buildRetentionSteps(db),
  }
}
