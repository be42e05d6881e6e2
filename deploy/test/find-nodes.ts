// The Nodes that installed packages are tried on: the one that runs the tests, those of the machine, and, on Linux x64, the first
// version of each release line that the packages support. npm has those for no other platform.

import { execFile, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { neededNode } from '@jobcast/agent/needed-node'
import { isChaos } from '@jobcast/testkit/test-size'
import described from './nodes/package.json' with { type: 'json' }

/** Its version as `v24.15.0`. */
export type NodeProgram = { path: string; version: string }

const run = promisify(execFile)
const here = import.meta.dirname
/** Name of the package → version. */
const firstNodes = Object.entries(described.dependencies).map(([name, alias]) => ({
  name,
  version: `v${alias.slice(alias.lastIndexOf('@') + 1)}`,
}))

/** One of each version. The first is the one that runs the tests. */
export async function findNodes(): Promise<NodeProgram[]> {
  const ofMachine = nodesOfMachine()
  // 300 MB: `npm test` tries those of the machine.
  const isMissing =
    isChaos && firstNodes.some(({ version }) => !ofMachine.some((node) => node.version === version))
  const canInstall = process.platform === 'linux' && process.arch === 'x64'
  const installed = isMissing && canInstall ? await installNodes() : []
  const byVersion = new Map([...installed, ...ofMachine.toReversed()].map((node) => [node.version, node]))
  return [...byVersion.values()].toReversed()
}

/** On the PATH, or in JOBCAST_TEST_NODES (paths, separated as in PATH). */
function nodesOfMachine(): NodeProgram[] {
  const { PATH = '', JOBCAST_TEST_NODES = '' } = process.env
  const onPath = PATH.split(delimiter).map((folder) => join(folder, 'node'))
  const found = [process.execPath, ...JOBCAST_TEST_NODES.split(delimiter), ...onPath]
  const there = found.filter((path) => path !== '' && existsSync(path)).map((path) => realpathSync(path))
  // What is called node may be something else, or of another machine.
  const nodes = [...new Set(there)].map(describeNode).filter(({ version }) => /^v\d+\.\d+\./.test(version))
  return nodes.filter(({ version }) => neededNode('commands', version.slice(1)) === undefined)
}

/** Once for each checkout. Beside the folder, then in its place: another process may do the same at the same time. */
async function installNodes(): Promise<NodeProgram[]> {
  const name = ['nodes', ...firstNodes.map(({ version }) => version)].join('-')
  const folder = join(here, '../../node_modules/.cache', name)
  if (!existsSync(folder)) {
    const own = `${folder}.${process.pid}`
    mkdirSync(own, { recursive: true })
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      copyFileSync(join(here, 'nodes', file), join(own, file))
    await run('npm', ['ci'], { cwd: own })
    try {
      renameSync(own, folder)
    } catch (error) {
      rmSync(own, { recursive: true, force: true })
      if (!existsSync(folder)) throw error
    }
  }
  return firstNodes.map(({ name }) => describeNode(join(folder, 'node_modules', name, 'bin/node')))
}

function describeNode(path: string): NodeProgram {
  return { path, version: spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '' }
}
