// One job on some devices: what, where, and what that means before the button is pressed.

import './trigger.css'
import { isJobcastError, type JobcastError } from '@jobcast/client'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import { queryClient } from '../api/query-client.ts'
import { newRequestKey } from '../api/request-key.ts'
import { useAction } from '../api/use-action.ts'
import { useQuery } from '../api/use-query.ts'
import { CodeBlock } from '../parts/code-block.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { formatCount } from '../parts/exec-state.ts'
import { TextField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { isPossibleName } from '../parts/is-possible-name.ts'
import { PageHeader } from '../parts/page-header.tsx'
import { navigate, search, setSearch, setSearchAll } from '../router.ts'
import type { ScreenProps } from '../routes.ts'
import { useScopes } from '../scopes.ts'
import { DevicePicker } from './trigger/device-picker.tsx'
import { countSelection, type Directory, useDirectory } from './trigger/directory.ts'
import { JobPicker } from './trigger/job-picker.tsx'
import { readTagged } from './trigger/read-tagged.ts'
import { SameCall } from './trigger/same-call.tsx'

type Selection = { deviceIds: ReadonlySet<string>; tag: string | undefined }

/** An address holds so many; of more the page itself remembers the last. */
const inAddressAtMost = 50
const largeSelection = ['trigger-selection']

/** `?jobName=…&deviceId=…&deviceId=…` or `&tag=…` opens with a selection; so does the way back to this screen. */
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
  const directory = useDirectory(canRead)
  // Changes of jobs have no events.
  const jobs = useQuery({ ...queries.allJobs(), enabled: canRead, staleTime: 0 })
  const jobName = jobNameOf(search.value)
  const [selection, setSelection] = useState(firstSelection)
  const deviceIds = useMemo(() => [...selection.deviceIds], [selection])
  const trigger = useTrigger(jobName, deviceIds)
  useEffect(() => keepSelection(deviceIds), [deviceIds])
  const job = jobs.data?.find((each) => each.jobName === jobName)

  const add = (added: string[], tag?: string) =>
    setSelection(({ deviceIds: before }) => {
      const all = new Set([...before, ...added])
      return { deviceIds: all, tag: all.size === added.length ? tag : undefined }
    })
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
                error={errorAt(trigger.error, 'job')}
                onChoose={(name) => setSearch({ jobName: name })}
              />
            )}
            {!canRead && (
              <TextField
                label="Job"
                value={jobName}
                error={errorAt(trigger.error, 'job')}
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
              />
            )}
            <ErrorNote error={directory.error} />
            <DevicesError error={trigger.error} onRemoveUnknown={remove} />
          </section>
        </div>
        <div class="trigger-summary">
          <Summary
            jobName={jobName}
            deviceIds={deviceIds}
            directory={directory}
            trigger={trigger}
            onRemove={remove}
          />
          {jobName !== '' && deviceIds.length > 0 && (
            <SameCall url={location.origin} jobName={jobName} deviceIds={deviceIds} tag={selection.tag} />
          )}
        </div>
      </div>
    </>
  )
}

type Trigger = { run: () => void; isRunning: boolean; error: unknown; createdRun: number | undefined }

/** Pressed twice, or again after an answer that was lost, it makes one run: the same request has the same key. */
function useTrigger(jobName: string, deviceIds: string[]): Trigger {
  const { can } = useScopes()
  const request = useRef<{ of: string[]; jobName: string; idempotencyKey: string } | undefined>(undefined)
  const [createdRun, setCreatedRun] = useState<number>()
  const action = useAction(async () => {
    if (request.current?.of !== deviceIds || request.current.jobName !== jobName) {
      request.current = { of: deviceIds, jobName, idempotencyKey: newRequestKey() }
    }
    const { idempotencyKey } = request.current
    const { runId } = await jobcast.trigger({ jobName, deviceIds }, { idempotencyKey })
    if (can('READ')) navigate(`/runs/${runId}`)
    else {
      request.current = undefined
      setCreatedRun(runId)
    }
  })
  return {
    run: () => void (action.isRunning || action.run()),
    isRunning: action.isRunning,
    error: action.error,
    createdRun,
  }
}

type SummaryProps = {
  jobName: string
  deviceIds: string[]
  directory: Directory
  trigger: Trigger
  onRemove: (deviceIds: Iterable<string>) => void
}

