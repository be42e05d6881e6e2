// The event log and its readers: a follower gets each event once and in order, however often it resumes; a webhook gets each at
// least once, those of one subject in order; and the log matches the changes exactly.

import { executionEventType, type JobcastEvent, nounOf, type Transition } from '@jobcast/contract'
import { subjectOf } from '../../src/domain/event/event.ts'
import { accessNouns } from '../../src/domain/event/visible-events.ts'
import { isRolloutEvent } from './check-rollouts.ts'
import type { Final, WebhookPost } from './history.ts'

export function checkFollower(seen: JobcastEvent[], log: JobcastEvent[]): string[] {
  const problems: string[] = []
  const newest = log.at(-1)?.eventId ?? 0
  const logged = new Map(log.map((event) => [event.eventId, event]))
  const ids = new Set<number>()
  let last = 0
  for (const event of seen) {
    const { eventId } = event
    if (eventId > newest) continue
    if (ids.has(eventId)) problems.push(`saw event ${eventId} twice`)
    else if (eventId < last) problems.push(`saw event ${eventId} after ${last}`)
    const stored = logged.get(eventId)
    if (stored === undefined) problems.push(`saw event ${eventId}, which the log does not have`)
    else if (JSON.stringify(stored) !== JSON.stringify(event)) problems.push(`saw event ${eventId} otherwise`)
    ids.add(eventId)
    last = Math.max(last, eventId)
  }
  for (const id of logged.keys()) if (!ids.has(id)) problems.push(`missed event ${id}`)
  return problems
}

/** Events about access are only sent to webhooks that name them. */
export const isSentByDefault = (type: string): boolean => !accessNouns.includes(nounOf(type))

export function checkWebhook(
  posts: WebhookPost[],
  { log, webhookAfter }: Pick<Final, 'log' | 'webhookAfter'>,
): string[] {
  const problems: string[] = []
  const bodies = new Map<string, string>()
  const accepted = new Map<number, string>()
  const last = new Map<string, number>()
  for (const { id, body, event, accepted: isAccepted } of posts) {
    if (body !== (bodies.get(id) ?? body)) problems.push(`was sent ${id} with two bodies`)
    bodies.set(id, body)
    if (!isAccepted || accepted.get(event.eventId) === id) continue
    if (accepted.has(event.eventId)) problems.push(`was sent event ${event.eventId} under two ids`)
    accepted.set(event.eventId, id)
    const subject = subjectOf(event)
    const before = last.get(subject) ?? 0
    if (event.eventId < before) problems.push(`was sent event ${event.eventId} of ${subject} after ${before}`)
    last.set(subject, Math.max(before, event.eventId))
  }
  for (const { eventId, type } of log) {
    if (eventId > webhookAfter && isSentByDefault(type) && !accepted.has(eventId))
      problems.push(`was never sent event ${eventId}`)
  }
  return problems
}

/** The log against the runs and the histories of executions. */
export function checkLog({ log, runs, executions, transitions }: Omit<Final, 'webhookAfter'>): string[] {
  const problems: string[] = []
  for (const [index, { eventId }] of log.entries()) {
    if (index > 0 && eventId <= (log[index - 1]?.eventId ?? 0))
      problems.push(`event ${eventId} is out of order`)
  }
  const bySubject = Map.groupBy(log, subjectOf)
  for (const { jobExecutionId } of executions) {
    const subject = `execution ${jobExecutionId}`
    const told = (bySubject.get(subject) ?? []).filter(({ type }) => type !== 'execution.progress')
    const moved = (transitions.get(jobExecutionId) ?? []).filter(({ from }) => from !== null)
    const [is, should] = [told.map(eventText).join(', '), moved.map(moveText).join(', ')]
    if (is !== should) problems.push(`${subject} has the events [${is}] and the history [${should}]`)
    bySubject.delete(subject)
  }
  for (const { runId, finished, total, counts } of runs) {
    const subject = `run ${runId}`
    const told = (bySubject.get(subject) ?? []).filter((event) => !isRolloutEvent(event))
    const is = told.map(({ type }) => type).join()
    if (is !== (finished ? 'run.created,run.finished' : 'run.created'))
      problems.push(`${subject} has the events [${is}]`)
    for (const { type, data } of told) {
      if ('total' in data && data.total !== total)
        problems.push(`${type} of ${subject} says ${data.total} of ${total}`)
      const said = 'counts' in data ? data.counts : undefined
      if (said && JSON.stringify(said) !== JSON.stringify(counts))
        problems.push(`${type} of ${subject} has other counts`)
    }
    bySubject.delete(subject)
  }
  for (const [subject, events] of bySubject) {
    if (subject.startsWith('device ')) problems.push(...checkPresence(subject, events))
    // Keys, webhooks and their like: who may do what is not part of the history.
    else if (/^(run|execution) /.test(subject)) problems.push(`${subject} has events but does not exist`)
  }
  return problems
}

/** A device goes online and offline in turn; one that was deleted starts over. */
function checkPresence(subject: string, events: JobcastEvent[]): string[] {
  const problems: string[] = []
  let isOnline = false
  for (const { eventId, type } of events) {
    if (type === 'device.deleted') isOnline = false
    if (type !== 'device.online' && type !== 'device.offline') continue
    const goesOnline = type === 'device.online'
    if (goesOnline === isOnline) problems.push(`${subject} has ${type} twice in a row, at event ${eventId}`)
    isOnline = goesOnline
  }
  return problems
}

function eventText({ type, data }: JobcastEvent): string {
  return 'versionNumber' in data ? `${data.versionNumber} ${type} ${data.cause} of ${data.attempt}` : type
}

function moveText({ versionNumber, to, event, attempt }: Transition): string {
  return `${versionNumber} ${executionEventType(to)} ${event} of ${attempt}`
}
