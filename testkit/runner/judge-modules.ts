// Two rules for all files: no import cycle, including types, and no unused export.

import type { Module } from './read-modules.ts'

type Modules = ReadonlyMap<string, Module>

/** Each group of files that can reach each other, in the order of their names (Tarjan's algorithm). */
export function findCycles(modules: Modules): string[][] {
  const order = new Map<string, number>()
  const path: string[] = []
  const onPath = new Set<string>()
  const cycles: string[][] = []
  const visit = (file: string): number => {
    const number = order.size
    order.set(file, number)
    path.push(file)
    onPath.add(file)
    let low = number
    for (const { file: imported } of modules.get(file)?.imports ?? []) {
      if (!modules.has(imported)) continue
      if (!order.has(imported)) low = Math.min(low, visit(imported))
      else if (onPath.has(imported)) low = Math.min(low, order.get(imported) ?? low)
    }
    if (low !== number) return low
    const group = path.splice(path.indexOf(file))
    for (const each of group) onPath.delete(each)
    const isCycle = group.length > 1 || modules.get(file)?.imports.some((one) => one.file === file)
    if (isCycle) cycles.push(group.toSorted())
    return low
  }
  for (const file of modules.keys()) if (!order.has(file)) visit(file)
  return cycles
}

/** Returns `file: name` of each. All exports of `entries` count as used. */
export function findUnusedExports(modules: Modules, entries: readonly string[]): string[] {
  const used = new Set<string>()
  const useAll = (file: string) => {
    const { exports = [], passesOn = [] } = modules.get(file) ?? {}
    for (const name of exports) used.add(`${file}: ${name}`)
    for (const each of passesOn) useAll(each)
  }
  const use = (file: string, name: string) => {
    used.add(`${file}: ${name}`)
    for (const each of modules.get(file)?.passesOn ?? []) use(each, name)
  }
  for (const entry of entries) useAll(entry)
  for (const { imports } of modules.values()) {
    for (const { file, names } of imports) {
      if (names === undefined) useAll(file)
      else for (const name of names) use(file, name)
    }
  }
  return [...modules].flatMap(([file, { exports }]) =>
    exports.map((name) => `${file}: ${name}`).filter((each) => !used.has(each)),
  )
}
