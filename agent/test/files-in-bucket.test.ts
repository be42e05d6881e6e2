// Both agents fetch files from the bucket itself, by URLs of a real S3-compatible store.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import type { SignedJob } from '@jobcast/contract/signature'
import { newAuthor } from '@jobcast/testkit/author'
import { openServer } from '@jobcast/testkit/open-server'
import { openS3Server, type S3Server, withoutS3 } from '@jobcast/testkit/s3-server'
import { isChaos } from '@jobcast/testkit/test-size'
import { newDeviceUnderTest } from './support/device-under-test.ts'
import { type AgentProgram, findPrograms, startProgram } from './support/programs.ts'

const hourMs = 60 * 60_000
const s3 = (withoutS3 ? undefined : await openS3Server({ after })) as S3Server
const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')
const author = newAuthor()

/** Passes requests of devices on to the store, which sees the same Host header. */
async function openFront(t: TestContext, onStatus: (status: number) => void) {
  const { hostname, port } = new URL(s3.url)
  const front = createServer(({ url, method, headers }, response) => {
    const passed = request({ hostname, port, path: url, method, headers }, (answer) => {
      onStatus(answer.statusCode ?? 0)
      response.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy()).end()
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  t.after(() => front.close())
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}`
}

let benches = 0

async function openBench(t: TestContext, program: AgentProgram) {
  const prefix = `agent-${++benches}`
  const statuses: number[] = []
  const clock = { behindMs: 0 }
  const direct = await openFront(t, (status) => {
    statuses.push(status)
    // The next URL is in time.
    if (status === 403) clock.behindMs = 0
  })
  const api = await openServer(t, {
    ...{ filesFolder: undefined, filesBucket: { ...s3.settings(prefix), direct, placeholders: ['other'] } },
    now: () => Date.now() - clock.behindMs,
  })
  const device = await newDeviceUnderTest(t, api)
  device.addHandler('install', 'sha256sum < "$JOBCAST_FILE_APP"')
  const trustFile = join(device.folder, 'trusted.pem')
  writeFileSync(trustFile, author.publicPem, { mode: 0o644 })
  startProgram(t, program, device, api.http, { JOBCAST_TRUST: trustFile, JOBCAST_REQUIRE_SIGNATURES: '1' })
  let version = 0
  return {
    ...{ statuses, clock, prefix },
    async put(content: Buffer) {
      const reply = await api.call('PUT', `/job/api/files/app/${hashOf(content).slice(0, 8)}`, {
        rawBody: content,
        headers: { 'content-type': 'application/octet-stream' },
      })
      assert.equal(reply.status, 201, reply.text)
    },
    /** By a signed job. */
    async run(document: SignedJob['document']) {
      const signatures = [author.sign({ jobName: 'install', version: ++version, document })]
      const reply = await api.call('PUT', '/job/api/jobs/install', { body: { document, signatures } })
      assert.ok(reply.status < 300, reply.text)
      const [{ jobExecutionId }] = (await api.trigger('install', [device.deviceId])).json
      const { execState, statusDetails } = await device.ended(jobExecutionId)
      const output = (await device.output(jobExecutionId)).toString()
      return { execState, reason: statusDetails?.reason ?? '', output }
    },
  }
}

for (const program of await findPrograms()) {
  // `npm test` takes the first shell only.
  if (program.isOther && !isChaos) continue
  const skip = { skip: withoutS3 || (program.missing ?? false) }

  test(`${program.name} asks for another URL when the store says that one has expired`, skip, async (t) => {
    const { put, run, clock, statuses } = await openBench(t, program)
    const content = randomBytes(300_000)
    await put(content)
    const document = { handler: 'install', files: [{ name: 'app', sha256: hashOf(content) }] }
    clock.behindMs = 2 * hourMs
    const { execState, reason, output } = await run(document)
    assert.deepEqual([execState, reason, output.split(' ')[0]], ['SUCCEEDED', '', hashOf(content)])
    assert.deepEqual(statuses, [403, 200])
  })

  test(
    `${program.name} rejects content of the bucket that is not what the author has signed`,
    skip,
    async (t) => {
      const { put, run, prefix, statuses } = await openBench(t, program)
      const content = randomBytes(300_000)
      const sha256 = hashOf(content)
      await put(content)
      await s3.put(`${prefix}/${sha256.slice(0, 2)}/${sha256}`, randomBytes(300_000))
      const swapped = await run({ handler: 'install', files: [{ name: 'app', sha256 }] })
      assert.deepEqual([swapped.execState, swapped.output], ['REJECTED', ''])
      assert.match(swapped.reason, /the file app has other content than its sha256 says/)
      assert.deepEqual(statuses, [200])
      // The content of an object is not signed.
      const placeholder = '${aws:iot:s3-presigned-url-v2:https://s3.amazonaws.com/jobcast-files/other}'
      const named = await run({ handler: 'install', args: [placeholder] })
      assert.deepEqual([named.execState, named.output], ['REJECTED', ''])
      assert.ok(named.reason.includes(`this device has no value for ${placeholder}`), named.reason)
    },
  )
}
