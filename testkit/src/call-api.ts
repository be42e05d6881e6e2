// Calls of the API for tests: status, headers, and the body as text and as JSON.

import type { Scope } from '@jobcast/contract'

export type Reply = {
  status: number
  headers: Headers
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it
  json: any
}

export type CallOptions = {
  key?: string
  body?: unknown
  rawBody?: string | Uint8Array
  headers?: Record<string, string>
}

export type Api = {
  readonly http: string
  readonly adminKey: string
  /** Uses the admin key unless `key` is given. Sends a body as JSON, a rawBody as it is. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>
  trigger(jobName: unknown, deviceIds: unknown, options?: CallOptions): Promise<Reply>
  newKey(scopes: Scope[], more?: object): Promise<{ keyId: string; apiKey: string; ownerId: string }>
  /** Creates another owner with a key of all scopes except ADMIN. */
  newOwner(ownerName: string): Promise<{ ownerId: string; key: string }>
  putJobAndDevices(jobName: string, deviceIds: string[], key?: string): Promise<void>
}

/** `npm test` repeats the trigger suite with jobs whose runs are held back. */
const isHeldBack = process.env.JOBCAST_TEST_JOBS === 'held-back'
const heldBack = { approval: true, rollout: { order: 'GIVEN', waves: [{ size: 1 }, { size: '100%' }] } }
const plainJob = isHeldBack ? heldBack : {}

export function buildApi(http: string, adminKey: string): Api {
  const api: Api = {
    http,
    adminKey,
    async call(method, path, { key = adminKey, body, rawBody, headers = {} } = {}) {
      const sent = rawBody ?? (body === undefined ? undefined : JSON.stringify(body))
      const response = await fetch(http + path, {
        method,
        headers: {
          'x-api-key': key,
          ...(sent !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(sent !== undefined && { body: sent as string }),
      })
      return replyOf(response)
    },
    trigger: (jobName, deviceIds, options) =>
      api.call('POST', '/job/api/jobs/execute', { body: { jobName, deviceIds }, ...options }),
    async newKey(scopes, more = {}) {
      const reply = await api.call('POST', '/job/api/keys', { body: { keyName: 'test', scopes, ...more } })
      if (reply.status !== 201) throw new Error(`no key: ${reply.text}`)
      return reply.json
    },
    async newOwner(ownerName) {
      const { ownerId } = (await api.call('POST', '/job/api/owners', { body: { ownerName } })).json
      const { apiKey } = await api.newKey(['TRIGGER', 'READ', 'MANAGE'], { ownerId })
      return { ownerId, key: apiKey }
    },
    async putJobAndDevices(jobName, deviceIds, key = adminKey) {
      const replies = await Promise.all([
        api.call('PUT', `/job/api/jobs/${encodeURIComponent(jobName)}`, { key, body: plainJob }),
        ...(deviceIds.length > many
          ? [importDevices(api, deviceIds, key)]
          : deviceIds.map((id) =>
              api.call('PUT', `/job/api/devices/${encodeURIComponent(id)}`, { key, body: {} }),
            )),
      ])
      const bad = replies.find(({ status, json }) => status >= 300 || json?.failedTotal > 0)
      if (bad) throw new Error(`no job or device: ${bad.text}`)
    },
  }
  return api
}

/** From this many devices on, an import replaces single calls. */
const many = 20

function importDevices(api: Api, deviceIds: string[], key: string): Promise<Reply> {
  return api.call('POST', '/job/api/devices/import', {
    key,
    rawBody: deviceIds.map((deviceId) => JSON.stringify({ deviceId })).join('\n'),
    headers: { 'content-type': 'application/x-ndjson' },
  })
}

export async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  const isJson = type.includes('json') && !type.includes('ndjson')
  return {
    status: response.status,
    headers: response.headers,
    text,
    // Responses without a body, for example to HEAD, name a type as well.
    json: isJson && text !== '' ? JSON.parse(text) : undefined,
  }
}
