// Downloads that are read too slowly lose their slot.

import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cutSlowDownload } from '../../src/http/connections/slow-transfers.ts'

const intervalMs = 120_000

function startDownload(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const socket = new Socket()
  t.after(() => socket.destroy())
  const counts = { written: 0, waiting: 0 }
  Object.defineProperties(socket, {
    bytesWritten: { get: () => counts.written },
    writableLength: { get: () => counts.waiting },
  })
  const raw = new IncomingMessage(socket)
  const response = new ServerResponse(raw)
  cutSlowDownload({ raw } as FastifyRequest, { raw: response } as FastifyReply)
  /** Some of them may still wait in this process. */
  const send = (bytes: number, waiting = 0) => {
    counts.written += bytes
    counts.waiting = waiting
  }
  return { socket, response, send }
}

test('a download is cut in the first interval in which too little of it is taken', (t) => {
  const { socket, send } = startDownload(t)
  const waiting = 64 * 1024
  send(waiting, waiting)
  for (let intervals = 0; intervals < 3; intervals++) {
    send(120 * 1024, waiting)
    t.mock.timers.tick(intervalMs)
  }
  assert.equal(socket.destroyed, false)
  send(120 * 1024 - 1, waiting)
  t.mock.timers.tick(intervalMs)
  assert.equal(socket.destroyed, true)
})

test('a download with nothing to send is not cut, because the bucket is slow then', (t) => {
  const { socket, send } = startDownload(t)
  for (let intervals = 0; intervals < 3; intervals++) {
    send(1)
    t.mock.timers.tick(intervalMs)
  }
  assert.equal(socket.destroyed, false)
  send(64 * 1024, 64 * 1024)
  t.mock.timers.tick(intervalMs)
  assert.equal(socket.destroyed, true)
})

test('what waits in the service does not count as taken', (t) => {
  const { socket, send } = startDownload(t)
  send(500_000, 450_000)
  t.mock.timers.tick(intervalMs)
  assert.equal(socket.destroyed, true)
})

test('the connection of a download that has ended may be idle', (t) => {
  const { socket, response } = startDownload(t)
  response.emit('close')
  t.mock.timers.tick(2 * intervalMs)
  assert.equal(socket.destroyed, false)
})
