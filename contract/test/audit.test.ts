import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import {
  AuditVerifier,
  type Checkpoint,
  leafHashes,
  merkleRoot,
  publicKeyId,
  publicKeyText,
  type Seal,
  type SealBody,
  sealHash,
  signedText,
  type VerifyOptions,
} from '../src/audit/index.ts'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const entry = (auditId: number, action = 'job.changed') =>
  JSON.stringify({ auditId, action, subject: 'job:a' })

type Chain = { lines: string[]; seals: Seal[]; checkpoint: Checkpoint }

/** One seal for each list of ids. */
function chainOf(
  batches: number[][],
  key: KeyObject = privateKey,
  actions = new Map<number, string>(),
): Chain {
  const lines: string[] = []
  const seals: Seal[] = []
  const text = publicKeyText(publicKey)
  for (const ids of batches) {
    const entries = ids.map((id) => entry(id, actions.get(id)))
    const leaves = leafHashes(entries)
    const before = seals.at(-1)
    const body: SealBody = {
      seal: seals.length + 1,
      ownerId: 'own1',
      at: sealedAt,
      firstAuditId: ids[0] as number,
      lastAuditId: ids.at(-1) as number,
      entries: ids.length,
      root: merkleRoot(leaves).toString('hex'),
      previous: before ? sealHash(before) : null,
      keyId: publicKeyId(text),
    }
    const signature = sign(null, Buffer.from(signedText(body)), key).toString('base64url')
    seals.push({ ...body, signature })
    lines.push(...entries, JSON.stringify({ ...body, signature, leaves: leaves.toString('base64') }))
  }
  return { lines, seals, checkpoint: { ...(seals.at(-1) as Seal), publicKey: text } }
}

const sealedAt = '2026-11-18T12:00:00.000Z'
const daysLater = (days: number) => Date.parse(sealedAt) + days * 24 * 60 * 60_000

function verdictOf(lines: string[], checkpoint: Checkpoint, options: VerifyOptions = {}) {
  const verifier = new AuditVerifier(checkpoint, { exportedAt: daysLater(1), ...options })
  for (const line of lines) if (!verifier.add(line)) break
  return verifier.end()
}

const batches = [[1, 2, 3, 5], [8], [9, 12, 13]]
const whole = chainOf(batches)
const at = (auditId: number) => whole.lines.findIndex((line) => line.startsWith(`{"auditId":${auditId},`))
const without = (...gone: number[]) => whole.lines.filter((_, index) => !gone.includes(index))

test('the root is that of RFC 9162, for any number of leaves', () => {
  const sha = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
  const expected = (leaves: Buffer[]): Buffer => {
    const [only] = leaves
    if (leaves.length === 1 && only) return only
    const half = 2 ** Math.floor(Math.log2(leaves.length - 1))
    return sha(Buffer.of(1), expected(leaves.slice(0, half)), expected(leaves.slice(half)))
  }
  assert.deepEqual(leafHashes(['ä']), sha(Buffer.of(0), Buffer.from('ä')))
  for (let count = 1; count <= 20; count++) {
    const leaves = Array.from({ length: count }, (_, index) => leafHashes([`entry ${index}`]))
    assert.deepEqual(merkleRoot(Buffer.concat(leaves)), expected(leaves), `${count} leaves`)
  }
  assert.throws(() => merkleRoot(Buffer.alloc(0)))
})

test('an untouched export fits, also with an older checkpoint', () => {
  const { lines, seals, checkpoint } = whole
  const [from, to] = [sealedAt, sealedAt]
  assert.deepEqual(verdictOf(lines, checkpoint), { kind: 'fits', entries: 8, seals: 3, from, to })
  const older = { ...(seals[0] as Seal), publicKey: checkpoint.publicKey }
  assert.equal(verdictOf(lines, older).kind, 'fits')
})

const flipped = whole.lines.with(at(3), entry(3, 'job.deleted'))
const swapped = whole.lines
  .with(at(2), whole.lines[at(3)] as string)
  .with(at(3), whole.lines[at(2)] as string)
const renumbered = whole.lines.with(at(2), entry(2, 'x')).with(at(3), entry(3, 'y'))
const { privateKey: otherKey } = generateKeyPairSync('ed25519')
const forked = chainOf(batches, privateKey, new Map([[9, 'key.created']]))
const forkedEarlier = chainOf(batches, privateKey, new Map([[2, 'key.created']]))
const resigned = chainOf(batches, otherKey)

