// One device: its presence, its queue, its last executions and its credential.

import type { Device } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { jobcast } from '../api/client.ts'
import { isNotFound } from '../api/is-there.ts'
import { queries } from '../api/queries.ts'
import { removeRow } from '../api/use-list.ts'
import { useQuery } from '../api/use-query.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { EmptyState } from '../parts/empty-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { lazyPart } from '../parts/lazy-part.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { Presence } from '../parts/presence.tsx'
import { Elapsed } from '../parts/relative-time.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import { navigate } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { AboutDevice } from './device/about-device.tsx'
import { Activity } from './device/activity.tsx'
import { Credential } from './device/credential.tsx'
import { LastExecutions } from './device/last-executions.tsx'
import { PresenceHistory } from './device/presence-history.tsx'
import { Queue } from './device/queue.tsx'
import { useDeviceLog } from './device/use-device-log.ts'
import './device.css'

export default function DeviceScreen({ params }: { params: Record<string, string> }) {
  const deviceId = params.deviceId as string
  const { data: device, error, refetch } = useQuery(queries.device(deviceId))
  const isGone = isNotFound(error)
  return (
    <>
      <PageHeader title={deviceId} about={device && !isGone && <Connection device={device} />}>
        {device && !isGone && <Actions device={device} />}
      </PageHeader>
      {isGone && <NoSuchDevice deviceId={deviceId} />}
      {!device && !isGone && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {device && !isGone && <DeviceParts device={device} />}
    </>
  )
}

function DeviceParts({ device }: { device: Device }) {
  const log = useDeviceLog(device)
  return (
    <div class="device-parts">
      <div class="stack">
        <PresenceHistory device={device} log={log} />
        <Queue device={device} />
        <LastExecutions deviceId={device.deviceId} />
        <Activity deviceId={device.deviceId} log={log} />
      </div>
      <div class="stack">
        <AboutDevice device={device} />
        <Credential device={device} />
      </div>
    </div>
  )
}

function Connection({ device: { online, since } }: { device: Device }) {
  return (
    <span class="standing">
      <Presence online={online} />
      {since === null ? (
        ', never connected'
      ) : (
        <span>
          {/* A device that reconnects at once stays online, and has a new connection. */}
          {online ? '· connected for ' : 'for '}
          <Elapsed since={since} />
        </span>
      )}
    </span>
  )
}

const EditDevice = lazyPart<{ device: Device; onClose: () => void }>(() => import('./device/edit-device.tsx'))

function Actions({ device }: { device: Device }) {
  const { can } = useScopes()
  const [isEditing, setEditing] = useState(false)
  const remove = async () => {
    await jobcast.devices.delete(device.deviceId)
    removeRow(['devices'], device.deviceId)
    navigate('/devices')
  }
  return (
    <>
      {can('TRIGGER') && (
        <a class="button primary" href={triggerHref({ deviceIds: [device.deviceId] })}>
          Trigger
        </a>
      )}
      {can('MANAGE') && (
        <>
          <button type="button" onClick={() => setEditing(true)}>
            Edit
          </button>
          <ConfirmButton
            label="Delete device"
            question={
              <p>
                <strong>{device.deviceId}</strong> is disconnected and its token stops working. Its unfinished
                executions are canceled; finished ones are kept. This cannot be undone.
              </p>
            }
            work={remove}
          />
        </>
      )}
      {isEditing && <EditDevice device={device} onClose={() => setEditing(false)} />}
    </>
  )
}

function NoSuchDevice({ deviceId }: { deviceId: string }) {
  return (
    <EmptyState icon="devices" title="Device not found">
      <p>
        <code>{deviceId}</code> was deleted, or never existed. <a href="/devices">All devices</a>
      </p>
    </EmptyState>
  )
}
