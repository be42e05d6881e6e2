// Changes the rollout of a run in progress: with fields if they can express it, otherwise as JSON.

import type { Run } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { queryCache } from '../api/query-cache.ts'
import { errorAt } from '../parts/error-at.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { findProblem, JsonField } from '../parts/json-field.tsx'
import { draftOf, problemsOf, type Rollout, refusedField, releaseOf } from './rollout-draft.ts'
import { RolloutFields } from './rollout-fields.tsx'
import { asPatch } from './rollout-patch.ts'

const maxBytes = 64 * 1024

export default function ChangeRollout({ run, onClose }: { run: Run; onClose: () => void }) {
  const { runId, rollout } = run
  const [draft, setDraft] = useState(() => rollout && draftOf(rollout.definition))
  const [json, setJson] = useState(() => JSON.stringify(rollout?.definition ?? {}, null, 2))
  const isRight = draft ? Object.keys(problemsOf(draft)).length === 0 : !findProblem(json, maxBytes)
  const edited = (): Rollout => (draft ? (releaseOf(draft).rollout ?? {}) : JSON.parse(json))
  const save = async () => {
    const changed = await jobcast.runs.change(runId, {
      rollout: asPatch(rollout?.definition ?? {}, edited()),
    })
    const { queryKey } = queries.run(runId)
    // A pending response may be from before the change.
    queryCache.cancel(queryKey)
    queryCache.set(queryKey, changed)
    void queryCache.invalidate(queryKey)
  }
  const editJson = () => {
    setJson(JSON.stringify(edited(), null, 2))
    setDraft(undefined)
  }
  return (
    <FormDialog
      title={`Change the rollout of run ${runId}`}
      submit="Change"
      canSubmit={isRight}
      work={save}
      onClose={onClose}
      isAtField={(error) => (draft ? refusedField(error) : errorAt(error, 'rollout')) !== undefined}
    >
      {(error) => (
        <>
          <p class="quiet">
            These rules replace those of the run immediately. Waves that have started keep their size, and
            devices stay in their waves.
          </p>
          {draft ? (
            <>
              <RolloutFields draft={draft} onChange={setDraft} error={error} />
              <button type="button" class="ghost" disabled={!isRight} onClick={editJson}>
                Edit as JSON
              </button>
            </>
          ) : (
            <JsonField
              label="Rollout"
              value={json}
              onInput={setJson}
              maxBytes={maxBytes}
              error={errorAt(error, 'rollout')}
            />
          )}
        </>
      )}
    </FormDialog>
  )
}
