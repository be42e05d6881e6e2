// The steps of a workflow of GitHub Actions as a script, with what GitHub would put in from the environment.

import { parse } from 'yaml'

type Env = Record<string, unknown>
type Step = { run?: string; env?: Env }
type Workflow = { env?: Env; jobs: Record<string, { env?: Env; steps: Step[] }> }

/** Steps that use somebody else's action are left out. */
export function scriptOf(text: string): string {
  const { env, jobs } = parse(text) as Workflow
  return Object.values(jobs)
    .flatMap((job) => job.steps.map((step) => stepScript(step, { ...env, ...job.env, ...step.env })))
    .join('')
}

/** A step is a shell of its own; what it sets is gone afterwards. */
function stepScript({ run }: Step, env: Env): string {
  if (run === undefined) return ''
  const settings = Object.entries(env).map(([name, value]) => `export ${name}="${filledIn(String(value))}"\n`)
  return `(\n${settings.join('')}${filledIn(run)}\n)\n`
}

/** `${{ secrets.JOBCAST_API_KEY }}` is the variable of that name here; what GitHub knows is a word. */
function filledIn(text: string): string {
  return text
    .replace(/\$\{\{ *(?:secrets|vars)\.(\w+) *\}\}/g, '$$$1')
    .replace(/\$\{\{ *github\.(\w+) *\}\}/g, 'github-$1')
}
