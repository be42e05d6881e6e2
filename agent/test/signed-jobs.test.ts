// An attacker who controls the server, its database and its process cannot make an agent start anything that its authors have
// not signed.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { canonicalJson, type Envelope, type SignedJob } from '@jobcast/contract/signature'
import { newAuthor } from '@jobcast/testkit/author'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { isChaos } from '@jobcast/testkit/test-size'
import { type Anything, changeStored, openAttacker } from './support/attacker.ts'
import { type DeviceUnderTest, newDeviceUnderTest } from './support/device-under-test.ts'
import { type AgentProgram, findShellPrograms, startProgram } from './support/programs.ts'

const server = await openSharedServer()
const attacker = await openAttacker(server)
after(() => attacker.close())

const [anna, ben, eve] = [newAuthor(), newAuthor(), newAuthor()]
const document = { handler: 'mark', args: ['signed'] }
const evil = { handler: 'mark', args: ['evil'] }
const byAnna = (job: SignedJob) => [anna.sign(job)]

type Ran = { execState: string; reason: string | undefined; marks: string }
type Bench = {
  device: DeviceUnderTest
  jobName: string
  trustFile: string
  /** Puts the next version of the job. */
  put(content?: object, sign?: (job: SignedJob) => Envelope[]): Promise<SignedJob>
  /** Triggers the job, and returns the actions of its handler. */
  run(parameters?: object): Promise<Ran>
}

let benches = 0

async function newBench(t: TestContext): Promise<Bench> {
  const device = await newDeviceUnderTest(t, server)
  const jobName = `signed ${++benches}`
  const path = `/job/api/jobs/${encodeURIComponent(jobName)}`
  let version = 0
  const marks = join(device.folder, 'marks')
  device.addHandler('mark', `echo "$@" >>"${marks}"`)
  const trustFile = join(device.folder, 'trusted.pem')
  // The same key twice counts once.
  writeFileSync(trustFile, `Anna, Ben\n${anna.publicPem}${ben.publicPem}${anna.publicPem}`, { mode: 0o644 })
  t.after(() => {
    attacker.tamper = undefined
    assert.deepEqual(attacker.problems, [])
  })
  return {
    device,
    jobName,
    trustFile,
    async put(content = {}, sign = byAnna) {
      version++
      const job: SignedJob = { jobName, version, document, ...content }
      const { notAfter: _, audience: __, ...stored } = { ...content } as Partial<SignedJob>
      // Each time something else, so that each time there is a new version.
      const body = { document, description: `version ${version}`, ...stored, signatures: sign(job) }
      const reply = await server.call('PUT', path, { body })
      assert.ok(reply.status < 300, reply.text)
      return job
    },
    async run(parameters) {
      rmSync(marks, { force: true })
      const body = { jobName, targets: { deviceIds: [device.deviceId] }, ...(parameters && { parameters }) }
      const created = await server.call('POST', '/job/api/runs', { body })
      assert.equal(created.status, 201, created.text)
      const list = await server.call('GET', `/job/api/executions?runId=${created.json.runId}`)
      const { execState, statusDetails } = await device.ended(list.json.items[0].jobExecutionId)
      return {
        execState,
        reason: statusDetails?.reason,
        marks: existsSync(marks) ? readFileSync(marks, 'utf8') : '',
      }
    },
  }
}

function assertRuns({ execState, reason, marks }: Ran, expected = 'signed\n'): void {
  assert.deepEqual([execState, marks, reason], ['SUCCEEDED', expected, undefined])
}

function assertRefuses({ execState, reason = '', marks }: Ran, expected: RegExp, what: string): void {
  assert.deepEqual([execState, marks], ['REJECTED', ''], what)
  assert.match(reason, expected, what)
}

type Attack = {
  name: string
  /** Of what the server hands out; `job` is the one that the authors have signed. */
  tamper: (execution: Anything, job: SignedJob) => void
  reason: RegExp
}

const unsigned = /it is not signed by a key that this device trusts/
const recode = (execution: Anything, change: (job: Anything) => void) => {
  const payload = JSON.parse(Buffer.from(execution.jobSignature.payload, 'base64').toString())
  change(payload)
  execution.jobSignature.payload = Buffer.from(JSON.stringify(payload)).toString('base64')
}
const flipped = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)

