import type { Held, SecretMask } from '../../secret/secret-mask.ts'

/** Of executions whose reports may have secrets in them. */
export type SecretRun = { ownerNo: number; runId: number; jobVersion: number }

export type Masks = {
  /** If it is known here already. Executions of other owners are unknown. */
  runOf(execution: { ownerNo: number; jobExecutionId: number }): SecretRun | undefined
  remember(jobExecutionId: number, run: SecretRun): void
  /** Of all values that its devices may have got. Undefined: it has no secrets. */
  of(run: SecretRun): Promise<SecretMask | undefined>
  /** What is held back of an output, as it is stored; null: nothing. */
  seal(held: Held, ownerNo: number): string | null
  open(sealed: string | null, ownerNo: number): Held
}
