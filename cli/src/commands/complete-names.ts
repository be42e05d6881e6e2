// jobcast complete-names: what the completion scripts call while somebody types. It never fails and never waits for long:
// whatever goes wrong, there are no names.

import { Jobcast } from '@jobcast/client'
import { Command } from 'commander'
import type { NameKind } from '../completion/name-kind.ts'
import { exitCode } from '../errors/exit-code.ts'
import { type Io, withIo } from '../io.ts'
import { type AccessFlags, accessOf } from '../service/access.ts'
import { maxPageSize } from '../service/take-items.ts'

/** Longer than that, and the shell seems to hang. JOBCAST_COMPLETION_SECONDS changes it. */
const [usualSeconds, maxSeconds] = [1.5, 60]
const maxPages = 5
const maxNames = 200

/** The words are those typed so far: a profile or an address among them counts. */
export function completeNamesCommand(): Command {
  return new Command('complete-names')
    .argument('<kind>')
    .argument('[begin]')
    .argument('[words...]')
    .action(
      withIo(async (io, kind: string, begin: string | undefined, words: string[]) => {
        const names = await namesOf(io, kind, unquoted(begin ?? ''), words).catch(() => [])
        if (names.length > 0) io.stdout.write(`${names.join('\n')}\n`)
        return exitCode.ok
      }),
    )
}

async function namesOf(io: Io, kind: string, begin: string, words: readonly string[]): Promise<string[]> {
  const { url, apiKey } = accessOf(typedAccess(words), io.env)
  const list = lists[kind as NameKind]
  const failed = new AbortController()
  const signal = AbortSignal.any([failed.signal, AbortSignal.timeout(timeLimitMs(io.env))])
  const client = new Jobcast({ url, apiKey, fetch: fetchOnce(failed) })
  const found: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages && found.length < maxNames; page++) {
    const { names, nextCursor } = await list(client, { begin, cursor, signal })
    // A shell reads lines, and shows them.
    found.push(...names.filter((name) => name.startsWith(begin) && !/\p{Cc}/u.test(name)))
    if (nextCursor === null) break
    cursor = nextCursor
  }
  return found.slice(0, maxNames)
}

function timeLimitMs({ JOBCAST_COMPLETION_SECONDS: given }: NodeJS.ProcessEnv): number {
  const seconds = Number(given || usualSeconds)
  return 1000 * (seconds > 0 && seconds <= maxSeconds ? seconds : usualSeconds)
}

/** The client would try again for as long as there is time. */
function fetchOnce(failed: AbortController): typeof fetch {
  return async (...request) => {
    try {
      const response = await fetch(...request)
      if (!response.ok) failed.abort()
      return response
    } catch (error) {
      failed.abort()
      throw error
    }
  }
}

type Asked = { begin: string; cursor: string | undefined; signal: AbortSignal }
type NamePage = { names: string[]; nextCursor: string | null }

const limit = maxPageSize
const lists: Record<NameKind, (client: Jobcast, asked: Asked) => Promise<NamePage>> = {
  jobs: async ({ jobs }, { cursor, signal }) =>
    pageOf(await jobs.list({ limit, cursor }, { signal }).page(), ({ jobName }) => jobName),
  devices: async ({ devices }, { begin, cursor, signal }) =>
    pageOf(
      await devices.list({ limit, cursor, ...startingWith(begin) }, { signal }).page(),
      ({ deviceId }) => deviceId,
    ),
  groups: async ({ groups }, { cursor, signal }) =>
    pageOf(await groups.list({ limit, cursor }, { signal }).page(), ({ groupName }) => groupName),
  schedules: async ({ schedules }, { cursor, signal }) =>
    pageOf(await schedules.list({ limit, cursor }, { signal }).page(), ({ scheduleName }) => scheduleName),
  windows: async ({ windows }, { cursor, signal }) =>
    pageOf(await windows.list({ limit, cursor }, { signal }).page(), ({ windowName }) => windowName),
  webhooks: async ({ webhooks }, { cursor, signal }) =>
    pageOf(await webhooks.list({ limit, cursor }, { signal }).page(), ({ webhookName }) => webhookName),
  // The newest are those somebody types; there may be millions.
  runs: async ({ runs }, { signal }) => {
    const { items } = await runs.list({ limit: 50 }, { signal }).page()
    return { names: items.map(({ runId }) => String(runId)), nextCursor: null }
  },
}

function pageOf<T>(page: { items: T[]; nextCursor: string | null }, nameOf: (item: T) => string): NamePage {
  return { names: page.items.map(nameOf), nextCursor: page.nextCursor }
}

/** Of a million devices, only these are asked for. Other beginnings are compared here. */
function startingWith(begin: string): { where?: string } {
  return /^[\w.-]+$/.test(begin) ? { where: `deviceId~${begin}*` } : {}
}

/** As the shell has it on its line: with quotes and backslashes. */
function unquoted(text: string): string {
  return text.replace(/^["']/, '').replace(/\\(.)/g, '$1')
}

function typedAccess(words: readonly string[]): AccessFlags {
  const [url, apiKey, profile] = ['--url', '--api-key', '--profile'].map((flag) => typedValue(words, flag))
  return { ...(url && { url }), ...(apiKey && { apiKey }), ...(profile && { profile }) }
}

/** `--profile test`, `--profile=test`, and as bash splits it: `--profile = test`. */
function typedValue(words: readonly string[], flag: string): string | undefined {
  const joined = words.find((word) => word.startsWith(`${flag}=`))
  if (joined !== undefined) return joined.slice(flag.length + 1)
  const at = words.indexOf(flag)
  if (at === -1) return undefined
  return words[at + 1] === '=' ? words[at + 2] : words[at + 1]
}
