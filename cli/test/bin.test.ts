// The installed program: its exit codes, a Node that is too old, and the end of its parent.

import assert from 'node:assert/strict'
import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { on, once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import { chaosTest } from '@jobcast/testkit/chaos-test'
import { program } from '@jobcast/testkit/program'
import { cleanEnv, dataFolder } from './run-jobcast.ts'
import { spawnToEnd } from './spawn-jobcast.ts'

test('exits with the code of its command after everything has been written', async (t) => {
  const [version, help, wrong, noKey] = await Promise.all([
    spawnToEnd(t, ['--version']),
    spawnToEnd(t, ['help', 'trigger']),
    spawnToEnd(t, ['serve', '--prot', '80']),
    spawnToEnd(t, ['runs']),
  ])
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/)
  assert.match(help.stdout, /^Usage: jobcast trigger /)
  assert.deepEqual([version.code, help.code, wrong.code, noKey.code], [0, 0, 2, 3])
  assert.match(wrong.stderr, /unknown option '--prot'/)
  assert.match(noKey.stderr, /jobcast login\n$/)
})

test('says in one sentence that Node is too old, if there is no newer one to use', async (t) => {
  const folder = dataFolder(t)
  for (const workspace of ['cli', 'agent']) mkdirSync(join(folder, workspace, 'bin'), { recursive: true })
  copyFileSync(program, join(folder, 'cli', 'bin', 'jobcast.js'))
  const neededNode = join(program, '../../../agent/bin/needed-node.js')
  copyFileSync(neededNode, join(folder, 'agent', 'bin', 'needed-node.js'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const older = 'data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.9.0" })'
  const { code, stderr } = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const args = ['--import', older, join(folder, 'cli', 'bin', 'jobcast.js'), 'runs']
    execFile(process.execPath, args, { env: cleanEnv() }, (error, _stdout, stderr) =>
      resolve({ code: error?.code, stderr }),
    )
  })
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^jobcast needs Node 24\.15\.0 or newer; this is v.*\. Run "npm ci" to get one beside it\.\n$/,
  )
})

/** npm runs a script through a shell, and forwards its signals to that shell. */
test('the server ends when the shell of npm start is killed', async (t) => {
  const shell = spawn(
    'sh',
    // Not the last command, so that the shell does not replace itself with it.
    ['-c', '"$0" "$@"; true', process.execPath, program, 'serve', '--port', '0', '--data', dataFolder(t)],
    { env: { ...cleanEnv(), npm_lifecycle_event: 'start' }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const pid = await pidOfServer(shell)
  t.after(() => endIfRunning(pid))
  assert.notEqual(pid, shell.pid)
  // The pipe closes when its last writer, the server, has ended.
  const ended = once(shell.stdout, 'close')
  shell.kill('SIGTERM')
  await ended
})

chaosTest(
  'the server ends when npm is killed and leaves its shell behind',
  {
    skip: existsSync('/proc/self') ? false : 'there is no /proc here',
  },
  async (t) => {
    const serve = [process.execPath, program, 'serve', '--port', '0', '--data', dataFolder(t)]
    // In the place of npm: it starts the shell, and cannot tell it when it is killed.
    const npm = spawn('sh', ['-c', 'sh -c \'"$0" "$@"; true\' "$0" "$@"; true', ...serve], {
      env: { ...cleanEnv(), npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const pid = await pidOfServer(npm)
    t.after(() => endIfRunning(pid))
    const ended = once(npm.stdout, 'close')
    npm.kill('SIGKILL')
    await ended
  },
)

/** From the first line of its log; throws what it wrote if it ends before. */
async function pidOfServer({
  stdout,
  stderr,
}: ChildProcessByStdio<null, Readable, Readable>): Promise<number> {
  let errors = ''
  stderr.on('data', (chunk) => {
    errors += chunk
  })
  const written = once(stderr, 'end')
  for await (const line of on(createInterface({ input: stdout }), 'line', { close: ['close'] })) {
    return JSON.parse(String(line)).pid
  }
  await written
  throw new Error(`the server did not start: ${errors}`)
}

function endIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended, as it should.
  }
}
