// The packages, packed and installed in an empty folder, as somebody without a checkout has them.

import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { makePackages, type Tarball } from '../packages/make-packages.ts'

export const run = promisify(execFile)

export type Installed = {
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

export type NodeProgram = { path: string; version: string; major: number }

/** This one, and older ones of the machine: on the PATH, or in JOBCAST_TEST_NODES (paths, separated by colons). */
export function findNodes(): NodeProgram[] {
  const { PATH = '', JOBCAST_TEST_NODES = '' } = process.env
  const onPath = PATH.split(delimiter).map((folder) => join(folder, 'node'))
  const found = [process.execPath, ...JOBCAST_TEST_NODES.split(delimiter), ...onPath]
  const paths = new Set(
    found.filter((path) => path !== '' && existsSync(path)).map((path) => realpathSync(path)),
  )
  const nodes = [...paths].flatMap((path) => {
    // What is called node may be something else, or of another machine.
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' })
    const [, version, major] = /^(v(\d+)\.\S+)$/.exec(stdout?.trim() ?? '') ?? []
    return version === undefined ? [] : [{ path, version, major: Number(major) }]
  })
  const majors = new Map(nodes.filter(({ major }) => major >= 20).map((node) => [node.major, node]))
  return [...majors.values()]
}

/** Nothing of this checkout, and nothing of npm. */
export function blankEnvironment(folder: string, node: string): Record<string, string> {
  return { PATH: `${dirname(node)}:/usr/bin:/bin`, HOME: folder }
}
