// Ctrl-C and SIGTERM during a wait: the first one asks the wait to end.

import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Io, SignalName } from '../io.ts'

export class Interrupted extends Error {
  readonly exitCode: ExitCode

  constructor(name: SignalName) {
    super('interrupted')
    this.exitCode = exitCode[name === 'SIGINT' ? 'interrupted' : 'terminated']
  }
}

type Interrupt = { readonly signal: AbortSignal; stop(): void }

export function listenForInterrupt({ signals }: Pick<Io, 'signals'>): Interrupt {
  const controller = new AbortController()
  const stop = () => {
    signals.off('SIGINT', interrupt)
    signals.off('SIGTERM', interrupt)
  }
  // A second signal finds no listener and ends the process at once.
  const interrupt = (name: SignalName) => {
    stop()
    controller.abort(new Interrupted(name))
  }
  signals.on('SIGINT', interrupt)
  signals.on('SIGTERM', interrupt)
  return { signal: controller.signal, stop }
}

/** For work that cannot be aborted: rejects with Interrupted, and the work ends with the process. */
export async function untilInterrupted<T>(io: Pick<Io, 'signals'>, work: () => Promise<T>): Promise<T> {
  const { signal, stop } = listenForInterrupt(io)
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  try {
    return await Promise.race([work(), interrupted])
  } finally {
    stop()
  }
}
