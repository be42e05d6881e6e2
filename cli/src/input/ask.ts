// Questions to a person: on standard error, so that standard output stays free for data.

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { UsageError } from '../errors/usage-error.ts'
import type { Io } from '../io.ts'

export function canAsk({ stdin, stderr }: Io): boolean {
  return Boolean(stdin.isTTY && stderr.isTTY)
}

/** Undefined when the person ends it (Ctrl-D, or Ctrl-C where it is hidden). What is hidden is not echoed. */
export function ask(
  { stdin, stderr }: Io,
  question: string,
  { hidden = false } = {},
): Promise<string | undefined> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // Readline echoes what is typed, here to nowhere. Where nothing is hidden the terminal does it by itself.
  const lines = createInterface({
    input: stdin,
    output: nowhere,
    terminal: hidden,
    historySize: 0,
  })
  return new Promise((resolve) => {
    let answer: string | undefined
    // Without echo Ctrl-C is a character like any other; readline makes this event of it.
    lines.on('SIGINT', () => lines.close())
    lines.on('line', (line) => {
      answer = line
      lines.close()
    })
    lines.on('close', () => {
      if (hidden || answer === undefined) stderr.write('\n')
      resolve(answer)
    })
    // Only now: nothing that is typed is echoed any more.
    stderr.write(question)
  })
}

/** In a pipe nobody can be asked, so there it must have been said before. */
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
  if (!yes && !canAsk(io))
    throw new UsageError('nobody can be asked here; say --yes to delete without a question')
}