const attacks: [what: string, lines: string[], auditId: number | null, because: RegExp][] = [
  ['flips a field', flipped, 3, /seal 1 has other entries/],
  ['swaps two entries', swapped, 2, /not behind/],
  ['swaps the content of two entries', renumbered, 2, /seal 1 has other entries/],
  ['deletes an entry in the middle', without(at(2)), 3, /seal 1 has other entries/],
  ['deletes the last entry of a seal', without(at(5)), 5, /seal 1 has other entries/],
  ['deletes the only entry of a seal', without(at(8)), 8, /seal 2 has other entries/],
  ['deletes a seal with its entries', without(at(8), at(8) + 1), 9, /seal 3 follows seal 1/],
  ['deletes a seal without its entries', without(at(8) + 1), 8, /seal 3 follows seal 1/],
  ['cuts the last entries and their seal', whole.lines.slice(0, at(9)), 9, /end is missing: seals 3 to 3/],
  ['cuts all but the first seal', whole.lines.slice(0, at(8)), 6, /end is missing: seals 2 to 3/],
  ['cuts the last seal', whole.lines.slice(0, -1), 9, /no seal/],
  ['cuts the beginning', whole.lines.slice(at(8)), 8, /beginning is missing/],
  ['cuts the beginning up to a seal', whole.lines.slice(at(5) + 1), 1, /beginning is missing: seal 1 of/],
  ['deletes all entries', whole.lines.slice(-1), 9, /beginning is missing: seal 3 of/],
  ['inserts an entry', whole.lines.toSpliced(at(8), 0, entry(6)), 6, /seal 2 has other entries/],
  ['appends an entry', [...whole.lines, entry(14)], 14, /no seal/],
  ['forks the chain at the checkpoint', forked.lines, 9, /written twice/],
  ['rewrites the history with the right key', forkedEarlier.lines, 9, /written twice/],
  ['signs everything with another key', resigned.lines, 1, /not signed by the key/],
  [
    'replays the seal before in place of the last',
    [...without(whole.lines.length - 1), whole.lines[at(8) + 1] as string],
    9,
    /follows seal 2/,
  ],
  ['writes something else', ['{"a":1}'], 12, /neither/],
  ['writes no JSON', ['{'], 12, /neither/],
  ['deletes everything', [], 9, /no seal/],
]

for (const [what, lines, auditId, because] of attacks) {
  test(`finds it if somebody ${what}`, () => {
    const verdict = verdictOf(lines, whole.checkpoint)
    assert.equal(verdict.kind, 'does-not-fit')
    if (verdict.kind !== 'does-not-fit') return
    if (lines.length !== 1) assert.equal(verdict.auditId, auditId)
    assert.match(verdict.because, because)
  })
}

test('an export may begin with a purged seal that was retained long enough', () => {
  const { lines, seals, checkpoint } = whole
  const purged = lines.slice(at(5) + 1)
  const kindOf = (some: string[], options: VerifyOptions) => verdictOf(some, checkpoint, options).kind
  const [from, to] = [sealedAt, sealedAt]
  const fits = { kind: 'fits', entries: 4, seals: 2, from, to }
  assert.deepEqual(verdictOf(purged, checkpoint, { exportedAt: daysLater(401) }), fits)
  assert.equal(kindOf(purged, { exportedAt: daysLater(399) }), 'does-not-fit')
  assert.equal(kindOf(purged, { exportedAt: daysLater(31), keptDays: 30 }), 'fits')
  // Without the purged seal, without its signature, and without what follows it.
  assert.equal(kindOf(purged.slice(1), { exportedAt: daysLater(401) }), 'does-not-fit')
  const unsigned = JSON.stringify({ ...seals[0], at: '2020-01-01T00:00:00.000Z' })
  assert.equal(kindOf(purged.with(0, unsigned), {}), 'does-not-fit')
  assert.equal(kindOf(purged.toSpliced(1, 2), { exportedAt: daysLater(401) }), 'does-not-fit')
  assert.equal(kindOf(lines.slice(-1), { exportedAt: daysLater(401) }), 'does-not-fit')
  const first = { ...(seals[0] as Seal), publicKey: checkpoint.publicKey }
  const later = lines.slice(at(8) + 1)
  assert.equal(verdictOf(purged, first, { exportedAt: daysLater(401) }).kind, 'fits')
  assert.equal(verdictOf(later, first, { exportedAt: daysLater(401) }).kind, 'does-not-fit')
})

test('an old checkpoint that is replayed with its old export does not pass for the newest one', () => {
  const old = chainOf(batches.slice(0, 2))
  assert.equal(verdictOf(old.lines, old.checkpoint).kind, 'fits')
  const verdict = verdictOf(old.lines, whole.checkpoint)
  assert.deepEqual(verdict, { kind: 'does-not-fit', auditId: 9, because: 'the end is missing: seals 3 to 3' })
})

test('a checkpoint with a changed field, another key or of another owner does not fit', () => {
  const { lines, checkpoint } = whole
  const { publicKey: other } = generateKeyPairSync('ed25519')
  const changes = [{ seal: 2 }, { root: '00' }, { publicKey: publicKeyText(other) }, { publicKey: 'x' }]
  for (const change of [...changes, { ownerId: 'own2' }, { signature: '' }, { keyId: 'x' }]) {
    assert.equal(verdictOf(lines, { ...checkpoint, ...change }).kind, 'does-not-fit', JSON.stringify(change))
  }
})
