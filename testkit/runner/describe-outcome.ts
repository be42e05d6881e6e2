// Formats the output of the runner: a line for each finished file, and at the end the failures and how to repeat them.

import type { Outcome } from './run-group.ts'

export function describeEnd(outcome: Outcome): string {
  const { passed, failures, skipped, seconds } = outcome
  const counts = [
    `${passed} passed`,
    failures.length > 0 && `${failures.length} failed`,
    skipped.length > 0 && `${skipped.length} skipped`,
  ].filter(Boolean)
  const mark = failures.length > 0 ? '✖' : '✔'
  const line = `${mark} ${seconds.toFixed(1).padStart(6)} s  ${nameOf(outcome)}: ${counts.join(', ')}`
  const failed = failures.map(({ title, text }) => `              failed: ${title || firstLineOf(text)}`)
  const reasons = new Set(skipped.map(({ title, reason }) => `              skipped: ${reason || title}`))
  return [line, ...failed, ...reasons].join('\n')
}

export function describeFailures(outcomes: Outcome[], prefix: string): string {
  return outcomes
    .filter(({ failures }) => failures.length > 0)
    .map((outcome) => describeFailed(outcome, prefix))
    .join('\n')
}

function describeFailed(outcome: Outcome, prefix: string): string {
  const texts = outcome.failures.flatMap(({ title, text }) => [
    `✖ ${nameOf(outcome)}${title ? ` > ${title}` : ''}`,
    indent(text),
  ])
  const output = outcome.output.trim()
  return [
    ...texts,
    ...(output ? ['  printed meanwhile:', indent(output)] : []),
    `  again: ${outcome.repeat ?? repeatOf(outcome, prefix)}`,
    '',
  ].join('\n')
}

/** Most CPU seconds first. */
export function describeTimes(outcomes: Outcome[]): string {
  return outcomes
    .toSorted((a, b) => (b.cpuSeconds ?? 0) - (a.cpuSeconds ?? 0))
    .map((outcome) => {
      const { cpuSeconds = 0, seconds } = outcome
      return `${cpuSeconds.toFixed(1).padStart(7)} CPU s ${seconds.toFixed(1).padStart(7)} s  ${nameOf(outcome)}`
    })
    .join('\n')
}

const nameOf = ({ file, group }: Outcome) => `${file}${group.suffix}`

function repeatOf({ file, group }: Outcome, prefix: string): string {
  const env = Object.entries({ JOBCAST_TEST_SEED: process.env.JOBCAST_TEST_SEED ?? '', ...group.env })
  return `${env.map(([name, value]) => `${name}=${value}`).join(' ')} ${prefix} -- ${file}`
}

const firstLineOf = (text: string) => text.split('\n', 1)[0]

const indent = (text: string) => text.replaceAll(/^/gm, '    ')
