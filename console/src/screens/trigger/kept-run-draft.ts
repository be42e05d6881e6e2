// What was asked for beside the job and its devices, kept for the way back to this entry of the history.

import { queryClient } from '../../api/query-client.ts'
import type { ParametersDraft } from '../../parameters/parameters-draft.ts'
import type { RolloutDraft } from '../../rollout/rollout-draft.ts'
import { entry } from '../../router.ts'
import type { WhenDraft } from './when-draft.ts'

type Kept = { rollout: RolloutDraft; parameters: ParametersDraft; when: WhenDraft; of: string }

// In the cache, which is emptied when the session ends. Only the last one.
const queryKey = ['draft', 'of a run']

/** `of`: the job and its version; the parameters of another one are none of this one. */
export function keepRunDraft({ parameters, ...draft }: Kept): void {
  queryClient.setQueryData(queryKey, {
    entry: entry.peek(),
    draft: { ...draft, parameters: withoutSecrets(parameters) },
  })
}

export function keptRunDraft(): Kept | undefined {
  const kept = queryClient.getQueryData<{ entry: number; draft: Kept }>(queryKey)
  return kept?.entry === entry.peek() ? kept.draft : undefined
}

/** Not right before the form has judged it again. */
function withoutSecrets({ texts, given, secrets }: ParametersDraft): ParametersDraft {
  const open = <Value>(values: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !secrets.includes(name)))
  return { texts: open(texts), given: open(given), isRight: false, secrets }
}
