// Which test files share a process. Loading the service costs a process more than most files do, so files that only
// call it share one. A large folder has several, so that they can run at the same time.

import { globSync } from 'node:fs'

export type Group = { name: string; files: string[]; env: Record<string, string> }

/** What compares rates runs after everything else, with the machine to itself. */
export const isExclusive = ({ name }: Group) => name.startsWith('server/test/abuse')

/** Folders and single files whose tests share processes, and how many of their files one process takes at most. */
const shared: Record<string, number> = {
  'agent/test': 8,
  'cli/test': 6,
  'client/test': 5,
  'console/test': 8,
  'contract/test': 12,
  'deploy/test': 12,
  'server/test/config': 12,
  'server/test/dispatch': 12,
  'server/test/domain': 20,
  'server/test/end-to-end': 4,
  'server/test/gateway/http': 12,
  'server/test/gateway/mqtt': 12,
  'server/test/http': 10,
  'server/test/limits': 12,
  'server/test/nodes': 3,
  'server/test/state': 12,
  'sim/test': 3,
  'testkit/test': 12,
}

const sharedPaths = Object.keys(shared)

const all = '{agent,cli,client,console,contract,deploy,docs,examples,server,sim,testkit}/test/**/*.test.ts'

/** The contract of the trigger and of devices holds on PostgreSQL as well: these run again on it. */
const onBothStores = [
  'server/test/http/{trigger*,idempotency,executions,runs,run-cancel,retry-run,selectors,create-run}.test.ts',
  'server/test/devices/**/*.test.ts',
]

/** All groups, or those with files below the given paths. */
export function findGroups(root: string, wanted: readonly string[], { isAlone = false } = {}): Group[] {
  const find = (pattern: string[]) =>
    globSync(pattern, { cwd: root })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => wanted.length === 0 || wanted.some((path) => isBelow(file, path)))
      .sort()
  const groupsOf = isAlone ? singleFiles : groupFiles
  return [...groupsOf(find([all]), '', {}), ...groupsOf(find(onBothStores), ' on PostgreSQL', postgres)]
}

const postgres = { JOBCAST_TEST_STORE: 'postgres' }

const singleFiles: typeof groupFiles = (files, suffix, env) =>
  files.map((file) => ({ name: file + suffix, files: [file], env }))

function groupFiles(files: string[], suffix: string, env: Group['env']): Group[] {
  const byName = new Map<string, string[]>()
  for (const file of files) {
    const name = sharedPaths.find((path) => isBelow(file, path)) ?? file
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
