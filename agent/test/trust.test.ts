// How a device handles a signed job: it puts its own values into the signed document, and requires enough trusted keys.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { SignedJob } from '@jobcast/contract/signature'
import { newAuthor } from '@jobcast/testkit/author'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { Refused } from '../src/document/document-fields.ts'
import type { Offered } from '../src/execution/offered.ts'
import { keyIdOf, readAuthorKeys } from '../src/trust/author-key.ts'
import { fillSigned } from '../src/trust/fill-signed.ts'
import { SeenVersions } from '../src/trust/seen-versions.ts'
import { Trust } from '../src/trust/trust.ts'
import { verifyEnvelope } from '../src/trust/verify-envelope.ts'

const deps = { deviceId: 'kiosk-1', attributes: () => ({ site: 'berlin', slot: 2, list: [1] }) }
const parameters = {
  type: 'object',
  properties: {
    days: { type: 'integer', minimum: 1, maximum: 90, default: 7 },
    mode: { type: 'string', enum: ['soft', 'hard'] },
  },
}

function offer(document: unknown, more: Partial<Offered> = {}): Offered {
  return {
    ...{ jobId: '1', attempt: 1, queuedAt: 1, begunBy: undefined, givenUpAt: undefined },
    ...{
      document,
      jobName: 'job',
      jobSignature: undefined,
      runId: undefined,
      ...more,
    },
  }
}

/** The server sends the expected document. */
function fill(template: object, expected: object, more: Partial<Offered> = {}, job: Partial<SignedJob> = {}) {
  return fillSigned(
    { jobName: 'job', version: 1, document: template as SignedJob['document'], ...job },
    offer(expected, more),
    deps,
  )
}

test('puts the values of parameters, of this device and of the run into the signed document', () => {
  const template = {
    a: '${params.days}',
    b: 'x-${params.days}-$${y}',
    c: ['${device.deviceId}', '${run.runId}'],
  }
  const expected = { a: 30, b: 'x-30-${y}', c: ['kiosk-1', 12] }
  const filled = fill(template, expected, { parameters: { days: 30 }, runId: 12 }, { parameters })
  assert.deepEqual(filled, { document: expected, parameters: { days: 30 }, secrets: {} })
  assert.deepEqual(fill({ a: '${params.days}' }, { a: 7 }, {}, { parameters }).document, { a: 7 })
})

test('attributes are those that the device reports, regardless of values of the server', () => {
  const template = {
    a: '${device.attributes.site}',
    b: '${device.attributes.slot}',
    c: '${device.attributes.none:-no}',
  }
  const { document } = fill(template, { a: 'lima', b: 1, c: 'other' })
  assert.deepEqual(document, { a: 'berlin', b: 2, c: 'no' })
})

const refused: [name: string, () => unknown, RegExp][] = [
  [
    'a value outside the signed schema',
    () => fill({}, {}, { parameters: { days: 91 } }, { parameters }),
    /parameters\.days must be .*, according to the signed schema/,
  ],
  [
    'a value of another type',
    () => fill({}, {}, { parameters: { days: '$(id)' } }, { parameters }),
    /parameters\.days must be an integer/,
  ],
  [
    'a parameter that is not declared',
    () => fill({}, {}, { parameters: { x: 1 } }, { parameters }),
    /parameters\.x is not a parameter of the job/,
  ],
  [
    'any parameter of a job without a schema',
    () => fill({}, {}, { parameters: { x: 1 } }),
    /is not a parameter of the job/,
  ],
  [
    'a parameter without a value',
    () => fill({ a: '${params.mode}' }, {}, {}, { parameters }),
    /parameters\.mode is required/,
  ],
  [
    'an attribute that it does not have',
    () => fill({ a: '${device.attributes.none}' }, {}),
    /no value for \$\{device\.attributes\.none\}/,
  ],
  ['an attribute that is no plain value', () => fill({ a: '${device.attributes.list}' }, {}), /no value for/],
  [
    'its name, which only the server knows',
    () => fill({ a: '${device.deviceName}' }, { a: '' }),
    /no value for \$\{device\.deviceName\}/,
  ],
  ['a run without a number', () => fill({ a: '${run.runId}' }, {}, { runId: '1; id' }), /sent no runId/],
  ['a placeholder that there is not', () => fill({ a: '${env.PATH}' }, {}), /there is no placeholder/],
  [
    'a schema that is none',
    () => fill({}, {}, {}, { parameters: { type: 'array' } }),
    /parameters\.type must be "object"/,
  ],
  [
    'another document of the server',
    () => fill({ a: 1 }, { a: 2 }),
    /sent a document that differs from the signed one/,
  ],
]

