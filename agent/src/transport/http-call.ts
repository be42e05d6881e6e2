// One HTTP request. Node's fetch would cost 15 to 20 MB of memory and has no limit on the response. Redirects are not
// followed, so that a token is sent only to its own server.

import { Agent, type ClientRequest, type IncomingHttpHeaders, request as requestHttp } from 'node:http'
import type * as Https from 'node:https'

type HttpCall = {
  method: string
  url: string
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
}

type HttpAnswer = { status: number; headers: IncomingHttpHeaders; text: string }

/** Several times a document of 64 KiB, escaped, with its envelope of 128 KiB. */
export const maxAnswerBytes = 1024 * 1024

export class AnswerTooLong extends Error {
  constructor() {
    super(`the server's answer has more than ${maxAnswerBytes} bytes`)
  }
}

/** Calls reject if there is no answer, or if it is too long. Connections are reused. */
export class HttpCaller {
  readonly #isSecure: boolean
  #connections: Agent | undefined

  constructor(url: string) {
    this.#isSecure = new URL(url).protocol === 'https:'
  }

  async call(call: HttpCall): Promise<HttpAnswer> {
    try {
      return await this.#send(call)
    } catch (error) {
      // The server closed an idle connection just as it was reused, so the request got no answer.
      if (!(error instanceof Stale)) throw error
      return this.#send(call)
    }
  }

  close(): void {
    this.#connections?.destroy()
  }

  async #send({ method, url, headers, body, signal }: HttpCall): Promise<HttpAnswer> {
    signal.throwIfAborted()
    const { request, agent } = await this.#open()
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const sent = request(url, { method, headers: { ...headers, ...length }, agent, signal })
      sent.once('error', (error) => reject(isStale(sent, error) ? new Stale() : error))
      sent.once('response', (response) => {
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          chunks.push(chunk)
          if (bytes > maxAnswerBytes) response.destroy(new AnswerTooLong())
        })
        response.once('error', reject)
        response.once('close', () => reject(new Error('the connection was lost')))
        response.once('end', () => {
          const { statusCode = 0, headers } = response
          resolve({ status: statusCode, headers, text: Buffer.concat(chunks).toString() })
        })
      })
      sent.end(body)
    })
  }

  /** TLS takes 6 MB more, so it is loaded only where it is used. */
  async #open(): Promise<{ request: typeof requestHttp; agent: Agent }> {
    const https: typeof Https | undefined = this.#isSecure ? await import('node:https') : undefined
    this.#connections ??= new (https?.Agent ?? Agent)({ keepAlive: true, maxFreeSockets: 2 })
    return { request: https?.request ?? requestHttp, agent: this.#connections }
  }
}

class Stale extends Error {}

function isStale(request: ClientRequest, error: NodeJS.ErrnoException): boolean {
  return request.reusedSocket && error.code === 'ECONNRESET'
}
