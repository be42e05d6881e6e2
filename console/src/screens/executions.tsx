// All executions, with the filters of the API in the address, by their names in the API.

import './executions.css'
import type { ExecState, Execution } from '@jobcast/client'
import { useMemo, useState } from 'preact/hooks'
import { EmptyState, NoMatches } from '../parts/empty-state.tsx'
import { stateOrder } from '../parts/exec-state.ts'
import { isPossibleName } from '../parts/is-possible-name.ts'
import { ListScreen } from '../parts/list-screen.tsx'
import { SavedViews } from '../parts/saved-views.tsx'
import { selectColumn } from '../parts/select-column.tsx'
import {
  areOf,
  type FilterRules,
  filterOf,
  isInstant,
  isNumber,
  WrongFilters,
} from '../parts/wrong-filters.tsx'
import type { ScreenProps } from '../route.ts'
import { search, setSearch } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { BulkActions } from './executions/bulk-actions.tsx'
import { executionColumns, executionHref } from './executions/execution-columns.tsx'
import { ExportButtons } from './executions/export.tsx'
import { NameFilter, TimeFilters } from './executions/filters.tsx'
import { JobFilter } from './executions/job-filter.tsx'
import { type ExecutionsQuery, useLiveExecutions } from './executions/live-executions.ts'
import { StatesFilter } from './executions/states-filter.tsx'

const idOf = ({ jobExecutionId }: Execution) => jobExecutionId

const times = [
  { name: 'launchedAfter', label: 'Launched after' },
  { name: 'launchedBefore', label: 'Launched before' },
  { name: 'finishedAfter', label: 'Finished after' },
  { name: 'finishedBefore', label: 'Finished before' },
]

export default function ExecutionsScreen({ route }: ScreenProps) {
  const query = currentQuery()
  const executions = useLiveExecutions(query)
  const { can } = useScopes()
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set())
  // Only listed executions: hidden ones must not be canceled.
  const chosen = executions.rows.filter((row) => selected.has(idOf(row)))
  const columns = useMemo(
    () =>
      can('TRIGGER') || can('MANAGE')
        ? [selectColumn(idOf, { selected, onChange: setSelected }), ...executionColumns]
        : executionColumns,
    [selected, can('TRIGGER') || can('MANAGE')],
  )
  const given = (name: string) => search.value.get(name) ?? ''
  const isFiltered = Object.values(query).some((value) => value !== undefined)
  return (
    <ListScreen
      route={route}
      actions={
        <>
          <BulkActions selected={chosen} onDone={() => setSelected(new Set())} />
          {executions.rows.length > 0 && <ExportButtons query={query} name="executions" />}
        </>
      }
      filters={
        <>
          <SavedViews />
          <search class="filters execution-filters" aria-label="Filters">
            <JobFilter value={given('jobName')} onChange={(jobName) => setSearch({ jobName })} />
            <NameFilter
              label="Device"
              value={given('deviceId')}
              onChange={(deviceId) => setSearch({ deviceId })}
            />
            <StatesFilter
              chosen={query.execState ?? []}
              onChange={(chosen) => setSearch({ execState: chosen.join() })}
            />
            <NameFilter
              label="Run"
              inputMode="numeric"
              value={given('runId')}
              onChange={(runId) => setSearch({ runId })}
            />
            <TimeFilters times={times} />
          </search>
        </>
      }
      notice={<WrongFilters rules={rules} />}
      list={executions}
      columns={columns}
      hrefOf={executionHref}
      empty={isFiltered ? <NoMatches what="executions" href="/executions" /> : <NoExecutions />}
    />
  )
}

const rules: FilterRules = {
  execState: areOf(stateOrder),
  runId: isNumber,
  launchedAfter: isInstant,
  launchedBefore: isInstant,
  finishedAfter: isInstant,
  finishedBefore: isInstant,
  jobName: isPossibleName,
  deviceId: isPossibleName,
}

/** Omits values that the API would refuse. */
function currentQuery(): ExecutionsQuery {
  const given = (name: string) => filterOf(name, rules)
  const runId = given('runId')
  return {
    jobName: given('jobName'),
    deviceId: given('deviceId'),
    execState: given('execState')?.split(',') as ExecState[] | undefined,
    runId: runId === undefined ? undefined : Number(runId),
    launchedAfter: given('launchedAfter'),
    launchedBefore: given('launchedBefore'),
    finishedAfter: given('finishedAfter'),
    finishedBefore: given('finishedBefore'),
  }
}

function NoExecutions() {
  const { can } = useScopes()
  return (
    <EmptyState icon="executions" title="No executions yet">
      {can('TRIGGER') ? (
        <p>
          <a href="/trigger">Trigger a job</a>, and one row per device appears here.
        </p>
      ) : (
        <p>One row per device of each run appears here.</p>
      )}
    </EmptyState>
  )
}
