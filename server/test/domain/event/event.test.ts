import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EventNoun, eventMap, eventNouns, eventTypes, nounOf } from '@jobcast/contract'
import { passes, type StoredEvent, subjectOf } from '../../../src/domain/event/event.ts'
import { hiddenNounsOf } from '../../../src/domain/event/visible-events.ts'

const event = (type: StoredEvent['type'], data: object) => ({ type, data: data as StoredEvent['data'] })

test('types are spelled in one way', () => {
  for (const type of eventTypes) assert.match(type, /^[a-z]+\.[a-z]+(?:_[a-z]+)*$/)
  assert.equal(new Set(eventTypes).size, eventTypes.length)
})

test('the type says what an event is about, whatever else its data names', () => {
  // All fields that any event has.
  const data = Object.fromEntries(
    eventNouns.flatMap((noun) => eventMap[noun].id ?? []).map((id) => [id, `<${id}>`]),
  )
  for (const type of eventTypes) {
    const noun = nounOf(type)
    const { id } = eventMap[noun]
    assert.equal(subjectOf(event(type, data)), id === null ? noun : `${noun} <${id}>`)
  }
})

test('a filter matches only events of the nouns that have it', () => {
  const data = { runId: 1, jobName: 'restart', deviceId: 'd1' }
  const matching = (filter: Parameters<typeof passes>[1]) => [
    ...new Set(eventTypes.filter((type) => passes(event(type, data), filter)).map(nounOf)),
  ]
  assert.deepEqual(matching({}), eventNouns)
  assert.deepEqual(matching({ runId: 1 }), ['run', 'execution', 'schedule'])
  assert.deepEqual(matching({ jobName: 'restart' }), ['run', 'execution', 'job', 'schedule'])
  assert.deepEqual(matching({ deviceId: 'd1' }), ['run', 'execution', 'device'])
  assert.deepEqual(matching({ deviceId: 'd1', jobName: 'update' }), [])
  // Which devices a run has, its event does not say: the store decides.
  assert.deepEqual(matching({ deviceId: 'd2' }), ['run'])
  assert.deepEqual(matching({ hiddenNouns: ['run'], types: ['run.*', 'fleet.frozen'] }), ['fleet'])
})

test('events about access need MANAGE, those about owners ADMIN', () => {
  const access: EventNoun[] = ['key', 'enrollment', 'webhook', 'session', 'audit', 'owner']
  assert.deepEqual(hiddenNounsOf({ scopes: ['READ', 'TRIGGER', 'APPROVE'] }), access)
  assert.deepEqual(hiddenNounsOf({ scopes: ['READ', 'MANAGE'] }), ['owner'])
  assert.deepEqual(hiddenNounsOf({ scopes: ['ADMIN'] }), [])
})
