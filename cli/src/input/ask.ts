// Questions to the user, on standard error: standard output is for data.

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { UsageError } from '../errors/usage-error.ts'
import type { Io } from '../io.ts'

export function canAsk({ stdin, stderr }: Io): boolean {
  return Boolean(stdin.isTTY && stderr.isTTY)
}

/** Undefined if the user cancels (Ctrl-D, or Ctrl-C at a hidden question). Hidden input is not echoed. */
export function ask(
  { stdin, stderr }: Io,
  question: string,
  { hidden = false } = {},
): Promise<string | undefined> {
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
  // Readline's echo is discarded. At a question that is not hidden the terminal echoes by itself.
  const lines = createInterface({
    input: stdin,
    output: discard,
    terminal: hidden,
    historySize: 0,
  })
  return new Promise((resolve) => {
    let answer: string | undefined
    // In raw mode Ctrl-C is a character, which readline turns into this event.
    lines.on('SIGINT', () => lines.close())
    lines.on('line', (line) => {
      answer = line
      lines.close()
    })
    lines.on('close', () => {
      if (hidden || answer === undefined) stderr.write('\n')
      resolve(answer)
    })
    // Asked only now, because echo is off.
    stderr.write(question)
  })
}

/** Without a terminal, --yes is required. */
export async function confirm(
  io: Io,
  question: string,
  { yes = false }: { yes?: boolean },
): Promise<boolean> {
  refuseUnasked(io, { yes })
  if (yes) return true
  const answer = await ask(io, `${question} [y/N] `)
  return /^y(?:es)?$/i.test(answer?.trim() ?? '')
}

export function refuseUnasked(io: Io, { yes = false }: { yes?: boolean }): void {
  if (!yes && !canAsk(io)) throw new UsageError('cannot ask for confirmation without a terminal; use --yes')
}
