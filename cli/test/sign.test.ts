// Keys of authors and signed jobs: keys author new, jobs sign, and what the service and apply say about them.

import assert from 'node:assert/strict'
import { createHash, createPrivateKey, createPublicKey, verify } from 'node:crypto'
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Envelope, readEnvelope, signedJobOf } from '@jobcast/contract/signature'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { parse } from 'yaml'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const server = await openSharedServer()

async function openDesk(t: TestContext) {
  const { key } = await server.newOwner(t.name)
  const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: key }
  const folder = dataFolder(t)
  const at = (name: string) => join(folder, name)
  return {
    at,
    write(name: string, text: string): string {
      writeFileSync(at(name), text)
      return at(name)
    },
    newKey: async (name = 'author.pem') => {
      const { code, stdout, stderr } = await runJobcast(['keys', 'author', 'new', '--out', at(name)])
      assert.equal(code, 0, stderr)
      return { file: at(name), keyId: stdout.trim() }
    },
    run: (args: string[], env: Record<string, string> = access) => runJobcast(args, env),
    get: async (path: string) => (await server.call('GET', `/job/api/${path}`, { key })).json,
  }
}

const restart =
  '# what it does\ndescription: Restarts\ndocument: { handler: restart, args: [kiosk-app] } # kept\n'
const envelopeIn = (file: string): Envelope => parse(readFileSync(file, 'utf8')).signatures[0]

test('keys author new writes a private key that only its author can read, and a public key', async (t) => {
  const { newKey, run, at } = await openDesk(t)
  const { file, keyId } = await newKey()
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const [own, open] = [readFileSync(file, 'utf8'), readFileSync(at('author.pub.pem'), 'utf8')]
  // What openssl and sha256sum print.
  const der = createPublicKey(open).export({ type: 'spki', format: 'der' })
  assert.equal(keyId, createHash('sha256').update(der).digest('hex'))
  const ofPrivate = createPublicKey(createPrivateKey(own)).export({ type: 'spki', format: 'pem' })
  assert.equal(ofPrivate, open)
  for (const path of [file, at('author.pub.pem')]) {
    assert.equal((await run(['keys', 'author', 'show', path], {})).stdout, `${keyId}\n`)
  }
  const again = await run(['keys', 'author', 'new', '--out', file], {})
  assert.equal(again.code, 2)
  assert.match(again.stderr, /already exists; a key is never overwritten/)
  assert.equal(readFileSync(file, 'utf8'), own)
})

