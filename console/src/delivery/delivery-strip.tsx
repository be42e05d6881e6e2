// "When do my devices get it?": 48 hours with a row per time zone, in which occurrences, window, rollout and freeze count together.

import './delivery.css'
import { jobcast } from '../api/client.ts'
import { useQuery } from '../api/use-query.ts'
import { formatCount } from '../parts/exec-state.ts'
import { formatDuration, timeZone as ownZone, parseTime } from '../parts/time.ts'
import { formatInZone } from '../parts/zoned-time.ts'
import type { Rollout } from '../rollout/rollout-draft.ts'
import { firstOffer, leastReleaseMs } from './first-offer.ts'
import { type DeliveryContent, readDelivery, stripMs, type ZoneOfDevices } from './read-delivery.ts'

type DeliveryStripProps = {
  jobName: string
  /** The devices, as a selector. */
  where: string
  /** Undefined: the one of the job. */
  windowName: string | undefined
  /** Undefined: the one of the job. */
  rollout: Rollout | undefined
  /** When runs are created, in order. */
  runs: readonly number[]
}

const hourMs = 60 * 60_000
const tickHours = [0, 12, 24, 36, 48]

export default function DeliveryStrip({ jobName, where, windowName, rollout, runs }: DeliveryStripProps) {
  const [first = 0] = runs
  const from = Math.floor(first / hourMs) * hourMs
  const { data } = useQuery({
    queryKey: ['devices', 'delivery', { jobName, where, windowName, from }],
    queryFn: async (options) => {
      const job = await jobcast.jobs.get(jobName, options)
      const window = windowName ?? job.window ?? undefined
      return { job, window, ...(await readDelivery({ where, windowName: window, from }, options)) }
    },
    enabled: runs.length > 0 && jobName !== '' && where !== '',
  })
  if (!data || runs.length === 0 || data.total === 0) return null
  const inside = runs.filter((run) => run < from + stripMs)
  const leastMs = leastReleaseMs(rollout ?? data.job.rollout ?? {}, data.total)
  return (
    <section class="delivery" aria-labelledby="delivery">
      <h2 id="delivery">When devices get it</h2>
      <p class="quiet">
        48 hours from {formatInZone(from, ownZone)}, {ownZone} time
        {data.window && `, in the window ${data.window}`}. A line is a run; where the bar is filled, devices
        are offered it.
      </p>
      <ol>
        {data.zones.map((zone) => (
          <Row key={zone.zone} {...{ zone, from, freeze: data.freeze, runs: inside }} />
        ))}
      </ol>
      <div class="delivery-hours" aria-hidden="true">
        {tickHours.map((hours) => (
          <span key={hours} style={{ left: `${(100 * hours) / 48}%` }}>
            {formatInZone(from + hours * hourMs, ownZone).slice(-5)}
          </span>
        ))}
      </div>
      {leastMs > 0 && <p>The rollout takes at least {formatDuration(leastMs)} more for the last devices.</p>}
      {data.freeze.frozen && <p>{frozenText(data.freeze)}</p>}
      <p class="quiet">Windows of single devices and groups may delay it further.</p>
    </section>
  )
}

function frozenText({ until }: DeliveryContent['freeze']): string {
  if (until === null) return 'The fleet is frozen: no device gets it until it is unfrozen.'
  return `The fleet is frozen until ${formatInZone(parseTime(until), ownZone)}.`
}

type RowProps = {
  zone: ZoneOfDevices
  from: number
  runs: readonly number[]
  freeze: DeliveryContent['freeze']
}

function Row({ zone, from, runs, freeze }: RowProps) {
  const offers = runs.flatMap((run) => firstOffer(run, zone, freeze) ?? [])
  const [first] = offers
  const end = from + stripMs
  const band = (part: { from: number; until: number }) => ({
    left: `${(100 * Math.max(0, part.from - from)) / stripMs}%`,
    right: `${(100 * Math.max(0, end - part.until)) / stripMs}%`,
  })
  return (
    <li>
      <span class="delivery-zone">
        <bdi>{zone.zone}</bdi>{' '}
        <span class="quiet">
          {formatCount(zone.devices)} {zone.devices === 1 ? 'device' : 'devices'}
        </span>
      </span>
      <span class="delivery-bar" aria-hidden="true">
        {(zone.openings ?? [{ from, until: end }])
          .filter((opening) => opening.from < end && opening.until > from)
          .map((opening) => (
            <i key={opening.from} class="is-open" style={band(opening)} />
          ))}
        {offers
          .filter((offer) => offer.from < end)
          .map((offer) => (
            <i key={offer.from} class="is-offered" style={band(offer)} />
          ))}
        {runs.map((run) => (
          <i key={`run ${run}`} class="is-run" style={{ left: `${(100 * (run - from)) / stripMs}%` }} />
        ))}
      </span>
      <span class="delivery-first">
        {first ? (
          <>
            from {formatInZone(first.from, zone.zone)} <span class="quiet">their time</span>
          </>
        ) : (
          'not yet known'
        )}
      </span>
    </li>
  )
}
