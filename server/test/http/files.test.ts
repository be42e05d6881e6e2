// Files: put as content or as references, fetched whole and in parts, named by documents, and handed out by URLs that expire.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileReferenceType } from '@jobcast/contract'
import { replyOf } from '@jobcast/testkit/call-api'
import { newDevice } from '@jobcast/testkit/call-device'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { assertRefused } from './assert-reply.ts'

const start = Date.parse('2026-11-15T09:30:00.000Z')
const clock = { at: start }
const api = await openSharedServer({ now: () => clock.at, maxFileBytes: 300_000, maxDownloads: 4 })
const call = (method: string, path: string, body?: unknown) =>
  api.call(method, `/job/api/${path}`, { ...(body !== undefined && { body }) })
const put = (path: string, content: Uint8Array | string, headers: Record<string, string> = {}) =>
  api.call('PUT', `/job/api/files/${path}`, {
    rawBody: content,
    headers: { 'content-type': 'application/octet-stream', ...headers },
  })
const putReference = (path: string, reference: object) =>
  put(path, JSON.stringify(reference), { 'content-type': fileReferenceType })
const digest = (content: Uint8Array | string, kind = 'sha256') => createHash(kind).update(content).digest()
const hashOf = (content: Uint8Array | string, kind = 'sha256') => digest(content, kind).toString('hex')
const problem = { accept: 'application/problem+json' }
const filesFolder = join(api.folder, 'files')
const incoming = () =>
  existsSync(join(filesFolder, 'incoming')) ? readdirSync(join(filesFolder, 'incoming')) : []
const kept = (sha256: string) =>
  readdirSync(filesFolder).includes(sha256.slice(0, 2)) &&
  readdirSync(join(filesFolder, sha256.slice(0, 2))).includes(sha256)

test('a version is created once: the same content is 200, another J-320, and only its hash decides', async () => {
  const content = randomBytes(200_000)
  const created = await put('app/1.4', content)
  assert.equal(created.status, 201, created.text)
  const { createdBy, createdByName, createdAt, ...view } = created.json
  assert.deepEqual(view, {
    ...{ fileName: 'app', version: '1.4', isNewest: true, size: 200_000, sha256: hashOf(content) },
    ...{ sha1: hashOf(content, 'sha1'), md5: hashOf(content, 'md5'), url: null, usedBy: [] },
  })
  assert.deepEqual([createdAt, typeof createdByName], [new Date(start).toISOString(), 'string'])
  assert.match(createdBy, /^key:/)
  assert.equal((await put('app/1.4', content)).status, 200)
  assertRefused(await put('app/1.4', 'another'), 'J-320')
  assert.equal((await put('app/1.5', 'newer')).status, 201)
  assert.equal((await put('app/1.4', content)).json.isNewest, false)
  assert.deepEqual(
    (await call('GET', 'files/app')).json.items.map(({ version }: { version: string }) => version),
    ['1.5', '1.4'],
  )
  assert.equal((await call('GET', 'files')).json.items[0].version, '1.5')
  assert.equal((await call('GET', 'files/app/1.4')).json.size, 200_000)
  for (const path of ['files/none', 'files/app/none', 'files/app/none/content'])
    assertRefused(await call('GET', path), 'J-319')
  assert.deepEqual(incoming(), [])
})

test('content is checked by Content-Digest and Digest; a wrong one is J-508, and nothing is kept', async () => {
  const content = randomBytes(1000)
  const base64 = digest(content).toString('base64')
  const wrong = digest('x').toString('base64')
  for (const headers of [
    { 'content-digest': `sha-256=:${wrong}:` },
    { digest: `sha-256=${wrong}` },
  ] as Record<string, string>[])
    assertRefused(await put('checked/1', content, headers), 'J-508')
  assert.equal(kept(hashOf(content)), false)
  assert.deepEqual(incoming(), [])
  assertRefused(await call('GET', 'files/checked/1'), 'J-319')
  for (const headers of [
    { 'content-digest': 'sha-256=:short:' },
    { 'content-digest': 'sha-512=:AAAA:' },
    { digest: `sha-256=${wrong}`, 'content-digest': `sha-256=:${base64}:` },
  ] as Record<string, string>[])
    assertRefused(await put('checked/1', content, headers), 'J-500')
  const right = { 'content-digest': `sha-512=:AAAA:, sha-256=:${base64}:`, digest: `SHA-256=${base64}` }
  assert.equal((await put('checked/1', content, right)).status, 201)
  assertRefused(await put('checked/1', 'y', { digest: `sha-256=${wrong}` }), 'J-320')
})

