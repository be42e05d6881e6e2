import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeEnrollment } from '../../../src/domain/device/judge-enrollment.ts'

type Enrollment = Parameters<typeof judgeEnrollment>[0]
type Candidate = NonNullable<Parameters<typeof judgeEnrollment>[1]>

const now = 1_000_000_000
const minutes = 60_000
const claim = Buffer.from('a claim of this device')
const other = Buffer.from('a claim of one besides')
const enrollment = (more: Partial<Enrollment> = {}): Enrollment => ({
  ...{ enrollmentId: 'e1', ownerNo: 1, name: 'line 4', secretHash: claim, tags: [], deviceIdPrefix: null },
  ...{ createdBy: null, createdBySession: null, createdAt: 0, expiresAt: now + 1, revokedAt: null },
  ...{ used: 0, maxUses: 1, ...more },
})
const device = (more: Partial<Candidate> = {}): Candidate => ({
  ...{ credentialCreatedAt: null, revokedAt: null, lastSeenAt: null, claimHash: null },
  ...more,
})
const enrolled = { credentialCreatedAt: now - 5 * minutes, claimHash: claim }

const cases: [string, Enrollment, Candidate | undefined, ReturnType<typeof judgeEnrollment>][] = [
  ['a new device enrolls', enrollment(), undefined, 'first-time'],
  ['a device without a credential enrolls', enrollment(), device(), 'first-time'],
  ['one that has a credential is taken', enrollment(), device({ credentialCreatedAt: 1 }), 'taken'],
  ['one whose credential was revoked is taken', enrollment(), device({ revokedAt: 1 }), 'taken'],
  ['one that was seen uses a certificate', enrollment(), device({ lastSeenAt: 1 }), 'taken'],
  ['an expired enrollment is not open', enrollment({ expiresAt: now }), undefined, 'not-open'],
  ['a revoked enrollment is not open', enrollment({ revokedAt: 1 }), undefined, 'not-open'],
  ['a used one is not open', enrollment({ used: 1 }), undefined, 'not-open'],
  [
    'a used one does not tell which devices there are',
    enrollment({ used: 1 }),
    device({ lastSeenAt: 1 }),
    'not-open',
  ],
  [
    'the same device may repeat it, also when it is used up',
    enrollment({ used: 1 }),
    device(enrolled),
    'again',
  ],
  ['but not after its expiry', enrollment({ expiresAt: now }), device(enrolled), 'not-open'],
  [
    'nor after 10 minutes',
    enrollment(),
    device({ ...enrolled, credentialCreatedAt: now - 10 * minutes }),
    'taken',
  ],
  ['nor with the claim of another device', enrollment(), device({ ...enrolled, claimHash: other }), 'taken'],
]
for (const [title, open, candidate, judgement] of cases) {
  test(`${title}: ${judgement}`, () => {
    assert.equal(judgeEnrollment(open, candidate, { at: now, claimHash: claim }), judgement)
  })
}

test('without a claim no request counts as a repetition', () => {
  assert.equal(judgeEnrollment(enrollment(), device(enrolled), { at: now, claimHash: null }), 'taken')
})
