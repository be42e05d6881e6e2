// What an agent tells while it lives. log-lines.ts words it; tests wait for it.

import type { AttemptKey } from './transport.ts'

export type AgentEvent =
  | { kind: 'connected'; url: string }
  | { kind: 'disconnected'; reason: string }
  | { kind: 'no-connection'; url: string; reason: string }
  | { kind: 'sign-in-refused'; url: string; reason: string }
  | ({ kind: 'started'; start: number; pid: number; step: string } & AttemptKey)
  | ({ kind: 'canceled'; deadlineSeconds: number } & AttemptKey)
  | ({ kind: 'rebooting' } & AttemptKey)
  | ({ kind: 'leftovers-ended'; groups: number[] } & AttemptKey)
  | ({ kind: 'ended'; status: string; reason: string | undefined } & AttemptKey)
  /** The server has it. */
  | ({ kind: 'reported'; status: string } & AttemptKey)
  /** The server says that nobody waits for it any more. */
  | ({ kind: 'not-wanted'; message: string } & AttemptKey)
  | { kind: 'journal-replaced'; keptAs: string }
  | { kind: 'disk-trouble'; what: string; error: unknown }
  | { kind: 'fault'; error: unknown }

export type Tell = (event: AgentEvent) => void
