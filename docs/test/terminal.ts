// A shell that keeps its variables from block to block, like the terminal of a reader.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Workspace = { folder: string; env: Record<string, string> }

/** In blocks an answer that is an error fails; curl does not bear two ways to say so. */
const curl = `curl() {
  case " $* " in
    *' -f'* | *' --fail'*) command curl "$@" ;;
    *) command curl --fail-with-body "$@" ;;
  esac
}`

/** Printed behind each block; nothing that a block prints has it. */
const mark = '\u001e'

export class Terminal {
  readonly #workspace: Workspace
  readonly #name: string
  readonly #shell: ChildProcess
  /** When the shell and all it has started are gone: each holds the end of a pipe. */
  readonly #gone: Promise<unknown>
  readonly #listeners = new Set<() => void>()
  #isGone = false
  #printed = ''
  #blocks = 0

  constructor(workspace: Workspace, name: string) {
    this.#workspace = workspace
    this.#name = name
    // A process group of its own, so that what it leaves running can be ended with it.
    this.#shell = spawn('bash', ['--norc'], {
      cwd: workspace.folder,
      env: workspace.env,
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
    })
    this.#gone = once(this.#shell, 'close')
    const onExit = () => this.#signal('SIGKILL')
    process.once('exit', onExit)
    void this.#gone.then(() => {
      this.#isGone = true
      process.off('exit', onExit)
    })
    this.#shell.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed += text
      this.#notify()
    })
    this.#shell.on('exit', () => this.#notify())
    this.#shell.stdin?.on('error', () => undefined)
    this.#type(`exec 2>&1; set -euo pipefail; ${curl}`)
  }

  /** Runs a block to its end and gives what it printed; throws when it fails. */
  async run(script: string): Promise<string> {
    const file = this.#keep(script)
    this.#type(`. ./${file} </dev/null; printf '${mark}'`)
    const printed = await this.#until(() => this.#upToMark())
    if (printed === undefined) throw new Error(`it ended with ${await this.#code()}:\n${this.#printed}`)
    return printed
  }

  /** The same for a block that is to fail. What it sets is lost. */
  async runToFail(script: string): Promise<string> {
    const file = this.#keep(script)
    this.#type(
      `set +e; (set -e; . ./${file}) </dev/null; printf "\${?#0}" >.failed; set -e; printf '${mark}'`,
    )
    const printed = await this.#until(() => this.#upToMark())
    if (printed === undefined) throw new Error(`the shell ended:\n${this.#printed}`)
    await this.run('[ -s .failed ]').catch(() => {
      throw new Error(`it was to fail, and did not:\n${printed}`)
    })
    return printed
  }

  /** Runs a block that stays, with what `like` has exported. */
  async start(script: string, like: Terminal): Promise<void> {
    await like.run('export -p >.exported')
    this.#type(`. ./.exported; . ./${this.#keep(script)} </dev/null`)
  }

  /** Resolves when what it has printed so far is enough; throws when it ends before. */
  async shows(isEnough: (printed: string) => boolean): Promise<void> {
    if ((await this.#until(() => (isEnough(this.#printed) ? '' : undefined))) === undefined)
      throw new Error(`it ended with ${await this.#code()}:\n${this.#printed}`)
  }

  /** Ends what was to stay; throws when it has ended by itself before, and failed. */
  async stop(): Promise<void> {
    // Whatever stays says something once it has begun.
    await this.shows((printed) => printed !== '')
    await this.close()
    if (this.#shell.exitCode) throw new Error(`it ended with ${await this.#code()}:\n${this.#printed}`)
  }

  get printed(): string {
    return this.#printed
  }

  /** Ends it with all that runs in it. */
  async close(): Promise<void> {
    this.#signal('SIGTERM')
    const late = setTimeout(() => this.#signal('SIGKILL'), 10_000)
    await this.#gone
    clearTimeout(late)
  }

  #keep(script: string): string {
    const file = `.${this.#name}-${++this.#blocks}.sh`
    writeFileSync(join(this.#workspace.folder, file), script)
    return file
  }

  #type(line: string): void {
    this.#shell.stdin?.write(`${line}\n`)
  }

  #upToMark(): string | undefined {
    const at = this.#printed.indexOf(mark)
    if (at === -1) return undefined
    const text = this.#printed.slice(0, at)
    this.#printed = this.#printed.slice(at + 1)
    return text
  }

  /** Undefined when the shell has ended before. */
  #until(look: () => string | undefined): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    const listener = () => {
      const found = look()
      if (found === undefined && this.#shell.exitCode === null && this.#shell.signalCode === null) return
      this.#listeners.delete(listener)
      resolve(found)
    }
    this.#listeners.add(listener)
    listener()
    return promise
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener()
  }

  async #code(): Promise<string> {
    // What was printed last may still be on its way.
    await this.close()
    return `code ${this.#shell.exitCode ?? this.#shell.signalCode}`
  }

  #signal(signal: NodeJS.Signals): void {
    // The number may be somebody else's by now.
    if (this.#isGone) return
    try {
      process.kill(-(this.#shell.pid as number), signal)
    } catch {
      // All of them are gone.
    }
  }
}
