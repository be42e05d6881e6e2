// Calls of the server that this process has just started, at its own address.

import { callServer } from '../service/call-server.ts'

export type LocalApi = {
  /** True when the key may do what samples need. */
  isGood(): Promise<boolean>
  get(path: string): Promise<unknown>
  /** Undefined when there is no such thing. */
  find(path: string): Promise<unknown>
  put(path: string, body: object): Promise<void>
  post(path: string): Promise<unknown>
}

export function openApi(http: string, apiKey: string): LocalApi {
  // Our own certificate may be one that only the people here trust.
  const access = { address: http, apiKey, trustAnyCertificate: true }
  const wanted = async (method: string, path: string, body?: object) => {
    const { status, text } = await callServer(access, method, path, body)
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  return {
    isGood: async () => (await callServer(access, 'GET', '/job/api/owners')).status === 200,
    get: (path) => wanted('GET', path),
    find: async (path) => {
      const { status, text } = await callServer(access, 'GET', path)
      return status === 200 ? JSON.parse(text) : undefined
    },
    put: (path, body) => wanted('PUT', path, body),
    post: (path) => wanted('POST', path),
  }
}
