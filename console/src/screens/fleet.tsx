// The fleet overview: numbers of running, waiting and failed executions, current runs, and every device as a cell.

import './fleet.css'
import './fleet/wall.css'
import type { Fleet } from '@jobcast/client'
import { useState } from 'preact/hooks'
import { queries } from '../api/queries.ts'
import { useQuery } from '../api/use-query.ts'
import { NeedsYou } from '../attention/needs-you.tsx'
import { ConnectionState } from '../parts/connection-state.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { failedStates, formatCount } from '../parts/exec-state.ts'
import { lazyPart } from '../parts/lazy-part.tsx'
import { PageHeader } from '../parts/page-header.tsx'
import { RelativeTime } from '../parts/relative-time.tsx'
import { Sparkline } from '../parts/sparkline.tsx'
import { formatClock, now } from '../parts/time.ts'
import type { ScreenProps } from '../route.ts'
import { useScopes } from '../scopes.ts'
import { enterWall, isWall, leaveWall } from '../wall.ts'
import { Figure } from './fleet/figure.tsx'
import { FleetMap } from './fleet/fleet-map.tsx'
import { RunsNow } from './fleet/runs-now.tsx'
import { useScreenOn } from './fleet/use-screen-on.ts'

/** Refreshed because failures "in the last hour" change without events. */
const agesMs = 30_000

export default function FleetScreen({ route }: ScreenProps) {
  const { can, isRestricted } = useScopes()
  const query = { ...queries.fleet(), refetchInterval: agesMs }
  const { data: fleet, error, refetch } = useQuery(query)
  useScreenOn(isWall.value)
  return (
    <>
      <PageHeader title={route.title}>
        {isWall.value ? (
          <>
            <ConnectionState />
            <WallClock />
            <button type="button" class="ghost" onClick={leaveWall}>
              Leave wall mode
            </button>
          </>
        ) : (
          <>
            <button type="button" class="ghost" onClick={enterWall}>
              Wall mode
            </button>
            {can('MANAGE') && fleet && fleet.devices.total > 0 && <FreezeButton />}
            {can('TRIGGER') && fleet && fleet.devices.total > 0 && (
              <a class="button primary" href="/trigger">
                Trigger a job
              </a>
            )}
          </>
        )}
      </PageHeader>
      {!fleet && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {can('READ') && <NeedsYou />}
      {fleet && (
        <>
          <Figures fleet={fleet} />
          {isRestricted ? <RunsNow /> : <Parts total={fleet.devices.total} />}
        </>
      )}
    </>
  )
}

function Parts({ total }: { total: number }) {
  return (
    <div class="fleet-parts">
      <RunsNow />
      {total > 0 ? <FleetMap total={total} /> : <NoDevices />}
    </div>
  )
}

function WallClock() {
  return (
    <time class="wall-clock" dateTime={new Date(now.value).toISOString()}>
      {formatClock(now.value)}
    </time>
  )
}

const NoDevices = lazyPart<object>(() => import('./fleet/no-devices.tsx'))
const FreezeDialog = lazyPart<{ onClose: () => void }>(() => import('./fleet/freeze-fleet.tsx'))

function FreezeButton() {
  const [isOpen, setOpen] = useState(false)
  const { data } = useQuery(queries.freeze())
  if (data?.frozen !== false) return null
  return (
    <>
      <button type="button" class="ghost" onClick={() => setOpen(true)}>
        Freeze…
      </button>
      {isOpen && <FreezeDialog onClose={() => setOpen(false)} />}
    </>
  )
}

function Figures({ fleet }: { fleet: Fleet }) {
  const { devices, waiting, running, lastHour, oldestWaiting, history } = fleet
  return (
    <section class="figures" aria-label="Figures">
      <Figure title="Running" value={running} href="/executions?execState=IN_PROGRESS,CANCELING">
        <Sparkline values={history.running} tone="running" label="Running over the last 24 hours" />
      </Figure>
      <Figure
        title="Waiting"
        value={waiting}
        href="/executions?execState=PENDING"
        about={
          oldestWaiting && (
            <>
              oldest{' '}
              <a href={`/executions/${oldestWaiting.jobExecutionId}`}>
                <RelativeTime at={oldestWaiting.launchedAt} />
              </a>
              , <bdi>{oldestWaiting.jobName}</bdi> on <bdi>{oldestWaiting.deviceId}</bdi>
            </>
          )
        }
      >
        <Sparkline values={history.waiting} tone="waiting" label="Waiting over the last 24 hours" />
      </Figure>
      <Figure
        title="Failed in the last hour"
        value={lastHour.failed}
        isBad={lastHour.failed > 0}
        href={`/executions?execState=${failedStates.join()}&finishedAfter=${hourStart(now.value)}`}
        about={`${formatCount(lastHour.succeeded)} succeeded`}
      >
        <Sparkline values={history.failed} tone="bad" kind="bars" label="Failed over the last 24 hours" />
      </Figure>
      <Figure
        title="Devices online"
        value={devices.online}
        href="/devices?online=true"
        about={devices.total === 0 ? undefined : `of ${formatCount(devices.total)}`}
      >
        <div
          class="online-bar"
          role="img"
          aria-label={`${devices.online} of ${devices.total} devices online`}
        >
          <span style={{ width: `${(100 * devices.online) / Math.max(1, devices.total)}%` }} />
        </div>
      </Figure>
    </section>
  )
}

const stepMs = 5 * 60_000

/** The server counts in steps of five minutes: the current one and the eleven before it. */
function hourStart(at: number): string {
  return new Date((Math.floor(at / stepMs) - 11) * stepMs).toISOString().replace('.000Z', 'Z')
}
