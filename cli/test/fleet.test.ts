// Fleet as code: apply and diff.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { testSize } from '@jobcast/testkit/test-size'
import { openTerminal } from './open-terminal.ts'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const example = fileURLToPath(new URL('../../docs/examples/fleet.yaml', import.meta.url))

/** Each test has its own owner, so that --prune does not affect other tests. */
async function openFleet(t: TestContext) {
  const { key } = await server.newOwner(t.name)
  const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: key }
  const folder = dataFolder(t)
  return {
    access,
    folder,
    write(name: string, text: string): string {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    },
    run: (args: string[], input = '') => runJobcast(args, access, input),
    get: async (path: string) => (await server.call('GET', `/job/api/${path}`, { key })).json,
    put: async (path: string, body: object) => {
      const reply = await server.call('PUT', `/job/api/${path}`, { key, body })
      assert.ok(reply.status < 300, reply.text)
    },
  }
}

test('applies the example of the documentation, and changes nothing the second time', async (t) => {
  const { run, get } = await openFleet(t)
  const before = await run(['diff', '-f', example])
  assert.equal(before.code, 6, before.stderr)
  assert.match(before.stdout, /^\+ job restart\n {4}\+ description: "Restarts the kiosk application"$/m)
  const first = await run(['apply', '-f', example])
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^6 to create, 0 unchanged\nsecret of webhook alerts: whsec_\S+\n$/m)
  assert.match(first.stderr, /^6 done, 0 unchanged\.$/m)
  assert.deepEqual((await get('devices/lobby-2')).tags, ['berlin', 'kiosk'])
  assert.deepEqual((await get('jobs/restart')).retry, {
    max: 2,
    backoffSeconds: 10,
    on: ['FAILED', 'TIMED_OUT'],
  })
  const { updatedAt } = await get('devices/lobby-1')

  const again = await run(['apply', '-f', example])
  assert.deepEqual([again.code, again.stdout], [0, ''])
  assert.match(again.stderr, /Nothing to do: 6 up to date\./)
  assert.equal((await get('devices/lobby-1')).updatedAt, updatedAt)
  const diff = await run(['diff', '-f', example, '--json'])
  assert.equal(diff.code, 0)
  assert.deepEqual(JSON.parse(diff.stdout), { create: 0, update: 0, delete: 0, unchanged: 6, changes: [] })
})

test('apply --dry-run prints what diff prints, with its exit codes, and changes nothing', async (t) => {
  const { run, get, put, write } = await openFleet(t)
  await put('devices/surplus', {})
  const file = write('fleet.yaml', 'devices: { d1: { tags: [a] } }\n')
  for (const flags of [[], ['--prune'], ['--json'], ['--prune', '--output', 'yaml']]) {
    const diff = await run(['diff', '-f', file, ...flags])
    const dryRun = await run(['apply', '--dry-run', '-f', file, ...flags])
    assert.equal(diff.code, 6, diff.stderr)
    assert.deepEqual(dryRun, diff)
  }
  const pruned = await run(['apply', '--dry-run', '-f', file, '--prune'])
  assert.match(pruned.stdout, /^- device surplus$/m)
  const { items } = await get('devices')
  assert.deepEqual(
    items.map(({ deviceId }: { deviceId: string }) => deviceId),
    ['surplus'],
  )
  assert.equal((await run(['apply', '-f', file])).code, 0)
  const after = await run(['apply', '--dry-run', '-f', file])
  assert.deepEqual([after.code, after.stdout], [0, ''])
})

test('diff with a key that may only read compares webhook URLs by host, and says so', async (t) => {
  const { run, write, access } = await openFleet(t)
  const file = write('fleet.yaml', 'webhooks:\n  ops:\n    url: https://example.com/hook?token=1\n')
  const other = write('other.yaml', 'webhooks:\n  ops:\n    url: https://example.org/hook\n')
  assert.equal((await run(['apply', '-f', file])).code, 0)
  const created = await run(['keys', 'new', 'reader', '--scope', 'READ', '--json'])
  const { apiKey } = JSON.parse(created.stdout)
  const asReader = (path: string) => runJobcast(['diff', '-f', path], { ...access, JOBCAST_API_KEY: apiKey })
  const same = await asReader(file)
  assert.equal(same.code, 0, same.stdout)
  assert.match(same.stderr, /^Webhook URLs were compared by scheme and host only: .*MANAGE\.$/m)
  const different = await asReader(other)
  assert.equal(different.code, 6)
  assert.match(different.stdout, /url: "https:\/\/example\.com" -> "https:\/\/example\.org\/hook"/)
  assert.doesNotMatch((await run(['diff', '-f', file])).stderr, /compared/)
})

