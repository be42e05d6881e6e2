// Our files have no import cycles, including types, and no unused exports.

import assert from 'node:assert/strict'
import { join, posix } from 'node:path'
import { test } from 'node:test'
import { findCycles, findUnusedExports } from '../runner/judge-modules.ts'
import { type Module, parseModule, readModules } from '../runner/read-modules.ts'
import { readPackages } from '../runner/resolve-import.ts'

const root = join(import.meta.dirname, '../..')
const modules = readModules(root)

/** Used from outside our files. */
const usedElsewhere = [
  // The types of packages as they are published.
  'cli/src/index.d.ts',
  'agent/bin/needed-node.d.ts',
  // Stands in for a module of Node.
  'testkit/runner/kept-threads.ts',
  // These write programs: some of their lines begin like an export.
  'cli/build.ts',
  'client/generate/generate.ts',
]

test('no file imports itself over others, also not for a type', () => {
  assert.ok(modules.size > 1500, `only ${modules.size} files were found`)
  const cycles = findCycles(modules)
  assert.deepEqual(cycles, [])
})

test('every export is imported by another file, or is one of a package', () => {
  const packages = [...readPackages(root).values()]
  const entries = packages.flatMap(({ folder, exports }) =>
    Object.entries(exports)
      .filter(([path]) => !path.includes('*'))
      .map(([, target]) => posix.join(folder, typeof target === 'string' ? target : target.default)),
  )
  assert.deepEqual(findUnusedExports(modules, [...entries, ...usedElsewhere]), [])
})

const parse = (text: string): Module => parseModule(text, (specifier) => specifier.replace(/^node:.*/, ''))

const imported: [string, Module['imports']][] = [
  [`import { one, type Two as Three } from './a.ts'`, [{ file: './a.ts', names: ['one', 'Two'] }]],
  [`import type { One } from './a.ts'`, [{ file: './a.ts', names: ['One'] }]],
  [`import {\n  one,\n  two,\n} from './a.ts'`, [{ file: './a.ts', names: ['one', 'two'] }]],
  [`import one, { two } from './a.ts'`, [{ file: './a.ts', names: ['default', 'two'] }]],
  [`import one from './a.ts'`, [{ file: './a.ts', names: ['default'] }]],
  [`import * as all from './a.ts'`, [{ file: './a.ts', names: undefined }]],
  [`import './a.ts'`, [{ file: './a.ts', names: [] }]],
  [`const { one } = await import('./a.ts')`, [{ file: './a.ts', names: undefined }]],
  [`type One = import('./a.ts').One`, [{ file: './a.ts', names: undefined }]],
  [`export { one as two } from './a.ts'`, [{ file: './a.ts', names: ['one'] }]],
  [`import { test } from 'node:test'`, []],
]
for (const [text, imports] of imported) {
  test(`reads what is imported by ${JSON.stringify(text)}`, () =>
    assert.deepEqual(parse(text).imports, imports))
}

const exported: [string, string[]][] = [
  ['export function one() {}', ['one']],
  ['export async function* one() {}', ['one']],
  ['export const one = 1', ['one']],
  ['export class One {}', ['One']],
  ['export abstract class One {}', ['One']],
  ['export type One<Of> = Of[]', ['One']],
  ['export const { one, two: three } = both', ['one', 'three']],
  ['export { one, two as three }', ['one', 'three']],
  [`export { one as two } from './a.ts'`, ['two']],
  [`export type { One } from './a.ts'`, ['One']],
  [`export * as all from './a.ts'`, ['all']],
  ['export default one', []],
  ['/**\nexport const one = 1\n*/', []],
]
for (const [text, names] of exported) {
  test(`reads what is exported by ${JSON.stringify(text)}`, () =>
    assert.deepEqual(parse(text).exports, names))
}

/** Keyed by name, which is also the specifier. */
const filesOf = (texts: Record<string, string>) =>
  new Map(Object.entries(texts).map(([file, text]) => [file, parse(text)]))

test('finds each cycle with all its files, over types and exports', () => {
  const files = filesOf({
    a: `import type { B } from 'b'`,
    b: `export * from 'c'`,
    c: `import { a } from 'a'`,
    d: `import { a } from 'a'`,
    e: `import { d } from 'd'\nimport type { F } from 'f'`,
    f: `import type { E } from 'e'`,
  })
  assert.deepEqual(findCycles(files), [
    ['a', 'b', 'c'],
    ['e', 'f'],
  ])
})

test('finds exports that nobody imports, also where others are passed on', () => {
  const files = filesOf({
    entry: `export * from 'a'`,
    a: 'export const one = 1',
    index: `export * from 'b'`,
    b: 'export const used = 1\nexport const unused = 2',
    c: `import { used } from 'index'`,
    d: 'export type Unused = string',
  })
  assert.deepEqual(findUnusedExports(files, ['entry']), ['b: unused', 'd: Unused'])
})
