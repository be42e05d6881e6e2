import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { loadConfig } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/config-error.ts'
import { namedNumbers, numberMeant, spelledOutNames } from '../../src/config/named-numbers.ts'
import { quotaNames } from '../../src/domain/access/quotas.ts'

type Flags = Parameters<typeof loadConfig>[0]

function problemsOf(flags: Flags, env: NodeJS.ProcessEnv = {}): readonly string[] {
  try {
    loadConfig(flags, env)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

test('quotas and rates have defaults, for each name', () => {
  const { quotas, rates } = loadConfig({}, {})
  assert.deepEqual(Object.keys(quotas).toSorted(), quotaNames.toSorted())
  assert.deepEqual(
    [quotas.devices, quotas.webhooks, quotas['owner-output-bytes']],
    [2_000_000, 100, 100 * 1024 ** 3],
  )
  assert.deepEqual(rates, {
    address: 100,
    'sign-in': 10,
    key: 10_000,
    owner: 20_000,
    device: 1000,
    session: 5,
  })
})

test('each name comes from a flag, the environment, the file or the default', (t) => {
  const config = join(temporaryFolder(t), 'jobcast.yaml')
  writeFileSync(config, 'quota:\n  devices: 1\n  jobs: 2\n  keys: 3\n  streams:\nrate: {key: 7}\n')
  const env = { JOBCAST_QUOTA: 'jobs=20, keys=30,,', JOBCAST_RATE: 'owner=0' }
  const { quotas, rates } = loadConfig({ config, quota: ['keys=300', 'webhooks=5,enrollments=0'] }, env)
  const { devices, jobs, keys, webhooks, enrollments, streams } = quotas
  assert.deepEqual(
    { devices, jobs, keys, webhooks, enrollments, streams },
    { devices: 1, jobs: 20, keys: 300, webhooks: 5, enrollments: 0, streams: 4000 },
  )
  assert.deepEqual([rates.key, rates.owner], [7, 0])
})

test('of a flag that names a quota twice the last one counts', () => {
  assert.equal(loadConfig({ quota: ['jobs=1', 'jobs=2'] }, {}).quotas.jobs, 2)
})

test('an unknown name is refused with the nearest one and all of them', () => {
  const [problem = ''] = problemsOf({ quota: ['devises=1'] })
  assert.match(problem, /^"devises" is not a quota; did you mean devices\? There are devices, executions, /)
  for (const name of quotaNames) assert.ok(problem.includes(name), name)
  assert.match(problemsOf({}, { JOBCAST_RATE: 'sigin=1' })[0] ?? '', /not a rate; did you mean sign-in\?/)
  assert.match(problemsOf({ quota: ['__proto__=1'] })[0] ?? '', /^"__proto__" is not a quota/)
  assert.ok((problemsOf({ quota: [`${'x'.repeat(100_000)}=1`] })[0] ?? '').length < 1000)
})

const refused: [text: string, expected: string][] = [
  ['devices', 'quota has "devices", which does not have the form name=number'],
  ['devices=', 'quota devices is "", not a whole number'],
  ['devices=-1', 'quota devices is "-1", not a whole number'],
  ['devices=1.5', 'quota devices is "1.5", not a whole number'],
  ['devices=9007199254740993', 'quota devices is "9007199254740993", not a whole number'],
  ['devices=1=2', 'quota devices is "1=2", not a whole number'],
]
for (const [text, expected] of refused) {
  test(`refuses --quota ${text}`, () => assert.deepEqual(problemsOf({ quota: [text] }), [expected]))
}

test('a rate is at most a million a second', () => {
  assert.equal(loadConfig({ rate: ['key=1000000'] }, {}).rates.key, 1_000_000)
  assert.deepEqual(problemsOf({ rate: ['key=1000001'] }), [
    'rate key is "1000001", not a whole number from 0 to 1000000',
  ])
})

test('in the file it is a map', (t) => {
  const config = join(temporaryFolder(t), 'jobcast.yaml')
  for (const text of ['quota: devices=1', 'quota: [devices=1]', 'quota: 7']) {
    writeFileSync(config, text)
    assert.deepEqual(problemsOf({ config }), ['quota in the file is not a map of names and numbers'])
  }
  writeFileSync(config, 'quota: {devices: many, devises: 1}')
  assert.equal(problemsOf({ config }).length, 2)
})

test('a quota or rate as a setting of its own is refused with the form that there is', (t) => {
  const config = join(temporaryFolder(t), 'jobcast.yaml')
  writeFileSync(config, 'max-owner-devices: 3\nkey-rate: 4\n')
  assert.deepEqual(problemsOf({ config }), [
    `${config}: "max-owner-devices" is not a setting; use quota: {devices: …}`,
    `${config}: "key-rate" is not a setting; use rate: {key: …}`,
  ])
  assert.deepEqual(problemsOf({}, { JOBCAST_MAX_DEVICE_EXECUTIONS: '3', JOBCAST_SIGN_IN_RATE: '4' }), [
    'JOBCAST_MAX_DEVICE_EXECUTIONS is not a setting; use JOBCAST_QUOTA=device-executions=3',
    'JOBCAST_SIGN_IN_RATE is not a setting; use JOBCAST_RATE=sign-in=4',
  ])
  for (const setting of ['quota', 'rate'] as const) {
    for (const { name } of namedNumbers[setting].names) {
      assert.ok(spelledOutNames.some((spelled) => numberMeant(spelled)?.name === name))
    }
  }
})

test('docs/operations.md has every quota and rate with its default', () => {
  const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
  for (const setting of ['quota', 'rate'] as const) {
    const [table = ''] = new RegExp(`^\\| ${setting} .*\\n(?:\\|.*\\n)+`, 'm').exec(page) ?? []
    const rows = [...table.matchAll(/^\| `([a-z-]+)` *\| ([\d,]+) /gm)]
    const documented = rows.map(([, name, limit = '']) => [name, Number(limit.replaceAll(',', ''))])
    const known = namedNumbers[setting].names.map(({ name, limit }) => [name, limit])
    assert.deepEqual(documented.toSorted(), known.toSorted())
  }
})
