// A receiver of webhooks over real HTTP, which responds as a test says, and can go down and come back at its address.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { within } from './within.ts'

export type Received = {
  /** The header `webhook-id`. */
  id: string
  headers: Record<string, string>
  body: string
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts what is in it
  event: any
  /** It was answered with 2xx. */
  accepted: boolean
}

/** A status, or no response at all. */
type ReceiverAnswer = number | 'hang'

export class WebhookReceiver {
  readonly received: Received[] = []
  answer: (received: Received, count: number) => ReceiverAnswer = () => 204
  /** Headers of every response. */
  headers: Record<string, string> = {}
  readonly #news = new Set<() => void>()
  #port = 0
  #server = createServer()

  /** Closed at the end of the test. */
  static async open(t: Pick<TestContext, 'after'>): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    await receiver.start()
    t.after(() => receiver.stop())
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  get accepted(): Received[] {
    return this.received.filter(({ accepted }) => accepted)
  }

  async start(): Promise<void> {
    this.#server = createServer((request, response) => void this.#receive(request, response))
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Refuses new connections. May be called twice. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Resolves once the condition holds. It is checked whenever something is received. */
  until(what: string, isSo: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => {
      if (!isSo()) return
      this.#news.delete(look)
      resolve()
    }
    this.#news.add(look)
    look()
    const said = () => `${what}; received ${this.received.map(({ id, accepted }) => `${id} ${accepted}`)}`
    return within(120_000, said, promise)
  }

  /** Throws unless everything received was signed with one of these secrets. */
  verifyAll(...secrets: string[]): void {
    for (const { body, headers } of this.received) {
      for (const secret of secrets) new Webhook(secret).verify(body, headers)
    }
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString()
    const headers = request.headers as Record<string, string>
    const id = headers['webhook-id'] ?? ''
    const received = { id, headers, body, event: JSON.parse(body), accepted: false }
    this.received.push(received)
    const answer = this.answer(received, this.received.length)
    if (answer !== 'hang') {
      received.accepted = answer >= 200 && answer < 300
      response.writeHead(answer, this.headers).end('thank you')
    }
    for (const look of this.#news) look()
  }
}
