// The life of an execution: which event moves it from which state to which. One table, one function;
// every store asks it inside the transaction that writes the move. docs/states.md has the picture.

import type { ExecState } from '@jobcast/contract'

export type ExecutionEvent = 'cancel' | 'force-cancel' | 'remove-device'

const transitions: Record<ExecState, Partial<Record<ExecutionEvent, ExecState>>> = {
  PENDING: { cancel: 'CANCELED', 'force-cancel': 'CANCELED', 'remove-device': 'CANCELED' },
  IN_PROGRESS: { cancel: 'CANCELING', 'force-cancel': 'CANCELED', 'remove-device': 'CANCELED' },
  CANCELING: { 'force-cancel': 'CANCELED', 'remove-device': 'CANCELED' },
  SUCCEEDED: {},
  FAILED: {},
  TIMED_OUT: {},
  REJECTED: {},
  EXPIRED: {},
  CANCELED: {},
}

const terminal: ReadonlySet<ExecState> = new Set([
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'REJECTED',
  'EXPIRED',
  'CANCELED',
])

/** The state this event leads to, or undefined when the state does not allow it. */
export function nextState(state: ExecState, event: ExecutionEvent): ExecState | undefined {
  return transitions[state][event]
}

export function isTerminal(state: ExecState): boolean {
  return terminal.has(state)
}