for (const [name, act, message] of refused) {
  test(`refuses ${name}`, () => {
    assert.throws(act, (error) => error instanceof Refused && message.test(error.message))
  })
}

test('unreadable attributes cause a refusal only for documents that use them', () => {
  const broken = { deviceId: 'kiosk-1', attributes: () => assert.fail('no JSON') }
  const job = (document: SignedJob['document']) => ({ jobName: 'job', version: 1, document })
  assert.deepEqual(fillSigned(job({ a: 1 }), offer({ a: 1 }), broken).document, { a: 1 })
  assert.throws(
    () => fillSigned(job({ a: '${device.attributes.x:-1}' }), offer({}), broken),
    /cannot be read: no JSON/,
  )
})

test('keys are counted by the signatures that they verify, not by the key ids in an envelope', () => {
  const [anna, ben] = [newAuthor(), newAuthor()]
  const keys = readAuthorKeys(anna.publicPem + ben.publicPem + anna.publicPem)
  assert.equal(keys.length, 2)
  const job = { jobName: 'job', version: 1, document: {} }
  const byAnna = anna.sign(job)
  const both = { ...byAnna, signatures: [...ben.sign(job).signatures, ...byAnna.signatures] }
  assert.deepEqual(verifyEnvelope(both, keys, 2), job)
  const twice = {
    ...byAnna,
    signatures: [...byAnna.signatures, { keyid: 'ben', sig: byAnna.signatures[0]?.sig }],
  }
  assert.throws(
    () => verifyEnvelope(twice, keys, 2),
    /^Error: it is signed by 1 of the keys .* but 2 are required/,
  )
  // Signed as something else, the same bytes are no job.
  const other = { ...anna.signBytes(Buffer.from('{}'), 'text/plain'), payloadType: byAnna.payloadType }
  assert.throws(() => verifyEnvelope(other, keys, 1), /not signed by a key that this device trusts/)
})

test('a file of keys has public Ed25519 keys and nothing else', () => {
  const { publicPem, privatePem } = newAuthor()
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({
    type: 'spki',
    format: 'pem',
  })
  for (const [text, message] of [
    ['', /no public key/],
    ['-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', /cannot be read/],
    [publicPem + privatePem, /contains a private key/],
    [publicPem + rsa, /a key of type rsa/],
    [publicPem.repeat(65), /more than 64 keys/],
  ] as const) {
    assert.throws(() => readAuthorKeys(text), message)
  }
  const [key] = readAuthorKeys(`the key of Anna\r\n${publicPem.replaceAll('\n', '\r\n')}`)
  assert.equal(key && keyIdOf(key.key), key?.keyId)
})

test('the highest version of a job is stored on disk, and a damaged file is not treated as empty', async (t) => {
  const file = join(temporaryFolder(t), 'versions.json')
  const seen = await SeenVersions.open(file)
  const [one, two] = ['1', '2'].map((digit) => digit.repeat(64)) as [string, string]
  assert.deepEqual(seen.of('a'), { version: 0 })
  await seen.record('a', { version: 3, sha256: one })
  await seen.record('__proto__', { version: 2, sha256: one })
  await seen.record('a', { version: 2, sha256: two })
  await seen.record('a', { version: 3, sha256: two })
  const again = await SeenVersions.open(file)
  const versions = [again.of('a'), again.of('__proto__'), again.of('toString')]
  assert.deepEqual(versions, [{ version: 3, sha256: one }, { version: 2, sha256: one }, { version: 0 }])
  // Of an earlier agent, which recorded only numbers.
  writeFileSync(file, '{"a":3}')
  const older = await SeenVersions.open(file)
  assert.deepEqual(older.of('a'), { version: 3 })
  await older.record('a', { version: 3, sha256: two })
  assert.deepEqual((await SeenVersions.open(file)).of('a'), { version: 3, sha256: two })
  for (const text of [
    '',
    '[]',
    '{"a":"3"}',
    '{"a":{"version":3}}',
    '{"a":{"version":3,"sha256":"x"}}',
    readFileSync(file, 'utf8').slice(0, -3),
  ]) {
    writeFileSync(file, text)
    await assert.rejects(SeenVersions.open(file), /damaged/)
  }
})

