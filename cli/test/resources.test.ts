// Jobs, devices, enrollments, keys, owners, webhooks.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { resources } from '@jobcast/client'
import { openSharedServer } from '@jobcast/testkit/shared-server'
import { commands } from '../src/command-list.ts'
import { openTerminal } from './open-terminal.ts'
import { dataFolder, runJobcast } from './run-jobcast.ts'

const server = await openSharedServer()
const access = { JOBCAST_URL: server.http, JOBCAST_API_KEY: server.adminKey }

const jobcast = (...args: string[]) => runJobcast(args, access)

/** Standard output; the command must succeed. */
async function outputOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await jobcast(...args)
  assert.equal(code, 0, stderr)
  return stdout
}

for (const name of Object.keys(resources)) {
  test(`${name} have a command with ls, get, put and rm`, async () => {
    const command = await commands.find((each) => each.name === name)?.load()
    const found = command?.commands.map((each) => each.name()) ?? []
    assert.deepEqual(
      ['ls', 'get', 'put', 'rm'].filter((each) => !found.includes(each)),
      [],
    )
  })
}

test('creates a job from a file, updates it by flags without losing other fields, shows and deletes it', async (t) => {
  const file = join(dataFolder(t), 'job.yaml')
  writeFileSync(file, 'description: Old\ndocument: { handler: restart }\nretry: { max: 2 }\n')
  assert.equal(await outputOf('jobs', 'put', 'restart', '-f', file), '')
  await outputOf('jobs', 'put', 'restart', '--description', 'New', '--timeout-seconds', '60')
  const job = JSON.parse(await outputOf('jobs', 'get', 'restart', '--json'))
  assert.equal(job.description, 'New')
  assert.equal(job.timeoutSeconds, 60)
  assert.equal(job.retry.max, 2)
  assert.deepEqual(job.document, { handler: 'restart' })
  assert.match(await outputOf('jobs', 'get', 'restart'), /^document +\{"handler":"restart"\}$/m)
  assert.match(await outputOf('jobs'), /^JOB +VERSION +DESCRIPTION +UPDATED +BY\n(?:.*\n)*restart +2 +New /)
  await outputOf('jobs', 'rm', 'restart', '--yes')
  const gone = await jobcast('jobs', 'get', 'restart')
  assert.equal(gone.code, 4)
  assert.match(gone.stderr, /J-301/)
  assert.equal(gone.stdout, '')
})

test('rm of a job that a schedule needs names the schedule and needs --force', async () => {
  await outputOf('jobs', 'put', 'cli-needed')
  const nightly = ['--job', 'cli-needed', '--where', 'all', '--cron', '0 3 * * *']
  await outputOf('schedules', 'put', 'cli-needs', ...nightly)
  const refused = await jobcast('jobs', 'rm', 'cli-needed', '--yes')
  assert.notEqual(refused.code, 0)
  assert.match(refused.stderr, /J-315.*by the schedule cli-needs|by the schedule cli-needs.*J-315/s)
  assert.match(
    (await jobcast('jobs', 'rm', 'cli-needed', '--yes', '--force')).stderr,
    /Deleted job cli-needed/,
  )
  await outputOf('schedules', 'rm', 'cli-needs', '--yes')
})

test('versions of a job are listed, compared and restored', async () => {
  for (const n of [1, 2]) {
    await runJobcast(['jobs', 'put', 'versioned', '-f', '-'], access, `document: { n: ${n} }\n`)
  }
  const listed = await outputOf('jobs', 'versions', 'versioned')
  assert.match(listed, /^VERSION +CREATED +BY +DESCRIPTION\n2 \(current\) .*\n1 /)
  const diff = await jobcast('jobs', 'diff', 'versioned', '1', '2')
  assert.deepEqual([diff.code, diff.stdout], [6, '~ document.n: 1 -> 2\n'])
  await outputOf('jobs', 'restore', 'versioned', '1')
  assert.equal(await outputOf('jobs', 'diff', 'versioned', '1'), '')
  assert.match((await jobcast('jobs', 'diff', 'versioned', '9')).stderr, /J-313/)
  await outputOf('devices', 'put', 'v-1')
  const run = JSON.parse(await outputOf('trigger', 'versioned', '-d', 'v-1', '--version', '2', '--json'))
  assert.equal(run.version, 2)
  assert.match((await jobcast('runs', 'retry', String(run.runId), '--version', 'newest')).stderr, /J-305/)
  const rolledBack = await jobcast('runs', 'rollback', String(run.runId), '--to', '1')
  assert.equal(rolledBack.code, 0, rolledBack.stderr)
  assert.match((await jobcast('runs', 'rollback', String(run.runId), '--to', '1')).stderr, /J-317/)
})

