import Type from 'typebox'
import { type ExecState, execStates } from './exec-state.ts'

/** Number of executions per state. */
export const Counts = Type.Unsafe<Record<ExecState, number>>(
  Type.Object(Object.fromEntries(execStates.map((state) => [state, Type.Integer()]))),
)
