// Imports devices from a CSV file: previews creations and overwritten values, and lists refused lines afterwards.

import type { ImportResult } from '@jobcast/client'
import { useRef, useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { useAction } from '../../api/use-action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { Field, SelectField } from '../../parts/field.tsx'
import { FormEnd } from '../../parts/form-dialog.tsx'
import { type CsvDevices, devicesOfCsv, ownColumns } from './devices-of-csv.ts'

const bytesAtMost = 64 * 1024 * 1024
const failuresShown = 50

const modes = [
  { value: 'merge', label: 'Update only the fields in the file' },
  { value: 'replace', label: 'Replace: fields that are not in the file are reset' },
]

export default function ImportDevices({ onClose }: { onClose: () => void }) {
  const [read, setRead] = useState<CsvDevices>()
  const [mode, setMode] = useState('merge')
  const [plan, setPlan] = useState<ImportResult>()
  const [result, setResult] = useState<ImportResult>()
  const send = async ({ devices }: CsvDevices, options: { merge: boolean; dryRun: boolean }) => {
    const answer = await jobcast.devices.import(
      devices.map(({ device }) => device),
      options,
    )
    const lineOf = (line: number) => devices[line - 1]?.line ?? line
    return { ...answer, failed: answer.failed.map((each) => ({ ...each, line: lineOf(each.line) })) }
  }
  const wanted = useRef({ mode, number: 0 })
  /** The response for an earlier file or mode may arrive later than the current one. */
  const planFor = async (table: CsvDevices) => {
    const number = ++wanted.current.number
    const answer = await send(table, { merge: wanted.current.mode === 'merge', dryRun: true })
    if (number === wanted.current.number) setPlan(answer)
  }
  const choose = useAction(async (file: File | undefined) => {
    wanted.current.number++
    setResult(undefined)
    setRead(undefined)
    setPlan(undefined)
    if (file === undefined) return
    if (file.size > bytesAtMost) throw new Error('The file has more than 64 MB: import it in parts.')
    const table = devicesOfCsv(await file.text())
    setRead(table)
    if (!table.problem) await planFor(table)
  })
  const changeMode = useAction(async (next: string) => {
    wanted.current.mode = next
    setMode(next)
    setPlan(undefined)
    if (read && !read.problem) await planFor(read)
  })
  const store = useAction(async () => {
    if (!read) return
    setResult(await send(read, { merge: mode === 'merge', dryRun: false }))
    await refreshKeys(['devices'], ['fleet'], ['fleet-devices'])
  })
  const count = read?.devices.length ?? 0
  return (
    <Dialog title="Import devices" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (!store.isRunning) void store.run()
        }}
      >
        <Field
          label="CSV file"
          hint={`Columns: ${ownColumns.join(', ')}; every other column is an attribute. An empty cell is no value.`}
        >
          {(control) => (
            <input
              {...control}
              type="file"
              accept=".csv,text/csv"
              onChange={(event) => void choose.run(event.currentTarget.files?.[0])}
            />
          )}
        </Field>
        <SelectField
          label="Devices that exist"
          value={mode}
          options={modes}
          onChange={(next) => void changeMode.run(next)}
          {...(mode === 'replace' && { hint: 'Their tags, attributes, names, time zones and windows too.' })}
        />
        <ErrorNote error={choose.error ?? changeMode.error ?? store.error} />
        {read?.problem && <p class="field-error">{read.problem}</p>}
        {read && !read.problem && !result && (
          <p role="status">
            {formatCount(count)} {count === 1 ? 'device' : 'devices'}
            {read.attributes.length > 0 && ` with the attributes ${read.attributes.join(', ')}`}
          </p>
        )}
        {plan && !result && <Plan plan={plan} />}
        {result && (
          <div role="status">
            <p>
              {formatCount(result.created)} created, {formatCount(result.updated)} updated,{' '}
              {formatCount(result.unchanged)} unchanged
              <Refused result={result} />
            </p>
            <Failures result={result} />
          </div>
        )}
        <FormEnd
          submit={
            count === 0 ? 'Import' : `Import ${formatCount(count)} ${count === 1 ? 'device' : 'devices'}`
          }
          canSubmit={plan !== undefined && plan.failedTotal !== count && !store.isRunning}
          isDone={result !== undefined}
          onClose={onClose}
        />
      </form>
    </Dialog>
  )
}

function Plan({ plan }: { plan: ImportResult }) {
  const { created, updated, unchanged, overwritten = [] } = plan
  return (
    <div role="status" class="stack">
      <p>
        Would create {formatCount(created)}, change {formatCount(updated)} and leave {formatCount(unchanged)}{' '}
        as they are
        <Refused result={plan} />
      </p>
      {overwritten.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <section class="import-failures" tabIndex={0} aria-label="Overwritten values">
          <p>Values that would be overwritten:</p>
          <table>
            <thead>
              <tr>
                <th scope="col">Field</th>
                <th scope="col">Devices</th>
                <th scope="col">For example</th>
              </tr>
            </thead>
            <tbody>
              {overwritten.map(({ field, devices, example: { deviceId, before, after } }) => (
                <tr key={field}>
                  <th scope="row">{field.replace('attributes.', '')}</th>
                  <td>{formatCount(devices)}</td>
                  <td>
                    <bdi>{deviceId}</bdi>: <bdi>{before}</bdi> →{' '}
                    {after === null ? <i>removed</i> : <bdi>{after}</bdi>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Failures result={plan} />
    </div>
  )
}

function Refused({ result: { failedTotal } }: { result: ImportResult }) {
  if (failedTotal === 0) return null
  return (
    <>
      , <strong class="field-error">{formatCount(failedTotal)} refused</strong>
    </>
  )
}

function Failures({ result: { failed, failedTotal } }: { result: ImportResult }) {
  return (
    <>
      {failed.length > 0 && (
        <ol class="import-failures">
          {failed.slice(0, failuresShown).map(({ line, code, message }) => (
            <li key={line}>
              Line {line}: {message} <code>{code}</code>
            </li>
          ))}
        </ol>
      )}
      {failedTotal > failuresShown && <p class="quiet">The first {failuresShown}.</p>}
    </>
  )
}