test('exits with 5 if the service rejects the content, and with 2 if a file is missing or not a map', async () => {
  const put = (input: string) => runJobcast(['jobs', 'put', 'odd', '-f', '-'], access, input)
  assert.equal((await put('timeoutSeconds: soon')).code, 5)
  assert.equal((await put('- a')).code, 2)
  assert.equal((await put('a: [')).code, 2)
  assert.equal((await jobcast('jobs', 'put', 'odd', '-f', '/nowhere.yaml')).code, 2)
  assert.equal((await jobcast('devices', 'put', 'a/b')).code, 5)
})

test('lists devices by tag and state; tags are kept by default', async () => {
  await outputOf('devices', 'put', 'cli-1', '--name', 'One', '--tag', 'north', '--tag', 'new, shiny')
  await outputOf('devices', 'put', 'cli-2', '--tag', 'south')
  await outputOf('devices', 'put', 'cli-1', '--name', 'Uno')
  const listed = async (...args: string[]) =>
    JSON.parse(await outputOf('devices', 'ls', '--json', ...args)).map(
      ({ deviceId, deviceName, tags }: Record<string, unknown>) => [deviceId, deviceName, tags],
    )
  assert.deepEqual(await listed('--tag', 'north'), [['cli-1', 'Uno', ['new, shiny', 'north']]])
  assert.deepEqual(await listed('--tag', 'north', '--online'), [])
  assert.equal((await listed('--tag', 'north', '--offline')).length, 1)
  assert.equal((await jobcast('devices', '--online', '--offline')).code, 2)
  await outputOf('devices', 'put', 'cli-1', '--clear-tags')
  assert.deepEqual(await listed('--tag', 'north'), [])
  assert.match(await outputOf('devices', 'get', 'cli-1'), /^name +Uno$/m)
  const limited = await jobcast('devices', 'ls', '--limit', '1')
  assert.equal(limited.stdout.trim().split('\n').length, 2)
  assert.match(limited.stderr, /More results exist/)
})

test('prints only the device token on standard output; it works until it is revoked', async () => {
  await outputOf('devices', 'put', 'cli-token')
  const token = await outputOf('devices', 'token', 'cli-token')
  assert.match(token, /^jd_\w+\n$/)
  const signIn = async () =>
    (
      await fetch(`${server.http}/things/cli-token/jobs`, {
        headers: { authorization: `Bearer ${token.trim()}` },
      })
    ).status
  assert.equal(await signIn(), 200)
  assert.equal((await jobcast('devices', 'revoke', 'cli-token')).code, 2)
  await outputOf('devices', 'revoke', 'cli-token', '-y')
  assert.notEqual(await signIn(), 200)
  const json = JSON.parse(await outputOf('devices', 'token', 'cli-token', '--json'))
  assert.deepEqual(Object.keys(json), ['deviceId', 'deviceToken'])
})

test('without a terminal deletes nothing without --yes, and exits with 2', async () => {
  await outputOf('devices', 'put', 'cli-kept')
  const { code, stderr } = await jobcast('devices', 'rm', 'cli-kept')
  assert.equal(code, 2)
  assert.match(stderr, /use --yes/)
  await outputOf('devices', 'get', 'cli-kept')
  await outputOf('devices', 'rm', 'cli-kept', '--yes')
  assert.equal((await jobcast('devices', 'rm', 'cli-kept', '--yes')).code, 4)
})

