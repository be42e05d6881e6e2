// All kinds of resources in a fleet file, and how they are read from the service.

import { isJobcastError, type Jobcast, type ResourceName } from '@jobcast/client'
import { deviceKind } from './kinds/devices.ts'
import { fileKind } from './kinds/files.ts'
import { groupKind } from './kinds/groups.ts'
import { jobKind } from './kinds/jobs.ts'
import type { Fields, Kind } from './kinds/kind.ts'
import { scheduleKind } from './kinds/schedules.ts'
import { secretKind } from './kinds/secrets.ts'
import { webhookKind } from './kinds/webhooks.ts'
import { windowKind } from './kinds/windows.ts'

/** In the order in which they are applied: groups, jobs, devices and schedules may name a window; jobs name secrets, files and groups; a schedule names a job. */
const kindsByName = {
  windows: windowKind,
  secrets: secretKind,
  files: fileKind,
  groups: groupKind,
  jobs: jobKind,
  devices: deviceKind,
  schedules: scheduleKind,
  webhooks: webhookKind,
} satisfies Record<ResourceName | 'files', Kind>
export const kinds: readonly Kind[] = Object.values(kindsByName)

export type Found = { name: string; fields: Fields }

export async function* readAll(kind: Kind, client: Jobcast): AsyncGenerator<Found> {
  for await (const item of kind.list(client)) yield toFound(kind, item as Fields)
}

/** Undefined if not found. */
export async function readOne(kind: Kind, client: Jobcast, name: string): Promise<Found | undefined> {
  try {
    return toFound(kind, (await kind.get(client, name)) as Fields)
  } catch (error) {
    if (isJobcastError(error) && error.status === 404 && error.code !== 'J-901') return undefined
    throw error
  }
}

/** Fills in the same defaults as for the content of a file, so that the two can be compared. */
function toFound(kind: Kind, item: Fields): Found {
  const name = String(item[kind.nameField])
  const given = Object.keys(kind.contentSchema.properties).filter((key) => (item[key] ?? null) !== null)
  const content = Object.fromEntries(given.map((key) => [key, item[key]]))
  return { name, fields: kind.filled(name, content) }
}
