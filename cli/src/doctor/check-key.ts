// The key, and whether events come through to whoever has it.

import { type ApiKey, Jobcast } from '@jobcast/client'
import { exitCode, exitCodeOf } from '../errors/exit-code.ts'
import { explainError } from '../errors/explain-error.ts'
import type { FoundAccess } from '../service/access.ts'
import { bad, type Finding, good, warning } from './finding.ts'

const patienceMs = 10_000
const soonDays = 14
const dayMs = 86_400_000

export async function* checkKey({ url, apiKey, keyFrom }: FoundAccess): AsyncGenerator<Finding> {
  if (apiKey === undefined) {
    yield bad('key', 'there is none: give JOBCAST_API_KEY, or run "jobcast login"', exitCode.key)
    return
  }
  const client = new Jobcast({ url, apiKey, maxRetries: 0, timeoutMs: patienceMs })
  let key: ApiKey
  try {
    key = await client.keys.self()
  } catch (error) {
    yield bad('key', `${plain(error)} (it comes from ${keyFrom})`, exitCodeOf(error))
    return
  }
  yield judgeKey(key, keyFrom)
  yield key.scopes.includes('READ')
    ? await checkEvents(url, apiKey)
    : warning('events', 'not checked: the key has not the scope READ')
}

function judgeKey({ keyName, ownerId, scopes, expiresAt }: ApiKey, from: string): Finding {
  const text = `"${keyName}" of owner ${ownerId}, from ${from}, may ${scopes.join(', ') || 'nothing'}`
  if (expiresAt === null) return good('key', `${text}; it does not expire`)
  const days = Math.floor((Date.parse(expiresAt) - Date.now()) / dayMs)
  if (days < soonDays) return warning('key', `${text}; it expires in ${days} days, at ${expiresAt}`)
  return good('key', `${text}; it expires in ${days} days`)
}

/** The stream begins with a short block. A proxy that gathers before it hands on keeps that one back. */
async function checkEvents(address: string, apiKey: string): Promise<Finding> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), patienceMs)
  try {
    const response = await fetch(`${address.replace(/\/+$/, '')}/job/api/events`, {
      headers: { 'x-api-key': apiKey, accept: 'text/event-stream' },
      signal: over.signal,
      redirect: 'manual',
    })
    if (response.status !== 200)
      return bad('events', `/job/api/events answers ${response.status}`, exitCode.unavailable)
    const first = await response.body?.getReader().read()
    if (first?.value === undefined) return bad('events', 'the stream ends at once', exitCode.unavailable)
    return good('events', 'come through as they happen')
  } catch (error) {
    if (!over.signal.aborted) return bad('events', `the stream broke: ${plain(error)}`, exitCode.unavailable)
    const text = `nothing came for ${patienceMs / 1000} s: a proxy between holds them back (nginx: proxy_buffering off)`
    return bad('events', text, exitCode.unavailable)
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

function plain(error: unknown): string {
  return explainError(error).replace(/^jobcast: /, '')
}
