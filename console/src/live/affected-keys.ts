// Which queries and lists an event invalidates, by their keys (api/queries.ts).

import type { JobcastEvent } from '@jobcast/client'

export type Key = readonly (string | number)[]

export function affectedKeys(event: JobcastEvent): Key[] {
  switch (event.type) {
    case 'run.created':
      return [
        ['runs'],
        ['executions'],
        ['device-executions'], // the event does not say on which devices
        ['fleet'],
        ['fleet-devices'],
        ['run', event.data.runId],
      ]
    case 'run.released':
    case 'run.paused':
    case 'run.resumed':
    case 'run.awaiting-approval':
    case 'run.approved':
    case 'run.denied':
    case 'run.stopped':
      // The explanation of any of its executions may be on the screen.
      return [['runs'], ['run', event.data.runId], ['approvals'], ['execution']]
    case 'schedule.fired':
    case 'schedule.missed':
    case 'schedule.paused':
      return [['schedules'], ['schedule', event.data.scheduleName]]
    case 'fleet.frozen':
    case 'fleet.unfrozen':
      return [['freeze'], ['execution']]
    case 'run.finished':
      return [['runs'], ['run', event.data.runId]]
    case 'execution.progress':
      return [['execution', event.data.jobExecutionId]]
    case 'device.created':
    case 'device.deleted':
      return [['devices'], ['device', event.data.deviceId], ['fleet'], ['fleet-devices']]
    case 'device.online':
    case 'device.offline':
      return [['devices'], ['device', event.data.deviceId], ['fleet']]
    case 'device.credential_set':
      return [['devices'], ['device', event.data.deviceId], ['enrollments']] // perhaps by an enrollment
    case 'device.updated':
    case 'device.credential_revoked':
    case 'device.certificate_allowed':
      return [['devices'], ['device', event.data.deviceId]]
    case 'key.created':
    case 'key.revoked':
      return [['keys'], ['sessions']] // the sessions of a key end with it
    case 'enrollment.created':
    case 'enrollment.revoked':
      return [['enrollments']]
    case 'webhook.created':
    case 'webhook.updated':
    case 'webhook.deleted':
      return [['webhooks'], ['webhook', event.data.webhookName]]
    case 'session.signed_in':
    case 'session.signed_out':
      return [['sessions']]
    case 'owner.created':
      return [['owners']]
    default:
      return isExecutionEvent(event) ? ofExecution(event.data) : []
  }
}

type ExecutionEvent = Extract<JobcastEvent, { type: `execution.${string}` }>

function isExecutionEvent(event: JobcastEvent): event is ExecutionEvent {
  return event.type.startsWith('execution.')
}

function ofExecution({ jobExecutionId, runId, deviceId }: ExecutionEvent['data']): Key[] {
  return [
    ['executions'],
    ['execution', jobExecutionId],
    ['runs'],
    ['run', runId],
    ['device', deviceId],
    ['device-executions', deviceId],
    ['fleet'],
  ]
}
