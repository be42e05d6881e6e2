// Changes tags and attributes of many devices at once. The server counts the affected devices before the change.

import type { DevicesChange, DevicesChanged } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { queries } from '../../api/queries.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { useAction } from '../../api/use-action.ts'
import { useQuery } from '../../api/use-query.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { FormEnd } from '../../parts/form-dialog.tsx'
import { TagsField } from '../../parts/tags-field.tsx'
import { useSettled } from '../../parts/use-settled.ts'
import { type AttributeRow, attributesOf, rowProblem, tooMany } from '../device/attribute-rows.ts'
import { AttributesField } from '../device/attributes-field.tsx'
import '../device.css'

type Props = { target: Pick<DevicesChange, 'where' | 'deviceIds'>; onClose: () => void }

const failuresShown = 20

export function ChangeDevices({ target, onClose }: Props) {
  const [addTags, setAddTags] = useState<string[]>([])
  const [removeTags, setRemoveTags] = useState<string[]>([])
  const [rows, setRows] = useState<AttributeRow[]>([])
  const [removed, setRemoved] = useState<string[]>([])
  const [result, setResult] = useState<DevicesChanged>()
  const isWrong = tooMany(rows) !== undefined || rows.some((row) => rowProblem(row, rows) !== undefined)
  const attributes = {
    ...Object.fromEntries(removed.map((name) => [name, null])),
    ...(isWrong ? {} : attributesOf(rows)),
  }
  const change: DevicesChange = {
    ...target,
    ...(addTags.length > 0 && { addTags }),
    ...(removeTags.length > 0 && { removeTags }),
    ...(Object.keys(attributes).length > 0 && { attributes }),
  }
  const isEmpty = addTags.length + removeTags.length + Object.keys(attributes).length === 0
  const settled = useSettled(JSON.stringify(change))
  const isSettled = settled === JSON.stringify(change)
  const plan = useQuery({
    ...queries.devicesChange(JSON.parse(settled)),
    enabled: !isEmpty && !isWrong && isSettled,
  })
  const planned = isSettled && !isEmpty && !isWrong ? plan.data : undefined
  const action = useAction(async () => {
    const changed = await jobcast.devices.change(change)
    await refreshKeys(['devices'], ['device'], ['fleet'])
    if (changed.failedTotal > 0) setResult(changed)
    else onClose()
  })
  return (
    <Dialog title="Tags and attributes" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (planned && planned.changed > 0 && !action.isRunning) void action.run()
        }}
      >
        <TagsField label="Add tags" values={addTags} onChange={setAddTags} />
        <TagsField label="Remove tags" values={removeTags} onChange={setRemoveTags} />
        <AttributesField rows={rows} onChange={setRows} reported={{}} />
        <TagsField
          label="Remove attributes"
          values={removed}
          onChange={setRemoved}
          hint="Names. Reported attributes are kept."
        />
        <p role="status" class="quiet">
          {planned
            ? `${countOf(planned.matched)} selected: ${formatCount(planned.changed)} would change.`
            : isEmpty
              ? 'Enter a change to see how many devices it affects.'
              : !isWrong && !plan.error && 'Counting…'}
        </p>
        <ErrorNote error={isEmpty ? undefined : (action.error ?? plan.error)} />
        <Failures result={result ?? planned} />
        <FormEnd
          submit={planned ? `Change ${countOf(planned.changed)}` : 'Change'}
          canSubmit={planned !== undefined && planned.changed > 0 && !action.isRunning}
          isDone={result !== undefined}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

function countOf(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'device' : 'devices'}`
}

function Failures({ result }: { result: DevicesChanged | undefined }) {
  if (!result || result.failedTotal === 0) return null
  return (
    <div>
      <p class="field-error">{countOf(result.failedTotal)} cannot be changed:</p>
      <ul class="import-failures">
        {result.failed.slice(0, failuresShown).map(({ deviceId, message }) => (
          <li key={deviceId}>
            <bdi>{deviceId}</bdi>: {message}
          </li>
        ))}
      </ul>
    </div>
  )
}