test('does not start with a file of keys that others can change, or that has too few', async (t) => {
  const folder = temporaryFolder(t)
  const keysFile = join(folder, 'trusted.pem')
  const open = (requiredSignatures: number) =>
    Trust.open({ keysFile, requiredSignatures }, join(folder, 'versions.json'), { ...deps, now: Date.now })
  await assert.rejects(open(1), /trusted\.pem cannot be read: no such file or directory\./)
  writeFileSync(keysFile, newAuthor().publicPem.repeat(2), { mode: 0o644 })
  await assert.rejects(open(2), /2 signatures are required, but .* has 1 different keys/)
  await open(1)
  chmodSync(keysFile, 0o666)
  await assert.rejects(open(1), /can be written by everyone/)
})

test('a job signed for another audience is refused, and its version is not recorded', async (t) => {
  const folder = temporaryFolder(t)
  const [anna, keysFile] = [newAuthor(), join(folder, 'trusted.pem')]
  writeFileSync(keysFile, anna.publicPem, { mode: 0o644 })
  const open = (audience?: string) =>
    Trust.open(
      { keysFile, requiredSignatures: 1, ...(audience && { audience }) },
      join(folder, 'versions.json'),
      {
        ...deps,
        now: Date.now,
      },
    )
  const check = (trust: Trust, version: number, more: Partial<SignedJob> = {}) => {
    const job: SignedJob = { jobName: 'job', version, document: {}, ...more }
    return trust.check(offer(job.document, { jobSignature: anna.sign(job) }))
  }
  const ours = await open('shop berlin')
  await assert.rejects(check(ours, 9, { audience: 'shop lima' }), (error: Error) => {
    assert.ok(error instanceof Refused)
    assert.match(
      error.message,
      /signed for the audience "shop lima", and this device runs only jobs signed for "shop berlin"/,
    )
    return true
  })
  await assert.rejects(
    check(ours, 9),
    /signed without an audience, and this device runs only jobs signed for "shop berlin"/,
  )
  await check(ours, 2, { audience: 'shop berlin' })
  // The same version again, as often as it is run; with another content never.
  await check(ours, 2, { audience: 'shop berlin' })
  const another = { audience: 'shop berlin', document: { a: 1 } }
  await assert.rejects(
    check(ours, 2, another),
    /version 2 differs from the version 2 that this device has accepted/,
  )
  const again = await open('shop berlin')
  await assert.rejects(check(again, 2, another), /differs from the version/)
  await check(again, 3, another)
  // A device without an audience does not check it.
  const anybodys = await open()
  await check(anybodys, 4, { audience: 'shop lima' })
  await check(anybodys, 5)
})

test('accepts URLs of files from the server, but only files whose hash is signed', () => {
  const sha256 = 'a'.repeat(64)
  const files = {
    'app@1.4': { url: 'https://x/app', size: 5, sha256, sha1: null, md5: null, version: '1.4' },
  }
  const signed = {
    files: [{ name: 'app@1.4', sha256 }],
    url: '${file.app@1.4.url}',
    size: '${file.app@1.4.size}',
  }
  const expected = { ...signed, url: 'https://x/app', size: 5 }
  assert.deepEqual(fill(signed, expected, { files }).document, expected)
  const swapped = { 'app@1.4': { ...files['app@1.4'], sha256: 'b'.repeat(64) } }
  const refusals: [object, Partial<Offered>, RegExp][] = [
    [signed, { files: swapped }, /another sha256 than the document names/],
    [signed, {}, /no URL of the file app@1\.4/],
    [{ files: ['app@1.4'] }, { files }, /does not name the sha256 of the file app@1\.4/],
    [{ url: '${file.app@1.4.url}' }, { files }, /no value for \$\{file\.app@1\.4\.url\}/],
  ]
  for (const [template, more, reason] of refusals) {
    assert.throws(
      () => fill(template, expected, more),
      (error) => error instanceof Refused && reason.test(error.message),
    )
  }
})