test('shows and sends only what differs, field by field', async (t) => {
  const { run, get, put, write } = await openFleet(t)
  await put('jobs/a', {
    description: 'Old',
    document: { handler: 'a', deep: { x: 1, y: 2 } },
    timeoutSeconds: 5,
  })
  await put('devices/d1', { deviceName: 'One', tags: ['b', 'a'] })
  await put('devices/d2', {})
  await put('devices/untouched', { tags: ['mine'] })
  const file = write(
    'fleet.yaml',
    'jobs: { a: { description: New, document: { deep: { y: 3, x: 1 }, handler: a } } }\n' +
      'devices: [{ deviceId: d1, deviceName: One, tags: [a, b] }, { deviceId: d2, tags: [new] }, d3]\n',
  )
  const diff = await run(['diff', '-f', file])
  assert.equal(diff.code, 6, diff.stderr)
  const lines = [
    '~ job a',
    '    ~ description: "Old" -> "New"',
    '    ~ document.deep.y: 2 -> 3',
    '    - timeoutSeconds: 5',
    '~ device d2',
    '    ~ tags: [] -> ["new"]',
    '+ device d3',
    '1 to create, 2 to update, 1 unchanged',
  ]
  assert.equal(diff.stdout, `${lines.join('\n')}\n`)
  const before = await get('devices/d1')
  const applied = await run(['apply', '-f', file, '--json'])
  assert.equal(applied.code, 0, applied.stderr)
  const { changes, ...counts } = JSON.parse(applied.stdout)
  assert.deepEqual(counts, { create: 1, update: 2, delete: 0, unchanged: 1 })
  assert.deepEqual(changes[1], {
    action: 'update',
    kind: 'device',
    name: 'd2',
    fields: { tags: { from: [], to: ['new'] } },
    outcome: 'done',
  })
  assert.deepEqual(await get('devices/d1'), before)
  assert.deepEqual((await get('devices/untouched')).tags, ['mine'])
  assert.equal((await get('jobs/a')).timeoutSeconds, null)
})

test('a schedule that gives its job again is compared with what it has by default, and checked before it is sent', async (t) => {
  const { run, get, write } = await openFleet(t)
  const fleet = (when: string, more = '') =>
    write(
      'fleet.yaml',
      'jobs: { update: { document: {} } }\n' +
        `schedules: { fix: { jobName: update, targets: { where: reported.fw<2.4 }, when: { match: true${when} }${more} } }\n`,
    )
  const whole = { match: true, again: 'WHILE_MATCHING', backOffSeconds: 60, onLeave: 'CANCEL' }
  const first = await run(['apply', '-f', fleet(', again: WHILE_MATCHING, onLeave: CANCEL')])
  assert.equal(first.code, 0, first.stderr)
  assert.deepEqual((await get('schedules/fix')).when, whole)
  const same = fleet(', backOffSeconds: 60, again: WHILE_MATCHING, onLeave: CANCEL')
  assert.match((await run(['apply', '-f', same])).stderr, /Nothing to do: 2 up to date/)
  const changed = fleet(', again: ON_NEW_VERSION, backOffSeconds: 300')
  const lines = [
    '~ schedule fix',
    '    ~ when.again: "WHILE_MATCHING" -> "ON_NEW_VERSION"',
    '    ~ when.backOffSeconds: 60 -> 300',
    '    - when.onLeave: "CANCEL"',
    '1 to update, 1 unchanged',
  ]
  assert.equal((await run(['diff', '-f', changed])).stdout, `${lines.join('\n')}\n`)
  assert.equal((await run(['apply', '-f', changed])).code, 0)
  const wanted = { match: true, again: 'ON_NEW_VERSION', backOffSeconds: 300 }
  assert.deepEqual((await get('schedules/fix')).when, wanted)
  // Refused before anything is sent, as the service would.
  for (const [when, more, problem] of [
    [', backOffSeconds: 60', '', /backOffSeconds/],
    [', again: WHILE_MATCHING', ', overlap: QUEUE', /overlap/],
    [', again: ALWAYS', '', /again/],
  ] as const) {
    const { code, stderr } = await run(['apply', '-f', fleet(when, more)])
    assert.equal(code, 5, stderr)
    assert.match(stderr, problem)
    assert.match(stderr, /^Nothing was applied/m)
  }
  assert.deepEqual((await get('schedules/fix')).when, wanted)
})