test('at a terminal asks: no keeps the device and exits with 130, yes deletes it', async (t) => {
  await outputOf('devices', 'put', 'cli-asked')
  const question = /Delete device cli-asked\? Its unfinished executions are canceled\. \[y\/N\]$/
  const declined = openTerminal(t, ['devices', 'rm', 'cli-asked'], access)
  await declined.until(question)
  declined.press('\r')
  assert.equal(await declined.ended, 130)
  assert.match(declined.screen.text(), /Canceled; nothing was changed\./)
  await outputOf('devices', 'get', 'cli-asked')
  const agreed = openTerminal(t, ['devices', 'rm', 'cli-asked'], access)
  await agreed.until(question)
  agreed.press('y\r')
  assert.equal(await agreed.ended, 0)
  assert.match(agreed.screen.text(), /Deleted device cli-asked\./)
  assert.equal((await jobcast('devices', 'get', 'cli-asked')).code, 4)
})

test('creates an enrollment from flags, lists and revokes it', async () => {
  const flags = ['--name', 'cli', '--max-uses', '3', '--expires-in', '2d', '--tag', 'a', '--prefix', 'k-']
  const made = JSON.parse(await outputOf('enrollments', 'new', ...flags, '--json'))
  assert.deepEqual([made.maxUses, made.tags, made.deviceIdPrefix], [3, ['a'], 'k-'])
  assert.equal(Date.parse(made.expiresAt) - Date.parse(made.createdAt), 2 * 86_400_000)
  assert.match(await outputOf('enrollments', 'new', '--any-device'), /^je_\w+\n$/)
  const unclear = await jobcast('enrollments', 'new')
  assert.equal(unclear.code, 2)
  assert.match(unclear.stderr, /--prefix kiosk- allows ids .* --any-device allows every id/)
  assert.equal((await jobcast('enrollments', 'new', '--any-device', '--prefix', 'a-')).code, 2)
  await outputOf('enrollments', 'rm', made.enrollmentId, '-y')
  assert.match(await outputOf('enrollments'), new RegExp(`^${made.enrollmentId} +cli +0 of 3 +k- `, 'm'))
  assert.equal((await jobcast('enrollments', 'new', '--any-device', '--expires-in', 'soon')).code, 2)
})

test('creates a key with scopes and revokes it; exits with 3 without the required scope', async () => {
  const key = (await outputOf('keys', 'new', 'cli-reader', '--scope', 'read', '--expires', '90d')).trim()
  assert.match(key, /^jc_\w+$/)
  const withKey = (...args: string[]) => runJobcast(args, { ...access, JOBCAST_API_KEY: key })
  assert.equal((await withKey('jobs')).code, 0)
  const refused = await withKey('jobs', 'put', 'x', '-f', '-')
  assert.equal(refused.code, 2) // empty standard input is not a map
  const noScope = await withKey('devices', 'put', 'x')
  assert.equal(noScope.code, 3)
  assert.match(noScope.stderr, /\(J-804\): MANAGE/)
  const { keyId } = JSON.parse((await withKey('whoami', '--json')).stdout)
  await outputOf('keys', 'rm', keyId, '--yes')
  assert.equal((await withKey('whoami')).code, 3)
  const listed = JSON.parse(await outputOf('keys', '--json'))
  assert.ok(
    listed.some((each: { keyId: string; revokedAt: unknown }) => each.keyId === keyId && each.revokedAt),
  )
  assert.equal((await jobcast('keys', 'new', 'x')).code, 2)
  const unknown = await jobcast('keys', 'new', 'x', '--scope', 'READ,EVERYTHING')
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, /Allowed choices are TRIGGER, READ, MANAGE, APPROVE, AUDIT, ADMIN\./)
})

test('says that a key never expires and how to give it an end, unless it has one', async () => {
  const messageOf = async (...args: string[]) => {
    const { code, stdout, stderr } = await jobcast('keys', 'new', 'cli-endless', '--scope', 'READ', ...args)
    assert.equal(code, 0, stderr)
    assert.doesNotMatch(stdout, /never/)
    return stderr
  }
  const never = /^This key never expires\. To give a key an end, create it with --expires, such as 90d\.$/m
  assert.match(await messageOf(), never)
  assert.doesNotMatch(await messageOf('--expires', '90d'), never)
  assert.doesNotMatch(await messageOf('--json'), never)
  const maker = await outputOf('keys', 'new', 'cli-ending', '--scope', 'MANAGE,READ', '--expires', '2d')
  assert.doesNotMatch(await messageOf('--api-key', maker.trim()), never)
})