const attacks: Attack[] = [
  {
    name: 'another document, with the signature of the right one',
    tamper: (execution) => {
      execution.jobDocument = JSON.stringify(evil)
    },
    reason: /sent a document that differs from the signed one/,
  },
  {
    name: 'no signature at all',
    tamper: (execution) => {
      delete execution.jobSignature
      execution.jobDocument = JSON.stringify(evil)
    },
    reason: /it is not signed, and this device runs only signed jobs/,
  },
  {
    name: 'another document in the signed payload',
    tamper: (execution) => recode(execution, (payload) => Object.assign(payload, { document: evil })),
    reason: unsigned,
  },
  {
    name: 'another version in the signed payload',
    tamper: (execution) => recode(execution, (payload) => Object.assign(payload, { version: 1000 })),
    reason: unsigned,
  },
  {
    name: 'a changed signature',
    tamper: ({ jobSignature: { signatures } }) => {
      signatures[0].sig = flipped(signatures[0].sig)
    },
    reason: unsigned,
  },
  {
    name: "the attacker's own signature, under the name of an author's key",
    tamper: (execution, job) => {
      const { signatures } = execution.jobSignature
      execution.jobDocument = JSON.stringify(evil)
      execution.jobSignature = eve.sign({ ...job, document: evil })
      execution.jobSignature.signatures[0].keyid = signatures[0].keyid
    },
    reason: unsigned,
  },
  {
    name: 'the signature of another job',
    tamper: (execution, job) => {
      execution.jobDocument = JSON.stringify(evil)
      execution.jobSignature = anna.sign({ ...job, jobName: 'wipe', document: evil })
    },
    reason: /the signature is for the job "wipe", but this is the job "signed \d+"/,
  },
  {
    name: 'an older version, as it was signed',
    tamper: (execution, job) => {
      execution.jobDocument = JSON.stringify(evil)
      execution.jobSignature = anna.sign({ ...job, version: job.version - 1, document: evil })
    },
    reason: /version \d+ is older than version \d+, which this device has accepted/,
  },
  {
    name: 'a signature that has expired',
    tamper: (execution, job) => {
      execution.jobDocument = JSON.stringify(evil)
      execution.jobSignature = anna.sign({ ...job, document: evil, notAfter: '2020-01-01T00:00:00Z' })
    },
    reason: /the signature expired at 2020-01-01T00:00:00Z/,
  },
  {
    name: 'parameters that nobody has declared',
    tamper: (execution) => {
      execution.parameters = { url: 'http://evil.example' }
    },
    reason: /is not a parameter of the job, according to the signed schema/,
  },
  {
    name: 'something else that an author has signed',
    tamper: (execution) => {
      const payload = Buffer.from(JSON.stringify({ document: evil, jobName: 'x', version: 9, more: 1 }))
      execution.jobSignature = anna.signBytes(payload, 'application/json')
    },
    reason: /payloadType|not an envelope/,
  },
  {
    name: 'a signed job with more in it than this agent knows',
    tamper: (execution, { jobName }) => {
      const payload = { document: evil, jobName, more: 1, version: 1000 }
      execution.jobSignature = anna.signBytes(Buffer.from(canonicalJson(payload)))
    },
    reason: /payload\.more is unknown|fields that jobcast-agent\.sh does not know/,
  },
  ...['junk', null, {}].map((junk) => ({
    name: `${JSON.stringify(junk)} for a signature`,
    tamper: (execution: Anything) => {
      execution.jobSignature = junk
    },
    reason: /not trusted/,
  })),
  {
    name: 'base64 that is none',
    tamper: ({ jobSignature }) => {
      jobSignature.payload = '€€€'
    },
    reason: /not trusted/,
  },
]

/** Genuine signatures, but not for this device or this version. */
const genuineElsewhere: Attack[] = [
  {
    name: 'a higher version of another owner',
    tamper: (execution, job) => {
      execution.jobDocument = JSON.stringify(evil)
      execution.jobSignature = anna.sign({ ...job, version: 1000, document: evil, audience: 'lima' })
    },
    reason: /it is signed for the audience "lima", and this device runs only jobs signed for "berlin"/,
  },
  {
    name: 'a higher version for nobody in particular',
    tamper: (execution, { audience: _, ...job }) => {
      execution.jobDocument = JSON.stringify(evil)
      execution.jobSignature = anna.sign({ ...job, version: 1000, document: evil })
    },
    reason: /it is signed without an audience, and this device runs only jobs signed for "berlin"/,
  },
  {
    name: 'another content of the same version',
    tamper: (execution, job) => {
      execution.jobDocument = JSON.stringify(evil)
      execution.jobSignature = anna.sign({ ...job, document: evil })
    },
    reason: /its version (\d+) differs from the version \1 that this device has accepted/,
  },
]