test('reports all problems of all files together, with file and line, and sends nothing', async (t) => {
  const { run, get, write, folder } = await openFleet(t)
  write('a.yaml', 'devices:\n  good: {}\n  k/1: { tags: [x, 5] }\n  twice: {}\ndevice: {}\n')
  write(
    'b.yml',
    'jobs:\n  execute:\n  a:\n    timeoutSeconds: 0\n    descripton: typo\n---\ndevices:\n  twice: {}\n',
  )
  write('c.json', '{"webhooks": [{"webhookName": "w", "eventTypes": ["odd"]}]}')
  write('d.yaml', 'jobs:\n---\na: [\n')
  const { code, stdout, stderr } = await run(['apply', '-f', folder])
  assert.equal(code, 5)
  assert.equal(stdout, '')
  const expected = [
    /a\.yaml:3:3: device k\/1: must be .* without \/ \+ # \?$/m,
    /a\.yaml:3:20: device k\/1, tags\.1: must be a string, not the number 5 \(put it in quotes\)$/m,
    /a\.yaml:5:1: unknown field device; the fields of a fleet file are windows, secrets, files, groups, jobs, devices, schedules, webhooks/m,
    /b\.yml:2:3: job execute: the name "execute" is reserved$/m,
    /b\.yml:4:5: job a, timeoutSeconds: must be >= 1$/m,
    /b\.yml:5:5: job a, descripton: unknown field$/m,
    /b\.yml:8:3: device twice: duplicate; first defined at .*a\.yaml:4:3$/m,
    /c\.json:1:15: webhook w: url is missing$/m,
    /c\.json:1:\d+: webhook w, eventTypes\.0: must be one of run\.\*, /m,
    /d\.yaml:1:1: jobs: must be a map or a list; write \{\} for none$/m,
    /d\.yaml:\d:\d: Flow sequence/m,
    /^Nothing was applied: 11 problems in the files\.$/m,
  ]
  for (const line of expected) assert.match(stderr, line)
  assert.deepEqual((await get('devices')).items, [])
})

test('exits with 2 for missing files and for folders without files', async (t) => {
  const { run, folder } = await openFleet(t)
  mkdirSync(join(folder, 'empty'))
  for (const path of [join(folder, 'no.yaml'), join(folder, 'empty')]) {
    assert.equal((await run(['diff', '-f', path])).code, 2)
  }
  assert.equal((await run(['diff'])).code, 2)
})

test('takes names as written, and reads several files and standard input', async (t) => {
  const { run, get, write } = await openFleet(t)
  const one = write('one.yaml', 'devices: { 0012: {}, 7: { deviceName: "7" }, true: {} }')
  const applied = await run(['apply', '-f', one, '-f', '-'], 'devices: [from-stdin]\n---\n---\njobs: {}\n')
  assert.equal(applied.code, 0, applied.stderr)
  const ids = (await get('devices')).items.map(({ deviceId }: { deviceId: string }) => deviceId)
  assert.deepEqual(ids, ['0012', '7', 'from-stdin', 'true'])
})

