// Runs a program in its own process group, so that it can be ended together with everything it forked.
//
// Read next: end-group.ts, how a group is ended; leftovers.ts and list-processes.ts, groups left by an agent that was
// killed; pipe-reader.ts and shared-pipe.ts, the program's output.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { endGroup, isGroupAlive, waitUntilGone } from './end-group.ts'
import type { SharedPipe } from './shared-pipe.ts'

type ProcessEnd = { exitCode: number | null; signal: NodeJS.Signals | null }

type StartOptions = {
  args: string[]
  cwd: string
  env: NodeJS.ProcessEnv
  input: string
  /** For both output streams; undefined: each has its own pipe. */
  pipe: SharedPipe | undefined
}

/** Processes that outlive the handler get this long to finish by themselves, such as the end of a pipeline. */
const lingerMs = 1000

export class ProcessGroup {
  readonly pid: number
  /** With a shared pipe, stderr as well. */
  readonly stdout: Readable
  readonly stderr: Readable | undefined
  /** End of the program itself; processes that it forked may still run. */
  readonly exited: Promise<ProcessEnd>
  readonly #child: ChildProcess
  #ending: Promise<void> | undefined

  private constructor(child: ChildProcess, pipe: SharedPipe | undefined, exited: Promise<ProcessEnd>) {
    this.#child = child
    this.pid = child.pid as number
    this.stdout = pipe?.reader ?? (child.stdout as Readable)
    this.stderr = child.stderr ?? undefined
    this.exited = exited
  }

  /** Rejects with the system's error when the program cannot be started. */
  static async start(program: string, { args, cwd, env, input, pipe }: StartOptions): Promise<ProcessGroup> {
    const output = pipe?.writer ?? 'pipe'
    try {
      const child: ChildProcess = spawn(program, args, {
        cwd,
        env,
        detached: true,
        stdio: ['pipe', output, output],
      })
      const exited = new Promise<ProcessEnd>((resolve) => {
        child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
      })
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve)
        child.once('error', reject)
      })
      // A program may close its stdin without reading it.
      child.stdin?.on('error', () => undefined)
      child.stdin?.end(input)
      child.on('error', () => undefined)
      return new ProcessGroup(child, pipe, exited)
    } catch (error) {
      pipe?.reader.destroy()
      throw error
    } finally {
      pipe?.writer.destroy()
    }
  }

  /** SIGTERM to the group, SIGKILL after the grace period. A second call does not shorten the first one's. */
  end(graceMs: number): void {
    this.#ending ??= endGroup(this.pid, graceMs)
  }

  /** Resolves when the program has exited and its group is gone; leftover processes are ended. */
  async gone(graceMs: number): Promise<ProcessEnd> {
    const end = await this.exited
    this.#child.stdin?.destroy()
    if (this.#ending === undefined && isGroupAlive(this.pid) && !(await waitUntilGone(this.pid, lingerMs))) {
      this.end(graceMs)
    }
    await this.#ending
    return end
  }
}
