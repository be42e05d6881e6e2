// One job on some devices: what, where, and what that means before the button is pressed.

import './trigger.css'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { queries } from '../api/queries.ts'
import { queryClient } from '../api/query-client.ts'
import { useQuery } from '../api/use-query.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { TextField } from '../parts/field.tsx'
import { isPossibleName } from '../parts/is-possible-name.ts'
import { PageHeader } from '../parts/page-header.tsx'
import { useSettled } from '../parts/use-settled.ts'
import { emptyRollout, problemsOf, releaseOf } from '../rollout/rollout-draft.ts'
import { search, setSearch, setSearchAll } from '../router.ts'
import type { ScreenProps } from '../routes.ts'
import { useScopes } from '../scopes.ts'
import { readFilter } from '../selector/selector-text.ts'
import { DevicePicker } from './trigger/device-picker.tsx'
import { useDirectory } from './trigger/directory.ts'
import { JobPicker } from './trigger/job-picker.tsx'
import { readTagged } from './trigger/read-tagged.ts'
import { RolloutSection } from './trigger/rollout-section.tsx'
import { SameCall } from './trigger/same-call.tsx'
import { SelectorSummary } from './trigger/selector-summary.tsx'
import { Summary } from './trigger/summary.tsx'
import { DevicesError, jobErrorOf } from './trigger/trigger-errors.tsx'
import { useTrigger } from './trigger/use-trigger.ts'

type Selection = { deviceIds: ReadonlySet<string>; tag: string | undefined }

/** A plan is valid for ten minutes. */
const planMs = 5 * 60_000

/** An address holds so many; of more the page itself remembers the last. */
const inAddressAtMost = 50
const largeSelection = ['trigger-selection']

/** `?jobName=…&deviceId=…&deviceId=…`, `&tag=…` or `&where=…` opens with a selection; so does the way back to this screen. */
function firstSelection(): Selection {
  const named = search.value.getAll('deviceId').filter(isPossibleName)
  const kept = search.value.has('selected') ? queryClient.getQueryData<string[]>(largeSelection) : undefined
  return { deviceIds: new Set(kept ?? named), tag: undefined }
}

function keepSelection(deviceIds: string[]): void {
  const isLarge = deviceIds.length > inAddressAtMost
  if (isLarge) queryClient.setQueryData(largeSelection, deviceIds)
  setSearchAll('deviceId', isLarge ? [] : deviceIds)
  setSearch({ selected: isLarge ? String(deviceIds.length) : undefined })
}

function jobNameOf(params: URLSearchParams): string {
  const jobName = params.get('jobName') ?? ''
  return isPossibleName(jobName) ? jobName : ''
}

