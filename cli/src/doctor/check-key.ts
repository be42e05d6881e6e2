// The API key, and whether the event stream works.

import { Jobcast, type OwnKey } from '@jobcast/client'
import { exitCode, exitCodeOf } from '../errors/exit-code.ts'
import { explainError } from '../errors/explain-error.ts'
import type { FoundAccess } from '../service/access.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const waitLimitMs = 10_000
const soonDays = 14
const dayMs = 86_400_000

/** `renew` renews the key of a person at the issuer, if needed. */
export async function* checkKey(
  { url, keyFrom }: FoundAccess,
  renew: () => Promise<FoundAccess>,
): AsyncGenerator<Finding> {
  let apiKey: string | undefined
  let key: OwnKey
  try {
    apiKey = (await renew()).apiKey
    if (apiKey === undefined) {
      yield problem('key', 'no key given: set JOBCAST_API_KEY or run "jobcast login"', exitCode.key)
      return
    }
    key = await new Jobcast({ url, apiKey, maxRetries: 0, timeoutMs: waitLimitMs }).keys.self()
  } catch (error) {
    yield problem('key', `${plain(error)} (from ${keyFrom})`, exitCodeOf(error))
    return
  }
  yield judgeKey(key, keyFrom)
  yield key.scopes.includes('READ')
    ? await checkEvents(url, apiKey)
    : warning('events', 'not checked: the key lacks the scope READ')
}

function judgeKey(key: OwnKey, from: string): Finding {
  const { keyName, ownerId, ownerName, scopes, expiresAt, principal } = key
  if (principal.startsWith('user:'))
    return ok('key', `${keyName} (${principal}) at ${ownerName}, from ${from}, scopes: ${scopes.join(', ')}`)
  const text = `"${keyName}" of owner ${ownerId}, from ${from}, scopes: ${scopes.join(', ') || 'none'}`
  if (expiresAt === null) return ok('key', `${text}; it does not expire`)
  const days = Math.floor((Date.parse(expiresAt) - Date.now()) / dayMs)
  if (days < soonDays) return warning('key', `${text}; it expires in ${days} days, at ${expiresAt}`)
  return ok('key', `${text}; it expires in ${days} days`)
}

/** The stream starts with a short block, which a buffering proxy would hold back. */
async function checkEvents(address: string, apiKey: string): Promise<Finding> {
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), waitLimitMs)
  try {
    const response = await fetch(`${address.replace(/\/+$/, '')}/job/api/events`, {
      headers: { 'x-api-key': apiKey, accept: 'text/event-stream' },
      signal: over.signal,
      redirect: 'manual',
    })
    if (response.status !== 200)
      return problem('events', `/job/api/events returned ${response.status}`, exitCode.unavailable)
    const first = await response.body?.getReader().read()
    if (first?.value === undefined) return problem('events', 'the stream ended at once', exitCode.unavailable)
    return ok('events', 'arrive without delay')
  } catch (error) {
    if (!over.signal.aborted)
      return problem('events', `the stream was cut: ${plain(error)}`, exitCode.unavailable)
    const text = `nothing received for ${waitLimitMs / 1000} s: a proxy may be buffering them (nginx: proxy_buffering off)`
    return problem('events', text, exitCode.unavailable)
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

function plain(error: unknown): string {
  return explainError(error).replace(/^jobcast: /, '')
}
