// What an owner does, by the public API alone.

import assert from 'node:assert/strict'
import type { Api } from '@jobcast/testkit/call-api'
import type { Json } from './device-client.ts'

let devices = 0

export function newDeviceId(): string {
  devices += 1
  return `device-${devices}`
}

/** Gives the device's token. */
export async function seedDevice(api: Api, deviceId: string): Promise<string> {
  const path = `/job/api/devices/${encodeURIComponent(deviceId)}`
  await ask(api, 'PUT', path, {})
  return (await ask(api, 'POST', `${path}/credential`)).deviceToken
}

/** As new: what it had pending is gone. For a device whose name is fixed by its certificate. */
export async function seedDeviceAnew(api: Api, deviceId: string): Promise<void> {
  await api.call('DELETE', `/job/api/devices/${deviceId}`)
  await ask(api, 'PUT', `/job/api/devices/${deviceId}`, {})
}

export async function putJob(api: Api, jobName: string, content: object = {}): Promise<void> {
  await ask(api, 'PUT', `/job/api/jobs/${encodeURIComponent(jobName)}`, content)
}

export async function putWindow(api: Api, windowName: string, content: object): Promise<void> {
  await ask(api, 'PUT', `/job/api/windows/${encodeURIComponent(windowName)}`, content)
}

/** Gives the jobId, as the device reads it. */
export async function trigger(api: Api, jobName: string, deviceId: string): Promise<string> {
  const [execution] = await ask(api, 'POST', '/job/api/jobs/execute', { jobName, deviceIds: [deviceId] })
  return String(execution.jobExecutionId)
}

export function readExecution(api: Api, jobId: string): Promise<Json> {
  return ask(api, 'GET', `/job/api/executions/${jobId}`)
}

/** Holds until the execution has ended. */
export function waitForEnd(api: Api, jobId: string): Promise<Json> {
  return ask(api, 'GET', `/job/api/executions/${jobId}?wait=30`)
}

export function cancel(api: Api, jobId: string, body: { force?: boolean } = {}): Promise<Json> {
  return ask(api, 'POST', `/job/api/executions/${jobId}/cancel`, body)
}

async function ask(api: Api, method: string, path: string, body?: unknown): Promise<Json> {
  const reply = await api.call(method, path, body === undefined ? {} : { body })
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.json
}