test('a signed job of another audience, or with another content of its version, does not run', async (t) => {
  const { device, trustFile, put, run } = await newBench(t)
  const trust = { keysFile: trustFile, requiredSignatures: 1, audience: 'berlin' }
  await device.start({ trust, server: { by: 'http', url: attacker.http } })
  const job = await put({ audience: 'berlin' })
  assertRuns(await run())
  for (const { name, tamper, reason } of genuineElsewhere) {
    attacker.tamper = (execution) => tamper(execution, job)
    assertRefuses(await run(), reason, name)
  }
  attacker.tamper = undefined
  // Refused executions do not block genuine ones.
  assertRuns(await run())
  await put({ audience: 'berlin' })
  assertRuns(await run())
})

async function exerciseAttacks({ put, run }: Bench): Promise<void> {
  await put()
  assertRuns(await run())
  const job = await put()
  assertRuns(await run())
  for (const { name, tamper, reason } of attacks) {
    attacker.tamper = (execution) => tamper(execution, job)
    assertRefuses(await run(), reason, name)
  }
  attacker.tamper = undefined
  assertRuns(await run())
}

test('an agent of a compromised server starts nothing', async (t) => {
  const bench = await newBench(t)
  const trust = { keysFile: bench.trustFile, requiredSignatures: 1 }
  const agent = await bench.device.start({ trust, server: { by: 'http', url: attacker.http } })
  await exerciseAttacks(bench)
  // The highest version is known after a restart as well.
  await agent.stop()
  await bench.device.start({ trust, server: { by: 'http', url: attacker.http } })
  const replay = attacks.find(({ name }) => name.startsWith('an older version')) as Attack
  attacker.tamper = (execution) => replay.tamper(execution, { jobName: bench.jobName, version: 2, document })
  assertRefuses(await bench.run(), replay.reason, 'after a restart')
})

test('an agent starts nothing after a manipulation of the database', async (t) => {
  const bench = await newBench(t)
  const other = await newBench(t)
  await other.put()
  await bench.device.start({ trust: { keysFile: bench.trustFile, requiredSignatures: 1 } })
  await bench.put()
  assertRuns(await bench.run())
  const envelope = anna.sign({ jobName: other.jobName, version: 1, document })
  const changes: [name: string, change: (content: Anything) => void, reason: RegExp][] = [
    [
      'document',
      (content) => Object.assign(content, { document: evil }),
      /sent a document that differs from the signed one/,
    ],
    ['no signature', (content) => delete content.signatures, /not signed/],
    [
      'swapped signature',
      (content) => Object.assign(content, { signatures: envelope }),
      /is for the job "signed/,
    ],
    ['no payload', (content) => delete content.signatures.payload, /payload must be base64/],
    [
      'the attacker signs',
      (content) => {
        content.document = evil
        content.signatures = eve.sign({ jobName: bench.jobName, version: 99, document: evil })
      },
      unsigned,
    ],
  ]
  for (const [name, change, reason] of changes) {
    // This version was not read yet, so the server reads it from the database.
    await bench.put()
    changeStored(server, bench.jobName, change)
    assertRefuses(await bench.run(), reason, name)
  }
  await bench.put()
  assertRuns(await bench.run())
})

test('the required number of different trusted keys must have signed', async (t) => {
  const bench = await newBench(t)
  await bench.device.start({ trust: { keysFile: bench.trustFile, requiredSignatures: 2 } })
  await exerciseThreshold(bench)
})

async function exerciseThreshold({ put, run }: Bench): Promise<void> {
  const one = /it is signed by 1 of the keys that this device trusts, but 2 are required/
  await put({}, (job) => [anna.sign(job), ben.sign(job)])
  assertRuns(await run())
  await put({}, byAnna)
  assertRefuses(await run(), one, 'one')
  await put({}, (job) => [anna.sign(job), eve.sign(job)])
  assertRefuses(await run(), one, 'one of them not trusted')
  await put({}, byAnna)
  attacker.tamper = ({ jobSignature: { signatures } }) => {
    signatures.push({ ...signatures[0], keyid: 'another' }, { sig: signatures[0].sig })
  }
  assertRefuses(await run(), one, 'the same key twice')
  attacker.tamper = undefined
}

test('values are validated against the signed schema, and the agent puts them into the signed document', async (t) => {
  const bench = await newBench(t)
  const trust = { keysFile: bench.trustFile, requiredSignatures: 1 }
  await bench.device.start({ trust, server: { by: 'http', url: attacker.http } })
  await exerciseParameters(bench)
})

