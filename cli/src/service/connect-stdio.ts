// Forwards messages of the Model Context Protocol from standard input to the service, and its answers back.

import type { Readable, Writable } from 'node:stream'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ErrorCode, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'

type Connected = {
  url: URL
  /** The key of a person is renewed every few minutes. */
  keyNow: () => Promise<string>
  fetch: typeof fetch
  stdin: Readable
  stdout: Writable
}

/** Resolves when standard input ends. */
export async function connectStdio({ url, keyNow, fetch, stdin, stdout }: Connected): Promise<void> {
  const assistant = new StdioServerTransport(stdin, stdout)
  const service = new StreamableHTTPClientTransport(url, {
    fetch: async (to, init) => {
      const headers = new Headers(init?.headers)
      headers.set('x-api-key', await keyNow())
      return fetch(to, { ...init, headers })
    },
  })
  const inFlight = new Set<Promise<void>>()
  service.onmessage = (message) => void assistant.send(message)
  assistant.onmessage = (message) => {
    const sent = service.send(message).catch((error: unknown) => refuse(assistant, message, error))
    inFlight.add(sent)
    void sent.finally(() => inFlight.delete(sent))
  }
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  stdin.once('end', resolve).once('close', resolve)
  await service.start()
  await assistant.start()
  await ended
  await Promise.all(inFlight)
  await assistant.close()
  await service.close()
}

/** Every request gets an answer, even if the service is down or refuses the key. */
async function refuse(
  assistant: StdioServerTransport,
  message: JSONRPCMessage,
  error: unknown,
): Promise<void> {
  if (!('id' in message && 'method' in message)) return
  const { id } = message
  const text = error instanceof Error ? error.message : String(error)
  await assistant.send({ jsonrpc: '2.0', id, error: { code: ErrorCode.InternalError, message: text } })
}
