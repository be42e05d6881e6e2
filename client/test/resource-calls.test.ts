// Put, get, list and delete of resources, as they are sent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Jobcast, type ResourceName, resources } from '@jobcast/client'

type Sent = { method: string; path: string; headers: Headers }

/** `answers`: the statuses, one after the other. */
function openClient(...answers: number[]) {
  const sent: Sent[] = []
  const fetch = async (url: string | URL | Request, { method = '', headers }: RequestInit = {}) => {
    sent.push({ method, path: new URL(String(url)).pathname, headers: new Headers(headers) })
    return new Response('{"items":[],"nextCursor":null}', { status: answers.shift() ?? 200 })
  }
  const jobcast = new Jobcast({ url: 'http://127.0.0.1:9', fetch: fetch as typeof globalThis.fetch })
  return { jobcast, sent }
}

test('every resource has the four calls, under its name in paths', async () => {
  for (const name of Object.keys(resources) as ResourceName[]) {
    const { jobcast, sent } = openClient(201)
    const calls = jobcast[name]
    const put: (name: string, content: never) => Promise<{ created: boolean }> = calls.put
    assert.equal((await put('a/b', {} as never)).created, true)
    await calls.get('a/b')
    await calls.list().page()
    await calls.delete('a/b')
    assert.deepEqual(
      sent.map(({ method, path }) => `${method} ${path}`),
      [
        `PUT /job/api/${name}/a%2Fb`,
        `GET /job/api/${name}/a%2Fb`,
        `GET /job/api/${name}`,
        `DELETE /job/api/${name}/a%2Fb`,
      ],
    )
  }
})

test('ifNew and ifVersion are sent as conditions', async () => {
  const { jobcast, sent } = openClient()
  await jobcast.groups.put('kiosks', { where: 'all' }, { ifNew: true })
  await jobcast.jobs.put('restart', {}, { ifVersion: 3 })
  await jobcast.jobs.delete('restart', { ifVersion: 3 })
  await jobcast.devices.put('kiosk-1')
  const conditions = sent.map(({ headers }) => [headers.get('if-match'), headers.get('if-none-match')])
  assert.deepEqual(conditions, [
    [null, '*'],
    ['"3"', null],
    ['"3"', null],
    [null, null],
  ])
})

test('a put is repeated after 503, unless a generated secret would be lost', async () => {
  const url = 'https://hook.invalid/'
  const { jobcast, sent } = openClient(503, 201)
  assert.equal((await jobcast.webhooks.put('tell', { url, secret: 'whsec_x' })).created, true)
  assert.equal(sent.length, 2)
  const other = openClient(502, 201)
  await assert.rejects(other.jobcast.webhooks.put('tell', { url }))
  assert.equal(other.sent.length, 1)
})
