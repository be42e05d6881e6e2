// Calls of the server that this process has just started, at its own address.

import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'

export type LocalApi = {
  /** True when the key may do what samples need. */
  isGood(): Promise<boolean>
  get(path: string): Promise<unknown>
  put(path: string, body: object): Promise<void>
}

export function openApi(http: string, apiKey: string): LocalApi {
  const call = (method: string, path: string, body?: object) => send(`${http}${path}`, apiKey, method, body)
  const wanted = async (method: string, path: string, body?: object) => {
    const { status, text } = await call(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  return {
    isGood: async () => (await call('GET', '/job/api/owners')).status === 200,
    get: (path) => wanted('GET', path),
    put: (path, body) => wanted('PUT', path, body),
  }
}

function send(
  url: string,
  apiKey: string,
  method: string,
  body?: object,
): Promise<{ status: number; text: string }> {
  const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) }
  return new Promise((resolve, reject) => {
    // Our own certificate may be one that only the people here trust.
    const request = url.startsWith('https:')
      ? httpsRequest(url, { method, headers, rejectUnauthorized: false })
      : httpRequest(url, { method, headers })
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.end(body && JSON.stringify(body))
  })
}
