// The properties of a device: those set by its owner, and those reported by the device.

import type { Device, DeviceContent } from '@jobcast/client'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { RelativeTime } from '../../parts/relative-time.tsx'
import { WindowLink } from '../../parts/window-link.tsx'

const transports = { mqtt: 'MQTT', websocket: 'MQTT over WebSocket', http: 'HTTP', bridge: 'Bridge' }

export function AboutDevice({ device }: { device: Device }) {
  const { deviceName, tags, transport, lastSeenAt, createdAt } = device
  // The type lists every field that can be put, so that none is missed here.
  const put: Record<Exclude<keyof DeviceContent, 'attributes'>, Fact> = {
    deviceName: { name: 'Name', value: deviceName },
    tags: { name: 'Tags', value: <Tags tags={tags} /> },
    timeZone: { name: 'Time zone', value: <Zone device={device} /> },
    window: { name: 'Window', value: <WindowLink name={device.window} /> },
  }
  return (
    <section class="panel" aria-labelledby="about-device">
      <header>
        <h2 id="about-device">About</h2>
      </header>
      <Facts
        facts={[
          ...Object.values(put),
          {
            name: 'Last seen',
            value: lastSeenAt ? <RelativeTime at={lastSeenAt} /> : <span class="quiet">never</span>,
          },
          {
            name: 'Connected via',
            value: transport ? transports[transport] : <span class="quiet">never connected</span>,
          },
          { name: 'Created', value: <RelativeTime at={createdAt} /> },
        ]}
      />
      <Attributes device={device} />
    </section>
  )
}

function Tags({ tags }: { tags: string[] }) {
  if (tags.length === 0) return <span class="quiet">none</span>
  return (
    <span class="tags">
      {tags.map((tag) => (
        <a class="tag" key={tag} href={`/devices?tag=${encodeURIComponent(tag)}`}>
          {tag}
        </a>
      ))}
    </span>
  )
}

/** The zone set by the owner, otherwise the reported one, otherwise UTC. */
function Zone({ device: { timeZone, reportedAttributes } }: { device: Device }) {
  const reported = reportedAttributes.timeZone
  if (timeZone !== null) {
    return (
      <>
        {timeZone} <span class="quiet">set by you{reported !== undefined && `; reported ${reported}`}</span>
      </>
    )
  }
  if (reported !== undefined) {
    return (
      <>
        <bdi>{String(reported)}</bdi> <span class="quiet">reported by the device</span>
      </>
    )
  }
  return (
    <>
      UTC <span class="quiet">neither set nor reported</span>
    </>
  )
}

function Attributes({ device: { attributes, reportedAttributes } }: { device: Device }) {
  const names = [...new Set([...Object.keys(attributes), ...Object.keys(reportedAttributes)])].sort()
  if (names.length === 0) return null
  const cell = (from: Device['attributes'], name: string) =>
    Object.hasOwn(from, name) ? <bdi>{String(from[name])}</bdi> : <span class="quiet">–</span>
  return (
    <table class="attributes">
      <caption>Attributes</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Set by you</th>
          <th scope="col">Reported by the device</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{cell(attributes, name)}</td>
            <td
              class={
                Object.hasOwn(attributes, name) && Object.hasOwn(reportedAttributes, name) ? 'overruled' : ''
              }
            >
              {cell(reportedAttributes, name)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
