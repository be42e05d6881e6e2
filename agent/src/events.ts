// The events that an agent emits. log-lines.ts formats them; tests wait for them.

import type { AttemptKey } from './state/attempt-key.ts'

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
  /** The server has stored the outcome. */
  | ({ kind: 'reported'; status: string } & AttemptKey)
  /** The server refused the report because the attempt is over. */
  | ({ kind: 'not-wanted'; message: string } & AttemptKey)
  /** At the start: others than root can change what jobs can do. */
  | { kind: 'handlers-writable'; problem: string }
  | { kind: 'journal-replaced'; keptAs: string }
  | { kind: 'disk-trouble'; what: string; error: unknown }
  | { kind: 'attributes-refused'; message: string }
  | { kind: 'attributes-failed'; error: unknown }
  | { kind: 'fault'; error: unknown }

export type Tell = (event: AgentEvent) => void
