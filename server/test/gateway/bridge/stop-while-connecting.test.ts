// A bridge that stops while it connects, as it does when another node has taken over, never connects again: the broker would
// end the connection of the other node, which has the same client id.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bridgeTo } from './bridge-under-test.ts'
import { openLink } from './open-link.ts'

test('a link that is stopped while it connects does not connect again', async (t) => {
  const sockets: Socket[] = []
  // Never answers.
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { link } = openLink(t, bridgeTo(`mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`))
  await once(server, 'connection')
  await link.stop()
  const [first] = sockets
  if (first && !first.closed) await once(first, 'close')
  // Twice the time after which it would connect again: there is no event to wait for.
  await sleep(1200)
  assert.equal(sockets.length, 1)
})