test('too much is J-904: by its length before it is read, without a length once it has arrived', async (t) => {
  const socket = connect(Number(new URL(api.http).port), '127.0.0.1')
  t.after(() => socket.destroy())
  const head = `PUT /job/api/files/large/1 HTTP/1.1\r\nhost: x\r\nx-api-key: ${api.adminKey}\r\n`
  socket.write(`${head}content-length: 300001\r\n\r\n`)
  const [answer] = (await socket.take(1).toArray()) as Buffer[]
  assert.match(String(answer), /^HTTP\/1\.1 413 [\s\S]*"code":"J-904"/)
  const stream = new ReadableStream({
    start(controller) {
      for (let part = 0; part < 4; part++) controller.enqueue(randomBytes(100_000))
      controller.close()
    },
  })
  const headers = { 'x-api-key': api.adminKey }
  const sent = { method: 'PUT', headers, body: stream, duplex: 'half' } as RequestInit
  assertRefused(await replyOf(await fetch(`${api.http}/job/api/files/large/1`, sent)), 'J-904')
  assert.deepEqual(incoming(), [])
})

test('an upload that is cut off leaves nothing', async () => {
  const socket = connect(Number(new URL(api.http).port), '127.0.0.1')
  const head = `PUT /job/api/files/cut/1 HTTP/1.1\r\nhost: x\r\nx-api-key: ${api.adminKey}\r\n`
  socket.write(`${head}content-length: 200000\r\n\r\n${'x'.repeat(50_000)}`)
  await waitUntil('a part of the upload', () => incoming().length === 1)
  socket.destroy()
  await waitUntil('nothing is left', () => incoming().length === 0)
  assertRefused(await call('GET', 'files/cut/1'), 'J-319')
})

const badNames = ['a.b/1', 'a%2Fb/1', `${'a'.repeat(65)}/1`, 'app/1%2F2', 'app/%0A', `app/${'1'.repeat(65)}`]
for (const path of badNames) {
  test(`the file ${path.slice(0, 20)} is refused with J-500`, async () => {
    assertRefused(await put(path, 'x'), 'J-500')
  })
}

test('no content, and content that is encoded, are refused', async () => {
  assertRefused(await put('none/1', ''), 'J-500')
  const encoded = await put('none/1', 'x', { 'content-encoding': 'gzip' })
  assert.deepEqual([encoded.status, encoded.json.code], [415, 'J-905'])
})

test('a reference is stored as it is, and its content is fetched from there', async () => {
  const reference = { url: 'https://cdn.example.com/a.bin', size: 7, sha256: hashOf('content') }
  assert.equal((await putReference('elsewhere/1', reference)).status, 201)
  assert.equal((await putReference('elsewhere/1', reference)).status, 200)
  assertRefused(await putReference('elsewhere/1', { ...reference, size: 8 }), 'J-320')
  const { url, size, sha1, md5 } = (await call('GET', 'files/elsewhere/1')).json
  assert.deepEqual([url, size, sha1, md5], [reference.url, 7, null, null])
  const hashes = { sha1: hashOf('content', 'sha1'), md5: hashOf('content', 'md5') }
  const { json } = await putReference('elsewhere/2', { ...reference, ...hashes })
  assert.deepEqual([json.sha1, json.md5], [hashes.sha1, hashes.md5])
  const content = await fetch(`${api.http}/job/api/files/elsewhere/1/content`, {
    headers: { 'x-api-key': api.adminKey },
    redirect: 'manual',
  })
  assert.deepEqual([content.status, content.headers.get('location')], [302, reference.url])
  for (const wrong of [
    { ...reference, url: 'ftp://x' },
    { ...reference, sha256: 'A' },
    { ...reference, md5: 'A' },
    { ...reference, more: 1 },
  ])
    assertRefused(await putReference('elsewhere/3', wrong), 'J-500')
})

