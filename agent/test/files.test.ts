// Files of a document: fetched before the handler starts, over connections that break, checked, and fetched once.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileReferenceType } from '@jobcast/contract'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { isChaos } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { parseRate } from '../src/files/limit-rate.ts'
import { type DeviceUnderTest, newDeviceUnderTest } from './support/device-under-test.ts'
import { findShellPrograms, startProgram } from './support/programs.ts'

const server = await openSharedServer()
const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

let versions = 0

/** Serves one content; `answer` may respond to a request, numbered from 1; true: it has responded. */
async function openOrigin(
  t: TestContext,
  content: Buffer,
  answer: (requestNo: number, response: ServerResponse, first: number) => boolean = () => false,
) {
  const asked: (string | undefined)[] = []
  const origin = createServer(({ headers: { range } }, response) => {
    asked.push(range)
    const first = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
    if (answer(asked.length, response, first)) return
    const headers = range ? { 'content-range': `bytes ${first}-${content.length - 1}/${content.length}` } : {}
    response.writeHead(range ? 206 : 200, headers).end(content.subarray(first))
  })
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
  t.after(() => origin.close())
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}/app.bin`
  return { url, asked }
}

async function put(path: string, body: object, type = 'application/json'): Promise<void> {
  const sent = { rawBody: JSON.stringify(body), headers: { 'content-type': type } }
  const reply = await server.call('PUT', `/job/api/${path}`, sent)
  assert.ok(reply.status < 300, reply.text)
}

async function openDevice(t: TestContext, options: { maxRate?: number } = {}): Promise<DeviceUnderTest> {
  const device = await newDeviceUnderTest(t, server)
  device.addHandler('install', 'sha256sum < "$JOBCAST_FILE_MY_APP"; pwd; echo "$JOBCAST_FILE_MY_APP"')
  await device.start({ backoff: { baseMs: 10, capMs: 100 }, ...options })
  return device
}

/** A job with the file, run on the device. */
async function install(device: DeviceUnderTest, files: unknown[] = ['my-app']) {
  const jobName = `install-${device.deviceId}-${++versions}`
  await put(`jobs/${jobName}`, { document: { handler: 'install', files } })
  const [{ jobExecutionId }] = (await server.trigger(jobName, [device.deviceId])).json
  const { execState, statusDetails } = await device.ended(jobExecutionId)
  const output = (await device.output(jobExecutionId)).toString()
  return { execState, reason: statusDetails?.reason ?? '', output }
}

async function refer(url: string, content: Buffer): Promise<string> {
  const version = String(++versions)
  const reference = { url, size: content.length, sha256: hashOf(content) }
  await put(`files/my-app/${version}`, reference, fileReferenceType)
  return version
}

test('a file from the server is in the folder of the handler, under its name', async (t) => {
  const device = await openDevice(t)
  const content = randomBytes(300_000)
  const path = `/job/api/files/my-app/${++versions}`
  await server.call('PUT', path, {
    rawBody: content,
    headers: { 'content-type': 'application/octet-stream' },
  })
  const { execState, output, reason } = await install(device)
  assert.equal(execState, 'SUCCEEDED', reason)
  const [hash = '', folder, file] = output.split('\n')
  assert.equal(hash.split(' ')[0], hashOf(content))
  assert.equal(file, `${folder}/my-app`)
})

test('a download continues where the connection was cut, and the next run takes the file from the cache', async (t) => {
  const device = await openDevice(t)
  const content = randomBytes(200_000)
  const files = join(device.options().stateFolder, 'files')
  const hasStored = (bytes: number) =>
    existsSync(files) && readdirSync(files).some((name) => statSync(join(files, name)).size >= bytes)
  const { url, asked } = await openOrigin(t, content, (requestNo, response, first) => {
    if (requestNo > 3) return false
    if (requestNo === 2) {
      response.writeHead(503, { 'retry-after': '1' }).end()
      return true
    }
    const part = content.subarray(first, first + 60_000)
    const range = { 'content-range': `bytes ${first}-${content.length - 1}/${content.length}` }
    response.writeHead(first > 0 ? 206 : 200, {
      ...(first > 0 && range),
      'content-length': content.length - first,
    })
    response.write(part)
    const enough = first + part.length
    void waitUntil(`${enough} bytes are stored`, () => hasStored(enough)).finally(() => response.destroy())
    return true
  })
  await refer(url, content)
  const { execState, output, reason } = await install(device)
  assert.equal(execState, 'SUCCEEDED', reason)
  assert.equal(output.split(' ')[0], hashOf(content))
  assert.deepEqual(asked, [undefined, 'bytes=60000-', 'bytes=60000-', 'bytes=120000-'])
  assert.equal((await install(device)).output.split(' ')[0], hashOf(content))
  assert.equal(asked.length, 4)
})

test('--limit-rate: a download is not faster than the limit', async (t) => {
  const device = await openDevice(t, { maxRate: 1_000_000 })
  const content = randomBytes(2_000_000)
  let begun = 0
  const { url } = await openOrigin(t, content, () => {
    begun ||= performance.now()
    return false
  })
  await refer(url, content)
  const { execState, output, reason } = await install(device)
  assert.equal(execState, 'SUCCEEDED', reason)
  assert.equal(output.split(' ')[0], hashOf(content))
  assert.ok(performance.now() - begun > 1900)
  const rates = ['4096', '200K', '2M', '4095', '3K', '0', '1.5M', '2G', '$(id)', '', '9999999999', '1k']
  assert.deepEqual(
    rates.map((text) => parseRate(text)),
    [4096, 204_800, 2_097_152, ...new Array(9).fill(undefined)],
  )
})

test('content that does not match the hash is REJECTED, and nothing is started or stored', async (t) => {
  const device = await openDevice(t)
  const content = randomBytes(1000)
  const { url } = await openOrigin(t, Buffer.from(content).fill(7))
  await refer(url, content)
  const { execState, reason, output } = await install(device)
  assert.deepEqual([execState, output], ['REJECTED', ''])
  assert.match(reason, /the file my-app has other content than its sha256 says/)
  assert.deepEqual(readdirSync(join(device.options().stateFolder, 'files')), [])
})

test('a hash that differs from the document is REJECTED before anything is fetched', async (t) => {
  const device = await openDevice(t)
  const content = randomBytes(1000)
  const { url, asked } = await openOrigin(t, content)
  const version = await refer(url, content)
  const named = { name: `my-app@${version}`, sha256: '0'.repeat(64) }
  const { execState, reason } = await install(device, [named])
  assert.equal(execState, 'REJECTED')
  assert.match(reason, /another sha256 than the document names/)
  assert.deepEqual(asked, [])
  assert.equal((await install(device, [{ ...named, sha256: hashOf(content) }])).execState, 'SUCCEEDED')
})

test('after 403 the document is requested again; a missing file is FAILED', async (t) => {
  const device = await openDevice(t)
  const content = randomBytes(1000)
  const refuse = (status: number, until: number) => (requestNo: number, response: ServerResponse) => {
    if (requestNo > until) return false
    response.writeHead(status).end()
    return true
  }
  const expiring = await openOrigin(t, content, refuse(403, 1))
  await refer(expiring.url, content)
  const { execState, reason } = await install(device)
  assert.equal(execState, 'SUCCEEDED', reason)
  const other = randomBytes(1000)
  await refer((await openOrigin(t, other, refuse(404, 99))).url, other)
  const failed = await install(device)
  assert.deepEqual([failed.execState, failed.reason], ['FAILED', 'the file my-app the server answers 404'])
})

test('a cancel and a time limit while a file is fetched are reported as such', async (t) => {
  const device = await openDevice(t)
  const content = randomBytes(1000)
  const asked = Promise.withResolvers<void>()
  const { url } = await openOrigin(t, content, (_requestNo, response) => {
    t.after(() => response.destroy())
    response.writeHead(200, { 'content-length': content.length }).write(content.subarray(0, 10))
    asked.resolve()
    return true
  })
  await refer(url, content)
  const document = { handler: 'install', files: ['my-app'] }
  const id = await device.trigger(document)
  await asked.promise
  await device.cancel(id)
  const canceled = await device.ended(id)
  assert.deepEqual([canceled.execState, canceled.statusDetails.reason], ['CANCELED', undefined])
  const late = await device.run({ ...document, timeoutSeconds: 1 })
  assert.deepEqual([late.execState, late.statusDetails.reason], ['FAILED', 'took longer than its time limit'])
  assert.deepEqual(device.log.of('disk-trouble'), [])
})

test('a file that does not fit on the disk is FAILED before anything is fetched', async (t) => {
  const device = await openDevice(t)
  const asked = await referTooLarge(t)
  const { execState, reason, output } = await install(device)
  assert.deepEqual([execState, reason, output], ['FAILED', 'the file my-app does not fit on the disk', ''])
  assert.deepEqual(asked, [])
})

test('a file damaged by a power cut is fetched again completely', async (t) => {
  const device = await openDevice(t)
  const content = randomBytes(1000)
  const { url, asked } = await openOrigin(t, content)
  await refer(url, content)
  await install(device)
  const cached = join(device.options().stateFolder, 'files', hashOf(content))
  assert.ok(existsSync(cached))
  writeFileSync(cached, 'changed')
  writeFileSync(`${cached}.part`, Buffer.alloc(400))
  const { output } = await install(device)
  assert.equal(output.split(' ')[0], hashOf(content))
  assert.deepEqual(asked, [undefined, 'bytes=400-', undefined])
})

/** Refers to content with a declared size larger than any disk. */
async function referTooLarge(t: TestContext) {
  const content = randomBytes(1000)
  const { url, asked } = await openOrigin(t, content)
  const reference = { url, size: 10 ** 15 - 1, sha256: hashOf(content) }
  await put(`files/my-app/${++versions}`, reference, fileReferenceType)
  return asked
}

/** Responds to the first request with a part, then closes the connection. */
function cutOnce(content: Buffer) {
  return (requestNo: number, response: ServerResponse): boolean => {
    if (requestNo > 1) return false
    response.writeHead(200, { 'content-length': content.length })
    response.write(content.subarray(0, 60_000), () => setTimeout(() => response.destroy(), 50))
    return true
  }
}

for (const program of findShellPrograms()) {
  // `npm test` takes the first shell only.
  if (program.isOther && !isChaos) continue
  const open = async (t: TestContext, env: Record<string, string> = {}) => {
    const device = await newDeviceUnderTest(t, server)
    device.addHandler('install', 'sha256sum < "$JOBCAST_FILE_MY_APP"; pwd; echo "$JOBCAST_FILE_MY_APP"')
    startProgram(t, program, device, server.http, env)
    return { device, kept: () => readdirSync(join(device.folder, 'state-sh', 'files')) }
  }
  const named = `with ${program.name}`

  test(`${named} a download continues where it was cut, and is fetched once`, {
    skip: program.missing ?? false,
  }, async (t) => {
    const { device } = await open(t)
    const content = randomBytes(200_000)
    const { url, asked } = await openOrigin(t, content, cutOnce(content))
    const version = await refer(url, content)
    const { execState, output, reason } = await install(device)
    assert.equal(execState, 'SUCCEEDED', reason)
    const [hash = '', folder, file] = output.split('\n')
    assert.deepEqual([hash.split(' ')[0], file], [hashOf(content), `${folder}/my-app`])
    assert.deepEqual(asked, [undefined, 'bytes=60000-'])
    const again = await install(device, [{ name: `my-app@${version}`, sha256: hashOf(content) }])
    assert.deepEqual([again.execState, again.output.split(' ')[0]], ['SUCCEEDED', hashOf(content)])
    assert.equal(asked.length, 2)
  })

  chaosTest(`${named} --limit-rate is given to curl`, { skip: program.missing ?? false }, async (t) => {
    const bin = temporaryFolder(t)
    const calls = join(bin, 'calls')
    const script = `#!/bin/sh\necho "$*" >>"${calls}"\nPATH=\${PATH#*:} exec curl "$@"\n`
    writeFileSync(join(bin, 'curl'), script, { mode: 0o755 })
    const env = { PATH: `${bin}:${process.env.PATH}`, JOBCAST_LIMIT_RATE: '1000K' }
    const { device } = await open(t, env)
    const content = randomBytes(1000)
    await refer((await openOrigin(t, content)).url, content)
    assert.equal((await install(device)).execState, 'SUCCEEDED')
    assert.match(readFileSync(calls, 'utf8'), /\.part .*--limit-rate 1000K\n/)
  })

  test(`${named} content that does not match a hash is REJECTED, and nothing is stored`, {
    skip: program.missing ?? false,
  }, async (t) => {
    const { device, kept } = await open(t)
    const content = randomBytes(1000)
    for (const wrong of [Buffer.alloc(1000, 7), Buffer.alloc(5000, 7)]) {
      const { url } = await openOrigin(t, wrong)
      await refer(url, content)
      const { execState, reason, output } = await install(device)
      assert.deepEqual([execState, output], ['REJECTED', ''])
      assert.match(reason, /the file my-app has other content than its sha256 says/)
      assert.deepEqual(kept(), [])
    }
    const { url, asked } = await openOrigin(t, content)
    const version = await refer(url, content)
    const swapped = await install(device, [{ name: `my-app@${version}`, sha256: '0'.repeat(64) }])
    assert.equal(swapped.execState, 'REJECTED')
    assert.match(swapped.reason, /another sha256 than the document names/)
    assert.deepEqual(asked, [])
  })

  test(`${named} an expired URL is requested again, and a missing file is FAILED`, {
    skip: program.missing ?? false,
  }, async (t) => {
    const { device } = await open(t)
    const content = randomBytes(1000)
    const refuse = (status: number, until: number) => (requestNo: number, response: ServerResponse) => {
      if (requestNo > until) return false
      response.writeHead(status).end('no')
      return true
    }
    await refer((await openOrigin(t, content, refuse(403, 1))).url, content)
    const { execState, reason } = await install(device)
    assert.equal(execState, 'SUCCEEDED', reason)
    const other = randomBytes(1000)
    await refer((await openOrigin(t, other, refuse(404, 99))).url, other)
    const failed = await install(device)
    assert.deepEqual([failed.execState, failed.reason], ['FAILED', 'the file my-app the server answers 404'])
  })

  chaosTest(
    `${named} a file that does not fit on the disk is FAILED before it is fetched`,
    {
      skip: program.missing ?? false,
    },
    async (t) => {
      const { device, kept } = await open(t)
      const asked = await referTooLarge(t)
      const { execState, reason, output } = await install(device)
      assert.deepEqual(
        [execState, reason, output],
        ['FAILED', 'the file my-app does not fit on the disk', ''],
      )
      assert.deepEqual([asked, kept()], [[], []])
    },
  )

  chaosTest(
    `${named} a full disk is FAILED, and leaves nothing`,
    {
      skip: program.missing ?? false,
    },
    async (t) => {
      const bin = temporaryFolder(t)
      const curl = join(bin, 'curl')
      // Whoever writes a file gets no further than its first block; what curl says is what it says of a full disk.
      const full = 'case "$*" in *.part*) trap "" XFSZ; ulimit -f 1 ;; esac'
      writeFileSync(curl, `#!/bin/sh\n${full}\nPATH=\${PATH#*:} exec curl "$@"\n`, { mode: 0o755 })
      const { device, kept } = await open(t, { PATH: `${bin}:${process.env.PATH}` })
      const content = randomBytes(200_000)
      await refer((await openOrigin(t, content)).url, content)
      const { execState, reason, output } = await install(device)
      assert.deepEqual([execState, output], ['FAILED', ''])
      assert.equal(reason, 'the file my-app cannot be stored: the disk is full, or cannot be written')
      assert.deepEqual(kept(), [])
    },
  )
}
