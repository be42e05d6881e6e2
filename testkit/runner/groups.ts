// Which test files share a process. Loading the service costs a process more than most files do, so the files of a folder
// share one. A large folder has several, so that they can run at the same time.

import { globSync } from 'node:fs'

export type Group = { name: string; files: string[]; env: Record<string, string> }

/** What compares rates runs after everything else, with the machine to itself. */
export const isExclusive = ({ name }: Group) => name.startsWith('server/test/abuse')

/** Folders whose tests share processes, the deeper one first, and how many of their files one process takes at most. */
const shared: Record<string, number> = {
  'agent/test': 14,
  'cli/test': 17,
  'client/test': 9,
  'console/test': 9,
  'contract/test': 12,
  'deploy/test': 12,
  'docs/test': 12,
  'server/test/abuse': 1,
  'server/test/devices': 6,
  'server/test/dispatch': 12,
  'server/test/domain': 40,
  'server/test/end-to-end': 8,
  'server/test/gateway': 24,
  'server/test/http': 27,
  'server/test/nodes': 5,
  'server/test/store': 12,
  'server/test': 24,
  'sim/test': 4,
  'testkit/test': 12,
}

/** They take as long as a whole group of others. */
const alone = [
  'server/test/store/postgres-store.test.ts',
  'server/test/store/sqlite-store.test.ts',
  'docs/test/examples.test.ts',
]

/** What takes long begins first, so that no core waits at the end for another. */
const longFirst = [
  'server/test/store/postgres-store.test.ts',
  'docs/test/examples.test.ts',
  'console/test',
  'server/test/nodes',
  'server/test/end-to-end',
  'cli/test',
  'agent/test',
]

const sharedPaths = Object.keys(shared)

const all = '{agent,cli,client,console,contract,deploy,docs,examples,server,sim,testkit}/test/**/*.test.ts'

/** The contract of the trigger and of devices holds on PostgreSQL as well: these run again on it. */
const onBothStores = [
  'server/test/http/{trigger*,idempotency,executions,runs,run-cancel,retry-run,selectors,create-run}.test.ts',
  'server/test/devices/**/*.test.ts',
]

/** The trigger call is the same for a job whose runs are released little by little. */
const alsoHeldBack = ['server/test/http/{trigger*,idempotency}.test.ts']

/** All groups, or those with files below the given paths. */
export function findGroups(root: string, wanted: readonly string[], { isAlone = false } = {}): Group[] {
  const find = (pattern: string[]) =>
    globSync(pattern, { cwd: root })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => wanted.length === 0 || wanted.some((path) => isBelow(file, path)))
      .sort()
  const groupsOf = isAlone ? singleFiles : groupFiles
  const groups = [
    ...groupsOf(find([all]), '', {}),
    ...groupsOf(find(onBothStores), ' on PostgreSQL', postgres),
    ...groupsOf(find(alsoHeldBack), ' with jobs that hold back', heldBack),
  ]
  return groups.sort((a, b) => orderOf(a) - orderOf(b))
}

function orderOf({ name }: Group): number {
  const order = longFirst.findIndex((path) => name.startsWith(path))
  return order === -1 ? longFirst.length : order
}

const postgres = { JOBCAST_TEST_STORE: 'postgres' }
const heldBack = { JOBCAST_TEST_JOBS: 'held-back' }

const singleFiles: typeof groupFiles = (files, suffix, env) =>
  files.map((file) => ({ name: file + suffix, files: [file], env }))

function groupFiles(files: string[], suffix: string, env: Group['env']): Group[] {
  const byName = new Map<string, string[]>()
  for (const file of files) {
    const folder = alone.includes(file) ? undefined : sharedPaths.find((path) => isBelow(file, path))
    const name = folder ?? file
    byName.set(name, [...(byName.get(name) ?? []), file])
  }
  return [...byName].flatMap(([name, inGroup]) => {
    const parts = chunk(inGroup, shared[name] ?? 1)
    const part = (index: number) => (parts.length > 1 ? ` ${index + 1}/${parts.length}` : '')
    return parts.map((inPart, index) => ({ name: name + part(index) + suffix, files: inPart, env }))
  })
}

function chunk(files: string[], size: number): string[][] {
  const count = Math.ceil(files.length / size)
  return Array.from({ length: count }, (_, index) => files.filter((_file, at) => at % count === index))
}

function isBelow(file: string, path: string): boolean {
  const clean = path.replace(/^\.\//, '').replace(/\/$/, '')
  return file === clean || file.startsWith(`${clean}/`)
}
