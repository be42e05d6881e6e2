// The options of a trigger besides the job and its devices, kept for going back to this history entry.

import { queryCache } from '../../api/query-cache.ts'
import type { ParametersDraft } from '../../parameters/parameters-draft.ts'
import type { RolloutDraft } from '../../rollout/rollout-draft.ts'
import { entry } from '../../router.ts'
import type { WhenDraft } from './when-draft.ts'

type Kept = { rollout: RolloutDraft; parameters: ParametersDraft; when: WhenDraft; of: string }

// Stored in the cache, which is cleared when the session ends. Only the last draft is kept.
const queryKey = ['draft', 'of a run']

/** `of`: the job and its version, because parameters only apply to these. */
export function keepRunDraft({ parameters, ...draft }: Kept): void {
  queryCache.set(queryKey, {
    entry: entry.peek(),
    draft: { ...draft, parameters: withoutSecrets(parameters) },
  })
}

export function keptRunDraft(): Kept | undefined {
  const kept = queryCache.get<{ entry: number; draft: Kept }>(queryKey)
  return kept?.entry === entry.peek() ? kept.draft : undefined
}

/** Invalid until the form has validated it again. */
function withoutSecrets({ texts, given, secrets }: ParametersDraft): ParametersDraft {
  const open = <Value>(values: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !secrets.includes(name)))
  return { texts: open(texts), given: open(given), isRight: false, secrets }
}
