import type { Stats } from '@jobcast/client'
import { formatCount } from '../../parts/exec-state.ts'
import { StateBar } from '../../parts/state-bar.tsx'
import { formatDuration } from '../../parts/time.ts'
import { formatRate } from './format-rate.ts'

type Props = { jobs: Stats['jobs']; range: string }

/** The same figures for each job. The name is a link to its charts. */
export function JobTable({ jobs, range }: Props) {
  return (
    <section class="panel" aria-labelledby="by-job">
      <header>
        <h2 id="by-job">By job</h2>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls in a narrow window */}
      <section class="stats-jobs" tabIndex={0} aria-label="Figures by job">
        <table>
          <thead>
            <tr>
              {['Job', 'Executions', 'Success rate', 'p50', 'p95', 'States'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {jobs.map(({ jobName, total, counts, successRate, durationMs }) => (
              <tr key={jobName}>
                <th scope="row">
                  <a href={`/stats?${new URLSearchParams({ ...(range && { range }), jobName })}`}>
                    {jobName}
                  </a>
                </th>
                <td>{formatCount(total)}</td>
                <td>{successRate === null ? '' : formatRate(successRate)}</td>
                <td>{durationMs && formatDuration(durationMs.p50)}</td>
                <td>{durationMs && formatDuration(durationMs.p95)}</td>
                <td>
                  <a
                    href={`/executions?${new URLSearchParams({ jobName })}`}
                    aria-label={`Executions of ${jobName}`}
                  >
                    <StateBar counts={counts} total={total} />
                  </a>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  )
}
