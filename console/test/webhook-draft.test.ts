import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventMap, eventPatterns } from '@jobcast/contract'
import { contentOf, draftOf, isValid, unknownTypes } from '../src/screens/webhooks/webhook-draft.ts'

test('a webhook can be saved with each type of event and each noun that the service has', () => {
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
