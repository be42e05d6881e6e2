// `npm run package`: the tarballs of the three packages that are installed somewhere, and the Python client, in dist/ or in the
// folder given.

import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsoleIfStale } from '@jobcast/console/build'
import { buildAgent } from '../../agent/build.ts'
import { buildProgram } from '../../cli/build.ts'
import { buildPackage as buildClient } from '../../client/generate/build.ts'
import { describePackage, root } from './describe-package.ts'
import { recordModules } from './record-modules.ts'
import { consoleList, packagesOf, packagesOfConsole, sorted, swaggerUi } from './third-party.ts'
import { noticesFile, sbomFile, writeNotices } from './write-notices.ts'

const notices = [noticesFile, sbomFile]
const pythonClient = 'jobcast.py'

export type Tarball = { name: string; path: string }

/** Puts the tarballs and the Python client into the folder. */
export async function makePackages(folder: string): Promise<Tarball[]> {
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(root, 'client/python', pythonClient), join(folder, pythonClient))
  const staging = mkdtempSync(join(tmpdir(), 'jobcast-packages-'))
  try {
    await buildConsoleIfStale()
    return pack(
      [
        await stageJobcast(join(staging, 'jobcast')),
        stageClient(join(staging, 'client')),
        await stageAgent(join(staging, 'agent')),
      ],
      folder,
    )
  } finally {
    rmSync(staging, { recursive: true })
  }
}

async function stageJobcast(folder: string): Promise<string> {
  const modules = new Set<string>()
  await buildProgram(folder, [recordModules(modules)])
  const console = join(folder, 'dist/files/console/dist')
  const bundled = sorted([...packagesOf(modules), ...packagesOfConsole(console), swaggerUi()])
  rmSync(dirname(join(console, consoleList)), { recursive: true })
  copyFileSync(join(root, 'cli/src/index.d.ts'), join(folder, 'dist/index.d.ts'))
  describePackage(folder, {
    workspace: 'cli',
    // Those of most commands (agent/bin/needed-node.js): a command that opens a database says itself what it needs.
    engines: { node: '^20.15.0 || >=22.2.0' },
    bin: { jobcast: 'bin/jobcast.js' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    files: ['bin', 'dist', ...notices],
  })
  writeNotices(folder, bundled)
  return folder
}

function stageClient(folder: string): string {
  buildClient(folder)
  describePackage(folder, {
    workspace: 'client',
    exports: { '.': { types: './index.d.ts', default: './index.js' }, './package.json': './package.json' },
    files: ['*.js', '*.d.ts', ...notices],
  })
  writeNotices(folder, [])
  return folder
}

async function stageAgent(folder: string): Promise<string> {
  const modules = new Set<string>()
  await buildAgent(folder, [recordModules(modules)])
  describePackage(folder, {
    workspace: 'agent',
    bin: { 'jobcast-agent': 'jobcast-agent.cjs', 'jobcast-agent.sh': 'jobcast-agent.sh' },
    exports: {
      '.': { types: './types/index.d.ts', default: './index.js' },
      './package.json': './package.json',
    },
    files: ['*.js', '*.cjs', '*.sh', 'types', ...notices],
  })
  writeNotices(folder, packagesOf(modules))
  return folder
}

function pack(folders: string[], to: string): Tarball[] {
  const answer = execFileSync('npm', ['pack', '--json', '--pack-destination', to, ...folders], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const packed: { name: string; filename: string }[] = JSON.parse(answer)
  return packed.map(({ name, filename }) => ({ name, path: join(to, filename) }))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? join(root, 'dist')
  const made = (await makePackages(folder)).map(({ path }) => path)
  for (const path of [...made, join(folder, pythonClient)])
    console.log(`${path}  ${Math.ceil(statSync(path).size / 1000)} kB`)
}
