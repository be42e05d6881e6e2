// What went wrong, in a line for a person, and what can be done about it in another.

import { ConnectionError, JobcastClientError, JobcastError, UnexpectedAnswer } from '@jobcast/client'
import { plainText } from '../output/text-width.ts'
import type { FoundAccess } from '../service/access.ts'
import { reasonOf } from '../service/reach.ts'
import { MissingKey, NothingFound } from './usage-error.ts'

const mostIds = 10
const forPeople = [JobcastClientError, MissingKey, NothingFound]

export function explainError(error: unknown, access?: FoundAccess): string {
  const hint = hintFor(error, access)
  return `jobcast: ${sentenceOf(error, access)}${hint === undefined ? '' : `\n  ${hint}`}`
}

function sentenceOf(error: unknown, access?: FoundAccess): string {
  if (error instanceof JobcastError) return plainText(sentenceOfAnswer(error))
  if (error instanceof ConnectionError && access) return `no answer from ${access.url}: ${reasonOf(error)}`
  if (forPeople.some((kind) => error instanceof kind)) return plainText((error as Error).message)
  const { message, code, stack } = error as NodeJS.ErrnoException
  // What the system says, a file that is not there for one, needs no stack.
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
  const parts = [`${message} (${code})`]
  // The field is often named by the detail as well.
  if (field !== undefined && !detail?.includes(field)) parts.push(field)
  if (detail !== undefined && detail !== message) parts.push(detail)
  if (deviceIds?.length) parts.push(listed(deviceIds))
  const trace = status >= 500 && requestId !== undefined ? ` [request ${requestId}]` : ''
  return parts.join(': ') + trace
}

function hintFor(error: unknown, access?: FoundAccess): string | undefined {
  if (error instanceof MissingKey) return 'Give --api-key, set JOBCAST_API_KEY, or run: jobcast login'
  if (access === undefined) return undefined
  if (error instanceof JobcastError && error.status === 403) return `The key comes from ${access.keyFrom}.`
  if (error instanceof ConnectionError || error instanceof UnexpectedAnswer)
    return `The address comes from ${access.urlFrom}; --url or JOBCAST_URL names another.`
  return undefined
}

function listed(ids: readonly string[]): string {
  const more = ids.length > mostIds ? ` and ${ids.length - mostIds} more` : ''
  return ids.slice(0, mostIds).join(', ') + more
}