test('creates an owner and its first key', async () => {
  const ownerId = (await outputOf('owners', 'new', 'cli-north')).trim()
  assert.match(ownerId, /^ow_\w+$/)
  assert.match(await outputOf('owners'), new RegExp(`^${ownerId} +cli-north `, 'm'))
  const key = (await outputOf('keys', 'new', 'first', '--scope', 'READ', '--owner', ownerId)).trim()
  const whoami = await runJobcast(['whoami', '--json'], { ...access, JOBCAST_API_KEY: key })
  assert.equal(JSON.parse(whoami.stdout).ownerId, ownerId)
  assert.equal((await jobcast('owners', 'new', 'cli-north')).code, 5)
})

test('creates a webhook, updates it without losing other fields, pauses, resumes, and renews its secret', async () => {
  const missing = await jobcast('webhooks', 'put', 'alerts')
  assert.equal(missing.code, 2)
  assert.match(missing.stderr, /--to is required/)
  const to = 'https://example.com/jobcast'
  const events = ['--event', 'execution.failed,run.*']
  assert.match(await outputOf('webhooks', 'put', 'alerts', '--to', to, ...events), /^whsec_\S+\n$/)
  assert.equal(await outputOf('webhooks', 'put', 'alerts', '--job', 'restart'), '')
  const { url, eventTypes, jobName } = JSON.parse(await outputOf('webhooks', 'get', 'alerts', '--json'))
  assert.deepEqual(
    { url, eventTypes, jobName },
    { url: to, eventTypes: ['execution.failed', 'run.*'], jobName: 'restart' },
  )
  await outputOf('webhooks', 'pause', 'alerts')
  assert.match(await outputOf('webhooks'), /^alerts +PAUSED \(owner\) +https:/m)
  await outputOf('webhooks', 'resume', 'alerts')
  assert.match(await outputOf('webhooks', 'get', 'alerts'), /^state +ACTIVE$/m)
  assert.match(await outputOf('webhooks', 'secret', 'alerts'), /^whsec_\S+\n$/)
  assert.match(await outputOf('webhooks', 'deliveries', 'alerts', '--state', 'FAILED'), /^EVENT +TYPE +STATE/)
  for (const wrong of [
    ['deliveries', 'alerts', '--state', 'ODD'],
    ['put', 'alerts', '--event', 'run.*,odd'],
  ]) {
    const { code, stderr } = await jobcast('webhooks', ...wrong)
    assert.equal(code, 2)
    assert.match(stderr, /Allowed choices are (?:PENDING, DELIVERED, FAILED|run\.\*, .*)\./)
  }
  await outputOf('webhooks', 'replay', 'alerts', '--since', '1h')
  assert.equal((await jobcast('webhooks', 'replay', 'alerts', '--event', '999999')).code, 4)
  assert.equal((await jobcast('webhooks', 'replay', 'alerts')).code, 2)
  await outputOf('webhooks', 'put', 'alerts', '--to', 'https://hook.invalid/')
  const refused = await jobcast('webhooks', 'test', 'alerts', '--json')
  assert.equal(refused.code, 6)
  const { ms, ...result } = JSON.parse(refused.stdout)
  assert.deepEqual(
    { result, isRounded: ms % 1000 === 0 },
    { result: { status: null, error: 'could not connect' }, isRounded: true },
  )
  await outputOf('webhooks', 'rm', 'alerts', '--yes')
  assert.equal((await jobcast('webhooks', 'get', 'alerts')).code, 4)
  assert.equal((await jobcast('webhooks', 'test', 'alerts')).code, 4)
})

