// A proxy to the database that drops all notifications and forwards everything else.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { TestContext } from 'node:test'

const notification = 'A'.charCodeAt(0)

type DeafProxy = { url: string; swallowed: () => number }

export async function openDeafProxy(t: TestContext, databaseUrl: string): Promise<DeafProxy> {
  const { hostname, port } = new URL(databaseUrl)
  let swallowed = 0
  const server = createServer((client) => {
    const database = connect({ host: hostname, port: Number(port), noDelay: true })
    client.setNoDelay()
    client.pipe(database)
    let rest = Buffer.alloc(0)
    database.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      // A type of one byte, then a length that counts itself.
      while (rest.length >= 5 && rest.length >= 1 + rest.readUInt32BE(1)) {
        const message = rest.subarray(0, 1 + rest.readUInt32BE(1))
        rest = rest.subarray(message.length)
        if (message[0] === notification) swallowed++
        else client.write(message)
      }
    })
    for (const [one, other] of [
      [client, database],
      [database, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = new URL(databaseUrl)
  url.port = String((server.address() as AddressInfo).port)
  return { url: url.href, swallowed: () => swallowed }
}
