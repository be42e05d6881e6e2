// Which of two reports about a device is later.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steadyInstant } from '../../../src/domain/common/instants.ts'
import { isNewerSession, judgePresence, replaceChange } from '../../../src/domain/device/judge-presence.ts'
import type { PresenceChange } from '../../../src/domain/device/ports/presence.ts'

const since = (ms: number) => steadyInstant(ms)
type Known = Parameters<typeof judgePresence>[0]

const known = (more: Partial<Known> = {}): Known => ({
  ...{ online: true, since: 10, lastSeenAt: 10, transport: 'mqtt', session: since(100), nodeNo: 1 },
  ...more,
})
const change = (more: Partial<PresenceChange> = {}): PresenceChange => ({
  ...{ ownerNo: 1, deviceId: 'd1', online: true, at: 20, transport: 'mqtt', session: since(100) },
  ...more,
})
const polls: Partial<PresenceChange> = { transport: 'http', session: null }
const offline: Partial<Known> = { online: false }

const cases: [string, Known, PresenceChange, ReturnType<typeof judgePresence>][] = [
  ['a newer session', known(), change({ session: since(101) }), 'holds'],
  ['an older session that begins', known(), change({ session: since(99) }), 'ignored'],
  ['the end of an older session', known(), change({ session: since(99), online: false }), 'ignored'],
  ['the end of the known session', known(), change({ online: false }), 'holds'],
  ['the end of a session that has ended', known(offline), change({ online: false }), 'ignored'],
  ['the first session ever', known({ ...offline, session: null }), change(), 'holds'],
  ['a poll of a connected device', known(), change(polls), 'seen'],
  ['the end of polling of a connected device', known(), change({ ...polls, online: false }), 'ignored'],
  ['a poll of a device that is offline', known(offline), change(polls), 'holds'],
  ['a further poll', known({ transport: 'http' }), change(polls), 'seen'],
  ['the end of polling', known({ transport: 'http' }), change({ ...polls, online: false }), 'holds'],
  [
    'the end of polling here of a device that another node has seen since',
    known({ transport: 'http', lastSeenAt: 21 }),
    change({ ...polls, online: false }),
    'ignored',
  ],
  [
    'a poll after the known session ended, which was not recorded',
    known(),
    change({ ...polls, endedSession: since(100) }),
    'holds',
  ],
  ['a poll after an older session ended', known(), change({ ...polls, endedSession: since(99) }), 'seen'],
]
for (const [title, before, after, verdict] of cases) {
  test(`${title} ${verdict === 'holds' ? 'applies' : `is ${verdict}`}`, () => {
    assert.equal(judgePresence(before, after, 1), verdict)
  })
}

test('of two sessions of the same millisecond the one on the node with the higher number is newer', () => {
  assert.ok(isNewerSession({ since: since(1), nodeNo: 2 }, { since: since(1), nodeNo: 1 }))
  assert.ok(!isNewerSession({ since: since(1), nodeNo: 1 }, { since: since(1), nodeNo: 1 }))
  assert.equal(judgePresence(known({ nodeNo: 2 }), change(), 1), 'ignored')
  assert.equal(judgePresence(known({ nodeNo: 1 }), change({ session: since(100) }), 2), 'holds')
})

test('a poll that replaces the end of a session, which is not recorded yet, still tells of that end', () => {
  const ended = change({ online: false })
  assert.equal(replaceChange(ended, change(polls)).endedSession, since(100))
  const twice = replaceChange(replaceChange(ended, change(polls)), change({ ...polls, at: 30 }))
  assert.deepEqual([twice.endedSession, twice.at], [since(100), 30])
  assert.equal(replaceChange(change(), change(polls)).endedSession, undefined)
  assert.deepEqual(replaceChange(ended, change({ session: since(200) })), change({ session: since(200) }))
})
