// Triggers a job on devices: the job, the devices, and a summary before the button is pressed.

import './trigger.css'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { queries } from '../api/queries.ts'
import { queryCache } from '../api/query-cache.ts'
import { useQuery } from '../api/use-query.ts'
import { hasParameters } from '../parameters/parameters-draft.ts'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { TextField } from '../parts/field.tsx'
import { isPossibleName } from '../parts/is-possible-name.ts'
import { lazyPart } from '../parts/lazy-part.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import type { ScreenProps } from '../route.ts'
import { search, setSearch, setSearchAll } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { readFilter } from '../selector/selector-text.ts'
import type { Call } from './trigger/call-texts.ts'
import { DevicePicker } from './trigger/device-picker.tsx'
import { useDirectory } from './trigger/directory.ts'
import { JobPicker } from './trigger/job-picker.tsx'
import { readTagged } from './trigger/read-tagged.ts'
import { RolloutSection } from './trigger/rollout-section.tsx'
import type { SelectorSummaryProps } from './trigger/selector-summary.tsx'
import { Summary } from './trigger/summary.tsx'
import { DevicesError, jobErrorOf } from './trigger/trigger-errors.tsx'
import { useRunDraft } from './trigger/use-run-draft.ts'
import { useTrigger } from './trigger/use-trigger.ts'
import { useChosenVersion, versionWanted, WhatToRun } from './trigger/what-to-run.tsx'
import { WhenSection } from './trigger/when-section.tsx'

/** Loaded when devices are chosen by a selector. */
const SelectorSummary = lazyPart<SelectorSummaryProps>(() => import('./trigger/selector-summary.tsx'))

/** Loaded when a job and devices are chosen. */
const SameCall = lazyPart<Call>(() => import('./trigger/same-call.tsx'))

type Selection = { deviceIds: ReadonlySet<string>; tag: string | undefined }

/** The maximum in an address; larger selections are only kept in memory. */
const inAddressAtMost = 50
const largeSelection = ['trigger-selection']

/** `?jobName=…&deviceId=…&deviceId=…`, `&tag=…` or `&where=…` opens with a selection; so does going back to this screen. */
function firstSelection(): Selection {
  const named = search.value.getAll('deviceId').filter(isPossibleName)
  const kept = search.value.has('selected') ? queryCache.get<string[]>(largeSelection) : undefined
  return { deviceIds: new Set(kept ?? named), tag: undefined }
}

function keepSelection(deviceIds: string[]): void {
  const isLarge = deviceIds.length > inAddressAtMost
  if (isLarge) queryCache.set(largeSelection, deviceIds)
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
  // A selector needs no list of devices, which may have a hundred thousand.
  const directory = useDirectory(canRead && typed === null)
  const jobs = useQuery({ ...queries.allJobs(), enabled: canRead })
  const jobName = jobNameOf(search.value)
  const [selection, setSelection] = useState(firstSelection)
  const deviceIds = useMemo(() => [...selection.deviceIds], [selection])
  const filter = readFilter(typed ?? '')
  const where = filter.kind === 'where' ? filter.where : undefined
  const job = jobs.data?.find((each) => each.jobName === jobName)
  const chosen = useChosenVersion(job)
  const draft = useRunDraft({
    ...{ jobName, deviceIds, where },
    version: versionWanted(),
    hasParameters: hasParameters(chosen?.parameters),
    defaultRollout: chosen?.rollout ?? undefined,
  })
  const trigger = useTrigger(draft.wanted)
  useEffect(() => keepSelection(deviceIds), [deviceIds])

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
      () => undefined, // selecting the tag again shows the error
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
                onChoose={(name) => setSearch({ jobName: name, version: undefined })}
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
            {job && (
              <WhatToRun
                job={job}
                chosen={chosen}
                parameters={draft.parameters}
                onParameters={draft.setParameters}
                error={draft.planError ?? trigger.error}
              />
            )}
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
          <WhenSection
            draft={draft.when}
            onChange={draft.setWhen}
            defaultWindow={chosen?.window ?? null}
            error={draft.planError ?? trigger.error}
          />
          <RolloutSection
            draft={draft.rollout}
            onChange={draft.setRollout}
            hasDefault={chosen !== undefined && (chosen.rollout !== null || chosen.approval !== false)}
            error={draft.planError ?? trigger.error}
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
              draft={draft}
            />
          ) : (
            <SelectorSummary
              jobName={jobName}
              draft={draft}
              trigger={trigger}
              onClear={() => setSearch({ where: undefined })}
            />
          )}
          {jobName !== '' &&
            !draft.isWrong &&
            (where !== undefined || (typed === null && deviceIds.length > 0)) && (
              <SameCall
                url={location.origin}
                jobName={jobName}
                deviceIds={deviceIds}
                tag={selection.tag}
                where={where}
                release={draft.shownOptions}
              />
            )}
        </div>
      </div>
    </>
  )
}

function NoJobs() {
  return (
    <EmptyState icon="jobs" title="No jobs yet">
      <p>
        <a href="/jobs">Create a job</a>: a name, and what devices should do.
      </p>
    </EmptyState>
  )
}

function NoDevices() {
  return (
    <EmptyState icon="devices" title="No devices yet">
      <p>
        <a href="/devices">Add a device</a>, or let <code>npx --no-install jobcast sim</code> simulate a
        fleet.
      </p>
    </EmptyState>
  )
}