const ranges: [range: string, ifRange: string | undefined, status: number, part: string | undefined][] = [
  ['bytes=0-3', undefined, 206, 'bytes 0-3/10'],
  ['bytes=4-', undefined, 206, 'bytes 4-9/10'],
  ['bytes=-3', undefined, 206, 'bytes 7-9/10'],
  ['bytes=8-99', undefined, 206, 'bytes 8-9/10'],
  ['bytes=10-', undefined, 416, 'bytes */10'],
  ['bytes=-0', undefined, 416, 'bytes */10'],
  ['bytes=5-2', undefined, 200, undefined],
  ['bytes=0-1,3-4', undefined, 200, undefined],
  ['lines=0-1', undefined, 200, undefined],
  ['bytes=4-', `"${hashOf('0123456789')}"`, 206, 'bytes 4-9/10'],
  ['bytes=4-', '"another"', 200, undefined],
]
for (const [range, ifRange, status, part] of ranges) {
  test(`Range: ${range}${ifRange ? ` with If-Range ${ifRange.slice(0, 9)}…` : ''} is ${status}`, async () => {
    await put('ranged/1', '0123456789')
    const headers = { range, ...(ifRange && { 'if-range': ifRange }) }
    const reply = await api.call('GET', '/job/api/files/ranged/1/content', { headers })
    assert.deepEqual([reply.status, reply.headers.get('content-range') ?? undefined], [status, part])
    const [, first = 0, last = 9] = /(\d+)-(\d+)/.exec(part ?? '') ?? []
    if (status === 416) assert.equal(reply.json.code, 'J-509')
    else assert.equal(reply.text, '0123456789'.slice(Number(first), Number(last) + 1))
  })
}

test('a client that has the content gets 304, and HEAD says how long it is', async () => {
  await put('ranged/1', '0123456789')
  const etag = `"${hashOf('0123456789')}"`
  const same = await api.call('GET', '/job/api/files/ranged/1/content', {
    headers: { 'if-none-match': etag },
  })
  assert.deepEqual([same.status, same.text, same.headers.get('etag')], [304, '', etag])
  const { status, headers } = await api.call('HEAD', '/job/api/files/ranged/1/content')
  assert.deepEqual([status, headers.get('content-length')], [200, '10'])
})

test('a device gets URLs that hold for an hour, of the newest version and of one that is named', async () => {
  clock.at = start
  const content = randomBytes(5000)
  await put('fw/1.4', content)
  await put('fw/2.0+b', 'the newer one')
  const device = await newDevice(api, 'fetches')
  const document = {
    files: ['fw'],
    old: '${file.fw@1.4.url}',
    facts: ['${file.fw.sha256}', '${file.fw.sha1}', '${file.fw.size}', '${file.fw.version}'],
  }
  assert.equal((await call('PUT', 'jobs/update', { document })).status, 201)
  await api.trigger('update', ['fetches'])
  const { execution } = (await device.startNext()).json
  const { old, facts, files } = JSON.parse(execution.jobDocument)
  const newer = 'the newer one'
  assert.deepEqual(files, ['fw'])
  assert.deepEqual(facts, [hashOf(newer), hashOf(newer, 'sha1'), newer.length, '2.0+b'])
  assert.deepEqual(Object.keys(execution.files), ['fw', 'fw@1.4'])
  const { url, ...about } = execution.files.fw
  assert.deepEqual(about, {
    ...{ version: '2.0+b', size: newer.length, sha256: hashOf(newer) },
    ...{ sha1: hashOf(newer, 'sha1'), md5: hashOf(newer, 'md5') },
  })
  assert.equal(await (await fetch(url)).text(), newer)
  assert.deepEqual(Buffer.from(await (await fetch(old)).arrayBuffer()), content)
  const part = await fetch(old, { headers: { range: 'bytes=4000-', 'if-range': `"${hashOf(content)}"` } })
  assert.deepEqual(Buffer.from(await part.arrayBuffer()), content.subarray(4000))
  // People get no signed URL.
  const shown = (await call('GET', `executions/${execution.jobId}/document`)).json
  assert.equal(shown.old, '/files/fw/1.4')

  for (const [name, value] of [
    ['owner', '2'],
    ['until', String(Math.floor(start / 1000) + 9999)],
    ['signature', 'AAAA'],
  ] as const) {
    const forged = new URL(old)
    forged.searchParams.set(name, value)
    assertRefused(await replyOf(await fetch(forged)), 'J-322')
  }
  assertRefused(await replyOf(await fetch(old.replace('/1.4', '/2.0%2Bb'))), 'J-322')
  clock.at = start + 60 * 60_000
  assert.equal((await fetch(old)).status, 200)
  clock.at += 1001
  const expired = await replyOf(await fetch(old, { headers: problem }))
  assert.deepEqual([expired.status, expired.json.code], [403, 'J-322'])
  assert.match(expired.json.detail, /Ask for the document again/)
  const again = await device.call('GET', `/${execution.jobId}?includeJobDocument=true`)
  assert.equal((await fetch(again.json.execution.files['fw@1.4'].url)).status, 200)
  clock.at = start
})

