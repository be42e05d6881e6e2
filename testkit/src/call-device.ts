// Calls of a device over HTTP for tests.

import { setTimeout as delay } from 'node:timers/promises'
import type { Api, Reply } from './call-api.ts'
import { replyOf } from './call-api.ts'

export type DeviceCalls = {
  readonly deviceId: string
  readonly token: string
  /** `path` follows /things/<deviceId>/jobs. Strings and bytes are sent as they are. */
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: { headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Reply>
  startNext(): Promise<Reply>
  /** Reports a status, with optional further fields. */
  update(jobExecutionId: number, status: string, more?: object): Promise<Reply>
  output(jobExecutionId: number, offset: number, data: string): Promise<Reply>
}

/** Creates the device and its token. */
export async function newDevice(api: Api, deviceId: string, key = api.adminKey): Promise<DeviceCalls> {
  const path = `/job/api/devices/${encodeURIComponent(deviceId)}`
  await untilDone(() => api.call('PUT', path, { key }))
  const { json } = await untilDone(() => api.call('POST', `${path}/credential`, { key }))
  return deviceCalls(api.http, deviceId, json.deviceToken)
}

/** Retries while an overloaded server refuses the call. */
async function untilDone(call: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const reply = await call()
    if (reply.status < 300) return reply
    if (![408, 503].includes(reply.status) || tries === 20) {
      throw new Error(`answered ${reply.status}: ${reply.text}`)
    }
    await delay(500)
  }
}

export function deviceCalls(http: string, deviceId: string, token: string): DeviceCalls {
  const calls: DeviceCalls = {
    deviceId,
    token,
    async call(method, path, body, { headers = {}, signal } = {}) {
      const isRaw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
      const sent = isRaw ? body : JSON.stringify(body)
      const type = isRaw ? {} : { 'content-type': 'application/json' }
      return replyOf(
        await fetch(`${http}/things/${encodeURIComponent(deviceId)}/jobs${path}`, {
          method,
          headers: { authorization: `Bearer ${token}`, ...type, ...headers },
          ...(sent !== undefined && { body: sent as string }),
          ...(signal && { signal }),
        }),
      )
    },
    startNext: () => calls.call('PUT', '/$next'),
    update: (id, status, more = {}) => calls.call('POST', `/${id}`, { status, ...more }),
    output: (id, offset, data) => calls.call('POST', `/${id}/output`, { offset, data }),
  }
  return calls
}
