#!/usr/bin/env node
// Plain JavaScript, so that it runs on any Node. The published package is built, and most of its commands run on Node 20. In
// a checkout Jobcast runs from its sources, which need the Node of the server; `npm ci` installs one beside it.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const built = new URL('../dist/main.js', import.meta.url)
const isBuilt = existsSync(built)
const beside = isBuilt ? '../dist/needed-node.js' : '../../agent/bin/needed-node.js'
const { neededNode } = await import(new URL(beside, import.meta.url).href)
const needed = neededNode(isBuilt ? 'commands' : 'sqlite')

endWithParent()
if (isBuilt) {
  if (needed !== undefined) refuse()
  cacheCompiled()
  await import(new URL('../dist/older-node.js', import.meta.url).href)
  await import(built.href)
} else if (needed === undefined) {
  cacheCompiled()
  await import('../src/main.ts')
} else {
  const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
  if (!existsSync(node)) refuse(' Run "npm ci" to get one beside it.')
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, JOBCAST_WRAPPER: '1' },
  })
  // Ctrl-C reaches the child by itself: the terminal sends it to both.
  process.on('SIGINT', () => undefined)
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)))
}

function refuse(advice = '') {
  console.error(`jobcast needs Node ${needed} or newer; this is ${process.version}.${advice}`)
  process.exit(1)
}

/**
 * npm starts us through a shell. A signal to npm ends that shell, not us: whoever ends `npm start` by its process id means the
 * server. If npm itself is killed, its shell stays, with another parent. The same holds for the process above that was
 * started with an older Node, should it be killed.
 */
function endWithParent() {
  const { npm_lifecycle_event: npmScript, JOBCAST_WRAPPER: isWrapped } = process.env
  if (npmScript === undefined && isWrapped === undefined) return
  const parent = process.ppid
  const npm = parentOfShell(parent)
  const timer = setInterval(() => {
    if (process.ppid === parent && parentOfShell(parent) === npm) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  timer.unref()
}

/** Undefined if it is not the shell of a script (`sh -c`), or where there is no /proc. */
function parentOfShell(pid) {
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1] !== '-c') return undefined
    return /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

/**
 * To strip types takes most of the start of a short command: 0.31 s of CPU without this, 0.07 s with it. A folder of
 * our own, as what is in it is run, and beside those of others: Node never returns where it cannot make a path (/proc).
 */
function cacheCompiled() {
  try {
    const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'jobcast')
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
    // Not there in Node 20.
    module.enableCompileCache?.(folder)
  } catch {
    // Nothing is lost but time.
  }
}
