// Calls the server that runs in this process.

import { callServer } from '../service/call-server.ts'

export type LocalApi = {
  /** True if the key has the scope that the samples need. */
  hasAccess(): Promise<boolean>
  get(path: string): Promise<unknown>
  /** Undefined if not found. */
  find(path: string): Promise<unknown>
  put(path: string, body: object): Promise<void>
  post(path: string): Promise<unknown>
}

export function openApi(http: string, apiKey: string): LocalApi {
  // Our own certificate may be signed by a private CA.
  const access = { address: http, apiKey, trustAnyCertificate: true }
  const call = async (method: string, path: string, body?: object) => {
    const { status, text } = await callServer(access, method, path, body)
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  return {
    hasAccess: async () => (await callServer(access, 'GET', '/job/api/owners')).status === 200,
    get: (path) => call('GET', path),
    find: async (path) => {
      const { status, text } = await callServer(access, 'GET', path)
      return status === 200 ? JSON.parse(text) : undefined
    },
    put: (path, body) => call('PUT', path, body),
    post: (path) => call('POST', path),
  }
}
