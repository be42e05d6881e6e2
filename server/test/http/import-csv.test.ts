// Devices imported as CSV.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { RecordSplitter, readRecord } from '../../src/http/wire/csv.ts'

const api = await openSharedServer()
const importCsv = (body: string | Buffer, type = 'text/csv', query = '') =>
  api.call('POST', `/job/api/devices/import${query}`, {
    rawBody: body as string,
    headers: { 'content-type': type, accept: 'application/problem+json' },
  })
const device = async (deviceId: string) => (await api.call('GET', `/job/api/devices/${deviceId}`)).json

test('an import takes CSV: quotes, line breaks in values, CRLF, a byte order mark, and typed attributes', async () => {
  const csv = [
    '\ufeffdeviceId,deviceName,tags,timeZone,site,fw,ram,beta,note',
    'c1,"Kiosk ""1"", Berlin",kiosk; berlin,Europe/Berlin,berlin,2.10,512,true,"two',
    'lines"',
    'c2,,,,,"2",-0.5,false,',
    '',
    'c3,,;,,"","true","512",,x',
  ].join('\r\n')
  const { status, json } = await importCsv(`${csv}\r\n`, 'Text/CSV; charset=UTF-8; header=present')
  assert.deepEqual(
    [status, json],
    [200, { created: 2, updated: 0, unchanged: 0, failed: json.failed, failedTotal: 1 }],
  )
  // A value has no control characters, which a line break is.
  assert.deepEqual([json.failed[0].line, json.failed[0].code], [2, 'J-500'])
  const again = await importCsv(csv.replace('two\r\nlines', 'one line'))
  assert.deepEqual(again.json, { created: 1, updated: 0, unchanged: 2, failed: [], failedTotal: 0 })
  const c1 = await device('c1')
  assert.deepEqual(
    [c1.deviceName, c1.tags, c1.timeZone],
    ['Kiosk "1", Berlin', ['berlin', 'kiosk'], 'Europe/Berlin'],
  )
  assert.deepEqual(c1.attributes, { site: 'berlin', fw: '2.10', ram: 512, beta: true, note: 'one line' })
  const c2 = await device('c2')
  assert.deepEqual([c2.deviceName, c2.tags, c2.timeZone], ['c2', [], null])
  assert.deepEqual(c2.attributes, { fw: '2', ram: -0.5, beta: false })
  assert.deepEqual((await device('c3')).attributes, { fw: 'true', ram: '512', note: 'x' })
})

test('a dry run says what an import overwrites, and a merge sets only what a line has', async () => {
  const body = {
    deviceName: 'One',
    tags: ['kiosk'],
    attributes: { site: 'berlin', rack: 3 },
    timeZone: 'UTC',
  }
  await api.call('PUT', '/job/api/devices/m1', { body })
  await api.call('PUT', '/job/api/devices/m2', { body })
  const csv = 'deviceId,site\nm1,lima\nm2,berlin\nm3,oslo\nm3,oslo\na/b,x\n'
  const plan = (query: string) => importCsv(csv, 'text/csv', query).then(({ json }) => json)
  const replacing = await plan('?dryRun=true')
  assert.deepEqual(
    [replacing.created, replacing.updated, replacing.unchanged, replacing.failedTotal],
    [1, 2, 1, 1],
  )
  const example = { deviceId: 'm1', before: 'berlin', after: 'lima' }
  const { overwritten } = replacing as { overwritten: { field: string; devices: number }[] }
  assert.deepEqual(
    overwritten.map(({ field, devices }) => `${field} ${devices}`),
    ['deviceName 2', 'tags 2', 'timeZone 2', 'attributes.rack 2', 'attributes.site 1'],
  )
  const merging = await plan('?dryRun=true&merge=true')
  assert.deepEqual([merging.created, merging.updated, merging.unchanged], [1, 1, 2])
  assert.deepEqual(merging.overwritten, [{ field: 'attributes.site', devices: 1, example }])
  assert.deepEqual((await device('m1')).attributes, body.attributes)
  assert.equal((await api.call('GET', '/job/api/devices/m3')).status, 404)

  const { created, updated, unchanged } = await plan('?merge=true')
  assert.deepEqual([created + updated + unchanged, created, updated], [4, 1, 1])
  const { deviceName, tags, attributes, timeZone } = await device('m1')
  const merged = { ...body, attributes: { ...body.attributes, site: 'lima' } }
  assert.deepEqual({ deviceName, tags, attributes, timeZone }, merged)
  assert.equal((await importCsv(csv, 'text/csv', '?dryRun=maybe')).json.code, 'J-500')
})

