// An event as a line of text.

import type { EventNoun, EventOf, JobcastEvent } from '@jobcast/client'
import { eventMap, nounOf } from '@jobcast/contract/words'
import { clockTime } from './clock-time.ts'
import { type Paint, paintState } from './colors.ts'
import { localTime } from './local-time.ts'
import { countsText, reasonOf } from './progress.ts'
import { plainText } from './text-width.ts'

type Data<Noun extends EventNoun> = EventOf<Noun>['data']

/** 12:03:04  81  execution.failed  restart on kiosk-7: exit code 1 (execution 34, run 12) */
export function eventLine({ eventId, type, timestamp, data }: JobcastEvent, paint: Paint): string {
  const noun = nounOf(type)
  const text = texts[noun] as ((of: JobcastEvent['data'], paint: Paint) => string) | undefined
  const shown = 'jobExecutionId' in data ? paintState(paint, data.execState, type) : type
  return `${clockTime(new Date(timestamp))}  ${eventId}  ${shown}  ${text ? text(data, paint) : subjectText(noun, data)}`.trimEnd()
}

/** The text after the type, for nouns that need more than their subject and who did it. */
const texts: { [Noun in EventNoun]?: (data: Data<Noun>, paint: Paint) => string } = {
  execution: executionText,
  run: runText,
  device: ({ deviceId, transport }) =>
    plainText(transport === undefined ? deviceId : `${deviceId} by ${transport}`),
  schedule: (data) => plainText(scheduleText(data)),
  fleet: ({ reason, principal }) => who(reason, principal),
  job: ({ jobName, version, principal }) => who(`${jobName}, version ${version}`, principal),
  file: ({ fileName, version, principal }) => who(`${fileName}, version ${version}`, principal),
  key: ({ keyId, keyName, principal }) => who(`${keyName} (${keyId})`, principal),
  enrollment: ({ enrollmentId, name, principal }) =>
    who(name === null ? enrollmentId : `${name} (${enrollmentId})`, principal),
  webhook: ({ webhookName, change, principal }) =>
    who(change ? `${webhookName}: ${change}` : webhookName, principal),
  session: ({ sessionId, keyId, principal }) => who(`${sessionId} of key ${keyId}`, principal),
  audit: ({ seal, lastAuditId }) => `seal ${seal}, up to entry ${lastAuditId}`,
  owner: ({ ownerId, ownerName, principal }) => who(`${ownerName} (${ownerId})`, principal),
}

function subjectText(noun: EventNoun, data: JobcastEvent['data']): string {
  // Undefined for a noun of a newer server.
  const id = eventMap[noun]?.id
  const fields = new Map<string, unknown>(Object.entries(data))
  return typeof id === 'string' ? who(String(fields.get(id)), String(fields.get('principal'))) : ''
}

function who(what: string, principal: string): string {
  return plainText(`${what} by ${principal}`)
}

function executionText(data: Data<'execution'>): string {
  const { jobName, deviceId, jobExecutionId, runId } = data
  const reason = reasonOf(data)
  const subject = plainText(`${jobName} on ${deviceId}`)
  return `${subject}${reason && `: ${reason}`} (execution ${jobExecutionId}, run ${runId})`
}

function runText({ jobName, runId, total, counts, released, because }: Data<'run'>, paint: Paint): string {
  const size = `${total} ${total === 1 ? 'execution' : 'executions'}`
  const progress =
    released === undefined
      ? size
      : `${released} of ${size} released${because ? `: ${plainText(because)}` : ''}`
  return `${plainText(jobName)} #${runId}  ${counts ? countsText(counts, paint) : progress}`
}

/** nightly: run 12 of collect-logs, 40 of 42 devices */
function scheduleText(data: Data<'schedule'>): string {
  const { scheduleName, jobName, runId, matched, skipped = 0, count, isMore, from, because } = data
  if (count !== undefined) {
    return `${scheduleName}: ${count}${isMore ? ' or more' : ''} from ${localTime(from ?? null)} on: ${because}`
  }
  if (because !== undefined) return `${scheduleName}: ${because}`
  if (matched === undefined) return `${scheduleName} by ${data.principal}`
  const devices = `${matched - skipped} of ${matched} ${matched === 1 ? 'device' : 'devices'}`
  return `${scheduleName}: ${runId ? `run ${runId} of ${jobName}, ` : ''}${devices}`
}
