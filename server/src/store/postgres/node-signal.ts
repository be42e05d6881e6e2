// Hints between the nodes on one database, over one connection per node. A lost hint only costs time. The same connection holds
// the exclusive locks of a node, so that they are released when the node is gone.

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
/** How long a stopping node waits until its last hints are sent. */
const lastWordsMs = 1000
/** A connection without any message for this time is considered broken. */
const silenceMs = 5000
/** Minimum delay between two messages: under load each commit causes hints, and each message wakes all nodes. The first one is sent at once. */
const gapMs = 5

// A hint does not need to be on disk, and a machine that crashed must not keep its locks.
const settings = {
  synchronous_commit: 'off',
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
}

/** `events`: there are new events; `webhooks-lost`: this node no longer holds any webhook or bridge. */
type Signals = { hint: [Hint]; events: []; 'webhooks-lost': [] }

export class NodeSignal extends EventEmitter<Signals> {
  readonly #url: string
  readonly #nodeNo: number
  readonly #batch = new HintBatch()
  #client: pg.Client | undefined
  #reconnecting: NodeJS.Timeout | undefined
  /** The number of messages from other nodes. Each node sends one when it joins. */
  receivedFromOthers = 0
  /** There is no other node on the database, so hints are not sent. */
  isAlone = false
  /** The webhooks that this node holds. */
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

  /** Resolves once it listens; false: this has failed and is retried automatically. */
  async open(): Promise<boolean> {
    const client = new pg.Client(connectionOptions(this.#url, settings, nodeName(this.#nodeNo)))
    this.#client = client
    // Messages on an earlier connection do not count for this one.
    this.#heardAt = performance.now()
    let ownProcess: number | undefined
    client.on('notification', ({ processId, payload = '' }) => {
      this.#heardAt = performance.now()
      // Listeners of this process were already called.
      if (processId === ownProcess) return
      this.isAlone = false
      this.receivedFromOthers++
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
   * Sent separately and not within a commit: commits with NOTIFY wait for each other, on the whole server, until they are on disk.
   * While a message is being sent, further hints are gathered for the next one.
   */
  send(hint: Hint): void {
    if (this.isAlone) return
    this.#batch.add(hint)
    void this.#flush()
  }

  /** Announces new events of this node. */
  sendEvents(): void {
    this.emit('events')
    if (this.isAlone) return
    this.#batch.addEvents()
    void this.#flush()
  }

  /** Sends a message that this node also receives, which shows that it can receive those of others. */
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
    // Without the connection, the lock is already released.
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

  /** A previous connection may still hold the lock; then this is retried. */
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
          // The hints that could not be sent are lost. This connection is not used again, because it may fail immediately
          // and repeatedly before it is reported as closed.
          this.#batch.addEvents()
          this.#batch.add({ kind: 'check-all' })
          this.#reconnect(client)
        }
      }
    } finally {
      this.#isSending = false
    }
  }

  /** After a commit, its events come first, and in the same turn of the event loop its hints for devices. */
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
    // Ending it normally would wait for results that may never arrive.
    lost.connection.stream.destroy()
    this.#reconnecting = setTimeout(async () => {
      if (!(await this.open())) return
      // Messages may have been missed in the meantime.
      this.emit('events')
      this.emit('hint', { kind: 'check-all' })
    }, reconnectAfterMs)
    this.#reconnecting.unref()
  }
}
