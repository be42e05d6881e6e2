// Passes requests on to the server, and checks each answer against the OpenAPI document.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import type { TestContext } from 'node:test'
import { watchFetch } from './api-answers.ts'

type CheckingProxy = {
  readonly url: string
  /** The operations that were called since it was asked last. */
  takeCalled(): string[]
  /** What was wrong with answers. */
  readonly complaints: string[]
}

/** The connection is another one, and fetch has already unpacked the body. */
const ofTheConnection = new Set([
  'connection',
  'keep-alive',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'host',
])

export async function openCheckingProxy(t: TestContext, target: string): Promise<CheckingProxy> {
  const { fetch, takeCalled } = watchFetch()
  const complaints: string[] = []
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = 'GET', url = '/' } = request
    const body = await buffer(request)
    const answer = await fetch(target + url, {
      method,
      headers: passed(Object.entries(request.headers) as [string, string][]),
      ...(body.length > 0 && { body: new Uint8Array(body) }),
      redirect: 'manual',
    })
    response.writeHead(answer.status, passed([...answer.headers]))
    if (answer.body === null) response.end()
    else await pipeline(Readable.fromWeb(answer.body as never), response).catch(() => {})
  }
  const server = createServer((request, response) => {
    pass(request, response).catch((error: Error) => {
      complaints.push(error.message)
      response.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, takeCalled, complaints }
}

function passed(headers: [string, string][]): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => !ofTheConnection.has(name)))
}
