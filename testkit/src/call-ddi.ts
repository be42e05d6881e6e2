// Calls of a hawkBit device for tests.

import { type Api, type Reply, replyOf } from './call-api.ts'
import { newDevice } from './call-device.ts'

export type DdiDevice = {
  readonly deviceId: string
  readonly token: string
  /** `path` follows /<tenant>/controller/v1/<deviceId>. A string is sent as it is. */
  call(method: string, path?: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** The paths of its links, by name. */
  links(): Promise<Record<string, string>>
  feedback(id: number, execution: string, more?: FeedbackFields): Promise<Reply>
  cancelFeedback(id: number, execution: string, more?: FeedbackFields): Promise<Reply>
}

const linksField = '_links'

type FeedbackFields = { finished?: string; details?: string[]; progress?: object; time?: string }

/** Creates the device and its token. */
export async function newDdiDevice(api: Api, deviceId: string): Promise<DdiDevice> {
  const { token } = await newDevice(api, deviceId)
  return ddiDevice(api.http, { deviceId, token })
}

export function ddiDevice(
  http: string,
  { deviceId, token, tenant = 'DEFAULT', scheme = 'TargetToken' }: DdiIdentity,
): DdiDevice {
  const root = `/${tenant}/controller/v1/${encodeURIComponent(deviceId)}`
  const feedback =
    (kind: string) =>
    (id: number, execution: string, more: FeedbackFields = {}) => {
      const { finished = 'none', progress, time, ...others } = more
      const status = { execution, result: { finished, progress }, ...others }
      return device.call('POST', `/${kind}/${id}/feedback`, { id: String(id), ...(time && { time }), status })
    }
  const device: DdiDevice = {
    deviceId,
    token,
    async call(method, path = '', body, headers = {}) {
      const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
      const response = await fetch(http + root + path, {
        method,
        headers: { authorization: `${scheme} ${token}`, ...headers },
        ...(sent !== undefined && { body: sent }),
      })
      return replyOf(response)
    },
    async links() {
      const { json } = await device.call('GET')
      const links = Object.entries<{ href: string }>(json[linksField])
      return Object.fromEntries(links.map(([name, { href }]) => [name, href.slice((http + root).length)]))
    },
    feedback: feedback('deploymentBase'),
    cancelFeedback: feedback('cancelAction'),
  }
  return device
}

type DdiIdentity = { deviceId: string; token: string; tenant?: string; scheme?: string }
