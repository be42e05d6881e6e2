import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventData, eventMap, eventTypes, nounOf } from '@jobcast/contract'
import type { StoredEvent } from '../../../src/domain/event/event.ts'
import { breakLinks } from '../../../src/domain/webhook/break-links.ts'
import { describeEvent, linkTo } from '../../../src/domain/webhook/describe-event.ts'
import type { RunFacts } from '../../../src/domain/webhook/read-run-facts.ts'

const facts: RunFacts = {
  ...{ total: 1000, version: 3, waves: 4, isByFailures: true, failures: 6, allFailed: true },
  reasons: [{ reason: 'disk full', count: 5 }],
}
const run = { runId: 12, jobName: 'fw', total: 1000, retryOf: null }
const event = (type: StoredEvent['type'], data: object) => ({ eventId: 1, type, at: 0, data }) as StoredEvent

test('a rollout that a rule stopped says in which wave, how many devices failed, and why', () => {
  const data = { ...run, wave: 2, released: 110, because: 'rule 1 of wave 2', principal: 'service' }
  const paused = event('run.paused', data)
  assert.equal(
    describeEvent(paused, facts),
    'Rollout of fw version 3 paused in wave 2 of 4: 6 of 110 devices failed (disk full: 5).',
  )
  assert.equal(
    describeEvent(paused, { ...facts, allFailed: false, reasons: [] }),
    'Rollout of fw version 3 paused in wave 2 of 4: 6 of 110 devices did not succeed.',
  )
  const byHand = event('run.paused', { ...data, because: 'it was paused manually' })
  const expected = 'Rollout of fw version 3 paused in wave 2 of 4: it was paused manually.'
  assert.equal(describeEvent(byHand, { ...facts, isByFailures: false }), expected)
  // The run may be purged by then.
  assert.equal(describeEvent(paused), 'Rollout of fw paused in wave 2: rule 1 of wave 2.')
})

test('every type of event is one sentence on one line, cut to 500 characters', () => {
  for (const type of eventTypes) {
    const noun = nounOf(type)
    const { id } = eventMap[noun]
    const long = `a\nb\u2028c${'x'.repeat(1000)}`
    const data = { jobName: long, deviceId: long, execState: 'FAILED', statusDetails: { reason: long } }
    const text = describeEvent(event(type, { ...run, ...data, reason: long, ...(id && { [id]: long }) }))
    assert.match(text, /^[^\p{Cc}\u2028]{1,500}$/u, type)
    assert.ok(!text.includes('undefined'), text)
    assert.ok(eventData[noun])
  }
})

test('links lead to the page of the subject, if the service knows its address', () => {
  const base = 'https://jobcast.example.com'
  assert.equal(linkTo(event('run.paused', run), base), `${base}/runs/12`)
  assert.equal(linkTo(event('device.online', { deviceId: 'a/b' }), base), `${base}/devices/a%2Fb`)
  assert.equal(linkTo(event('fleet.frozen', {}), base), `${base}/`)
  assert.equal(linkTo(event('run.paused', run), undefined), undefined)
})

test('a run that continues says how many have failed so far; numbers agree with their nouns', () => {
  const execution = { ...run, jobExecutionId: 5, deviceId: 'd', execState: 'FAILED', statusDetails: {} }
  const failed = event('execution.failed', execution)
  const expected = 'fw version 3 is running: so far 6 of 1000 devices failed (disk full: 5).'
  assert.equal(describeEvent(failed, facts), expected)
  assert.equal(linkTo(failed, 'https://a.example', facts), 'https://a.example/runs/12')
  assert.equal(describeEvent(failed), 'fw on d: failed.')
  const one = { ...run, total: 1, counts: { SUCCEEDED: 0, FAILED: 1 } }
  assert.equal(
    describeEvent(event('run.finished', one), { ...facts, reasons: [] }),
    'fw version 3 finished: 0 of 1 device succeeded, 1 failed.',
  )
})

test('what a device wrote is broken up where a chat would make a link of it, and is otherwise unchanged', () => {
  const quoted = (reason: string) =>
    describeEvent(event('run.paused', run), { ...facts, reasons: [{ reason, count: 1 }] }, breakLinks)
      .split(' (')[1]
      ?.replace(/: 1\)\.$/, '')
  for (const [reason, expected] of [
    ['see https://evil.example/a?b', 'see https[:]//evil[.]example/a?b'],
    ['HTTP://evil.example', 'HTTP[:]//evil[.]example'],
    ['www.evil.example', 'www[.]evil[.]example'],
    ['evil.io/x', 'evil[.]io/x'],
    ['ev\u3002com', 'ev[.]com'],
    ['mailto:a@evil.example', 'mailto[:]a@evil[.]example'],
    ['disk full: 5 of 2.4.1 at 10:30', 'disk full: 5 of 2.4.1 at 10:30'],
    ['stopped. Then restarted...', 'stopped. Then restarted...'],
  ] as const)
    assert.equal(quoted(reason), expected)
})
