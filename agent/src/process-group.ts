// A program in a process group of its own, with all it forks: they are ended together, and none is left.

import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { endGroup, isGroupAlive, waitUntilGone } from './end-group.ts'

export type ProcessEnd = { exitCode: number | null; signal: NodeJS.Signals | null }

export type StartOptions = { args: string[]; cwd: string; env: NodeJS.ProcessEnv; input: string }

/** What a handler leaves behind may finish in this time by itself, as the tail of a pipe does. */
const lingerMs = 1000

export class ProcessGroup {
  readonly pid: number
  readonly stdout: Readable
  readonly stderr: Readable
  /** Of the program itself; what it has forked may live on. */
  readonly exited: Promise<ProcessEnd>
  readonly #child: ChildProcess
  #ending: Promise<void> | undefined

  private constructor(
    child: ChildProcess & { stdout: Readable; stderr: Readable },
    exited: Promise<ProcessEnd>,
  ) {
    this.#child = child
    this.pid = child.pid as number
    this.stdout = child.stdout
    this.stderr = child.stderr
    this.exited = exited
  }

  /** Rejects with the system's error when the program cannot be started. */
  static async start(program: string, { args, cwd, env, input }: StartOptions): Promise<ProcessGroup> {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    const exited = new Promise<ProcessEnd>((resolve) => {
      child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    // Whoever does not read its input, or closes it, has its reasons.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.on('error', () => undefined)
    return new ProcessGroup(child, exited)
  }

  /** TERM to all of the group, KILL after the grace. A second call with a shorter grace does not shorten the first. */
  end(graceMs: number): void {
    this.#ending ??= endGroup(this.pid, graceMs)
  }

  /** Resolves when the program has exited and nothing of the group is left, by itself or because it was ended. */
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