test('--prune deletes only kinds that the files contain, and without a terminal requires --yes', async (t) => {
  const { run, get, put, write } = await openFleet(t)
  await put('jobs/kept', {})
  await put('devices/old-1', {})
  await put('devices/d1', {})
  const file = write('fleet.yaml', 'devices: { d1: {} }')
  const refused = await run(['apply', '-f', file, '--prune'])
  assert.equal(refused.code, 2)
  assert.match(refused.stderr, /--yes/)
  const diff = await run(['diff', '-f', file, '--prune'])
  assert.deepEqual([diff.code, diff.stdout], [6, '- device old-1\n1 to delete, 1 unchanged\n'])
  assert.equal((await run(['apply', '-f', file])).code, 0)
  assert.equal((await get('devices')).items.length, 2)
  const pruned = await run(['apply', '-f', file, '--prune', '--yes'])
  assert.equal(pruned.code, 0, pruned.stderr)
  assert.deepEqual((await get('devices')).items.length, 1)
  assert.equal((await get('jobs')).items.length, 1)
  assert.equal((await run(['apply', '-f', file, '--prune', '--yes'])).stdout, '')
})

test('windows are there before the jobs, devices and groups that name them, and go after them', async (t) => {
  const { run, get, write } = await openFleet(t)
  const window = 'nights: { cron: "0 2 * * *", durationMinutes: 60 }'
  const named = 'devices: { d1: { window: nights } }\ngroups: { g: { where: all, window: nights } }\n'
  const file = write('f.yaml', `jobs:\n  restart: { window: nights }\n${named}windows:\n  ${window}\n`)
  assert.equal((await run(['apply', '-f', file])).code, 0)
  for (const path of ['jobs/restart', 'devices/d1', 'groups/g'])
    assert.equal((await get(path)).window, 'nights', path)
  assert.equal((await run(['diff', '-f', file])).code, 0)
  const wrong = write(
    'wrong.yaml',
    'windows:\n  w: { cron: "0 2 * * *", durationMinutes: 60, cutoffMinutes: 60 }\n',
  )
  const refused = await run(['apply', '-f', wrong])
  assert.deepEqual(
    [refused.code, /cutoffMinutes must be less/.test(refused.stderr)],
    [5, true],
    refused.stderr,
  )
  write('f.yaml', 'jobs: {}\ndevices: {}\ngroups: {}\nwindows: {}\n')
  const pruned = await run(['apply', '-f', file, '--prune', '--yes'])
  assert.equal(pruned.code, 0, pruned.stderr)
  assert.equal((await get('windows')).items.length, 0)
})

test('at a terminal --prune shows the plan and asks; no changes nothing', async (t) => {
  const { access, put, get, write } = await openFleet(t)
  await put('devices/old-1', {})
  const file = write('fleet.yaml', 'devices: { d1: {} }')
  const question =
    /- device old-1\n1 to create, 1 to delete, 0 unchanged\nDelete 1 resource that is not in the files\? \[y\/N\]$/
  const declined = openTerminal(t, ['apply', '-f', file, '--prune'], access)
  await declined.until(question)
  declined.press('n\r')
  assert.equal(await declined.ended, 130)
  assert.deepEqual((await get('devices')).items.length, 1)
  const agreed = openTerminal(t, ['apply', '-f', file, '--prune'], access)
  await agreed.until(question)
  agreed.press('yes\r')
  assert.equal(await agreed.ended, 0)
  assert.equal((await get('devices')).items[0].deviceId, 'd1')
})

test('an error of one resource does not stop the others, and is reported at the end', async (t) => {
  const { run, get, write } = await openFleet(t)
  // A schema cannot know which addresses this service blocks.
  const file = write(
    'fleet.yaml',
    'webhooks:\n  bad: { url: "http://127.0.0.1/" }\n  good: { url: "https://example.com/" }\n',
  )
  const { code, stderr, stdout } = await run(['apply', '-f', file, '--json'])
  assert.equal(code, 5)
  assert.match(stderr, /^webhook bad: Validation error \(J-500\): url points to an address/m)
  assert.match(stderr, /^1 done, 0 unchanged, 1 with an error\.$/m)
  const { changes } = JSON.parse(stdout)
  assert.deepEqual(
    changes.map(({ name, outcome, secret }: Record<string, unknown>) => [name, outcome, typeof secret]),
    [
      ['bad', 'error', 'undefined'],
      ['good', 'done', 'string'],
    ],
  )
  assert.equal((await get('webhooks/good')).url, 'https://example.com/')
})

