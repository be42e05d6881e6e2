// jobcast apply: creates and updates resources from files, and sends only what differs.

import type { Command } from 'commander'
import { type OwnerContext, ownerCommand, withClient } from '../define/owner-command.ts'
import { type ExitCode, exitCode, exitCodeOf } from '../errors/exit-code.ts'
import { explainError } from '../errors/explain-error.ts'
import { carryOut, type Outcome } from '../fleet/carry-out.ts'
import { explainFleet } from '../fleet/explain-fleet.ts'
import { planFleet } from '../fleet/plan-fleet.ts'
import { changeJson, countsOf, planJson, planText } from '../fleet/plan-text.ts'
import { type FleetFlags, fleetOptions, readFleet } from '../fleet/read-fleet.ts'
import { showPlan } from '../fleet/show-plan.ts'
import { confirm, refuseUnasked } from '../input/ask.ts'
import type { Out } from '../output/out.ts'

type ApplyFlags = FleetFlags & { yes?: true; dryRun?: true }

export function applyCommand(): Command {
  const command = ownerCommand('apply')
  for (const option of fleetOptions()) command.addOption(option)
  return command
    .option('-y, --yes', 'delete without asking for confirmation')
    .option('--dry-run', 'show what would change without changing it; exits with 6 if something would')
    .addHelpText(
      'after',
      '\nExamples:\n  jobcast apply -f fleet.yaml --dry-run\n  jobcast apply -f fleet.yaml\n',
    )
    .action(
      withClient((context, flags: ApplyFlags) => explainFleet(context.out, () => apply(context, flags))),
    )
}

async function apply({ client, out, io }: OwnerContext, flags: ApplyFlags): Promise<ExitCode> {
  // Checked first: whether this is refused in a pipe must not depend on the state of the server.
  if (flags.prune && !flags.dryRun) refuseUnasked(io, flags)
  const plan = await planFleet(client, await readFleet(io, flags), flags)
  if (flags.dryRun) return showPlan(out, plan)
  const { delete: deletions, unchanged } = countsOf(plan)
  if (plan.changes.length === 0) {
    out.say(`Nothing to do: ${unchanged} up to date.`)
    out.show(planJson(plan), () => '')
    return exitCode.ok
  }
  if (!out.json) out.line(planText(plan, out.paint))
  if (
    deletions > 0 &&
    !(await confirm(
      io,
      `Delete ${deletions} ${deletions === 1 ? 'resource that is' : 'resources that are'} not in the files?`,
      flags,
    ))
  ) {
    out.say('Canceled; nothing was changed.')
    return exitCode.interrupted
  }
  const outcomes = await carryOut(client, plan, affectsAll, io.env)
  out.show({ ...planJson(plan), changes: outcomes.map(outcomeJson) }, () => secretLines(outcomes))
  return report(out, outcomes, unchanged)
}

/** An invalid key or an unreachable service: every other change would fail the same way. */
function affectsAll(error: unknown): boolean {
  const code = exitCodeOf(error)
  return code === exitCode.key || code === exitCode.unavailable
}

function outcomeJson(outcome: Outcome) {
  const { kind, change } = outcome
  const secret = kind === 'done' && outcome.secret !== undefined ? { secret: outcome.secret } : {}
  const error = kind === 'error' ? { error: sentence(outcome.error) } : {}
  return { ...changeJson(change), outcome: kind, ...secret, ...error }
}

/** A new secret is shown only once, so it goes to standard output. */
function secretLines(outcomes: Outcome[]): string {
  return outcomes
    .flatMap((outcome) =>
      outcome.kind === 'done' && outcome.secret !== undefined
        ? [`secret of ${outcome.change.kind.noun} ${outcome.change.name}: ${outcome.secret}`]
        : [],
    )
    .join('\n')
}

/** Errors are listed together at the end; the highest exit code counts. */
function report(out: Out, outcomes: Outcome[], unchanged: number): ExitCode {
  const errors = outcomes.filter((outcome) => outcome.kind === 'error')
  for (const { change, error } of errors) out.say(`${change.kind.noun} ${change.name}: ${sentence(error)}`)
  const count = (kind: Outcome['kind']) => outcomes.filter((outcome) => outcome.kind === kind).length
  const parts = [`${count('done')} done`, `${unchanged} unchanged`]
  if (errors.length > 0) parts.push(`${errors.length} with an error`)
  if (count('skipped') > 0) parts.push(`${count('skipped')} not attempted`)
  out.say(`${parts.join(', ')}.`)
  return Math.max(exitCode.ok, ...errors.map(({ error }) => exitCodeOf(error))) as ExitCode
}

function sentence(error: unknown): string {
  return explainError(error).replace(/^jobcast: /, '')
}
