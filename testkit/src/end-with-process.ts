// Ends the programs that a test has started with its process, however the test ends.

import type { ChildProcess } from 'node:child_process'

const living = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

export function endWithProcess(child: ChildProcess): void {
  living.add(child)
  child.once('exit', () => living.delete(child))
}
