// What the nodes on one database tell each other, over one connection each. Hints: one that gets lost costs time and
// nothing else. The same connection holds what a node has to itself, so that it is free when the node is gone.

import { EventEmitter } from 'node:events'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Hint } from '../../domain/common/ports/nodes.ts'
import { connectionOptions, nodeName } from './connect.ts'
import { HintBatch, readHints } from './hint-batch.ts'
import { locks } from './locks.ts'

const channel = 'jobcast'
const LISTEN = `LISTEN ${channel}` as const
const OWN_PROCESS = 'SELECT pg_backend_pid() AS pid'
const NOTIFY = `SELECT pg_notify('${channel}', text) FROM unnest($1::text[]) AS text` as const
const HOLD_NODE = `SELECT pg_try_advisory_lock(${locks.node}, $1) AS held` as const
const TAKE = `SELECT pg_try_advisory_lock(${locks.webhook}, $1) AS taken` as const
const GIVE_BACK = `SELECT pg_advisory_unlock(${locks.webhook}, $1)` as const
const TAKE_BRIDGE = `SELECT pg_try_advisory_lock(${locks.bridge}, $1) AS taken` as const
const GIVE_BACK_BRIDGE = `SELECT pg_advisory_unlock(${locks.bridge}, $1)` as const
const reconnectAfterMs = 500
/** How long a node that ends waits until what it has to say is said. */
const lastWordsMs = 1000
/** A connection over which nothing is heard for so long is taken for broken, whatever the system says. */
const silenceMs = 5000
/** Between two messages: under load they come with each commit, and each wakes all nodes. The first one does not wait. */
const gapMs = 5

// A hint need not be on disk, and a machine that is gone without a word must not keep what it had.
const settings = {
  synchronous_commit: 'off',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
}

/** `events`: there are new ones; `webhooks-lost`: this node holds none any more, and no bridge. */
type Signals = { hint: [Hint]; events: []; 'webhooks-lost': [] }

export class NodeSignal extends EventEmitter<Signals> {
  readonly #url: string
  readonly #nodeNo: number
  readonly #batch = new HintBatch()
  #client: pg.Client | undefined
  #reconnecting: NodeJS.Timeout | undefined
  /** How often another node was heard. Each says something when it comes. */
  heardOthers = 0
  /** Nobody else is on the database: nobody needs to be told. */
  isAlone = false
  /** Those it holds. */
  readonly #webhooks = new Set<number>()
  readonly #bridges = new Set<number>()
  #isClosed = false
  #isSending = false
  #sentAt = Number.NEGATIVE_INFINITY
  #heardAt = 0
  #holdsNode = false

  constructor(url: string, nodeNo: number) {
    super()
    this.setMaxListeners(0)
    this.#url = url
    this.#nodeNo = nodeNo
  }

