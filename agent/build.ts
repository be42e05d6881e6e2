// Builds the package @jobcast/agent: the program `jobcast-agent` as one file that needs nothing but Node 20, and the same as a
// library with its types.

import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const tsc = join(import.meta.dirname, '../node_modules/typescript/bin/tsc')

/** What was in the folder is replaced. `more` plugins come last. */
export async function buildAgent(folder: string, more: readonly Plugin[] = []): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  await bundle('src/program/main.ts', join(folder, 'jobcast-agent.cjs'), more)
  await bundle('src/index.ts', join(folder, 'index.js'), more)
  cpSync(join(import.meta.dirname, 'bin/jobcast-agent.sh'), join(folder, 'jobcast-agent.sh'))
  for (const name of ['jobcast-agent.cjs', 'jobcast-agent.sh']) chmodSync(join(folder, name), 0o755)
  writeTypes(join(folder, 'types'))
}

/**
 * One file, minified: a device reads it from a slow disk. The program is CommonJS, which a file without an extension is on every
 * Node; and an `import` of node:http as a module loads all that this exports, a WebSocket with fetch among it: 17 MB.
 */
export async function bundle(input: string, file: string, more: readonly Plugin[] = []): Promise<void> {
  const isProgram = input.endsWith('main.ts')
  const olderNode = readFileSync(join(import.meta.dirname, 'bin/older-node.js'), 'utf8')
  const bundle = await rolldown({
    cwd: import.meta.dirname,
    platform: 'node',
    input: join(import.meta.dirname, input),
    transform: { target: 'node20' },
    // Optional native parts of ws, which has the same in JavaScript.
    external: ['bufferutil', 'utf-8-validate'],
    plugins: [leanLibraries, lazyModules, ...more],
    logLevel: 'silent',
  })
  await bundle.write({
    file,
    codeSplitting: false,
    format: isProgram ? 'cjs' : 'esm',
    minify: true,
    banner: isProgram ? '#!/usr/bin/env node' : '',
    intro: isProgram ? `${interpretOnly}\n${olderNode}` : olderNode,
  })
  await bundle.close()
  writeFileSync(file, inAscii(readFileSync(file, 'utf8')))
}

/** An agent waits most of the time. Interpreted, it takes 3 MB less: of the compilers, and of what they compile. */
const interpretOnly = `require('node:v8').setFlagsFromString('--no-opt');
require('node:v8').setFlagsFromString('--no-sparkplug');
if (Number(process.versions.node.split('.')[0]) >= 22) require('node:v8').setFlagsFromString('--no-maglev');`

/** V8 keeps a source with one character beyond Latin-1 in two bytes for each. Outside of texts and patterns there is none. */
function inAscii(source: string): string {
  return source.replace(/[\u0080-\uffff]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/**
 * Each of these costs a device memory: the streams of Node in JavaScript once more, SOCKS proxies, timers for browsers, and
 * what makes schemas, which only servers check. The agent uses none of them.
 */
const leanLibraries: Plugin = {
  name: 'lean-libraries',
  load(id) {
    if (/node_modules\/readable-stream\/lib\/ours\/index\.js$/.test(id))
      return `module.exports = require('node:stream')`
    if (/node_modules\/typebox\//.test(id))
      return 'const none = new Proxy(() => none, { get: () => none }); export default none'
    return /node_modules\/(socks|worker-timers)\//.test(id) ? 'module.exports = {}' : undefined
  },
}

/**
 * Modules of Node that libraries load and the agent rarely uses: TLS alone takes 6 MB. Each is loaded when something of it is
 * used.
 */
const lazyModules: Plugin = {
  name: 'lazy-modules',
  resolveId(id, importer) {
    const isLazy = /^(?:tls|https|zlib|assert|dns)$/.test(id)
    return isLazy && importer?.includes('node_modules') ? `\0lazy:${id}` : undefined
  },
  load(id) {
    const [, name] = /^\0lazy:(.+)$/.exec(id) ?? []
    if (name === undefined) return undefined
    return `module.exports = new Proxy({}, { get: (_, name) => require('node:${name}')[name] })`
  },
}

/** Only those that the types of index.ts lead to. */
function writeTypes(folder: string): void {
  const all = `${folder}-all`
  execFileSync(process.execPath, [
    tsc,
    '--project',
    join(import.meta.dirname, 'tsconfig.build.json'),
    '--outDir',
    all,
  ])
  const found = new Set(['index.d.ts'])
  for (const file of found) {
    const text = readFileSync(join(all, file), 'utf8')
    for (const [, path = ''] of text.matchAll(/from '(\.[^']*)'/g)) {
      found.add(join(file, '..', path.replace(/\.(js|ts)$/, '.d.ts')))
    }
    cpSync(join(all, file), join(folder, file))
  }
  rmSync(all, { recursive: true })
}
