// Builds the command line, with the server, the agent and the libraries they load, into a few files of JavaScript, which need
// nothing but Node. This is what the package `jobcast` holds. The files start in a quarter of the time that 1,400 modules
// take, so the tests run programs in this form as well.

import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { join, relative } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const root = join(import.meta.dirname, '..')
/** Programs of threads. */
const threads = new Map([
  ['server/src/store/sqlite/database-thread.ts', 'database-thread'],
  ['server/src/store/sqlite/checkpointer.ts', 'checkpointer'],
])

/** Files that are read while it runs, at the same place below `files/`. */
const readFiles = [
  'server/src/store/sqlite/migrations',
  'server/src/store/postgres/migrations',
  'console/dist',
]

const apiPages = 'node_modules/@fastify/swagger-ui/static'

/** Answers the path of the program. What was in the folder is replaced. `more` plugins come last. */
export async function buildProgram(folder: string, more: readonly Plugin[] = []): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  const files = join(folder, 'dist')
  await bundle(files, more)
  for (const path of readFiles) {
    if (existsSync(join(root, path)))
      cpSync(join(root, path), join(files, 'files', path), { recursive: true })
  }
  cpSync(join(root, apiPages), join(files, 'files', apiPages), {
    recursive: true,
    // Not on the page: the sources of the bundle, and a frame for OAuth.
    filter: (path) => !/\/(swagger-ui|oauth2-redirect)\.(js|html)$/.test(path),
  })
  for (const name of ['older-node.js', 'needed-node.js'])
    cpSync(join(root, 'agent/bin', name), join(files, name))
  mkdirSync(join(folder, 'bin'))
  const program = join(folder, 'bin/jobcast.js')
  cpSync(join(root, 'cli/bin/jobcast.js'), program)
  chmodSync(program, 0o755)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  return program
}

async function bundle(folder: string, more: readonly Plugin[]): Promise<void> {
  const bundle = await rolldown({
    cwd: root,
    platform: 'node',
    input: {
      main: join(root, 'cli/src/main.ts'),
      index: join(root, 'cli/src/run.ts'),
      ...Object.fromEntries([...threads].map(([path, name]) => [name, join(root, path)])),
    },
    external: ['pg-native'],
    transform: { target: 'node20' },
    plugins: [consoleIsBuilt, stableSqlite, httpAlone, ownAddress, addressOfApiPages, ...more],
    logLevel: 'silent',
  })
  await bundle.write({ dir: folder, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' })
  await bundle.close()
}

/** `jobcast dev` builds the console of a checkout; here it is built already. */
const consoleIsBuilt: Plugin = {
  name: 'console-is-built',
  load: (id) =>
    id === join(root, 'console/build.ts')
      ? `export const buildConsoleIfStale = async () => 'fresh'`
      : undefined,
}

/** So that a Node without it, or with one that prints a warning, can load the commands that do not need it. */
const stableSqlite: Plugin = {
  name: 'stable-sqlite',
  resolveId: (id) => (id === 'node:sqlite' ? '\0sqlite' : undefined),
  load: (id) =>
    id === '\0sqlite'
      ? `import { neededNode } from ${JSON.stringify(join(root, 'agent/bin/needed-node.js'))}
const needed = neededNode('sqlite')
const sqlite = needed === undefined ? process.getBuiltinModule('node:sqlite') : {}
const refuse = () => { throw new Error('The embedded database needs Node ' + needed + ' or newer; this is ' + process.version + '.') }
export const DatabaseSync = sqlite.DatabaseSync ?? class { constructor() { refuse() } }
export const backup = sqlite.backup ?? refuse`
      : undefined,
}

/** Import it, and Node loads its client for WebSocket and fetch as well: 60 ms of each start, for what nobody here uses. */
const httpAlone: Plugin = {
  name: 'http-alone',
  resolveId: (id, _importer, { kind }) =>
    id === 'node:http' && kind === 'import-statement' ? '\0http' : undefined,
  load(id) {
    if (id !== '\0http') return undefined
    const names = Object.keys(http).filter((name) => !/^(WebSocket|CloseEvent|MessageEvent)$/.test(name))
    return `import { createRequire } from 'node:module'
const http = createRequire(import.meta.url)('node:http')
export const { ${names.join(', ')} } = http
export default http`
  },
}

/** All modules end up in one folder, so each is told where the files beside it are. */
const ownAddress: Plugin = {
  name: 'own-address',
  transform(code, id) {
    const path = relative(root, id).replaceAll('\\', '/')
    if (path.startsWith('..') || path.startsWith('node_modules') || !code.includes('import.meta.url'))
      return undefined
    const thread = threads.get(path)
    const place = thread ? `${thread}.js` : `files/${path}`
    return code.replaceAll(
      'import.meta.url',
      `new URL(${JSON.stringify(`./${place}`)}, import.meta.url).href`,
    )
  },
}

const addressOfApiPages: Plugin = {
  name: 'address-of-api-pages',
  transform(code, id) {
    const path = relative(root, id).replaceAll('\\', '/')
    if (!/^node_modules\/@fastify\/swagger-ui\/(index|lib\/routes)\.js$/.test(path)) return undefined
    const folder = path.slice(0, path.lastIndexOf('/'))
    return code.replaceAll(
      '__dirname',
      `require('node:url').fileURLToPath(new URL('./files/${folder}', import.meta.url))`,
    )
  },
}
