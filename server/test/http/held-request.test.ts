// Waits, streams and followed output end when their key or session is revoked, also while nothing happens.

import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { buildClock, openSharedServer } from '@jobcast/testkit/shared-server'
import { within } from '@jobcast/testkit/within'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IdentifyDeps } from '../../src/http/access/authenticate.ts'
import { holdRequest } from '../../src/http/connections/held-request.ts'
import { errorText } from './assert-reply.ts'

const clock = buildClock()
const api = await openSharedServer({ now: clock.now })
const hour = 60 * 60_000
await api.putJobAndDevices('restart', ['d1'])
const [{ jobExecutionId, runId }] = await (async () => {
  const [{ jobExecutionId }] = (await api.trigger('restart', ['d1'])).json
  return [(await api.call('GET', `/job/api/executions/${jobExecutionId}`)).json]
})()

/** The guarantee is 5 s; this bound also holds on a busy machine. */
const boundMs = 30_000

const held: [string, string][] = [
  ['a wait for an execution', `/job/api/executions/${jobExecutionId}?wait=60`],
  ['a wait for a run', `/job/api/runs/${runId}?wait=60`],
  ['followed output', `/job/api/executions/${jobExecutionId}/output?follow=true`],
  ['the stream of events', '/job/api/events'],
]

type Credential = {
  headers: Record<string, string>
  revoke: () => Promise<unknown>
  code: 'J-802' | 'J-803' | 'J-808'
}

async function newKey(): Promise<Credential> {
  const { apiKey, keyId } = await api.newKey(['READ'])
  const revoke = () => api.call('DELETE', `/job/api/keys/${keyId}`)
  return { headers: { 'x-api-key': apiKey }, revoke, code: 'J-802' }
}

async function newSession(apiKey = api.adminKey): Promise<Credential> {
  const origin = { origin: api.http }
  const signedIn = await fetch(`${api.http}/job/api/session`, {
    method: 'POST',
    headers: { ...origin, 'content-type': 'application/json' },
    body: JSON.stringify({ apiKey }),
  })
  const [cookie = ''] = signedIn.headers.get('set-cookie')?.split(';') ?? []
  const headers = { ...origin, cookie }
  const revoke = () => fetch(`${api.http}/job/api/session`, { method: 'DELETE', headers })
  return { headers: { cookie }, revoke, code: 'J-808' }
}

/** The session is one of the admin key, so it is its own time that runs out. */
async function expiringSession(): Promise<Credential> {
  return { ...(await newSession()), revoke: async () => clock.forward(12 * hour) }
}

/** Long before a session that is not used ends. */
const keyMs = hour / 2

async function expiringKey(): Promise<Credential> {
  const { apiKey } = await api.newKey(['READ'], { expiresAt: new Date(clock.now() + keyMs).toISOString() })
  return { headers: { 'x-api-key': apiKey }, revoke: async () => clock.forward(keyMs), code: 'J-803' }
}

async function idleSession(): Promise<Credential> {
  return { ...(await newSession()), revoke: async () => clock.forward(hour) }
}

async function sessionOfExpiringKey(): Promise<Credential> {
  const { headers, revoke, code } = await expiringKey()
  const session = await newSession(headers['x-api-key'])
  return { ...session, revoke, code }
}

for (const [whose, open] of [
  ['a revoked key', newKey],
  ['a session that was signed out', newSession],
  ['a key that expires', expiringKey],
  ['a session that expires', expiringSession],
  ['a session that is not used', idleSession],
  ['a session whose key expires', sessionOfExpiringKey],
] as const) {
  test(`the waits, streams and followed output of ${whose} end`, async () => {
    const { headers, revoke, code } = await open()
    const ended: string[] = []
    const answers: Promise<{ what: string; path: string; status: number; text: string }>[] = []
    for (const [what, path] of held) {
      const opened = fetch(api.http + path, { headers })
      // A stream has begun once its head is there; a wait has no head before its end.
      if (!path.includes('wait')) await opened
      const read = async () => {
        const response = await opened
        const text = await response.text().catch(() => 'cut')
        ended.push(what)
        return { what, path, status: response.status, text }
      }
      answers.push(read())
    }
    // The requests after the waits are answered, so those have arrived, and are held.
    assert.equal((await fetch(`${api.http}/job/api/jobs`, { headers })).status, 200)
    assert.deepEqual(ended, [])
    await revoke()
    const goesOn = () => `all but ${ended.join(', ')} continue`
    for (const { what, path, status, text } of await within(boundMs, goesOn, Promise.all(answers))) {
      if (path.includes('wait')) assert.deepEqual([status, text], [403, errorText(code)], what)
      // Whatever was sent before stays sent; a stream ends in its middle.
      else assert.equal(status, 200, `${what}: ${text}`)
    }
  })
}

test('a request whose client has already disconnected does not wait', async () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  response.destroy()
  const [request, reply] = [{}, { raw: response }] as unknown as [FastifyRequest, FastifyReply]
  // Nobody is asked for the caller's rights: there is no caller.
  const { callerGone } = holdRequest({} as IdentifyDeps, request, reply)
  assert.ok(callerGone.aborted)
})
