// Topics of devices on a broker: the same as on our own listener, under a configurable prefix.

import { type DeviceOperation, parseOperation } from '@jobcast/contract'

/** What the bridge subscribes to. Not shared: mosquitto grants `$share/…/$aws/…` and then delivers nothing. */
export function requestFilters(prefix: string): string[] {
  const operations = ['get', 'start-next', '+/get', '+/update', '+/output']
  return [...operations.map((each) => `${prefix}/+/jobs/${each}`), `${prefix}/+/shadow/update`]
}

export function jobsTopic(prefix: string, deviceId: string, suffix: string): string {
  return `${prefix}/${deviceId}/jobs/${suffix}`
}

/** `operation`: undefined if the topic names none that is valid. */
export type RequestTopic = { deviceId: string; operation: DeviceOperation | undefined }

const jobs = '/jobs/'
const shadowUpdate = '/shadow/update'

/** Undefined: not a device topic under this prefix. */
export function parseTopic(prefix: string, topic: string): RequestTopic | undefined {
  if (!topic.startsWith(`${prefix}/`)) return undefined
  const rest = topic.slice(prefix.length + 1)
  const end = rest.indexOf('/')
  if (end <= 0) return undefined
  const deviceId = rest.slice(0, end)
  const suffix = rest.slice(end)
  if (suffix === shadowUpdate) return { deviceId, operation: { name: 'attributes' } }
  if (!suffix.startsWith(jobs)) return undefined
  return { deviceId, operation: parseOperation(suffix.slice(jobs.length)) }
}