test('jobs sign signs the next version, put stores it, and get shows who has signed', async (t) => {
  const { newKey, write, run, get, at } = await openDesk(t)
  const { file: key, keyId } = await newKey()
  const file = write('restart.yaml', restart)
  const signed = await run(['jobs', 'sign', file, '--key', key, '--not-after', '90d'])
  assert.equal(signed.code, 0, signed.stderr)
  assert.match(signed.stderr, /Signed job restart, version 1, valid until \S+Z: 1 signature\./)
  assert.match(readFileSync(file, 'utf8'), /^# what it does\n.*\n.* # kept\n/)
  const envelope = envelopeIn(file)
  const { signed: bytes, signatures } = readEnvelope(envelope)
  const publicKey = createPublicKey(readFileSync(at('author.pub.pem')))
  assert.ok(verify(null, bytes, publicKey, signatures[0]?.sig ?? new Uint8Array()))
  const { notAfter, ...job } = signedJobOf(envelope)
  assert.deepEqual(job, {
    jobName: 'restart',
    version: 1,
    document: { handler: 'restart', args: ['kiosk-app'] },
  })

  const put = await run(['jobs', 'put', 'restart', '-f', file])
  assert.equal(put.code, 0, put.stderr)
  assert.deepEqual((await get('jobs/restart')).signatures, [envelope])
  const shown = (await run(['jobs', 'get', 'restart'])).stdout
  assert.match(shown, new RegExp(`signed by +${keyId}\n`))
  assert.match(shown, /signed version +1\n/)
  assert.match(shown, new RegExp(`signed until +${notAfter}\n`))
  // The same once more changes nothing.
  const again = await run(['jobs', 'put', 'restart', '-f', file])
  assert.equal(again.code, 0, again.stderr)
  assert.match(again.stderr, /Job restart is unchanged, version 1\./)
  assert.equal((await get('jobs/restart')).version, 1)
})

test('jobs sign --audience signs for an audience, and a second author keeps it', async (t) => {
  const { newKey, write, run, get } = await openDesk(t)
  const [anna, ben] = [await newKey('anna.pem'), await newKey('ben.pem')]
  const file = write('restart.yaml', restart)
  const first = await run(['jobs', 'sign', file, '--key', anna.file, '--audience', 'shop berlin'])
  assert.match(first.stderr, /Signed job restart, version 1, for shop berlin: 1 signature\./)
  const second = await run(['jobs', 'sign', file, '--key', ben.file, '--json'])
  assert.deepEqual(JSON.parse(second.stdout)[0].audience, 'shop berlin')
  const envelope = envelopeIn(file)
  assert.deepEqual([signedJobOf(envelope).audience, envelope.signatures.length], ['shop berlin', 2])
  assert.equal((await run(['jobs', 'put', 'restart', '-f', file])).code, 0)
  assert.deepEqual((await get('jobs/restart')).signatures, [envelope])
  assert.match((await run(['jobs', 'get', 'restart'])).stdout, /signed for +shop berlin\n/)
  // For another audience it is signed again.
  await run(['jobs', 'sign', file, '--key', anna.file, '--audience', 'shop lima'])
  assert.deepEqual(envelopeIn(file).signatures.length, 1)
})

test('a second author adds a signature; a changed job is signed again, as the next version', async (t) => {
  const { newKey, write, run, get } = await openDesk(t)
  const [anna, ben] = [await newKey('anna.pem'), await newKey('ben.pem')]
  const file = write('restart.yaml', restart)
  for (const { file: key } of [anna, ben, ben]) {
    const { code, stderr } = await run(['jobs', 'sign', file, '--key', key])
    assert.equal(code, 0, stderr)
  }
  const keyids = (envelope: Envelope) => envelope.signatures.map(({ keyid }) => keyid)
  assert.deepEqual(keyids(envelopeIn(file)), [anna.keyId, ben.keyId])
  assert.equal((await run(['jobs', 'put', 'restart', '-f', file])).code, 0)

  const changed = write('restart.yaml', readFileSync(file, 'utf8').replace('kiosk-app', 'other-app'))
  const refused = await run(['jobs', 'put', 'restart', '-f', changed])
  assert.equal(refused.code, 5)
  assert.match(refused.stderr, /signatures\[0\]\.payload\.document differs from the document of the job/)
  const signed = await run(['jobs', 'sign', changed, '--key', anna.file])
  assert.match(
    signed.stderr,
    /version 2: 1 signature\. Its previous signatures were for other content and were removed/,
  )
  assert.equal((await run(['jobs', 'put', 'restart', '-f', changed])).code, 0)
  assert.equal((await get('jobs/restart')).version, 2)
})

test('an unchanged file whose version the service has passed is signed again, as the next version', async (t) => {
  const { newKey, write, run, get } = await openDesk(t)
  const { file: key } = await newKey()
  const file = write('restart.yaml', restart)
  const sign = (...args: string[]) => run(['jobs', 'sign', file, '--key', key, ...args])
  const put = (from: string) => run(['jobs', 'put', 'restart', '-f', from])
  await sign()
  assert.equal((await put(file)).code, 0)
  // What the service has just like that stays.
  assert.match((await sign()).stderr, /version 1: 1 signature\.\n/)
  assert.equal((await put(write('other.yaml', 'document: { handler: other }\n'))).code, 0)

  const refused = await put(file)
  assert.equal(refused.code, 5)
  assert.match(refused.stderr, /the next version of the job is 3; .*--version 3/)
  const alone = await run(['jobs', 'sign', file, '--key', key], {})
  assert.equal(alone.code, 0)
  assert.match(
    alone.stderr,
    /Could not determine the next version of job \S+ \(No API key .*\); keeping version 1\./,
  )
  assert.match(
    (await sign()).stderr,
    /Signed job restart, version 3: 1 signature\. Its previous signatures were/,
  )
  assert.equal((await put(file)).code, 0)
  // One more author is a change.
  const ben = await newKey('ben.pem')
  assert.match((await run(['jobs', 'sign', file, '--key', ben.file])).stderr, /version 4: 1 signature/)
  assert.equal((await put(file)).code, 0)
  assert.equal((await get('jobs/restart')).version, 4)
})

test('the jobs of a fleet file are signed in place, and apply sends them once', async (t) => {
  const { newKey, write, run, get } = await openDesk(t)
  const { file: key } = await newKey()
  const fleet =
    'jobs:\n  one: { document: { handler: a } }\n  two:\n    document: { handler: b }\ndevices: { kiosk-1: }\n'
  const file = write('fleet.yaml', fleet)
  const only = await run(['jobs', 'sign', file, '--key', key, '--name', 'two', '--version', '1'], {})
  assert.equal(only.code, 0, only.stderr)
  assert.deepEqual(Object.keys(parse(readFileSync(file, 'utf8')).jobs.one), ['document'])
  const { stdout, code } = await run(['jobs', 'sign', file, '--key', key, '--json'])
  assert.equal(code, 0)
  assert.deepEqual(
    JSON.parse(stdout).map(({ jobName, version }: Envelope & Record<string, unknown>) => [jobName, version]),
    [
      ['one', 1],
      ['two', 1],
    ],
  )
  const applied = await run(['apply', '-f', file])
  assert.equal(applied.code, 0, applied.stderr)
  assert.equal((await get('jobs/one')).signatures.length, 1)
  assert.match((await run(['apply', '-f', file])).stderr, /Nothing to do: 3 up to date/)
  // A mistake is found before anything is sent.
  const wrong = write('fleet.yaml', readFileSync(file, 'utf8').replace('handler: b', 'handler: c'))
  const refused = await run(['apply', '-f', wrong])
  assert.equal(refused.code, 5)
  assert.match(
    refused.stderr,
    /job two: signatures\[0\]\.payload\.document differs from the document of the job/,
  )
})

test('a list of jobs and a JSON file are signed too, and --out leaves the file alone', async (t) => {
  const { newKey, write, run, at } = await openDesk(t)
  const { file: key } = await newKey()
  const list = write('list.yaml', 'jobs:\n  - jobName: one\n    document: { handler: a }\n')
  const content = JSON.stringify({ document: { handler: 'b' } })
  const json = write('two.json', content)
  for (const [file, out] of [
    [list, list],
    [json, at('signed.json')],
  ] as const) {
    const args = ['jobs', 'sign', file, '--key', key, '--version', '7', '--out', out]
    const { code, stderr } = await run(args, {})
    assert.equal(code, 0, stderr)
  }
  const [item] = parse(readFileSync(list, 'utf8')).jobs
  assert.deepEqual([item.jobName, signedJobOf(item.signatures[0]).version], ['one', 7])
  assert.equal(readFileSync(json, 'utf8'), content)
  const signed = JSON.parse(readFileSync(at('signed.json'), 'utf8'))
  assert.equal(signedJobOf(signed.signatures[0]).jobName, 'two')
})

test('jobs sign refuses what cannot be right, and changes no file', async (t) => {
  const { newKey, write, run, at } = await openDesk(t)
  const { file: key } = await newKey()
  const file = write('restart.yaml', restart)
  const open = write('open.pem', readFileSync(key, 'utf8'))
  chmodSync(open, 0o644)
  const wrong: [args: string[], says: RegExp][] = [
    [['--key', at('none.pem')], /cannot read .*none\.pem/],
    [['--key', open], /others can read .*open\.pem: chmod 600/],
    [
      ['--key', at('author.pub.pem')],
      /author\.pub\.pem is a public key, for devices; sign with the private key/,
    ],
    [['--key', key, '--version', '0'], /--version/],
    [['--key', key, '--not-after', '2020-01-01'], /--not-after must be in the future/],
    [['--key', key, '--not-after', 'soon'], /must be a date or time/],
    [['--key', key, '--audience', ''], /--audience must be a string of 1 to 128 characters/],
    [['--key', key, '--audience', 'x'.repeat(129)], /--audience must be a string of 1 to 128 characters/],
    [[], /--key/],
  ]
  for (const [args, says] of wrong) {
    const { code, stderr } = await run(['jobs', 'sign', file, '--version', '1', ...args], {})
    assert.equal(code, 2, stderr)
    assert.match(stderr, says)
  }
  assert.equal(readFileSync(file, 'utf8'), restart)
  const junk = write('junk.yaml', 'document: [1]\n')
  assert.match(
    (await run(['jobs', 'sign', junk, '--key', key, '--version', '1'], {})).stderr,
    /document: must be/,
  )
  const fleet = write('fleet.yaml', 'jobs: { one: { document: {} } }\n')
  const absent = await run(['jobs', 'sign', fleet, '--key', key, '--name', 'two', '--version', '1'], {})
  assert.match(absent.stderr, /has no job two/)
})
