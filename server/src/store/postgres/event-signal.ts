// Tells all nodes on the database that there are new events. A hint: one that gets lost costs time and no event.

import pg from 'pg'
import { connectionOptions } from './connect.ts'

const channel = 'jobcast_events'
const LISTEN = `LISTEN ${channel}`
const NOTIFY = `NOTIFY ${channel}`
const reconnectAfterMs = 500

export class EventSignal {
  readonly #url: string
  readonly #listeners: (() => void)[] = []
  #client: pg.Client | undefined
  #reconnecting: NodeJS.Timeout | undefined
  #isClosed = false
  #isSending = false
  #isOwed = false

  constructor(url: string) {
    this.#url = url
  }

  onEvents(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Resolves once it hears the others, or has failed to and tries again by itself. */
  async open(): Promise<void> {
    const client = new pg.Client(connectionOptions(this.#url))
    this.#client = client
    client.on('notification', ({ processId }) => {
      // Whoever listens here was told at once.
      if (processId !== (client as unknown as { processID: number }).processID) this.#tell()
    })
    client.on('error', () => undefined)
    client.once('end', () => this.#reconnect(client))
    try {
      await client.connect()
      await client.query(LISTEN)
    } catch {
      this.#reconnect(client)
    }
  }

  /**
   * There are new events, made here. Sent on its own and not within the commit: commits that notify wait for each
   * other, all over the server, until they are on disk. While one is under way the next waits, for however many.
   */
  send(): void {
    this.#tell()
    if (this.#isSending) this.#isOwed = true
    else void this.#notify()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#reconnecting)
    await this.#client?.end().catch(() => undefined)
  }

  async #notify(): Promise<void> {
    this.#isSending = true
    do {
      this.#isOwed = false
      await this.#client?.query(NOTIFY).catch(() => undefined)
    } while (this.#isOwed && !this.#isClosed)
    this.#isSending = false
  }

  #reconnect(lost: pg.Client): void {
    if (this.#isClosed || this.#client !== lost) return
    this.#client = undefined
    lost.end().catch(() => undefined)
    this.#reconnecting = setTimeout(async () => {
      await this.open()
      // Something may have been told while nobody listened.
      this.#tell()
    }, reconnectAfterMs)
    this.#reconnecting.unref()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
