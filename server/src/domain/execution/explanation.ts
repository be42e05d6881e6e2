// Why an execution has not ended yet, or how it ended: a sentence for people, and a code for programs.

import type { ExplanationCode } from '@jobcast/contract'
import type { WallInstant } from '../common/instants.ts'

export type Explanation = {
  code: ExplanationCode
  text: string
  /** When this began. */
  since: WallInstant | null
  /** When this changes automatically. */
  until: WallInstant | null
  /** When the execution ends if its device does not start it. */
  expiresAt?: WallInstant | null
  /** The execution that must finish first. */
  behind: number | null
}

/** The defaults: no times, and no other execution. */
export const plain = { since: null, until: null, behind: null }
