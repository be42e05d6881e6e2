// Ctrl-C while something is awaited: the first asks the wait to end, the second ends the program at once.

import { type ExitCode, exitCode } from './exit-code.ts'

export class Interrupted extends Error {
  readonly exitCode: ExitCode

  constructor(code: ExitCode) {
    super('interrupted')
    this.exitCode = code
  }
}

export type Interrupt = { readonly signal: AbortSignal; stop(): void }

export function listenForInterrupt(): Interrupt {
  const controller = new AbortController()
  const listener = (code: ExitCode) => () => {
    if (controller.signal.aborted) process.exit(code)
    controller.abort(new Interrupted(code))
  }
  const [onInt, onTerm] = [listener(exitCode.interrupted), listener(exitCode.terminated)]
  process.on('SIGINT', onInt)
  process.on('SIGTERM', onTerm)
  return {
    signal: controller.signal,
    stop() {
      process.off('SIGINT', onInt)
      process.off('SIGTERM', onTerm)
    },
  }
}
