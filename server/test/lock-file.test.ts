// Packages with native parts must be in the lock file for every platform in the README: npm installs only packages from the lock
// file, so a missing binding would break the installation on that platform.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

type Locked = {
  version?: string
  os?: string | string[]
  cpu?: string | string[]
  libc?: string | string[]
  optionalDependencies?: Record<string, string>
}

const lockFile = new URL('../../package-lock.json', import.meta.url)
const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, Locked> }

const machines = [
  { os: 'linux', cpu: 'x64', libc: 'glibc' },
  { os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { os: 'darwin', cpu: 'arm64' },
  { os: 'darwin', cpu: 'x64' },
  { os: 'win32', cpu: 'x64' },
]

test('every package with native parts is locked for all machines that Jobcast runs on', () => {
  const native = Object.entries(packages).filter(([, locked]) => nativeParts(locked).length > 0)
  assert.ok(native.length >= 5, 'the lock file names its native packages in another way than this test knows')
  const missing = native.flatMap(([path, locked]) =>
    machines
      .filter((machine) => !nativeParts(locked).some((part) => fits(part, machine)))
      .map(({ os, cpu }) => `${path || 'package.json'} has no part for ${os} ${cpu}`),
  )
  assert.deepEqual(missing, [])
})

test('every part that a package asks for is locked at the version it asks for', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name, wanted]) => /^\d/.test(wanted) && isOurs(name) && find(name)?.version !== wanted)
      .map(([name, wanted]) => `${path} asks for ${name} ${wanted}`),
  )
  assert.deepEqual(missing, [])
})

/** Of a package that brings one part per machine, those that the lock file has. */
function nativeParts({ optionalDependencies = {} }: Locked): Locked[] {
  return Object.keys(optionalDependencies)
    .map(find)
    .filter((part) => part?.os !== undefined && part.cpu !== undefined)
    .filter((part) => part !== undefined)
}

function find(name: string): Locked | undefined {
  return packages[`node_modules/${name}`]
}

function fits(part: Locked, machine: { os: string; cpu: string; libc?: string }): boolean {
  const takes = (list: string | string[] | undefined, value: string | undefined) =>
    list === undefined || value === undefined || [list].flat().includes(value)
  return takes(part.os, machine.os) && takes(part.cpu, machine.cpu) && takes(part.libc, machine.libc)
}

/** By its name: a part that is missing from the lock file says nothing else about itself. */
function isOurs(name: string): boolean {
  return /(linux-(x64|arm64)(-gnu)?|darwin-(arm64|x64)|win32-x64(-msvc)?)$/.test(name)
}
