// Which test files run, and which of them share a process. Loading the service costs a process more than most files do, so
// the files of several folders share one. A large folder has several, so that they can run at the same time.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `env`: what makes it another run of the same files. `suffix` says which in words. */
export type Group = { files: string[]; env: Record<string, string>; suffix: string }

type Size = 'test' | 'chaos'

const all = '{agent,cli,client,console,contract,deploy,docs,examples,server,sim,testkit}/test/**/*.test.ts'

/**
 * Only `npm run test:chaos` runs these: they repeat, storm, kill in loops or try seeds, or they do with another library what
 * `npm test` does with the first.
 */
const onlyChaos = [
  'agent/test/{another-service,delivery,restart,shell-hostile-server}.test.ts',
  'cli/test/secret-parameters.test.ts',
  'console/test/{accessibility,data-table,tabs}.test.ts',
  'docs/test/run-page.test.ts',
  'server/test/abuse/abuse.test.ts',
  'server/test/devices/aws-sdk-{v1,v2-mqtt3,v2-mqtt5}.test.ts',
  'server/test/dispatch/webhooks/webhook-sender-property.test.ts',
  'server/test/end-to-end/{audit-crash,bad-devices,certificate-reload,clock,clocks,delivery,disk-growth,event-stream,idempotency,incident,offline-device,reconnect-storm,revocation,rollout-fleet,secrets,slow-disk,stop,stop-devices,trouble,trouble-devices,upload-crash,webhooks}.test.ts',
  'server/test/gateway/bridge/{access-rules,agent,events,flood,kills}.test.ts',
  'server/test/history/history.test.ts',
  'server/test/nodes/{bridges,clocks,cut-hearing,cut-off,event-stream,failover,fleet-under-load,idempotency,large-run-kills,left-behind,lost-hints,presence,revocation,rollouts,schedules,upgrade,webhooks}.test.ts',
  'server/test/simulation/simulation.test.ts',
  'server/test/store/{postgres-cached-keys,postgres-directory,postgres-nodes,sqlite-log,sqlite-overtaking}.test.ts',
  'testkit/test/check-dependencies.test.ts',
]

/** Files that run again under another environment. `npm test` runs a part of them again, or none. */
type Variant = { suffix: string; env: Record<string, string>; inTest: string[]; inChaos: string[] }

const variants: Variant[] = [
  {
    suffix: ' on PostgreSQL',
    env: { JOBCAST_TEST_STORE: 'postgres' },
    inTest: ['server/test/http/{trigger-job,trigger-refusals,idempotency}.test.ts'],
    inChaos: [
      'server/test/http/{trigger*,idempotency,executions,runs,run-cancel,retry-run,selectors,create-run,resources,audit-entries,restriction,restriction-devices}.test.ts',
      'server/test/http/{four-eyes,careful-rollouts,rollback,plans,gates,priorities,change-devices,change-in-part,run-failures}.test.ts',
      'server/test/devices/**/*.test.ts',
    ],
  },
  {
    suffix: ' with jobs that hold back',
    env: { JOBCAST_TEST_JOBS: 'held-back' },
    inTest: [],
    inChaos: ['server/test/http/{trigger*,idempotency}.test.ts'],
  },
]

/** What runs in the same processes: files below these paths, and how many of them one process takes at most. */
type Batch = { below: string[]; atMost: number }

const batch = (atMost: number, ...below: string[]): Batch => ({ below, atMost })

/** What takes long begins first, so that no core waits at the end for another. A file belongs to the first that names it. */
const batches: Batch[] = [
  batch(1, 'server/test/simulation', 'server/test/store/postgres-store.test.ts'),
  batch(14, 'console/test'),
  batch(1, 'docs/test/examples.test.ts'),
  batch(4, 'server/test/nodes'),
  batch(7, 'server/test/end-to-end'),
  batch(30, 'server/test/http'),
  batch(40, 'client/test', 'deploy/test', 'sim/test', 'examples/test'),
  batch(15, 'server/test/store'),
  batch(17, 'cli/test'),
  batch(12, 'agent/test'),
  batch(12, 'server/test/devices'),
  batch(100, 'server/test/domain', 'server/test/dispatch', 'server/test/gateway'),
  batch(1, 'server/test/abuse'),
  batch(60, 'server/test', 'contract/test', 'docs/test', 'testkit/test'),
]

