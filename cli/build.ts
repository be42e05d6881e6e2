// Builds the command line, with the server, the agent and the libraries they load, into a few files of JavaScript. They
// start in a quarter of the time that 1,400 modules take, so the tests run programs in this form.

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..')
const databaseThread = 'server/src/store/sqlite/database-thread.ts'

/** Files that are read while it runs, at the same place below `files/`. */
const readFiles = [
  'server/src/store/sqlite/migrations',
  'server/src/store/postgres/migrations',
  'console/dist',
]

/** Libraries that read files of their own, or are optional. */
const notBundled = [/^@fastify\/swagger-ui$/, /^pino/, /^pg-native$/]

/** Answers the path of the program. What was in the folder is replaced. */
export async function buildProgram(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: { main: join(root, 'cli/src/main.ts'), 'database-thread': join(root, databaseThread) },
    external: notBundled,
    plugins: [{ name: 'jobcast', load: loadConsoleBuild, transform: replaceOwnAddress }],
    logLevel: 'silent',
  })
  const files = join(folder, 'dist')
  await bundle.write({ dir: files, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
  for (const path of readFiles) {
    if (existsSync(join(root, path)))
      cpSync(join(root, path), join(files, 'files', path), { recursive: true })
  }
  mkdirSync(join(folder, 'bin'))
  const program = join(folder, 'bin/jobcast.js')
  const source = readFileSync(join(root, 'cli/bin/jobcast.js'), 'utf8')
  writeFileSync(program, source.replace("'../src/main.ts'", "'../dist/main.js'"))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  return program
}

/** `jobcast dev` builds the console of a checkout; here it is built already. */
function loadConsoleBuild(id: string): string | undefined {
  if (id !== join(root, 'console/build.ts')) return
  return `export const buildConsoleIfStale = async () => 'fresh'`
}

/** All modules end up in one folder, so each is told where the files beside it are. */
function replaceOwnAddress(code: string, id: string): string | undefined {
  const path = relative(root, id).replaceAll('\\', '/')
  if (path.startsWith('..') || path.startsWith('node_modules') || !code.includes('import.meta.url')) return
  const place = path === databaseThread ? 'database-thread.js' : `files/${path}`
  return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(`./${place}`)}, import.meta.url).href`)
}
