// Makes the disk of a running process slow, full or broken. Needs strace and the permission to use it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'

type DisturbedDisk = {
  /** Removes the faults. */
  end(): Promise<void>
}

/**
 * `faults` are injected into system calls, for example { fdatasync: 'error=EIO' }.
 * Returns a reason instead if this machine does not allow it.
 */
export async function disturbDisk(
  pid: number,
  faults: Record<string, string>,
): Promise<DisturbedDisk | string> {
  const calls = Object.keys(faults)
  const injections = calls.flatMap((call) => ['-e', `inject=${call}:${faults[call]}`])
  const words = ['-f', '-o', '/dev/null', '-e', `trace=${calls}`, ...injections, '-p', String(pid)]
  const strace = spawn('strace', words, { stdio: ['ignore', 'ignore', 'pipe'] })
  const gone = once(strace, 'close')
  let said = ''
  const attached = new Promise<boolean>((resolve) => {
    strace.stderr.on('data', (chunk) => {
      said += chunk
      if (/ attached/.test(said)) resolve(true)
    })
    gone.then(
      () => resolve(false),
      () => resolve(false),
    )
  })
  if (!(await attached)) return `strace is not there or may not be used: ${said.trim()}`
  return {
    async end() {
      strace.kill('SIGINT')
      await gone
    },
  }
}