async function exerciseParameters(bench: Bench): Promise<void> {
  bench.device.addHandler('mark', `echo "$@" "$JOBCAST_PARAM_MODE" >>"${join(bench.device.folder, 'marks')}"`)
  const properties = { mode: { type: 'string', enum: ['soft', 'hard'], default: 'soft' } }
  const template = {
    handler: 'mark',
    args: ['${params.mode}', '${device.deviceId}', 'run-${run.runId}', '$${x}'],
  }
  await bench.put({ document: template, parameters: { type: 'object', properties } })
  const { deviceId } = bench.device
  const usual = await bench.run()
  assert.match(usual.marks, new RegExp(`^soft ${deviceId} run-\\d+ \\$\\{x\\} soft\\n$`), usual.reason ?? '')
  assert.match((await bench.run({ mode: 'hard' })).marks, /^hard .* hard\n$/)

  attacker.tamper = (execution) => {
    execution.parameters.mode = 'format'
    execution.jobDocument = execution.jobDocument.replace('soft', 'format')
  }
  assertRefuses(
    await bench.run(),
    /parameters\.mode must be one of .*, according to the signed schema/,
    'a value that is not allowed',
  )
  attacker.tamper = (execution) => Object.assign(execution.parameters, { PATH: '/tmp/evil' })
  assertRefuses(await bench.run(), /parameters\.PATH is not a parameter of the job/, 'another parameter')
  attacker.tamper = (execution) => Object.assign(execution.parameters, { mode: 'hard' })
  assertRefuses(
    await bench.run(),
    /sent a document that differs from the signed one/,
    'another value than in the document',
  )
  attacker.tamper = undefined
}

const hasOpenssl = /-rawin/.test(String(spawnSync('openssl', ['pkeyutl', '-help']).stderr))

for (const shell of findShellPrograms()) {
  // `npm test` takes the first shell only.
  if (shell.isOther && !isChaos) continue
  const skip = shell.missing ?? (hasOpenssl ? false : 'openssl 3 is not on this machine')
  test(`${shell.name} of a compromised server starts nothing`, { skip }, (t) => shellStartsNothing(t, shell))
  chaosTest(`${shell.name} counts different keys, and does not start with invalid settings`, { skip }, (t) =>
    shellCountsKeys(t, shell),
  )
  chaosTest(`${shell.name} puts values into the signed document`, { skip }, (t) => shellFills(t, shell))
  chaosTest(
    `${shell.name} runs what was signed for its audience, and one content of a version`,
    { skip },
    (t) => shellChecksAudience(t, shell),
  )
  chaosTest(`${shell.name} fetches only files whose hash is signed`, { skip }, (t) => shellFetches(t, shell))
}

async function shellStartsNothing(t: TestContext, shell: AgentProgram): Promise<void> {
  const bench = await newBench(t)
  const env = { JOBCAST_TRUST: bench.trustFile, JOBCAST_REQUIRE_SIGNATURES: '1' }
  const agent = startProgram(t, shell, bench.device, attacker.http, env)
  await agent.until(/connected to/)
  await exerciseAttacks(bench)
  await bench.put({ document: { more: 'ü'.repeat(30_000), ...document, list: [{ b: 1, a: [] }] } })
  assertRuns(await bench.run())
  assert.equal(await agent.end('SIGTERM'), 0, agent.printed())
}

async function shellCountsKeys(t: TestContext, shell: AgentProgram): Promise<void> {
  const bench = await newBench(t)
  const env = { JOBCAST_TRUST: bench.trustFile, JOBCAST_REQUIRE_SIGNATURES: '1' }
  const two = startProgram(t, shell, bench.device, attacker.http, { ...env, JOBCAST_REQUIRE_SIGNATURES: '2' })
  await exerciseThreshold(bench)
  assert.equal(await two.end('SIGTERM'), 0, two.printed())
  const refusals: [env: Record<string, string>, message: RegExp][] = [
    [{ JOBCAST_REQUIRE_SIGNATURES: '1' }, /--trust must name the file/],
    [{ ...env, JOBCAST_REQUIRE_SIGNATURES: '3' }, /3 signatures are required, but .* has 2 different keys/],
    [{ ...env, JOBCAST_REQUIRE_SIGNATURES: 'x' }, /must be a positive integer/],
    [{ ...env, JOBCAST_TRUST: bench.device.handlers }, /contains no public key/],
    [{ ...env, JOBCAST_TRUST: '/no/such' }, /cannot be read/],
  ]
  for (const [settings, message] of refusals) {
    const refused = startProgram(t, shell, bench.device, attacker.http, settings)
    assert.equal(await refused.gone(), 2, refused.printed())
    await refused.until(message)
  }
}