test('an unknown file is J-319 at the document, one in use is J-315 with the names of what uses it', async () => {
  await newDevice(api, 'uses-files')
  const document = { files: ['used'] }
  const refused = await api.call('PUT', '/job/api/jobs/uses', { body: { document }, headers: problem })
  assert.deepEqual([refused.status, refused.json.code, refused.json.field], [404, 'J-319', 'document'])
  await put('used/1', 'one')
  await put('used/2', 'two')
  assert.equal((await call('PUT', 'jobs/uses', { document })).status, 201)
  const run = { jobName: 'uses', targets: { deviceIds: ['uses-files'] } }
  const { runId } = (await call('POST', 'runs', run)).json
  assert.deepEqual((await call('GET', 'files/used/2')).json.usedBy, ['job:uses', `run:${runId}`])
  const inUse = await call('DELETE', 'files/used/2')
  assert.deepEqual([inUse.status, inUse.json.code], [409, 'J-315'])
  assert.match(inUse.json.message, /by the job uses, and by the unfinished run \d+$/)
  // Without a version the newest is meant.
  assert.equal((await call('DELETE', 'files/used/1')).status, 204)
  await call('PUT', 'jobs/uses', { document: { files: ['used@2'] } })
  await call('POST', `runs/${runId}/cancel`)
  await put('used/3', 'three')
  assert.deepEqual((await call('GET', 'files/used/3')).json.usedBy, [])
  assertRefused(await call('DELETE', 'files/used/1'), 'J-319')
  assert.equal((await call('DELETE', 'files/used/2')).json.code, 'J-315')
  await call('DELETE', 'jobs/uses')
  assert.equal((await call('DELETE', 'files/used/2')).status, 204)
  assertRefused(await call('POST', `runs/${runId}/retry`), 'J-301')
})

const wrongDocuments: [string, unknown][] = [
  ['a file that is no name', { files: ['../x'] }],
  ['two files with one variable', { files: ['a-b', 'a_b'] }],
  ['a hash that is none', { files: [{ name: 'a', sha256: 'x' }] }],
  ['an unknown field of a file', { text: '${file.a.mode}' }],
  ['a file in a command', { command: ['sh', '-c', '${file.a.url}'] }],
]
for (const [what, document] of wrongDocuments) {
  test(`a document with ${what} is J-500`, async () => {
    assertRefused(await call('PUT', 'jobs/wrong', { document }), 'J-500')
  })
}

test("the files of AWS's own documents are left alone", async () => {
  const document = { files: [{ fileName: 'a', url: 'https://example.com/a' }] }
  assert.equal((await call('PUT', 'jobs/aws', { document })).status, 201)
})

test('more downloads than max-downloads are J-908 with Retry-After, until one ends', async (t) => {
  await put('slow/1', randomBytes(300_000))
  const path = '/job/api/files/slow/1/content'
  const open = () => {
    const socket = connect({ port: Number(new URL(api.http).port), host: '127.0.0.1' })
    t.after(() => socket.destroy())
    // What is not read stays in the buffers of the server, so its download does not end.
    const request = `GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${api.adminKey}\r\n\r\n`
    socket.pause()
    for (let time = 0; time < 60; time++) socket.write(request)
    return socket
  }
  const sockets = Array.from({ length: 4 }, open)
  const get = () => api.call('GET', path)
  let refused = await get()
  await waitUntil('all slots are taken', async () => {
    refused = await get()
    return refused.status === 503
  })
  assert.deepEqual([refused.json.code, refused.headers.get('retry-after')], ['J-908', '5'])
  for (const socket of sockets) socket.destroy()
  await waitUntil('a slot is free', async () => (await get()).status === 200)
})
