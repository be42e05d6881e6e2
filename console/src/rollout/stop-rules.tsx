// Each stop rule as a bar that grows towards a line, the limit that stops the run.

import type { RolloutProgress } from '@jobcast/client'
import { type Counted, ruleInWords, type StopRule } from './rule-words.ts'

/** The position of the line; the space beyond it is for failures above the limit. */
const lineAt = 0.75

export default function StopRules({ rollout }: { rollout: RolloutProgress }) {
  const { definition, stopRules } = rollout
  return (
    <ul class="stop-rules" aria-label="Stop rules">
      {definition.stop?.map((rule, index) => (
        <Rule key={index} rule={rule} counted={stopRules[index] ?? { count: 0, ended: 0 }} />
      ))}
    </ul>
  )
}

function Rule({ rule, counted }: { rule: StopRule; counted: Counted }) {
  const { percent, count, minEnded = 1 } = rule
  const limit = count ?? percent ?? 100
  const rate = counted.ended === 0 ? 0 : (counted.count * 100) / counted.ended
  const share = (count === undefined ? rate : counted.count) / limit
  const applies = count !== undefined || counted.ended >= minEnded
  const look = !applies ? 'not-yet' : share >= 1 ? 'met' : ''
  return (
    <li>
      <p class={share >= 1 && applies ? 'has-failures' : ''}>{ruleInWords(rule, counted, rate)}</p>
      <div class={`stop-rule ${look}`} aria-hidden="true">
        <span class="rate" style={{ width: `${Math.min(1, share * lineAt) * 100}%` }} />
        <span class="line" style={{ left: `${lineAt * 100}%` }} />
      </div>
    </li>
  )
}
