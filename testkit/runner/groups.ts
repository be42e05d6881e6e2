// Which test files share a process. Loading the service costs a process more than most files do, so files that only
// call it share one; those that kill programs, measure, or use up a lot of memory have a process of their own.

import { globSync } from 'node:fs'

export type Group = { name: string; files: string[]; env: Record<string, string> }

/** What compares rates runs after everything else, with the machine to itself. */
export const isExclusive = ({ name }: Group) => name.startsWith('server/test/abuse')

/** Folders (with their subfolders) and single files whose tests share a process. */
const shared = [
  'contract/test',
  'client/test',
  'sim/test',
  'deploy/test',
  'server/test/config',
  'server/test/dispatch',
  'server/test/domain',
  'server/test/gateway/http',
  'server/test/gateway/mqtt',
  'server/test/http',
]

const all = '{agent,cli,client,console,contract,deploy,docs,server,sim,testkit}/test/**/*.test.ts'

/** The contract of the trigger and of devices holds on PostgreSQL as well: these run again on it. */
const onBothStores = [
  'server/test/http/{trigger*,idempotency,executions,runs,run-cancel,retry-run}.test.ts',
  'server/test/devices/**/*.test.ts',
]

/** All groups, or those with files below the given paths. */
export function findGroups(root: string, wanted: readonly string[]): Group[] {
  const find = (pattern: string[]) =>
    globSync(pattern, { cwd: root })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => wanted.length === 0 || wanted.some((path) => isBelow(file, path)))
      .sort()
  return [...groupFiles(find([all]), '', {}), ...groupFiles(find(onBothStores), ' on PostgreSQL', postgres)]
}

const postgres = { JOBCAST_TEST_STORE: 'postgres' }

function groupFiles(files: string[], suffix: string, env: Group['env']): Group[] {
  const byName = new Map<string, string[]>()
  for (const file of files) {
    const name = shared.find((path) => isBelow(file, path)) ?? file
    byName.set(name, [...(byName.get(name) ?? []), file])
  }
  return [...byName].flatMap(([name, inGroup]) => {
    const parts = chunk(inGroup, mostFiles)
    const part = (index: number) => (parts.length > 1 ? ` ${index + 1}/${parts.length}` : '')
    return parts.map((inPart, index) => ({ name: name + part(index) + suffix, files: inPart, env }))
  })
}

/** Several processes for a large folder, so that they can run at the same time. */
const mostFiles = 12

function chunk(files: string[], size: number): string[][] {
  const count = Math.ceil(files.length / size)
  return Array.from({ length: count }, (_, index) => files.filter((_file, at) => at % count === index))
}

function isBelow(file: string, path: string): boolean {
  const clean = path.replace(/^\.\//, '').replace(/\/$/, '')
  return file === clean || file.startsWith(`${clean}/`)
}
