// Reads the named resources of an owner and its newest runs, for the command palette.

import type {
  ApiKey,
  FileVersion,
  Group,
  List,
  Run,
  Schedule,
  Secret,
  Webhook,
  Window,
} from '@jobcast/client'
import { jobcast } from '../api/client.ts'

export type Named = {
  groups: Group[]
  schedules: Schedule[]
  windows: Window[]
  webhooks: Webhook[]
  keys: ApiKey[]
  secrets: Secret[]
  files: FileVersion[]
  runs: Run[]
}

type Options = { signal: AbortSignal }

const pageSize = 200
/** The maximum of each kind. */
const readAtMost = 1000

/** `isRestricted`: most reads are refused for such a key, so they are skipped. */
export async function readNamed(isRestricted: boolean, options: Options): Promise<Named> {
  const query = { limit: pageSize }
  const ofOwner = <T>(list: () => List<T>): Promise<T[]> =>
    isRestricted ? Promise.resolve([]) : upTo(list())
  const [groups, schedules, windows, webhooks, keys, secrets, files, runs] = await Promise.all([
    ofOwner(() => jobcast.groups.list(query, options)),
    ofOwner(() => jobcast.schedules.list(query, options)),
    ofOwner(() => jobcast.windows.list(query, options)),
    upTo(jobcast.webhooks.list(query, options)),
    ofOwner(() => jobcast.keys.list(query, options)),
    ofOwner(() => jobcast.secrets.list(query, options)),
    ofOwner(() => jobcast.files.list(query, options)),
    jobcast.runs.list(query, options).page(),
  ])
  return { groups, schedules, windows, webhooks, keys, secrets, files, runs: runs.items }
}

async function upTo<T>(list: List<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of list) {
    items.push(item)
    if (items.length === readAtMost) break
  }
  return items
}