test('a dry run counts several lines of a device as the import does', async () => {
  for (const [deviceId, site] of [
    ['r1', 'berlin'],
    ['r2', 'berlin'],
  ]) {
    await api.call('PUT', `/job/api/devices/${deviceId}`, { body: { attributes: { site } } })
  }
  const lines = ['deviceId,site,rack', 'r1,lima,', 'r1,lima,', 'r2,berlin,', 'new,oslo,', 'new,oslo,']
  for (const query of ['?', '?merge=true&']) {
    const csv = lines.join('\n').replaceAll('new', query === '?' ? 'r3' : 'r4')
    const { json: plan } = await importCsv(csv, 'text/csv', `${query}dryRun=true`)
    const { overwritten, ...counts } = plan
    const example = { deviceId: 'r1', before: 'berlin', after: 'lima' }
    assert.deepEqual(overwritten, [{ field: 'attributes.site', devices: 1, example }])
    assert.deepEqual([counts.created, counts.updated, counts.unchanged], [1, 1, 3])
    assert.deepEqual((await importCsv(csv, 'text/csv', query)).json, counts)
    await api.call('PUT', '/job/api/devices/r1', { body: { attributes: { site: 'berlin' } } })
  }
  // Each line builds on the one before.
  const csv = 'deviceId,site,rack\nr1,lima,\nr1,oslo,\nr1,,1\nr1,oslo,1\nr5,,1\nr5,oslo,\nr5,oslo,1\n'
  const countsOf = async (query: string) => {
    const { created, updated, unchanged, overwritten } = (await importCsv(csv, 'text/csv', query)).json
    return [created, updated, unchanged, overwritten[0].devices]
  }
  assert.deepEqual(await countsOf('?dryRun=true'), [1, 6, 0, 1])
  assert.deepEqual(await countsOf('?dryRun=true&merge=true'), [1, 4, 2, 1])
})

test('lines of CSV that cannot be used are named by the number of the line on which they begin', async () => {
  const { json } = await importCsv(
    [
      'deviceId,site',
      'd1,"a',
      'b"',
      'd2',
      ',berlin',
      'd3,be"rlin',
      'd4,"berlin"x',
      'a/b,lima',
      `d5,${'x'.repeat(200_000)}`,
      'd6,lima',
      'd7,"never closed',
    ].join('\n'),
  )
  assert.equal(json.created, 1)
  assert.deepEqual(
    json.failed.map(({ line, code, message }: { line: number; code: string; message: string }) => [
      line,
      code,
      message.split(': ').at(-1),
    ]),
    [
      [2, 'J-500', json.failed[0].message.split(': ').at(-1)],
      [4, 'J-500', 'it has 1 values, and the header line 2.'],
      [5, 'J-500', 'deviceId is required.'],
      [6, 'J-500', 'a value with a double quote must be in double quotes.'],
      [7, 'J-500', 'expected a comma after a closing quote.'],
      [8, 'J-500', json.failed[5].message.split(': ').at(-1)],
      [9, 'J-904', 'A line has at most 128 KiB.'],
      [11, 'J-500', 'the closing double quote is missing.'],
    ],
  )
})

test('a header line that cannot be used refuses the call, and so does another charset', async () => {
  for (const [header, words] of [
    ['', /no deviceId/],
    ['site,fw', /no deviceId/],
    ['deviceId,site,site', /"site" twice/],
    ['deviceId,a b', /"a b" is neither a field nor a name of an attribute/],
    ['deviceId,reported.fw', /"reported.fw" is neither/],
    ['deviceId,"site', /closing double quote/],
    [`deviceId,${Array.from({ length: 65 }, (_, n) => `a${n}`)}`, /more than 64 attributes/],
  ] as const) {
    const { status, json } = await importCsv(`${header}\nd1,x\n`.replace(/^\n/, ''))
    assert.deepEqual([status, json.code], [400, 'J-500'], header)
    assert.match(json.detail, words)
  }
  assert.equal((await importCsv('')).status, 400)
  assert.equal((await importCsv('deviceId\nd1', 'text/csv; charset=latin1')).json.code, 'J-905')
  const bytes = Buffer.from('deviceId,site\nd1,K\xf6ln\n', 'latin1')
  assert.match((await importCsv(bytes)).json.failed[0].message, /not UTF-8/)
})

test('records are found wherever the body is cut, and a quote that is never closed takes in 128 KiB only', () => {
  const text = 'a,"b\r\n""c"""\r\n\r\nd,"",e\n"f"'
  for (let size = 1; size < text.length; size++) {
    const splitter = new RecordSplitter()
    for (let at = 0; at < text.length; at += size) splitter.add(Buffer.from(text.slice(at, at + size)))
    splitter.end()
    assert.deepEqual(
      splitter.lines.map(({ line, bytes }) => [line, readRecord(bytes as Buffer).map((cell) => cell.text)]),
      [
        [1, ['a', 'b\r\n"c"']],
        [4, ['d', '', 'e']],
        [5, ['f']],
      ],
    )
  }
  const open = new RecordSplitter()
  open.add(Buffer.from(`x,"${'y\n'.repeat(100_000)}`))
  open.end()
  assert.ok(open.lines[0] && open.lines[0].bytes === undefined)
  assert.ok(open.lines.length > 1000)
})