  /** Resolves once it hears the others; false: it has failed to, and tries again by itself. */
  async open(): Promise<boolean> {
    const client = new pg.Client(connectionOptions(this.#url, settings, nodeName(this.#nodeNo)))
    this.#client = client
    // It is given its time: what was heard before this connection says nothing about it.
    this.#heardAt = performance.now()
    let ownProcess: number | undefined
    client.on('notification', ({ processId, payload = '' }) => {
      this.#heardAt = performance.now()
      // Whoever listens here was told at once.
      if (processId === ownProcess) return
      this.isAlone = false
      this.heardOthers++
      this.#hear(payload)
    })
    client.on('error', () => undefined)
    client.once('end', () => this.#reconnect(client))
    try {
      await client.connect()
      const { rows } = await client.query<{ pid: number }>(OWN_PROCESS)
      ownProcess = rows[0]?.pid
      await client.query(LISTEN)
      await this.#holdNode(client)
      this.#heardAt = performance.now()
      void this.#flush()
      return true
    } catch {
      this.#reconnect(client)
      return false
    }
  }

  /**
   * Sent on its own and not within a commit: commits that notify wait for each other, all over the server, until they
   * are on disk. While one is under way, others gather for the next.
   */
  send(hint: Hint): void {
    if (this.isAlone) return
    this.#batch.add(hint)
    void this.#flush()
  }

  /** There are new events, made here. */
  sendEvents(): void {
    this.emit('events')
    if (this.isAlone) return
    this.#batch.addEvents()
    void this.#flush()
  }

  /** Says something that this node hears as well: so it knows that it would hear the others. */
  checkHearing(): void {
    const client = this.#client
    if (client === undefined) return
    if (performance.now() - this.#heardAt > silenceMs) {
      this.#reconnect(client)
      return
    }
    this.#batch.addNothing()
    void this.#flush()
    if (!this.#holdsNode) this.#holdNode(client).catch(() => undefined)
  }

  async takeWebhook(webhookNo: number): Promise<boolean> {
    if (this.#webhooks.has(webhookNo)) return true
    const client = this.#client
    const result = await client?.query(TAKE, [webhookNo])
    const isTaken = result?.rows[0].taken === true && client === this.#client
    if (isTaken) this.#webhooks.add(webhookNo)
    return isTaken
  }

  async giveBackWebhook(webhookNo: number): Promise<void> {
    if (!this.#webhooks.delete(webhookNo)) return
    // Without the connection it is free already.
    await this.#client?.query(GIVE_BACK, [webhookNo]).catch(() => undefined)
  }

  async takeBridge(bridgeNo: number): Promise<boolean> {
    if (this.#bridges.has(bridgeNo)) return true
    const client = this.#client
    const result = await client?.query(TAKE_BRIDGE, [bridgeNo])
    const isTaken = result?.rows[0].taken === true && client === this.#client
    if (isTaken) this.#bridges.add(bridgeNo)
    return isTaken
  }

  async giveBackBridge(bridgeNo: number): Promise<void> {
    if (!this.#bridges.delete(bridgeNo)) return
    await this.#client?.query(GIVE_BACK_BRIDGE, [bridgeNo]).catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#reconnecting)
    const client = this.#client
    if (client && !this.#batch.isEmpty) {
      const sent = client.query(NOTIFY, [this.#batch.take()]).catch(() => undefined)
      await Promise.race([sent, sleep(lastWordsMs, undefined, { ref: false })])
    }
    await client?.end().catch(() => undefined)
  }

  /** The connection before this one may still hold it: then it is tried again. */
  async #holdNode(client: pg.Client): Promise<void> {
    const { rows } = await client.query(HOLD_NODE, [this.#nodeNo])
    this.#holdsNode = rows[0].held
  }

  async #flush(): Promise<void> {
    if (this.#isSending) return
    this.#isSending = true
    try {
      while (this.#client && !this.#isClosed && !this.#batch.isEmpty) {
        await this.#gather()
        const client = this.#client
        if (client === undefined || this.#isClosed) return
        try {
          await client.query(NOTIFY, [this.#batch.take()])
        } catch {
          // What could not be sent is not known any more one by one. Over this connection nothing more is tried: it may
          // refuse at once, again and again, before the system says that it is closed.
          this.#batch.addEvents()
          this.#batch.add({ kind: 'check-all' })
          this.#reconnect(client)
        }
      }
    } finally {
      this.#isSending = false
    }
  }

  /** With a commit come its events first, and in the same turn what it means for devices. */
  async #gather(): Promise<void> {
    await nextTurn()
    const leftMs = this.#sentAt + gapMs - performance.now()
    if (leftMs > 0) await sleep(leftMs, undefined, { ref: false })
    this.#sentAt = performance.now()
  }

  #hear(text: string): void {
    const { hints, events } = readHints(text)
    if (events) this.emit('events')
    for (const hint of hints) this.emit('hint', hint)
  }

  #reconnect(lost: pg.Client): void {
    if (this.#isClosed || this.#client !== lost) return
    this.#client = undefined
    this.#holdsNode = false
    this.#webhooks.clear()
    this.#bridges.clear()
    this.emit('webhooks-lost')
    lost.end().catch(() => undefined)
    // It would wait for answers that may never come, and so would whoever asked.
    lost.connection.stream.destroy()
    this.#reconnecting = setTimeout(async () => {
      if (!(await this.open())) return
      // Something may have been told while nobody listened.
      this.emit('events')
      this.emit('hint', { kind: 'check-all' })
    }, reconnectAfterMs)
    this.#reconnecting.unref()
  }
}