export default function TriggerScreen({ route }: ScreenProps) {
  const canRead = useScopes().can('READ')
  const typed = search.value.get('where')
  // Whoever selects by a selector needs no list: it may have a hundred thousand devices.
  const directory = useDirectory(canRead && typed === null)
  // Changes of jobs have no events.
  const jobs = useQuery({ ...queries.allJobs(), enabled: canRead, staleTime: 0 })
  const jobName = jobNameOf(search.value)
  const [selection, setSelection] = useState(firstSelection)
  const deviceIds = useMemo(() => [...selection.deviceIds], [selection])
  const filter = readFilter(typed ?? '')
  const where = filter.kind === 'where' ? filter.where : undefined
  const [rollout, setRollout] = useState(emptyRollout)
  const isWrong = Object.keys(problemsOf(rollout)).length > 0
  const settled = useSettled(rollout)
  const release = useMemo(() => (isWrong ? {} : releaseOf(settled)), [settled, isWrong])
  const isRolledOut = typed === null && rollout.isOn
  const run = useMemo(
    () => ({ jobName, targets: where === undefined ? { deviceIds } : { where }, ...release }),
    [jobName, deviceIds, where, release],
  )
  const plan = useQuery({
    ...queries.runPlan(run),
    enabled:
      jobName !== '' &&
      !isWrong &&
      settled === rollout &&
      (where !== undefined || (isRolledOut && deviceIds.length > 0)),
    refetchInterval: planMs,
  })
  // What is being typed is not planned yet.
  const shownPlan = isWrong || settled !== rollout ? undefined : plan.data
  const planId = shownPlan?.planId
  const trigger = useTrigger(
    useMemo(
      () =>
        where === undefined && !rollout.isOn ? { jobName, deviceIds } : { ...run, ...(planId && { planId }) },
      [jobName, deviceIds, where, rollout.isOn, run, planId],
    ),
  )
  useEffect(() => keepSelection(deviceIds), [deviceIds])
  const job = jobs.data?.find((each) => each.jobName === jobName)

  const add = (added: string[], tag?: string) => {
    setSearch({ where: undefined })
    setSelection(({ deviceIds: before }) => {
      const all = new Set([...before, ...added])
      return { deviceIds: all, tag: all.size === added.length ? tag : undefined }
    })
  }
  useEffect(() => {
    const tag = search.value.get('tag')
    if (tag === null) return
    const life = new AbortController()
    readTagged(tag, life.signal).then(
      (tagged) => add(tagged, tag),
      () => undefined, // the tag can be asked for again, and says then what is wrong
    )
    return () => life.abort()
  }, [])
  const remove = (gone: Iterable<string>) =>
    setSelection(({ deviceIds: before }) => {
      const left = new Set(before)
      for (const deviceId of gone) left.delete(deviceId)
      return { deviceIds: left, tag: undefined }
    })
  return (
    <>
      <PageHeader title={route.title} />
      <div class="trigger">
        <div class="trigger-form">
          <section class="panel" aria-label="What">
            {jobs.data?.length === 0 && <NoJobs />}
            {canRead && jobs.data?.length !== 0 && (
              <JobPicker
                jobs={jobs.data ?? []}
                value={jobName}
                error={jobErrorOf(trigger.error)}
                onChoose={(name) => setSearch({ jobName: name })}
              />
            )}
            {!canRead && (
              <TextField
                label="Job"
                value={jobName}
                error={jobErrorOf(trigger.error)}
                onInput={(name) => setSearch({ jobName: name })}
              />
            )}
            {job && <JobAbout description={job.description} document={job.document} />}
            <ErrorNote error={jobs.error} onRetry={() => void jobs.refetch()} />
          </section>
          <section class="panel" aria-label="Where">
            {directory.isRead && directory.devices.length === 0 ? (
              <NoDevices />
            ) : (
              <DevicePicker
                canRead={canRead}
                directory={directory}
                selected={selection.deviceIds}
                onAdd={add}
                onRemove={(deviceId) => remove([deviceId])}
                where={typed}
                onWhere={(text) => setSearch({ where: text })}
              />
            )}
            <ErrorNote error={directory.error} />
            <DevicesError error={trigger.error} onRemoveUnknown={remove} />
          </section>
          <RolloutSection
            draft={rollout}
            onChange={setRollout}
            hasDefault={job !== undefined && (job.rollout !== null || job.approval)}
            error={plan.error ?? trigger.error}
          />
        </div>
        <div class="trigger-summary">
          {typed === null ? (
            <Summary
              jobName={jobName}
              deviceIds={deviceIds}
              directory={directory}
              trigger={trigger}
              onRemove={remove}
              plan={isRolledOut ? shownPlan : undefined}
              planError={isRolledOut ? plan.error : undefined}
              isRolledOut={isRolledOut}
            />
          ) : (
            <SelectorSummary
              jobName={jobName}
              plan={shownPlan}
              isCounting={plan.isFetching}
              error={plan.error}
              trigger={trigger}
              onClear={() => setSearch({ where: undefined })}
            />
          )}
          {jobName !== '' && (where !== undefined || (typed === null && deviceIds.length > 0)) && (
            <SameCall
              url={location.origin}
              jobName={jobName}
              deviceIds={deviceIds}
              tag={selection.tag}
              where={where}
              release={release}
            />
          )}
        </div>
      </div>
    </>
  )
}

function JobAbout({ description, document }: { description: string; document: Record<string, unknown> }) {
  return (
    <div class="job-about">
      {description && <p>{description}</p>}
      <details>
        <summary>Document sent to devices</summary>
        <CodeBlock text={JSON.stringify(document, null, 2)} label="Document sent to devices" />
      </details>
    </div>
  )
}

function NoJobs() {
  return (
    <EmptyState icon="jobs" title="No jobs yet">
      <p>
        <a href="/jobs">Create a job</a>: a name, and what devices are to do.
      </p>
    </EmptyState>
  )
}

function NoDevices() {
  return (
    <EmptyState icon="devices" title="No devices yet">
      <p>
        <a href="/devices">Add a device</a>, or let <code>npx jobcast sim</code> simulate a fleet.
      </p>
    </EmptyState>
  )
}
