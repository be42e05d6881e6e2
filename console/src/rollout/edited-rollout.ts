// The rollout of a job or a schedule being edited: as fields where those can express it, else as JSON.

import { findProblem } from '../parts/json-field.tsx'
import {
  draftOf,
  emptyRollout,
  problemsOf,
  type Rollout,
  type RolloutDraft,
  releaseOf,
} from './rollout-draft.ts'

/** Without `fields`, `json` counts; empty: no rollout. */
export type EditedRollout = { fields: RolloutDraft | undefined; json: string }

export const maxRolloutBytes = 64 * 1024

export function editRollout(rollout: Rollout | null | undefined): EditedRollout {
  return {
    fields: rollout ? draftOf(rollout) : emptyRollout,
    json: rollout ? JSON.stringify(rollout, null, 2) : '',
  }
}

/** Of an edited one without a problem. */
export function rolloutOf({ fields, json }: EditedRollout): Rollout | undefined {
  if (fields) return releaseOf(fields).rollout
  return json.trim() === '' ? undefined : JSON.parse(json)
}

export function editedRolloutProblem({ fields, json }: EditedRollout): string | undefined {
  if (fields) return Object.values(problemsOf(fields))[0]
  return json.trim() === '' ? undefined : findProblem(json, maxRolloutBytes)?.text
}
