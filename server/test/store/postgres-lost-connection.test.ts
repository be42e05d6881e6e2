// A connection that ends in the instant in which it is handed out: what the server says last arrives together with its
// word that the connection is ready.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { StorageUnavailable } from '../../src/domain/common/ports/storage-errors.ts'
import { Database } from '../../src/store/postgres/database.ts'

const ready = Buffer.from('Z\0\0\0\x05I')

function fatalMessage(): Buffer {
  const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'
  const length = Buffer.alloc(4)
  length.writeInt32BE(4 + fields.length)
  return Buffer.concat([Buffer.from('E'), length, Buffer.from(fields)])
}

/** Gives the address of the same database through a proxy that ends the first connection when it becomes ready. */
async function openEndingProxy(t: TestContext, url: string): Promise<string> {
  const target = new URL(url)
  const { port, hostname } = target
  const sockets = new Set<Socket>()
  let isFirst = true
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname)
    for (const socket of [client, server]) {
      sockets.add(socket.on('error', () => undefined))
    }
    client.pipe(server)
    server.on('data', (bytes: Buffer) => {
      if (isFirst && bytes.subarray(-ready.length).equals(ready)) {
        isFirst = false
        client.end(Buffer.concat([bytes, fatalMessage()]))
      } else client.write(bytes)
    })
    server.on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  target.port = String((proxy.address() as { port: number }).port)
  return target.href
}

test('a connection that the server ends as it becomes ready costs one statement, not the process', async (t) => {
  const url = await openEndingProxy(t, await createDatabase(await sharedPostgres()))
  const database = new Database(url, {}, 1)
  t.after(() => database.close())
  await assert.rejects(database.query('SELECT 1 AS one'), StorageUnavailable)
  assert.deepEqual(await database.query('SELECT 1 AS one'), [{ one: 1 }])
})
