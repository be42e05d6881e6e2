// The queries and lists that an event invalidates, by their keys (api/queries.ts): those of its noun, unless its noun or its
// type has an entry here.

import type { EventNoun, EventOf, EventType, JobcastEvent } from '@jobcast/client'

export type Key = readonly (string | number)[]

type ByNoun = { [Noun in EventNoun]?: (data: EventOf<Noun>['data']) => Key[] }
type DataOf<Type> = Type extends `${infer Noun extends EventNoun}.${string}` ? EventOf<Noun>['data'] : never
type ByType = { [Type in EventType]?: (data: DataOf<Type>) => Key[] }

const byNoun: ByNoun = {
  // The screen may show the explanation of any of its executions.
  run: ({ runId }) => [['runs'], ['run', runId], ['approvals'], ['execution']],
  execution: ({ jobExecutionId, runId, deviceId }) => [
    ['executions'],
    ['execution', jobExecutionId],
    ['runs'],
    ['run', runId],
    ['device', deviceId],
    ['device-executions', deviceId],
    ['fleet'],
  ],
  device: ({ deviceId }) => [['devices'], ['device', deviceId]],
  fleet: () => [['freeze'], ['execution']],
  job: ({ jobName }) => [['jobs'], ['job', jobName]],
  group: ({ groupName }) => [['groups'], ['group', groupName], ['devices']], // selectors may refer to it
  window: ({ windowName }) => [['windows'], ['window', windowName], ['execution']],
  schedule: ({ scheduleName }) => [['schedules'], ['schedule', scheduleName]],
  key: () => [['keys'], ['sessions']], // the sessions of a key end with it
  webhook: ({ webhookName }) => [['webhooks'], ['webhook', webhookName]],
  audit: () => [['audit']],
}

const byType: ByType = {
  'run.created': ({ runId }) => [
    ['runs'],
    ['executions'],
    ['device-executions'], // the event does not say on which devices
    ['fleet'],
    ['fleet-devices'],
    ['run', runId],
  ],
  'run.finished': ({ runId }) => [['runs'], ['run', runId]],
  'execution.progress': ({ jobExecutionId }) => [['execution', jobExecutionId]],
  'device.created': ofFleet,
  'device.deleted': ofFleet,
  'device.online': ({ deviceId }) => [['devices'], ['device', deviceId], ['fleet']],
  'device.offline': ({ deviceId }) => [['devices'], ['device', deviceId], ['fleet']],
  'device.credential_set': ({ deviceId }) => [['devices'], ['device', deviceId], ['enrollments']], // perhaps by an enrollment
}

function ofFleet({ deviceId }: EventOf<'device'>['data']): Key[] {
  return [['devices'], ['device', deviceId], ['fleet'], ['fleet-devices']]
}

/** Also for types and nouns of a newer server, which this page does not know. */
export function affectedKeys({ type, data }: JobcastEvent): Key[] {
  const noun = type.slice(0, type.indexOf('.')) as EventNoun
  const find = (byType[type] ?? byNoun[noun]) as ((of: JobcastEvent['data']) => Key[]) | undefined
  return find?.(data) ?? [[`${noun}s`], [noun]]
}
