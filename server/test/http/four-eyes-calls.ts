// The calls that could let a run pass an approval, for the tests of four eyes.

import assert from 'node:assert/strict'
import type { Reply } from '@jobcast/testkit/call-api'

export type Send = (method: string, path: string, body?: object) => Promise<Reply>

export type Refused = [call: string, send: (who: Send, runId: number) => Promise<Reply>, code: string]
export const post =
  (verb: string, body: object = {}) =>
  (who: Send, runId: number) =>
    who('POST', `runs/${runId}/${verb}`, body)
export const patch = (rollout: object) => (who: Send, runId: number) =>
  who('PATCH', `runs/${runId}`, { rollout })

export const decisions: Refused[] = [
  ['approve', post('approve'), 'J-810'],
  ['deny', post('deny'), 'J-810'],
]
export const whileWaiting: Refused[] = [
  ...decisions,
  ['advance', post('advance'), 'J-303'],
  ['resume', post('resume'), 'J-303'],
  ['pause', post('pause'), 'J-303'],
]
export const weakened: Refused[] = [
  ['PATCH the gate away', patch({ next: null }), 'J-810'],
  ['PATCH its action away', patch({ next: { action: null } }), 'J-810'],
  ['PATCH its action', patch({ next: { action: 'CONTINUE' } }), 'J-810'],
  ['PATCH the waves into one', patch({ waves: [{ size: 1 }, { size: '100%' }] }), 'J-810'],
  ['PATCH the share', patch({ next: { succeededPercent: 1 } }), 'J-810'],
  ['PATCH the soak time', patch({ next: { soakSeconds: null } }), 'J-810'],
  ['PATCH what it waits for', patch({ next: { where: null } }), 'J-810'],
]

/** Each of them with each of the calls: all are refused. */
export async function tryAllBy(hands: Record<string, Send>, calls: Refused[], runId: number): Promise<void> {
  for (const [who, send] of Object.entries(hands)) {
    for (const [what, call, code] of calls) {
      const reply = await call(send, runId)
      assert.equal(reply.json?.code, code, `${what} by ${who}: ${reply.text}`)
    }
  }
}

export const gate = {
  order: 'GIVEN',
  waves: [{ size: 1 }, { size: 1 }, { size: '100%' }],
  next: { action: 'APPROVAL', succeededPercent: 90, soakSeconds: 1, where: 'fw=2', onMissing: 'WAIT' },
}
