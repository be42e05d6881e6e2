// What is revoked ends: waits, streams and followed output of a key or a session, also while nothing happens.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { within } from '@jobcast/testkit/within'
import { errorText } from './assert-reply.ts'

const api = await openSharedServer()
await api.putJobAndDevices('restart', ['d1'])
const [{ jobExecutionId, runId }] = await (async () => {
  const [{ jobExecutionId }] = (await api.trigger('restart', ['d1'])).json
  return [(await api.call('GET', `/job/api/executions/${jobExecutionId}`)).json]
})()

/** The promise is 5 s; this is one that also a busy machine keeps. */
const boundMs = 30_000

const held: [string, string][] = [
  ['a wait for an execution', `/job/api/executions/${jobExecutionId}?wait=60`],
  ['a wait for a run', `/job/api/runs/${runId}?wait=60`],
  ['followed output', `/job/api/executions/${jobExecutionId}/output?follow=true`],
  ['the stream of events', '/job/api/events'],
]

type Credential = { headers: Record<string, string>; revoke: () => Promise<unknown>; code: 'J-802' | 'J-808' }

async function newKey(): Promise<Credential> {
  const { apiKey, keyId } = await api.newKey(['READ'])
  const revoke = () => api.call('DELETE', `/job/api/keys/${keyId}`)
  return { headers: { 'x-api-key': apiKey }, revoke, code: 'J-802' }
}

async function newSession(): Promise<Credential> {
  const origin = { origin: api.http }
  const signedIn = await fetch(`${api.http}/job/api/session`, {
    method: 'POST',
    headers: { ...origin, 'content-type': 'application/json' },
    body: JSON.stringify({ apiKey: api.adminKey }),
  })
  const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? []
  const headers = { ...origin, cookie }
  const revoke = () => fetch(`${api.http}/job/api/session`, { method: 'DELETE', headers })
  return { headers: { cookie }, revoke, code: 'J-808' }
}

for (const [what, path] of held) {
  for (const [whose, open] of [
    ['a revoked key', newKey],
    ['a session that was signed out', newSession],
  ] as const) {
    test(`${what} of ${whose} ends`, async () => {
      const { headers, revoke, code } = await open()
      const answered = fetch(api.http + path, { headers }).then(async (response) => ({
        status: response.status,
        text: await response.text().catch(() => 'cut'),
      }))
      await revoke()
      const { status, text } = await within(boundMs, `${what} goes on`, answered)
      if (path.includes('wait')) assert.deepEqual([status, text], [403, errorText(code)])
      // Whatever was sent before stays sent; a stream ends in its middle, or was not begun.
      else assert.ok(status === 200 || text === errorText(code), text)
    })
  }
}
