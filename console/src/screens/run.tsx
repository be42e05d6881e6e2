// A run: its state, its progress over time, and each of its executions.

import './run.css'
import './executions.css'
import { type ExecState, isJobcastError, type Run } from '@jobcast/client'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { CountsWords } from '../parts/counts-words.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { failuresOf, formatCount, hasBegun, stateOrder, stateStyles } from '../parts/exec-state.ts'
import { lazyPart } from '../parts/lazy-part.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { StateBar } from '../parts/state-bar.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { type FilterRules, filterOf, isOneOf, WrongFilters } from '../parts/wrong-filters.tsx'
import { executionHref, runExecutionColumns } from './executions/execution-columns.tsx'
import { ExportButtons } from './executions/export.tsx'
import { useLiveExecutions } from './executions/live-executions.ts'
import { AboutRun } from './run/about-run.tsx'
import { OutputSearch } from './run/output-search.tsx'
import { ProgressChart } from './run/progress-chart.tsx'
import { RunActions } from './run/run-actions.tsx'

export default function RunScreen({ params }: { params: { runId?: string } }) {
  const runId = Number(params.runId)
  const { data: run, error, refetch } = useQuery(queries.run(runId))
  if (run) return <WholeRun run={run} />
  if (isJobcastError(error, 'J-304', 'J-500')) return <NoRun />
  return (
    <>
      <PageHeader title={`Run ${params.runId}`} />
      <ErrorNote error={error} onRetry={() => void refetch()} />
    </>
  )
}

/** Loaded on demand, because most runs have no rollout. */
const RolloutPart = lazyPart<{ run: Run }>(() => import('../rollout/rollout-part.tsx'))

const FailureReasons = lazyPart<{ run: Run }>(() => import('./run/failure-reasons.tsx'))

/** Loaded on demand, because most runs begin at once. */
const NotBegun = lazyPart<{ run: Run }>(() => import('./run/not-begun.tsx'))

/** Loaded on demand, because most jobs have no parameters. */
const RunParameters = lazyPart<{ run: Run }>(() => import('./run/run-parameters.tsx'))

const rules: FilterRules = { execState: isOneOf(stateOrder) }

function WholeRun({ run }: { run: Run }) {
  const { runId, jobName, total, counts } = run
  const execState = filterOf('execState', rules) as ExecState | undefined
  const query = { runId, execState: execState && [execState] }
  const executions = useLiveExecutions(query)
  return (
    <>
      <PageHeader title={jobName} about={<AboutRun run={run} />}>
        <RunActions run={run} />
        <ExportButtons query={query} name={`run-${runId}`} />
      </PageHeader>
      {run.rollout !== null && <RolloutPart run={run} />}
      {Object.keys(run.parameters).length > 0 && <RunParameters run={run} />}
      <section class="panel run-state" aria-label="State">
        <p aria-live="polite">
          <CountsWords counts={counts} />
        </p>
        <StateBar counts={counts} total={total} />
        {hasBegun(run) ? <ProgressChart run={run} /> : <NotBegun run={run} />}
        {failuresOf(counts) > 0 && <FailureReasons run={run} />}
      </section>
      <OutputSearch run={run} />
      <WrongFilters rules={rules} />
      <Tabs label="Executions by state" current={execState ?? ''} tabs={tabsOf(run, execState)} />
      <PagedTable
        label="Executions of the run"
        list={executions}
        columns={runExecutionColumns}
        hrefOf={executionHref}
        empty={
          <EmptyState
            icon="search"
            title={execState ? `None ${stateStyles[execState].word}` : 'No executions'}
          >
            <a href={`/runs/${runId}`}>Show all {formatCount(total)}</a>
          </EmptyState>
        }
      />
    </>
  )
}

/** The tabs that are not empty, and the open one. */
function tabsOf({ runId, total, counts }: Run, open: ExecState | undefined) {
  const href = `/runs/${runId}`
  return [
    { name: '', label: 'All', href, count: total },
    ...stateOrder
      .filter((state) => counts[state] > 0 || state === open)
      .map((state) => ({
        name: state,
        label: capital(stateStyles[state].word),
        href: `${href}?execState=${state}`,
        count: counts[state],
      })),
  ]
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function NoRun() {
  return (
    <>
      <PageHeader title="Run" />
      <EmptyState icon="runs" title="Run not found">
        <a href="/runs">Show all runs</a>
      </EmptyState>
    </>
  )
}