/** What compares rates runs after everything else, with the machine to itself. */
export const isExclusive = ({ files }: Group) => files.some((file) => file.startsWith('server/test/abuse/'))

/**
 * All groups of a size, or those with files whose path contains one of the words. A word that fits no file of this size
 * means those that run only in the other.
 */
export function planGroups(
  root: string,
  size: Size,
  words: readonly string[],
  { isAlone = false } = {},
): Group[] {
  const found = (of: Size) => plannedFiles(root, of)
  if (words.length === 0) return toGroups(found(size), isAlone)
  const other = size === 'test' ? 'chaos' : 'test'
  const chosen = words.flatMap((word) => {
    const fits = ({ file }: Planned) => file.includes(word.replace(/^\.\//, '').replaceAll('\\', '/'))
    const ofSize = found(size).filter(fits)
    return ofSize.length > 0 ? ofSize : found(other).filter(fits)
  })
  const distinct = new Map(chosen.map((planned) => [planned.file + planned.suffix, planned]))
  return toGroups([...distinct.values()], isAlone)
}

export const findTestFiles = (root: string) => find(root, [all])

type Planned = { file: string; env: Group['env']; suffix: string }

function plannedFiles(root: string, size: Size): Planned[] {
  const files = find(root, [all])
  const isOnlyChaos = new Set(find(root, onlyChaos))
  const first = files
    .filter((file) =>
      size === 'test' ? !isOnlyChaos.has(file) : isOnlyChaos.has(file) || hasSize(root, file),
    )
    .map((file) => ({ file, env: {}, suffix: '' }))
  // Whoever names a variant gets that one alone.
  if (process.env.JOBCAST_TEST_STORE !== undefined || process.env.JOBCAST_TEST_JOBS !== undefined)
    return first
  const again = variants.flatMap(({ suffix, env, inTest, inChaos }) =>
    find(root, size === 'test' ? inTest : inChaos).map((file) => ({ file, env, suffix })),
  )
  return [...first, ...again]
}

/** They import a size or a seed themselves, or what does: the suite of the stores, axe, and tests in the browser. */
function hasSize(root: string, file: string): boolean {
  const isSized =
    /@jobcast\/testkit\/(chaos-test|test-size|test-seed)'|\/(exercise-store|find-violations|browser-test)\.ts/
  return isSized.test(readFileSync(join(root, file), 'utf8'))
}

function find(root: string, patterns: string[]): string[] {
  return globSync(patterns, { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
}

function toGroups(planned: Planned[], isAlone: boolean): Group[] {
  const byProcess = Map.groupBy(planned, ({ file, suffix }) => `${batches.indexOf(batchOf(file))} ${suffix}`)
  const groups = [...byProcess.values()].flatMap((together) => {
    const [{ file, env, suffix }] = together as [Planned]
    const atMost = isAlone ? 1 : batchOf(file).atMost
    return chunk(
      together.map((each) => each.file),
      atMost,
    ).map((files) => ({ files, env, suffix }))
  })
  return groups.sort((a, b) => orderOf(a) - orderOf(b))
}

const orderOf = ({ files: [first = ''] }: Group) => batches.indexOf(batchOf(first))

function batchOf(file: string): Batch {
  const found = batches.find(({ below }) => below.some((path) => isBelow(file, path)))
  if (found === undefined) throw new Error(`${file} belongs to no batch in testkit/runner/plan.ts`)
  return found
}

function chunk(files: string[], size: number): string[][] {
  const count = Math.ceil(files.length / size)
  return Array.from({ length: count }, (_, index) => files.filter((_file, at) => at % count === index))
}

const isBelow = (file: string, path: string) => file === path || file.startsWith(`${path}/`)
