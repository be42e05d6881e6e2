// What each file imports and exports, types included, read from its text. Our formatter puts every top-level statement at the
// beginning of a line, so that no parser is needed.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPackages, resolveImport } from './resolve-import.ts'

/** `names`: as the other file exports them; undefined: any of them. */
type Import = { file: string; names: string[] | undefined }
export type Module = {
  imports: Import[]
  /** Names that are declared here, or passed on one by one. */
  exports: string[]
  /** Files of which all names are passed on. */
  passesOn: string[]
}

const sources =
  '{agent,bench,cli,client,console,contract,deploy,docs,examples,server,sim,testkit}/**/*.{ts,tsx,js}'
const excluded = ['**/node_modules/**', '**/dist/**']

/** By their paths from the root. */
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

/** `resolve` gives the path of a file, or nothing for what is not ours. */
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

/** Of `a, b as c` the names before (0) or after (1) the separator. */
function entriesOf(list: string, separator: string, side: 0 | 1): string[] {
  return list
    .split(',')
    .map((entry) => entry.trim().replace(/^type /, ''))
    .filter((entry) => entry !== '')
    .map((entry) => (entry.split(separator)[side] ?? entry).trim())
}
