// Plans which test files run, and which of them share a process. Loading the service costs more than most files take, so the
// files of several folders share a process. A large folder has several processes, which run at the same time.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** `env` selects a variant of the same files; `suffix` describes it. */
export type Group = { files: string[]; env: Record<string, string>; suffix: string }

type Size = 'test' | 'chaos'

const all = '{agent,cli,client,console,contract,deploy,docs,examples,server,sim,testkit}/test/**/*.test.ts'

/**
 * Only `npm run test:chaos` runs these: they repeat, storm, kill in loops or try seeds, or they repeat a test of `npm test`
 * with another library.
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
  'server/test/store/{postgres-cached-keys,postgres-directory,postgres-nodes,postgres-query-plan,sqlite-log,sqlite-overtaking}.test.ts',
  'testkit/test/check-dependencies.test.ts',
]

/** Files that run again with another environment. `npm test` repeats some of them, or none. */
type Variant = { suffix: string; env: Record<string, string>; inTest: string[]; inChaos: string[] }

const variants: Variant[] = [
  {
    suffix: ' on PostgreSQL',
    env: { JOBCAST_TEST_STORE: 'postgres' },
    inTest: ['server/test/http/{trigger-job,trigger-refusals,idempotency}.test.ts'],
    inChaos: [
      'server/test/http/{trigger*,idempotency,executions,runs,run-cancel,retry-run,selectors,create-run,resources,audit-entries,restriction,restriction-devices,restricted-webhooks}.test.ts',
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

/**
 * Files that share processes: those below these paths, up to `atMost` per process. Each process loads the service, which
 * takes two CPU seconds. At full size the tests take longer, so that more processes finish sooner.
 */
type Batch = { below: string[]; atMost: Record<Size, number> }

function batch(atMost: number | Record<Size, number>, ...below: string[]): Batch {
  return { below, atMost: typeof atMost === 'number' ? { test: atMost, chaos: atMost } : atMost }
}

/** Slow batches come first, so that no core is idle at the end. A file belongs to the first batch that matches it. */
const batches: Batch[] = [
  batch(1, 'server/test/simulation', 'server/test/store/postgres-store.test.ts'),
  batch({ test: 18, chaos: 14 }, 'console/test'),
  batch(1, 'docs/test/examples.test.ts'),
  batch(4, 'server/test/nodes'),
  batch({ test: 9, chaos: 7 }, 'server/test/end-to-end'),
  batch({ test: 34, chaos: 30 }, 'server/test/http'),
  batch(40, 'client/test', 'deploy/test', 'sim/test', 'examples/test'),
  batch({ test: 25, chaos: 15 }, 'server/test/store'),
  batch({ test: 20, chaos: 17 }, 'cli/test'),
  batch(12, 'agent/test'),
  batch(12, 'server/test/devices'),
  batch(100, 'server/test/domain', 'server/test/dispatch', 'server/test/gateway'),
  batch(1, 'server/test/abuse'),
  batch(60, 'server/test', 'contract/test', 'docs/test', 'testkit/test'),
]

/** Tests that compare rates run after everything else, alone on the machine. */
export const isExclusive = ({ files }: Group) => files.some((file) => file.startsWith('server/test/abuse/'))

/**
 * All groups of a size, or those with files whose path contains one of the words. A word that matches no file of this size
 * selects the files that run only in the other size.
 */
export function planGroups(
  root: string,
  size: Size,
  words: readonly string[],
  { isAlone = false } = {},
): Group[] {
  const found = (of: Size) => plannedFiles(root, of)
  if (words.length === 0) return toGroups(found(size), size, isAlone)
  const other = size === 'test' ? 'chaos' : 'test'
  const chosen = words.flatMap((word) => {
    const fits = ({ file }: Planned) => file.includes(word.replace(/^\.\//, '').replaceAll('\\', '/'))
    const ofSize = found(size).filter(fits)
    return ofSize.length > 0 ? ofSize : found(other).filter(fits)
  })
  const distinct = new Map(chosen.map((planned) => [planned.file + planned.suffix, planned]))
  return toGroups([...distinct.values()], size, isAlone)
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
  // If the environment selects a variant, only that one runs.
  if (process.env.JOBCAST_TEST_STORE !== undefined || process.env.JOBCAST_TEST_JOBS !== undefined)
    return first
  const again = variants.flatMap(({ suffix, env, inTest, inChaos }) =>
    find(root, size === 'test' ? inTest : inChaos).map((file) => ({ file, env, suffix })),
  )
  return [...first, ...again]
}

/** Whether a file imports a size or a seed, directly or through the suite of the stores, axe or the browser tests. */
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

function toGroups(planned: Planned[], size: Size, isAlone: boolean): Group[] {
  const byProcess = Map.groupBy(planned, ({ file, suffix }) => `${batches.indexOf(batchOf(file))} ${suffix}`)
  const groups = [...byProcess.values()].flatMap((together) => {
    const [{ file, env, suffix }] = together as [Planned]
    const atMost = isAlone ? 1 : batchOf(file).atMost[size]
    return chunk(
      together.map((each) => each.file),
      atMost,
    ).map((files) => ({ files, env, suffix }))
  })
  return groups.sort((a, b) => orderOf(a, size) - orderOf(b, size))
}

/** The groups of these take longest in `npm test`; started late, they would run alone at the end. */
const longestInTest = ['server/test/http', 'cli/test']

function orderOf({ files: [first = ''] }: Group, size: Size): number {
  const at = batches.indexOf(batchOf(first))
  return size === 'test' && longestInTest.some((path) => isBelow(first, path)) ? at - batches.length : at
}

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
