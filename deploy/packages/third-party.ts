// The packages of others that are in a bundle, with their licences.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from './describe-package.ts'
import { keptText, licenseText } from './license-text.ts'

export type PackageId = { name: string; version: string }

export type ThirdParty = PackageId & {
  /** As SPDX has it. */
  license: string
  /** The text of the licence, and of a NOTICE. */
  text: string
  /** The packages it needs, whether they are bundled or not. */
  needs: PackageId[]
  /** Of its tarball, as package-lock.json has it. */
  integrity?: string | undefined
}

type Described = {
  name?: string
  version?: string
  license?: string
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** Of the paths of their files, by name and version. Throws if one has no licence. */
export function packagesOf(modules: Iterable<string>): ThirdParty[] {
  const folders = new Set([...modules].map((path) => folderOf(dirname(path))))
  return sorted([...folders].map(packageIn))
}

/** What Vite says is in the console: its own list, see console/vite.config.ts. */
export function packagesOfConsole(folder: string): ThirdParty[] {
  const list: { name: string }[] = JSON.parse(readFileSync(join(folder, consoleList), 'utf8'))
  return list
    .filter(({ name }) => !name.startsWith('@jobcast/'))
    .map(({ name }) => packageIn(join(root, 'node_modules', name)))
}

export const consoleList = '.vite/license.json'

/** The page that shows the API is built by others, and its package does not contain the licences of what is in it. */
export function swaggerUi(): ThirdParty {
  const { devDependencies = {} } = describedIn(join(root, 'node_modules/@fastify/swagger-ui'))
  const name = 'swagger-ui-dist'
  const version = devDependencies[name] ?? 'unknown'
  return { name, version, license: 'Apache-2.0', text: keptText(name, version), needs: [] }
}

/** Each once. */
export function sorted(packages: readonly ThirdParty[]): ThirdParty[] {
  const byId = new Map(packages.map((each) => [`${each.name}@${each.version}`, each]))
  return [...byId].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
}

/** A package.json without a name only says how the files beside it are to be read. */
function folderOf(path: string): string {
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) && describedIn(folder).name !== undefined) return folder
  }
  throw new Error(`${path} is in no package`)
}

function packageIn(folder: string): ThirdParty {
  const { name = '', version = '', license, dependencies = {} } = describedIn(folder)
  if (license === undefined) throw new Error(`${folder} does not name its licence`)
  const integrity = locked()[relative(root, folder).replaceAll('\\', '/')]?.integrity
  const text = licenseText(folder, name, version)
  const needs = Object.keys(dependencies).flatMap((needed) => foundFrom(folder, needed) ?? [])
  return { name, version, license, text, needs, integrity }
}

/** As Node finds it: there may be several versions of one. */
function foundFrom(folder: string, name: string): PackageId | undefined {
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    const found = join(at, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return { name, version: describedIn(found).version ?? '' }
  }
  return undefined
}

function describedIn(folder: string): Described {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

let lock: Record<string, { integrity?: string }> | undefined
function locked(): Record<string, { integrity?: string }> {
  lock ??= JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages ?? {}
  return lock as Record<string, { integrity?: string }>
}
