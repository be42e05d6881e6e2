import type { Run } from '@jobcast/client'
import { Facts } from '../../parts/facts.tsx'

/** The values of the parameters of a run, or of those of a schedule, defaults included; the server masks secrets. */
export default function RunParameters({ run: { parameters } }: { run: Pick<Run, 'parameters'> }) {
  return (
    <section class="panel" aria-labelledby="run-parameters">
      <header>
        <h2 id="run-parameters">Parameters</h2>
      </header>
      <Facts
        facts={Object.entries(parameters).map(([name, value]) => ({
          name,
          value: <bdi class="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</bdi>,
        }))}
      />
    </section>
  )
}
