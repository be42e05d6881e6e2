// Which test files share a process. Loading the service costs a process more than most files do, so the files of several
// folders share one. A large folder has several, so that they can run at the same time.

import { globSync } from 'node:fs'

export type Group = { name: string; files: string[]; env: Record<string, string> }

/** What compares rates runs after everything else, with the machine to itself. */
export const isExclusive = ({ name }: Group) => name.startsWith('server/test/abuse')

/** What runs in the same processes: files below these paths, and how many of them one process takes at most. */
type Batch = { name: string; below: string[]; atMost: number }

const batch = (atMost: number, ...below: string[]): Batch => ({ name: below.join(', '), below, atMost })

/** What takes long begins first, so that no core waits at the end for another. A file belongs to the first that names it. */
const batches: Batch[] = [
  batch(1, 'server/test/store/postgres-store.test.ts'),
  batch(13, 'console/test'),
  batch(6, 'server/test/nodes'),
  batch(11, 'server/test/end-to-end'),
  batch(1, 'docs/test/examples.test.ts'),
  batch(17, 'cli/test'),
  batch(14, 'agent/test'),
  batch(30, 'server/test/http'),
  batch(12, 'server/test/devices'),
  batch(30, 'server/test/store'),
  batch(100, 'server/test/domain', 'server/test/dispatch', 'server/test/gateway'),
  batch(24, 'client/test', 'deploy/test'),
  batch(1, 'server/test/abuse'),
  batch(24, 'server/test'),
  batch(24, 'contract/test', 'docs/test', 'examples/test', 'sim/test', 'testkit/test'),
]

const all = '{agent,cli,client,console,contract,deploy,docs,examples,server,sim,testkit}/test/**/*.test.ts'

/** The contract of the trigger and of devices holds on PostgreSQL as well: these run again on it. */
const onBothStores = [
  'server/test/http/{trigger*,idempotency,executions,runs,run-cancel,retry-run,selectors,create-run}.test.ts',
  'server/test/devices/**/*.test.ts',
]

/** Of the libraries for devices, `npm test` takes one of each protocol to PostgreSQL, `npm run test:chaos` all. */
const onBothStoresAtFullSize = ['server/test/devices/{mqtt-js,aws-sdk-v1,aws-sdk-v2-mqtt3}.test.ts']

/** The trigger call is the same for a job whose runs are released little by little. */
const alsoHeldBack = ['server/test/http/{trigger*,idempotency}.test.ts']

/** All groups, or those with files below the given paths. */
export function findGroups(root: string, wanted: readonly string[], { isAlone = false } = {}): Group[] {
  const find = (pattern: string[], exclude: string[] = []) =>
    globSync(pattern, { cwd: root, exclude })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => wanted.length === 0 || wanted.some((path) => isBelow(file, path)))
      .sort()
  const groupsOf = isAlone ? singleFiles : groupFiles
  const groups = [
    ...groupsOf(find([all]), '', {}),
    ...groupsOf(find(onBothStores, isFullSize() ? [] : onBothStoresAtFullSize), ' on PostgreSQL', postgres),
    ...groupsOf(find(alsoHeldBack), ' with jobs that hold back', heldBack),
  ]
  return groups.sort((a, b) => orderOf(a) - orderOf(b))
}

const isFullSize = () => process.env.JOBCAST_TEST_SIZE === 'chaos'

const orderOf = ({ files: [first = ''] }: Group) => batches.indexOf(batchOf(first))

const postgres = { JOBCAST_TEST_STORE: 'postgres' }
const heldBack = { JOBCAST_TEST_JOBS: 'held-back' }

const singleFiles: typeof groupFiles = (files, suffix, env) =>
  files.map((file) => ({ name: file + suffix, files: [file], env }))

function groupFiles(files: string[], suffix: string, env: Group['env']): Group[] {
  const byBatch = Map.groupBy(files, batchOf)
  return [...byBatch].flatMap(([{ name, atMost }, inBatch]) => {
    const parts = chunk(inBatch, atMost)
    const part = (index: number) => (parts.length > 1 ? ` ${index + 1}/${parts.length}` : '')
    return parts.map((inPart, index) => ({ name: name + part(index) + suffix, files: inPart, env }))
  })
}

function batchOf(file: string): Batch {
  const found = batches.find(({ below }) => below.some((path) => isBelow(file, path)))
  if (found === undefined) throw new Error(`${file} belongs to no batch in testkit/runner/groups.ts`)
  return found
}

function chunk(files: string[], size: number): string[][] {
  const count = Math.ceil(files.length / size)
  return Array.from({ length: count }, (_, index) => files.filter((_file, at) => at % count === index))
}

function isBelow(file: string, path: string): boolean {
  const clean = path.replace(/^\.\//, '').replace(/\/$/, '')
  return file === clean || file.startsWith(`${clean}/`)
}
