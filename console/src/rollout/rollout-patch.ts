// Converts the fields, which have all rules of a run, to a patch with the differences. Removed rules are null.

import type { RolloutPatch } from '@jobcast/client'
import type { Rollout } from './rollout-draft.ts'

type Fields = Record<string, unknown>

export function asPatch(before: Rollout, after: Rollout): RolloutPatch['rollout'] {
  return withNulls({ ...before }, { ...after }) as RolloutPatch['rollout']
}

function withNulls(before: Fields, after: Fields): Fields {
  const gone = Object.keys(before).filter((name) => after[name] === undefined)
  const kept = Object.entries(after).map(([name, value]) => {
    const earlier = before[name]
    return [name, isObject(value) && isObject(earlier) ? withNulls(earlier, value) : value]
  })
  return { ...Object.fromEntries(gone.map((name) => [name, null])), ...Object.fromEntries(kept) }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
