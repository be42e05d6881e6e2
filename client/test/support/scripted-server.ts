// A real HTTP server with prepared responses, for those that the service sends only in case of problems.

import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export type PreparedAnswer = { status: number; headers?: Record<string, string>; body?: unknown }
type ScriptedServer = { readonly url: string; readonly requests: IncomingMessage[] }

/** The last answer is given to all further requests. */
export async function openScriptedServer(
  t: TestContext,
  ...answers: PreparedAnswer[]
): Promise<ScriptedServer> {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    const {
      status,
      headers = {},
      body,
    } = answers[Math.min(requests.length, answers.length - 1)] ?? {
      status: 500,
    }
    requests.push(request)
    request.resume()
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? {})
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}
