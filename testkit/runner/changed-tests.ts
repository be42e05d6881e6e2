// Finds the test files that depend on changed files, from the imports of all files.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPackages, resolveImport } from './resolve-import.ts'

const sources = '{agent,cli,client,console,contract,deploy,docs,examples,server,sim,testkit}/**/*.{ts,tsx,js}'
/** Type imports do not exist at run time. */
const typeImport = /^import type [^'"]*['"][^'"]+['"]/gm
const importPattern = /(?:from|import|new URL\()\s*\(?\s*['"]([^'"]+)['"]/g

/** `changed` and the result are paths from the root. */
export function testsThatDependOn(
  root: string,
  changed: readonly string[],
  tests: readonly string[],
): string[] {
  const isAffected = affectedBy(readImports(root), changed)
  const folders = new Set(changed.filter((file) => !isImported(file)).map(folderOfTests))
  return tests.filter((test) => isAffected(test) || [...folders].some((folder) => test.startsWith(folder)))
}

const isImported = (file: string) => /\.(ts|tsx|js)$/.test(file)

/** For a file that no file imports, such as a page, a migration or a style: the tests of its package are the nearest. */
function folderOfTests(file: string): string {
  const [first = ''] = file.split('/')
  if (/\.md$/.test(file)) return 'docs/test/'
  if (/\.sql$/.test(file)) return 'server/test/store/'
  // Compiler settings and the lock file affect all packages.
  return file.includes('/') ? `${first}/test/` : ''
}

function affectedBy(imports: Map<string, string[]>, changed: readonly string[]): (file: string) => boolean {
  const importers = new Map<string, string[]>()
  for (const [file, imported] of imports) {
    for (const each of imported) importers.set(each, [...(importers.get(each) ?? []), file])
  }
  const affected = new Set(changed)
  const waiting = [...changed]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const importer of importers.get(file) ?? []) {
      if (affected.has(importer)) continue
      affected.add(importer)
      waiting.push(importer)
    }
  }
  return (file) => affected.has(file)
}

function readImports(root: string): Map<string, string[]> {
  const files = globSync(sources, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
  const packages = readPackages(root)
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(root, file), 'utf8').replaceAll(typeImport, '')
      const specifiers = [...text.matchAll(importPattern)].map(([, specifier = '']) => specifier)
      return [file, specifiers.map((specifier) => resolveImport(file, specifier, packages)).filter(Boolean)]
    }),
  )
}
