// An error as one line of text, and a hint on how to fix it as another.

import { ConnectionError, JobcastClientError, JobcastError, UnexpectedAnswer } from '@jobcast/client'
import { plainText } from '../output/text-width.ts'
import type { FoundAccess } from '../service/access.ts'
import { reasonOf } from '../service/reach.ts'
import { MissingKey, NothingFound } from './usage-error.ts'

const maxIds = 10
const expected = [JobcastClientError, MissingKey, NothingFound]

export function explainError(error: unknown, access?: FoundAccess): string {
  const hint = hintFor(error, access)
  return `jobcast: ${sentenceOf(error, access)}${hint === undefined ? '' : `\n  ${hint}`}`
}

function sentenceOf(error: unknown, access?: FoundAccess): string {
  if (error instanceof JobcastError) return plainText(sentenceOfAnswer(error))
  if (error instanceof ConnectionError && access) return `no response from ${access.url}: ${reasonOf(error)}`
  if (expected.some((kind) => error instanceof kind)) return plainText((error as Error).message)
  const { message, code, stack } = error as NodeJS.ErrnoException
  // System errors, such as a missing file, need no stack.
  return code !== undefined ? message || code : (stack ?? String(error))
}

function sentenceOfAnswer({
  message,
  code,
  status,
  detail,
  field,
  deviceIds,
  requestId,
}: JobcastError): string {
  // The message may end with a short form of the detail.
  const [first = message, ...suffix] = message.split(': ')
  // The missing scope is in no detail.
  const title = code === 'J-804' && detail !== undefined ? message : first
  const reason = detail !== undefined && detail !== message ? detail : suffix.join(': ')
  const parts = [`${title} (${code})`]
  // The detail often names the field already.
  if (field !== undefined && !reason.includes(field)) parts.push(field)
  if (reason !== '') parts.push(reason)
  const isNamed = deviceIds?.slice(0, maxIds).every((deviceId) => detail?.includes(deviceId))
  if (deviceIds?.length && !isNamed) parts.push(listed(deviceIds))
  const trace = status >= 500 && requestId !== undefined ? ` [request ${requestId}]` : ''
  const last = parts.pop() ?? ''
  return [...parts.map((part) => part.replace(/\.$/, '')), last].join(': ') + trace
}

function hintFor(error: unknown, access?: FoundAccess): string | undefined {
  if (error instanceof MissingKey) return 'Use --api-key, set JOBCAST_API_KEY, or run: jobcast login'
  if (access === undefined) return undefined
  if (access.token && error instanceof JobcastError && error.code === 'J-802')
    return `The service does not accept the token from ${access.keyFrom}: compare its issuer, audience and subject with oidc-trust of the service.`
  if (error instanceof JobcastError && error.code === 'J-313' && error.detail?.includes('toVersion'))
    return 'Name an earlier version with --to; jobcast jobs versions <job> lists them.'
  if (error instanceof JobcastError && error.status === 403) return `The key comes from ${access.keyFrom}.`
  if (error instanceof ConnectionError || error instanceof UnexpectedAnswer)
    return `The address comes from ${access.urlFrom}; use --url or JOBCAST_URL to change it.`
  return undefined
}

function listed(ids: readonly string[]): string {
  const more = ids.length > maxIds ? ` and ${ids.length - maxIds} more` : ''
  return ids.slice(0, maxIds).join(', ') + more
}
