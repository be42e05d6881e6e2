// Invariants of one owner at the end of a simulation.

import type { DatabaseSync } from 'node:sqlite'
import { checkHistory } from '../history/check-history.ts'
import type { Final, RecordedSchedule } from '../history/history.ts'
import { schedules, windows } from './seed-world.ts'
import type { Tenant } from './tenant.ts'
import { startedAt } from './virtual-time.ts'

const minuteMs = 60_000
/** What is due just before the end may come after it. */
const scheduleLimitMs = 5000

export function checkTenant(tenant: Tenant, final: Final, endedAt: number): string[] {
  const { calls, steps, posts, followers, features, webhookAfter, patched } = tenant
  const history = {
    ...{ calls, steps, posts, patched, followers: followers.map(({ seen }) => seen) },
    schedules: features.schedules ? dueUntil(endedAt - scheduleLimitMs) : [],
    windows: Object.entries(windows).map(([windowName, rule]) => ({ windowName, ...rule })),
  }
  const found = [...checkHistory(history, { ...final, webhookAfter }), ...checkDocuments(tenant, final)]
  return found.map((what) => `${tenant.name}: ${what}`)
}

function dueUntil(end: number): RecordedSchedule[] {
  const minutes: number[] = []
  for (let at = Math.ceil((startedAt + 1) / minuteMs) * minuteMs; at <= end; at += minuteMs) minutes.push(at)
  const once = Date.parse(schedules.once.when.at)
  return [
    { scheduleName: 'minutely', due: minutes },
    { scheduleName: 'once', due: [once] },
    { scheduleName: 'each', due: undefined },
  ]
}

/** Each device got the secret of its run. */
function checkDocuments({ secrets, documents }: Tenant, { executions }: Final): string[] {
  return executions.flatMap(({ jobExecutionId, runId }) => {
    const word = secrets.get(runId)
    const document = documents.get(jobExecutionId)
    if (word === undefined || document === undefined) return []
    // Some devices are handed it as text.
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    const isRight = text === JSON.stringify({ word })
    return isRight ? [] : [`execution ${jobExecutionId} was handed ${text}, not its secret`]
  })
}

/** No secret is anywhere in the database in clear. */
export function leakedSecrets(tenants: Tenant[], db: DatabaseSync): string[] {
  const sent = tenants.flatMap(({ sentSecrets }) => sentSecrets)
  if (sent.length === 0) return []
  const tables = db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all()
  return tables.flatMap(({ name }) => {
    const text = JSON.stringify(db.prepare(`SELECT * FROM ${name}`).all().map(readable))
    return sent
      .filter((word) => text.includes(word))
      .map((word) => `${word} is in the table ${name} in clear`)
  })
}

const readable = (row: Record<string, unknown>) =>
  Object.values(row).map((value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
  )
