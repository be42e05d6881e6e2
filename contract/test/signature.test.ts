// Signed jobs: the encoding of DSSE, canonical JSON, and everything that is no envelope of this job.

import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { test } from 'node:test'
import {
  canonicalJson,
  encodeBase64,
  jobPayloadType,
  maxPayloadBytes,
  mergeEnvelopes,
  preAuthEncoding,
  readEnvelope,
  requireSignatures,
  SignatureError,
  type SignedJob,
  signedJobOf,
  signedPayload,
} from '@jobcast/contract/signature'
import { newAuthor } from '@jobcast/testkit/author'

const now = Date.parse('2026-11-16T12:00:00Z')
const job: SignedJob = { jobName: 'restart', version: 3, document: { handler: 'restart' } }
const content = { document: { handler: 'restart' } }
const author = newAuthor()
const bytes = (text: string) => new TextEncoder().encode(text)

test('encodes what is signed to the letter of DSSE', () => {
  const encoded = (type: string, body: string) => Buffer.from(preAuthEncoding(type, bytes(body))).toString()
  // The example of the specification, and one whose lengths differ in bytes and in characters.
  assert.equal(
    encoded('http://example.com/HelloWorld', 'hello world'),
    'DSSEv1 29 http://example.com/HelloWorld 11 hello world',
  )
  assert.equal(encoded('ü', '€'), 'DSSEv1 2 ü 3 €')
  assert.equal(encoded('', ''), 'DSSEv1 0  0 ')
})

test('equal values have one canonical text, whatever the order of their fields', () => {
  const one = { b: [1, -0, 1e21, 'é"\n'], a: { z: null, Z: true, '': 1 }, '\u{1f600}': 1, '\ufb33': 2 }
  const other = JSON.parse('{"\\ufb33":2,"😀":1,"a":{"":1,"Z":true,"z":null},"b":[1,0,1e21,"\\u00e9\\"\\n"]}')
  const text = '{"a":{"":1,"Z":true,"z":null},"b":[1,0,1e+21,"é\\"\\n"],"😀":1,"\ufb33":2}'
  assert.equal(canonicalJson(one), text)
  assert.equal(canonicalJson(other), text)
  assert.throws(() => canonicalJson(JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)), RangeError)
})

test('an envelope carries the signature of its author and reads back as the job', () => {
  const envelope = author.sign({ ...job, parameters: { type: 'object' }, notAfter: '2027-01-31T00:00:00Z' })
  const { signed, signatures } = readEnvelope(envelope)
  assert.ok(verify(null, signed, createPublicKey(author.publicPem), signatures[0]?.sig ?? new Uint8Array()))
  const parameters = { type: 'object' }
  assert.deepEqual(signedJobOf(envelope), { ...job, parameters, notAfter: '2027-01-31T00:00:00Z' })
  const given = { ...content, parameters, signatures: [envelope] }
  assert.deepEqual(requireSignatures('restart', given, now), envelope)
  assert.equal(requireSignatures('restart', content, now), undefined)
})

test('envelopes of the same payload become one, without duplicates and in standard base64', () => {
  const [one, two] = [author.sign(job), newAuthor().sign(job)]
  const urlSafe = { ...one, payload: Buffer.from(one.payload, 'base64').toString('base64url') }
  const merged = mergeEnvelopes([one, two, urlSafe])
  assert.deepEqual(merged, { ...one, signatures: [...one.signatures, ...two.signatures] })
  assert.equal(mergeEnvelopes([]), undefined)
})

const payload = (text: string) => author.signBytes(bytes(text))
const other = (changes: Partial<SignedJob>) => author.sign({ ...job, ...changes })
const good = author.sign(job)
const eleven = Array.from({ length: 11 }, () => newAuthor().sign(job))

