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
import { Facts } from '../parts/facts.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { Presence } from '../parts/presence.tsx'
import { Elapsed, RelativeTime } from '../parts/relative-time.tsx'
import { triggerHref } from '../parts/trigger-href.ts'
import { navigate } from '../router.ts'
import { useScopes } from '../scopes.ts'
import { Activity } from './device/activity.tsx'
import { Credential } from './device/credential.tsx'
import { EditDevice } from './device/edit-device.tsx'
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
        <About device={device} />
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
          for <Elapsed since={since} />
        </span>
      )}
    </span>
  )
}

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

const transports = { mqtt: 'MQTT', websocket: 'MQTT over WebSocket', http: 'HTTP' }

function About({ device }: { device: Device }) {
  const { deviceName, tags, attributes, reportedAttributes, timeZone, transport, lastSeenAt, createdAt } =
    device
  return (
    <section class="panel" aria-labelledby="about-device">
      <header>
        <h2 id="about-device">About</h2>
      </header>
      <Facts
        facts={[
          { name: 'Name', value: deviceName },
          {
            name: 'Tags',
            value:
              tags.length === 0 ? (
                <span class="quiet">none</span>
              ) : (
                <span class="tags">
                  {tags.map((tag) => (
                    <a class="tag" key={tag} href={`/devices?tag=${encodeURIComponent(tag)}`}>
                      {tag}
                    </a>
                  ))}
                </span>
              ),
          },
          {
            name: 'Last seen',
            value: lastSeenAt ? <RelativeTime at={lastSeenAt} /> : <span class="quiet">never</span>,
          },
          {
            name: 'Connected via',
            value: transport ? transports[transport] : <span class="quiet">never connected</span>,
          },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
          ...(timeZone === null ? [] : [{ name: 'Time zone', value: timeZone }]),
          // The value of the owner wins.
          ...Object.entries({ ...reportedAttributes, ...attributes })
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([name, value]) => ({
              name,
              value: (
                <>
                  <bdi>{String(value)}</bdi>
                  {!Object.hasOwn(attributes, name) && <span class="quiet"> reported by the device</span>}
                </>
              ),
            })),
        ]}
      />
    </section>
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
