// Events over broken connections: no gaps and no duplicates.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJobcastError, type JobcastEvent } from '@jobcast/client'
import { openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { clientOf, openClient } from './support/open-client.ts'

/** Up to the device of this name. */
async function eventsUpTo(events: AsyncIterable<JobcastEvent>, deviceId: string): Promise<JobcastEvent[]> {
  const all: JobcastEvent[] = []
  for await (const event of events) {
    all.push(event)
    if ('deviceId' in event.data && event.data.deviceId === deviceId) break
  }
  return all
}

test('every event arrives once and in order, wherever the connection is cut', async (t) => {
  const { server, jobcast } = await openClient(t)
  const proxy = await openCuttingProxy(t, server.http)
  const cuts = Array.from({ length: 25 }, (_, index) => 290 + ((index * 137) % 701))
  proxy.cutNext(...cuts)
  let reconnects = 0
  const opened = Promise.withResolvers<void>()
  const cutOff = clientOf(server, { url: proxy.url }).events({
    types: ['device.created'],
    onOpen: () => opened.resolve(),
    onReconnect: () => reconnects++,
  })
  const received = eventsUpTo(cutOff, 'last')
  await opened.promise
  for (let index = 0; index < 40; index++) await jobcast.devices.put(`d${index}`)
  await jobcast.devices.put('last')
  const all = await received
  assert.deepEqual(all, await eventsUpTo(jobcast.events({ after: 0, types: ['device.created'] }), 'last'))
  assert.equal(all.length, 41)
  assert.ok(reconnects > 5, `${reconnects} reconnects`)
})

test('a position without data is resumed from: events during a disconnect are not missed', async (t) => {
  const { server, jobcast } = await openClient(t)
  await jobcast.devices.put('before')
  const controller = new AbortController()
  const opened = Promise.withResolvers<void>()
  const missed: JobcastEvent[] = []
  // The line lets the first position through and breaks; the device is made before the next connection.
  let cutsLeft = 1
  const cutting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (cutsLeft-- <= 0) return response
    const inner = response.body?.getReader()
    return new Response(
      new ReadableStream({
        async pull(out) {
          const text = new TextDecoder().decode((await inner?.read())?.value)
          out.enqueue(new TextEncoder().encode(text))
          if (!text.includes('id: ')) return
          await opened.promise
          await inner?.cancel()
          await jobcast.devices.put('meanwhile')
          out.error(new TypeError('cut'))
        },
      }),
      { headers: response.headers },
    )
  }
  const events = clientOf(server, { fetch: cutting }).events({
    types: ['device.created'],
    signal: controller.signal,
    onOpen: () => opened.resolve(),
  })
  for await (const event of events) {
    missed.push(event)
    controller.abort()
  }
  assert.deepEqual(
    missed.map(({ data }) => 'deviceId' in data && data.deviceId),
    ['meanwhile'],
  )
})

test('filters are passed on, and `after` continues another stream', async (t) => {
  const { jobcast } = await openClient(t)
  for (const name of ['a', 'b', 'c']) await jobcast.devices.put(name)
  const [first] = await eventsUpTo(jobcast.events({ after: 0 }), 'a')
  const rest = await eventsUpTo(
    jobcast.events({ after: first?.eventId, types: ['device.created', 'run.*'], deviceId: 'c' }),
    'c',
  )
  assert.equal(rest.length, 1)
})

test('the signal ends the stream without an error, and so does a return while nothing happens', async (t) => {
  const { jobcast } = await openClient(t)
  const controller = new AbortController()
  for await (const _ of jobcast.events({ signal: controller.signal, onOpen: () => controller.abort() })) {
    assert.fail('nothing has happened')
  }
  const opened = Promise.withResolvers<void>()
  const iterator = jobcast.events({ onOpen: () => opened.resolve() })[Symbol.asyncIterator]()
  const next = iterator.next()
  await opened.promise
  await iterator.return?.()
  assert.equal((await next).done, true)
})

test('errors that a retry cannot fix end it: J-804, J-306, and a revoked key', async (t) => {
  const { server, jobcast } = await openClient(t)
  const { apiKey } = await jobcast.keys.create({ keyName: 'none', scopes: ['TRIGGER'] })
  const first = async (events: AsyncIterable<JobcastEvent>) => {
    for await (const event of events) return event
    return undefined
  }
  await assert.rejects(first(clientOf(server, { apiKey }).events()), (error) =>
    isJobcastError(error, 'J-804'),
  )
  await assert.rejects(first(jobcast.events({ after: 10 ** 9 })), (error) => isJobcastError(error, 'J-306'))
  const reader = await jobcast.keys.create({ keyName: 'reader', scopes: ['READ'] })
  const onOpen = () => void jobcast.keys.revoke(reader.keyId).then(() => jobcast.devices.put('news'))
  const events = clientOf(server, { apiKey: reader.apiKey }).events({ onOpen, types: ['run.*'] })
  await assert.rejects(first(events), (error) => isJobcastError(error, 'J-802'))
})
