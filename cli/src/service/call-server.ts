// One HTTP or HTTPS call of a server's API.

import { type Agent, request as httpRequest } from 'node:http'
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https'

type ServerAccess = {
  /** http://host:8080, or https:// */
  address: string
  apiKey: string
  /** Accepts any certificate, even a self-signed one. */
  trustAnyCertificate?: boolean
  /** To reuse connections for many calls. */
  agent?: Agent | HttpsAgent
}

type Answer = { status: number; text: string }

export function callServer(
  { address, apiKey, trustAnyCertificate = false, agent }: ServerAccess,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) }
  const options = { method, headers, ...(agent && { agent }) }
  const url = address.replace(/\/+$/, '') + path
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:')
      ? httpsRequest(url, { ...options, rejectUnauthorized: !trustAnyCertificate })
      : httpRequest(url, options)
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('error', reject)
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    request.end(body && JSON.stringify(body))
  })
}
