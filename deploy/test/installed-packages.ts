// The packages, packed and installed in an empty folder, as for users without a checkout.

import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { makePackages, type Tarball } from '../packages/make-packages.ts'

export const run = promisify(execFile)

type Installed = {
  folder: string
  tarballs: Tarball[]
  /** A file of an installed package. */
  file(path: string): string
}

/** Without a registry: what is installed has no dependencies. */
export async function installPackages(folder: string): Promise<Installed> {
  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{"name":"blank","private":true,"type":"module"}')
  // The home of this user, where npm keeps its cache, may be read-only, or not there.
  process.env.npm_config_cache ??= join(folder, 'npm-cache')
  const tarballs = await makePackages(join(folder, 'tarballs'))
  const flags = ['--offline', '--no-audit', '--no-fund', '--loglevel=error', '--engine-strict']
  await run('npm', ['install', ...flags, ...tarballs.map(({ path }) => path)], { cwd: project })
  return { folder: project, tarballs, file: (path) => join(project, 'node_modules', path) }
}

/** Nothing of this checkout, and nothing of npm. */
export function blankEnvironment(folder: string, node: string): Record<string, string> {
  return { PATH: `${dirname(node)}:/usr/bin:/bin`, HOME: folder }
}