test('uses the secret of a file for a new webhook, and never prints it', async (t) => {
  const { run, write } = await openFleet(t)
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const file = write('fleet.yaml', `webhooks: { w: { url: "https://example.com/", secret: "${secret}" } }`)
  const first = await run(['apply', '-f', file])
  assert.equal(first.code, 0, first.stderr)
  assert.doesNotMatch(first.stdout + first.stderr, /whsec_/)
  assert.match((await run(['apply', '-f', file])).stderr, /Nothing to do/)
})

test('puts versions of files before the jobs that name them, once; a version with other content is rejected', async (t) => {
  const { run, write, get } = await openFleet(t)
  const path = write('app.bin', 'the content')
  const reference = `{ url: "https://cdn.example.com/m", size: 7, sha256: "${'0'.repeat(64)}" }`
  const fleet = (jobs: string) =>
    write('fleet.yaml', `files: { app@1.4: { path: "${path}" }, "model@1": ${reference} }\n${jobs}`)
  const file = fleet('jobs: { update: { document: { files: [app@1.4, model] } } }')
  const first = await run(['apply', '-f', file])
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^\+ file app@1\.4$/m)
  assert.deepEqual((await get('files/app/1.4')).usedBy, ['job:update'])
  assert.equal((await get('files/model/1')).url, 'https://cdn.example.com/m')
  assert.match((await run(['apply', '-f', file])).stderr, /Nothing to do: 3 up to date/)
  write('app.bin', 'other content')
  const other = await run(['apply', '-f', file])
  assert.match(other.stderr, /^file app@1\.4: .*J-320/m)
  write(
    'none.yaml',
    'files: { "app@1": {}, app: { path: nothing }, "b@1": { path: /no/such }, "c@1": { size: 1 } }',
  )
  const { code, stderr } = await run(['diff', '-f', file.replace('fleet.yaml', 'none.yaml')])
  assert.equal(code, 5)
  for (const problem of [
    /file app@1: needs either path, or url, size and sha256/,
    /file app: must match pattern/,
    /file b@1: there is no file \/no\/such/,
    /file c@1: a reference needs url, size and sha256/,
  ])
    assert.match(stderr, problem)
  const pruned = await run(['apply', '-f', write('fleet.yaml', 'files: {}\njobs: {}'), '--prune', '--yes'])
  assert.equal(pruned.code, 0, pruned.stderr)
  assert.deepEqual((await get('files')).items, [])
})

test('exits with 3 if the key lacks READ or MANAGE, and with 8 if the service is unreachable', async (t) => {
  const { run, write } = await openFleet(t)
  const devices = Array.from({ length: 100 }, (_, no) => `d${no}`)
  const file = write('fleet.json', JSON.stringify({ devices }))
  const { ownerId } = await server.newOwner(`${t.name}, again`)
  const reader = (await server.newKey(['READ'], { ownerId })).apiKey
  const refused = await run(['apply', '-f', file, '--api-key', reader])
  assert.equal(refused.code, 3)
  assert.match(refused.stderr, /\(J-804\): MANAGE/)
  // The others would get the same error.
  assert.match(refused.stderr, /^0 done, 0 unchanged, \d{1,2} with an error, \d\d not attempted\.$/m)
  const manager = (await server.newKey(['MANAGE'], { ownerId })).apiKey
  assert.equal((await run(['diff', '-f', file, '--api-key', manager])).code, 3)
  assert.equal((await run(['diff', '-f', file, '--url', 'http://127.0.0.1:1'])).code, 8)
})

/** More than two pages of a list. */
const many = testSize('devices', { test: 450, chaos: 2000 })

test(`applies ${many} devices, and compares them in a few pages the second time`, async (t) => {
  const { run, get, write } = await openFleet(t)
  const devices = Array.from({ length: many }, (_, no) => `  d-${no}: { <<: *shared, deviceName: D ${no} }\n`)
  const file = write('fleet.yaml', `x-shared: &shared { tags: [a, b] }\ndevices:\n${devices.join('')}`)
  const first = await run(['apply', '-f', file])
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stderr, new RegExp(`^${many} done, 0 unchanged\\.$`, 'm'))
  assert.deepEqual((await get(`devices/d-${many - 1}`)).tags, ['a', 'b'])
  assert.match((await run(['apply', '-f', file])).stderr, new RegExp(`Nothing to do: ${many} up to date`))
})
