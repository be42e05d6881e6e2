import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Webhook } from '@jobcast/client'
import { eventMap, eventPatterns } from '@jobcast/contract'
import {
  contentOf,
  draftOf,
  eventsInWords,
  isValid,
  unknownTypes,
} from '../src/screens/webhooks/webhook-draft.ts'

test('a webhook can be saved with each type and noun of events', () => {
  const draft = { ...draftOf(), url: 'https://example.com/jobcast' }
  for (const pattern of ['run.paused', ...eventPatterns]) {
    const eventTypes = [pattern]
    assert.ok(isValid({ ...draft, eventTypes }), pattern)
    assert.deepEqual(contentOf({ ...draft, eventTypes }).eventTypes, eventTypes)
  }
  assert.ok(Object.keys(eventMap).every((noun) => eventPatterns.includes(`${noun}.*`)))
  assert.deepEqual(unknownTypes(['run.stopped', 'device.maybe', 'run.aborted']), [
    'run.stopped',
    'device.maybe',
  ])
})

test('a chat without types gets few of them, and the text says so', () => {
  const webhook = { eventTypes: [] as string[], jobName: 'fw', deviceId: null } as unknown as Webhook
  assert.equal(eventsInWords({ ...webhook, format: 'jobcast' }), 'all events for fw')
  assert.equal(eventsInWords({ ...webhook, format: 'cloudevents' }), 'all events for fw')
  for (const format of ['slack', 'teams'] as const)
    assert.match(eventsInWords({ ...webhook, format }), /^what people wait for/)
  assert.equal(
    eventsInWords({ ...webhook, format: 'slack', eventTypes: ['run.paused'] }),
    'run.paused for fw',
  )
})

test('the format is saved, and read again for a change', () => {
  const draft = { ...draftOf(), url: 'https://example.com/jobcast', format: 'teams' as const }
  assert.equal(contentOf(draft).format, 'teams')
  assert.equal(draftOf({ ...contentOf(draft), jobName: null, deviceId: null } as Webhook).format, 'teams')
})
