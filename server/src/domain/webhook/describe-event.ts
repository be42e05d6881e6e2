// Describes an event in one sentence and links to the page of the console with details.

import type {
  EventDataOf,
  EventNoun,
  FleetEventData,
  RunEventData,
  ScheduleEventData,
} from '@jobcast/contract'
import { eventMap, nounOf } from '@jobcast/contract/words'
import type { StoredEvent } from '../event/event.ts'
import type { RunFacts } from './read-run-facts.ts'

const maxLength = 500
const maxReasonLength = 80

/** Quotes text from a device. */
type Quote = (text: string) => string

/** `facts`: facts of the event's run, if available. With facts, an event of an execution is described by its run. */
export function describeEvent(event: StoredEvent, facts?: RunFacts, quote: Quote = (text) => text): string {
  const text = sentenceOf(event, facts, quote)
  return cut(text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '), maxLength)
}

function sentenceOf({ type, data }: StoredEvent, facts: RunFacts | undefined, quote: Quote): string {
  const noun = nounOf(type)
  if (noun === 'run') return aboutRun(type, data as RunEventData, facts, quote)
  if (noun === 'execution') {
    const execution = data as EventDataOf<'execution'>
    return facts ? failing(execution, facts, quote) : aboutExecution(execution, quote)
  }
  if (noun === 'schedule') return aboutSchedule(type, data as ScheduleEventData)
  if (type === 'fleet.frozen') return `The fleet was frozen: ${(data as FleetEventData).reason}.`
  if (type === 'fleet.unfrozen') return 'The fleet is no longer frozen; devices are offered work again.'
  const { id } = eventMap[noun]
  const named = `${nameOf(noun)}${id === null ? '' : ` ${fieldsOf(data)[id]}`}`
  const verb = type.slice(type.indexOf('.') + 1).replaceAll('_', ' ')
  return verb === 'online' || verb === 'offline' ? `${named} is ${verb}.` : `${named}: ${verb}.`
}

/** Where the noun is not its own name. */
const nouns: Partial<Record<EventNoun, string>> = { key: 'API key', audit: 'Audit seal' }

function nameOf(noun: EventNoun): string {
  return nouns[noun] ?? `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`
}

function aboutRun(type: string, data: RunEventData, facts: RunFacts | undefined, quote: Quote): string {
  const { runId, jobName, total } = data
  const job = facts ? `${jobName} version ${facts.version}` : jobName
  const devices = countOf(total)
  const wave = waveOf(data, facts)
  switch (type) {
    case 'run.finished':
      return finished(job, data, facts, quote)
    case 'run.paused':
      return `Rollout of ${job} paused${wave}${whyStopped(data, facts, quote)}.`
    case 'run.aborted':
      return `Rollout of ${job} aborted${wave}${whyStopped(data, facts, quote)}.`
    case 'run.resumed':
      return `Rollout of ${job} continues${wave}.`
    case 'run.released':
      return `Rollout of ${job}: ${data.released ?? 0} of ${devices} released${wave}.`
    case 'run.awaiting_approval':
      return `Run ${runId} of ${job} on ${devices} waits for approval.`
    case 'run.approved':
      return `Run ${runId} of ${job} was approved${data.missing ? `; it needs ${data.missing} more` : ''}.`
    case 'run.denied':
      return `Run ${runId} of ${job} was denied${data.comment ? `: ${data.comment}` : ''}.`
    case 'run.changed':
      return `The rollout of ${job} was changed.`
    default:
      return `Run ${runId} of ${job} started on ${devices}.`
  }
}

function countOf(devices: number): string {
  return devices === 1 ? '1 device' : `${devices} devices`
}

function finished(
  job: string,
  { total, counts }: RunEventData,
  facts: RunFacts | undefined,
  quote: Quote,
): string {
  const succeeded = counts?.SUCCEEDED ?? 0
  if (succeeded === total) {
    return `${job} succeeded on ${total === 1 ? '1 device' : `all ${total} devices`}.`
  }
  const ends = Object.entries(counts ?? {})
    .filter(([state, count]) => state !== 'SUCCEEDED' && count > 0)
    .map(([state, count]) => `${count} ${stateInWords(state)}`)
  const reasons = reasonsOf(facts, quote)
  return `${job} finished: ${succeeded} of ${countOf(total)} succeeded, ${ends.join(', ')}${reasons}.`
}

/** For the first executions of a run that did not succeed. */
function failing({ jobName }: EventDataOf<'execution'>, facts: RunFacts, quote: Quote): string {
  const { version, failures, total, allFailed } = facts
  const ended = allFailed ? 'failed' : 'did not succeed'
  const reasons = reasonsOf(facts, quote)
  return `${jobName} version ${version} is running: so far ${failures} of ${countOf(total)} ${ended}${reasons}.`
}

function stateInWords(state: string): string {
  return state.toLowerCase().replaceAll('_', ' ')
}

function waveOf({ wave }: RunEventData, facts: RunFacts | undefined): string {
  if (wave === undefined) return ''
  return facts?.waves ? ` in wave ${wave} of ${facts.waves}` : ` in wave ${wave}`
}

/** The reasons of devices are more useful than the stop rule; a person's reason is used alone. */
function whyStopped(
  { because, released, total }: RunEventData,
  facts: RunFacts | undefined,
  quote: Quote,
): string {
  if (facts === undefined || facts.failures === 0 || !facts.isByFailures) return because ? `: ${because}` : ''
  const of = released ?? total
  return `: ${facts.failures} of ${countOf(of)} ${facts.allFailed ? 'failed' : 'did not succeed'}${reasonsOf(facts, quote)}`
}

function reasonsOf(facts: RunFacts | undefined, quote: Quote): string {
  if (facts === undefined || facts.reasons.length === 0) return ''
  return ` (${facts.reasons.map(({ reason, count }) => `${quote(cut(reason, maxReasonLength))}: ${count}`).join(', ')})`
}

function aboutExecution(
  { jobName, deviceId, execState, statusDetails }: EventDataOf<'execution'>,
  quote: Quote,
): string {
  const state = stateInWords(execState)
  const { reason } = statusDetails
  const why = reason ? ` (${quote(cut(reason, maxReasonLength))})` : ''
  return `${jobName} on ${quote(deviceId)}: ${state}${why}.`
}

function aboutSchedule(type: string, data: ScheduleEventData): string {
  const { scheduleName, jobName, runId, count = 0, isMore, because } = data
  const why = because ? `: ${because}` : ''
  switch (type) {
    case 'schedule.fired':
      return runId
        ? `Schedule ${scheduleName} started run ${runId} of ${jobName}.`
        : `Schedule ${scheduleName} found no device for ${jobName}.`
    case 'schedule.missed':
      return `Schedule ${scheduleName} missed ${isMore ? 'more than ' : ''}${count} ${count === 1 ? 'occurrence' : 'occurrences'} of ${jobName}${why}.`
    case 'schedule.paused':
      return `Schedule ${scheduleName} of ${jobName} was paused${why}.`
    default:
      return `Schedule ${scheduleName} of ${jobName} was ${type.slice('schedule.'.length)}.`
  }
}

const pages: Partial<Record<EventNoun, string>> = {
  ...{ run: '/runs/', execution: '/executions/', device: '/devices/', job: '/jobs/', group: '/groups/' },
  ...{ window: '/windows/', schedule: '/schedules/', webhook: '/webhooks/', file: '/files/' },
}
const lists: Partial<Record<EventNoun, string>> = {
  ...{ fleet: '/', secret: '/secrets', key: '/keys', session: '/keys/sessions', audit: '/audit' },
  enrollment: '/enrollments',
}

/** Undefined: the public address of the service is not configured, or there is no such page. */
export function linkTo(
  { type, data }: StoredEvent,
  publicUrl: string | undefined,
  facts?: RunFacts,
): string | undefined {
  if (publicUrl === undefined) return undefined
  const noun = nounOf(type)
  if (noun === 'execution' && facts) return `${publicUrl}/runs/${fieldsOf(data).runId}`
  const { id } = eventMap[noun]
  const page = pages[noun]
  if (page !== undefined && id !== null)
    return publicUrl + page + encodeURIComponent(String(fieldsOf(data)[id]))
  const list = lists[noun]
  return list && publicUrl + list
}

function fieldsOf(data: StoredEvent['data']): Readonly<Record<string, unknown>> {
  return data
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`
}