test('keys revoke --descendants revokes what was created with a key, and says how much', async () => {
  const all = ['--scope', 'MANAGE,TRIGGER,READ']
  const maker = (await outputOf('keys', 'new', 'cli-maker', ...all, '--expires', '2d')).trim()
  const child = JSON.parse(await outputOf('keys', 'new', 'cli-child', ...all, '--api-key', maker, '--json'))
  await outputOf('jobs', 'put', 'cli-left')
  const nightly = ['--job', 'cli-left', '--where', 'all', '--cron', '0 3 * * *']
  await outputOf('schedules', 'put', 'cli-left', ...nightly, '--api-key', child.apiKey)
  const keyId = maker.slice(3, 13)
  assert.equal(child.createdBy, `key:${keyId}`)
  assert.match(await outputOf('keys'), new RegExp(`${child.keyId} .* key cli-maker$`, 'm'))
  const later = await jobcast(
    'keys',
    'new',
    'late',
    '--scope',
    'MANAGE',
    '--expires',
    '3d',
    '--api-key',
    maker,
  )
  assert.equal(later.code, 5)
  assert.match(later.stderr, /expiresAt must be at or before /)
  const { code, stderr, stdout } = await jobcast('keys', 'revoke', keyId, '--descendants', '--yes', '--json')
  assert.equal(code, 0, stderr)
  assert.match(stderr, /2 keys and 0 enrollments in total/)
  const { pausedSchedules, pausedRuns, ...counts } = JSON.parse(stdout)
  assert.deepEqual(counts, { revoked: [keyId], revokedKeys: 2, revokedEnrollments: 0, isMore: false })
  assert.deepEqual(
    pausedSchedules.map(({ scheduleName }: { scheduleName: string }) => scheduleName),
    ['cli-left'],
  )
  assert.deepEqual(pausedRuns, [])
  assert.match(stderr, /^Paused schedules: cli-left$/m)
  assert.match(
    await outputOf('schedules', 'get', 'cli-left'),
    /^updated .* by key cli-child \(key:\w+, revoked\)$/m,
  )
  assert.match(
    await outputOf('schedules', 'get', 'cli-left'),
    /^paused .* by key admin: the key cli-maker was revoked/m,
  )
  assert.equal((await jobcast('whoami', '--api-key', child.apiKey)).code, 3)
})

