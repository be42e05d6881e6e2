// The store on PostgreSQL, for any number of nodes at once: nothing that is kept in memory decides anything.

import type { Store } from '../../domain/store.ts'
import { readMigrations } from '../migrate.ts'
import { buildApiKeySteps } from './api-keys.ts'
import { Catalogue } from './catalogue.ts'
import { buildClockSteps } from './clocks.ts'
import { Database } from './database.ts'
import { buildDeviceSteps } from './devices.ts'
import { buildEnrollmentSteps } from './enrollments.ts'
import { buildEventSteps } from './event-list.ts'
import { EventSignal } from './event-signal.ts'
import { buildExecutionListSteps } from './execution-list.ts'
import { buildExecutionSteps } from './executions.ts'
import { buildIdempotencySteps } from './idempotency-keys.ts'
import { buildJobSteps } from './jobs.ts'
import { prepareDatabase } from './migrate-database.ts'
import { buildOutputSteps } from './outputs.ts'
import { buildOwnerSteps } from './owners.ts'
import { Partitions } from './partitions.ts'
import { buildDocumentSteps, Policies } from './policies.ts'
import { buildPresenceSteps } from './presence.ts'
import { buildQueueSteps } from './queues.ts'
import { buildReportSteps } from './reports.ts'
import { buildRetentionSteps } from './retention.ts'
import { buildRunSteps } from './runs.ts'
import { buildTransitionSteps } from './transitions.ts'
import { buildTriggerSteps } from './triggers.ts'
import { UnderWay } from './under-way.ts'
import { buildDeliverySteps } from './webhook-deliveries.ts'
import { buildWebhookSteps } from './webhooks.ts'

export const postgresMigrations = () => readMigrations(new URL('migrations/', import.meta.url))

// A row of its own: that of the ids must not be held while the disk is waited for.
const PROBE = 'UPDATE write_probe SET writes = writes + 1'

export async function openPostgresStore({ url }: { url: string }): Promise<Store> {
  const settings = await prepareDatabase(url, postgresMigrations())
  const db = new Database(url, settings)
  const signal = new EventSignal(url)
  db.onEvents = () => signal.send()
  const underWay = new UnderWay()
  const closeAll = async () => {
    await Promise.all([db.close(), signal.close()])
  }
  let closed: Promise<void> | undefined
  try {
    await signal.open()
    const steps = underWay.counting(await buildSteps(db))
    return {
      ...steps,
      onEvents: (listener) => signal.onEvents(listener),
      close() {
        closed ??= underWay.close().then(closeAll)
        return closed
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function buildSteps(db: Database): Promise<Omit<Store, 'onEvents' | 'close'>> {
  const policies = new Policies()
  const partitions = new Partitions(db)
  const { jobExecutionId } = await db.takeIds(0, 0)
  await partitions.reach(jobExecutionId)
  const catalogue = new Catalogue(db)
  return {
    async checkHealth() {
      await db.inTransaction((transaction) => transaction.query(PROBE))
    },
    ...buildOwnerSteps(db),
    ...buildApiKeySteps(db),
    ...buildJobSteps(db, catalogue),
    ...buildDeviceSteps(db, policies, catalogue),
    ...buildEnrollmentSteps(db, catalogue),
    ...buildPresenceSteps(db),
    ...buildTriggerSteps(db, policies, partitions, catalogue),
    ...buildExecutionSteps(db, policies),
    ...buildExecutionListSteps(db),
    ...buildTransitionSteps(db),
    ...buildReportSteps(db, policies),
    ...buildQueueSteps(db),
    ...buildDocumentSteps(db),
    ...buildClockSteps(db, policies),
    ...buildOutputSteps(db),
    ...buildRunSteps(db),
    ...buildEventSteps(db),
    ...buildWebhookSteps(db),
    ...buildDeliverySteps(db),
    ...buildIdempotencySteps(db),
    ...buildRetentionSteps(db),
  }
}
