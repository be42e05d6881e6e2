// Resolves an import to the path of one of our files from the root.

import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

type Package = {
  folder: string
  exports: Record<string, string | { types?: string; default: string }>
}

/** Our packages by name. */
export function readPackages(root: string): Map<string, Package> {
  const manifests = globSync('*/package.json', { cwd: root }).map((path) => path.replaceAll('\\', '/'))
  return new Map(
    manifests.map((path) => {
      const { name, exports = {} } = JSON.parse(readFileSync(join(root, path), 'utf8'))
      const entries = typeof exports === 'string' ? { '.': exports } : exports
      return [name, { folder: posix.dirname(path), exports: entries }]
    }),
  )
}

/** A path from the root; empty for other packages. */
export function resolveImport(file: string, specifier: string, packages: Map<string, Package>): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(file), specifier)
  const [scope = '', name = '', ...rest] = specifier.split('/')
  const found = packages.get(`${scope}/${name}`)
  if (found === undefined) return ''
  const asked = rest.length > 0 ? `./${rest.join('/')}` : '.'
  const entry = found.exports[asked] ?? found.exports['./*'] ?? ''
  const target = typeof entry === 'string' ? entry : entry.default
  return posix.join(found.folder, target.replace('*', rest.join('/')))
}