test('lists sessions and ends them', async () => {
  const signedIn = await fetch(`${server.http}/job/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'Test browser' },
    body: JSON.stringify({ apiKey: server.adminKey }),
  })
  const sessionId = /js_(\w{10})/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? ''
  assert.match(await outputOf('sessions'), new RegExp(`^${sessionId} .*Test browser$`, 'm'))
  assert.equal((await jobcast('sessions', 'rm', sessionId)).code, 2)
  await outputOf('sessions', 'rm', sessionId, '--yes')
  assert.doesNotMatch(await outputOf('sessions'), new RegExp(sessionId))
  assert.equal((await jobcast('sessions', 'rm', sessionId, '--yes')).code, 4)
})

test('devices are imported, selected, counted and grouped; attributes are set one by one', async (t) => {
  const lines = [
    '{"deviceId": "s-1", "tags": ["sel"], "attributes": {"fw": "2.9"}}',
    '{"deviceId": "s-2"',
    '',
  ]
  const file = join(dataFolder(t), 'devices.ndjson')
  writeFileSync(file, lines.join('\n'))
  const imported = await jobcast('devices', 'import', file)
  assert.equal(imported.code, 5)
  assert.match(imported.stdout, /^1 created, 0 updated, 0 unchanged, 1 failed$/m)
  assert.match(imported.stderr, /devices\.ndjson:2: .*\(J-500\)$/m)
  const csv = join(dataFolder(t), 'devices.csv')
  writeFileSync(
    csv,
    '\ufeffdeviceId,tags,fw,ram\r\ncsv-1,csv;new,"2.10",512\r\n"csv\n-2",csv,1,\r\ncsv-3,csv,,\r\n',
  )
  const preview = await jobcast('devices', 'import', '--dry-run', '--merge', csv)
  assert.match(preview.stdout, /^dry run: 2 created, 0 updated/)
  const table = await jobcast('devices', 'import', csv)
  assert.deepEqual([table.code, table.stdout.trim()], [5, '2 created, 0 updated, 0 unchanged, 1 failed'])
  assert.match(table.stderr, /devices\.csv:3: .*\(J-500\)$/m)
  const changing = ['--where', 'tag=csv', '--add-tag', 'sold', '--remove-tag', 'new', '--attribute', 'ring=1']
  const counted = await jobcast('devices', 'change', ...changing, '--remove-attribute', 'fw', '--dry-run')
  assert.equal(counted.stdout.trim(), '2 matched, 2 would change')
  const changed = await jobcast('devices', 'change', ...changing, '--remove-attribute', 'fw')
  assert.deepEqual([changed.code, changed.stdout.trim()], [0, '2 matched, 2 changed'])
  const sold = JSON.parse((await jobcast('devices', 'get', 'csv-1', '--json')).stdout)
  assert.deepEqual([sold.tags, sold.attributes], [['csv', 'sold'], { ram: 512, ring: 1 }])
  assert.equal((await jobcast('devices', 'change', '--add-tag', 'x')).code, 2)
  await jobcast('devices', 'put', 's-2', '--tag', 'sel', '--attribute', 'fw=2.10.0', '--attribute', 'model=3')
  await jobcast('devices', 'put', 's-2', '--attribute', 'site=lima', '--time-zone', 'America/Lima')
  const shown = JSON.parse((await jobcast('devices', 'get', 's-2', '--json')).stdout)
  assert.deepEqual(shown.attributes, { fw: '2.10.0', model: 3, site: 'lima' })
  const odd = ['a=2.10', 'b=12345678901234567890', 'c=-1.5', 'd="3"', 'e=false', 'f=1e3', 'g=Infinity']
  await jobcast('devices', 'put', 's-odd', ...odd.flatMap((each) => ['--attribute', each]))
  assert.deepEqual(JSON.parse((await jobcast('devices', 'get', 's-odd', '--json')).stdout).attributes, {
    ...{ a: '2.10', b: '12345678901234567890', c: -1.5, d: '3', e: false, f: '1e3', g: 'Infinity' },
  })
  assert.equal(shown.timeZone, 'America/Lima')
  const listed = await jobcast('devices', '--where', 'tag=sel and fw>2.9', '--json')
  assert.deepEqual(
    JSON.parse(listed.stdout).map(({ deviceId }: { deviceId: string }) => deviceId),
    ['s-2'],
  )
  assert.match((await jobcast('devices', 'count', 'tag=sel')).stdout, /^devices +2$/m)
  const wrong = await jobcast('devices', 'count', 'tag=')
  assert.equal(wrong.code, 5)
  assert.match(wrong.stderr, /position 5/)

  assert.equal((await jobcast('groups', 'put', 'sel', 'tag=sel', '--description', 'Selected')).code, 0)
  assert.match((await jobcast('groups')).stdout, /^sel +tag=sel +- +key admin +Selected$/m)
  for (const [name, where] of [['inner', 'tag=sel'] as const, ['outer', 'group=inner'] as const])
    assert.equal((await jobcast('groups', 'put', name, where)).code, 0)
  const used = await jobcast('groups', 'rm', 'inner', '--yes')
  assert.equal(used.code, 5)
  assert.match(used.stderr, /by the group outer/)
  assert.equal((await jobcast('groups', 'rm', 'inner', '--yes', '--force')).code, 0)
  assert.match(
    (await jobcast('groups', 'get', 'outer')).stdout,
    /^devices +unknown: it refers to a group that does not exist$/m,
  )
  const group = (await jobcast('groups', 'get', 'sel')).stdout
  assert.match(group, /^devices +2, 0 online$/m)
  assert.match(group, /^created by +key admin \(key:\w+\)$/m)
  assert.match(group, /^updated by +key admin \(key:\w+\)$/m)
  await jobcast('jobs', 'put', 'sel-job')
  const plan = JSON.parse(
    (await jobcast('trigger', 'sel-job', '--group', 'sel', '--dry-run', '--json')).stdout,
  )
  assert.equal(plan.total, 2)
  const run = JSON.parse(
    (await jobcast('trigger', 'sel-job', '--where', 'group=sel', '--note', 'n', '--json')).stdout,
  )
  assert.deepEqual([run.total, run.where, run.note], [2, 'group=sel', 'n'])
  assert.equal((await jobcast('trigger', 'sel-job', '--where', 'all', '--tag', 'x')).code, 2)
  assert.equal((await jobcast('trigger', 'sel-job', '--where', 'site=nowhere')).code, 5)
  assert.equal((await jobcast('groups', 'rm', 'sel', '--yes')).code, 0)
})

test('windows are put by flags, shown with their next openings, used and removed', async () => {
  const flags = ['--duration', '3h', '--cutoff', '30m', '--except', '2026-12-24', '2027-01-01/2027-01-02']
  await outputOf('windows', 'put', 'w', '0 2 * * *', ...flags)
  assert.match(
    await outputOf('windows'),
    /^w +0 2 \* \* \* +3 h +device +key admin +2026-12-24 2027-01-01\/2027-01-02$/m,
  )
  assert.match(
    await outputOf('windows', 'get', 'w'),
    /^next +\S+ 02:00:00 \+00:00 to \S+ 05:00:00 \+00:00 \(UTC\)$/m,
  )
  const next = await outputOf('windows', 'next', 'w', '--zone', 'America/Lima', '--count', '2')
  assert.match(next, /^OPENS \(America\/Lima\)/)
  assert.equal(next.match(/ 02:00:00 -05:00/g)?.length, 2)
  assert.equal((await jobcast('windows', 'put', 'w', '0 2 * * *', '--duration', '90s')).code, 2)
  assert.equal((await jobcast('windows', 'put', 'w', '0 0 2 * * *', '--duration', '1h')).code, 5)
  await outputOf('jobs', 'put', 'w-job', '--window', 'w')
  await outputOf('devices', 'put', 'w-device')
  const trigger = ['trigger', 'w-job', '-d', 'w-device', '--json']
  assert.equal((await jobcast(...trigger, '--ignore-windows')).code, 5)
  const passed = JSON.parse(await outputOf(...trigger, '--ignore-windows', '--note', 'leak'))
  assert.equal(passed.window, null)
  const other = JSON.parse(await outputOf(...trigger, '--window', 'w'))
  assert.equal(other.window, 'w')
  assert.match((await jobcast('windows', 'rm', 'w', '--yes')).stderr, /by the job w-job/)
})

test('a device and a group get a window by a flag, and keep it until --no-window', async () => {
  await outputOf('windows', 'put', 'w-own', '0 2 * * *', '--duration', '3h')
  assert.equal((await jobcast('devices', 'put', 'w-kept', '--window', 'w-none')).code, 4)
  await outputOf('devices', 'put', 'w-kept', '--window', 'w-own')
  await outputOf('devices', 'put', 'w-kept', '--tag', 'w-tag')
  assert.match(await outputOf('devices', 'get', 'w-kept'), /^window +w-own$/m)
  await outputOf('groups', 'put', 'w-group', 'tag=w-tag', '--window', 'w-own', '--description', 'Nightly')
  assert.match(await outputOf('groups'), /^w-group +tag=w-tag +w-own +key admin +Nightly$/m)
  assert.match(await outputOf('groups', 'get', 'w-group'), /^window +w-own$/m)
  const removed = await jobcast('windows', 'rm', 'w-own', '--yes')
  assert.match(removed.stderr, /by the group w-group, and by the device w-kept/)
  await outputOf('devices', 'put', 'w-kept', '--no-window')
  assert.equal(JSON.parse(await outputOf('devices', 'get', 'w-kept', '--json')).window, null)
  await outputOf('groups', 'put', 'w-group', 'tag=w-other')
  assert.match(await outputOf('groups'), /^w-group +tag=w-other +w-own +key admin +Nightly$/m)
  await outputOf('groups', 'put', 'w-group', 'tag=w-tag', '--no-window')
  assert.equal(JSON.parse(await outputOf('groups', 'get', 'w-group', '--json')).window, null)
  await outputOf('windows', 'rm', 'w-own', '--yes')
})

test('schedules are put by flags, shown, paused, fired and removed', async () => {
  await jobcast('jobs', 'put', 'nightly')
  await jobcast('devices', 'put', 'owl')
  const incomplete = await jobcast('schedules', 'put', 'nights', '--job', 'nightly')
  assert.equal(incomplete.code, 2)
  assert.match(incomplete.stderr, /use --device, --where or --group; --cron, --at or --match/)
  const made = await jobcast(
    ...['schedules', 'put', 'nights', '--job', 'nightly', '-d', 'owl', '--cron', '0 3 * * *'],
    ...['--zone', 'Europe/Berlin', '--jitter', '5m', '--pause-after', '3', '--overlap', 'queue'],
  )
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stderr, /Created schedule nights/)
  assert.equal((await jobcast('schedules', 'put', 'nights', '--catch-up', '2h')).code, 0)
  const shown = (await jobcast('schedules', 'get', 'nights')).stdout
  assert.match(shown, /^when +0 3 \* \* \* in Europe\/Berlin$/m)
  assert.match(shown, /^overlap +QUEUE$/m)
  assert.match(shown, /^catchUp +7200 s$/m)
  const release = ['--canary', '1', '--waves', '100%', '--approval']
  const declared = { properties: { level: { type: 'string' }, count: { type: 'integer' } }, type: 'object' }
  await server.call('PUT', '/job/api/jobs/nightly', { body: { parameters: declared } })
  await server.call('PUT', '/job/api/windows/dark', { body: { cron: '0 2 * * *', durationMinutes: 60 } })
  const values = ['--param', 'level=7', '--param', 'count=2', '--window', 'dark']
  assert.equal((await jobcast('schedules', 'put', 'nights', ...release, ...values)).code, 0)
  const more = await jobcast('schedules', 'put', 'nights', '--param', 'count=3', '--json')
  const { parameters, window, rollout, approval, catchUpSeconds } = JSON.parse(more.stdout)
  assert.deepEqual([parameters, window, approval], [{ level: '7', count: 3 }, 'dark', true])
  assert.deepEqual([rollout.waves, catchUpSeconds], [[{ size: 1 }, { size: '100%' }], 7200])
  assert.match(
    (await jobcast('schedules', 'next', 'nights', '--count', '1')).stdout,
    / 03:00:00 \+0[12]:00$/m,
  )
  assert.equal((await jobcast('schedules', 'pause', 'nights')).code, 0)
  assert.match((await jobcast('schedules')).stdout, /^nights +nightly +owl .*paused/m)
  assert.equal((await jobcast('schedules', 'resume', 'nights')).code, 0)
  const fired = await jobcast('schedules', 'fire', 'nights')
  assert.match(fired.stderr, /^Run \d+: nightly on 1 device$/m)
  const held = await jobcast('trigger', 'nightly', '-d', 'owl', '--start-at', '2h', '--json')
  assert.equal(JSON.parse(held.stdout).rollout.state, 'SCHEDULED')
  const alone = await jobcast('schedules', 'put', 'nights', '--again', 'while_matching')
  assert.equal(alone.code, 2)
  assert.match(alone.stderr, /--again, --back-off and --on-leave require --match/)
  const again = ['--match', '--again', 'WHILE_MATCHING', '--back-off', '5m', '--on-leave', 'cancel']
  const matching = ['--where', 'fw<2.4', '--overlap', 'skip', ...again]
  const kept = await jobcast('schedules', 'put', 'nights', ...matching, '--json')
  assert.deepEqual(JSON.parse(kept.stdout).when, {
    ...{ match: true, again: 'WHILE_MATCHING', backOffSeconds: 300, onLeave: 'CANCEL' },
  })
  const about = (await jobcast('schedules', 'get', 'nights')).stdout
  assert.match(about, /^when +as long as a device matches\nbackOff +300 s, doubled each time$/m)
  assert.match(about, /^onLeave +pending executions are canceled$/m)
  assert.equal((await jobcast('schedules', 'rm', 'nights', '--yes')).code, 0)
  assert.equal((await jobcast('schedules', 'get', 'nights')).code, 4)
})

test('a webhook keeps its format, and a chat without types says that it gets few of them', async () => {
  const to = 'https://chat.example.com/hook'
  await outputOf('webhooks', 'put', 'chat', '--to', to, '--format', 'slack')
  assert.match(await outputOf('webhooks'), /^chat +ACTIVE +https:\S+ +slack +default for chats/m)
  await outputOf('webhooks', 'put', 'chat', '--job', 'restart')
  const read = async () => JSON.parse(await outputOf('webhooks', 'get', 'chat', '--json'))
  assert.deepEqual([(await read()).format, (await read()).jobName], ['slack', 'restart'])
  await outputOf('webhooks', 'put', 'chat', '--format', 'cloudevents')
  assert.equal((await read()).format, 'cloudevents')
  assert.match(await outputOf('webhooks', 'get', 'chat'), /^events +all$/m)
  const wrong = await jobcast('webhooks', 'put', 'chat', '--format', 'discord')
  assert.equal(wrong.code, 2)
  const silent = await jobcast('webhooks', 'put', 'chat', '--format', 'teams', '--event', 'device.online')
  assert.match(silent.stderr, /J-500.*device\.online/s)
  await outputOf('webhooks', 'rm', 'chat', '--yes')
})
