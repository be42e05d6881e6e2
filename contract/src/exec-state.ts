// The states of an execution.

export const execStates = [
  'PENDING',
  'IN_PROGRESS',
  'CANCELING',
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'REJECTED',
  'EXPIRED',
  'CANCELED',
] as const
export type ExecState = (typeof execStates)[number]
