import type { Held, SecretMask } from '../../secret/secret-mask.ts'

/** The run of executions whose reports may contain secrets. */
export type SecretRun = { ownerNo: number; runId: number; jobVersion: number }

export type Masks = {
  /** The cached run. Executions of other owners are unknown. */
  runOf(execution: { ownerNo: number; jobExecutionId: number }): SecretRun | undefined
  remember(jobExecutionId: number, run: SecretRun): void
  /** Masks all secret values that the run's devices may have got. Undefined: it has no secrets. */
  of(run: SecretRun): Promise<SecretMask | undefined>
  /** Encrypts the held-back part of an output for storage; null: nothing. */
  seal(held: Held, ownerNo: number): string | null
  open(sealed: string | null, ownerNo: number): Held
}