const refused: [name: string, signatures: unknown[], field: string, problem: RegExp][] = [
  ['not an envelope', ['junk'], 'signatures[0]', /must be a DSSE envelope/],
  [
    'another payload type',
    [author.signBytes(bytes('{}'), 'text/plain')],
    'signatures[0].payloadType',
    /must be app/,
  ],
  ['base64 junk', [{ ...good, payload: '€€€€' }], 'signatures[0].payload', /must be base64/],
  [
    'base64 of an impossible length',
    [{ ...good, payload: 'AAAAA' }],
    'signatures[0].payload',
    /must be base64/,
  ],
  ['no payload', [{ ...good, payload: '' }], 'signatures[0].payload', /must be base64/],
  [
    'a payload too large',
    [payload('x'.repeat(maxPayloadBytes + 1))],
    'signatures[0].payload',
    /at most 98304 bytes/,
  ],
  ['no signature', [{ ...good, signatures: [] }], 'signatures[0].signatures', /1 to 10/],
  ['no list', [{ ...good, signatures: {} }], 'signatures[0].signatures', /1 to 10/],
  [
    'a signature of another size',
    [{ ...good, signatures: [{ sig: 'AAAA' }] }],
    'signatures[0].signatures[0].sig',
    /64/,
  ],
  [
    'a keyid that is no text',
    [{ ...good, signatures: [{ ...good.signatures[0], keyid: 1 }] }],
    'signatures[0].signatures[0].keyid',
    /string/,
  ],
  ['more than ten in all', eleven, 'signatures', /at most 10 signatures in all/],
  ['two payloads', [good, other({ version: 4 })], 'signatures[1].payload', /same in all/],
  ['not JSON', [payload('{')], 'signatures[0].payload', /canonical JSON/],
  ['not UTF-8', [author.signBytes(Uint8Array.of(0xff))], 'signatures[0].payload', /canonical JSON/],
  [
    'not canonical',
    [payload('{"version": 3,"jobName":"restart","document":{}}')],
    'signatures[0].payload',
    /canonical JSON/,
  ],
  [
    'fields twice',
    [payload('{"document":{},"jobName":"a","jobName":"b","version":1}')],
    'signatures[0].payload',
    /canonical JSON/,
  ],
  ['nested without end', [payload('['.repeat(50_000))], 'signatures[0].payload', /canonical JSON/],
  ['a list', [payload('[]')], 'signatures[0].payload', /must be an object/],
  [
    'an unknown field',
    [payload('{"document":{},"jobName":"restart","shell":1,"version":3}')],
    'signatures[0].payload.shell',
    /is unknown/,
  ],
  ['another job', [other({ jobName: 'reboot' })], 'signatures[0].payload.jobName', /of another job/],
  [
    'another document',
    [other({ document: { handler: 'rm' } })],
    'signatures[0].payload.document',
    /differs from the document of the job/,
  ],
  [
    'other parameters',
    [other({ parameters: {} })],
    'signatures[0].payload.parameters',
    /differ from the parameters of the job/,
  ],
  [
    'no version',
    [payload('{"document":{},"jobName":"restart"}')],
    'signatures[0].payload.version',
    /at least 1/,
  ],
  [
    'an end that has passed',
    [other({ notAfter: '2026-11-16T11:59:59Z' })],
    'signatures[0].payload.notAfter',
    /has passed/,
  ],
  [
    'an end in another form',
    [payload('{"document":{},"jobName":"restart","notAfter":"tomorrow","version":3}')],
    'signatures[0].payload.notAfter',
    /whole seconds/,
  ],
  [
    'a day that does not exist',
    [payload('{"document":{},"jobName":"restart","notAfter":"2027-13-01T00:00:00Z","version":3}')],
    'signatures[0].payload.notAfter',
    /whole seconds/,
  ],
  ...['""', '1', `"${'x'.repeat(129)}"`, '"a\\u001bb"'].map((audience): (typeof refused)[number] => [
    `${audience.slice(0, 20)} for an audience`,
    [payload(`{"audience":${audience},"document":{},"jobName":"restart","version":3}`)],
    'signatures[0].payload.audience',
    /1 to 128 characters/,
  ]),
]

for (const [name, signatures, field, problem] of refused) {
  test(`refuses ${name}, and names the field`, () => {
    assert.throws(
      () => requireSignatures('restart', { ...content, signatures }, now),
      (error) => error instanceof SignatureError && error.field === field && problem.test(error.message),
    )
  })
}

test('a job that no device would accept cannot be signed', () => {
  assert.throws(() => signedPayload({ ...job, version: 0 }), /payload\.version must be/)
  assert.equal(encodeBase64(signedPayload(job)), good.payload)
  assert.equal(good.payloadType, jobPayloadType)
})
