// The map of the fleet: one cell per device, coloured by its current or last execution. Ten thousand cells are drawn on a canvas; arrow
// keys move between them, and the one under the pointer or the cursor is described below.

import type { FleetDevice, JobcastEvent, Page } from '@jobcast/client'
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { mappedDevices, queries } from '../../api/queries.ts'
import { queryCache } from '../../api/query-cache.ts'
import { useQuery } from '../../api/use-query.ts'
import { useEvents } from '../../live/live-events.ts'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount, stateStyles } from '../../parts/exec-state.ts'
import { lazyPart } from '../../parts/lazy-part.tsx'
import { navigate, search } from '../../router.ts'
import { isDark } from '../../theme.ts'
import { isWall } from '../../wall.ts'
import { type CellTone, shownExecution, toneOf } from './cell-tone.ts'
import { cellAt, type Drawn, drawMap, layoutOf, readColors } from './draw-map.ts'
import { Legend } from './legend.tsx'
import { patchDevices } from './patch-devices.ts'

const FleetGroups = lazyPart<{ by: string }>(() => import('./fleet-groups.tsx'))
const GroupBy = lazyPart<{ by: string; hasMap: boolean }>(() => import('./group-by.tsx'))

/** Shows each device as a cell, or counts of devices by a selected property; by tag if there are too many to draw. */
export function FleetMap({ total }: { total: number }) {
  const hasMap = total <= mappedDevices
  const by = search.value.get('by') ?? (hasMap ? '' : 'tag')
  return (
    <section class="panel fleet-map" aria-labelledby="fleet-map">
      <header>
        <h2 id="fleet-map">Devices by execution</h2>
        {!isWall.value && <GroupBy by={by} hasMap={hasMap} />}
        <a href="/devices">All devices</a>
      </header>
      {by === '' ? <DeviceMap /> : <FleetGroups key={by} by={by} />}
    </section>
  )
}

function DeviceMap() {
  const query = queries.fleetDevices()
  const { data, error } = useQuery(query)
  const [lit, setLit] = useState<CellTone>()
  useEvents(takeEvents)
  const devices = data?.items ?? []
  const counts = useMemo(() => countTones(devices), [devices])
  if (!data) return <ErrorNote error={error} />
  return (
    <>
      <Legend counts={counts} lit={lit} onLight={setLit}>
        {devices.some(({ online }) => !online) && <span class="quiet">small: offline</span>}
      </Legend>
      <MapCanvas devices={devices} lit={lit} />
    </>
  )
}

/** With less height the wall is scrolled, and the map has its usual size. */
const fillsFrom = 100

type Pointed = { index: number; x: number; y: number; isTap: boolean }

function MapCanvas({ devices, lit }: { devices: FleetDevice[]; lit: CellTone | undefined }) {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const drawn = useRef<Drawn>(undefined)
  const [{ width, height }, setRoom] = useState({ width: 0, height: 0 })
  const [cursor, setCursor] = useState<number>()
  const [hovered, setHovered] = useState<Pointed>()
  const fills = isWall.value && height >= fillsFrom
  const layout = layoutOf(devices.length, width, fills ? height : undefined)
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {}
      setRoom({ width: Math.floor(width), height: Math.floor(height) })
    })
    if (box.current) observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  const dark = isDark.value
  // Read again when the theme changes.
  const colors = useMemo(() => readColors(), [dark])
  useEffect(() => {
    if (!canvas.current || width === 0) return
    drawn.current = drawMap(canvas.current, layout, { devices, lit, cursor, colors }, drawn.current)
  })

  const shown = hovered?.index ?? cursor
  const pointed = hovered && devices[hovered.index]
  const at = (event: MouseEvent) => cellAt(layout, event.offsetX, event.offsetY)
  const point = (event: MouseEvent, isTap = false) => {
    const index = at(event)
    setHovered(index === undefined ? undefined : { index, x: event.offsetX, y: event.offsetY, isTap })
  }
  const open = (index: number | undefined) => {
    const device = index === undefined ? undefined : devices[index]
    if (device) navigate(`/devices/${encodeURIComponent(device.deviceId)}`)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const from = cursor ?? 0
    const steps: Record<string, number> = {
      ArrowRight: from + 1,
      ArrowLeft: from - 1,
      ArrowDown: from + layout.columns,
      ArrowUp: from - layout.columns,
      Home: 0,
      End: devices.length - 1,
    }
    const to = steps[event.key]
    if (to !== undefined) {
      event.preventDefault()
      setHovered(undefined)
      setCursor(Math.max(0, Math.min(devices.length - 1, to)))
    }
    if (event.key === 'Enter') open(cursor)
  }
  return (
    <div ref={box} class="map-room">
      <div
        class="map"
        role="application"
        aria-label={`Map of ${formatCount(devices.length)} devices. Arrow keys move between cells, Enter opens a device.`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys move between cells
        tabIndex={0}
        onKeyDown={onKeyDown}
        onFocus={() => setCursor((before) => before ?? 0)}
        onBlur={() => setCursor(undefined)}
      >
        <canvas
          ref={canvas}
          onPointerMove={(event) => event.pointerType !== 'touch' && point(event)}
          onPointerLeave={(event) => event.pointerType !== 'touch' && setHovered(undefined)}
          // A finger is larger than a cell, so a tap only shows the device, with a link to open it.
          onClick={(event) =>
            (event as unknown as PointerEvent).pointerType === 'touch' ? point(event, true) : open(at(event))
          }
          onKeyDown={() => undefined}
          class={hovered === undefined ? '' : 'on-cell'}
        />
        {hovered && pointed && (
          <div
            class={`map-tip ${hovered.x > width / 2 ? 'leftward' : ''} ${hovered.isTap ? 'tapped' : ''}`}
            aria-hidden={!hovered.isTap} // the line below says the same
            style={{ left: `${hovered.x}px`, top: `${hovered.y}px` }}
          >
            {describe(pointed)}
            {hovered.isTap && <a href={`/devices/${encodeURIComponent(pointed.deviceId)}`}>Open device</a>}
          </div>
        )}
      </div>
      <p class="map-note quiet" role="status">
        {describe(shown === undefined ? undefined : devices[shown]) ?? 'Point at a cell to see its device.'}
      </p>
    </div>
  )
}

function describe(device: FleetDevice | undefined): ComponentChildren {
  if (device === undefined) return undefined
  const execution = shownExecution(device)
  const did = execution ? stateStyles[execution.execState].word : 'never ran'
  return (
    <>
      <bdi>{device.deviceId}</bdi>: {did}, {device.online ? 'online' : 'offline'}
    </>
  )
}

function countTones(devices: FleetDevice[]): Record<CellTone, number> {
  const counts = { bad: 0, running: 0, waiting: 0, good: 0, off: 0, none: 0 }
  for (const device of devices) counts[toneOf(device)]++
  return counts
}

/** Events contain everything that a cell shows, so the map is loaded only once. */
function takeEvents(events: JobcastEvent[]): void {
  queryCache.patch<Page<FleetDevice>>(queries.fleetDevices().queryKey, (page) => ({
    ...page,
    items: patchDevices(page.items, events),
  }))
}
