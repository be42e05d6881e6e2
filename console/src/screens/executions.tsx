// All executions, by what the API filters; the filters stand in the address, by their names in the API.

import './executions.css'
import type { ExecState, ListExecutionsQuery, Query } from '@jobcast/client'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { looks, stateOrder } from '../parts/exec-state.ts'
import { SelectField, TextField } from '../parts/field.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { search, setSearch } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { ExecutionTable } from './executions/execution-table.tsx'
import { ExportButtons } from './executions/export.tsx'
import { JobFilter } from './executions/job-filter.tsx'
import { useLiveExecutions } from './executions/live-executions.ts'
import { localTime, utcTime } from './executions/local-time.ts'
import { NameFilter } from './executions/name-filter.tsx'

const states = [
  { value: '', label: 'Any' },
  ...stateOrder.map((state) => ({ value: state, label: looks[state].word })),
]

export default function ExecutionsScreen() {
  const query = queryOf(search.value)
  const { list, rows, nextCursor, isLoading, error } = useLiveExecutions(query)
  const given = (name: string) => search.value.get(name) ?? ''
  const isFiltered = Object.values(query).some((value) => value !== undefined)
  return (
    <>
      <PageHeader title="Executions">
        {rows.length > 0 && <ExportButtons query={query} name="executions" />}
      </PageHeader>
      <search class="filters execution-filters" aria-label="Filters">
        <JobFilter value={given('jobName')} onChange={(jobName) => setSearch({ jobName })} />
        <NameFilter
          label="Device"
          value={given('deviceId')}
          onChange={(deviceId) => setSearch({ deviceId })}
        />
        <SelectField
          label="State"
          value={given('execState')}
          options={states}
          onChange={(execState) => setSearch({ execState })}
        />
        <NameFilter
          label="Run"
          inputMode="numeric"
          value={given('runId')}
          onChange={(runId) => setSearch({ runId })}
        />
        {(['launchedAfter', 'launchedBefore'] as const).map((name) => (
          <TextField
            key={name}
            label={name === 'launchedAfter' ? 'Launched from' : 'Launched up to'}
            type="datetime-local"
            value={localTime(given(name))}
            onInput={(value) => setSearch({ [name]: utcTime(value) })}
          />
        ))}
      </search>
      <ErrorNote error={error} onRetry={() => void list.refresh()} />
      {rows.length === 0 && nextCursor === null && (isFiltered ? <NothingLikeThis /> : <NoExecutions />)}
      {rows.length > 0 && (
        <ExecutionTable
          label="Executions"
          rows={rows}
          hasMore={nextCursor !== null}
          isLoading={isLoading}
          onEndNear={() => void list.loadMore()}
        />
      )}
    </>
  )
}

/** What is no value of the API is left out rather than refused. */
function queryOf(params: URLSearchParams): Query<ListExecutionsQuery> {
  const given = (name: string) => params.get(name) ?? undefined
  const execState = given('execState') as ExecState | undefined
  const runId = Number(given('runId'))
  return {
    jobName: given('jobName'),
    deviceId: given('deviceId'),
    execState: execState !== undefined && execState in looks ? execState : undefined,
    runId: Number.isSafeInteger(runId) && runId > 0 ? runId : undefined,
    launchedAfter: given('launchedAfter'),
    launchedBefore: given('launchedBefore'),
  }
}

function NothingLikeThis() {
  return (
    <EmptyState icon="search" title="No execution is like this">
      <a href="/executions">Show all</a>
    </EmptyState>
  )
}

function NoExecutions() {
  const { can } = useScopes()
  return (
    <EmptyState icon="executions" title="Nothing has run yet">
      {can('TRIGGER') ? (
        <p>
          <a href="/trigger">Trigger a job</a>, and each of its devices is a line here.
        </p>
      ) : (
        <p>Each device of a run is a line here.</p>
      )}
    </EmptyState>
  )
}
