// jobcast complete-names: called by the completion scripts on Tab. It never fails and never waits for long: after any error
// it prints no names.

import { Jobcast, type ResourceName, resources } from '@jobcast/client'
import { Command } from 'commander'
import { callsOf } from '../define/resource-commands.ts'
import { exitCode } from '../errors/exit-code.ts'
import { type Io, withIo } from '../io.ts'
import { type AccessFlags, accessOf } from '../service/access.ts'
import { freshAccess } from '../service/fresh-access.ts'
import { maxPageSize } from '../service/take-items.ts'

/** A longer wait would look as if the shell hangs. JOBCAST_COMPLETION_SECONDS changes it. */
const [usualSeconds, maxSeconds] = [1.5, 60]
const maxPages = 5
const maxNames = 200

/** Takes the words typed so far, and uses a profile or an address among them. */
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
  const { url, apiKey } = await freshAccess(accessOf(typedAccess(words), io.env), io.env)
  const failed = new AbortController()
  const signal = AbortSignal.any([failed.signal, AbortSignal.timeout(timeLimitMs(io.env))])
  const client = new Jobcast({ url, apiKey, fetch: fetchOnce(failed) })
  const found: string[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages && found.length < maxNames; page++) {
    const asked = { begin, cursor, signal }
    const { names, nextCursor } = await (kind === 'runs'
      ? newestRuns(client, asked)
      : namesIn(client, kind as ResourceName, asked))
    // The shell reads lines and prints them, so control characters are not allowed.
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

/** Without this, the client would retry until the time is up. */
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
/** There may be millions of runs; people type recent ones. */
async function newestRuns({ runs }: Jobcast, { signal }: Asked): Promise<NamePage> {
  const { items } = await runs.list({ limit: 50 }, { signal }).page()
  return { names: items.map(({ runId }) => String(runId)), nextCursor: null }
}

async function namesIn(
  client: Jobcast,
  name: ResourceName,
  { begin, cursor, signal }: Asked,
): Promise<NamePage> {
  const { key } = resources[name]
  const query = { limit, cursor, ...(name === 'devices' && startingWith(begin)) }
  const { items, nextCursor } = await callsOf(client, name).list(query, { signal }).page()
  return { names: items.map((item) => String(new Map(Object.entries(item)).get(key))), nextCursor }
}

/** Lets the service filter a million devices by prefix. Other prefixes are compared here. */
function startingWith(begin: string): { where?: string } {
  return /^[\w.-]+$/.test(begin) ? { where: `deviceId~${begin}*` } : {}
}

/** The word as typed may have quotes and backslashes. */
function unquoted(text: string): string {
  return text.replace(/^["']/, '').replace(/\\(.)/g, '$1')
}

function typedAccess(words: readonly string[]): AccessFlags {
  const [url, apiKey, profile] = ['--url', '--api-key', '--profile'].map((flag) => typedValue(words, flag))
  return { ...(url && { url }), ...(apiKey && { apiKey }), ...(profile && { profile }) }
}

/** `--profile test`, `--profile=test`, and `--profile = test`, which is how bash splits it. */
function typedValue(words: readonly string[], flag: string): string | undefined {
  const joined = words.find((word) => word.startsWith(`${flag}=`))
  if (joined !== undefined) return joined.slice(flag.length + 1)
  const at = words.indexOf(flag)
  if (at === -1) return undefined
  return words[at + 1] === '=' ? words[at + 2] : words[at + 1]
}
