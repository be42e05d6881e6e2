// Processes that run the commands of pages, one for each page that runs at the same time.

import { type ChildProcess, fork } from 'node:child_process'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('command-server.ts', import.meta.url))
const idle: ChildProcess[] = []

/** The port at which bin/jobcast reaches a process that works in `folder`, until the test ends. */
export function openCommandLine(t: TestContext, folder: string): Promise<number> {
  const server = idle.pop() ?? startServer()
  t.after(() => idle.push(server))
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`${program} ended with code ${code}`))
    server.once('exit', onExit)
    server.once('message', (port) => {
      server.off('exit', onExit)
      resolve(Number(port))
    })
    server.send(folder)
  })
}

function startServer(): ChildProcess {
  const server = fork(program, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  // It ends with this process, which it does not keep alive.
  server.unref()
  server.channel?.unref()
  return server
}
