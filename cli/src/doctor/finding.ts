// What a check has found.

import type { ExitCode } from '../errors/exit-code.ts'

export type Finding = {
  /** What was checked, in a word or two. */
  check: string
  mark: 'good' | 'warning' | 'bad'
  /** For a person: what is so, and what to do about it. */
  text: string
  /** What the program ends with if this is the first trouble. */
  exit?: ExitCode
}

export function good(check: string, text: string): Finding {
  return { check, mark: 'good', text }
}

export function warning(check: string, text: string): Finding {
  return { check, mark: 'warning', text }
}

export function bad(check: string, text: string, exit: ExitCode): Finding {
  return { check, mark: 'bad', text, exit }
}
