// Reads the imports and exports of each file, including types, from its text. The formatter puts every top-level statement at
// the beginning of a line, so no parser is needed.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPackages, resolveImport } from './resolve-import.ts'

/** `names` are the names that the other file exports; undefined means any of them. */
type Import = { file: string; names: string[] | undefined }
export type Module = {
  imports: Import[]
  /** Names declared here, or re-exported by name. */
  exports: string[]
  /** Files that are re-exported with `*`. */
  passesOn: string[]
}

const sources =
  '{agent,bench,cli,client,console,contract,deploy,docs,examples,server,sim,testkit}/**/*.{ts,tsx,js}'
const excluded = ['**/node_modules/**', '**/dist/**']

/** Keyed by path from the root. */
export function readModules(root: string): Map<string, Module> {
  const files = globSync(sources, { cwd: root, exclude: excluded }).map((file) => file.replaceAll('\\', '/'))
  const packages = readPackages(root)
  return new Map(
    files.sort().map((file) => {
      const resolve = (specifier: string) => resolveImport(file, specifier, packages)
      return [file, parseModule(readFileSync(join(root, file), 'utf8'), resolve)]
    }),
  )
}

const statement =
  /^(import|export)\s+(?:type\s+)?((?:[\w$]+\s*,\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)|[\w$]+)\s+from\s+'([^']+)'/gm
const bareImport = /^import '([^']+)'/gm
const inlineImport = /\bimport\(\s*'([^']+)'/g
const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|let|type|interface) ([\w$]+)/gm
const destructured = /^export const \{([^}]*)\}/gm
const list = /^export (?:type )?\{([^}]*)\}(?! from)/gm

/** `resolve` returns the path of a file, or an empty string for other packages. */
export function parseModule(text: string, resolve: (specifier: string) => string): Module {
  const module: Module = { imports: [], exports: [], passesOn: [] }
  const addImport = (specifier: string, names: string[] | undefined) => {
    const file = resolve(specifier)
    if (file !== '') module.imports.push({ file, names })
  }
  const code = withoutBlockComments(text)
  for (const [, keyword, clause = '', specifier = ''] of code.matchAll(statement)) {
    if (keyword === 'export' && clause === '*') {
      if (resolve(specifier) !== '') module.passesOn.push(resolve(specifier))
      addImport(specifier, [])
      continue
    }
    addImport(specifier, namesTaken(clause))
    if (keyword === 'export') module.exports.push(...namesGiven(clause))
  }
  for (const [, specifier = ''] of code.matchAll(bareImport)) addImport(specifier, [])
  for (const [, specifier = ''] of code.matchAll(inlineImport)) addImport(specifier, undefined)
  for (const [, name = ''] of code.matchAll(declaration)) module.exports.push(name)
  for (const [, names = ''] of code.matchAll(destructured)) module.exports.push(...entriesOf(names, ':', 1))
  for (const [, names = ''] of code.matchAll(list)) module.exports.push(...entriesOf(names, ' as ', 1))
  return { ...module, exports: [...new Set(module.exports)] }
}

function withoutBlockComments(text: string): string {
  return text.replace(/^\s*\/\*\*?[\s\S]*?\*\//gm, '')
}

function namesTaken(clause: string): string[] | undefined {
  if (clause.includes('*')) return undefined
  const [, first, braces] = /^([\w$]+)?\s*,?\s*(?:\{([^}]*)\})?$/.exec(clause) ?? []
  return [...(first ? ['default'] : []), ...entriesOf(braces ?? '', ' as ', 0)]
}

function namesGiven(clause: string): string[] {
  if (clause.startsWith('*')) return [clause.replace(/^\*\s+as\s+/, '')]
  return entriesOf(clause.replace(/[{}]/g, ''), ' as ', 1)
}

/** Splits `a, b as c` and returns the names before (0) or after (1) the separator. */
function entriesOf(list: string, separator: string, side: 0 | 1): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim().replace(/^type /, ''))
    .filter((entry) => entry !== '')
    .map((entry) => (entry.split(separator)[side] ?? entry).trim())
}
