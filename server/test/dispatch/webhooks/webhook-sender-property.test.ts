// With any behavior of the receiver and the owner, and with crashes, every event is accepted in the end, those of a device in order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomInputs } from '@jobcast/testkit/test-seed'
import * as fc from 'fast-check'
import type { Answer } from '../../../src/dispatch/webhooks/event-poster.ts'
import { by } from '../../store/store-under-test.ts'
import {
  accepts,
  assertAllAccepted,
  assertInOrder,
  isGone,
  refuses,
  SenderUnderTest,
} from './sender-under-test.ts'

const minute = 60_000

type Step = (s: SenderUnderTest, count: (events: number) => void) => Promise<void>

const device = fc.constantFrom('a', 'b', 'c')
const step: fc.Arbitrary<[string, Step]> = fc.oneof(
  { weight: 4, arbitrary: fc.array(device, { minLength: 1, maxLength: 12 }).map(changeStep) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 20 * minute }).map(waitStep) },
  { weight: 3, arbitrary: fc.constant(answerStep('accept all', accepts)) },
  { weight: 1, arbitrary: fc.constant(answerStep('refuse all', refuses)) },
  { weight: 1, arbitrary: fc.constant(answerStep('be gone', isGone)) },
  { weight: 2, arbitrary: device.map(refuseStep) },
  { weight: 2, arbitrary: fc.constant<[string, Step]>(['kill in an answer', killInAnswer]) },
  { weight: 1, arbitrary: fc.constant<[string, Step]>(['kill', (s) => s.killAndStart()]) },
  { weight: 1, arbitrary: fc.constant<[string, Step]>(['pause', pause]) },
  { weight: 2, arbitrary: fc.constant<[string, Step]>(['resume', resume]) },
)

function changeStep(devices: string[]): [string, Step] {
  return [
    `change ${devices}`,
    async (s, count) => {
      await s.change(...devices)
      count(devices.length)
    },
  ]
}

function waitStep(ms: number): [string, Step] {
  return [`wait ${ms} ms`, (s) => s.time.forward(ms)]
}

function answerStep(title: string, answer: Answer): [string, Step] {
  return [
    title,
    async (s) => {
      s.answer = () => answer
    },
  ]
}

function refuseStep(deviceId: string): [string, Step] {
  return [
    `refuse ${deviceId}`,
    async (s) => {
      s.answer = (request) => (request.deviceId === deviceId ? refuses : accepts)
    },
  ]
}

/** It is killed with an answer in progress, so that what was accepted is not written down. */
async function killInAnswer(s: SenderUnderTest): Promise<void> {
  const { answer } = s
  s.answer = (request) => {
    s.kill()
    return answer(request)
  }
  await s.time.forward(1000)
  s.answer = answer
  await s.killAndStart()
}

async function pause(s: SenderUnderTest): Promise<void> {
  await s.store.pauseWebhook({ ...by, ...(await s.webhook()), at: s.time.now() })
  await s.changed()
}

async function resume(s: SenderUnderTest): Promise<void> {
  await s.store.resumeWebhook({ ...by, ...(await s.webhook()), at: s.time.now() })
  await s.changed()
}

test('in the end every event was accepted, and those of one device in order', async (t) => {
  const steps = fc.array(step, { minLength: 5, maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const s = await SenderUnderTest.open(t)
      let events = 0
      for (const [, take] of given) {
        await take(s, (count) => {
          events += count
        })
      }
      s.answer = () => accepts
      await resume(s)
      await s.time.forward(10 * minute)
      assertAllAccepted(s.requests, events)
      assertInOrder(s.requests)
      const { cursor, failingSince } = await s.webhook()
      assert.deepEqual([cursor, failingSince], [events, null])
      await s.sender.stop()
    }),
    { ...randomInputs({ test: 5, chaos: 60 }), endOnFailure: true },
  )
})
