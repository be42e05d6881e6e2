// Generated bodies of hawkBit devices: none of them causes an internal error.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newDdiDevice } from '@jobcast/testkit/call-ddi'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { randomInputs } from '@jobcast/testkit/test-seed'
import fc from 'fast-check'

const api = await openSharedServer({ ddiPollSeconds: 300 })
await api.call('PUT', '/job/api/files/app/1', { rawBody: 'x', headers: { 'content-type': 'text/plain' } })
await api.call('PUT', '/job/api/jobs/update', { body: { document: { files: ['app'] } } })
const device = await newDdiDevice(api, 'fuzzed')
let id = 0
const launch = async () => {
  id = (await api.trigger('update', ['fuzzed'])).json[0].jobExecutionId
}
await launch()

const word = fc.constantFrom(
  'closed',
  'proceeding',
  'rejected',
  'canceled',
  'download',
  'success',
  'none',
  'merge',
)
const any = fc.oneof(fc.jsonValue({ maxDepth: 2 }), word, fc.string({ unit: 'binary' }))
const status = fc.record(
  {
    execution: fc.oneof(word, any),
    result: fc.oneof(fc.record({ finished: fc.oneof(word, any), progress: any }, { requiredKeys: [] }), any),
    details: fc.oneof(fc.array(any, { maxLength: 4 }), any),
    code: any,
  },
  { requiredKeys: [] },
)
const data = fc.oneof(fc.dictionary(fc.string({ unit: 'binary' }), any, { maxKeys: 5 }), any)
const fields = fc.record(
  { id: any, time: any, status: fc.oneof(status, any), mode: fc.oneof(word, any), data },
  {
    requiredKeys: [],
  },
)
const body = fc.oneof(
  { weight: 6, arbitrary: fields.map((value) => JSON.stringify(value)) },
  fc.json(),
  fc.string({ unit: 'binary' }),
)
const paths = [
  ['PUT', () => '/configData'],
  ['POST', () => `/deploymentBase/${id}/feedback`],
  ['POST', () => `/cancelAction/${id}/feedback`],
] as const

test('no body is answered with 500, and none is taken that is no feedback', async () => {
  const seen = new Set<number>()
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), body, async ([method, path], sent) => {
      const reply = await device.call(method, path(), sent)
      seen.add(reply.status)
      assert.ok([200, 400, 404, 410].includes(reply.status), `${reply.status} ${reply.text}`)
      if (reply.status === 410) await launch()
    }),
    randomInputs({ test: 150, chaos: 5000 }),
  )
  assert.ok(seen.has(200) && seen.has(400), `only ${[...seen]}`)
})
