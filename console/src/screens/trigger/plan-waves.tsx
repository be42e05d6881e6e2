import type { RunPlan } from '@jobcast/client'
import { formatCount } from '../../parts/exec-state.ts'

/** In which steps devices get it, by the dry run. */
export function PlanWaves({ plan }: { plan: RunPlan | undefined }) {
  if (plan === undefined || plan.waves.length < 2) return null
  return (
    <ol class="plan-waves" aria-label="Planned waves">
      {plan.waves.map(({ size, sample }, index) => (
        <li key={index}>
          Wave {index + 1}: {formatCount(size)} {size === 1 ? 'device' : 'devices'}{' '}
          <span class="quiet">
            <bdi>{sample[0]}</bdi>
            {size > 1 && ', …'}
          </span>
        </li>
      ))}
    </ol>
  )
}