function Summary({ jobName, deviceIds, directory, trigger, onRemove }: SummaryProps) {
  const counts = useMemo(
    () => countSelection(new Set(deviceIds), directory.byId),
    [deviceIds, directory.byId],
  )
  const isReady = jobName !== '' && deviceIds.length > 0
  const size = `${formatCount(deviceIds.length)} ${deviceIds.length === 1 ? 'device' : 'devices'}`
  return (
    <section class="panel summary" aria-labelledby="summary">
      <header>
        <h2 id="summary">{deviceIds.length === 0 ? 'No devices chosen' : `${size} chosen`}</h2>
        {deviceIds.length > 0 && (
          <button type="button" class="ghost clear" onClick={() => onRemove(deviceIds)}>
            Clear
          </button>
        )}
      </header>
      {directory.isRead && (
        <dl class="selection-counts" aria-live="polite">
          <Count term="online" value={counts.online} about="receive it at once" />
          <Count term="offline" value={counts.offline} about="receive it when they reconnect" />
          <Count term="busy" value={counts.busy} about="finish other work first" />
          {counts.unknown > 0 && <Count term="unknown" value={counts.unknown} about="not found" isBad />}
        </dl>
      )}
      <Chosen deviceIds={deviceIds} onRemove={onRemove} />
      {errorAt(trigger.error, 'job') === undefined && !isDevicesError(trigger.error) && (
        <ErrorNote error={trigger.error} />
      )}
      {trigger.createdRun !== undefined && <p role="status">Run {trigger.createdRun} created.</p>}
      <button
        type="button"
        class="primary"
        disabled={!isReady || trigger.isRunning}
        aria-busy={trigger.isRunning}
        onClick={trigger.run}
      >
        <Icon name="trigger" />
        {isReady ? (
          <span>
            Trigger <bdi>{jobName}</bdi> on {size}
          </span>
        ) : (
          'Trigger'
        )}
      </button>
      {!isReady && <p class="quiet">{jobName === '' ? 'Choose a job' : 'Choose devices'} first.</p>}
    </section>
  )
}

function Count({
  term,
  value,
  about,
  isBad,
}: {
  term: string
  value: number
  about: string
  isBad?: boolean
}) {
  return (
    <div class={isBad ? 'bad' : value === 0 ? 'none' : ''}>
      <dt>
        {term}
        <span class="quiet">{about}</span>
      </dt>
      <dd class="number">{formatCount(value)}</dd>
    </div>
  )
}

const chipsAtMost = 24

function Chosen({ deviceIds, onRemove }: Pick<SummaryProps, 'deviceIds' | 'onRemove'>) {
  if (deviceIds.length === 0) return null
  return (
    <div class="chosen">
      {deviceIds.slice(0, chipsAtMost).map((deviceId) => (
        <button
          key={deviceId}
          type="button"
          class="tag"
          aria-label={`Remove ${deviceId}`}
          onClick={() => onRemove([deviceId])}
        >
          {deviceId}
          <Icon name="close" />
        </button>
      ))}
      {deviceIds.length > chipsAtMost && (
        <span class="quiet">and {formatCount(deviceIds.length - chipsAtMost)} more</span>
      )}
    </div>
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

/** J-301 is about the job, J-001 and what is wrong with the list about the devices. */
function errorAt(error: unknown, field: 'job'): string | undefined {
  return field === 'job' && isJobcastError(error, 'J-301') ? `${error.message} (${error.code})` : undefined
}

function isDevicesError(error: unknown): error is JobcastError {
  return (
    isJobcastError(error, 'J-001') ||
    (isJobcastError(error, 'J-500') && (error.field?.startsWith('deviceIds') ?? false)) ||
    isJobcastError(error, 'J-904')
  )
}

function DevicesError({
  error,
  onRemoveUnknown,
}: {
  error: unknown
  onRemoveUnknown: (deviceIds: Iterable<string>) => void
}) {
  if (!isDevicesError(error)) return null
  const { deviceIds = [] } = error
  return (
    <div class="devices-error" role="alert">
      <p class="field-error">
        {error.message} <code>{error.code}</code>
        {deviceIds.length > 0 ? `: ${deviceIds.join(', ')}` : error.detail && `: ${error.detail}`}
      </p>
      {deviceIds.length > 0 && (
        <button type="button" onClick={() => onRemoveUnknown(deviceIds)}>
          Remove {deviceIds.length === 1 ? 'it' : 'them'}
        </button>
      )}
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
