// Builds the console into dist/ when that is missing or older than what it is made of. `npm start` and the tests call
// it; `npm run build` builds in any case.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = import.meta.dirname
export const builtFolder = join(here, 'dist')

const sources = [
  'src',
  'index.html',
  'vite.config.ts',
  'package.json',
  '../package.json',
  '../client/src',
  '../contract/src',
  '../package-lock.json',
]

/** Throws, with one sentence, where it cannot be built. */
export async function buildConsoleIfStale(): Promise<'built' | 'fresh'> {
  return isFresh() ? 'fresh' : buildConsole()
}

export async function buildConsole(): Promise<'built'> {
  const vite = await loadVite()
  // Beside it, then in its place: whoever serves or builds at the same time never sees half of it.
  const outDir = join(here, '../node_modules/.cache', `jobcast-console-${process.pid}`)
  mkdirSync(outDir, { recursive: true })
  await vite.build({
    configFile: join(here, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir, emptyOutDir: true },
  })
  rmSync(builtFolder, { recursive: true, force: true })
  renameSync(outDir, builtFolder)
  return 'built'
}

async function loadVite(): Promise<typeof import('vite')> {
  try {
    return await import('vite')
  } catch (error) {
    // Either it is not installed (npm ci --omit=dev) or its native part for this machine is missing.
    const why = firstLine(error)
    throw new Error(`Vite does not load on ${process.platform} ${process.arch}: ${why}`, { cause: error })
  }
}

function isFresh(): boolean {
  const page = join(builtFolder, 'index.html')
  return existsSync(page) && sources.every((path) => newestIn(join(here, path)) <= statSync(page).mtimeMs)
}

function newestIn(path: string): number {
  if (!existsSync(path)) return 0
  const { mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return mtimeMs
  const inside = readdirSync(path, { recursive: true, encoding: 'utf8' })
  return Math.max(mtimeMs, ...inside.map((name) => statSync(join(path, name)).mtimeMs))
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0] ?? text
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildConsole().catch((error: unknown) => {
    console.error(`The console could not be built: ${firstLine(error)}`)
    process.exitCode = 1
  })
}
