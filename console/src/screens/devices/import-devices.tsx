// Devices from a CSV file: what is in it is said before anything is stored, and what was refused after.

import type { ImportResult } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../../api/client.ts'
import { refreshKeys } from '../../api/refresh-keys.ts'
import { useAction } from '../../api/use-action.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { Field } from '../../parts/field.tsx'
import { type CsvDevices, devicesOfCsv } from './devices-of-csv.ts'

const bytesAtMost = 64 * 1024 * 1024
const failuresShown = 50

export function ImportDevices({ onClose }: { onClose: () => void }) {
  const [read, setRead] = useState<CsvDevices>()
  const [result, setResult] = useState<ImportResult>()
  const choose = useAction(async (file: File | undefined) => {
    setResult(undefined)
    setRead(undefined)
    if (file === undefined) return
    if (file.size > bytesAtMost) throw new Error('The file has more than 64 MB: import it in parts.')
    setRead(devicesOfCsv(await file.text()))
  })
  const store = useAction(async () => {
    const devices = read?.devices ?? []
    const stored = await jobcast.devices.import(devices.map(({ device }) => device))
    const lineOf = (line: number) => devices[line - 1]?.line ?? line
    setResult({
      ...stored,
      failed: stored.failed.map((failure) => ({ ...failure, line: lineOf(failure.line) })),
    })
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
          hint="Columns deviceId, deviceName, tags and timeZone; every other column is an attribute. Existing devices are replaced and then have no window."
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
        <ErrorNote error={choose.error ?? store.error} />
        {read?.problem && <p class="field-error">{read.problem}</p>}
        {read && !read.problem && !result && (
          <p role="status">
            {formatCount(count)} {count === 1 ? 'device' : 'devices'}
            {read.attributes.length > 0 && ` with the attributes ${read.attributes.join(', ')}`}
          </p>
        )}
        {result && <Outcome result={result} />}
        <footer class="form-end">
          <button type="button" onClick={onClose}>
            {result ? 'Close' : 'Cancel'}
          </button>
          {!result && (
            <button
              type="submit"
              class="primary"
              disabled={count === 0 || read?.problem !== undefined || store.isRunning}
            >
              {count === 0 ? 'Import' : `Import ${formatCount(count)} ${count === 1 ? 'device' : 'devices'}`}
            </button>
          )}
        </footer>
      </form>
    </Dialog>
  )
}

function Outcome({ result: { created, updated, unchanged, failed, failedTotal } }: { result: ImportResult }) {
  return (
    <div role="status">
      <p>
        {formatCount(created)} created, {formatCount(updated)} updated, {formatCount(unchanged)} unchanged
        {failedTotal > 0 && (
          <>
            , <strong class="field-error">{formatCount(failedTotal)} refused</strong>
          </>
        )}
      </p>
      <ol class="import-failures">
        {failed.slice(0, failuresShown).map(({ line, code, message }) => (
          <li key={line}>
            Line {line}: {message} <code>{code}</code>
          </li>
        ))}
      </ol>
      {failedTotal > failuresShown && <p class="quiet">The first {failuresShown}.</p>}
    </div>
  )
}
