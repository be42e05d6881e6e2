// The result of a check.

import type { ExitCode } from '../errors/exit-code.ts'

export type Finding = {
  /** Short name of the check. */
  check: string
  mark: 'ok' | 'warning' | 'problem'
  /** What was found, and what to do about it. */
  text: string
  /** Exit code if this is the first problem. */
  exit?: ExitCode
}

export function ok(check: string, text: string): Finding {
  return { check, mark: 'ok', text }
}

export function warning(check: string, text: string): Finding {
  return { check, mark: 'warning', text }
}

export function problem(check: string, text: string, exit: ExitCode): Finding {
  return { check, mark: 'problem', text, exit }
}