async function shellFills(t: TestContext, shell: AgentProgram): Promise<void> {
  const bench = await newBench(t)
  const env = { JOBCAST_TRUST: bench.trustFile, JOBCAST_REQUIRE_SIGNATURES: '1' }
  startProgram(t, shell, bench.device, attacker.http, env)
  await exerciseParameters(bench)
}

async function shellChecksAudience(t: TestContext, shell: AgentProgram): Promise<void> {
  const bench = await newBench(t)
  const { jobName } = bench
  const signs = (job: object) => (execution: Anything) => {
    execution.jobDocument = JSON.stringify(document)
    const payload = { jobName, document, version: 1, ...job }
    execution.jobSignature = anna.signBytes(Buffer.from(canonicalJson(payload)))
  }
  const env = { JOBCAST_TRUST: bench.trustFile, JOBCAST_REQUIRE_SIGNATURES: '1' }
  await bench.put()
  const agent = startProgram(t, shell, bench.device, attacker.http, { ...env, JOBCAST_AUDIENCE: 'berlin' })
  assertRefuses(
    await bench.run(),
    /it is signed without an audience, and this device runs only jobs signed for "berlin"/,
    'none',
  )
  // Refused, and so its high version blocks nothing.
  attacker.tamper = signs({ audience: 'paris', version: 1000 })
  assertRefuses(
    await bench.run(),
    /it is signed for the audience "paris", and this device runs only jobs signed for "berlin"/,
    'another audience',
  )
  attacker.tamper = signs({ audience: ['berlin'] })
  assertRefuses(await bench.run(), /audience that was signed is not a string/, 'a list')
  attacker.tamper = signs({ audience: 'berlin' })
  assertRuns(await bench.run())
  assertRuns(await bench.run())
  attacker.tamper = signs({ audience: 'berlin', notAfter: '2099-01-01T00:00:00Z' })
  assertRefuses(
    await bench.run(),
    /its version 1 differs from the version 1 that this device has accepted/,
    'the same version',
  )
  await agent.end('SIGTERM')
  // Without the flag, the audience is not checked.
  startProgram(t, shell, bench.device, attacker.http, env)
  attacker.tamper = signs({ audience: 'paris', version: 2 })
  assertRuns(await bench.run())
}

async function shellFetches(t: TestContext, shell: AgentProgram): Promise<void> {
  const bench = await newBench(t)
  const put = async (version: string, rawBody: string) => {
    const headers = { 'content-type': 'application/octet-stream' }
    const reply = await server.call('PUT', `/job/api/files/signed/${version}`, { rawBody, headers })
    assert.ok(reply.status < 300, reply.text)
    return String(reply.json.sha256)
  }
  const [sha256, other] = [await put('1.4', 'the content'), await put('6.6', 'other content')]
  bench.device.addHandler('show', `cat "$JOBCAST_FILE_SIGNED" >>"${join(bench.device.folder, 'marks')}"`)
  const env = { JOBCAST_TRUST: bench.trustFile, JOBCAST_REQUIRE_SIGNATURES: '1' }
  startProgram(t, shell, bench.device, attacker.http, env)
  const fetching = {
    handler: 'show',
    files: [{ name: 'signed@1.4', sha256 }],
    facts: ['${file.signed@1.4.url}', '${file.signed@1.4.size}', 'v ${file.signed@1.4.sha256}'],
  }
  await bench.put({ document: fetching })
  assertRuns(await bench.run(), 'the content')
  attacker.tamper = (execution) => {
    const { files, jobDocument } = execution
    const before = files['signed@1.4'].url
    const url = before.replace('/1.4?', '/6.6?')
    Object.assign(files['signed@1.4'], { url, sha256: other })
    execution.jobDocument = jobDocument.replace(before, url)
  }
  assertRefuses(
    await bench.run(),
    /another sha256 than the document names|differs from the signed/,
    'swapped',
  )
  attacker.tamper = undefined
  await bench.put({ document: { handler: 'show', files: ['signed@1.4'] } })
  assertRefuses(await bench.run(), /does not name the sha256 of the file signed@1\.4/, 'no hash')
  await bench.put({ document: { handler: 'show', url: '${file.signed@1.4.url}' } })
  assertRefuses(await bench.run(), /no value for \$\{file\.signed@1\.4\.url\}/, 'only a placeholder')
}
