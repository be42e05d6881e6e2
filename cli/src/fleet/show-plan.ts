// Shows what would change, for `diff` and `apply --dry-run`.

import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Out } from '../output/out.ts'
import type { Plan } from './plan-fleet.ts'
import { planJson, planText } from './plan-text.ts'

/** Returns exit code 6 if something differs. */
export function showPlan(out: Out, plan: Plan): ExitCode {
  out.show(planJson(plan), () => planText(plan, out.paint))
  if (plan.hasHidden) {
    out.say('Webhook URLs were compared by scheme and host only: the key does not have the scope MANAGE.')
  }
  if (plan.changes.length > 0) return exitCode.differs
  out.say(`No differences: ${plan.unchanged} up to date.`)
  return exitCode.ok
}
