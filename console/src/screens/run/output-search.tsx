import type { Run } from '@jobcast/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../../api/use-action.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { TextField } from '../../parts/field.tsx'
import type { SearchState } from './search-output.ts'

/** Searches the output of all devices of the run; each found line has a link. */
export function OutputSearch({ run: { runId, total } }: { run: Run }) {
  const [text, setText] = useState('')
  const [state, setState] = useState<SearchState>()
  const life = useRef(new AbortController())
  useEffect(() => () => life.current.abort(), [])
  const search = useAction(async () => {
    life.current.abort()
    const own = new AbortController()
    life.current = own
    setState(undefined)
    const { searchOutput } = await import('./search-output.ts')
    await searchOutput(runId, text.trim(), own.signal, (next) => !own.signal.aborted && setState(next)).catch(
      (error: unknown) => {
        if (!own.signal.aborted) throw error
      },
    )
  })
  return (
    <search class="run-search">
      <form
        class="with-button"
        onSubmit={(event) => {
          event.preventDefault()
          if (text.trim() !== '') void search.run()
        }}
      >
        <TextField label="Search the output of this run" type="search" value={text} onInput={setText} />
        <button type="submit">Search</button>
        {search.isRunning && (
          <button type="button" onClick={() => life.current.abort()}>
            Stop
          </button>
        )}
      </form>
      <ErrorNote error={search.error} />
      {state && (
        <p class="quiet" role="status">
          {formatCount(state.found.length)} {state.found.length === 1 ? 'line' : 'lines'} found
          {search.isRunning &&
            `, searched ${formatCount(state.searched)} of ${formatCount(total)} executions`}
          {state.isCut && !search.isRunning && '; there may be more: not all of the output was searched'}
        </p>
      )}
      {state && state.found.length > 0 && (
        <ol class="found-lines">
          {state.found.map(({ jobExecutionId, deviceId, attempt, line, text: found }) => (
            <li key={`${jobExecutionId} ${line}`}>
              <a href={`/executions/${jobExecutionId}?attempt=${attempt}&line=${line}`}>
                <bdi>{deviceId}</bdi>:{line}
              </a>{' '}
              <code>{found.slice(0, 300)}</code>
            </li>
          ))}
        </ol>
      )}
    </search>
  )
}
