// A proxy to PostgreSQL that breaks the connection at a COMMIT, or at a statement that is a transaction by itself (launch-alone.ts), before or after the server gets it.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

const sentCommit = Buffer.from('COMMIT\0')
/** Bound to a portal without a name. Its answer ends with the tag of a SELECT, and is sent behind its commit. */
const sentLaunches = ['\0launch\0', '\0launch_with_key\0', '\0launch_keyed\0'].map((name) =>
  Buffer.from(name),
)
const launched = Buffer.from('SELECT 1\0')
const begin = Buffer.from('BEGIN READ WRITE\0')
// As long as the one it takes the place of.
const failing = Buffer.from('SELECT 1 / 0    \0')

/** `late`: the server gets it only after the client has lost the connection, when `sendLate` is called. */
type Break = 'before-commit' | 'after-commit' | 'late'

export type CommitProxy = {
  readonly url: string
  /**
   * The next COMMIT of a transaction that writes, and has sent this text, breaks its connection in this way. `isDown`: and
   * from there on nobody is connected any more.
   */
  breakNext(way: Break, having?: string, then?: { isDown: boolean }): void
  /** The next BEGIN of a transaction that writes fails, and nothing else does by itself. */
  failNextBegin(): void
  /** How many were broken. */
  readonly broken: number
  /** Of these, how many at a statement that is a transaction of its own. */
  readonly brokenAlone: number
  /** While true, all connections are refused. */
  isDown: boolean
  /** Resolves when the server has dealt with it. */
  sendLate(): Promise<void>
}

export async function openCommitProxy(t: TestContext, databaseUrl: string): Promise<CommitProxy> {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let next: { way: Break; having: string; isDown: boolean } | undefined
  let failsBegin = false
  let late: (() => Promise<void>) | undefined
  const proxy = { url: '', broken: 0, brokenAlone: 0, isDown: false }
  const server = createServer((client) => {
    if (proxy.isDown) {
      client.destroy()
      return
    }
    const database = connect({ host: hostname, port: Number(port), noDelay: true })
    client.setNoDelay()
    for (const socket of [client, database]) sockets.add(socket.on('error', () => undefined))
    let isLost = false
    /** The tag with which the server says that it is done. */
    let doneTag = sentCommit
    let isWriting = false
    let sent = Buffer.alloc(0)
    client.on('data', (chunk: Buffer) => {
      const isLaunch = !isWriting && sentLaunches.some((name) => chunk.includes(name))
      if (chunk.includes(begin) || isLaunch) isWriting = true
      if (isWriting) sent = Buffer.concat([sent, chunk])
      if (isWriting && failsBegin && !isLaunch) {
        failsBegin = false
        failing.copy(chunk, chunk.indexOf(begin))
      }
      if (!isWriting || !(isLaunch || chunk.includes(sentCommit))) {
        database.write(chunk)
        return
      }
      isWriting = false
      const isWanted = next !== undefined && sent.includes(next.having)
      sent = Buffer.alloc(0)
      if (next === undefined || !isWanted) {
        database.write(chunk)
        return
      }
      const { way, isDown } = next
      next = undefined
      isLost = true
      proxy.broken++
      if (isLaunch) {
        proxy.brokenAlone++
        doneTag = launched
      }
      proxy.isDown ||= isDown
      if (way === 'before-commit') database.destroy()
      if (way === 'after-commit') database.write(chunk)
      if (way !== 'late') return
      client.destroy()
      late = async () => {
        database.write(chunk)
        database.end()
        await once(database, 'close')
      }
    })
    database.on('data', (chunk: Buffer) => {
      if (!isLost) client.write(chunk)
      else if (chunk.includes(doneTag)) client.destroy()
    })
    database.on('close', () => client.destroy())
    client.on('close', () => {
      if (!isLost) database.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return Object.assign(proxy, {
    url: url.href,
    breakNext(way: Break, having = '', { isDown } = { isDown: false }) {
      next = { way, having, isDown }
    },
    failNextBegin() {
      failsBegin = true
    },
    async sendLate() {
      await late?.()
    },
  })
}
